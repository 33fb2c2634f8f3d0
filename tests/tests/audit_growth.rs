//! Calls that change nothing, in any number: the audit grows by a bounded number of bounded rows per minute.

#![allow(clippy::print_stdout, reason = "tests")]

use bytes::Bytes;
use deskfleet::{
    Action, ActionRequest, AuditAction, AuditEntry, AuditResult, Config, Engine, ErrorKind,
    ManualClock, Scope,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, secret};
use deskfleet_tests::disk::Disk;
use http::Request;

/// Rows of different calls per minute, plus one for each action and code that counts the rest.
const ROWS_MAX: usize = 100;

fn refused(engine: &Engine, number: usize, length: usize) {
    let request = ActionRequest {
        requester: Some(format!("{number}{}", "€".repeat(length))),
        ..ActionRequest::new(Action::Start, format!("ws-{}", "€".repeat(length)))
    };
    let error = engine.act(request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WorkSpaceNotFound);
}

fn details(rows: &[AuditEntry]) -> Vec<&str> {
    rows.iter()
        .filter_map(|row| row.detail.as_deref())
        .collect()
}

#[test]
fn refusals_that_all_differ_have_a_bounded_number_of_rows_a_minute() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder()
        .clock(clock.clone())
        .seed(7)
        .config(Config::default());
    let disk = Disk::new();
    let engine = builder.open_backend(disk.backend()).unwrap();
    engine
        .put_workspaces(vec![desk("ws-1", "TERMINATED", "jdoe")])
        .unwrap();
    let calls = std::env::var("DESKFLEET_REFUSALS").map_or(2000, |calls| calls.parse().unwrap());
    for number in 0..calls {
        refused(&engine, number, 1000);
    }
    println!("{calls} refusals: a file of {} bytes", disk.bytes().len());
    let rows = engine.admin_activity(10_000).unwrap();
    assert_eq!(rows.len(), ROWS_MAX + 1);
    let counted = format!("WorkSpaceNotFound ({} times)", calls - ROWS_MAX);
    assert_eq!(details(&rows[..2]), [counted.as_str(), "WorkSpaceNotFound"]);
    assert_eq!(
        (rows[0].requester.as_str(), rows[0].workspace_id.as_ref()),
        ("host", None)
    );
    for row in &rows[1..] {
        assert_eq!(row.requester.chars().count(), 256);
        assert_eq!(row.workspace_id.as_ref().unwrap().chars().count(), 64);
    }

    // Calls that change nothing without being refused are bounded alike; a call that changes something has its own row.
    let unchanged = || {
        engine
            .act(ActionRequest::new(Action::Terminate, "ws-1"))
            .unwrap();
    };
    (0..3).for_each(|_| unchanged());
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
        .unwrap();
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-1"))
        .unwrap();
    let rows = engine.admin_activity(3).unwrap();
    assert_eq!(rows[0].result, AuditResult::Accepted);
    assert_eq!(rows[1].action, AuditAction::UpdateWorkspace);
    assert_eq!(details(&rows), ["(3 times)"]);

    clock.advance_seconds(60);
    (0..2).for_each(|number| refused(&engine, number, 1));
    let rows = engine.admin_activity(2).unwrap();
    assert_eq!(details(&rows), ["WorkSpaceNotFound"; 2]);
    assert!(rows[0].requester.starts_with('1') && rows[1].requester.starts_with('0'));
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn refusals_of_keys_that_all_differ_have_a_bounded_number_of_rows_a_minute() {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    let engine = builder.seed(7).open_in_memory().unwrap();
    for id in 1..=3 * ROWS_MAX as u64 {
        assert!(engine.revoke_key(id).is_err());
    }
    let rows = engine.admin_activity(10_000).unwrap();
    assert_eq!(rows.len(), ROWS_MAX + 1);
    let details = details(&rows);
    assert_eq!(details[..2], ["NotFound (200 times)", "NotFound: key 100"]);
    assert_eq!(details[ROWS_MAX], "NotFound: key 1");
}

#[test]
fn refusals_for_workspaces_that_exist_keep_workspace_and_requester_behind_a_flood() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let engine = Engine::builder()
        .clock(clock)
        .seed(7)
        .open_in_memory()
        .unwrap();
    let held = ["ws-1", "ws-2", "ws-3"];
    for id in held {
        engine.put_workspace(desk(id, "AVAILABLE", "jdoe")).unwrap();
        engine.place_hold(id, "m", None).unwrap();
    }
    (0..2 * ROWS_MAX).for_each(|number| refused(&engine, number, 1));
    let attack = |id: &str, by: &str| {
        let request = ActionRequest {
            requester: Some(by.to_owned()),
            ..ActionRequest::new(Action::Terminate, id)
        };
        let error = engine.act(request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LitigationHold);
    };
    for id in held {
        attack(id, "mallory");
        attack(id, "eve");
        attack(id, "mallory");
    }
    let rows = engine.admin_activity(6).unwrap();
    let found = |row: &AuditEntry| {
        let id = row.workspace_id.clone().unwrap_or_default();
        (
            id,
            row.requester.clone(),
            row.detail.clone().unwrap_or_default(),
        )
    };
    let mut expected = Vec::new();
    for id in held {
        let row = |by: &str, detail: &str| (id.to_owned(), by.to_owned(), detail.to_owned());
        expected.splice(
            ..0,
            [
                row("eve", "LitigationHold"),
                row("mallory", "LitigationHold (2 times)"),
            ],
        );
    }
    assert_eq!(rows.iter().map(found).collect::<Vec<_>>(), expected);
    // Generated requesters have a bounded number of rows, and the workspace stays.
    let before = engine.admin_activity(10_000).unwrap().len();
    (0..3 * ROWS_MAX).for_each(|number| attack("ws-1", &format!("r-{number}")));
    let rows = engine.admin_activity(10_000).unwrap();
    assert_eq!(rows.len() - before, ROWS_MAX - 2 + 1);
    assert_eq!(rows[0].workspace_id.as_deref(), Some("ws-1"));
    assert_eq!(rows[0].requester, "host");
}

#[test]
fn refusals_for_many_workspaces_that_exist_have_a_bounded_number_of_rows_a_minute() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder().clock(clock).seed(7);
    let engine = builder.open_in_memory().unwrap();
    let ids: Vec<_> = (0..12).map(|number| format!("ws-{number}")).collect();
    for id in &ids {
        engine.put_workspace(desk(id, "AVAILABLE", "jdoe")).unwrap();
        engine.place_hold(id, "m", None).unwrap();
    }
    let before = engine.admin_activity(10_000).unwrap().len();
    for number in 0..ROWS_MAX {
        for id in &ids {
            let request = ActionRequest {
                requester: Some(format!("r-{number}")),
                ..ActionRequest::new(Action::Terminate, id)
            };
            let error = engine.act(request).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LitigationHold);
        }
    }
    let rows = engine.admin_activity(10_000).unwrap();
    assert_eq!(rows.len() - before, 10 * ROWS_MAX + 1);
    assert_eq!(details(&rows[..1]), ["LitigationHold (200 times)"]);
    assert_eq!(rows[0].workspace_id, None);
    assert!(rows[1].workspace_id.is_some() && rows[1].requester.starts_with("r-"));
}

/// What the audit says since the keys were issued, newest first.
fn accesses(engine: &Engine) -> Vec<String> {
    let rows = engine.admin_activity(1000).unwrap();
    let rows = rows
        .iter()
        .take_while(|row| row.action != AuditAction::IssueKey);
    let shown = rows.map(|row| {
        let detail = row.detail.clone().unwrap_or_default();
        let (action, result) = (row.action.as_str(), row.result);
        format!("{} {action} {result:?} {detail}", row.requester)
    });
    shown.collect()
}

#[test]
fn exports_keep_their_parameters_in_a_bounded_number_of_rows_a_minute() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(7)
        .open_in_memory()
        .unwrap();
    let (reader, other) = (
        secret(&engine, "reader", Scope::Admin),
        secret(&engine, "other", Scope::Ingest),
    );
    let ask = |method: &str, target: &str, key: &str| {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("x-api-key", key);
        engine
            .handle(request.body(Bytes::new()).unwrap())
            .status()
            .as_u16()
    };
    let accesses = || accesses(&engine);
    for target in ["/query/export?stream=stats", "/operator/keys"] {
        assert_eq!(ask("HEAD", target, &reader), 200);
        assert_eq!(ask("HEAD", target, &other), 403);
    }
    assert_eq!(accesses(), Vec::<String>::new(), "nothing was handed out");
    let first = "/query/export?stream=stats&from=2026-11-19&instanceId=ws-1";
    assert_eq!(
        (ask("GET", first, &reader), ask("GET", first, &reader)),
        (200, 200)
    );
    assert_eq!(
        accesses(),
        ["reader QueryExport Completed stream=stats from=2026-11-19 instanceId=ws-1 (2 times)"]
    );
    for number in 0..500 {
        let target = format!("/query/export?stream=stats&instanceId=ws-{number}");
        assert_eq!(ask("GET", &target, &reader), 200);
    }
    assert_eq!(ask("GET", "/operator/keys", &reader), 200);
    assert_eq!(ask("GET", "/operator/keys", &other), 403);
    assert_eq!(ask("GET", "/query/export?stream=stats", &other), 403);
    let expected = [
        "other QueryExport Refused InsufficientScope",
        "other ListKeys Refused InsufficientScope",
        "reader ListKeys Completed ",
        "reader QueryExport Completed (401 times)",
        "reader QueryExport Completed stream=stats instanceId=ws-98",
    ];
    let rows = accesses();
    assert_eq!(rows[..5], expected);
    assert_eq!(rows.len(), 4 + ROWS_MAX);
    assert_eq!(
        rows[rows.len() - 1],
        "reader QueryExport Completed stream=stats from=2026-11-19 instanceId=ws-1 (2 times)"
    );
    // What is longer than a row keeps is left out.
    clock.advance_seconds(60);
    let long = format!("/query/export?stream=stats&instanceId={}", "x".repeat(300));
    assert_eq!(ask("GET", &long, &reader), 200);
    assert_eq!(accesses()[0], "reader QueryExport Completed ");
}

#[test]
fn lists_that_are_read_for_an_export_have_a_row_that_counts_their_pages() {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    let engine = builder.seed(7).open_in_memory().unwrap();
    let (admin, act) = (
        secret(&engine, "admin", Scope::Admin),
        secret(&engine, "act", Scope::Act),
    );
    let desks = ["ws-1", "ws-2"].map(|id| desk(id, "AVAILABLE", "jdoe"));
    engine.put_workspaces(desks.into()).unwrap();
    let ask = |method: &str, target: &str, key: &str| {
        let request = Request::builder().method(method).uri(target);
        let request = request.header("x-api-key", key).body(Bytes::new());
        let response = engine.handle(request.unwrap());
        let page: serde_json::Value = serde_json::from_slice(response.body()).unwrap_or_default();
        (response.status().as_u16(), page["nextToken"].clone())
    };
    let lists = [
        "/operator/workspaces",
        "/operator/audit",
        "/query/workspaces",
        "/query/holds",
    ];
    for list in lists {
        assert_eq!(ask("GET", list, &admin).0, 200, "{list}");
        assert_eq!(ask("GET", &format!("{list}?export=false"), &admin).0, 200);
        assert_eq!(ask("HEAD", &format!("{list}?export=true"), &admin).0, 200);
        assert_eq!(ask("GET", &format!("{list}?export=yes"), &admin).0, 400);
    }
    assert_eq!(accesses(&engine), Vec::<String>::new());
    for list in lists {
        assert_eq!(ask("GET", &format!("{list}?export=true"), &admin).0, 200);
    }
    let first = "/operator/workspaces?q=ws&limit=1&export=true";
    let (_, token) = ask("GET", first, &admin);
    let next = format!("{first}&nextToken={}", token.as_str().unwrap());
    assert_eq!(ask("GET", &next, &admin).0, 200);
    let refused = "/operator/audit?requester=jdoe&workSpaceId=ws-1&export=true";
    assert_eq!(ask("GET", refused, &act).0, 403);
    assert_eq!(engine.admin_activity(1).unwrap()[0].workspace_id, None);
    let of = |list: &str| format!("admin QueryExport Completed {list}");
    let expected = [
        "act QueryExport Refused InsufficientScope".to_owned(),
        of("/operator/workspaces q=ws limit=1 (2 times)"),
        of("/query/holds"),
        of("/query/workspaces"),
        of("/operator/audit"),
        of("/operator/workspaces"),
    ];
    assert_eq!(accesses(&engine), expected);
}
