//! The rollups of groups of desktops by hour.
//!
//! Key: stream, 1 byte; hours since the year 1, 4 bytes big-endian; then the texts of the group.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::SLOWEST_STARTUPS;
use crate::model::metric::STARTUP_TOTAL;
use crate::model::{Metric, StartupRecord, Stream};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{Read, Step, Table};
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

use super::VERSION;
use super::distribution::Distribution;
use super::histogram::Quantiles;
use super::sample::{Sample, slot};
use super::slots::HOUR;
use super::summary::Summary;

/// Desktops that are counted together, by the properties of their workspace when the records were filed. Unknown texts are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group<T> {
    pub(crate) region: T,
    pub(crate) running_mode: T,
    pub(crate) compute_type: T,
}

impl Group<String> {
    pub(crate) fn as_deref(&self) -> Group<&str> {
        Group {
            region: &self.region,
            running_mode: &self.running_mode,
            compute_type: &self.compute_type,
        }
    }
}

/// The metrics of Stats, in the order of their distributions.
pub(crate) const STATS: [Metric; 2] = [Metric::Cpu, Metric::Memory];
/// The phases of a startup in the order of their distributions, in milliseconds; the last is the rest of the total.
pub(crate) const PHASES: [&str; 5] = ["total", "profile", "groupPolicy", "shell", "unattributed"];

/// The rollup of a group and an hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HourRollup {
    /// Records.
    pub(crate) count: u64,
    /// Of Stats those of [`STATS`], in hundredths; of Startup those of [`PHASES`].
    pub(crate) distributions: Vec<Distribution>,
    /// The slowest startups, slowest first.
    pub(crate) slowest: Vec<SlowStartup>,
}

/// A startup that took long.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SlowStartup {
    pub(crate) total_ms: i64,
    pub(crate) at: Timestamp,
    pub(crate) instance: String,
    pub(crate) username: String,
}

/// The hour of a time, counted from the year 1.
pub(crate) fn hour(time: Timestamp) -> u32 {
    time.day() * 24 + u32::try_from(slot(time) / HOUR).unwrap_or_default()
}

/// When an hour begins.
pub(crate) fn hour_start(hour: u32) -> Timestamp {
    Timestamp::from_day(hour / 24).plus_seconds(i64::from(hour % 24) * 3600)
}

pub(super) fn key(stream: Stream, hour: u32, group: Group<&str>) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.u8(stream.number());
    encoder.raw(&hour.to_be_bytes());
    encoder.text(group.region);
    encoder.text(group.running_mode);
    encoder.text(group.compute_type);
    encoder.finish()
}

/// The stream, hour and group of a key.
pub(super) fn read_key(key: &[u8]) -> Result<(Stream, u32, Group<&str>)> {
    let mut decoder = Decoder::new(key);
    let stream = Stream::numbered(decoder.u8()?).ok_or_else(damaged)?;
    let hour = u32::from_be_bytes(decoder.array()?);
    let group = Group {
        region: decoder.text()?,
        running_mode: decoder.text()?,
        compute_type: decoder.text()?,
    };
    decoder.finish()?;
    Ok((stream, hour, group))
}

impl HourRollup {
    /// Adds a Stats record of that hour.
    pub(super) fn add_sample(&mut self, sample: &Sample) {
        self.count = self.count.saturating_add(1);
        for (place, value) in sample.values.into_iter().take(STATS.len()).enumerate() {
            if let Some(value) = value {
                self.add_to(place, |distribution| distribution.add(value));
            }
        }
    }

    /// Adds a startup of that hour.
    pub(super) fn add_startup(&mut self, rows: &Rows, row: usize) {
        self.count = self.count.saturating_add(1);
        let phase = |name| {
            let mut fields = StartupRecord::FIELDS.iter();
            let index = fields.position(|spec| spec.name == name)?;
            rows.integer(row, index)
        };
        let total = rows.integer(row, STARTUP_TOTAL);
        let phases = ["profileMs", "groupPolicyMs", "shellMs"].map(phase);
        // In a damaged file they may be anything.
        let attributed = phases
            .into_iter()
            .try_fold(0, |sum: i64, phase| Some(sum.saturating_add(phase?)));
        let unattributed = total
            .zip(attributed)
            .map(|(total, known)| total.saturating_sub(known));
        let values = [total].into_iter().chain(phases).chain([unattributed]);
        for (place, value) in values.enumerate() {
            if let Some(value) = value {
                self.add_to(place, |distribution| distribution.add(value));
            }
        }
        if let Some(total_ms) = total {
            let startup = SlowStartup {
                total_ms,
                at: rows.filed_at(row),
                instance: rows.instance_id(row).to_owned(),
                username: rows.username(row).to_owned(),
            };
            add_slowest(&mut self.slowest, startup);
        }
    }

    /// Adds values to the distribution at `place`.
    fn add_to(&mut self, place: usize, add: impl FnOnce(&mut Distribution)) {
        if self.distributions.len() <= place {
            self.distributions
                .resize_with(place + 1, Distribution::default);
        }
        if let Some(distribution) = self.distributions.get_mut(place) {
            add(distribution);
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::with_capacity(512);
        encoder.u8(VERSION);
        encoder.varint(self.count);
        encoder.count(self.distributions.len());
        self.distributions
            .iter()
            .for_each(|distribution| distribution.encode(&mut encoder));
        encoder.count(self.slowest.len());
        for startup in &self.slowest {
            encoder.signed(startup.total_ms);
            encoder.time(startup.at);
            encoder.text(&startup.instance);
            encoder.text(&startup.username);
        }
        encoder.finish()
    }

    pub(super) fn decode(value: &[u8]) -> Result<Self> {
        let mut decoder = begin(value)?;
        let count = decoder.varint()?;
        let distributions = decoder.count()?;
        let distributions = (0..distributions).map(|_| Distribution::decode(&mut decoder));
        Ok(Self {
            count,
            distributions: distributions.collect::<Result<_>>()?,
            slowest: read_slowest(decoder)?,
        })
    }

    pub(super) fn get(read: &impl Read, key: &[u8]) -> Result<Option<Self>> {
        read.get(Table::Hourly, key, Self::decode)
    }
}

fn begin(value: &[u8]) -> Result<Decoder<'_>> {
    let mut decoder = Decoder::new(value);
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    Ok(decoder)
}

/// Reads the end of a rollup.
fn read_slowest(mut decoder: Decoder<'_>) -> Result<Vec<SlowStartup>> {
    let count = decoder.count()?;
    let slowest = (0..count).map(|_| {
        Ok(SlowStartup {
            total_ms: decoder.signed()?,
            at: decoder.time()?,
            instance: decoder.text()?.to_owned(),
            username: decoder.text()?.to_owned(),
        })
    });
    let slowest = slowest.collect::<Result<_>>()?;
    decoder.finish()?;
    Ok(slowest)
}

/// Adds a startup to the slowest, of which there are few.
fn add_slowest(slowest: &mut Vec<SlowStartup>, startup: SlowStartup) {
    let place = slowest.partition_point(|slower| *slower >= startup);
    slowest.insert(place, startup);
    slowest.truncate(SLOWEST_STARTUPS);
}

/// A rollup as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HourRef<'v>(&'v [u8]);

/// Rollups added up to read quantiles from, whatever their number.
#[derive(Debug, Default)]
pub(crate) struct HourTotals {
    /// Records.
    pub(crate) count: u64,
    /// As [`HourRollup::distributions`].
    pub(crate) distributions: Vec<Total>,
    /// The slowest startups, slowest first.
    pub(crate) slowest: Vec<SlowStartup>,
}

/// Distributions added up.
#[derive(Debug, Default)]
pub(crate) struct Total {
    pub(crate) summary: Summary,
    quantiles: Quantiles,
}

impl Total {
    /// As [`Quantiles::quantile`], and never outside of the values.
    pub(crate) fn quantile(&self, percent: u64) -> Option<i64> {
        let value = self.quantiles.quantile(percent)?;
        Some(value.max(self.summary.min).min(self.summary.max))
    }
}

impl HourTotals {
    /// Clears the sums and keeps the memory of quantiles.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.slowest.clear();
        for total in &mut self.distributions {
            total.summary = Summary::default();
            total.quantiles.clear();
        }
    }

    /// Adds a rollup.
    pub(crate) fn add(&mut self, HourRef(value): HourRef<'_>) -> Result<()> {
        let mut decoder = begin(value)?;
        self.count = self.count.saturating_add(decoder.varint()?);
        for place in 0..decoder.count()? {
            if self.distributions.len() <= place {
                self.distributions.push(Total::default());
            }
            let total = self.distributions.get_mut(place).ok_or_else(damaged)?;
            total.summary.merge(&Summary::decode(&mut decoder)?);
            total.quantiles.add_encoded(&mut decoder)?;
        }
        self.add_slowest(read_slowest(decoder)?);
        Ok(())
    }

    /// Adds startups that may be among the slowest.
    pub(crate) fn add_slowest(&mut self, startups: Vec<SlowStartup>) {
        for startup in startups {
            add_slowest(&mut self.slowest, startup);
        }
    }
}

/// Visits the rollups of a stream from the hour `from` to before the hour `to`, the newest hours first.
pub(crate) fn scan_back(
    read: &impl Read,
    stream: Stream,
    (from, to): (u32, u32),
    mut visit: impl FnMut(u32, Group<&str>, HourRef<'_>) -> Result<Step>,
) -> Result<()> {
    let (start, end) = (hour_prefix(stream, from), hour_prefix(stream, to));
    let range = (Bound::Included(&*start), Bound::Excluded(&*end));
    read.scan_back(Table::Hourly, range, |key, value| {
        let (_, hour, group) = read_key(key)?;
        visit(hour, group, HourRef(value))
    })
}

/// The prefix of the keys of an hour.
pub(crate) fn hour_prefix(stream: Stream, hour: u32) -> Vec<u8> {
    let mut key = vec![stream.number()];
    key.extend_from_slice(&hour.to_be_bytes());
    key
}
