//! Exports: all that was posted, each record once, whatever happens between two chunks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use deskfleet::{
    Engine, ManualClock, QueueStorage, Received, Record, Stream,
    query::{ExportFormat, ExportQuery},
};
use deskfleet_tests::exported::{
    Stage, ids, once_each, read, scattered, scattered_days, stats, time, values,
};
use serde_json::Value;

const HOUR: i64 = 3600;

/// The order of an export: day, length of the instance's name, instance, filed time, receipt.
fn order(received: &Received) -> impl Ord + use<> {
    let instance = received.record.instance_id().to_owned();
    (
        received
            .filed_at
            .to_string()
            .split('T')
            .next()
            .unwrap()
            .to_owned(),
        instance.len(),
        instance,
        received.filed_at,
        received.received_at,
    )
}

#[test]
fn export_holds_each_posted_record_in_order_whether_queued_filed_or_sealed() {
    for queue in [QueueStorage::Segments, QueueStorage::Table] {
        let stage = Stage::on_file(queue);
        scattered_days(&stage, 8000);
        let query = ExportQuery::new(Stream::Stats);
        for _ in 0..3 {
            let exported: Result<Vec<_>, _> = stage.engine.export(query.clone()).collect();
            let exported = exported.unwrap();
            assert!(exported.is_sorted_by_key(order));
            let lines = stage.lines(&query);
            assert_eq!(lines.len(), exported.len());
            once_each(&ids(&lines), 8000);
            for (line, received) in lines.iter().zip(&exported) {
                let Record::Stats(record) = &received.record else {
                    panic!()
                };
                let id = record.id.unwrap();
                let expected = stats(id, id.unsigned_abs() % 70, Some(scattered(id)));
                assert_eq!(received.record, expected);
                assert_eq!(line["id"], id);
                assert_eq!(line["networkSent"].to_string(), "0.1");
                assert_eq!(line["receivedAt"], received.received_at.to_string());
            }
            stage.clock.advance_seconds(26 * HOUR);
            for _ in 0..200 {
                stage.engine.maintain().unwrap();
            }
        }
    }
}

#[test]
fn export_between_filing_sealing_and_posts_holds_each_earlier_record_once() {
    let stage = Stage::in_memory();
    scattered_days(&stage, 20_000);
    let body = stage.body(&ExportQuery::new(Stream::Stats), ExportFormat::Ndjson);
    let whole = read(body, |chunk| {
        let id = i32::try_from(chunk).unwrap() * 97;
        match chunk % 3 {
            0 => {
                stage.engine.file_pending().unwrap();
            }
            1 => {
                // A retry, and a new record.
                let retry = stats(id, id.unsigned_abs() % 70, Some(scattered(id)));
                stage.engine.record(retry).unwrap();
                let new = stats(-id, id.unsigned_abs() % 70, Some(scattered(id)));
                stage.engine.record(new).unwrap();
            }
            _ => {
                stage.clock.advance_seconds(1800);
                stage.engine.maintain().unwrap();
            }
        }
    });
    let mut ids = ids(&values(&whole));
    assert!(ids.values().all(|times| *times == 1));
    ids.retain(|id, _| *id >= 0);
    once_each(&ids, 20_000);
}

#[test]
fn equal_records_without_a_time_all_appear() {
    let stage = Stage::in_memory();
    let query = ExportQuery::new(Stream::Stats);
    for expected in [5000, 10_000] {
        stage
            .engine
            .record_all(&vec![stats(7, 1, None); 5000])
            .unwrap();
        let body = stage.body(&query, ExportFormat::Ndjson);
        let whole = read(body, |_| stage.engine.maintain().unwrap());
        assert_eq!(ids(&values(&whole))[&7], expected);
        assert_eq!(stage.engine.export(query.clone()).count(), expected);
    }
}

#[test]
fn range_and_instance_select_records() {
    let stage = Stage::in_memory();
    scattered_days(&stage, 8000);
    let instance = "ws-0007";
    for (from, to) in [
        (None, None),
        (Some("2026-11-18T10:00:00Z"), None),
        (None, Some("2026-11-19T00:00:00Z")),
        (Some("2026-11-19T00:00:00Z"), Some("2026-11-19T10:00:00Z")),
        (Some("2027-01-01"), None),
        (None, Some("2026-11-18T00:00:00Z")),
    ] {
        let (from, to) = (from.map(time), to.map(time));
        for instance_id in [None, Some(instance), Some("ws-unknown"), Some("")] {
            let query = ExportQuery {
                from,
                to,
                instance_id: instance_id.map(str::to_owned),
                ..ExportQuery::new(Stream::Stats)
            };
            let expected: BTreeSet<_> = (0..8000)
                .filter(|id| {
                    let filed = scattered(*id);
                    let name = format!("ws-{:04}", id % 70);
                    from.is_none_or(|from| filed >= from)
                        && to.is_none_or(|to| filed < to)
                        && instance_id.is_none_or(|wanted| wanted == name)
                })
                .map(i64::from)
                .collect();
            let lines = stage.lines(&query);
            let found: BTreeSet<_> = ids(&lines).into_keys().collect();
            assert_eq!(
                (lines.len(), found),
                (expected.len(), expected),
                "{query:?}"
            );
        }
    }
}

#[test]
fn range_that_skips_many_instances_gives_the_snapshot_back_in_between() {
    let stage = Stage::in_memory();
    let records: Vec<_> = (0..5000)
        .map(|id| stats(id, id.unsigned_abs(), Some(time("2026-11-20T08:00:00Z"))))
        .collect();
    stage.engine.record_all(&records).unwrap();
    stage
        .engine
        .record(stats(-1, 4321, Some(time("2026-11-20T09:00:00Z"))))
        .unwrap();
    let query = ExportQuery {
        from: Some(time("2026-11-20T09:00:00Z")),
        ..ExportQuery::new(Stream::Stats)
    };
    let mut chunks = 0;
    let whole = read(stage.body(&query, ExportFormat::Ndjson), |_| chunks += 1);
    assert_eq!(ids(&values(&whole)), BTreeMap::from([(-1, 1)]));
    assert!(chunks >= 4, "{chunks}");
}

#[test]
fn read_only_store_exports_what_is_queued_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb");
    let clock = ManualClock::new(time("2026-11-20T12:00:00Z"));
    let builder = || Engine::builder().clock(clock.clone()).seed(1);
    let engine = builder().open(&path).unwrap();
    let records: Vec<_> = (0..3000)
        .map(|id| stats(id, id.unsigned_abs() % 70, Some(scattered(id))))
        .collect();
    engine.record_all(&records[..1000]).unwrap();
    engine.file_pending().unwrap();
    engine.record_all(&records[500..]).unwrap();
    // As a crash leaves it, with the queue in segments.
    let crashed = tempfile::tempdir().unwrap();
    for (name, bytes) in files(folder.path()) {
        let copy = crashed.path().join(name);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::write(copy, bytes).unwrap();
    }
    let before = files(crashed.path());
    assert!(before.len() > 1, "there are segments");
    let path = crashed.path().join("store.redb");
    let engine = builder().open_read_only(&path).unwrap();
    assert_eq!(engine.queue_count(), 2500);
    let stage = Stage::from_engine(engine, clock);
    for _ in 0..2 {
        once_each(&ids(&stage.lines(&ExportQuery::new(Stream::Stats))), 3000);
    }
    stage.engine.close().unwrap();
    assert!(files(crashed.path()) == before);
}

/// All files in a folder and in those in it, by their paths there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            let inner = files(&path).into_iter();
            found.extend(inner.map(|(inner, bytes)| (name.join(inner), bytes)));
        } else {
            found.insert(name, std::fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn export_whose_read_fails_ends_with_an_error() {
    let stage = Stage::in_memory();
    scattered_days(&stage, 8000);
    let query = ExportQuery::new(Stream::Stats);
    let mut body = stage.body(&query, ExportFormat::Csv);
    assert!(body.next_chunk().unwrap().is_some());
    let mut records = stage.engine.export(query);
    assert!(records.next().unwrap().is_ok());
    stage.engine.close().unwrap();
    let ended = std::iter::from_fn(|| body.next_chunk().transpose())
        .last()
        .unwrap();
    assert!(ended.is_err());
    assert_eq!(body.next_chunk().unwrap(), None);
    assert!(records.by_ref().last().unwrap().is_err());
    assert!(records.next().is_none());
}

#[test]
fn record_equals_its_line_of_the_history_endpoint() {
    let stage = Stage::in_memory();
    scattered_days(&stage, 500);
    let key = stage
        .engine
        .issue_key(deskfleet::NewKey::new("admin", [deskfleet::Scope::Read]))
        .unwrap();
    let get = |target: &str| {
        let request = http::Request::get(target).header("x-api-key", &key.secret);
        let response = stage.engine.handle(request.body(Bytes::new()).unwrap());
        assert_eq!(response.status(), 200);
        response.into_body()
    };
    let history = get("/operator/telemetry/stats?instanceId=ws-0003&limit=500");
    let history: Value = serde_json::from_slice(&history).unwrap();
    let exported = get("/query/export?stream=stats&instanceId=ws-0003");
    assert_eq!(history["records"], Value::Array(values(&exported)));
}
