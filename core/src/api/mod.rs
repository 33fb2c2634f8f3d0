//! From a request to an answer: route, key, query, handler.

mod actions;
pub(crate) mod auth;
pub(crate) mod chunks;
pub(crate) mod endpoint;
mod information;
pub(crate) mod operator;
pub(crate) mod router;
pub(crate) mod routes;
mod stats;
mod step;
pub(crate) mod upload;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};

use crate::engine_core::EngineCore;
use crate::error::{EngineError, ErrorKind};
use crate::limits::Limits;
use crate::model::AuditAction;
use crate::mutation::{Caller, Done, Mutation, Outcome, Refused};
use crate::observer::Event;
use crate::store::keys::LiveKey;
use crate::wire::problem::{Code, Problem};
use crate::wire::query::{Query, RawQuery};
use crate::wire::{accept, reply, trace};

pub(crate) use chunks::{Chunks, collect};
pub(crate) use step::{Step, Then, Tickets};

use endpoint::{BrokenBody, Endpoint, RequestBody, Route};
use router::{Found, Router};

/// A request on its way to a handler.
pub(crate) struct Call<'c> {
    pub(crate) core: &'c EngineCore,
    pub(crate) route: &'static Route,
    pub(crate) headers: &'c HeaderMap,
    pub(crate) body: &'c Bytes,
    pub(crate) query: Query<'c>,
    pub(crate) segments: Vec<String>,
    pub(crate) key: Option<Arc<LiveKey>>,
}

impl Call<'_> {
    /// The first `{name}` of the path.
    pub(crate) fn segment(&self) -> &str {
        self.segments.first().map_or("", String::as_str)
    }

    /// The first `{name}` of the path as a number.
    pub(crate) fn number(&self) -> Result<u64, Problem> {
        self.segment()
            .parse()
            .map_err(|_| Problem::new(Code::NotFound))
    }

    pub(crate) fn caller(&self) -> Caller {
        Caller {
            key_name: self.key.as_ref().map(|key| key.info.name.clone()),
        }
    }
}

/// Answers a request, or says what must be durable first.
pub(crate) fn dispatch(core: &EngineCore, router: &Router, request: &Request<Bytes>) -> Step {
    let traceparent = || request.headers().get(TRACEPARENT);
    let step = routed(core, router, request)
        .unwrap_or_else(|refused| Step::Done(problem(core, &refused, traceparent())));
    if request.method() != Method::HEAD {
        return step;
    }
    match step {
        Step::Done(response) => Step::Done(reply::head(response)),
        // How long the body would be nobody knows without making it.
        Step::Streamed(response, _) => Step::Done(response.map(|_| Bytes::new())),
        step @ Step::Wait(..) => step,
    }
}

fn routed(core: &EngineCore, router: &Router, request: &Request<Bytes>) -> Result<Step, Problem> {
    check_head(&core.config.limits, request.uri(), request.headers())?;
    let (route, segments) = match router.find(request.method(), request.uri().path()) {
        Found::Route { route, segments } => (route, segments),
        Found::MethodNotAllowed(allow) => return Err(Problem::method_not_allowed(allow)),
        Found::Nothing => return Err(Problem::new(Code::NotFound)),
    };
    let query = RawQuery::new(request.uri().query());
    let key = auth::authenticate(core, route.access, request.headers(), query)?;
    let Some(action) = audited(route.endpoint) else {
        return handle(core, route, request, segments, key);
    };
    let handled = handle(core, route, request, segments.clone(), key.clone());
    Ok(handled.unwrap_or_else(|problem| {
        let row = Box::new(refused(action, &problem, query, segments));
        let by = Caller {
            key_name: key.map(|key| key.info.name.clone()),
        };
        let then = Then::Refused(Box::new(problem));
        Step::write(core, vec![Mutation::Refuse { row, by }], then)
    }))
}

/// The header a trace id is taken from.
pub(crate) const TRACEPARENT: &str = "traceparent";

/// The response of a failure.
pub(crate) fn problem(
    core: &EngineCore,
    problem: &Problem,
    traceparent: Option<&HeaderValue>,
) -> Response<Bytes> {
    let traceparent = traceparent.map(HeaderValue::as_bytes);
    reply::problem(problem, &trace::trace_id(traceparent, &core.trace_random))
}

fn check_head(limits: &Limits, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let target = uri.path().len() + uri.query().map_or(0, |query| query.len() + 1);
    if target > limits.uri_bytes {
        return Err(Problem::new(Code::UriTooLong));
    }
    let headers = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    if headers.sum::<usize>() > limits.headers_bytes {
        return Err(Problem::new(Code::HeadersTooLarge));
    }
    Ok(())
}

/// The query of a request, if its key has the right to call the endpoint.
fn admitted<'r>(
    core: &EngineCore,
    route: &Route,
    uri: &'r Uri,
    key: Option<&LiveKey>,
) -> Result<Query<'r>, Problem> {
    auth::authorize(core, route.access, key)?;
    let known = route.query.iter().map(|param| param.name);
    let query = RawQuery::new(uri.query()).parse(known);
    query.map_err(|error| Problem::from(&error))
}

fn handle(
    core: &EngineCore,
    route: &'static Route,
    request: &Request<Bytes>,
    segments: Vec<String>,
    key: Option<Arc<LiveKey>>,
) -> Result<Step, Problem> {
    let query = admitted(core, route, request.uri(), key.as_deref())?;
    check_body(&core.config.limits, route, request)?;
    let call = Call {
        core,
        route,
        headers: request.headers(),
        body: request.body(),
        query,
        segments,
        key,
    };
    run(&call).map_err(|failure| failure.into_problem(core))
}

/// A handler's failure: one found in the request, or one from below.
#[derive(Debug)]
pub(crate) enum Failure {
    Problem(Problem),
    Engine(EngineError),
}

impl Failure {
    /// What the caller is told; the host is told of what the caller is not.
    fn into_problem(self, core: &EngineCore) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Engine(error) => {
                if Code::from(error.kind()) == Code::Internal {
                    core.observe(&Event::Internal { error: &error });
                }
                Problem::from(&error)
            }
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

type Handled = Result<Step, Failure>;

fn run(call: &Call<'_>) -> Handled {
    match call.route.endpoint {
        Endpoint::GetUserInformation => information::get_user_information(call),
        Endpoint::Get24HourActivity => information::get_24_hour_activity(call),
        Endpoint::GetAdminActivity => information::get_admin_activity(call),
        Endpoint::RemoveWorkSpaceDbEntry => Ok(information::remove_work_space_db_entry(call)),
        Endpoint::GetAllWorkSpaces => information::get_all_work_spaces(call),
        Endpoint::GetWorkSpacesOnLitigationHold => {
            information::get_work_spaces_on_litigation_hold(call)
        }
        Endpoint::Act(action) => Ok(actions::act(call, action)),
        Endpoint::Post(stream) => stats::post(call, stream),
        Endpoint::Test => Ok(Step::Done(reply::empty())),
        Endpoint::QueueCount => Ok(stats::queue_count(call)),
        Endpoint::ListWorkspaces => operator::list_workspaces(call),
        Endpoint::PutWorkspaces => operator::put_workspaces(call),
        Endpoint::GetWorkspace => operator::get_workspace(call),
        Endpoint::PutWorkspace => operator::put_workspace(call),
        Endpoint::PlaceHold => operator::place_hold(call),
        Endpoint::ReleaseHold => Ok(operator::release_hold(call)),
        Endpoint::PostBatch => operator::post_batch(call),
        Endpoint::History(stream) => operator::history(call, stream),
        Endpoint::ListActions => operator::list_actions(call),
        Endpoint::CompleteAction => operator::complete_action(call),
        Endpoint::FailAction => operator::fail_action(call),
        Endpoint::ListKeys => operator::list_keys(call),
        Endpoint::IssueKey => operator::issue_key(call),
        Endpoint::RevokeKey => operator::revoke_key(call),
    }
}

/// The most that is read of a request's body.
pub(crate) fn body_bytes_max(limits: &Limits, body: RequestBody) -> usize {
    use crate::model::Stream;
    match body {
        RequestBody::None => 0,
        RequestBody::Record(Stream::Processes) => limits.processes_body_bytes,
        RequestBody::Record(Stream::Stats | Stream::Activity | Stream::Startup)
        | RequestBody::Workspace
        | RequestBody::Hold
        | RequestBody::NewKey
        | RequestBody::ActionFailure => limits.record_body_bytes,
        RequestBody::Batch | RequestBody::Workspaces => limits.batch_body_bytes,
    }
}

fn check_body(limits: &Limits, route: &Route, request: &Request<Bytes>) -> Result<(), Problem> {
    let body = request.body();
    let json = match route.body {
        // Ignored; and bulk bodies tell by themselves what they are.
        RequestBody::None => return Ok(()),
        RequestBody::Batch | RequestBody::Workspaces => true,
        RequestBody::ActionFailure if body.is_empty() => true,
        RequestBody::Record(_)
        | RequestBody::Workspace
        | RequestBody::Hold
        | RequestBody::NewKey
        | RequestBody::ActionFailure => accept::is_json(request.headers()),
    };
    if !json {
        return Err(Problem::detailed(
            Code::UnsupportedMediaType,
            "The body must be JSON in UTF-8; say so with Content-Type: application/json.",
        ));
    }
    check_coding(request.headers())?;
    if body.len() > body_bytes_max(limits, route.body) {
        return Err(too_large(limits, route.body));
    }
    match request.extensions().get::<BrokenBody>() {
        Some(broken) => Err(broken_body(*broken)),
        None => Ok(()),
    }
}

fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    if accept::is_identity(headers) {
        return Ok(());
    }
    Err(Problem::unsupported_coding())
}

fn too_large(limits: &Limits, body: RequestBody) -> Problem {
    let max = body_bytes_max(limits, body);
    let said = format!("The body is larger than {max} bytes.");
    Problem::detailed(Code::PayloadTooLarge, said)
}

fn broken_body(BrokenBody(said): BrokenBody) -> Problem {
    Problem::detailed(Code::InvalidBody, said)
}

/// What the audit calls a call of this endpoint; `None`: its refusals are not audited.
fn audited(endpoint: Endpoint) -> Option<AuditAction> {
    match endpoint {
        Endpoint::Act(action) => Some(AuditAction::Lifecycle(action)),
        Endpoint::RemoveWorkSpaceDbEntry => Some(AuditAction::RemoveWorkspace),
        Endpoint::PlaceHold => Some(AuditAction::PlaceHold),
        Endpoint::ReleaseHold => Some(AuditAction::ReleaseHold),
        Endpoint::IssueKey => Some(AuditAction::IssueKey),
        Endpoint::RevokeKey => Some(AuditAction::RevokeKey),
        Endpoint::GetUserInformation
        | Endpoint::Get24HourActivity
        | Endpoint::GetAdminActivity
        | Endpoint::GetAllWorkSpaces
        | Endpoint::GetWorkSpacesOnLitigationHold
        | Endpoint::Post(_)
        | Endpoint::Test
        | Endpoint::QueueCount
        | Endpoint::ListWorkspaces
        | Endpoint::PutWorkspaces
        | Endpoint::GetWorkspace
        | Endpoint::PutWorkspace
        | Endpoint::PostBatch
        | Endpoint::History(_)
        | Endpoint::ListActions
        | Endpoint::CompleteAction
        | Endpoint::FailAction
        | Endpoint::ListKeys => None,
    }
}

/// The audit row of a refusal, written before it is answered.
fn refused(
    action: AuditAction,
    problem: &Problem,
    query: RawQuery<'_>,
    segments: Vec<String>,
) -> Refused {
    let found = |name: &str| query.find(name).map(std::borrow::Cow::into_owned);
    let on_workspace = matches!(action, AuditAction::PlaceHold | AuditAction::ReleaseHold);
    let segment = segments.into_iter().next().filter(|_| on_workspace);
    Refused {
        action,
        code: problem.code.as_str(),
        workspace_id: segment.or_else(|| found("workSpaceId")),
        requester: found("requester"),
    }
}

/// The answer, once the outcome of every mutation is there.
pub(crate) fn finish(
    core: &EngineCore,
    traceparent: Option<&HeaderValue>,
    outcomes: impl IntoIterator<Item = Outcome>,
    then: Then,
) -> Response<Bytes> {
    finished(outcomes, then).unwrap_or_else(|failure| {
        let refused = failure.into_problem(core);
        problem(core, &refused, traceparent)
    })
}

fn finished(
    outcomes: impl IntoIterator<Item = Outcome>,
    then: Then,
) -> Result<Response<Bytes>, Failure> {
    let mut last = None;
    for outcome in outcomes {
        last = Some(match last {
            None => outcome?,
            Some(_) => outcome.map_err(EngineError::after_a_part)?,
        });
    }
    let last = last.unwrap_or(Done::Nothing);
    let unexpected = || {
        EngineError::new(
            ErrorKind::Internal,
            "a mutation answered something unexpected",
        )
    };
    Ok(match (then, last) {
        (Then::Empty, _) => reply::empty(),
        (Then::Removed(id), _) => reply::ok(reply::JSON, reply::removed(&id)),
        (Then::Workspace, Done::Workspace(view)) => reply::ok(reply::JSON, reply::view(&view)),
        (Then::IssuedKey(secret), Done::Key(info)) => {
            reply::created(reply::view(&crate::model::IssuedKey { info, secret }))
        }
        (
            Then::Lines {
                done,
                count,
                errors,
            },
            _,
        ) => reply::ok(reply::JSON, reply::lines(done, count, &errors)),
        (Then::Refused(problem), _) => return Err(Failure::Problem(*problem)),
        (Then::Workspace | Then::IssuedKey(_), _) => return Err(unexpected().into()),
    })
}
