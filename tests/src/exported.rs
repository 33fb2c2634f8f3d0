//! Engines whose exports are read, and the records that they hold: for the suites of exports.

use std::collections::BTreeMap;

use deskfleet::{
    Config, Engine, ManualClock, QueueStorage, Record, ResponseBody, StatsRecord, Timestamp,
    query::{ExportFormat, ExportQuery},
};
use serde_json::Value;
use tempfile::TempDir;

/// The maximum of a chunk: 64 KiB, and the line that exceeds it.
const CHUNK_MAX: usize = 64 * 1024 + 4096;

/// A time as text.
pub fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// An engine to export from, and its clock.
#[derive(Debug)]
pub struct Stage {
    /// The engine.
    pub engine: Engine,
    /// Its clock.
    pub clock: ManualClock,
    _folder: Option<TempDir>,
}

impl Stage {
    /// Of an engine that is open already, with this clock.
    pub fn from_engine(engine: Engine, clock: ManualClock) -> Self {
        Self {
            engine,
            clock,
            _folder: None,
        }
    }

    /// Of a new engine in memory.
    pub fn in_memory() -> Self {
        let clock = ManualClock::new(time("2026-11-20T12:00:00Z"));
        let builder = Engine::builder().clock(clock.clone()).seed(1);
        Self::from_engine(builder.open_in_memory().unwrap(), clock)
    }

    /// Of a new engine on a file, with the queue there.
    pub fn on_file(queue: QueueStorage) -> Self {
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

    /// The body of an export.
    pub fn body(&self, query: &ExportQuery, format: ExportFormat) -> ResponseBody {
        self.engine.export_body(query.clone(), format).unwrap()
    }

    /// An export as NDJSON, line by line.
    pub fn lines(&self, query: &ExportQuery) -> Vec<Value> {
        values(&read(self.body(query, ExportFormat::Ndjson), |_| ()))
    }
}

/// Reads a body to its end; calls `between` with the number of each chunk after it.
pub fn read(mut body: ResponseBody, mut between: impl FnMut(usize)) -> Vec<u8> {
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

/// The lines of NDJSON.
pub fn values(body: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(body).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The number of times that each id appears.
pub fn ids(lines: &[Value]) -> BTreeMap<i64, usize> {
    let mut ids = BTreeMap::new();
    for line in lines {
        *ids.entry(line["id"].as_i64().unwrap()).or_default() += 1;
    }
    ids
}

/// Asserts that `count` ids appear, each once.
pub fn once_each(ids: &BTreeMap<i64, usize>, count: i32) {
    assert_eq!(ids.len(), usize::try_from(count).unwrap());
    assert!(ids.values().all(|times| *times == 1));
}

/// A record of an instance, with its id.
pub fn stats(id: i32, instance: u32, update_time: Option<Timestamp>) -> Record {
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
pub fn scattered(id: i32) -> Timestamp {
    let second = id.wrapping_mul(48_271).rem_euclid(60 * 3600);
    time("2026-11-18T00:00:00Z").plus_seconds(second.into())
}

/// Records of many instances over three days, posted in four batches; all but the last are filed.
pub fn scattered_days(stage: &Stage, count: i32) {
    for part in 0..4 {
        let ids = (0..count).filter(|id| id % 4 == part);
        let records: Vec<_> = ids
            .map(|id| stats(id, id.unsigned_abs() % 70, Some(scattered(id))))
            .collect();
        stage.engine.record_all(&records).unwrap();
        if part < 3 {
            stage.engine.file_pending().unwrap();
        }
    }
}
