//! Servers of other projects that suites start.

pub mod nats;
pub mod postgres;
