//! A fleet of virtual desktops inside your process: inventory, lifecycle actions and telemetry of thousands of
//! workspaces, behind one fixed HTTP interface.
//!
//! ```
//! use deskfleet::{ActionRequest, Engine, HistoryQuery, State, StatsRecord, Stream, Workspace};
//!
//! let engine = Engine::in_memory()?; // or `Engine::open("fleet.redb")`
//! engine.put_workspace(Workspace {
//!     id: "ws-1".into(),
//!     username: Some("jdoe".into()),
//!     state: Some(State::Available.into()),
//!     ..Workspace::default()
//! })?;
//! engine.record(StatsRecord {
//!     instance_id: "ws-1".into(),
//!     processor_in_use: Some(97),
//!     ..StatsRecord::default()
//! })?; // on disk when this returns
//! engine.act(ActionRequest::reboot("ws-1"))?;
//! assert_eq!(engine.all_history(HistoryQuery::new(Stream::Stats, "ws-1")).count(), 1);
//! # Ok::<(), deskfleet::EngineError>(())
//! ```
//!
//! # In the order of need
//! 1. [`Engine`] and its typed methods: workspaces, actions, telemetry, keys. No URL, no JSON.
//! 2. [`Upkeep`]: [`Engine::maintain`] once a second, or [`EngineBuilder::upkeep`] with a thread. Without it telemetry is never compacted
//!    or removed, and where a thread commits the queue fills up.
//! 3. [`EngineBuilder`] and [`Config`]: limits, retention, who commits and who ends actions, an own clock or storage.
//! 4. [`Engine::handle`] and [`Engine::call`]: the HTTP interface, for any server. An `http::Request` in, an `http::Response`
//!    out; every failure is a response already. With the feature `tower`, `Engine::service` keeps slow work off an event loop.
//!    [`Principal`] is a caller that the host has authenticated.
//! 5. [`ManualClock`] and [`EngineBuilder::seed`]: a test double that repeats to the byte. With the feature `testing`, `testing::Double` also
//!    fails as a test wants it, and keeps a journal.
//! 6. [`Observer`]: what goes wrong inside, to log and to count.
//! 7. [`backends`]: storage of your own.
//!
//! # Durability
//! A write that returned `Ok`, or status 200, is synced. All pending writes share one transaction and one sync.
//! [`ErrorKind::Indeterminate`] is the one failure after which a write may have taken effect.
//!
//! # Threads and async
//! [`Engine`] is `Clone`, `Send` and `Sync`; clones share one store, and any number of threads may call it.
//!
//! The typed methods and [`Engine::handle`] block: reads for as long as they read, writes until their commit is synced, which
//! takes as long as the disk does, typically 0.1 to 10 ms. From async code use [`Engine::call`], [`Engine::record_batch_async`] and the other
//! methods that return a future, with [`CommitDriver::Thread`], so that no future waits for the disk inside `poll`. The futures need
//! no particular executor. With that driver upkeep has a thread of its own. [`Engine::maintain`] and the methods on whole files ([`Engine::check`], [`Engine::backup`],
//! [`Engine::compact`]) belong on a thread where blocking is allowed, such as `tokio::task::spawn_blocking`.
//!
//! # Features
//! - `system` (default): the clock and the randomness of the operating system, unless the builder is given others. Without it
//!   the engine has neither, and compiles to `wasm32-unknown-unknown`.
//! - `cluster`: `EngineBuilder::log`, by which several nodes share a [log](cluster::Log).
//! - `tower`: `Engine::service`, a `tower_service::Service` for axum and the like.
//! - `schema`: JSON Schemas of all bodies, for documents and type definitions; a program that serves does not need it.
//! - `testing`: a double of the service for tests, with faults, a manual clock and a journal.
//! - `tracing`: an [`Observer`] that hands every event to `tracing`.

mod api;
mod clock;
mod config;
mod domain;
mod engine;
mod engine_core;
mod error;
pub mod limits;
#[doc(hidden)]
pub mod locks;
mod log;
mod model;
mod mutation;
mod nearest;
mod observer;
mod random;
pub mod settings;
mod sorting;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod timestamp;
mod view;
mod wire;

pub use clock::{Clock, ManualClock};
pub use config::{
    ActionDriver, ActionDrivers, ActionDurations, Actions, Alerts, CommitDriver, CommitPhases,
    Config, Cost, HourLimits, Limits, QueueStorage, RetentionDays,
};
pub use engine::{
    Accepted, AcceptedPosition, BatchFuture, Dispatched, Engine, EngineBuilder, EventBytes,
    EventStream, Exchange, RefusedBatch, ResponseBody, ResponseFuture, TelemetryBatch, Upkeep,
    WeakEngine, WorkspaceImport, WorkspaceList, WorkspacePage, WorkspaceQuery, WriteFuture,
};
pub use error::{EngineError, ErrorKind, Result, error_chain};
pub use model::{
    Action, ActionBatch, ActionBatchRequest, ActionRequest, ActionState, ActivityRecord, Attempt,
    AuditAction, AuditEntry, AuditResult, BatchItem, BatchStop, ComputeType, Condition, EventType,
    FailedState, FleetCounts, FleetEvent, ImportReport, IssuedKey, KeyFilter, KeyInfo, KeyLimits,
    LineError, LineWarning, LitigationHold, NameMapping, Named, NewKey, Nullable, Paging,
    PendingAction, Principal, ProcessItem, ProcessReport, Protocol, ProviderLease, Received,
    Record, RemovedTelemetry, RunningMode, Scope, Scopes, Severity, StartupRecord, State,
    StatsRecord, StoreStatus, Stream, TelemetrySelection, Vocabulary, Workspace, WorkspacePatch,
    WorkspaceView,
};
#[doc(hidden)]
pub use mutation::logged::entry::logged_mutations;
#[cfg(feature = "tracing")]
pub use observer::TracingObserver;
pub use observer::{Event, Observer};
pub use store::disk::backends;
pub use store::disk::backends::{SegmentFolder, StorageBackend};
pub use store::disk::file::LockedFile;
pub use store::verify::CheckReport;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use view::actions::{ActionPage, ActionQuery, ActionsSince, Unattended};
pub use view::activity::ActivityView;
pub use view::audit::{AuditPage, AuditQuery};
pub use view::history::{HistoryPage, HistoryQuery};
pub use view::user::UserView;
pub use view::workspaces::WorkspaceFilter;
pub use wire::problem::Code;
pub use wire::trace::TraceId;

/// Questions about the whole fleet, as `/query` has them: what each is asked with, and the rows that it returns.
pub mod query {
    pub use crate::domain::range::moment;
    pub use crate::domain::term::Term;
    pub use crate::model::{Cell, Column, ColumnKind, Metric, Question, Row, Rows, Statistic};
    pub use crate::view::query::FleetQuery;
    pub use crate::view::query::advice::{
        AdviceQuery, AdviceRow, AdviceTotalRow, AdviceTotalsQuery,
    };
    pub use crate::view::query::export::ExportQuery;
    pub use crate::view::query::fleet::FleetSummary;
    pub use crate::view::query::groups::GroupFilter;
    pub use crate::view::query::heatmap::{HeatmapCell, HeatmapOf, HeatmapQuery};
    pub use crate::view::query::holds::{HoldRow, HoldsQuery};
    pub use crate::view::query::preview::{PreviewQuery, PreviewRow};
    pub use crate::view::query::processes::{ProcessRow, ProcessesQuery};
    pub use crate::view::query::series::{MetricValues, Series, SeriesPoint, SeriesQuery};
    pub use crate::view::query::startup::{
        DurationQuantiles, SlowStartup, StartupPoint, StartupQuery, StartupReport,
    };
    pub use crate::view::query::timeline::{TimelineQuery, TimelineRow};
    pub use crate::view::query::top::{TopQuery, TopRow};
    pub use crate::view::query::workspaces::{WorkspaceRow, WorkspaceRowsQuery};
    pub use crate::wire::export::ExportFormat;
}

/// Several nodes that share a log, which the host provides.
pub mod cluster {
    pub use crate::engine::AppliedFuture;
    pub use crate::log::{
        Appended, AppliedEntries, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind,
        MemoryLog, NodeReport,
    };
    pub use crate::model::{ClusterStatus, LogPositions, NodeStatus};
}

/// The engine as a service of `tower`, for axum and the like; `Engine::service` makes one.
#[cfg(feature = "tower")]
pub mod service {
    pub use crate::engine::{EngineService, ServiceBody, ServiceFuture, SlowWork};
}

/// The table of all endpoints, for a server's access log and metrics, and for documents such as OpenAPI.
///
#[doc = include_str!("../docs/routes.md")]
pub mod routes {
    pub use crate::api::endpoint::{
        Access, Answer, Audited, BodyForm, Method, Pace, RequestBody, Route,
    };
    pub use crate::api::parameters::{Param, ParamKind};
    pub use crate::api::routes::ROUTES;
}

/// The JSON Schemas of all bodies, derived from the types.
#[cfg(feature = "schema")]
pub mod schema {
    pub use crate::api::schemas::Schemas;
}

/// The tables of the fields of the telemetry records, for what treats all fields alike: a document, a converter, a check.
pub mod fields {
    pub use crate::model::{FieldKind, FieldSpec, FieldValue, Fields};
    pub use crate::nearest::nearest;
}
