//! What a row of the route table can say.

use crate::config::Limits;
use crate::error::Result;
use crate::model::{Action, AuditAction, Question, Scope, Stream};
use crate::wire::problem::Code;
use crate::wire::query::Query;

/// The identity of an endpoint; dispatch matches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "each variant is the last segment of its path; the table says the rest"
)]
pub enum Endpoint {
    GetUserInformation,
    Get24HourActivity,
    GetAdminActivity,
    RemoveWorkSpaceDbEntry,
    GetAllWorkSpaces,
    GetWorkSpacesOnLitigationHold,
    Act(Action),
    Post(Stream),
    Test,
    QueueCount,
    ListWorkspaces,
    ImportWorkspaces,
    GetWorkspace,
    PutWorkspace,
    PlaceHold,
    ReleaseHold,
    PostBatch,
    RemoveTelemetry,
    History(Stream),
    ListActions,
    DispatchAction,
    NoteAction,
    CompleteAction,
    FailAction,
    ListAudit,
    ListKeys,
    IssueKey,
    RevokeKey,
    Query(Question),
    GetEvents,
    GetKey,
    Export,
}

/// The method of an endpoint. A `Get` also answers HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// `GET`, and `HEAD`.
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The method as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone; with `require_ingest_key`, a key with scope `ingest`.
    Telemetry,
    /// A key that grants the scope.
    Key(Scope),
}

/// A query parameter. Every one is optional unless `required`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Name, as documented.
    pub name: &'static str,
    /// Its type and bounds.
    pub kind: ParamKind,
    /// Whether the call is refused without it.
    pub required: bool,
}

/// The type of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A string.
    Text,
    /// A date-time.
    Time,
    /// A date-time, or a time before now such as `-24h`.
    Moment,
    /// A duration, such as `5m`.
    Duration,
    /// A whole number, not negative.
    Number,
    /// `true` or `false`, which is the default.
    Flag,
    /// An int32 with inclusive bounds and a default.
    Int32 {
        /// Least accepted value.
        min: i32,
        /// Greatest accepted value.
        max: i32,
        /// Value when absent.
        default: i32,
    },
}

/// What an endpoint reads from the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the shapes of the interface")]
pub enum RequestBody {
    /// Nothing; a body is ignored.
    None,
    /// One telemetry record.
    Record(Stream),
    /// NDJSON lines of telemetry.
    Batch,
    Workspace,
    /// The records of an import: NDJSON, a JSON array or a page of a list, CSV.
    Workspaces,
    Hold,
    NewKey,
    /// `{"state":…,"detail":…}`, may be empty.
    ActionFailure,
    /// `{"provider":…,"attempt":…}`
    ActionDispatch,
    /// `{"requestId":…}`
    ActionNote,
    /// Which action to preview, on which workspaces.
    Preview,
}

/// What an endpoint returns on success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the shapes of the interface")]
pub enum Answer {
    /// 200 with no content.
    Empty,
    /// A page of workspaces, in one of three content types.
    NegotiatedPage,
    /// A page of workspaces, `application/json`.
    Page,
    User,
    Activities,
    AuditRows,
    Removed,
    Count,
    Imported,
    Accepted,
    RemovedTelemetry,
    History(Stream),
    WorkspaceView,
    /// An action of the outbox.
    Action,
    /// A page of the outbox.
    Actions,
    /// A page of the audit.
    Audit,
    Keys,
    /// The key of the request.
    Key,
    /// 201.
    IssuedKey,
    /// A page of rows, as JSON, CSV or NDJSON.
    Rows(Question),
    /// A page of the event log; a server can stream them instead.
    Events,
    /// Telemetry records, as NDJSON or CSV.
    Export,
}

/// How long an endpoint can take before it responds, apart from the commit that it may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Well under a millisecond, whatever is asked and stored.
    Quick,
    /// A millisecond or more, where much is asked or stored: a server keeps it off its event loop.
    Slow,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Which endpoint.
    pub endpoint: Endpoint,
    /// Its operation id: unique, stable, camelCase.
    pub operation_id: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path as documented; `{name}` stands for one segment.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Its query parameters, without `apiKey`.
    pub query: &'static [Param],
    /// Its request body.
    pub body: RequestBody,
    /// What it returns on success.
    pub answer: Answer,
    /// How long it can take.
    pub work: Work,
    /// What the audit calls it; `None` where its refusals are not audited.
    pub audited: Option<AuditAction>,
    /// Refusals of its own, beside those that follow from access, query and body.
    pub problems: &'static [Code],
}

impl Route {
    /// The most that is read of the request's body, in bytes; one byte more is refused. 0 means that a body is ignored,
    /// [`usize::MAX`] that it may have any length.
    #[must_use]
    pub const fn body_bytes_max(&self, limits: &Limits) -> usize {
        self.body.bytes_max(limits)
    }

    /// Checks that a query can be decoded, and of a question or a removal that it has every parameter: one that is misspelled would select the
    /// whole fleet.
    pub(crate) fn check_query(&self, query: Query<'_>, has: impl Fn(&str) -> bool) -> Result<()> {
        let known = self.query.iter().map(|param| param.name);
        query.check(known.clone())?;
        if !self.path.starts_with("/query/") && self.endpoint != Endpoint::RemoveTelemetry {
            return Ok(());
        }
        let known: Vec<_> = known.filter(|name| has(name)).collect();
        query.check_known(&known)
    }
}

impl RequestBody {
    pub(crate) const fn bytes_max(self, limits: &Limits) -> usize {
        match self {
            Self::None => 0,
            // A preview has a thousand ids.
            Self::Record(Stream::Processes) | Self::Preview => limits.processes_body_bytes,
            Self::Record(Stream::Stats | Stream::Activity | Stream::Startup)
            | Self::Workspace
            | Self::Hold
            | Self::NewKey
            | Self::ActionFailure
            | Self::ActionDispatch
            | Self::ActionNote => limits.record_body_bytes,
            Self::Batch => limits.batch_body_bytes,
            // Each record has a limit of its own.
            Self::Workspaces => usize::MAX,
        }
    }
}
