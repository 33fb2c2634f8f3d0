//! The lengths of the entries of a log: what is too long for one is split or refused, and never keeps others from being written.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::limits::LOG_BODY_BYTES_MIN;
use deskfleet::{
    ActivityRecord, ErrorKind, HistoryQuery, ManualClock, StatsRecord, Stream, Workspace,
    WorkspaceList, cluster::MemoryLog,
};
use deskfleet_tests::cluster::node::{follow, node, refusal, start};

/// More than one entry holds: it is split, and acknowledged as a whole.
#[test]
fn a_batch_that_is_longer_than_an_entry_is_on_every_node() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    let mut batch = one.batch();
    for number in 0..60_u8 {
        let text = char::from(b'0' + number % 60).to_string().repeat(40_000);
        let record = ActivityRecord {
            instance_id: "ws-1".into(),
            activity: text.into(),
            ..ActivityRecord::default()
        };
        batch.push(&record.into()).unwrap();
    }
    one.record_batch(batch).unwrap();
    let bounds = deskfleet::cluster::Log::bounds(&log, 0).unwrap();
    assert!(bounds.last > 2, "{bounds:?}");
    follow(&two);
    for engine in [&one, &two] {
        let history = engine.all_history(HistoryQuery::new(Stream::Activity, "ws-1"));
        assert_eq!(history.count(), 60);
    }
}

/// A report of `bytes` bytes of JSON, in one of the forms that take the most bytes of the log.
fn report(form: usize, bytes: usize) -> Bytes {
    let item = |number: usize| match form {
        0 => format!(r#"{{"processName":"{number}"}}"#),
        1 => format!(r#"{{"processName":"{number:0>150}","username":"{number:0>20}"}}"#),
        _ => format!(r#"{{"memoryUsage":{number}.{number},"processCount":{number}}}"#),
    };
    let items: Vec<_> = (0..4000).map(item).collect();
    let (start, end) = (r#"{"username":""#, r#"","processes":["#);
    let rest = start.len() + end.len() + items.join(",").len() + "]}".len();
    // The rest is one text.
    let text = "x".repeat(bytes - rest);
    format!("{start}{text}{end}{}]}}", items.join(",")).into()
}

fn post(path: &str, body: impl Into<Bytes>) -> http::Request<Bytes> {
    http::Request::post(path)
        .header("content-type", "application/json")
        .body(body.into())
        .unwrap()
}

/// One report without a key must not fail the commit of all others.
#[test]
fn the_longest_report_shares_a_commit_with_others_and_a_longer_one_is_refused() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::bounded(clock.clone(), LOG_BODY_BYTES_MIN);
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    let most = one.config().limits.processes_body_bytes;
    assert!((900_000..LOG_BODY_BYTES_MIN).contains(&most), "{most}");
    let too_long = one.handle(post("/api/Stats/PostProcesses", report(0, most + 1)));
    assert_eq!(too_long.status(), 413);
    for form in 0..3 {
        // As much as fits the block before it is full.
        let others = (0..500).map(|number| {
            let instance = format!("{form}-{number}-{}", "y".repeat(30));
            format!(r#"{{"instanceId":"{instance}","osVersion":"{number:0>20}"}}"#)
        });
        let others = others.map(|body| post("/api/Stats/Post", body));
        let all = others.chain([post("/api/Stats/PostProcesses", report(form, most))]);
        let mut calls: Vec<_> = all.map(|request| Box::pin(one.call(request))).collect();
        let mut context = Context::from_waker(Waker::noop());
        for call in &mut calls {
            let response = loop {
                if let Poll::Ready(response) = call.as_mut().poll(&mut context) {
                    break response;
                }
            };
            assert_eq!(response.status(), 200, "form {form}");
        }
    }
    follow(&two);
    two.file_pending().unwrap();
    assert_eq!(two.position(), one.position());
}

#[test]
fn a_record_from_rust_that_no_entry_takes_is_refused() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::bounded(clock.clone(), LOG_BODY_BYTES_MIN);
    let one = node(1, &clock, &log);
    let text = "x".repeat(LOG_BODY_BYTES_MIN);
    let too_long = ActivityRecord {
        activity: text.into(),
        ..ActivityRecord::default()
    };
    let error = refusal(one.record(too_long));
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    one.record(StatsRecord::default()).unwrap();
}

/// A part of an import is an entry of its own.
#[test]
fn workspaces_with_the_longest_texts_are_imported_through_the_log() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::bounded(clock.clone(), LOG_BODY_BYTES_MIN);
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    let text: std::sync::Arc<str> = "\u{1f5a5}".repeat(256).into();
    let workspaces = (0..1000).map(|number| Workspace {
        id: format!("ws-{number}"),
        computer_name: Some((&*text).into()),
        account: Some((&*text).into()),
        region: Some((&*text).into()),
        directory_id: Some((&*text).into()),
        ..Workspace::default()
    });
    let workspaces: Vec<_> = workspaces.collect();
    one.put_workspaces(workspaces.clone()).unwrap();
    let lines: Vec<_> = workspaces
        .iter()
        .map(|workspace| serde_json::to_string(workspace).unwrap())
        .collect();
    let mut import = one.import();
    for line in lines {
        import.push(format!("{line}\n").as_bytes()).unwrap();
    }
    assert_eq!(import.finish().unwrap().upserted, 1000);
    follow(&two);
    assert_eq!(two.all_workspaces(WorkspaceList::All).count(), 1000);
}
