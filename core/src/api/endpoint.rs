//! The members of a row of the route table.

use crate::config::Limits;
use crate::domain::query::Query;
use crate::error::Result;
use crate::model::{Action, AuditAction, Question, Scope, Stream};
use crate::wire::problem::Code;

use super::parameters::{EXPORT, Param};
use super::{Call, Handled};

/// The method of an endpoint. A `Get` also takes HEAD.
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

    /// The method of the endpoints that take a request; `None` where there are none.
    pub(crate) fn of_request(method: &http::Method) -> Option<Self> {
        Some(match *method {
            http::Method::GET | http::Method::HEAD => Self::Get,
            http::Method::POST => Self::Post,
            http::Method::PUT => Self::Put,
            http::Method::DELETE => Self::Delete,
            _ => return None,
        })
    }
}

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anyone; with `require_ingest_key`, a key with scope `ingest`.
    Telemetry,
    /// A key that grants the scope; `admin` grants each of them.
    Key(Scope),
    /// A key that grants the scope, or `audit`.
    KeyOrAudit(Scope),
}

/// What an endpoint reads from the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the shapes of the interface")]
pub enum RequestBody {
    /// Nothing; a body is ignored.
    None,
    /// One telemetry record.
    Record(Stream),
    /// Telemetry records in JSON, one after the other or in an array.
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
    /// Which action to start, on which workspaces.
    ActionBatch,
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
    /// A batch of actions.
    ActionBatch,
    /// The batches of actions.
    ActionBatches,
    /// A page of the audit.
    Audit,
    Keys,
    /// The state of the store.
    Store,
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

/// How long an endpoint can take before it responds, apart from waiting for a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Well under a millisecond for any request and store.
    Quick,
    /// A millisecond or more for large requests or stores: a server keeps it off its event loop.
    Slow,
}

/// Which requests have an audit row for data that they hand out and for refusals, and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audited {
    /// None has.
    Never,
    /// Each has.
    Always(AuditAction),
    /// The row `QueryExport`, where the list is read with `export=true`.
    Export,
}

/// The function that makes the response, with the row if it serves several.
#[derive(Debug, Clone, Copy)]
pub(super) enum Handler {
    Call(fn(&Call<'_>) -> Handled),
    Action(fn(&Call<'_>, Action) -> Handled, Action),
    Stream(fn(&Call<'_>, Stream) -> Handled, Stream),
}

impl Handler {
    pub(super) fn run(self, call: &Call<'_>) -> Handled {
        match self {
            Self::Call(handle) => handle(call),
            Self::Action(handle, action) => handle(call, action),
            Self::Stream(handle, stream) => handle(call, stream),
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Its operation id: unique, stable, camelCase.
    pub operation_id: &'static str,
    /// Its method.
    pub method: Method,
    /// Its path as documented; `{name}` stands for one segment.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// Its query parameters, without `apiKey`, in groups that several rows share.
    pub(super) query: &'static [&'static [Param]],
    /// Its request body.
    pub body: RequestBody,
    /// What it returns on success.
    pub answer: Answer,
    /// How long it can take.
    pub pace: Pace,
    /// Which of its requests have an audit row, beside that of a change.
    pub audited: Audited,
    /// Refusals of its own, beside those that follow from access, query and body.
    pub problems: &'static [Code],
    pub(super) handler: Handler,
}

impl PartialEq for Route {
    fn eq(&self, other: &Self) -> bool {
        self.operation_id == other.operation_id
    }
}

impl Eq for Route {}

impl Route {
    /// A row without parameters, body, audit and refusals of its own, and quick.
    pub(super) const fn new(
        operation_id: &'static str,
        (method, path): (Method, &'static str),
        access: Access,
        handler: Handler,
        answer: Answer,
    ) -> Self {
        Self {
            operation_id,
            method,
            path,
            access,
            query: &[],
            body: RequestBody::None,
            answer,
            pace: Pace::Quick,
            audited: Audited::Never,
            problems: &[],
            handler,
        }
    }

    pub(super) const fn access(mut self, scope: Scope) -> Self {
        self.access = Access::Key(scope);
        self
    }

    /// A key with the scope `audit` suffices as well.
    pub(super) const fn or_audit(mut self) -> Self {
        if let Access::Key(scope) = self.access {
            self.access = Access::KeyOrAudit(scope);
        }
        self
    }

    pub(super) const fn query(mut self, query: &'static [&'static [Param]]) -> Self {
        self.query = query;
        self
    }

    pub(super) const fn body(mut self, body: RequestBody) -> Self {
        self.body = body;
        self
    }

    pub(super) const fn slow(mut self) -> Self {
        self.pace = Pace::Slow;
        self
    }

    pub(super) const fn audited(mut self, action: AuditAction) -> Self {
        self.audited = Audited::Always(action);
        self
    }

    pub(super) const fn exported(mut self) -> Self {
        self.audited = Audited::Export;
        self
    }

    pub(super) const fn problems(mut self, problems: &'static [Code]) -> Self {
        self.problems = problems;
        self
    }

    /// Its query parameters, without `apiKey`.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Param> + Clone + use<> {
        let export = (self.audited == Audited::Export).then_some(&EXPORT);
        self.query.iter().copied().flatten().chain(export)
    }

    /// The most that is read of the request's body, in bytes; one byte more is refused. 0 means that a body is ignored,
    /// [`usize::MAX`] that it may have any length.
    #[must_use]
    pub const fn body_bytes_max(&self, limits: &Limits) -> usize {
        self.body.bytes_max(limits)
    }

    /// Checks that a query can be decoded. A question or a removal must know every parameter: a misspelled one would select the
    /// whole fleet.
    pub(crate) fn check_query(&self, query: Query<'_>, has: impl Fn(&str) -> bool) -> Result<()> {
        let known = self.parameters().map(|param| param.name);
        query.check(known.clone())?;
        if !self.path.starts_with("/query/") && self.answer != Answer::RemovedTelemetry {
            return Ok(());
        }
        let known: Vec<_> = known.filter(|name| has(name)).collect();
        query.check_known(&known)
    }
}

/// How a request body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyForm {
    /// It is ignored.
    None,
    /// JSON, parsed when all of it has arrived.
    Json,
    /// The same, or nothing.
    OptionalJson,
    /// Telemetry records, parsed as they arrive.
    Batch,
    /// Records of any number and of several formats, parsed and committed as they arrive.
    Import,
}

impl RequestBody {
    /// How it is read.
    #[must_use]
    pub const fn form(self) -> BodyForm {
        match self {
            Self::None => BodyForm::None,
            Self::Batch => BodyForm::Batch,
            Self::Workspaces => BodyForm::Import,
            Self::ActionFailure => BodyForm::OptionalJson,
            Self::Record(_)
            | Self::Workspace
            | Self::Hold
            | Self::NewKey
            | Self::ActionDispatch
            | Self::ActionNote
            | Self::Preview
            | Self::ActionBatch => BodyForm::Json,
        }
    }

    pub(crate) const fn bytes_max(self, limits: &Limits) -> usize {
        match self.form() {
            BodyForm::None => 0,
            BodyForm::Batch => limits.batch_body_bytes,
            // Each record has a limit of its own.
            BodyForm::Import => usize::MAX,
            // The last two have a thousand ids.
            _ if matches!(
                self,
                Self::Record(Stream::Processes) | Self::Preview | Self::ActionBatch
            ) =>
            {
                limits.processes_body_bytes
            }
            BodyForm::Json | BodyForm::OptionalJson => limits.record_body_bytes,
        }
    }
}
