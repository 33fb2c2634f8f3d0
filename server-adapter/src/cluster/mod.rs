//! A server as a node of a fleet: the logs that nodes can share, and the thread that follows one.

mod fleet_log;
mod fleet_status;
mod follower;
#[cfg(feature = "nats")]
mod nats;
#[cfg(feature = "postgres")]
mod postgres;

pub use fleet_log::{FleetLog, LogOptions};
pub use fleet_status::FleetStatus;
pub use follower::Follower;
#[cfg(feature = "nats")]
pub use nats::{JetStreamLog, NatsOptions};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresLog, PostgresOptions};
