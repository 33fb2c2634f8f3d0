//! A server as a node of a fleet: the logs that nodes can share, and the thread that follows one.

mod fleet_log;
mod fleet_status;
mod follower;

pub use fleet_log::{FleetLog, LogOptions};
pub use fleet_status::FleetStatus;
pub use follower::Follower;
