//! Days of a fleet, recorded with the typed API: each instance is sampled every five minutes of the manual clock.

use deskfleet::{ActivityRecord, Clock, Nullable, Record, StatsRecord, Timestamp};

use crate::fixture::Fixture;

/// Pause between two samples of an instance.
pub const STEP_SECONDS: i64 = 300;
/// Samples of an hour.
pub const STEPS_AN_HOUR: usize = 12;
/// Samples of a day.
pub const STEPS_A_DAY: usize = 24 * STEPS_AN_HOUR;
/// Records of one commit where only the result matters.
pub const BATCH: usize = 10_000;

/// The id of an instance.
#[must_use]
pub fn instance_id(instance: usize) -> String {
    format!("ws-{instance:09}")
}

/// The measurements of an instance at a time: levels that change a little from sample to sample, with realistic
/// precision.
#[must_use]
pub fn stats_sample(instance: usize, time: Timestamp) -> Record {
    let noise = Noise::new(instance, time);
    let used = 1_200_000_000 + i64::from(noise.below(1, 500_000)) * 4096;
    let record = StatsRecord {
        id: Some(i32::try_from(instance).unwrap_or(i32::MAX)),
        compute_type_name: text("STANDARD"),
        update_time: Some(time),
        username: text(&format!("user{instance}")),
        processor_count: Some(2),
        processor_in_use: Some(noise.percent(2)),
        physical_memory: Some(4_294_967_296),
        available_physical_memory: Some(4_294_967_296 - used),
        virtual_memory: Some(8_589_934_592),
        available_virtual_memory: Some(8_589_934_592 - used),
        memory_in_use: Some(used),
        root_total: Some(85_899_345_920),
        root_available: Some(42_949_672_960 - i64::from(noise.below(3, 1000)) * 4096),
        user_total: Some(53_687_091_200),
        user_available: Some(26_843_545_600 - i64::from(noise.below(4, 1000)) * 4096),
        disk_reads: Some(noise.hundredths(5)),
        disk_writes: Some(noise.hundredths(6)),
        network_received: Some(noise.hundredths(7)),
        network_sent: Some(noise.hundredths(8)),
        uptime: Nullable::Value(f64::from(noise.below(9, 1_000_000))),
        os_version: text("10.0.17763"),
        tenant_id: text("tenant-1"),
        instance_id: text(&instance_id(instance)),
    };
    Record::Stats(Box::new(record))
}

/// A logon or logoff at an instance.
#[must_use]
pub fn activity_sample(instance: usize, time: Timestamp) -> Record {
    let names = ["Logon", "Logoff", "Lock", "Unlock"];
    let kind = usize::try_from(Noise::new(instance, time).below(1, 4)).unwrap_or_default();
    let record = ActivityRecord {
        id: None,
        compute_type_name: text("STANDARD"),
        username: text(&format!("user{instance}")),
        activity: text(names.get(kind).unwrap_or(&"Logon")),
        activity_time: Some(time),
        instance_id: text(&instance_id(instance)),
        tenant_id: text("tenant-1"),
    };
    Record::Activity(Box::new(record))
}

fn text(text: &str) -> Nullable<String> {
    Nullable::Value(text.to_owned())
}

impl Fixture {
    /// Advances the clock by `steps` samples, and lets each of `instances` instances post at every one of them.
    ///
    /// # Panics
    /// When a record is refused.
    pub fn sample(&self, instances: usize, steps: usize) {
        for _ in 0..steps {
            self.clock.advance_seconds(STEP_SECONDS);
            let time = self.clock.now();
            self.record(
                BATCH,
                (0..instances).map(|instance| stats_sample(instance, time)),
            );
        }
    }

    /// The same for `hours` hours; the records are filed every hour.
    ///
    /// # Panics
    /// When a record is refused.
    pub fn live(&self, instances: usize, hours: usize) {
        for _ in 0..hours {
            self.sample(instances, STEPS_AN_HOUR);
            self.engine.file_pending().expect("records are filed");
        }
    }

    /// Records all of them, `n` per commit.
    ///
    /// # Panics
    /// When one is refused.
    pub fn record(&self, commit: usize, records: impl Iterator<Item = Record>) {
        let mut records = records.peekable();
        while records.peek().is_some() {
            let batch: Vec<_> = records.by_ref().take(commit).collect();
            self.engine
                .record_all(&batch)
                .expect("records are accepted");
        }
    }
}

/// Pseudo-random numbers, determined by instance and time.
#[derive(Clone, Copy)]
struct Noise(u64);

impl Noise {
    fn new(instance: usize, time: Timestamp) -> Self {
        let instance = (instance as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self(instance ^ time.ticks().unsigned_abs())
    }

    /// One of the numbers of this sample, less than `bound`.
    fn below(self, which: u64, bound: u32) -> u32 {
        let mut mixed = self
            .0
            .wrapping_add(which.wrapping_mul(0xBF58_476D_1CE4_E5B9));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        u32::try_from(mixed % u64::from(bound)).unwrap_or_default()
    }

    fn percent(self, which: u64) -> i32 {
        i32::try_from(self.below(which, 100)).unwrap_or_default()
    }

    /// Up to 1000, in steps of a hundredth.
    fn hundredths(self, which: u64) -> f32 {
        let whole = u16::try_from(self.below(which, 1000)).unwrap_or_default();
        let part = u16::try_from(self.below(which + 100, 100)).unwrap_or_default();
        f32::from(whole) + f32::from(part) / 100.0
    }
}
