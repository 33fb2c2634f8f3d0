//! The log that the nodes of a fleet share, as a host injects it. It orders and keeps what is appended to it; what that means is the
//! engine's matter.

mod memory;

use std::fmt;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::timestamp::Timestamp;

pub use memory::MemoryLog;

/// An ordered, durable log that several nodes append to and read: a table of PostgreSQL, a stream of NATS JetStream.
///
/// The methods block. The engine calls them from the threads that commit and from those that call `Engine::follow`, several at a
/// time.
pub trait Log: Send + Sync + 'static {
    /// Appends an entry; returns where it is once it is durable: it must survive what the operator of the log wants to survive. An
    /// entry whose `id` is in the log already is not appended again: the position of the first one is returned.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`] where the entry was not appended and never will be, [`LogErrorKind::Unknown`] where it may have
    /// been: the engine then calls again with the same `id`.
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError>;

    /// The longest body that [`Self::append`] takes, in bytes: 1 000 000 at least. A node refuses reports that would not fit, beside the
    /// 64 kB of other records that may share an entry with one.
    fn body_max(&self) -> usize {
        usize::MAX
    }

    /// The entries from `from` on, in order and without a gap: at least one where there is one, and no further ones once their bodies
    /// exceed `bytes_max`. Where there is none yet, waits up to `patience` for one to arrive.
    ///
    /// A log that keeps no [`LogEntry::chain`] returns the entry before `from` ahead of them, as it is now: by it an engine sees that the
    /// log still has what was applied.
    ///
    /// # Errors
    /// [`LogErrorKind::Trimmed`] where `from` was removed, [`LogErrorKind::Unavailable`] where the log cannot be read now.
    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError>;

    /// The positions that the log holds. Never older than what this node appended or read before, and not than `seen`, up to which it
    /// has applied the log: only where the log has lost that is the last position before it.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`], also where a server may only be behind.
    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError>;

    /// Removes the entries below `below`. They may be readable for a while longer.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`]
    fn trim(&self, below: u64) -> Result<(), LogError>;

    /// Keeps what a node says of itself, in place of what it said before. `report` is short text.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`]
    fn report(&self, node: &str, report: &str) -> Result<(), LogError>;

    /// What the nodes said last, in the order of their names.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`]
    fn reports(&self) -> Result<Vec<NodeReport>, LogError>;

    /// Removes what a node said: it is no longer part of the fleet.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`]
    fn forget(&self, node: &str) -> Result<(), LogError>;

    /// Appends an entry that the log has lost, with the position, the time, the id and the chain that it had, where the log ends with the entry before
    /// it, whose chain is `before`. Returns whether it was appended; a log that cannot do this returns false.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`], [`LogErrorKind::Unknown`]
    fn restore(&self, before: &Chain, entry: &LogEntry) -> Result<bool, LogError> {
        let _ = (before, entry);
        Ok(false)
    }

    /// Ends a [`takeover`](LogBounds::takeover): the log appends again. Does nothing if that is not the number of the takeover.
    ///
    /// # Errors
    /// [`LogErrorKind::Unavailable`]
    fn resume(&self, takeover: u64) -> Result<(), LogError> {
        let _ = takeover;
        Ok(())
    }

    /// What may cost acknowledged entries as the servers of the log are set up, as far as is known without asking them; sentences.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Proof that an engine can share a log. Without the feature `cluster` there is none, so that the compiler leaves all of it out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CanShare(#[cfg(not(feature = "cluster"))] std::convert::Infallible);

#[cfg(feature = "cluster")]
impl CanShare {
    pub(crate) const HERE: Self = Self();
}

/// Identifies an entry that a node appends, also over a connection that was lost meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub [u8; 16]);

impl fmt::Display for EntryId {
    /// 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where an appended entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Its position.
    pub position: u64,
    /// The time that [`Log::read`] returns for it, where the log says it: then it need not be read again.
    pub at: Option<Timestamp>,
    /// What [`LogEntry::chain`] is of it.
    pub chain: Option<Chain>,
}

/// The hash of all entries up to one.
pub type Chain = [u8; 16];

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place: the first entry has 1, each one more than the one before.
    pub position: u64,
    /// When it was appended, by the clock of the log. May be before that of the entry before.
    pub at: Timestamp,
    /// Given by the node that appended it.
    pub id: EntryId,
    /// What was appended.
    pub body: Vec<u8>,
    /// [`Self::chain_after`] the chain of the entry before it, where the log computes that as it appends. An engine that has applied
    /// anything else than what the log has before this entry finds out by it.
    pub chain: Option<Chain>,
}

impl LogEntry {
    /// The first 16 bytes of SHA-256 over the chain of the entry before this one, zeros for the first, its position in eight bytes,
    /// little-endian, its id and its body.
    #[must_use]
    pub fn chain_after(&self, before: &Chain) -> Chain {
        let hash = Sha256::new()
            .chain_update(before)
            .chain_update(self.position.to_le_bytes())
            .chain_update(self.id.0)
            .chain_update(&self.body)
            .finalize();
        let mut chain = Chain::default();
        chain
            .iter_mut()
            .zip(hash)
            .for_each(|(byte, hashed)| *byte = hashed);
        chain
    }
}

/// Entries that a node has applied, for an archive of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedEntries {
    /// The id of the first entry of the log, which names the fleet.
    pub fleet: EntryId,
    /// The position of the entry before them: the one that was asked for or, where the log no longer has the next one, a later one, and then there are
    /// none yet.
    pub position: u64,
    /// The chain of that entry.
    pub chain: Chain,
    /// The entries, in order and without a gap, each with its chain.
    pub entries: Vec<LogEntry>,
    /// The last position that is durable here: where the entries end before it there are more.
    pub durable: u64,
}

/// The positions that a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBounds {
    /// The first position that was not removed; one more than `last` where there is none.
    pub first: u64,
    /// The last position; 0 before the first entry.
    pub last: u64,
    /// Of a log that another server took over, which may lack its last entries: the number of that takeover, which the one before did not have. The
    /// log appends nothing until [`Log::resume`], and the nodes can [`restore`](Log::restore) what it lacks. `None` of a log whose servers never
    /// lose its end.
    pub takeover: Option<u64>,
}

/// What a node said of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// The name of the node.
    pub node: String,
    /// When, by the clock of the log.
    pub at: Timestamp,
    /// As it was given to [`Log::report`].
    pub report: String,
}

/// Why the log did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogError {
    /// What the engine goes by.
    pub kind: LogErrorKind,
    /// What was wrong and what to do, for the operator. Without credentials.
    pub message: String,
}

/// What kind of failure a [`LogError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogErrorKind {
    /// The log cannot be reached now, and did nothing.
    Unavailable,
    /// The connection was lost: what was asked may have been done.
    Unknown,
    /// The entries asked for were removed.
    Trimmed,
    /// The log is not set up such that an acknowledged entry survives, or is not the log of a fleet.
    Unsafe,
}

impl LogError {
    /// An error with a sentence for the operator.
    pub fn new(kind: LogErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LogError {}
