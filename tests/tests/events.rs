//! What each mutation appends to the event log.

use deskfleet::{
    Action, ActionRequest, FailedState, FleetEvent, Nullable, StatsRecord, Workspace,
    WorkspacePatch,
};
use deskfleet_tests::event_engine::{admin, engine, workspace};

/// Type, workspace, user and detail of each event.
fn summaries(events: impl Iterator<Item = deskfleet::Result<FleetEvent>>) -> Vec<String> {
    let summary = |event: FleetEvent| {
        let about = event.workspace_id.as_deref().unwrap_or("-");
        let user = event.username.as_deref().unwrap_or("-");
        format!("{} {about} {user} {}", event.kind.as_str(), event.detail)
    };
    events.map(|event| summary(event.unwrap())).collect()
}

/// Every kind of call, and what it appends.
#[test]
fn mutation_appends_one_event_for_each_change_and_none_for_a_refusal() {
    let (engine, clock) = engine();
    let mut events = engine.events(None);
    let mut expect = |expected: &[&str]| assert_eq!(summaries(events.by_ref()), expected);

    engine.put_workspace(workspace("ws-1")).unwrap();
    expect(&[
        r#"workspace.changed ws-1 jdoe {"by":"host","isNew":true,"fields":["username","state"],"state":"AVAILABLE"}"#,
    ]);
    engine.put_workspace(workspace("ws-1")).unwrap();
    expect(&[]);
    let stopped = Workspace {
        state: Some("STOPPED".into()),
        username: None,
        ..workspace("ws-1")
    };
    engine.put_workspace(stopped).unwrap();
    expect(&[
        r#"workspace.changed ws-1 - {"by":"host","isNew":false,"fields":["username","state"],"previousState":"AVAILABLE","state":"STOPPED"}"#,
    ]);
    engine.put_workspace(workspace("ws-1")).unwrap();
    assert_eq!(summaries(events.by_ref()).len(), 1);
    let mut expect = |expected: &[&str]| assert_eq!(summaries(events.by_ref()), expected);

    // Actions: accepted, ended by the clock and by the host, failed, cancelled, refused.
    engine.act(ActionRequest::reboot("ws-1")).unwrap();
    expect(&[
        r#"action.accepted ws-1 jdoe {"by":"host","previousState":"AVAILABLE","state":"REBOOTING","actionId":5,"action":"RebootWorkSpace","dueAt":"2026-11-20T08:02:00Z"}"#,
    ]);
    engine.act(ActionRequest::reboot("ws-1")).unwrap_err();
    expect(&[]);
    clock.advance_seconds(150);
    let read = engine.workspace("ws-1").unwrap().unwrap();
    assert_eq!(read.workspace.state.as_deref(), Some("AVAILABLE"));
    expect(&[]);
    engine.maintain().unwrap();
    expect(&[
        r#"action.completed ws-1 jdoe {"state":"AVAILABLE","actionId":5,"action":"RebootWorkSpace","completedTime":"2026-11-20T08:02:00Z"}"#,
    ]);
    let id = engine.act(ActionRequest::reboot("ws-1")).unwrap().unwrap();
    engine.complete_action(id).unwrap();
    engine.complete_action(id).unwrap_err();
    let id = engine.act(ActionRequest::reboot("ws-1")).unwrap().unwrap();
    engine
        .fail_action(id, FailedState::Error, Some("no answer"))
        .unwrap();
    let kinds = summaries(events.by_ref());
    assert_eq!(kinds.len(), 4);
    assert_eq!(
        kinds[3],
        r#"action.failed ws-1 jdoe {"state":"ERROR","actionId":8,"action":"RebootWorkSpace","result":"Failed","message":"no answer"}"#
    );
    let mut expect = |expected: &[&str]| assert_eq!(summaries(events.by_ref()), expected);
    engine
        .act(ActionRequest::new(Action::Rebuild, "ws-1"))
        .unwrap();
    engine
        .act(ActionRequest::new(Action::Terminate, "ws-1"))
        .unwrap();
    expect(&[
        r#"action.accepted ws-1 jdoe {"by":"host","previousState":"ERROR","state":"REBUILDING","actionId":9,"action":"RebuildWorkSpace","dueAt":"2026-11-20T08:32:30Z"}"#,
        r#"action.failed ws-1 jdoe {"state":"REBUILDING","actionId":9,"action":"RebuildWorkSpace","result":"Cancelled"}"#,
        r#"action.accepted ws-1 jdoe {"by":"host","previousState":"REBUILDING","state":"TERMINATING","actionId":10,"action":"TerminateWorkSpace","dueAt":"2026-11-20T08:07:30Z"}"#,
    ]);
    engine
        .act(ActionRequest::new(Action::Terminate, "ws-1"))
        .unwrap();
    expect(&[]);
    engine.override_workspace(workspace("ws-1")).unwrap();
    expect(&[
        r#"action.failed ws-1 jdoe {"state":"TERMINATING","actionId":10,"action":"TerminateWorkSpace","result":"Cancelled"}"#,
        r#"workspace.changed ws-1 jdoe {"by":"host","isNew":false,"fields":["state"],"previousState":"TERMINATING","state":"AVAILABLE"}"#,
    ]);
}

#[test]
fn hold_and_key_append_their_events() {
    let (engine, _) = engine();
    engine.put_workspace(workspace("ws-1")).unwrap();
    let mut events = engine.events(None);
    let mut expect = |expected: &[&str]| assert_eq!(summaries(events.by_ref()), expected);

    engine
        .place_hold("ws-1", "Doe v. Corp", Some("secret"))
        .unwrap();
    engine.place_hold("ws-1", "Doe v. Corp", None).unwrap();
    engine.place_hold("ws-9", "Doe v. Corp", None).unwrap_err();
    engine.remove_workspace("ws-1").unwrap_err();
    engine.release_hold("ws-1").unwrap();
    engine.release_hold("ws-1").unwrap_err();
    expect(&[
        r#"hold.placed ws-1 jdoe {"by":"host","replaced":false}"#,
        r#"hold.placed ws-1 jdoe {"by":"host","replaced":true}"#,
        r#"hold.released ws-1 jdoe {"by":"host"}"#,
    ]);
    let key = engine.issue_key(admin("desk")).unwrap();
    engine.issue_key(admin("desk")).unwrap_err();
    engine.revoke_key(key.info.id).unwrap_err();
    engine.force_revoke_key(key.info.id).unwrap();
    engine.force_revoke_key(key.info.id).unwrap();
    expect(&[
        r#"key.issued - - {"by":"host","keyId":1,"name":"desk","scopes":["admin"]}"#,
        r#"key.revoked - - {"by":"host","keyId":1,"name":"desk"}"#,
    ]);
}

/// A part of 100 has an event for each change, one of 101 for those whose state or user changes.
#[test]
fn part_of_an_import_lists_its_changes_or_says_that_it_does_not() {
    let (engine, _) = engine();
    let import = |from: usize, to: usize, region: &str, state: &str| {
        let before = engine.events(None);
        let records = (from..to).map(|number| WorkspacePatch {
            id: format!("ws-{number}").as_str().into(),
            region: region.into(),
            state: state.into(),
            ..WorkspacePatch::default()
        });
        engine.import_workspaces(records).unwrap();
        let mut all = summaries(before);
        let committed = all.pop().unwrap_or_default();
        let changed = all
            .iter()
            .filter(|event| event.contains("workspace.changed"));
        (
            changed.count(),
            all.len(),
            committed.contains(r#""listed":true"#),
        )
    };
    assert_eq!(import(0, 100, "eu", "STOPPED"), (100, 100, true), "created");
    assert_eq!(import(0, 100, "us", "STOPPED"), (100, 100, true), "changed");
    assert_eq!(
        import(0, 101, "eu", "STOPPED"),
        (0, 0, false),
        "another region"
    );
    assert_eq!(
        import(0, 101, "eu", "AVAILABLE"),
        (101, 101, false),
        "another state"
    );
    assert_eq!(import(0, 5000, "eu", "AVAILABLE"), (0, 4, false), "created");
}

/// A workspace that is replaced.
const REPLACED: [&str; 2] = [
    r#"workspace.changed ws-2 jdoe {"by":"host","isNew":false,"fields":["region","username","state"],"state":"AVAILABLE"}"#,
    r#"import.committed - - {"by":"host","created":0,"changed":1,"listed":true}"#,
];

#[test]
fn import_removal_and_filing_append_their_events() {
    let (engine, clock) = engine();
    engine.put_workspace(workspace("ws-1")).unwrap();
    let mut events = engine.events(None);

    let patch = |id: &str| WorkspacePatch {
        id: id.into(),
        region: "eu".into(),
        ..WorkspacePatch::default()
    };
    let many = (0..1500).map(|number| patch(&format!("ws-{number}")));
    engine.import_workspaces(many.clone()).unwrap();
    let imported = summaries(events.by_ref());
    assert_eq!(imported.len(), 2, "{imported:?}");
    assert!(
        imported[0].contains(r#""created":999,"changed":1}"#),
        "{imported:?}"
    );
    assert!(
        imported[1].contains(r#""created":500,"changed":0}"#),
        "{imported:?}"
    );
    let mut expect = |expected: &[&str]| assert_eq!(summaries(events.by_ref()), expected);
    engine.import_workspaces(many).unwrap();
    engine
        .put_workspaces(vec![workspace("ws-2"), workspace("ws-2")])
        .unwrap();
    engine.put_workspaces(vec![workspace("ws-2")]).unwrap();
    expect(&REPLACED);

    let removed = WorkspacePatch {
        id: "ws-2".into(),
        username: Nullable::Null,
        ..WorkspacePatch::default()
    };
    engine.import_workspaces([removed]).unwrap();
    engine.remove_workspace("ws-2").unwrap();
    engine.remove_workspace("ws-2").unwrap_err();
    assert_eq!(
        summaries(events.by_ref()).last().unwrap(),
        r#"workspace.removed ws-2 - {"by":"host","previousState":"AVAILABLE","reason":"Removed"}"#
    );

    for minute in 0..3 {
        let record = StatsRecord {
            instance_id: "ws-1".into(),
            username: "jdoe".into(),
            id: Some(minute),
            ..StatsRecord::default()
        };
        engine.record(record).unwrap();
    }
    assert_eq!(summaries(events.by_ref()), [""; 0]);
    engine.file_pending().unwrap();
    engine.file_pending().unwrap();
    assert_eq!(
        summaries(events.by_ref()),
        [r#"telemetry.filed - - {"records":3}"#]
    );

    engine
        .put_workspace(Workspace {
            state: Some("TERMINATED".into()),
            ..workspace("ws-1")
        })
        .unwrap();
    clock.advance_seconds(7 * 86_400);
    engine.apply_retention().unwrap();
    let last = summaries(events.by_ref()).pop().unwrap();
    assert_eq!(
        last,
        r#"workspace.removed ws-1 jdoe {"previousState":"TERMINATED","reason":"Expired"}"#
    );
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
}
