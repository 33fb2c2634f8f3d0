//! Being built.

pub mod tidy;
