//! The bodies of the fuzz targets in `fuzz/`, kept here so that the compiler and the tests check them.
//!
//! A body accepts any bytes and panics when a promise is broken. `tests/tests/corpus.rs` replays a small corpus through
//! each; `fuzz/README.md` explains how to search for more.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "here a panic is the finding"
)]

mod body;
mod file;
mod image;
mod log_entry;
mod operations;
mod query;
mod question;
mod request;
mod stored;
mod time;
mod token;

pub use body::body;
pub use file::file;
pub use log_entry::log_entry;
pub use operations::operations;
pub use query::query;
pub use question::question;
pub use request::request;
pub use stored::stored;
pub use time::time;
pub use token::token;

use bytes::Bytes;
use deskfleet::{Engine, ManualClock, NewKey, Scope, Timestamp, Workspace};
use http::{Request, Response, StatusCode, header};

/// The moment at which every run begins: 2026-11-20T08:00:00Z.
const START_SECONDS: i64 = 1_795_161_600;

/// An engine in memory with two workspaces, its clock, and a key with every scope.
struct Subject {
    engine: Engine,
    clock: ManualClock,
    key: String,
}

fn subject() -> Subject {
    let clock = ManualClock::new(Timestamp::from_unix_seconds(START_SECONDS));
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(1)
        .open_in_memory()
        .expect("an engine in memory opens");
    for (id, username) in [("ws-1", "jdoe"), ("ws-2", "DESK\\roe")] {
        let workspace = Workspace {
            id: id.into(),
            username: Some(username.into()),
            state: Some("AVAILABLE".into()),
            ..Workspace::default()
        };
        engine
            .put_workspace(workspace)
            .expect("a workspace is stored");
    }
    let key = NewKey::new("fuzz", Scope::ALL);
    let key = engine.issue_key(key).expect("a key is issued").secret;
    Subject { engine, clock, key }
}

/// What holds for every response.
fn check_answer(method: &http::Method, response: &Response<Bytes>) {
    let status = response.status();
    let headers = response.headers();
    let known = status.is_success() || (status.as_u16() >= 400 && status.as_u16() < 600);
    assert!(known, "status {status}");
    assert_ne!(
        status,
        StatusCode::INTERNAL_SERVER_ERROR,
        "{:?}",
        response.body()
    );
    if method == http::Method::HEAD {
        assert!(response.body().is_empty(), "HEAD has no body");
        return;
    }
    if !status.is_success() {
        check_problem(response);
    }
    if !response.body().is_empty() {
        assert!(
            headers.contains_key(header::CONTENT_TYPE),
            "a body has a content type"
        );
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    }
}

/// A failure is a problem body with the members of the contract, in their order, and a known code.
fn check_problem(response: &Response<Bytes>) {
    let kind = &response.headers()[header::CONTENT_TYPE];
    assert_eq!(kind, "application/problem+json; charset=utf-8");
    let body: serde_json::Value =
        serde_json::from_slice(response.body()).expect("a problem is JSON");
    assert_eq!(body["status"], response.status().as_u16());
    for member in ["type", "title", "traceId", "code"] {
        assert!(body[member].is_string(), "{member} in {body}");
    }
    assert!(
        body.get("detail").is_none_or(serde_json::Value::is_string),
        "{body}"
    );
}

/// Sends one request and checks what holds for every response.
fn exchange(engine: &Engine, request: Request<Bytes>) -> Response<Bytes> {
    let method = request.method().clone();
    let response = engine.handle(request);
    check_answer(&method, &response);
    response
}
