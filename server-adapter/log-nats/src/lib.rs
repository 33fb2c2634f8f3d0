//! A log in a stream of NATS JetStream.
//!
//! The positions are the sequences of the stream. Copies of the stream hold only what most of them have, so an entry that one of
//! them returns is the entry of that position: entries are read from the nearest copy. Only the leader is believed where the log begins and
//! ends, and that a position has no entry yet. What this node appended is not read back: the servers announce its time, and the leader
//! has the entry before it. A server that still takes itself for the leader after the others elected another
//! one returns an end that is older than what is known here, and is asked again.

mod address;
mod appending;
mod checks;
mod client;
mod end;
mod moment;
mod own;
mod undecided;

use deskfleet::cluster::LogError;
use deskfleet_log_runtime::ServedLog;

pub use address::NatsOptions;
pub use client::JetStreamClient;

use address::Address;

/// A log in a stream of NATS JetStream 2.12 or later, shared by all that open the same URL with the same name of a fleet.
///
/// The stream is `df_FLEET` with the subject `df.FLEET.log`; its servers announce what they stored on `df.FLEET.tail`. What nodes
/// report is in the stream `df_FLEET_nodes`, subjects `df.FLEET.node.*`.
pub type JetStreamLog = ServedLog<JetStreamClient>;

/// Connects, makes the streams where they are missing, and checks the settings that an acknowledged entry depends on.
///
/// `url` is `nats://HOST:PORT,HOST:PORT?fleet=NAME&monitor=http://HOST:PORT,...`, or with `tls://`. `monitor` is for the check
/// that each server has `sync_interval: always`; with `unchecked_sync=yes` there is none.
///
/// # Errors
/// [`Unsafe`](deskfleet::cluster::LogErrorKind::Unsafe) where the URL cannot be used or the servers would lose acknowledged entries,
/// [`Unavailable`](deskfleet::cluster::LogErrorKind::Unavailable) where no server can be reached, or a stream has no leader after ten seconds. No
/// message has the credentials.
pub fn open(url: &str, options: &NatsOptions) -> Result<JetStreamLog, LogError> {
    ServedLog::open(JetStreamClient::open(Address::new(url, options)?))
}
