//! The rollup of one instance and one day.

use crate::error::Result;
use crate::limits::ROLLUP_USERS_MAX;
use crate::model::{Metric, SessionChange, user_key};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::timestamp::Timestamp;

use super::histogram::Histogram;
use super::sample::{Sample, slot};
use super::slots::{HOUR, Slots};
use super::summary::Summary;

/// The metrics that a day has a summary of, in the order in which they are stored; of the first two also a histogram.
pub(crate) const SUMMARISED: [Metric; 9] = [
    Metric::Cpu,
    Metric::Memory,
    Metric::RootVolume,
    Metric::UserVolume,
    Metric::DiskReads,
    Metric::DiskWrites,
    Metric::NetworkReceived,
    Metric::NetworkSent,
    Metric::StartupTotal,
];
const HISTOGRAMS: usize = 2;
const HOURS: usize = 24;

/// The rollup of one instance and one day (UTC).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DayRollup {
    /// Of [`SUMMARISED`].
    pub(crate) summaries: [Summary; SUMMARISED.len()],
    /// Of cpu and memory.
    pub(crate) histograms: [Histogram; HISTOGRAMS],
    pub(crate) slots: DaySlots,
    /// Activity records by hour.
    pub(crate) activities: [u64; HOURS],
    /// The compare names of its users, the first [`ROLLUP_USERS_MAX`] in their order.
    pub(crate) users: Vec<String>,
}

/// The slots of a day, by what happened in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DaySlots {
    /// A Stats record named a user.
    pub(crate) connected: Slots,
    /// A Stats record had cpu or memory above [`OVERLOADED_PERCENT`](crate::limits::OVERLOADED_PERCENT).
    pub(crate) over: Slots,
    /// A Stats record had neither above it.
    pub(crate) calm: Slots,
    /// An activity began a session, or ended one.
    pub(crate) began: Slots,
    pub(crate) ended: Slots,
}

impl DaySlots {
    /// The slots of both.
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            connected: self.connected.union(&other.connected),
            over: self.over.union(&other.over),
            calm: self.calm.union(&other.calm),
            began: self.began.union(&other.began),
            ended: self.ended.union(&other.ended),
        }
    }
}

impl DayRollup {
    /// Adds a Stats record of that day.
    pub(super) fn add_sample(&mut self, sample: &Sample, is_connected: bool) {
        let [of_stats @ .., _] = &mut self.summaries;
        for (summary, value) in of_stats.iter_mut().zip(sample.values) {
            if let Some(value) = value {
                summary.add(value);
            }
        }
        for (histogram, value) in self.histograms.iter_mut().zip(sample.values) {
            if let Some(value) = value {
                histogram.add(value);
            }
        }
        let slot = slot(sample.at);
        match sample.is_over() {
            Some(true) => self.slots.over.insert(slot),
            Some(false) => self.slots.calm.insert(slot),
            None => {}
        }
        if is_connected {
            self.slots.connected.insert(slot);
        }
    }

    /// Adds an Activity record of that day.
    pub(super) fn add_activity(&mut self, at: Timestamp, change: Option<SessionChange>) {
        match change {
            Some(SessionChange::Begins) => self.slots.began.insert(slot(at)),
            // An activity at the end of a slot counts in that slot.
            Some(SessionChange::Ends) => {
                let last = Timestamp::from_ticks(at.ticks() - 1);
                let last = if last.day() == at.day() { last } else { at };
                self.slots.ended.insert(slot(last));
            }
            None => {}
        }
        if let Some(count) = self.activities.get_mut(slot(at) / HOUR) {
            *count = count.saturating_add(1);
        }
    }

    /// Adds the total of a startup of that day, in hundredths.
    pub(super) fn add_startup(&mut self, total: i64) {
        let [.., startup] = &mut self.summaries;
        startup.add(total);
    }

    /// Adds a user of the day.
    pub(super) fn add_user(&mut self, name: &str) {
        let name = user_key(name);
        let Err(place) = self.users.binary_search_by(|user| user.as_str().cmp(&name)) else {
            return;
        };
        if !name.is_empty() {
            self.users.insert(place, name.into_owned());
            self.users.truncate(ROLLUP_USERS_MAX);
        }
    }

    /// Adds all of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (summary, other) in self.summaries.iter_mut().zip(&other.summaries) {
            summary.merge(other);
        }
        for (histogram, other) in self.histograms.iter_mut().zip(&other.histograms) {
            histogram.merge(other);
        }
        self.slots = self.slots.union(&other.slots);
        for (count, other) in self.activities.iter_mut().zip(other.activities) {
            *count = count.saturating_add(other);
        }
        other.users.iter().for_each(|user| self.add_user(user));
    }

    /// Five sections, each with its length before it: summaries, the two histograms, slots, people.
    pub(super) fn encode(&self, encoder: &mut Encoder) {
        let mut section = Encoder::with_capacity(256);
        self.summaries
            .iter()
            .for_each(|summary| summary.encode(&mut section));
        end_section(encoder, &mut section);
        for histogram in &self.histograms {
            histogram.encode(&mut section);
            end_section(encoder, &mut section);
        }
        self.slots.connected.encode(&mut section);
        self.slots.over.encode(&mut section);
        self.slots.calm.encode(&mut section);
        let (began, ended) = (&self.slots.began, &self.slots.ended);
        if began.len() + ended.len() > 0 {
            began.encode(&mut section);
            ended.encode(&mut section);
        }
        end_section(encoder, &mut section);
        let hours = self.activities.iter().zip(0..);
        let hours = hours.filter(|(count, _)| **count > 0);
        section.count(hours.clone().count());
        for (count, hour) in hours {
            section.u8(hour);
            section.varint(*count);
        }
        section.count(self.users.len());
        self.users.iter().for_each(|user| section.text(user));
        end_section(encoder, &mut section);
    }
}

fn end_section(encoder: &mut Encoder, section: &mut Encoder) {
    encoder.count(section.len());
    encoder.append(section);
}

/// A day in its stored form; each part is decoded when it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DayRef<'v> {
    /// Which day, as [`Timestamp::day`] numbers it.
    pub(crate) day: u32,
    summaries: &'v [u8],
    histograms: [&'v [u8]; HISTOGRAMS],
    slots: &'v [u8],
    people: &'v [u8],
}

impl<'v> DayRef<'v> {
    /// Takes the rollup of `day` off the front of `decoder`.
    pub(super) fn read(day: u32, decoder: &mut Decoder<'v>) -> Result<Self> {
        let mut section = || {
            let length = decoder.count()?;
            decoder.raw(length)
        };
        Ok(Self {
            day,
            summaries: section()?,
            histograms: [section()?, section()?],
            slots: section()?,
            people: section()?,
        })
    }

    /// The summaries of [`SUMMARISED`].
    pub(crate) fn summaries(&self) -> Result<[Summary; SUMMARISED.len()]> {
        let mut decoder = Decoder::new(self.summaries);
        let mut summaries = <[Summary; SUMMARISED.len()]>::default();
        for summary in &mut summaries {
            *summary = Summary::decode(&mut decoder)?;
        }
        decoder.finish()?;
        Ok(summaries)
    }

    /// The summary of a metric, empty without values.
    pub(crate) fn summary(&self, metric: Metric) -> Result<Summary> {
        let mut decoder = Decoder::new(self.summaries);
        for summarised in SUMMARISED {
            let summary = Summary::decode(&mut decoder)?;
            if summarised == metric {
                return Ok(summary);
            }
        }
        Ok(Summary::default())
    }

    /// The histogram of a metric; `None` without one.
    pub(crate) fn histogram(&self, metric: Metric) -> Result<Option<Histogram>> {
        let place = SUMMARISED.iter().position(|each| *each == metric);
        let section = place.and_then(|place| self.histograms.get(place));
        section.map(|section| histogram(section)).transpose()
    }

    /// The slots of the day.
    pub(crate) fn slots(&self) -> Result<DaySlots> {
        let mut decoder = Decoder::new(self.slots);
        let mut slots = DaySlots {
            connected: Slots::decode(&mut decoder)?,
            over: Slots::decode(&mut decoder)?,
            calm: Slots::decode(&mut decoder)?,
            ..DaySlots::default()
        };
        if !decoder.is_empty() {
            slots.began = Slots::decode(&mut decoder)?;
            slots.ended = Slots::decode(&mut decoder)?;
        }
        decoder.finish()?;
        Ok(slots)
    }

    /// The activity records of each hour, and the compare names of the users.
    pub(crate) fn people(&self) -> Result<([u64; HOURS], Vec<&'v str>)> {
        let mut decoder = Decoder::new(self.people);
        let mut activities = [0; HOURS];
        for _ in 0..decoder.count()? {
            let hour = usize::from(decoder.u8()?);
            let count = decoder.varint()?;
            *activities.get_mut(hour).ok_or_else(damaged)? = count;
        }
        let users = decoder.count()?;
        let users = (0..users).map(|_| decoder.text());
        let users = users.collect::<Result<_>>()?;
        decoder.finish()?;
        Ok((activities, users))
    }

    /// All of it.
    pub(crate) fn into_rollup(self) -> Result<DayRollup> {
        let (activities, users) = self.people()?;
        let [cpu, memory] = self.histograms;
        Ok(DayRollup {
            summaries: self.summaries()?,
            histograms: [histogram(cpu)?, histogram(memory)?],
            slots: self.slots()?,
            activities,
            users: users.into_iter().map(str::to_owned).collect(),
        })
    }
}

fn histogram(section: &[u8]) -> Result<Histogram> {
    let mut decoder = Decoder::new(section);
    let histogram = Histogram::decode(&mut decoder)?;
    decoder.finish()?;
    Ok(histogram)
}
