//! The body limit that a server gets for each path.

use deskfleet::{CommitDriver, Engine};
use deskfleet_tests::conformance::documents::ENDPOINTS;
use deskfleet_tests::disk::Disk;
use deskfleet_tests::posting;
use http::Request;

/// The documented limit of a path that takes a body.
fn documented(path: &str) -> usize {
    match path {
        "/api/Stats/PostProcesses" | "/query/preview" | "/operator/actions" => 1024 * 1024,
        "/operator/workspaces" | "/operator/telemetry" => 8 * 1024 * 1024,
        _ => 64 * 1024,
    }
}

fn engine() -> Engine {
    posting::engine(CommitDriver::Caller, Disk::new().backend())
}

fn body_bytes_max(engine: &Engine, method: &str, path: &str) -> usize {
    let request = Request::builder().method(method).uri(path).body(());
    let (head, ()) = request.unwrap().into_parts();
    engine.begin(head).body_bytes_max()
}

#[test]
fn body_limit_of_every_path_in_any_spelling_is_the_documented_one() {
    let engine = engine();
    for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.body) {
        let path = endpoint.path.replace("{}", "ws-1");
        for spelling in [
            path.clone(),
            path.to_lowercase(),
            path.to_uppercase(),
            format!("{path}/"),
        ] {
            let max = body_bytes_max(&engine, endpoint.method, &spelling);
            assert_eq!(max, documented(endpoint.path), "{spelling}");
        }
    }
}

/// A server that trusts the limit reads nothing for a request that no endpoint takes a body from.
#[test]
fn request_whose_body_is_ignored_has_limit_0() {
    let engine = engine();
    for (method, path) in [
        ("POST", "/"),
        ("POST", "/nothing"),
        ("GET", "/api/Stats/Test"),
        ("POST", "/api/Actions/RebootWorkSpace"),
        ("GET", "/operator/telemetry/stats"),
    ] {
        assert_eq!(body_bytes_max(&engine, method, path), 0, "{method} {path}");
    }
}

/// The body is discarded, and the connection is good for another request.
#[test]
fn request_with_a_wrong_method_has_the_limit_of_a_record() {
    let engine = engine();
    for (method, path) in [
        ("POST", "/api/Stats/Test"),
        ("GET", "/api/Stats/Post"),
        ("PATCH", "/operator/telemetry"),
    ] {
        let max = body_bytes_max(&engine, method, path);
        assert_eq!(max, 64 * 1024, "{method} {path}");
    }
}
