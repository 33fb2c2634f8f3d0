//! Following the event log, its pages, and what is kept of it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use deskfleet::{ActionRequest, Config, Engine, EventType, ManualClock, StatsRecord, Workspace};
use deskfleet_tests::event_engine::{NOW, admin, engine, engine_with, workspace};
use http::Request;
use serde_json::Value;

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
        assert_eq!(event.kind, EventType::WorkspaceChanged);
    }
    assert_eq!(events.position(), 1);
    // The other workspace, the import, the removal.
    for _ in 0..3 {
        assert!(matches!(
            events.poll_recv(&mut context),
            Poll::Ready(Some(Ok(_)))
        ));
    }
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

/// Seven days are kept, at most the number of the setting; a reader of what is gone gets the position to go on from.
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
