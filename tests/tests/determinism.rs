//! The same seed, clock and requests give the same bytes, traces and keys included.

use std::fmt::Write;

use bytes::Bytes;
use deskfleet::{Engine, ManualClock, NewKey, Scope};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{fleet, stats};
use deskfleet_tests::disk::Disk;
use http::Request;

/// Requests of every kind, without a `traceparent`, so that the engine makes the trace ids.
const REQUESTS: [&str; 12] = [
    "GET /api/Information/GetAllWorkSpaces?limit=2",
    "GET /api/Information/GetAllWorkSpaces?limit=0",
    "GET /api/Information/GetUserInformation?username=nobody",
    "POST /api/Actions/RebootWorkSpace?workSpaceId=ws-0001",
    "POST /api/Actions/RebootWorkSpace?workSpaceId=ws-0001",
    "GET /api/Information/GetAdminActivity",
    "GET /operator/actions",
    "GET /operator/keys",
    "PATCH /api/Stats/Test",
    "GET /api/Nothing",
    "GET /api/Stats/queue/count",
    "GET /operator/telemetry/stats?instanceId=i&limit=1",
];

/// All responses, as text.
fn transcript(seed: u64) -> String {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder().clock(clock.clone()).seed(seed);
    let engine = builder.open_backend(Disk::new().backend()).unwrap();
    let key = engine
        .issue_key(NewKey::new("desk", [Scope::Admin]))
        .unwrap();
    let mut text = key.secret.clone();
    engine.put_workspaces(fleet(5).collect()).unwrap();
    for id in 0..3 {
        engine.record(stats("i", "jdoe", id, NOW)).unwrap();
    }
    for line in REQUESTS.into_iter().chain(REQUESTS) {
        let (method, target) = line.split_once(' ').unwrap();
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("x-api-key", &key.secret);
        let response = engine.handle(request.body(Bytes::new()).unwrap());
        write!(text, "\n{line} {response:?}").unwrap();
        clock.advance_seconds(7);
    }
    text
}

#[test]
fn same_seed_gives_the_same_bytes() {
    assert_eq!(transcript(7), transcript(7));
}

/// Another seed gives other keys and traces: so the test above compares something.
#[test]
fn other_seed_gives_other_bytes() {
    assert_ne!(transcript(7), transcript(8));
}
