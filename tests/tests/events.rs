//! The event log: what each mutation appends, following it, and what is kept.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use deskfleet::{
    Action, ActionRequest, Config, Engine, EventType, FailedState, FleetEvent, ManualClock, NewKey,
    Nullable, Scope, StatsRecord, Workspace, WorkspacePatch,
};
use http::Request;
use serde_json::Value;

const NOW: &str = "2026-11-20T08:00:00Z";

fn engine_with(config: Config) -> (Engine, ManualClock) {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder()
        .clock(clock.clone())
        .seed(7)
        .config(config);
    (builder.open_in_memory().unwrap(), clock)
}

fn engine() -> (Engine, ManualClock) {
    engine_with(Config::default())
}

fn workspace(id: &str) -> Workspace {
    Workspace {
        id: id.into(),
        username: Some("jdoe".into()),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

fn admin(name: &str) -> NewKey {
    NewKey {
        name: name.into(),
        scopes: [Scope::Admin].into_iter().collect(),
        expires: None,
    }
}

/// Type, workspace, user and detail of each event.
fn told(events: impl Iterator<Item = deskfleet::Result<FleetEvent>>) -> Vec<String> {
    let told = |event: FleetEvent| {
        let about = event.workspace_id.as_deref().unwrap_or("-");
        let user = event.username.as_deref().unwrap_or("-");
        format!("{} {about} {user} {}", event.kind.as_str(), event.detail)
    };
    events.map(|event| told(event.unwrap())).collect()
}

/// Every kind of call, and what it appends.
#[test]
fn mutation_appends_one_event_for_each_change_and_none_for_a_refusal() {
    let (engine, clock) = engine();
    let mut events = engine.events(None);
    let mut expect = |expected: &[&str]| assert_eq!(told(events.by_ref()), expected);

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
    assert_eq!(told(events.by_ref()).len(), 1);
    let mut expect = |expected: &[&str]| assert_eq!(told(events.by_ref()), expected);

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
    let kinds = told(events.by_ref());
    assert_eq!(kinds.len(), 4);
    assert_eq!(
        kinds[3],
        r#"action.failed ws-1 jdoe {"state":"ERROR","actionId":8,"action":"RebootWorkSpace","result":"Failed","message":"no answer"}"#
    );
    let mut expect = |expected: &[&str]| assert_eq!(told(events.by_ref()), expected);
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
fn hold_key_import_removal_and_filing_append_their_events() {
    let (engine, clock) = engine();
    engine.put_workspace(workspace("ws-1")).unwrap();
    let mut events = engine.events(None);
    let mut expect = |expected: &[&str]| assert_eq!(told(events.by_ref()), expected);

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

    let patch = |id: &str| WorkspacePatch {
        id: id.into(),
        region: "eu".into(),
        ..WorkspacePatch::default()
    };
    let many = (0..1500).map(|number| patch(&format!("ws-{number}")));
    engine.import_workspaces(many.clone()).unwrap();
    let told_of_import = told(events.by_ref());
    assert_eq!(told_of_import.len(), 2, "{told_of_import:?}");
    assert!(
        told_of_import[0].contains(r#""created":999,"changed":1}"#),
        "{told_of_import:?}"
    );
    assert!(
        told_of_import[1].contains(r#""created":500,"changed":0}"#),
        "{told_of_import:?}"
    );
    let mut expect = |expected: &[&str]| assert_eq!(told(events.by_ref()), expected);
    engine.import_workspaces(many).unwrap();
    engine
        .put_workspaces(vec![workspace("ws-2"), workspace("ws-2")])
        .unwrap();
    engine.put_workspaces(vec![workspace("ws-2")]).unwrap();
    expect(&[r#"import.committed - - {"by":"host","created":0,"changed":1}"#]);

    let removed = WorkspacePatch {
        id: "ws-2".into(),
        username: Nullable::Null,
        ..WorkspacePatch::default()
    };
    engine.import_workspaces([removed]).unwrap();
    engine.remove_workspace("ws-2").unwrap();
    engine.remove_workspace("ws-2").unwrap_err();
    assert_eq!(
        told(events.by_ref()).last().unwrap(),
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
    assert_eq!(told(events.by_ref()), [""; 0]);
    engine.file_pending().unwrap();
    engine.file_pending().unwrap();
    assert_eq!(
        told(events.by_ref()),
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
    let last = told(events.by_ref()).pop().unwrap();
    assert_eq!(
        last,
        r#"workspace.removed ws-1 jdoe {"previousState":"TERMINATED","reason":"Expired"}"#
    );
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn waiting_stream_is_woken_once_for_each_commit_with_events() {
    let (engine, _) = engine();
    let mut events = engine.events(None);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    for _ in 0..3 {
        assert!(events.poll_recv(&mut context).is_pending());
    }
    engine.act(ActionRequest::reboot("ws-1")).unwrap_err();
    engine.record(StatsRecord::default()).unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 0, "no event");
    engine
        .put_workspaces(vec![workspace("ws-1"), workspace("ws-2")])
        .unwrap();
    engine.remove_workspace("ws-2").unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 1, "it did not ask again");
    {
        let mut next = pin!(events.recv());
        let Poll::Ready(Some(Ok(event))) = next.as_mut().poll(&mut context) else {
            panic!("an event");
        };
        assert_eq!(event.kind, EventType::ImportCommitted);
    }
    assert_eq!(events.position(), 1);
    assert!(matches!(
        events.poll_recv(&mut context),
        Poll::Ready(Some(Ok(_)))
    ));
    assert!(events.poll_recv(&mut context).is_pending());
    engine.close().unwrap();
    assert_eq!(woken.0.load(Ordering::Relaxed), 2, "closed");
    assert!(matches!(events.poll_recv(&mut context), Poll::Ready(None)));
}

#[test]
fn stream_of_a_closed_engine_is_over_at_once() {
    let (engine, _) = engine();
    engine.put_workspace(workspace("ws-1")).unwrap();
    let mut events = engine.events(Some(0));
    drop(engine);
    let mut context = Context::from_waker(Waker::noop());
    assert!(matches!(events.poll_recv(&mut context), Poll::Ready(None)));
    assert!(events.next().is_none());
}

fn page(engine: &Engine, key: &str, query: &str) -> (u16, Value) {
    let request = Request::get(format!("/query/events{query}")).header("x-api-key", key);
    let response = engine.handle(request.body(Bytes::new()).unwrap());
    let status = response.status().as_u16();
    (status, serde_json::from_slice(response.body()).unwrap())
}

/// Every page size sees every event once, oldest first, by the token and by the number of the last event.
#[test]
fn walk_over_pages_returns_each_event_once() {
    let (engine, _) = engine();
    let key = engine.issue_key(admin("desk")).unwrap().secret;
    for number in 0..40 {
        engine
            .put_workspace(workspace(&format!("ws-{number}")))
            .unwrap();
    }
    let all: Vec<u64> = engine
        .events(Some(0))
        .map(|event| event.unwrap().id)
        .collect();
    assert_eq!(all, (1..=41).collect::<Vec<_>>());
    for limit in [1, 7, 40, 41, 500] {
        for by_token in [true, false] {
            let (mut walked, mut query) = (Vec::new(), format!("?limit={limit}"));
            loop {
                let (status, body) = page(&engine, &key, &query);
                assert_eq!(status, 200);
                let rows = body["rows"].as_array().unwrap();
                walked.extend(rows.iter().map(|row| row["id"].as_u64().unwrap()));
                assert_eq!(body["hasMore"], !body["nextToken"].is_null());
                let Some(token) = body["nextToken"].as_str() else {
                    break;
                };
                query = if by_token {
                    format!("?limit={limit}&nextToken={token}")
                } else {
                    format!("?limit={limit}&after={}", walked.last().unwrap())
                };
            }
            assert_eq!(walked, all, "pages of {limit}");
        }
    }
}

/// Seven days are kept, or so many as the setting says; who asks for what is gone is told so, with the position to go on from.
#[test]
fn events_that_are_too_old_or_too_many_are_removed_and_their_readers_resync() {
    let mut config = Config::default();
    config.limits.events = 300;
    let (engine, clock) = engine_with(config);
    let key = engine.issue_key(admin("desk")).unwrap().secret;
    let change = |number: usize| {
        let region = Some(format!("region-{number}"));
        let changed = Workspace {
            region,
            ..workspace("ws-1")
        };
        engine.put_workspace(changed).unwrap();
    };
    (0..9).for_each(change);
    clock.advance_seconds(6 * 86_400);
    (9..19).for_each(change);
    engine.apply_retention().unwrap();
    assert_eq!(engine.events(Some(0)).count(), 20, "all are young enough");
    let mut slow = engine.events(Some(5));

    clock.advance_seconds(2 * 86_400);
    engine.apply_retention().unwrap();
    let kept: Vec<u64> = engine
        .events(Some(10))
        .map(|event| event.unwrap().id)
        .collect();
    assert_eq!(kept, (11..=20).collect::<Vec<_>>());
    let resync = slow.next().unwrap().unwrap();
    assert_eq!((resync.kind, resync.id), (EventType::Resync, 20));
    assert_eq!(resync.detail, r#"{"oldest":11}"#);
    assert!(slow.next().is_none());
    change(19);
    assert_eq!(slow.next().unwrap().unwrap().id, 21, "it goes on");
    // Nor is a position believed that was never given out: the store is another one.
    for (after, resyncs) in [(0, true), (9, true), (10, false), (21, false), (22, true)] {
        let (_, body) = page(&engine, &key, &format!("?after={after}"));
        let first = body["rows"].get(0).map(|row| &row["type"]);
        assert_eq!(first == Some(&"resync".into()), resyncs, "{after}");
        assert_eq!(
            body["rows"].as_array().unwrap().len(),
            usize::from(resyncs).max(21_usize.saturating_sub(after) * usize::from(!resyncs))
        );
    }
    let (_, body) = page(&engine, &key, "?limit=1");
    assert_eq!(
        body["rows"][0]["id"], 11,
        "without a position from the oldest on"
    );

    (20..1000).for_each(change);
    engine.apply_retention().unwrap();
    let (_, body) = page(&engine, &key, "?limit=500");
    assert_eq!(body["rows"].as_array().unwrap().len(), 300);
    assert_eq!(body["rows"][299]["id"], 1001);
    assert_eq!(engine.check().unwrap().events, 300);
}

/// A file that is opened again goes on with the next number.
#[test]
fn numbers_of_events_go_on_after_reopening_even_when_none_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fleet.redb");
    let clock = ManualClock::new(NOW.parse().unwrap());
    let open = || {
        Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .open(&path)
            .unwrap()
    };
    let engine = open();
    engine.put_workspace(workspace("ws-1")).unwrap();
    clock.advance_seconds(30 * 86_400);
    engine.apply_retention().unwrap();
    assert_eq!(engine.check().unwrap().events, 0);
    engine.close().unwrap();
    drop(engine);
    let engine = open();
    assert_eq!(engine.events(Some(1)).count(), 0);
    assert_eq!(
        engine.events(Some(0)).next().unwrap().unwrap().kind,
        EventType::Resync
    );
    engine.put_workspace(workspace("ws-2")).unwrap();
    assert_eq!(engine.events(Some(1)).next().unwrap().unwrap().id, 2);
    let copy = folder.path().join("copy.redb");
    engine.backup(&copy).unwrap();
    let copied = Engine::builder()
        .clock(clock.clone())
        .seed(1)
        .open(&copy)
        .unwrap();
    assert_eq!(
        copied.events(Some(1)).next().unwrap().unwrap(),
        engine.events(Some(1)).next().unwrap().unwrap()
    );
}
