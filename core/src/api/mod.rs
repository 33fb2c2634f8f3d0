pub(crate) mod routes;
