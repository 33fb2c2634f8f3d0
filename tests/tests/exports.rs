//! Exports: all that was posted, each record once, whatever happens between two chunks.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use deskfleet::{
    ActivityRecord, Config, Engine, ExportFormat, ExportQuery, ManualClock, ProcessItem,
    ProcessReport, QueueStorage, Received, Record, ResponseBody, StatsRecord, Stream, Timestamp,
};
use serde_json::Value;

/// The maximum of a chunk: 64 KiB, and the line that exceeds it.
const CHUNK_MAX: usize = 64 * 1024 + 4096;
const HOUR: i64 = 3600;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

struct Stage {
    engine: Engine,
    clock: ManualClock,
    _folder: Option<tempfile::TempDir>,
}

impl Stage {
    fn in_memory() -> Self {
        let clock = ManualClock::new(time("2026-11-20T12:00:00Z"));
        let builder = Engine::builder().clock(clock.clone()).seed(1);
        Self {
            engine: builder.open_in_memory().unwrap(),
            clock,
            _folder: None,
        }
    }

    /// On a file, with the queue there.
    fn on_file(queue: QueueStorage) -> Self {
        let clock = ManualClock::new(time("2026-11-20T12:00:00Z"));
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.queue_storage = queue;
        let builder = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .config(config);
        Self {
            engine: builder.open(folder.path().join("store.redb")).unwrap(),
            clock,
            _folder: Some(folder),
        }
    }

    fn body(&self, query: &ExportQuery, format: ExportFormat) -> ResponseBody {
        self.engine.export_body(query.clone(), format).unwrap()
    }

    fn lines(&self, query: &ExportQuery) -> Vec<Value> {
        values(&read(self.body(query, ExportFormat::Ndjson), |_| ()))
    }
}

/// Reads a body to its end; calls `between` with the number of each chunk after it.
fn read(mut body: ResponseBody, mut between: impl FnMut(usize)) -> Vec<u8> {
    let (mut whole, mut chunks) = (Vec::new(), 0);
    while let Some(chunk) = body.next_chunk().unwrap() {
        assert!(chunk.len() <= CHUNK_MAX, "{}", chunk.len());
        whole.extend_from_slice(&chunk);
        chunks += 1;
        between(chunks);
    }
    assert_eq!(body.next_chunk().unwrap(), None);
    whole
}

fn values(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The number of times that each id appears.
fn ids(lines: &[Value]) -> BTreeMap<i64, usize> {
    let mut ids = BTreeMap::new();
    for line in lines {
        *ids.entry(line["id"].as_i64().unwrap()).or_default() += 1;
    }
    ids
}

fn once_each(ids: &BTreeMap<i64, usize>, count: i32) {
    assert_eq!(ids.len(), usize::try_from(count).unwrap());
    assert!(ids.values().all(|times| *times == 1));
}

fn stats(id: i32, instance: u32, update_time: Option<Timestamp>) -> Record {
    StatsRecord {
        id: Some(id),
        update_time,
        processor_in_use: Some(id % 100),
        network_sent: Some(0.1),
        instance_id: format!("ws-{instance:04}").as_str().into(),
        ..StatsRecord::default()
    }
    .into()
}

/// A time within three days, derived from `id`.
fn scattered(id: i32) -> Option<Timestamp> {
    let second = id.wrapping_mul(48_271).rem_euclid(60 * 3600);
    Some(time("2026-11-18T00:00:00Z").plus_seconds(second.into()))
}

/// Records of many instances over three days, posted in four batches; all but the last are filed.
fn scattered_days(stage: &Stage, count: i32) {
    for part in 0..4 {
        let ids = (0..count).filter(|id| id % 4 == part);
        let records: Vec<_> = ids
            .map(|id| stats(id, id.unsigned_abs() % 70, scattered(id)))
            .collect();
        stage.engine.record_all(&records).unwrap();
        if part < 3 {
            stage.engine.file_pending().unwrap();
        }
    }
}

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
                let expected = stats(id, id.unsigned_abs() % 70, scattered(id));
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
                let retry = stats(id, id.unsigned_abs() % 70, scattered(id));
                stage.engine.record(retry).unwrap();
                let new = stats(-id, id.unsigned_abs() % 70, scattered(id));
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
                    let filed = scattered(*id).unwrap();
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
        .map(|id| stats(id, id.unsigned_abs() % 70, scattered(id)))
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
    let stage = Stage {
        engine,
        clock,
        _folder: None,
    };
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
fn export_of_nothing_is_an_empty_body_or_a_header() {
    let stage = Stage::in_memory();
    stage.engine.record(stats(1, 1, None)).unwrap();
    let query = ExportQuery::new(Stream::Activity);
    assert_eq!(read(stage.body(&query, ExportFormat::Ndjson), |_| ()), b"");
    assert_eq!(
        read(stage.body(&query, ExportFormat::Csv), |_| ()),
        b"id,computeTypeName,username,activity,activityTime,instanceId,tenantId,receivedAt\r\n"
    );
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

/// A reader of RFC 4180: rows of cells, with whether each was quoted.
fn csv(text: &str) -> Vec<Vec<(String, bool)>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), (String::new(), false));
    let mut chars = text.chars().peekable();
    let mut inside = false;
    while let Some(next) = chars.next() {
        match next {
            '"' if inside && chars.peek() == Some(&'"') => cell.0.extend(chars.next()),
            '"' => {
                inside = !inside;
                cell.1 = true;
            }
            ',' if !inside => row.push(std::mem::take(&mut cell)),
            '\r' if !inside && chars.peek() == Some(&'\n') => {
                chars.next();
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            other => cell.0.push(other),
        }
    }
    assert!(row.is_empty() && cell.0.is_empty() && !inside);
    rows
}

#[test]
fn hostile_values_survive_both_formats() {
    let stage = Stage::in_memory();
    let texts = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "say \"hi\"",
        "a,b",
        "two\r\nlines",
        "\0",
        "",
        " ",
        "ä€😀",
        "'quoted",
        "\u{feff}",
    ];
    let records: Vec<Record> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            ActivityRecord {
                id: i32::try_from(number).ok(),
                activity: (*text).into(),
                username: deskfleet::Nullable::Null,
                instance_id: "i".into(),
                ..ActivityRecord::default()
            }
            .into()
        })
        .collect();
    stage.engine.record_all(&records).unwrap();
    let query = ExportQuery::new(Stream::Activity);
    let exported: Vec<_> = stage.lines(&query);
    let whole = read(stage.body(&query, ExportFormat::Csv), |_| ());
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    assert_eq!(rows.len(), texts.len() + 1);
    let column = |name: &str| rows[0].iter().position(|(cell, _)| cell == name).unwrap();
    for ((text, line), row) in texts.iter().zip(&exported).zip(&rows[1..]) {
        assert_eq!(line["activity"], *text);
        assert_eq!(line["username"], Value::Null);
        let (cell, quoted) = &row[column("activity")];
        let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let expected = format!("{}{text}", if formula { "'" } else { "" });
        assert_eq!(*cell, expected);
        assert!(
            !text.is_empty() || *quoted,
            "an empty text differs from null"
        );
        assert_eq!(row[column("username")], (String::new(), false));
    }
}

#[test]
fn extreme_numbers_and_times_are_written_to_the_last_digit() {
    let stage = Stage::in_memory();
    let record = StatsRecord {
        id: Some(i32::MIN),
        update_time: Some(time("0001-01-01T00:00:00.0000001Z")),
        physical_memory: Some(i64::MAX),
        virtual_memory: Some(i64::MIN),
        disk_reads: Some(f32::MAX),
        disk_writes: Some(f32::MIN_POSITIVE),
        network_sent: Some(0.1),
        network_received: Some(-0.0),
        uptime: 1e300.into(),
        instance_id: "i".into(),
        ..StatsRecord::default()
    };
    stage.engine.record(record.clone()).unwrap();
    let query = ExportQuery::new(Stream::Stats);
    let whole = read(stage.body(&query, ExportFormat::Csv), |_| ());
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    let cell = |name: &str| {
        let column = rows[0].iter().position(|(cell, _)| cell == name).unwrap();
        rows[1][column].0.as_str()
    };
    assert_eq!(cell("id"), "-2147483648");
    assert_eq!(cell("updatetime"), "0001-01-01T00:00:00.0000001Z");
    assert_eq!(cell("physicalMemory"), "9223372036854775807");
    assert_eq!(cell("virtualMemory"), "-9223372036854775808");
    assert_eq!(cell("networkSent"), "0.1");
    assert_eq!(cell("diskReads").parse(), Ok(f32::MAX));
    assert_eq!(cell("diskWrites").parse(), Ok(f32::MIN_POSITIVE));
    assert_eq!(cell("uptime").parse(), Ok(1e300));
    let line = read(stage.body(&query, ExportFormat::Ndjson), |_| ());
    let line = std::str::from_utf8(&line).unwrap();
    for part in [
        "\"physicalMemory\":9223372036854775807,",
        "\"networkSent\":0.1,",
        "\"networkReceived\":-0.0,",
    ] {
        assert!(line.contains(part), "{line}");
    }
    let exported = stage.engine.export(query).next().unwrap().unwrap();
    assert_eq!(exported.record, record.into());
}

fn item(name: &str, processor: f64) -> ProcessItem {
    ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: Some(processor),
        process_count: Some(2),
        username: Some("item-user".to_owned()),
        ..ProcessItem::default()
    }
}

#[test]
fn process_report_is_a_line_of_csv_for_each_process() {
    let stage = Stage::in_memory();
    let report = |processes| ProcessReport {
        username: "jdoe".into(),
        instance_id: "i".into(),
        created_date: Some(time("2026-11-20T10:00:00Z")),
        processes,
        ..ProcessReport::default()
    };
    for processes in [
        Some(vec![item("a,b", 0.5), item("=c", 1e300)]),
        Some(Vec::new()),
        None,
    ] {
        stage.engine.record(report(processes)).unwrap();
        stage.clock.advance_seconds(1);
    }
    let whole = read(
        stage.body(&ExportQuery::new(Stream::Processes), ExportFormat::Csv),
        |_| (),
    );
    let expected = "computeTypeName,username,createdDate,instanceId,receivedAt,processName,processorUsage,memoryUsage,processCount,processUsername\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:00Z,\"a,b\",0.5,,2,item-user\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:00Z,'=c,1e+300,,2,item-user\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:01Z,,,,,\r\n\
        ,jdoe,2026-11-20T10:00:00Z,i,2026-11-20T12:00:02Z,,,,,\r\n";
    assert_eq!(std::str::from_utf8(&whole).unwrap(), expected);
}

#[test]
fn large_reports_are_cut_into_chunks() {
    let stage = Stage::in_memory();
    let names = |report: i32| (0..4096).map(move |process| format!("process-{report}-{process}"));
    for report in 0..4 {
        let record = ProcessReport {
            username: "u".repeat(200).as_str().into(),
            processes: Some(names(report).map(|name| item(&name, 1.0)).collect()),
            instance_id: "i".into(),
            ..ProcessReport::default()
        };
        stage.engine.record(record).unwrap();
        stage.clock.advance_seconds(1);
    }
    let whole = read(
        stage.body(&ExportQuery::new(Stream::Processes), ExportFormat::Csv),
        |_| (),
    );
    let rows = csv(std::str::from_utf8(&whole).unwrap());
    let column = rows[0]
        .iter()
        .position(|(cell, _)| cell == "processName")
        .unwrap();
    let found: Vec<_> = rows[1..].iter().map(|row| row[column].0.clone()).collect();
    assert_eq!(found, (0..4).flat_map(names).collect::<Vec<_>>());
}

#[test]
fn record_equals_its_line_of_the_history_endpoint() {
    let stage = Stage::in_memory();
    scattered_days(&stage, 500);
    let key = stage
        .engine
        .issue_key(deskfleet::NewKey {
            name: "admin".into(),
            scopes: [deskfleet::Scope::Read].into_iter().collect(),
            expires: None,
        })
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
