//! How many instances sent something lately: what an engine keeps in memory equals what one that was just opened reads from the file.

use deskfleet::{
    ActivityRecord, Clock as _, Config, Engine, ManualClock, Record, StatsRecord, Timestamp,
    Workspace,
};
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::files::Queue;
use fastrand::Rng;

const NOW: &str = "2026-11-20T08:00:00Z";
const SEEDS: u64 = 40;
const STEPS: usize = 60;
/// Far beyond what one step files, so that changes gather over many commits.
const INSTANCES: u32 = 40;

/// An engine, the disk below it, and what it was asked.
struct Run {
    disk: Disk,
    queue: Queue,
    clock: ManualClock,
    engine: Engine,
    /// The answers, so that a run which never had anything to count is noticed.
    counted: u64,
}

fn open(disk: &Disk, queue: Queue, clock: &ManualClock) -> Engine {
    let mut config = Config::default();
    config.retention_days.rollups = 1;
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    queue.open(builder, &config, disk).unwrap()
}

impl Run {
    fn begin(queue: Queue) -> Self {
        let disk = Disk::crashing();
        let clock = ManualClock::new(NOW.parse().unwrap());
        let engine = open(&disk, queue, &clock);
        Self {
            disk,
            queue,
            clock,
            engine,
            counted: 0,
        }
    }

    fn step(&mut self, random: &mut Rng) {
        match random.u8(..20) {
            0..8 => self.post(random),
            8..12 => {
                self.engine.file_pending().unwrap();
            }
            12 | 13 => self.clock.advance_seconds(random.i64(1..2000)),
            14 => self.clock.advance_seconds(random.i64(1..200_000)),
            15 => {
                let back = self.clock.now().plus_seconds(-random.i64(1..400_000));
                self.clock.set(back);
            }
            16 => self.engine.apply_retention().unwrap(),
            17 => self.engine.maintain().unwrap(),
            18 => self.fail(random),
            _ => {
                // What the old engine still does when it is dropped goes nowhere.
                self.disk = Disk::crashing_with(self.disk.durable());
                self.engine = open(&self.disk, self.queue, &self.clock);
            }
        }
    }

    fn post(&self, random: &mut Rng) {
        let now = self.clock.now();
        let records: Vec<_> = (0..random.usize(1..60))
            .map(|_| record(random, now))
            .collect();
        self.engine.record_all(&records).unwrap();
    }

    /// Files on a disk that fails at some operation; some of it may be done.
    fn fail(&self, random: &mut Rng) {
        self.post(random);
        let operation = [Operation::Write, Operation::Sync][random.usize(..2)];
        self.disk.fail(Fault::Once(operation, random.u64(..6)));
        let _ = self.engine.file_pending();
        self.disk.fail(Fault::None);
        // Writes again what the failure left in doubt.
        let workspace = Workspace {
            id: "ws-1".into(),
            ..Workspace::default()
        };
        self.engine.put_workspace(workspace).unwrap();
    }

    fn compare(&mut self, message: &str) {
        let counts = |engine: &Engine| {
            let fleet = engine.query_fleet().unwrap();
            [fleet.reporting_15m, fleet.reporting_24h]
        };
        let kept = counts(&self.engine);
        let copy = Disk::holding(self.disk.durable());
        let read = counts(&open(&copy, self.queue, &self.clock));
        assert_eq!(kept, read, "{message}");
        self.counted += kept[1];
    }
}

/// A record of one of some instances, in one of two spellings; some are late, and a few have a time ahead.
fn record(random: &mut Rng, now: Timestamp) -> Record {
    let ages = [0, 0, 0, 0, 899, 900, 901, 4000, 86_399, 86_400, 90_000, -60];
    let at = Some(now.plus_seconds(-ages[random.usize(..ages.len())]));
    let spelling = ["pc", "PC"][random.usize(..2)];
    let instance_id = format!("{spelling}-{}", random.u32(..INSTANCES));
    let instance_id = instance_id.as_str().into();
    if random.bool() {
        return Record::from(ActivityRecord {
            activity_time: at,
            instance_id,
            ..ActivityRecord::default()
        });
    }
    Record::from(StatsRecord {
        update_time: at,
        instance_id,
        ..StatsRecord::default()
    })
}

#[test]
fn instances_that_report_after_any_run_are_those_that_the_file_has() {
    let mut counted = 0;
    for seed in 0..SEEDS {
        let queue = Queue::ALL[usize::from(seed % 2 == 1)];
        let mut random = Rng::with_seed(seed);
        let mut run = Run::begin(queue);
        for step in 0..STEPS {
            run.step(&mut random);
            if random.bool() {
                run.compare(&format!("seed {seed}, step {step}"));
            }
        }
        counted += run.counted;
    }
    assert!(counted > 1000, "{counted}");
}
