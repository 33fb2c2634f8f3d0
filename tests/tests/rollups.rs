//! The rollups of any sequence of posts, filings, restarts and power cuts are those of the same records filed in one pass.
//!
//! `ROLLUP_SEEDS=1000 cargo test -p deskfleet-tests --test suites rollups::` runs more seeds than the default.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use deskfleet::{
    ActivityRecord, Clock as _, Config, Engine, Event, ManualClock, ProcessReport, Received,
    Record, StartupRecord, StatsRecord, Stream, Timestamp, Workspace, query::ExportQuery,
};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::{Contents, Queue};
use fastrand::Rng;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

const ROLLUPS: [Definition; 3] = [
    TableDefinition::new("latest"),
    TableDefinition::new("daily"),
    TableDefinition::new("hourly"),
];
const NOW: &str = "2026-11-20T08:00:00Z";

/// The seeds of a run.
fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("ROLLUP_SEEDS").ok();
    0..count.map_or(60, |count| count.parse().expect("a number of seeds"))
}

/// The durable content of a disk after each commit.
type Images = Arc<Mutex<Vec<Contents>>>;

/// An engine over a disk, and what its commits left on it.
struct Run {
    disk: Disk,
    queue: Queue,
    clock: ManualClock,
    engine: Engine,
    /// The content after each commit since the last time it was looked at.
    images: Images,
}

fn open(disk: &Disk, queue: Queue, clock: &ManualClock, images: &Images) -> Engine {
    let (watched, kept) = (disk.clone(), Arc::clone(images));
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    let builder = builder.observer(move |event: &Event<'_>| {
        if matches!(event, Event::Committed { .. }) {
            kept.lock().unwrap().push(watched.durable());
        }
    });
    queue.open(builder, &Config::default(), disk).unwrap()
}

impl Run {
    fn begin(queue: Queue) -> Self {
        let (disk, images) = (Disk::crashing(), Arc::default());
        let clock = ManualClock::new(NOW.parse().unwrap());
        let engine = open(&disk, queue, &clock, &images);
        for (id, region) in [("ws-1", "eu-central-1"), ("ws-2", "us-east-1")] {
            let workspace = Workspace {
                id: id.into(),
                computer_name: Some(format!("PC-{id}")),
                region: Some(region.into()),
                running_mode: Some("AUTO_STOP".into()),
                compute_type_name: Some("STANDARD".into()),
                ..Workspace::default()
            };
            engine.put_workspace(workspace).unwrap();
        }
        Self {
            disk,
            queue,
            clock,
            engine,
            images,
        }
    }

    fn step(&mut self, random: &mut Rng) {
        match random.u8(..10) {
            0..6 => {
                let records: Vec<_> = (0..random.usize(1..20))
                    .map(|_| record(random, self.clock.now()))
                    .collect();
                self.engine.record_all(&records).unwrap();
                if random.bool() {
                    // A retry, of which some are filed already.
                    self.engine.record_all(&records).unwrap();
                }
            }
            6 | 7 => {
                self.engine.file_pending().unwrap();
            }
            8 => self.clock.advance_seconds(random.i64(1..20_000)),
            _ => {
                // What the old engine still does when it is dropped goes nowhere.
                self.disk = Disk::crashing_with(self.disk.durable());
                self.engine = open(&self.disk, self.queue, &self.clock, &self.images);
            }
        }
    }
}

/// A record of one of a few instances, users and times, so that some repeat others and many are late.
fn record(random: &mut Rng, now: Timestamp) -> Record {
    let instances = ["ws-1", "WS-1", "ws-2", "pc-ws-2", "unknown", ""];
    let users = ["jdoe", "CORP\\JDoe", "mia", ""];
    let late = [0, 0, 0, 300, 4000, 90_000, 400_000];
    let instance_id = instances[random.usize(..instances.len())].into();
    let username = users[random.usize(..users.len())].into();
    let at = now.plus_seconds(-late[random.usize(..late.len())] - random.i64(0..4) * 60);
    let at = random.u8(..10).ne(&0).then_some(at);
    match random.u8(..8) {
        0 => Record::from(ActivityRecord {
            activity_time: at,
            username,
            instance_id,
            ..ActivityRecord::default()
        }),
        1 => Record::from(StartupRecord {
            baseline_utc: at,
            total_ms: random.bool().then(|| random.i32(-5..90_000)),
            profile_ms: random.bool().then(|| random.i32(0..9000)),
            username,
            instance_id,
            ..StartupRecord::default()
        }),
        2 => Record::from(ProcessReport {
            created_date: at,
            username,
            instance_id,
            ..ProcessReport::default()
        }),
        _ => Record::from(StatsRecord {
            update_time: at,
            processor_in_use: random.bool().then(|| random.i32(-2..120)),
            physical_memory: Some(random.i64(0..3) * 4096),
            available_physical_memory: random.bool().then(|| random.i64(0..4096)),
            network_sent: random.bool().then(|| random.f32() * 1e9),
            uptime: f64::from(random.i32(0..100_000)).into(),
            username,
            instance_id,
            ..StatsRecord::default()
        }),
    }
}

type Rows = BTreeMap<(usize, Vec<u8>), Vec<u8>>;

/// The rollups on a disk whose engine is closed, by table and key.
fn rollups(disk: &Disk) -> Rows {
    let database = Database::builder()
        .create_with_backend(disk.backend())
        .unwrap();
    let read = database.begin_read().unwrap();
    let mut rows = Rows::new();
    for (table, definition) in ROLLUPS.into_iter().enumerate() {
        for entry in read.open_table(definition).unwrap().iter().unwrap() {
            let (key, value) = entry.unwrap();
            rows.insert((table, key.value().to_vec()), value.value().to_vec());
        }
    }
    rows
}

/// All records of an engine, in the order of their receipt.
fn exported(engine: &Engine) -> Vec<Received> {
    let of_stream = |stream| engine.export(ExportQuery::new(stream));
    let all = Stream::ALL.into_iter().flat_map(of_stream);
    let mut all: Vec<_> = all.collect::<Result<_, _>>().unwrap();
    all.sort_by_key(|received| received.received_at);
    all
}

/// The rollups of a new engine that gets these records at their times of receipt, and files them in one pass.
fn reposted(received: &[Received], queue: Queue) -> Rows {
    let run = Run::begin(queue);
    for batch in received.chunk_by(|a, b| a.received_at == b.received_at) {
        run.clock.set(batch[0].received_at);
        let records: Vec<_> = batch.iter().map(|one| one.record.clone()).collect();
        run.engine.record_all(&records).unwrap();
    }
    assert_eq!(exported(&run.engine), received);
    run.engine.close().unwrap();
    rollups(&run.disk)
}

fn check(disk: &Disk, queue: Queue, clock: &ManualClock, case: &str) {
    let engine = open(disk, queue, clock, &Arc::default());
    engine.file_pending().unwrap();
    let report = engine.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "{case}");
    let received = exported(&engine);
    engine.close().unwrap();
    assert_eq!(rollups(disk), reposted(&received, queue), "{case}");
}

#[test]
fn rollups_after_any_run_equal_those_of_one_pass() {
    for seed in seeds() {
        let queue = Queue::ALL[usize::from(seed % 2 == 1)];
        let mut random = Rng::with_seed(seed);
        let mut run = Run::begin(queue);
        for _ in 0..random.usize(5..30) {
            run.step(&mut random);
        }
        run.engine.close().unwrap();
        check(&run.disk, queue, &run.clock, &format!("seed {seed}"));
    }
}

#[test]
fn rollups_after_a_power_cut_after_any_commit_equal_those_of_one_pass() {
    for seed in seeds().step_by(6) {
        let queue = Queue::ALL[usize::from(seed % 4 == 0)];
        let mut random = Rng::with_seed(seed);
        let mut run = Run::begin(queue);
        for _ in 0..12 {
            run.step(&mut random);
        }
        run.engine.file_pending().unwrap();
        let images = std::mem::take(&mut *run.images.lock().unwrap());
        for (commit, image) in images.iter().enumerate() {
            let image = Disk::crashing_with(image.clone());
            check(
                &image,
                queue,
                &run.clock,
                &format!("seed {seed}, commit {commit}"),
            );
        }
    }
}
