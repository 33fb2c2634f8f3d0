//! A server as a node of a fleet: the log that a URL names, the thread that follows it, and an archive of it.

mod archive;
mod fleet_log;
mod fleet_status;
pub(crate) mod follower;
pub(crate) mod latest_reads;

pub use archive::{Archive, ArchiveError, ArchiveLog, ArchiveThread};
pub use fleet_log::{FleetLog, LogOptions};
pub use fleet_status::{FLEET_CONDITIONS, FleetStatus, NONE_GOES_ON};
