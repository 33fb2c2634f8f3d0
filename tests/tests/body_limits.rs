//! The body limit that a server gets for each path.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use deskfleet::{CommitDriver, Engine};
use deskfleet_tests::conformance::documents::ENDPOINTS;
use deskfleet_tests::disk::Disk;
use deskfleet_tests::posting;

/// The documented limit of a path that takes a body.
fn documented(path: &str) -> usize {
    match path {
        "/api/Stats/PostProcesses" => 1024 * 1024,
        "/operator/workspaces" | "/operator/telemetry" => 8 * 1024 * 1024,
        _ => 64 * 1024,
    }
}

fn engine() -> Engine {
    posting::engine(CommitDriver::Caller, Disk::new().backend())
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
            assert_eq!(
                engine.body_bytes_max(&spelling),
                documented(endpoint.path),
                "{spelling}"
            );
        }
    }
}

/// A server never reads more for an unknown path than for the largest body.
#[test]
fn other_paths_have_no_large_body_limit() {
    let engine = engine();
    for path in [
        "",
        "/",
        "/nothing",
        "/api/Stats/Test",
        "/api/Actions/RebootWorkSpace",
        "/operator/telemetry/stats",
    ] {
        assert!(
            engine.body_bytes_max(path) <= 64 * 1024,
            "{path} takes no large body"
        );
    }
}
