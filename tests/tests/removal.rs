//! Removing telemetry that is selected, from the queue and from history, beside holds and on a full disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use deskfleet::{
    ActivityRecord, AuditAction, AuditResult, Engine, ErrorKind, ManualClock, Nullable, Record,
    RemovedTelemetry, Scope, StatsRecord, Stream, TelemetrySelection, Timestamp, Workspace,
    query::ExportQuery,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::secret;
use deskfleet_tests::disk::Disk;
use http::Request;

const DAY: i64 = 86_400;

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

fn engine() -> (Engine, Disk, Arc<AtomicU64>) {
    let (disk, free) = (Disk::new(), Arc::new(AtomicU64::new(u64::MAX)));
    let reported = Arc::clone(&free);
    let engine = Engine::builder()
        .clock(ManualClock::new(now()))
        .seed(7)
        .free_space(move || Some(reported.load(Ordering::SeqCst)))
        .open_backend_with_queue(disk.backend(), disk.folder())
        .unwrap();
    (engine, disk, free)
}

fn stats(instance: &str, user: &str, days_ago: i64) -> Record {
    Record::Stats(Box::new(StatsRecord {
        instance_id: instance.into(),
        username: user.into(),
        update_time: Some(now().plus_seconds(-days_ago * DAY)),
        processor_in_use: Some(50),
        ..StatsRecord::default()
    }))
}

fn activity(instance: &str, user: &str, days_ago: i64) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        instance_id: instance.into(),
        username: user.into(),
        activity: "Logon".into(),
        activity_time: Some(now().plus_seconds(-days_ago * DAY)),
        ..ActivityRecord::default()
    }))
}

/// Days 0 to 3 of two instances and two streams.
fn records() -> Vec<Record> {
    let days = 0..4;
    days.flat_map(|day| {
        let of = |instance: &str, user: &str| {
            [stats(instance, user, day), activity(instance, user, day)]
        };
        [of("ws-1", "ann"), of("ws-2", "bob")].concat()
    })
    .collect()
}

/// `instance days-ago` of each record of a stream, sorted.
fn left(engine: &Engine, stream: Stream) -> Vec<String> {
    let days = |time: Option<Timestamp>| now().day() - time.unwrap().day();
    let name = |received: deskfleet::Received| {
        let (instance, sent) = match &received.record {
            Record::Stats(it) => (it.instance_id.clone(), it.update_time),
            Record::Activity(it) => (it.instance_id.clone(), it.activity_time),
            other @ (Record::Startup(_) | Record::Processes(_)) => panic!("{other:?}"),
        };
        let Nullable::Value(instance) = instance else {
            panic!("no name")
        };
        format!("{instance} {}", days(sent))
    };
    let mut left: Vec<_> = ["ws-1", "ws-2"]
        .into_iter()
        .flat_map(|instance| engine.all_history(deskfleet::HistoryQuery::new(stream, instance)))
        .map(|received| name(received.unwrap()))
        .collect();
    left.sort_unstable();
    left
}

fn all(engine: &Engine) -> [Vec<String>; 2] {
    [Stream::Stats, Stream::Activity].map(|stream| left(engine, stream))
}

fn named(instances: &[&str], days: std::ops::Range<i64>) -> Vec<String> {
    let of = |instance: &&str| {
        let instance = (*instance).to_owned();
        days.clone().map(move |day| format!("{instance} {day}"))
    };
    instances.iter().flat_map(of).collect()
}

const BOTH: &[&str; 2] = &["ws-1", "ws-2"];

fn selection(
    instance: Option<&str>,
    stream: Option<Stream>,
    days: Option<i64>,
) -> TelemetrySelection {
    TelemetrySelection {
        instance_id: instance.map(str::to_owned),
        stream,
        before: days.map(|days| now().plus_seconds(-days * DAY)),
    }
}

#[test]
fn removal_takes_what_meets_the_whole_selection_from_queue_and_history() {
    let (none, every) = (Vec::new(), || named(BOTH, 0..4));
    let cases = [
        (
            selection(Some("ws-1"), None, None),
            [named(&["ws-2"], 0..4), named(&["ws-2"], 0..4)],
            8,
        ),
        (
            selection(None, Some(Stream::Stats), None),
            [none, every()],
            8,
        ),
        (
            selection(None, None, Some(1)),
            [named(BOTH, 0..2), named(BOTH, 0..2)],
            8,
        ),
        (
            selection(Some("ws-2"), Some(Stream::Activity), Some(2)),
            [
                every(),
                [named(&["ws-1"], 0..4), named(&["ws-2"], 0..3)].concat(),
            ],
            1,
        ),
        (selection(Some("ws-3"), None, None), [every(), every()], 0),
    ];
    for (selection, expected, removed) in cases {
        for filed in [0, 7, 16] {
            let (engine, _disk, _) = engine();
            engine.record_all(&records()[..filed]).unwrap();
            engine.file_pending().unwrap();
            engine.record_all(&records()[filed..]).unwrap();
            let counts = engine.remove_telemetry(&selection).unwrap();
            assert_eq!(
                (counts.removed, counts.kept),
                (removed, 0),
                "{selection:?}, {filed}"
            );
            assert_eq!(all(&engine), expected, "{selection:?}, {filed}");
            let problems = engine.check().unwrap().problems;
            assert_eq!(problems, Vec::<String>::new());
            assert_eq!(engine.remove_telemetry(&selection).unwrap().removed, 0);
        }
    }
}

#[test]
fn removal_of_an_instance_takes_all_spellings_of_its_name() {
    for filed in [false, true] {
        let (engine, _disk, _) = engine();
        let sent = ["ws-1", "WS-1", "Ws-1"].map(|name| stats(name, "ann", 1));
        engine.record_all(&sent).unwrap();
        engine.record(stats("ws-2", "bob", 1)).unwrap();
        if filed {
            engine.file_pending().unwrap();
        }
        let counts = engine
            .remove_telemetry(&selection(Some("wS-1"), None, None))
            .unwrap();
        assert_eq!((counts.removed, counts.kept), (3, 0));
        assert_eq!(engine.export(ExportQuery::new(Stream::Stats)).count(), 1);
        assert!(engine.user("ann").unwrap().is_none());
    }
}

#[test]
fn removal_of_an_instance_forgets_its_newest_values_and_days() {
    let (engine, _disk, _) = engine();
    engine.record_all(&records()).unwrap();
    for id in BOTH {
        let id = (*id).to_owned();
        engine
            .put_workspace(Workspace {
                id,
                ..Workspace::default()
            })
            .unwrap();
    }
    let seen = |engine: &Engine| {
        let rows = engine
            .query(&deskfleet::query::WorkspaceRowsQuery::default())
            .unwrap();
        rows.rows
            .into_iter()
            .map(|row| row.last_seen.is_some())
            .collect::<Vec<_>>()
    };
    engine.file_pending().unwrap();
    assert_eq!(seen(&engine), [true, true]);
    assert!(engine.user("ann").unwrap().is_some());
    engine
        .remove_telemetry(&selection(Some("ws-1"), None, None))
        .unwrap();
    assert_eq!(seen(&engine), [false, true]);
    assert!(engine.user("ann").unwrap().is_none());
    assert!(engine.user("bob").unwrap().is_some());
}

#[test]
fn removal_of_a_held_instance_is_refused_and_what_is_held_is_kept_and_counted() {
    for filed in [false, true] {
        let (engine, _disk, _) = engine();
        let workspace = Workspace {
            id: "ws-1".into(),
            username: Some("ann".into()),
            ..Workspace::default()
        };
        engine.put_workspace(workspace).unwrap();
        engine.place_hold("ws-1", "A", None).unwrap();
        engine.record_all(&records()).unwrap();
        // The user of the held workspace on another desktop.
        engine.record(stats("ws-2", "CORP\\Ann", 3)).unwrap();
        if filed {
            engine.file_pending().unwrap();
        }
        let refused = engine.remove_telemetry(&selection(Some("WS-1"), None, None));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::LitigationHold);
        let counts = engine
            .remove_telemetry(&selection(None, Some(Stream::Stats), None))
            .unwrap();
        // History keeps a day of a desktop as a whole.
        let day = if filed { 2 } else { 1 };
        assert_eq!(counts.kept, 4 + day);
        assert_eq!(counts.removed, 5 - day);
        let mut expected = named(&["ws-1"], 0..4);
        expected.extend(vec!["ws-2 3".to_owned(); usize::try_from(day).unwrap()]);
        assert_eq!(left(&engine, Stream::Stats), expected);
        let rows = engine.admin_activity(2).unwrap();
        let row = |at: usize| {
            (
                rows[at].action,
                rows[at].result,
                rows[at].detail.clone().unwrap(),
            )
        };
        let message = format!(
            "stream=stats: {} removed, {} kept",
            counts.removed, counts.kept
        );
        assert_eq!(
            row(0),
            (
                AuditAction::RemoveTelemetry,
                AuditResult::Completed,
                message
            )
        );
        assert_eq!(row(1).1, AuditResult::Refused);
        assert_eq!(row(1).2, "LitigationHold");
    }
}

#[test]
fn removal_over_http_needs_a_selection_that_it_knows_and_the_scope_admin() {
    let (engine, _disk, _) = engine();
    engine.record_all(&records()).unwrap();
    let (admin, act) = (
        secret(&engine, "Admin", Scope::Admin),
        secret(&engine, "Act", Scope::Act),
    );
    let ask = |key: &str, query: &str| {
        let request = Request::delete(format!("/operator/telemetry{query}"));
        let request = request.header("x-api-key", key).body(Bytes::new()).unwrap();
        let response = engine.handle(request);
        let body = String::from_utf8(response.body().to_vec()).unwrap();
        (response.status().as_u16(), body)
    };
    for query in [
        "",
        "?instance=",
        "?stream=stats&befor=2026-11-20",
        "?stream=stat",
        "?before=x",
        "?stream=stats&before=",
    ] {
        assert_eq!(ask(&admin, query).0, 400, "{query}");
    }
    assert_eq!(ask(&act, "?stream=stats").0, 403);
    assert_eq!(all(&engine), [named(BOTH, 0..4), named(BOTH, 0..4)]);
    let none = ask(&admin, "?stream=stats&before=-365d");
    assert_eq!(none, (200, r#"{"removed":0,"kept":0}"#.to_owned()));
    let done = ask(&admin, "?stream=stats&before=2026-11-20T12:00:00Z");
    let counts: RemovedTelemetry = serde_json::from_str(&done.1).unwrap();
    assert_eq!((done.0, counts.removed, counts.kept), (200, 6, 0));
    assert_eq!(all(&engine), [named(BOTH, 0..1), named(BOTH, 0..4)]);
    let rows = engine.admin_activity(1).unwrap();
    assert_eq!(rows[0].api_key_name.as_deref(), Some("Admin"));
}

#[test]
fn removal_that_is_refused_over_http_has_one_row_and_stays_refused_on_a_full_disk() {
    let (engine, _disk, free) = engine();
    engine
        .put_workspace(Workspace {
            id: "ws-1".into(),
            ..Workspace::default()
        })
        .unwrap();
    engine.place_hold("ws-1", "A", None).unwrap();
    let (admin, act) = (
        secret(&engine, "Admin", Scope::Admin),
        secret(&engine, "Act", Scope::Act),
    );
    let ask = |key: &str, query: &str| {
        let request = Request::delete(format!("/operator/telemetry?{query}"));
        let request = request.header("x-api-key", key).body(Bytes::new()).unwrap();
        engine.handle(request).status().as_u16()
    };
    let before = engine.admin_activity(100).unwrap().len();
    let refusals = || {
        let rows = engine.admin_activity(100).unwrap();
        let new = rows[..rows.len() - before].iter().rev();
        new.map(|row| {
            (
                row.workspace_id.clone().unwrap(),
                row.detail.clone().unwrap(),
            )
        })
        .collect::<Vec<_>>()
    };
    let of = |detail: &str| ("ws-1".to_owned(), detail.to_owned());
    assert_eq!(ask(&admin, "instance=ws-1"), 409);
    assert_eq!(refusals(), [of("LitigationHold")]);
    assert_eq!(ask(&act, "instance=ws-1"), 403);
    assert_eq!(ask(&admin, "instance=ws-1&stream=x"), 400);
    let all = ["LitigationHold", "InsufficientScope", "InvalidParameter"];
    assert_eq!(refusals(), all.map(of));
    free.store(0, Ordering::SeqCst);
    assert_eq!(ask(&admin, "instance=ws-1"), 409);
    assert_eq!(ask(&act, "instance=ws-1"), 403);
    assert_eq!(ask(&admin, "instance=ws-1&stream=x"), 400);
    let all = [
        "LitigationHold (2 times)",
        "InsufficientScope",
        "InvalidParameter",
    ];
    assert_eq!(refusals(), all.map(of));
}

#[test]
fn removal_on_a_full_disk_removes_the_segments_and_lets_posts_in_again() {
    let (engine, disk, free) = engine();
    let large = |id: usize| {
        Record::Activity(Box::new(ActivityRecord {
            instance_id: "ws-1".into(),
            activity: format!("{id}{}", "x".repeat(60_000)).into(),
            ..ActivityRecord::default()
        }))
    };
    let segments = || disk.contents().queue.map_or(0, |queue| queue.len());
    for round in 0..20 {
        let records: Vec<_> = (0..100).map(|id| large(round * 100 + id)).collect();
        engine.record_all(&records).unwrap();
    }
    engine.record(stats("ws-2", "bob", 0)).unwrap();
    free.store(0, Ordering::SeqCst);
    let posted = engine.record(stats("ws-2", "bob", 1));
    let refused = [posted.unwrap_err(), engine.file_pending().unwrap_err()];
    assert_eq!(refused.map(|error| error.kind()), [ErrorKind::LowDisk; 2]);
    let before = (segments(), engine.store_status().unwrap().bytes);
    assert!(before.0 >= 20, "{before:?}");
    let counts = engine
        .remove_telemetry(&selection(None, Some(Stream::Activity), None))
        .unwrap();
    assert_eq!(counts.removed, 2000);
    // What is kept of segments is used again.
    assert!(segments() <= 10, "{}", segments());
    let status = engine.store_status().unwrap();
    assert_eq!(status.queue_records, 0);
    assert!(status.bytes <= before.1, "{status:?} after {before:?}");
    assert_eq!(left(&engine, Stream::Stats), ["ws-2 0"]);
    assert_eq!(engine.export(ExportQuery::new(Stream::Activity)).count(), 0);
    free.store(u64::MAX, Ordering::SeqCst);
    engine.record(stats("ws-2", "bob", 1)).unwrap();
}

#[test]
fn activities_of_a_day_after_a_removal_are_the_others() {
    let ago = |instance: &str, minutes: i64| {
        let mut record = activity(instance, "jdoe", 0);
        if let Record::Activity(activity) = &mut record {
            activity.activity_time = Some(now().plus_seconds(-minutes * 60));
        }
        record
    };
    let shown = |engine: &Engine| -> Vec<_> {
        let all = engine.activity_24_hours().unwrap().into_iter();
        let of_ws_1 = all.filter(|view| view.received.record.instance_id() == "ws-1");
        of_ws_1.map(|view| view.received).collect()
    };
    for before in [None, Some(0), Some(1)] {
        let (engine, ..) = engine();
        for minutes in (0..1800).step_by(7) {
            let records = BOTH.map(|instance| ago(instance, minutes));
            engine.record_all(&records).unwrap();
            if minutes % 4 == 0 {
                engine.file_pending().unwrap();
            }
        }
        let expected = shown(&engine);
        assert_eq!(expected.len(), 24 * 60 / 7 + 1);
        let of_ws_2 = selection(Some("ws-2"), None, before);
        assert!(engine.remove_telemetry(&of_ws_2).unwrap().removed > 0 || before == Some(1));
        assert_eq!(shown(&engine), expected, "{before:?}");
        // Late ones are filed beside those that were there.
        let late: Vec<_> = [1, 701, 1439].map(|minutes| ago("ws-1", minutes)).into();
        engine.record_all(&late).unwrap();
        let queued = shown(&engine);
        engine.file_pending().unwrap();
        engine.maintain().unwrap();
        assert_eq!(shown(&engine), queued, "{before:?}");
        assert_eq!(queued.len(), expected.len() + 3);
        assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    }
}
