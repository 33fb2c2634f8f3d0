//! Servers of other projects that suites start.

pub mod postgres;
