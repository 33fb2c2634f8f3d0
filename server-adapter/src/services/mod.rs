//! Handles the server's own operations: method, body, key, and the call.

pub(crate) mod backup_requests;
pub(crate) mod cluster_requests;
mod lease_requests;

use std::sync::Arc;

use bytes::Bytes;
use deskfleet::{AuditAction, Code, KeyInfo, Scope};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde::Serialize;

use crate::backups::sent_copies::CopyPart;
#[cfg(feature = "console")]
use crate::console::session;
use crate::request::context::RequestContext;
use crate::request::operation::{OwnRoute, Service};
use crate::request::refusal::{self, KeyAttempt, Refused};
use crate::request::small_body;
use crate::response::body::OutgoingBody;

/// The message about an audit row that cannot be written before data is handed out.
const NOT_AUDITED: &str = "The audit row could not be written; the log of the server says why.";

const HALTED: Refused = (
    Code::StorageUnavailable,
    "This node applies nothing more of the log of the fleet, and changes nothing: its /readyz says why. Ask another node.",
);

/// A response that refuses the request.
enum Refusal {
    Own(Refused),
    Engine(Response<Bytes>),
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::Own(refused)
    }
}

impl Service {
    /// Whether it needs a key of scope `admin`.
    fn needs_key(self) -> bool {
        match self {
            #[cfg(feature = "console")]
            Self::Session => false,
            Self::ListBackups
            | Self::BackUp
            | Self::DownloadBackup
            | Self::Cluster
            | Self::FleetSettings
            | Self::ConfigureFleet
            | Self::FinalizeCluster
            | Self::ForgetNode
            | Self::TakeLease => true,
        }
    }

    /// Its name in the audit; `None` if it has no row.
    fn audited(self) -> Option<AuditAction> {
        match self {
            Self::BackUp => Some(AuditAction::BackUp),
            Self::DownloadBackup => Some(AuditAction::DownloadBackup),
            // The engine writes those of changes of the fleet.
            Self::ListBackups
            | Self::Cluster
            | Self::FleetSettings
            | Self::ConfigureFleet
            | Self::FinalizeCluster
            | Self::ForgetNode
            | Self::TakeLease => None,
            #[cfg(feature = "console")]
            Self::Session => None,
        }
    }
}

/// The response to a request for `service`, and its key; for a session the issued key.
pub(crate) async fn respond(
    context: RequestContext<'_>,
    row: &OwnRoute,
    service: Service,
    request: Request<Incoming>,
) -> (Response<OutgoingBody>, Option<KeyInfo>) {
    let RequestContext {
        shared,
        options,
        progress,
        ..
    } = context;
    let attempt = if service.needs_key() {
        KeyAttempt::from_request(shared, progress, &request)
    } else {
        Some(KeyAttempt::from(shared, progress, &request))
    };
    let (head, body) = request.into_parts();
    let mut key = None;
    let done = match small_body::receive(context, body).await {
        Err(refused) => Err(Refusal::Own(refused)),
        Ok(_) if !row.takes(&head.method) => Err(Refusal::Own((Code::MethodNotAllowed, ""))),
        Ok(body) => serve(context, row, service, &head, &body, &mut key).await,
    };
    let mut response = done.unwrap_or_else(|refusal| match refusal {
        Refusal::Own(refused) => {
            let mut response = context.refuse(refused);
            if refused.0 == Code::MethodNotAllowed {
                response.headers_mut().insert(ALLOW, row.allow());
            }
            response
        }
        Refusal::Engine(response) => context.whole(response),
    });
    if progress.is_cut() {
        refusal::close(&mut response, context.asked.version);
    }
    if let Some(attempt) = attempt {
        response = attempt.after(shared, options, context.asked, response);
    }
    (response, key)
}

/// Handles the request; sets `key` also if the key is refused.
async fn serve(
    context: RequestContext<'_>,
    row: &OwnRoute,
    service: Service,
    head: &Parts,
    body: &[u8],
    key: &mut Option<KeyInfo>,
) -> Result<Response<OutgoingBody>, Refusal> {
    let RequestContext {
        shared, options, ..
    } = context;
    if service.needs_key() {
        let (caller, refused) = shared.engine.authorize(head, Scope::Admin);
        *key = caller;
        if let Some(refused) = refused {
            if let Some(action) = service.audited()
                && refused.status() == StatusCode::FORBIDDEN
            {
                let done: Result<(), Refused> = Err((Code::InsufficientScope, ""));
                // The response is that of the engine.
                let _ = audited(context, action, None, key.clone(), done).await;
            }
            return Err(Refusal::Engine(refused));
        }
    }
    let of_engine = |error| {
        // That a node halted is no damage of its store.
        if shared.engine.halted().is_some() {
            return Refusal::Own(HALTED);
        }
        let traceparent = context.asked.traceparent.as_ref();
        Refusal::Engine(shared.engine.error_response(error, traceparent))
    };
    let response = match service {
        Service::ListBackups => json(StatusCode::OK, &backup_requests::list(options).await?),
        Service::BackUp => {
            let written = backup_requests::write(shared, options).await;
            let file = written.as_ref().ok().map(|backup| backup.file.clone());
            let written = audited(context, AuditAction::BackUp, file, key.clone(), written).await?;
            json(StatusCode::CREATED, &written)
        }
        Service::DownloadBackup => {
            let copy = backup_requests::download(shared, options, &head.headers).await;
            let action = AuditAction::DownloadBackup;
            return Ok(file(
                audited(context, action, None, key.clone(), copy).await?,
            ));
        }
        Service::Cluster => json(StatusCode::OK, &cluster_requests::status(shared).await?),
        Service::FleetSettings => json(StatusCode::OK, &cluster_requests::settings(shared)?),
        Service::ConfigureFleet => {
            let changed = cluster_requests::configure(shared, body, key.clone()).await?;
            changed.map_err(of_engine)?;
            json(StatusCode::OK, &cluster_requests::settings(shared)?)
        }
        Service::FinalizeCluster => {
            cluster_requests::finalize(shared, key.clone()).await?;
            nothing()
        }
        Service::ForgetNode => {
            let node = row.segment(head.uri.path()).unwrap_or_default();
            cluster_requests::forget(shared, node.to_owned(), key.clone()).await?;
            nothing()
        }
        Service::TakeLease => {
            let taken = lease_requests::take(shared, body).await?;
            json(StatusCode::OK, &taken.map_err(of_engine)?)
        }
        #[cfg(feature = "console")]
        Service::Session => {
            let issued = session::exchange(shared, &head.headers, body).await?;
            key.replace(issued.info.clone());
            json(StatusCode::CREATED, &issued)
        }
    };
    Ok(context.whole(response))
}

/// Writes the audit row of `done` for `caller`, before the data is sent; `detail` says which data.
async fn audited<T>(
    context: RequestContext<'_>,
    action: AuditAction,
    detail: Option<String>,
    caller: Option<KeyInfo>,
    done: Result<T, Refused>,
) -> Result<T, Refused> {
    let (shared, source) = (context.shared, context.source());
    let refused = done.as_ref().err().map(|(code, _)| *code);
    let engine = shared.engine.clone();
    // It waits for a commit, on a blocking thread, and so takes its turn like slow reads.
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

/// A response that no cache keeps.
fn json(status: StatusCode, value: &impl Serialize) -> Response<Bytes> {
    let json = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(json.into());
    *response.status_mut() = status;
    describe(response.headers_mut(), "application/json; charset=utf-8");
    response
}

/// A response with a status alone.
fn nothing() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The same with the bytes of a copy of the store.
fn file(copy: CopyPart) -> Response<OutgoingBody> {
    let mut response = Response::new(());
    backup_requests::describe_part(&mut response, &copy);
    let mut response = response.map(|()| OutgoingBody::file(copy.body));
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
