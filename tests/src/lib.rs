//! Being built.

pub mod fuzzing;
pub mod tidy;
