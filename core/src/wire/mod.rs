//! HTTP shapes: queries, bodies, replies, problems. What is below this floor knows nothing of them.

pub(crate) mod accept;
pub(crate) mod body;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod problem;
pub(crate) mod query;
mod record;
pub(crate) mod reply;
mod tokens;
pub(crate) mod trace;
