//! The plain types of the engine with their wire names, without rules or storage.

mod action_batch;
mod activity;
mod audit;
mod borrowed;
#[cfg(feature = "cluster")]
mod cluster;
mod condition;
mod counts;
mod event;
pub(crate) mod field;
mod hold;
pub(crate) mod identity;
mod import;
mod key;
pub(crate) mod metric;
mod places;
mod price;
mod processes;
mod question;
mod rejection;
mod removal;
mod request;
pub(crate) mod row;
#[cfg(feature = "schema")]
pub(crate) mod schema;
mod situation;
mod startup;
mod stats;
mod stream;
mod vocabulary;
mod workspace;
mod write_class;

pub use action_batch::{ActionBatch, ActionBatchRequest, BatchItem, BatchStop};
pub use activity::ActivityRecord;
pub(crate) use activity::SessionChange;
#[cfg(feature = "schema")]
pub(crate) use audit::BatchAction;
pub use audit::{AuditAction, AuditEntry, AuditResult};
pub(crate) use borrowed::{FIELDS_MAX, RecordRef};
#[cfg(feature = "cluster")]
pub use cluster::{ClusterStatus, LogPositions, NodeStatus};
pub use condition::{Condition, Severity};
pub use counts::{FleetCounts, StoreStatus};
pub(crate) use event::{EventDetail, is_detail};
pub use event::{EventType, FleetEvent};
pub use field::{FieldKind, FieldSpec, FieldValue, Fields, Nullable, ProcessItem};
pub use hold::LitigationHold;
pub(crate) use identity::user_key;
pub use import::{ImportReport, LineError, LineWarning, NameMapping, WorkspacePatch};
pub use key::{IssuedKey, KeyFilter, KeyInfo, KeyLimits, Principal, Scope, Scopes};
pub(crate) use key::{PRINCIPAL_ID, RequestKey, SecretHash};
pub use metric::{Metric, Statistic};
pub(crate) use places::Places;
pub(crate) use price::Price;
pub use processes::ProcessReport;
pub use question::Question;
pub(crate) use rejection::Rejection;
pub use removal::{RemovedTelemetry, TelemetrySelection};
pub use request::{ActionRequest, ActionState, Attempt, FailedState, NewKey};
pub use row::{Cell, Column, ColumnKind, Paging, Row, Rows};
pub(crate) use situation::Situation;
pub use startup::StartupRecord;
pub use stats::StatsRecord;
pub(crate) use stream::history_order;
pub use stream::{Received, Record, Stream};
pub use vocabulary::{Action, ComputeType, Named, Protocol, RunningMode, State, Vocabulary};
pub(crate) use vocabulary::{canonical, is_same_name};
pub use workspace::{PendingAction, Workspace, WorkspaceView};
pub(crate) use write_class::WriteClass;
