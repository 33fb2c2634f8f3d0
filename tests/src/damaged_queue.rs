//! A store in a folder whose queue is damaged under it.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use deskfleet::{
    Engine, EngineBuilder, ErrorKind, Event, HistoryQuery, ManualClock, Record, StatsRecord,
    Stream, Workspace, error_chain,
};

/// The time of its clock.
pub const NOW: &str = "2026-11-20T08:00:00Z";

/// Where the first frame of a segment begins.
pub const SECTOR: u64 = 512;
/// Bytes of a frame of one block before the block.
pub const FRAME_HEAD: u64 = 36;

/// A builder with a clock that stands still.
pub fn builder() -> EngineBuilder {
    let clock = ManualClock::new(NOW.parse().unwrap());
    Engine::builder().clock(clock).seed(1)
}

/// The one workspace.
pub fn workspace() -> Workspace {
    Workspace {
        id: "ws-1".into(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

/// Posts a record of the instance `i-1`.
///
/// # Errors
/// What the engine refused.
pub fn post(engine: &Engine, id: i32) -> deskfleet::Result<()> {
    engine.record(Record::Stats(Box::new(StatsRecord {
        id: Some(id),
        instance_id: "i-1".into(),
        username: "jdoe".into(),
        ..StatsRecord::default()
    })))
}

/// The history of the instance.
///
/// # Errors
/// What the engine refused.
pub fn records(engine: &Engine) -> deskfleet::Result<Vec<Record>> {
    let page = engine.history(&HistoryQuery::new(Stream::Stats, "i-1"))?;
    let records = page.records.into_iter();
    Ok(records.map(|received| received.record).collect())
}

/// The ids of the records in the history of the instance.
pub fn ids(engine: &Engine) -> Vec<i32> {
    let records = records(engine).unwrap();
    records.iter().map(id_of).collect()
}

/// The id of a record.
pub fn id_of(record: &Record) -> i32 {
    match record {
        Record::Stats(stats) => stats.id.unwrap(),
        Record::Activity(_) | Record::Startup(_) | Record::Processes(_) => panic!("not a Stats"),
    }
}

/// The path of what is beside a store.
pub fn beside(store: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", store.display()))
}

/// The first segment of its queue.
pub fn segment(store: &Path) -> PathBuf {
    beside(store, "-queue").join("000000.segment")
}

/// Inverts bytes of the first segment.
pub fn damage(store: &Path, offset: u64, count: usize) {
    let segment = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(segment(store))
        .unwrap();
    let mut bytes = vec![0; count];
    segment.read_exact_at(&mut bytes, offset).unwrap();
    for byte in &mut bytes {
        *byte = !*byte;
    }
    segment.write_all_at(&bytes, offset).unwrap();
}

/// A store in `folder` with three frames of one record each that are not filed, and one that is.
pub fn filled(folder: &Path) -> (PathBuf, Engine) {
    let path = folder.join("fleet.redb");
    let engine = builder().open(&path).unwrap();
    engine.put_workspace(workspace()).unwrap();
    for id in 0..4 {
        post(&engine, id).unwrap();
        if id == 0 {
            engine.file_pending().unwrap();
        }
    }
    (path, engine)
}

/// The offset of the frame of the n-th record, and the length of its block.
pub fn frame(store: &Path, n: u64) -> (u64, u64) {
    let segment = fs::read(segment(store)).unwrap();
    let offset = SECTOR * (n + 1);
    let at = usize::try_from(offset + FRAME_HEAD - 4).unwrap();
    let length: [u8; 4] = segment[at..at + 4].try_into().unwrap();
    (offset, u32::from_le_bytes(length).into())
}

/// Whether the engine says that it is damaged.
pub fn is_damaged(engine: &Engine) -> bool {
    match engine.ready() {
        Ok(()) => false,
        Err(error) => {
            assert_eq!(
                error.kind(),
                ErrorKind::Corrupted,
                "{}",
                error_chain(&error)
            );
            true
        }
    }
}

/// Keeps the reports of damage.
pub fn reporting(builder: EngineBuilder) -> (EngineBuilder, Arc<Mutex<Vec<String>>>) {
    let message = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&message);
    let builder = builder.observer(move |event: &Event<'_>| {
        if let Event::Damaged { error } = event {
            kept.lock().unwrap().push(error.to_string());
        }
    });
    (builder, message)
}
