//! The pages that the server serves itself. None needs a key, and none says anything about the fleet but its counts.

use bytes::Bytes;
use deskfleet::{Code, ErrorKind};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

#[cfg(feature = "console")]
use crate::console::files::File;
use crate::landing;
use crate::openapi;
use crate::page::Page;
use crate::refusal;
use crate::state::ServerState;

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// The exposition format's own content type.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The response to a request for `page`.
pub(crate) async fn respond<B>(
    page: Page,
    shared: &ServerState,
    request: Request<B>,
) -> Response<Bytes> {
    let method = request.method();
    if method != Method::GET && method != Method::HEAD {
        let code = Code::MethodNotAllowed;
        let mut refusal = shared
            .engine
            .problem(code, "", refusal::traceparent(&request));
        let allow = HeaderValue::from_static("GET, HEAD");
        refusal.headers_mut().insert(ALLOW, allow);
        return refusal;
    }
    let (head, _) = request.into_parts();
    let content = content(page, shared, head.uri.path(), &head.headers).await;
    refusal::to(&head.method, content)
}

#[cfg_attr(
    not(feature = "console"),
    expect(unused_variables, reason = "all other pages have one path")
)]
async fn content(
    page: Page,
    shared: &ServerState,
    path: &str,
    headers: &HeaderMap,
) -> Response<Bytes> {
    let engine = &shared.engine;
    match page {
        Page::Livez => page_response(StatusCode::OK, TEXT, Bytes::from_static(b"ok\n")),
        Page::Readyz => readiness(engine.ready()),
        Page::Metrics => {
            let figures = shared.scraped.figures(engine).await;
            let connections_max = shared.live().options.connections_max;
            let text = shared.metrics.text(&figures, connections_max);
            page_response(StatusCode::OK, PROMETHEUS, text.into())
        }
        Page::OpenApi => page_response(StatusCode::OK, JSON, openapi::document()),
        Page::Index => landing::index(headers),
        Page::Icon => landing::icon(),
        #[cfg(feature = "console")]
        Page::Console => File::at(path)
            .map(|file| file.response(headers))
            .unwrap_or_default(),
    }
}

/// Which of the reasons it is; what is said of it, a path among that, is for the log.
fn readiness(ready: deskfleet::Result<()>) -> Response<Bytes> {
    let (status, said) = match ready.map_err(|error| error.kind()) {
        Ok(()) => (StatusCode::OK, "ready\n"),
        Err(ErrorKind::LowDisk) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "LowDisk: too little space is free; writes are refused\n",
        ),
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "StorageUnavailable: the store cannot be read, or its file was removed or replaced\n",
        ),
    };
    page_response(status, TEXT, Bytes::from_static(said.as_bytes()))
}

fn page_response(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
