//! The plain types of the engine with their wire names; no rule and no storage lives here.

mod activity;
mod audit;
mod field;
mod hold;
mod key;
mod processes;
mod startup;
mod stats;
mod stream;
mod vocabulary;
mod workspace;

pub use activity::ActivityRecord;
pub use audit::{AuditAction, AuditEntry, AuditResult};
pub use field::{FieldKind, FieldSpec, FieldValue, Fields, Nullable};
pub use hold::LitigationHold;
pub use key::{IssuedKey, KeyInfo, Scope, Scopes};
pub use processes::{ProcessItem, ProcessReport};
pub use startup::StartupRecord;
pub use stats::StatsRecord;
pub use stream::{Received, Record, Stream};
pub use vocabulary::{Action, ComputeType, Protocol, RunningMode, State};
pub use workspace::{PendingAction, Workspace, WorkspaceView};
