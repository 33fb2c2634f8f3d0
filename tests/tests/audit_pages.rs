//! Pages of a long audit: each examines a bounded number of rows, and together they have every row that passes the filters.

#![allow(clippy::print_stdout, reason = "tests")]

use std::time::Instant;

use bytes::Bytes;
use deskfleet::limits::AUDIT_ROWS_EXAMINED_MAX;
use deskfleet::{
    ActionRequest, AuditAction, AuditQuery, CommitDriver, Config, Engine, ManualClock, NewKey,
    Scope,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::fleet;
use http::Request;

/// Desktops that are rebooted again and again: a row each.
const DESKTOPS: usize = 1000;

fn with_rows(rows: usize) -> Engine {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    let engine = builder.config(config).open_in_memory().unwrap();
    engine.put_workspaces(fleet(DESKTOPS).collect()).unwrap();
    for _ in 0..rows.div_ceil(DESKTOPS) {
        let reboots: Vec<_> = fleet(DESKTOPS)
            .map(|desktop| engine.act_async(ActionRequest::reboot(desktop.id)))
            .collect();
        engine.commit_pending();
        drop(reboots);
        clock.advance_seconds(300);
    }
    engine
}

#[test]
fn page_of_a_long_audit_examines_a_bounded_number_of_rows() {
    let rows = std::env::var("DESKFLEET_AUDIT_ROWS").map_or(51_000, |rows| rows.parse().unwrap());
    let engine = with_rows(rows);
    let first = NewKey::new("desk", [Scope::Admin]);
    let key = engine.issue_key(first).unwrap().secret;
    let none = AuditQuery {
        action: Some(AuditAction::RevokeKey),
        ..AuditQuery::default()
    };

    let (mut pages, mut query) = (0, none.clone());
    loop {
        let start = Instant::now();
        let page = engine.audit(&query).unwrap();
        println!("page {pages} in {:?}", start.elapsed());
        assert!(page.rows.is_empty());
        pages += 1;
        query.next_token = page.next_token;
        if query.next_token.is_none() {
            break;
        }
    }
    // One more row is that of the key.
    assert_eq!(pages, (rows + 1).div_ceil(AUDIT_ROWS_EXAMINED_MAX));
    assert_eq!(engine.all_audit(none).count(), 0);

    let oldest = AuditQuery {
        to: Some(NOW.parse::<deskfleet::Timestamp>().unwrap().plus_seconds(1)),
        ..AuditQuery::default()
    };
    assert_eq!(engine.audit(&oldest).unwrap().rows, []);
    assert_eq!(engine.all_audit(oldest).count(), DESKTOPS);

    let request = Request::get("/operator/audit?workSpaceId=ws-x").header("x-api-key", key);
    let response = engine.handle(request.body(Bytes::new()).unwrap());
    let body = String::from_utf8(response.body().to_vec()).unwrap();
    assert!(
        body.starts_with(r#"{"activities":[],"nextToken":""#),
        "{body}"
    );
    assert!(body.ends_with(r#"","hasMore":true}"#), "{body}");
}
