//! Servers of other projects that suites start, and networks for them.

pub mod certificates;
mod failover;
pub mod nats;
pub mod network;
pub mod ports;
pub mod postgres;
