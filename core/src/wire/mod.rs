pub(crate) mod problem;
