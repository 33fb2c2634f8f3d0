//! Calls that change nothing, in any number: the audit grows by a bounded number of bounded rows per minute.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use deskfleet::{
    Action, ActionRequest, AuditAction, AuditEntry, AuditResult, Config, Engine, ErrorKind,
    ManualClock,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::desk;
use deskfleet_tests::disk::Disk;

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
