//! The facts of a run, as observers see them.

use std::collections::BTreeMap;

use deskfleet::{
    Action, AuditEntry, CheckReport, FleetEvent, PendingAction, Received, Stream, Timestamp,
    WorkspaceView,
};

/// A record as it was sent, identified by its number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Its number; a retry has the same.
    pub number: i32,
    /// Its stream.
    pub stream: Stream,
    /// Its instance.
    pub instance: &'static str,
    /// Its user.
    pub user: &'static str,
    /// Of a process report, how many items it has.
    pub items: u16,
    /// The time in it.
    pub sent: Option<Timestamp>,
    /// The day under which it is filed, by the contract, the clock at the moment of sending and the last sweep.
    pub filed_day: u32,
}

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// To have records stored, all or none.
    Telemetry(Vec<Mark>),
    /// An action on a workspace; the requester is a name of this call's own.
    Act {
        /// Which.
        action: Action,
        /// On which workspace.
        desk: &'static str,
        /// In whose name.
        requester: String,
    },
    /// A hold.
    Hold(&'static str),
    /// The end of a hold.
    Release(&'static str),
    /// To store a workspace.
    Put(&'static str),
    /// To remove the record of a workspace.
    Remove(&'static str),
    /// To end a running action well, or in ERROR.
    End(u64, bool),
    /// To begin an attempt at an action.
    Dispatch {
        /// Its number.
        id: u64,
        /// Which.
        action: Action,
        /// On which workspace.
        desk: String,
        /// Which attempt, from 1.
        attempt: u32,
        /// The process of the provider.
        process: u32,
    },
    /// To note something of an attempt.
    Note {
        /// The number of the action.
        id: u64,
        /// Which attempt.
        attempt: u32,
        /// What.
        note: String,
    },
    /// A new key with this name.
    IssueKey(String),
    /// To revoke the key of this number.
    RevokeKey(u64),
    /// A read with the key of this number.
    UseKey(u64),
    /// The first or the next page of a walk through all workspaces, `n` at once.
    Page {
        /// Whether it is the first.
        first: bool,
        /// Most workspaces on it.
        limit: usize,
    },
    /// The number of queued records.
    QueueCount,
    /// A call that only has to succeed.
    Read,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// 200 or 201.
    Done,
    /// Refused for good: the code. Nothing but an audit row was written, and not that where the code is the storage's.
    Refused(String),
    /// Indeterminate: the storage failed under the commit, the client disconnected, or the power was cut.
    Unknown,
}

/// An answer as it came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Its status; for a typed call, the status that HTTP would return.
    pub status: u16,
    /// Its headers and body, or the result of a typed call, as text.
    pub text: String,
    /// Its body.
    pub body: String,
    /// Whether it has `Retry-After`.
    pub retry_after: bool,
    /// Whether it came over HTTP.
    pub http: bool,
}

/// Everything that can be read, at one moment, with a healthy disk and no pending call.
#[derive(Debug, Clone)]
pub struct Reading {
    /// When.
    pub now: Timestamp,
    /// All records, by stream and instance.
    pub records: BTreeMap<(Stream, &'static str), Vec<Received>>,
    /// `queue/count`.
    pub queued: u64,
    /// The workspaces of the run, as far as they are there.
    pub desks: BTreeMap<&'static str, WorkspaceView>,
    /// The ids of the workspaces on hold, as listed.
    pub held: Vec<String>,
    /// The audit, oldest first.
    pub audit: Vec<AuditEntry>,
    /// The event log, oldest first.
    pub events: Vec<FleetEvent>,
    /// The outbox.
    pub pending: Vec<PendingAction>,
    /// The numbers of all keys, with whether they are revoked.
    pub keys: BTreeMap<u64, bool>,
    /// What the engine finds wrong with its own file.
    pub check: CheckReport,
}

/// How upkeep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpkeepEnd {
    /// All of it was done.
    Whole,
    /// A step was refused and wrote nothing; those after it were not tried.
    Refused,
    /// The same, but the step may have written something.
    InDoubt,
}

/// What may move the time of the last sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// The store was opened.
    Opened,
    /// `maintain` was called and ended so.
    Maintained(UpkeepEnd),
    /// `apply_retention` was called and ended so.
    Applied(UpkeepEnd),
}

/// Something that happened.
#[derive(Debug)]
pub enum Fact<'a> {
    /// A client sent a request, at a time of the engine's clock.
    Sent(u64, &'a Intent, Timestamp),
    /// It was answered.
    Answered(u64, &'a Intent, &'a Ending, &'a Answer),
    /// It will never be answered.
    Lost(u64, &'a Intent),
    /// A secret was handed out with the number of its key.
    Issued(u64, &'a str),
    /// `n` records were moved into history.
    Filed(u64),
    /// Upkeep was called, and whether it completed.
    Upkeep(bool),
    /// The engine's time of the last sweep, after a step that may have changed it; at a time of its clock.
    Swept(Upkeep, Timestamp, Timestamp),
    /// Retention may have been applied as of the first time, when the clock showed the second.
    Retained(Timestamp, Timestamp),
    /// The clock was moved: what it shows, and what it should show.
    Clock(Timestamp, Timestamp),
    /// A line of the log: an event of the engine, a fault, a restart.
    Log(&'a str),
    /// The disk works, and `n` writes in a row failed nevertheless.
    Refusing(u32),
    /// The disk at the end: whether it holds the beginning of a key's text.
    Disk(bool),
    /// Telemetry was read in the order of its receipt, from where the reader was.
    Accepted {
        /// The numbers of the records.
        numbers: Vec<i32>,
        /// Whether some are not kept any more.
        missed: bool,
        /// Whether the reader has come to the end.
        is_end: bool,
        /// What the clock showed.
        now: Timestamp,
    },
    /// Everything was read.
    Read(&'a Reading),
}

/// What is wrong, or that nothing is.
pub type Verdict = Result<(), String>;

/// Watches one promise.
pub trait Observer {
    /// The promise.
    fn promise(&self) -> &'static str;

    /// Takes note of a fact.
    ///
    /// # Errors
    /// How the promise is broken.
    fn see(&mut self, fact: &Fact<'_>) -> Verdict;
}

/// Fails with the text unless the condition holds.
#[macro_export]
macro_rules! demand {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            return Err(format!($($text)*));
        }
    };
}
