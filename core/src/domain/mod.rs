//! The rules of the interface, free of storage and transport.

pub(crate) mod action_batches;
pub(crate) mod advice;
pub(crate) mod bulk;
pub(crate) mod comparison;
pub(crate) mod cost;
pub(crate) mod editing;
pub(crate) mod filing;
pub(crate) mod health;
pub(crate) mod key_limits;
pub(crate) mod keys;
pub(crate) mod lifecycle;
pub(crate) mod order;
pub(crate) mod paging;
pub(crate) mod query;
pub(crate) mod range;
pub(crate) mod retention;
pub(crate) mod steps;
pub(crate) mod term;
pub(crate) mod transition;
pub(crate) mod validation;
