//! Servers of other projects that suites start, and networks for them.

mod failover;
pub mod nats;
pub mod network;
mod ports;
pub mod postgres;
