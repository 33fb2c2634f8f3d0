//! A fleet of virtual desktops inside your process: inventory, lifecycle actions and telemetry of thousands of
//! workspaces, behind one fixed HTTP interface.
//!
//! [`Engine`] maps HTTP requests to responses over an embedded redb store. It has no runtime, no socket, no environment
//! and no clock of its own: [`Engine::handle`] blocks, [`Engine::call`] is a plain future, and the typed methods need
//! no URLs. Status 200 means that what the request wrote is on disk.
//!
//! # Features
//! - `tower`: `tower_service::Service` for [`Engine`].

mod api;
mod clock;
mod config;
mod domain;
mod engine;
mod error;
pub mod limits;
mod machine;
mod model;
mod mutation;
mod observer;
mod random;
mod store;
mod timestamp;
mod view;
mod wire;

pub use api::endpoint::{
    Access, Answer, BrokenBody, Endpoint, Method, Param, ParamKind, RequestBody, Route, Work,
};
pub use api::routes::ROUTES;
pub use clock::{Clock, ManualClock};
pub use config::{
    ActionDriver, ActionDurations, CommitDriver, CommitPhases, Config, RetentionDays,
};
#[cfg(feature = "tower")]
pub use engine::ServiceFuture;
pub use engine::{
    BatchFuture, Engine, EngineBuilder, ResponseBody, ResponseFuture, StreamedFuture,
    TelemetryBatch, Upload, WorkspaceList, WorkspacePage, WorkspaceQuery,
};
pub use error::{EngineError, ErrorKind, Result, error_chain};
pub use limits::Limits;
pub use model::{
    Action, ActionRequest, ActivityRecord, AuditAction, AuditEntry, AuditResult, ComputeType,
    FailedState, FieldKind, FieldSpec, FieldValue, Fields, IssuedKey, KeyInfo, LitigationHold,
    Named, NewKey, Nullable, PendingAction, ProcessItem, ProcessReport, Protocol, Received, Record,
    RunningMode, Scope, Scopes, StartupRecord, State, StatsRecord, Stream, Vocabulary, Workspace,
    WorkspaceView,
};
#[cfg(feature = "tracing")]
pub use observer::TracingObserver;
pub use observer::{Event, Observer};
pub use store::backends;
pub use store::backends::StorageBackend;
pub use store::verify::CheckReport;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use view::activity::ActivityView;
pub use view::history::{HistoryPage, HistoryQuery};
pub use view::user::UserView;
pub use view::workspaces::WorkspaceFilter;
pub use wire::problem::Code;

/// The README's Rust is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
