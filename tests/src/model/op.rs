//! The operations on an engine, with the bounds in the types: any value of these types is a valid run.

use std::fmt;

use arbitrary::Arbitrary;
use deskfleet::{Action, Scope, Stream, Timestamp};

/// The moment at which a run begins.
pub const START: &str = "2026-11-20T12:00:00Z";

/// Declares a small choice: any number selects one of the values.
macro_rules! choice {
    ($(#[$meta:meta])* $name:ident: [$type:ty] = [$($value:expr),* $(,)?]) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Arbitrary)]
        pub struct $name(pub u8);

        impl $name {
            const VALUES: &'static [$type] = &[$($value),*];

            /// How many values there are.
            #[expect(clippy::cast_possible_truncation, reason = "a choice has few values")]
            pub const COUNT: u8 = Self::VALUES.len() as u8;

            /// The value chosen.
            pub fn value(self) -> $type {
                Self::VALUES[usize::from(self.0) % Self::VALUES.len()]
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({}) /* {:?} */"), self.0, self.value())
            }
        }
    };
}

choice! {
    /// A workspace.
    Desk: [&'static str] = ["ws-0", "ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]
}
choice! {
    /// A user; the first two are the same person.
    Person: [&'static str] = ["ann", "CORP\\Ann", "bob@corp.example", "eve"]
}
choice! {
    /// A state: every known one, an unknown one, none.
    StateName: [Option<&'static str>] = [
        Some("AVAILABLE"), Some("STOPPED"), Some("UNHEALTHY"), Some("ERROR"), Some("REBOOTING"), Some("TERMINATED"),
        Some("IMPAIRED"), Some("SUSPENDED"), Some("STARTING"), Some("REBUILDING"), Some("RESTORING"), Some("TERMINATING"),
        Some("UPDATING"), Some("PENDING"), Some("STOPPING"), Some("MAINTENANCE"), Some("ADMIN_MAINTENANCE"),
        Some("Hibernating"), None,
    ]
}
choice! {
    /// A running mode.
    Mode: [Option<&'static str>] = [Some("AUTO_STOP"), Some("MANUAL"), Some("ALWAYS_ON"), Some("Sometimes"), None]
}
choice! {
    /// A compute type.
    Kind: [Option<&'static str>] = [
        Some("STANDARD"), Some("POWER"), Some("GRAPHICS"), Some("GRAPHICS_G4DN"), Some("GRAPHICSPRO_G4DN"), Some("Huge"), None,
    ]
}
choice! {
    /// An action.
    Doing: [Action] = [
        Action::Reboot, Action::RecoveryReboot, Action::Rebuild, Action::Restore, Action::Terminate, Action::Start,
        Action::ChangeComputeType,
    ]
}
choice! {
    /// The instance of a record: a workspace, a computer in another case, an unknown name, nothing.
    Instance: [&'static str] = ["ws-0", "ws-1", "ws-2", "pc-WS-3", "i-1", ""]
}
choice! {
    /// A stream of telemetry.
    Telemetry: [Stream] = [Stream::Stats, Stream::Activity, Stream::Startup, Stream::Processes]
}
choice! {
    /// Seconds by which the clock moves.
    Jump: [i64] = [
        1, 30, 60, 120, 300, 1200, 1201, 1800, 3600, 86_400, 3 * 86_400, 7 * 86_400, -1, -60, -1800, -86_400,
    ]
}
choice! {
    /// The time in a record: none, or seconds from [`START`].
    Sent: [Option<i64>] = [
        None, Some(0), Some(1), Some(60), Some(-60), Some(3600), Some(-3600), Some(-86_400), Some(-86_399), Some(300),
        Some(301), Some(3 * 86_400), Some(-3 * 86_400),
    ]
}
choice! {
    /// A process of a provider: its name, and what distinguishes it from another of that name.
    Process: [(&'static str, Option<&'static str>)] = [("aws", Some("4f")), ("aws", Some("7c")), ("aws", None), ("command", None)]
}
choice! {
    /// Which attempt at an action: the next one, the last one again, one too many.
    Which: [i64] = [1, 0, 2]
}
choice! {
    /// The limit of a page.
    Limit: [u32] = [1, 2, 3, 100, 500]
}
choice! {
    /// The scopes of a key.
    Rights: [&'static [Scope]] = [&[Scope::Read], &[Scope::Act, Scope::Read], &[Scope::Admin], &[Scope::Ingest]]
}
choice! {
    /// A number of audit rows.
    Rows: [u32] = [0, 1, 2, 10, 10_000]
}

impl Sent {
    /// The time itself.
    pub fn time(self) -> Option<Timestamp> {
        let start: Timestamp = START.parse().expect("a date-time");
        self.value().map(|seconds| start.plus_seconds(seconds))
    }
}

/// One of the existing items: the n-th, modulo their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub struct Nth(pub u8);

impl Nth {
    /// The item, if there is any.
    pub fn pick<T>(self, items: &[T]) -> Option<&T> {
        items.get(usize::from(self.0).checked_rem(items.len())?)
    }
}

/// A workspace to put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub struct NewDesk {
    /// Which.
    pub desk: Desk,
    /// Its user.
    pub person: Option<Person>,
    /// In which state.
    pub state: StateName,
    /// In which mode.
    pub mode: Mode,
    /// Of which type.
    pub kind: Kind,
}

/// A record to post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub struct Post {
    /// The stream.
    pub stream: Telemetry,
    /// The instance.
    pub instance: Instance,
    /// The user.
    pub person: Option<Person>,
    /// The time in it.
    pub sent: Sent,
    /// What else distinguishes it from other records.
    pub number: bool,
}

/// One operation on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Arbitrary)]
pub enum Op {
    /// Puts a workspace in.
    Put(NewDesk),
    /// Puts a workspace in, over the state of a running action as well.
    Override(NewDesk),
    /// Puts several in at once.
    PutMany(Vec<NewDesk>),
    /// Imports several: what they leave out stays.
    Import(Vec<NewDesk>),
    /// `RemoveWorkSpaceDbEntry`.
    Remove(Desk),
    /// Places a hold.
    Hold(Desk),
    /// Releases a hold.
    Release(Desk),
    /// Requests an action on a workspace, of an account, or both.
    Act(Doing, Option<Desk>, Option<Person>, Kind),
    /// The host completes a running action.
    Complete(Nth),
    /// The host fails a running action; with or without a detail.
    Fail(Nth, bool),
    /// A provider begins an attempt at an action, which may have ended.
    Dispatch(Nth, Process, Which),
    /// A provider notes something of the last attempt, or of the one before.
    Note(Nth, bool),
    /// Completes an unknown action.
    CompleteUnknown,
    /// Moves the clock.
    Clock(Jump),
    /// Posts a record.
    Record(Post),
    /// Posts records in one batch.
    RecordAll(Vec<Post>),
    /// Files what is queued.
    File,
    /// Runs upkeep.
    Maintain,
    /// Closes the engine and opens the file again.
    Reopen,
    /// Walks all lists with this limit.
    Walk(Limit),
    /// Filters workspaces by state and user.
    Find(Option<StateName>, Option<Person>),
    /// Reads a user.
    User(Person),
    /// Reads the last 24 hours.
    Day,
    /// Reads the newest rows of the audit.
    Audit(Rows),
    /// Walks the history of an instance between two times.
    History(Telemetry, Instance, Sent, Sent, Limit),
    /// Issues a key.
    IssueKey(Rights, Sent),
    /// Revokes a key, by force or not.
    RevokeKey(Nth, bool),
}
