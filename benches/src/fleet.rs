//! A synthetic fleet of desktops that report statistics, the bulk of what the engine stores.
//!
//! Each desktop has a user with working hours. Its reports follow from the user's activity: load, free memory in whole
//! pages, volumes that fill in whole clusters, rates with two decimals. The same seed gives the same fleet.

#![expect(
    clippy::cast_precision_loss,
    reason = "synthetic figures are far below 2^53"
)]

use std::fmt::Write;

use bytes::Bytes;
use deskfleet::fields::{FieldValue, Fields};
use deskfleet::{Nullable, StatsRecord, Timestamp};

/// Bytes of a page of memory and of a cluster of a volume.
const PAGE: i64 = 4096;
const GIB: i64 = 1 << 30;
const TICKS_PER_MS: i64 = 10_000;
const MS_PER_HOUR: i64 = 3_600_000;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

/// A record and when it reaches the engine.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What the agent sends.
    pub record: StatsRecord,
    /// When it is received: some ten milliseconds after it was taken, to the tick of 100 ns.
    pub arrives: Timestamp,
}

/// Desktops whose agents report at one interval, each at its own second of it.
#[derive(Debug)]
pub struct Fleet {
    desktops: Vec<Desktop>,
    interval_ms: i64,
}

impl Fleet {
    /// `count` desktops that begin to report within the first interval after `start`.
    #[must_use]
    pub fn new(seed: u64, count: u32, interval_seconds: u32, start: Timestamp) -> Self {
        let interval_ms = i64::from(interval_seconds) * 1000;
        let start_ms = start.ticks() / TICKS_PER_MS;
        let desktop = |number| Desktop::new(seed, number, start_ms, interval_ms);
        Self {
            desktops: (0..count).map(desktop).collect(),
            interval_ms,
        }
    }

    /// The next sample of every desktop, in the order in which they arrive.
    pub fn round(&mut self) -> Vec<Sample> {
        let interval_ms = self.interval_ms;
        let desktops = self.desktops.iter_mut();
        let mut samples: Vec<_> = desktops
            .map(|desktop| desktop.sample(interval_ms))
            .collect();
        samples.sort_by_key(|sample| sample.arrives);
        samples
    }
}

/// The name of a desktop of every fleet.
#[must_use]
pub fn instance_name(number: u32) -> String {
    // Spread over the names as those of a directory are, not consecutive.
    format!("ws-{:09x}", u64::from(number) * 2_654_435_761 % (1 << 36))
}

/// `SplitMix64`, and some shapes.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly from 0 to 1.
    fn even(&mut self) -> f64 {
        let bits = u32::try_from(self.next() >> 32).expect("32 bits");
        f64::from(bits) / f64::from(u32::MAX)
    }

    fn chance(&mut self, of: f64) -> bool {
        self.even() < of
    }

    fn between(&mut self, from: i64, to: i64) -> i64 {
        let width = u64::try_from(to - from + 1).expect("a range");
        from + i64::try_from(self.next() % width).expect("within the range")
    }

    /// About normal, around 0 with a deviation of 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.even()).sum::<f64>() - 6.0
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.even()).max(1e-9).ln()
    }

    /// Log-normal: half of the values are below `median`.
    fn skewed(&mut self, median: f64, spread: f64) -> f64 {
        median * (self.normal() * spread).exp()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let places = u64::try_from(all.len()).expect("a length");
        let place = usize::try_from(self.next() % places).expect("a place");
        *all.get(place).expect("a place in the list")
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest integer is meant; synthetic figures are far below the limits"
)]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

/// As an agent rounds a rate: two decimals, single precision.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest single is meant"
)]
fn two_decimals(value: f64) -> f32 {
    ((value * 100.0).round() / 100.0) as f32
}

/// One desktop, in the state of its next sample.
#[derive(Debug)]
struct Desktop {
    random: Random,
    name: String,
    user: String,
    compute_type: &'static str,
    os_version: &'static str,
    id: i32,
    processors: i32,
    physical: i64,
    page_file: i64,
    root_total: i64,
    user_total: i64,
    /// Free pages of memory and of what may be committed; free clusters of the volumes.
    free_pages: f64,
    free_commit: f64,
    root_free: i64,
    user_free: i64,
    /// Hours of the day between which the user works.
    work: (f64, f64),
    /// Activity of the user, 0 to 1.
    busy: f64,
    boot_ms: i64,
    next_ms: i64,
}

impl Desktop {
    fn new(seed: u64, number: u32, start_ms: i64, interval_ms: i64) -> Self {
        let mut random = Random(seed ^ (u64::from(number) << 32));
        random.next();
        let (compute_type, processors, memory) = random.one_of(&[
            ("STANDARD", 2, 4),
            ("STANDARD", 2, 4),
            ("PERFORMANCE", 2, 8),
            ("POWER", 4, 16),
            ("POWERPRO", 8, 32),
        ]);
        // The system does not see memory reserved by the firmware.
        let physical = memory * GIB - random.between(100, 2000) * PAGE;
        let begins = 7.0 + 3.0 * random.even();
        let root_total = 80 * GIB - PAGE;
        let user_total = random.one_of(&[10, 50, 100]) * GIB - PAGE;
        let page_file = physical / 4 / PAGE * PAGE;
        Self {
            name: instance_name(number),
            user: format!(
                "{}.{}{}",
                random.one_of(&["anna", "john", "maria", "li", "oluwaseun", "p"]),
                random.one_of(&["smith", "garcia", "wang", "mueller", "o"]),
                number
            ),
            compute_type,
            os_version: random.one_of(&["10.0.17763", "10.0.20348", "10.0.19045"]),
            id: i32::try_from(random.between(1, 2_000_000)).expect("in range"),
            processors,
            physical,
            page_file,
            root_total,
            user_total,
            free_pages: 0.55 * (physical / PAGE) as f64,
            free_commit: 0.5 * ((physical + page_file) / PAGE) as f64,
            root_free: random.between(5_000_000, 14_000_000),
            user_free: user_total / PAGE * random.between(20, 90) / 100,
            work: (begins, begins + 7.5 + 2.5 * random.even()),
            busy: 0.0,
            boot_ms: start_ms - random.between(MS_PER_HOUR, 9 * MS_PER_DAY),
            next_ms: start_ms + random.between(0, interval_ms - 1),
            random,
        }
    }

    fn sample(&mut self, interval_ms: i64) -> Sample {
        self.live(interval_ms);
        let record = self.record();
        // The agent sleeps for the interval after it has done its work, so it drifts.
        let worked_ms = whole(self.random.skewed(25.0, 0.4));
        let travelled = whole(self.random.skewed(35.0, 0.5) * 10_000.0);
        let arrives = Timestamp::from_ticks((self.next_ms + worked_ms) * TICKS_PER_MS + travelled);
        self.next_ms += interval_ms + worked_ms;
        Sample { record, arrives }
    }

    /// Lets the time since the previous sample pass.
    fn live(&mut self, interval_ms: i64) {
        let steps = (interval_ms as f64 / 60_000.0).max(0.1);
        self.be_busy(steps);
        let night = self.next_ms.rem_euclid(MS_PER_DAY) / MS_PER_HOUR == 3;
        let hour_of_samples = MS_PER_HOUR as f64 / interval_ms as f64;
        if night && self.random.chance(0.2 / hour_of_samples) {
            self.restart();
        }
        let (busy, random) = (self.busy, &mut self.random);
        let pages = (self.physical / PAGE) as f64;
        let wanted = pages * (0.6 - 0.35 * busy);
        let spread = pages * (0.0004 + 0.006 * busy) * steps.sqrt();
        let moved = (wanted - self.free_pages) * 0.02 * steps + spread * random.normal();
        self.free_pages = (self.free_pages + moved).clamp(0.02 * pages, 0.9 * pages);
        // Most memory that programs take is also committed; the cache of the system is not.
        let most = ((self.physical + self.page_file) / PAGE) as f64;
        let committed = 0.7 * moved + 0.4 * spread * random.normal();
        self.free_commit = (self.free_commit + committed).clamp(0.05 * most, 0.95 * most);
        if random.chance(0.5 + 0.5 * busy) {
            let written = random.exponential(30.0 + 900.0 * busy) * steps.sqrt();
            let removed = if random.chance(0.03) {
                written * 25.0
            } else {
                0.0
            };
            self.root_free += whole(removed - written);
            self.root_free = self.root_free.clamp(0, self.root_total / PAGE);
        }
        if random.chance(0.7 * busy) {
            self.user_free -= whole(random.exponential(250.0));
            self.user_free = self.user_free.clamp(0, self.user_total / PAGE);
        }
    }

    /// Busy in the working hours of a weekday, less so at noon, for varying periods.
    fn be_busy(&mut self, steps: f64) {
        let day = self.next_ms.div_euclid(MS_PER_DAY);
        let hour = self.next_ms.rem_euclid(MS_PER_DAY) as f64 / MS_PER_HOUR as f64;
        // 1970-01-01 was a Thursday.
        let weekday = (day + 3).rem_euclid(7) < 5;
        let at_work = weekday && hour >= self.work.0 && hour < self.work.1;
        if !at_work {
            self.busy = 0.0;
            return;
        }
        let usual = if (12.0..13.0).contains(&hour) {
            0.1
        } else {
            0.5
        };
        let change = (usual - self.busy) * 0.1 * steps.min(5.0) + 0.12 * self.random.normal();
        self.busy = (self.busy + change).clamp(0.02, 1.0);
    }

    fn restart(&mut self) {
        self.next_ms += self.random.between(45_000, 180_000);
        self.boot_ms = self.next_ms - self.random.between(20_000, 40_000);
        self.free_pages = 0.7 * (self.physical / PAGE) as f64;
        self.free_commit = 0.8 * ((self.physical + self.page_file) / PAGE) as f64;
    }

    fn record(&mut self) -> StatsRecord {
        let (busy, random) = (self.busy, &mut self.random);
        self.id += 1;
        let load = random.exponential(1.2) + busy * random.skewed(18.0, 0.6);
        let reads = random.exponential(0.15) + busy * random.exponential(9.0);
        let writes = random.skewed(1.1, 0.35) + busy * random.exponential(14.0);
        let received = random.skewed(320.0, 0.3) + busy * random.skewed(22_000.0, 0.9);
        let sent = random.skewed(410.0, 0.25) + busy * random.skewed(60_000.0, 1.0);
        // Read a little after the time of the sample.
        let up_ms = self.next_ms + random.between(0, 15) - self.boot_ms;
        let available = whole(self.free_pages) * PAGE;
        StatsRecord {
            id: Some(self.id),
            compute_type_name: self.compute_type.into(),
            update_time: Some(Timestamp::from_ticks(self.next_ms * TICKS_PER_MS)),
            username: self.user.as_str().into(),
            processor_count: Some(self.processors),
            processor_in_use: i32::try_from(whole(load.min(100.0))).ok(),
            physical_memory: Some(self.physical),
            available_physical_memory: Some(available),
            virtual_memory: Some(self.physical + self.page_file),
            available_virtual_memory: Some(whole(self.free_commit) * PAGE),
            memory_in_use: Some(self.physical - available),
            root_total: Some(self.root_total),
            root_available: Some(self.root_free * PAGE),
            user_total: Some(self.user_total),
            user_available: Some(self.user_free * PAGE),
            disk_reads: Some(two_decimals(reads)),
            disk_writes: Some(two_decimals(writes)),
            network_received: Some(two_decimals(received)),
            network_sent: Some(two_decimals(sent)),
            uptime: Nullable::Value(up_ms as f64 / 1000.0),
            os_version: self.os_version.into(),
            tenant_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7".into(),
            instance_id: self.name.as_str().into(),
        }
    }
}

/// The record as an agent posts it: every field in the order of the interface document.
///
/// # Panics
/// When a field is absent; those of a [`Fleet`] are not.
#[must_use]
pub fn json_of(record: &StatsRecord) -> Bytes {
    let mut out = String::with_capacity(700);
    for (index, spec) in record.specs().iter().enumerate() {
        let comma = if index == 0 { '{' } else { ',' };
        let name = spec.name;
        let written = match record.get(index).expect("every field is there") {
            FieldValue::Int(value) => write!(out, "{comma}\"{name}\":{value}"),
            FieldValue::Float(value) => write!(out, "{comma}\"{name}\":{value:?}"),
            FieldValue::Double(value) => write!(out, "{comma}\"{name}\":{value:?}"),
            FieldValue::Text(text) => write!(out, "{comma}\"{name}\":\"{text}\""),
            FieldValue::Time(time) => write!(out, "{comma}\"{name}\":\"{time}\""),
            FieldValue::Null | FieldValue::Items(_) => write!(out, "{comma}\"{name}\":null"),
        };
        written.expect("a string takes it");
    }
    out.push('}');
    out.into()
}
