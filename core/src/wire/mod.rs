//! HTTP shapes: queries, bodies, replies, problems. What is below this floor knows nothing of them.

pub(crate) mod accept;
mod batch;
pub(crate) mod body;
mod canonical;
mod ignored;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod problem;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod reply;
pub(crate) mod trace;
