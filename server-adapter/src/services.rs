//! Handles the operations of the server's own: method, body, key, and what each does.

use bytes::Bytes;
use deskfleet::Code;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use serde::Serialize;

use crate::backup_requests;
use crate::cluster_requests;
#[cfg(feature = "console")]
use crate::console::session;
use crate::options::ServerOptions;
use crate::progress::Progress;
use crate::refusal::{self, KeyAttempt, Refused};
use crate::response_body::OutgoingBody;
use crate::sent_copies::FileBody;
use crate::service::{self, Service};
use crate::small_body;
use crate::state::ServerState;

/// Where the engine checks a key of scope `admin`.
const KEYS: &str = "/operator/keys";

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

/// The response to a request for `service`, and the name of the key that it was sent with, or for a session of the one that was
/// issued.
pub(crate) async fn respond(
    service: Service,
    shared: &ServerState,
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
) -> (Response<OutgoingBody>, Option<String>) {
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
    let done = answer(service, shared, options, progress, request, &mut key).await;
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
    key: &mut Option<String>,
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
            check_admin(shared, head, key).await?;
            json(
                StatusCode::CREATED,
                &backup_requests::write(shared, options).await?,
            )
        }
        Service::DownloadBackup => {
            check_admin(shared, head, key).await?;
            let copy = backup_requests::download(shared, options).await?;
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
            key.replace(issued.info.name.clone());
            json(StatusCode::CREATED, &issued)
        }
    };
    Ok(whole(&method, response))
}

/// Refuses a request without a key of scope `admin`, as the list of keys is refused without one: the engine checks both.
async fn check_admin(
    shared: &ServerState,
    mut head: Parts,
    key: &mut Option<String>,
) -> Result<(), Refusal> {
    let target = head.uri.query().map(|query| format!("{KEYS}?{query}"));
    let target: Option<Uri> = target.and_then(|target| target.parse().ok());
    head.uri = target.unwrap_or_else(|| Uri::from_static(KEYS));
    head.method = Method::GET;
    let exchange = shared.engine.begin(head);
    *key = exchange.key().map(|key| key.name.clone());
    if !exchange.is_refused() {
        return Ok(());
    }
    let refused = exchange.finish().await;
    Err(Refusal::Engine(
        refused.map(|body| body.into_bytes().unwrap_or_default()),
    ))
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
