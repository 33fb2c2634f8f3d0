//! The pages that the server answers itself. None needs a key, and none tells anything about the fleet but its counts.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Method, Response, StatusCode};

use deskfleet::Code;

use crate::connection::Shared;
use crate::openapi;

/// A page of the server's own; GET and HEAD only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// The process answers.
    Livez,
    /// The store can be read.
    Readyz,
    /// What was counted.
    Metrics,
    /// The OpenAPI document.
    OpenApi,
}

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// The exposition format's own content type.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Page {
    pub(crate) const ALL: [Self; 4] = [Self::Livez, Self::Readyz, Self::Metrics, Self::OpenApi];

    /// The page's path without a trailing slash.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Livez => "/livez",
            Self::Readyz => "/readyz",
            Self::Metrics => "/metrics",
            Self::OpenApi => "/openapi.json",
        }
    }

    /// The page's operation id.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Livez => "livez",
            Self::Readyz => "readyz",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
        }
    }

    /// The page at `path`, ASCII case ignored.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|page| page.path().eq_ignore_ascii_case(path))
    }

    pub(crate) fn answer(self, shared: &Shared, method: &Method) -> Response<Bytes> {
        if method != Method::GET && method != Method::HEAD {
            let mut refusal = shared.engine.problem(Code::MethodNotAllowed, None);
            let allow = HeaderValue::from_static("GET, HEAD");
            refusal.headers_mut().insert(ALLOW, allow);
            return refusal;
        }
        let mut response = self.content(shared);
        if method == Method::HEAD {
            let length = HeaderValue::from(response.body().len());
            response.headers_mut().insert(CONTENT_LENGTH, length);
            *response.body_mut() = Bytes::new();
        }
        response
    }

    fn content(self, shared: &Shared) -> Response<Bytes> {
        let engine = &shared.engine;
        match self {
            Self::Livez => page(StatusCode::OK, TEXT, Bytes::from_static(b"ok\n")),
            Self::Readyz => match engine.workspaces(1, None) {
                Ok(_) => page(StatusCode::OK, TEXT, Bytes::from_static(b"ready\n")),
                Err(_) => page(
                    StatusCode::SERVICE_UNAVAILABLE,
                    TEXT,
                    Bytes::from_static(b"the store cannot be read\n"),
                ),
            },
            Self::Metrics => {
                let text = shared.options.metrics.text(engine.queue_count());
                page(StatusCode::OK, PROMETHEUS, text.into())
            }
            Self::OpenApi => {
                let document = shared
                    .openapi
                    .get_or_init(|| openapi::document(engine.config()).to_string().into());
                page(StatusCode::OK, JSON, document.clone())
            }
        }
    }
}

fn page(status: StatusCode, content_type: &'static str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
