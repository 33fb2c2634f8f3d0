//! Handles the operations of the server's own: method, body, key, and what each does.

pub(crate) mod backup_requests;
pub(crate) mod cluster_requests;

use std::sync::Arc;

use bytes::Bytes;
use deskfleet::{AuditAction, Code, KeyInfo};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use serde::Serialize;

use crate::backups::sent_copies::FileBody;
use crate::connection::progress::Progress;
#[cfg(feature = "console")]
use crate::console::session;
use crate::limits::sources::Source;
use crate::options::ServerOptions;
use crate::request::refusal::{self, KeyAttempt, Refused};
use crate::request::service::{self, Service};
use crate::request::small_body;
use crate::response::body::OutgoingBody;
use crate::state::ServerState;

/// Where the engine checks a key of scope `admin`, and writes no audit row of its own.
const CHECKED: &str = "/operator/actions";
/// Of a failure to write the audit row of what would have been handed out.
const NOT_AUDITED: &str = "The audit row could not be written; the log of the server says why.";

/// A response in place of what was asked for.
enum Refusal {
    Own(Refused),
    Engine(Response<Bytes>),
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::Own(refused)
    }
}

/// The response to a request for `service`, and the key that it was sent with, or for a session of the one that was
/// issued.
pub(crate) async fn respond(
    service: Service,
    shared: &ServerState,
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
    source: &Arc<Source>,
) -> (Response<OutgoingBody>, Option<KeyInfo>) {
    let attempt = match service {
        Service::ListBackups
        | Service::BackUp
        | Service::DownloadBackup
        | Service::Cluster
        | Service::ForgetNode => KeyAttempt::of(shared, progress, &request),
        #[cfg(feature = "console")]
        Service::Session => Some(KeyAttempt::from(shared, progress, &request)),
    };
    let traceparent = refusal::traceparent(&request).cloned();
    let (method, version) = (request.method().clone(), request.version());
    let mut key = None;
    let done = answer(
        service, shared, options, progress, request, source, &mut key,
    )
    .await;
    let mut response = done.unwrap_or_else(|refusal| match refusal {
        Refusal::Own(refused) => {
            let mut response = refusal::respond(&shared.engine, refused, traceparent.as_ref());
            if refused.0 == Code::MethodNotAllowed {
                let allow = HeaderValue::from_static(service.allow());
                response.headers_mut().insert(ALLOW, allow);
            }
            whole(&method, response)
        }
        Refusal::Engine(response) => whole(&method, response),
    });
    if progress.is_cut() {
        refusal::close(&mut response, version);
    }
    if let Some(attempt) = attempt {
        response = attempt.after(shared, options, response);
    }
    (response, key)
}

async fn answer(
    service: Service,
    shared: &ServerState,
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
    source: &Arc<Source>,
    key: &mut Option<KeyInfo>,
) -> Result<Response<OutgoingBody>, Refusal> {
    let method = request.method().clone();
    let (head, body) = request.into_parts();
    let takes = service.takes(&head.method);
    #[cfg_attr(
        not(feature = "console"),
        expect(unused_variables, reason = "a backup takes none")
    )]
    let body = small_body::receive(options, progress, body).await?;
    if !takes {
        return Err((Code::MethodNotAllowed, "").into());
    }
    let response = match service {
        Service::ListBackups => {
            check_admin(shared, head, key).await?;
            json(StatusCode::OK, &backup_requests::list(options).await?)
        }
        Service::BackUp => {
            let action = AuditAction::BackUp;
            let caller = check_audited(action, shared, head, source, key).await?;
            let written = backup_requests::write(shared, options).await;
            let file = written.as_ref().ok().map(|backup| backup.file.clone());
            let written = audited(action, file, shared, source, caller, written).await?;
            json(StatusCode::CREATED, &written)
        }
        Service::DownloadBackup => {
            let action = AuditAction::DownloadBackup;
            let caller = check_audited(action, shared, head, source, key).await?;
            let copy = backup_requests::download(shared, options).await;
            let copy = audited(action, None, shared, source, caller, copy).await?;
            return Ok(file(copy));
        }
        Service::Cluster => {
            check_admin(shared, head, key).await?;
            json(StatusCode::OK, &cluster_requests::status(shared).await?)
        }
        Service::ForgetNode => {
            let node = service::node(head.uri.path())
                .unwrap_or_default()
                .to_owned();
            check_admin(shared, head, key).await?;
            cluster_requests::forget(shared, node).await?;
            nothing()
        }
        #[cfg(feature = "console")]
        Service::Session => {
            let issued = session::exchange(shared, &head.headers, &body).await?;
            key.replace(issued.info.clone());
            json(StatusCode::CREATED, &issued)
        }
    };
    Ok(whole(&method, response))
}

/// Refuses a request without a key of scope `admin`, as the outbox is refused without one: the engine checks both. `key` gets
/// the key, also one that is refused.
async fn check_admin(
    shared: &ServerState,
    head: Parts,
    key: &mut Option<KeyInfo>,
) -> Result<(), Refusal> {
    let (caller, checked) = caller(shared, head).await;
    *key = caller;
    checked
}

/// The same for what the audit has a row of, refused or not; returns the key.
async fn check_audited(
    action: AuditAction,
    shared: &ServerState,
    head: Parts,
    source: &Arc<Source>,
    key: &mut Option<KeyInfo>,
) -> Result<Option<KeyInfo>, Refusal> {
    let (caller, checked) = caller(shared, head).await;
    key.clone_from(&caller);
    if let Err(Refusal::Engine(response)) = &checked
        && response.status() == StatusCode::FORBIDDEN
    {
        let refused: Result<(), Refused> = Err((Code::InsufficientScope, ""));
        // The response is that of the engine.
        let _ = audited(action, None, shared, source, caller.clone(), refused).await;
    }
    checked.map(|()| caller)
}

/// The key of a request, and why it may not do what a key of scope `admin` may.
async fn caller(shared: &ServerState, mut head: Parts) -> (Option<KeyInfo>, Result<(), Refusal>) {
    let target = head.uri.query().map(|query| format!("{CHECKED}?{query}"));
    let target: Option<Uri> = target.and_then(|target| target.parse().ok());
    head.uri = target.unwrap_or_else(|| Uri::from_static(CHECKED));
    head.method = Method::GET;
    let exchange = shared.engine.begin(head);
    let caller = exchange.key().cloned();
    if !exchange.is_refused() {
        return (caller, Ok(()));
    }
    let mut refused = exchange.finish().await;
    // A refusal is never made in chunks.
    let bytes = refused.body_mut().take_whole();
    let refused = bytes.map_or(Refusal::Own(refusal::ENDED), |bytes| {
        Refusal::Engine(refused.map(|_| bytes))
    });
    (caller, Err(refused))
}

/// Writes the audit row of what was `done` for `caller`, before it leaves; `detail` says what of it.
async fn audited<T>(
    action: AuditAction,
    detail: Option<String>,
    shared: &ServerState,
    source: &Arc<Source>,
    caller: Option<KeyInfo>,
    done: Result<T, Refused>,
) -> Result<T, Refused> {
    let refused = done.as_ref().err().map(|(code, _)| *code);
    let engine = shared.engine.clone();
    // It waits for a commit, on a thread that others want as well: in turn, as reads that take long.
    let place = shared.slow_reads.resume(&source.slow_reads).await;
    let held = (place, Arc::clone(source));
    let row = shared.slow_reads.run(move || {
        let row = engine.audit_access(action, caller.as_ref(), detail.as_deref(), refused);
        drop(held);
        row
    });
    let row = row.await.map_err(|_| refusal::ENDED)?;
    let done = done?;
    row.map_err(|error| (error.kind().into(), NOT_AUDITED))?;
    Ok(done)
}

/// A response whose body is there already, to a request of that method.
fn whole(method: &Method, response: Response<Bytes>) -> Response<OutgoingBody> {
    refusal::to(method, response).map(OutgoingBody::from)
}

/// A response that nobody keeps.
fn json(status: StatusCode, value: &impl Serialize) -> Response<Bytes> {
    let json = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(json.into());
    *response.status_mut() = status;
    describe(response.headers_mut(), "application/json; charset=utf-8");
    response
}

/// A response that says all by its status.
fn nothing() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The same with the bytes of a file.
fn file(body: FileBody) -> Response<OutgoingBody> {
    let mut response = Response::new(OutgoingBody::file(body));
    describe(response.headers_mut(), "application/octet-stream");
    response
}

fn describe(headers: &mut HeaderMap, content_type: &'static str) {
    for (name, value) in [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
