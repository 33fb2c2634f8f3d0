//! The pages that the server serves itself. None needs a key, and none shows more of the fleet than its counts.

pub(crate) mod accept;
pub(crate) mod landing;
pub(crate) mod openapi;

use std::fmt::Write as _;

use bytes::Bytes;
use deskfleet::limits::{STALLED_SECONDS, UNATTENDED_SECONDS};
use deskfleet::{Action, Engine};
use deskfleet::{ActionsSince, Code, Unattended};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};

use crate::backups::Backups;
#[cfg(feature = "console")]
use crate::console::files::File;
use crate::metrics::Figures;
use crate::request::context::RequestContext;
use crate::request::operation::{OwnRoute, Page};
use crate::response::body::OutgoingBody;
use crate::state::ServerState;

const JSON: &str = "application/json; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
/// The exposition format's own content type.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The response to a request for `page`.
pub(crate) async fn respond<B>(
    context: RequestContext<'_>,
    row: &OwnRoute,
    page: Page,
    request: Request<B>,
) -> Response<OutgoingBody> {
    if !row.takes(request.method()) {
        let mut refusal = context.refuse((Code::MethodNotAllowed, ""));
        refusal.headers_mut().insert(ALLOW, row.allow());
        return refusal;
    }
    let (head, _) = request.into_parts();
    if page == Page::OpenApi && openapi::asked(head.uri.query()).is_none() {
        return context.refuse((
            Code::InvalidParameter,
            "The field version must be 3.0 or 3.1.",
        ));
    }
    let content = content(page, context.shared, &head.uri, &head.headers);
    context.whole(content.await)
}

async fn content(
    page: Page,
    shared: &ServerState,
    uri: &Uri,
    headers: &HeaderMap,
) -> Response<Bytes> {
    let engine = &shared.engine;
    match page {
        Page::Livez => page_response(StatusCode::OK, TEXT, Bytes::from_static(b"ok\n")),
        Page::Readyz => {
            let ready = readiness(shared).await;
            if ready.status() == StatusCode::OK {
                with_warnings(
                    ready,
                    shared.unattended.get(engine).await.unwrap_or_default(),
                )
            } else {
                ready
            }
        }
        Page::Metrics => {
            let figures = shared.scraped.get(engine).await;
            let figures = figures.unwrap_or_else(Figures::unread);
            let options = &shared.live().options;
            let backups = options.backups.as_ref().map(Backups::state);
            let text = shared
                .metrics
                .text(&figures, options.connections_max, backups.as_ref());
            page_response(StatusCode::OK, PROMETHEUS, text.into())
        }
        Page::OpenApi => page_response(
            StatusCode::OK,
            JSON,
            openapi::asked(uri.query()).unwrap_or_default(),
        ),
        Page::Index => landing::index(headers),
        Page::Icon => landing::icon(),
        #[cfg(feature = "console")]
        Page::Console => File::find(uri.path())
            .map(|file| file.response(headers))
            .unwrap_or_default(),
    }
}

/// Checks that the server can be used: each condition that makes it unready is a line with its code and text.
async fn readiness(shared: &ServerState) -> Response<Bytes> {
    let unready = shared.unready.get(&shared.engine).await;
    #[cfg(feature = "cluster")]
    let unready = unready.map(|mut all| {
        all.extend(shared.metrics.log_condition());
        all
    });
    let Some(unready) = unready else {
        return not_ready("StorageUnavailable: the server ends, or has no thread to look\n".into());
    };
    if !unready.is_empty() {
        let lines = unready.iter();
        let lines = lines.map(|of| format!("{}: {}\n", of.code, of.text));
        return not_ready(lines.collect());
    }
    let simulated = simulated(&shared.engine);
    #[cfg(feature = "cluster")]
    if let Some(standing) = shared.metrics.standing() {
        let (position, behind) = (standing.position, standing.behind());
        let warning = shared.engine.node_warning();
        let warning = warning.map(|warning| format!("warning: {warning}\n"));
        let warning = warning.unwrap_or_default();
        let text = format!("ready\nat entry {position}, {behind}\n{simulated}{warning}");
        return page_response(StatusCode::OK, TEXT, text.into());
    }
    page_response(StatusCode::OK, TEXT, format!("ready\n{simulated}").into())
}

fn not_ready(text: String) -> Response<Bytes> {
    page_response(StatusCode::SERVICE_UNAVAILABLE, TEXT, text.into())
}

/// Says which actions are simulated, if any.
fn simulated(engine: &Engine) -> String {
    let names: Vec<_> = engine.simulated_actions().map(Action::as_str).collect();
    if names.is_empty() {
        return String::new();
    }
    let names = names.join(", ");
    format!("simulated: the clock ends {names}; nothing happens to a desktop\n")
}

/// The warnings of a server that is ready. They are no reason to send requests elsewhere.
fn with_warnings(ready: Response<Bytes>, unattended: Unattended) -> Response<Bytes> {
    let mut warnings = String::new();
    if let Some(ActionsSince { actions, since, .. }) = unattended.waiting {
        let minutes = UNATTENDED_SECONDS / 60;
        let _ = writeln!(
            warnings,
            "warning: actions that no provider has begun within {minutes} minutes: {actions}, the first accepted at {since}; \
             is deskfleet-provider running?"
        );
    }
    if let Some(ActionsSince { actions, since, .. }) = unattended.stalled {
        let hours = STALLED_SECONDS / 3600;
        let _ = writeln!(
            warnings,
            "warning: actions whose last attempt began {hours} hours ago or earlier: {actions}, the first begun at {since}; is \
             their provider running, under the same --name, and does its web service complete them? \
             GET /operator/actions?state=dispatched names it"
        );
    }
    ready.map(|text| [text, warnings.into()].concat().into())
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
