//! A node of a fleet that shares a log: a write goes into the log first, and all nodes apply the log.
//!
//! A batch becomes one entry, or a few. The node that appended it applies the log up to there, and delivers the outcomes as it
//! meets its own entries. It applies the decoded entry, as every other node does.

mod applying;
mod archiving;
mod looking_ahead;
mod noticing;
mod positions;
mod report;
mod reports;
mod restoring;
mod settings;
mod verifying;
mod writing;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::time::Duration;

use crate::config::{Config, Limits};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{BLOCK_BYTES_MAX, LOG_OVERHEAD_BYTES, LOG_READ_BYTES};
use crate::locks::{lock, read};
use crate::log::{Appended, CanShare, EntryId, Log, LogEntry, LogError, LogErrorKind};
use crate::model::WriteClass;
use crate::mutation::Outcome;
use crate::mutation::configure::{shared_settings, take_over};
use crate::mutation::logged::entry::FIRST_RULES;
use crate::store::{Store, cluster as stored};
use crate::timestamp::Timestamp;

use super::write::Write;
use super::{EngineCore, SharedLog};

use applying::Applier;
use looking_ahead::LookAhead;
use noticing::Noticed;
use positions::PositionWaiters;
use restoring::{RecentEntries, Takeover};

/// The state of an engine that is a node.
pub(crate) struct Cluster {
    _can_share: CanShare,
    log: Box<dyn Log>,
    /// The name of this node; empty if it is not listed.
    pub(crate) node: String,
    /// The newest rules that this program knows.
    rules: u16,
    /// The age up to which this node wants entries of the log kept.
    keep_seconds: u32,
    /// The rules by which the fleet writes: the newest that an applied entry has.
    fleet_rules: AtomicU16,
    /// Distinguishes this process from others that run under the same name.
    process: String,
    /// Locked while entries are applied.
    applier: Mutex<Applier>,
    /// The position up to which entries are applied.
    applied: AtomicU64,
    /// The id of the log, once an entry of it is applied.
    fleet: OnceLock<EntryId>,
    /// The position at the last sync of the file.
    durable: AtomicU64,
    /// The position up to which the host has archived the log; the largest number where it keeps no archive.
    archived: AtomicU64,
    /// The last position of the log that this node knows.
    last: AtomicU64,
    /// The shared settings in the configuration of this node, which need not be those of the fleet.
    own_settings: Mutex<String>,
    /// The configuration with the fleet's settings, for decisions before an entry is appended.
    config: RwLock<Config>,
    /// Locked while settings of the fleet are changed.
    changing_settings: Mutex<()>,
    /// How often the log failed, from 1 on.
    failures: AtomicU64,
    /// The value of `failures` when the log was last verified to be the one that was applied here.
    verified: AtomicU64,
    /// Locked while the log is verified.
    verifying: Mutex<()>,
    /// Appended writes with a waiting caller.
    own: Mutex<BTreeMap<EntryId, Own>>,
    /// The time of the last entry that is applied, in ticks.
    applied_at: AtomicI64,
    /// Milliseconds by which the clock of this node is ahead of the log's, or negative; 0 while the difference is small.
    clock_ahead_ms: AtomicI64,
    halt: Mutex<Option<Halt>>,
    waiters: PositionWaiters,
    /// The time of the last sync and report, in ticks, and the count of reports.
    reported_at: Mutex<Option<(i64, i64)>>,
    noticed: Mutex<Noticed>,
    look_ahead: LookAhead,
    /// What this node can restore.
    recent: Mutex<RecentEntries>,
    takeover: Mutex<Option<Takeover>>,
}

/// Why a node applies nothing more until an operator acts.
#[derive(Debug, Clone)]
struct Halt {
    reason: HaltReason,
    error: EngineError,
}

/// The kinds of it, which differ in what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HaltReason {
    /// The log lost entries that this node applied, or has others in their place.
    LogLostEntries,
    /// The log is empty or of another fleet.
    OtherLog,
    /// The log no longer has what this node lacks.
    Trimmed,
    /// A newer version wrote the next entry.
    NewerRules,
    /// The next entry cannot be read.
    DamagedEntry,
}

impl HaltReason {
    /// As [`NodeStatus::halt_code`](crate::model::NodeStatus::halt_code) has it.
    fn code(self) -> &'static str {
        match self {
            Self::LogLostEntries => "LogLostEntries",
            Self::OtherLog => "OtherLog",
            Self::Trimmed => "Trimmed",
            Self::NewerRules => "NewerRules",
            Self::DamagedEntry => "DamagedEntry",
        }
    }
}

/// Writes in the log without an outcome yet.
struct Own {
    writes: Vec<Write>,
    /// The outcomes, once the writes are applied.
    outcomes: Option<Vec<Outcome>>,
}

impl Cluster {
    /// The node of a store. The fleet's settings replace those in `config`. `process` is random.
    pub(crate) fn begin(
        shared: SharedLog,
        store: &Store,
        config: &mut Config,
        process: [u8; 8],
    ) -> Result<Self> {
        if store.has_log().is_some() {
            let message = "a node of a fleet keeps its queue in the file: open it with `queue_storage = \"table\"`";
            return Err(EngineError::new(ErrorKind::Configuration, message));
        }
        let snapshot = store.snapshot()?;
        let applied = stored::applied(&snapshot)?;
        let own_settings = shared_settings(config);
        if let Some(lines) = stored::fleet_configuration(&snapshot)? {
            take_over(config, &lines);
        }
        bound_records(&mut config.limits, shared.log.body_max());
        let position = applied.map_or(0, |applied| applied.position);
        let first_rules = applied.map_or(shared.rules, |_| FIRST_RULES);
        let fleet_rules = stored::rules(&snapshot)?.unwrap_or(first_rules);
        Ok(Self {
            _can_share: shared.can_share,
            log: shared.log,
            node: shared.node,
            rules: shared.rules,
            keep_seconds: shared.keep_seconds,
            fleet_rules: AtomicU16::new(fleet_rules),
            process: format!("{:016x}", u64::from_le_bytes(process)),
            applier: Mutex::new(Applier::new(applied, config.clone())),
            applied: AtomicU64::new(position),
            fleet: applied.map_or_else(OnceLock::new, |applied| EntryId(applied.fleet).into()),
            durable: AtomicU64::new(position),
            archived: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(position),
            applied_at: AtomicI64::new(applied.map_or(i64::MIN, |applied| applied.at.ticks())),
            clock_ahead_ms: AtomicI64::new(0),
            own_settings: Mutex::new(own_settings),
            config: RwLock::new(config.clone()),
            changing_settings: Mutex::default(),
            failures: AtomicU64::new(1),
            verified: AtomicU64::new(0),
            verifying: Mutex::default(),
            own: Mutex::default(),
            halt: Mutex::new((fleet_rules > shared.rules).then(|| too_old(fleet_rules))),
            waiters: PositionWaiters::default(),
            reported_at: Mutex::default(),
            noticed: Mutex::default(),
            look_ahead: LookAhead::default(),
            recent: Mutex::new(RecentEntries::after(applied.as_ref())),
            takeover: Mutex::default(),
        })
    }

    /// The position of the last entry that is applied here.
    pub(crate) fn position(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    /// What `of` takes from the current settings of the fleet.
    pub(crate) fn shared<T>(&self, of: impl FnOnce(&Config) -> T) -> T {
        of(&read(&self.config))
    }

    /// How often the log had failed when it was verified to be the one that was applied here, if it has not failed since.
    fn verified(&self) -> Option<u64> {
        let verified = self.verified.load(Ordering::Acquire);
        (verified == self.failures.load(Ordering::Acquire)).then_some(verified)
    }

    /// After a failure it may be another log.
    fn doubt(&self) {
        self.failures.fetch_add(1, Ordering::AcqRel);
    }

    /// The id of the log; `None` before its first entry is applied here.
    pub(crate) fn fleet(&self) -> Option<EntryId> {
        self.fleet.get().copied()
    }

    /// The time of the last entry that is applied here.
    pub(crate) fn applied_time(&self) -> Timestamp {
        Timestamp::from_ticks(self.applied_at.load(Ordering::Acquire))
    }

    /// Refuses to append by a wrong clock, which would decide what is too old and where records are filed. It is known after the
    /// first report.
    pub(crate) fn check_clock(&self) -> Result<()> {
        let ahead_ms = self.clock_ahead_ms.load(Ordering::Acquire);
        if ahead_ms == 0 {
            return Ok(());
        }
        let side = if ahead_ms > 0 { "ahead of" } else { "behind" };
        let seconds = ahead_ms.unsigned_abs() / 1000;
        let message = format!(
            "the clock of this node is {seconds} s {side} that of the log, and nothing is written by it: set the clock"
        );
        Err(EngineError::new(ErrorKind::StorageUnavailable, message))
    }

    /// The last position of the log that this node knows.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire).max(self.position())
    }

    /// Why this node applies nothing more.
    pub(crate) fn halted(&self) -> Option<EngineError> {
        lock(&self.halt).as_ref().map(|halt| halt.error.clone())
    }

    fn halt_reason(&self) -> Option<HaltReason> {
        lock(&self.halt).as_ref().map(|halt| halt.reason)
    }

    /// The code of that, as reports have it.
    fn halt_code(&self) -> Option<String> {
        self.halt_reason().map(|reason| reason.code().to_owned())
    }

    /// The entry of a position; `None` where the log returns none.
    fn entry_at(&self, position: u64) -> Result<Option<LogEntry>, LogError> {
        let entries = self.log.read(position, 1, Duration::ZERO)?;
        Ok(entries.into_iter().find(|entry| entry.position == position))
    }

    /// Refuses once this node has stopped and an operator has to act.
    fn check_running(&self) -> Result<()> {
        self.halted().map_or(Ok(()), Err)
    }

    /// Stops: applies nothing more from here on.
    fn halt(&self, reason: HaltReason, kind: ErrorKind, message: impl Into<String>) -> EngineError {
        let error = EngineError::new(kind, message);
        let halt = Halt {
            reason,
            error: error.clone(),
        };
        *lock(&self.halt) = Some(halt);
        error
    }

    /// Stops before an entry that this version cannot apply.
    fn stops_before(&self, position: u64, error: &EngineError) -> EngineError {
        let message = format!("this node stops before entry {position} of the log: {error}");
        let reason = if error.kind() == ErrorKind::NewerFormat {
            HaltReason::NewerRules
        } else {
            HaltReason::DamagedEntry
        };
        self.halt(reason, error.kind(), message)
    }

    /// Records a failure of the log: it may be another log when it is back.
    fn failed(&self, error: LogError) -> EngineError {
        self.doubt();
        let kind = match error.kind {
            LogErrorKind::Unknown => ErrorKind::Indeterminate,
            LogErrorKind::Unavailable | LogErrorKind::Trimmed | LogErrorKind::Unsafe => {
                ErrorKind::StorageUnavailable
            }
        };
        EngineError::caused(kind, "the log that the nodes share cannot be used", error)
    }

    /// The error of a log that cannot be read, as this node returns it.
    fn read_failed(&self, error: LogError) -> EngineError {
        if error.kind == LogErrorKind::Trimmed {
            return self.behind();
        }
        self.failed(error)
    }

    /// The error of a node whose position was trimmed off the log.
    fn behind(&self) -> EngineError {
        let message = format!(
            "the log was trimmed behind entry {}, where this node stands: remove its file and start it with --join and the \
             address of another node",
            self.position()
        );
        self.halt(HaltReason::Trimmed, ErrorKind::StorageUnavailable, message)
    }

    /// The error of a log that differs from what this node applied, at or before `position`.
    fn lost_entries(&self, position: u64) -> EngineError {
        let message = format!(
            "what the log has up to entry {position} is not what this node applied: the log lost entries that it had acknowledged, or \
             is another one. Remove no file yet: the nodes that have applied more \
             hold the only copies. Start them all, then restart this node. If no node goes on, the one with the highest position begins a new log; \
             otherwise export what this one has, and start it without its file"
        );
        self.halt(HaltReason::LogLostEntries, ErrorKind::Corrupted, message)
    }

    /// The error of a node that began alone, while another node began the log.
    fn foreign(&self) -> EngineError {
        let message = "the file has data of its own, and the log is that of another fleet: start this node without a file, or \
                    give the fleet another log";
        self.halt(HaltReason::OtherLog, ErrorKind::Configuration, message)
    }

    /// The error of a node that has applied another log.
    fn other_log(&self, kind: ErrorKind, what: &str) -> EngineError {
        let message = format!(
            "{what}, and this node has applied one up to entry {}: check the address of the log and its ?fleet=NAME. A file that was \
             restored to begin a new fleet first needs `deskfleet cluster leave FILE`",
            self.position()
        );
        self.halt(HaltReason::OtherLog, kind, message)
    }

    /// The rules by which the fleet writes, which every node of it knows.
    fn fleet_rules(&self) -> u16 {
        self.fleet_rules.load(Ordering::Acquire)
    }

    /// Appends an entry. If it may have been appended, this appends it again with the same id, which the log then recognises.
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended> {
        let first = match self.log.append(id, body) {
            Err(error) if error.kind == LogErrorKind::Unknown => error,
            appended => return appended.map_err(|error| self.failed(error)),
        };
        // If this attempt fails, the first one may still have been appended.
        let again = self.log.append(id, body);
        again.map_err(|_| self.failed(first))
    }
}

/// The halt of a program that does not know the rules by which the fleet writes.
fn too_old(rules: u16) -> Halt {
    let message =
        format!("the fleet writes by rules {rules}, of a newer deskfleet; update this node");
    Halt {
        reason: HaltReason::NewerRules,
        error: EngineError::new(ErrorKind::NewerFormat, message),
    }
}

/// Bounds the bodies of records so that one fits an entry together with the records before it in its block.
fn bound_records(limits: &mut Limits, body_max: usize) {
    let most = body_max.saturating_sub(BLOCK_BYTES_MAX + LOG_OVERHEAD_BYTES);
    for bytes in [
        &mut limits.record_body_bytes,
        &mut limits.processes_body_bytes,
    ] {
        *bytes = most.min(*bytes);
    }
}

impl EngineCore {
    /// The node of this engine, if it shares a log.
    pub(crate) fn cluster(&self) -> Option<&Cluster> {
        // Not `as_ref`: the compiler sees here that without the feature there is none, and leaves out what a node does.
        match &self.cluster {
            Some(cluster) => Some(cluster),
            None => None,
        }
    }

    fn new_entry_id(&self) -> Result<EntryId> {
        self.injected.random().map(EntryId)
    }

    /// The id of the first entry, if this node appends it. It is in the file before the entry is in the log, so a node that began
    /// a fleet recognises its entry.
    fn founding_id(&self) -> Result<EntryId> {
        let known = stored::founding_id(&self.store.snapshot()?)?;
        if let Some(id) = known {
            return Ok(EntryId(id));
        }
        let id = self.new_entry_id()?;
        let written = self.store.write(WriteClass::Fleet, |tables| {
            stored::set_founding_id(tables, id.0)
        });
        let synced = written.and_then(|()| self.store.sync());
        synced.map_err(|failure| failure.error)?;
        Ok(id)
    }

    /// Applies entries of the other nodes; waits up to `patience` for the first. Returns the number of entries.
    pub(crate) fn follow(&self, patience: Duration) -> Result<u64> {
        let Some(cluster) = self.cluster() else {
            return Ok(0);
        };
        let before = cluster.position();
        let followed = self.follow_once(cluster, patience);
        if followed.is_err() {
            // Entries that the log may have lost shall at least be on this disk. The error of the log is the one to return.
            let _ = self.sync_applied(cluster);
        }
        let is_full = followed.as_ref().is_err_and(EngineError::is_for_space);
        // A node does not list itself in the log of another fleet.
        let reason = cluster.halt_reason();
        let has_halted = reason.is_some_and(|reason| reason != HaltReason::OtherLog);
        if has_halted || is_full {
            // The other nodes then show why this one stands still, and not that it is silent.
            let _ = self.report_when_due(cluster);
        }
        followed.map(|()| cluster.position().saturating_sub(before))
    }

    /// Applies the log up to where it ends when this is called.
    pub(crate) fn catch_up(&self) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        cluster.check_running()?;
        self.verify(cluster)?;
        let bounds = cluster.log.bounds(cluster.position());
        let bounds = bounds.map_err(|error| cluster.failed(error))?;
        cluster.last.fetch_max(bounds.last, Ordering::AcqRel);
        self.apply_through(cluster, bounds.last)
    }

    fn follow_once(&self, cluster: &Cluster, patience: Duration) -> Result<()> {
        cluster.check_running()?;
        self.align(cluster)?;
        let verified = self.verify(cluster)?;
        let from = cluster.position() + 1;
        let read = cluster.log.read(from, LOG_READ_BYTES, patience);
        let entries = read.map_err(|error| cluster.read_failed(error))?;
        if !self.apply_entries(cluster, verified, entries)? {
            let message = "the log failed while it was read, and is read again";
            return Err(cluster.failed(LogError::new(LogErrorKind::Unavailable, message)));
        }
        self.file_above_high_water();
        self.report_when_due(cluster)
    }
}
