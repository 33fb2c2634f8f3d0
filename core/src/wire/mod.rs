//! HTTP formats: queries, bodies, responses, problems. The floors below do not know them.

pub(crate) mod accept;
pub(crate) mod body;
mod csv;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod metrics;
pub(crate) mod problem;
mod record;
pub(crate) mod reply;
pub(crate) mod rows;
#[cfg(feature = "schema")]
pub(crate) mod shapes;
mod tokens;
pub(crate) mod trace;
pub(crate) mod values;
