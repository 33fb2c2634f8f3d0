//! Of each instance its newest values, and the rollup of its newest day.
//!
//! Key: the folded name of the instance (name in a key). The rollup of the newest day is here and not in `daily`, so that filing
//! writes one row for each instance.

use std::cmp::Reverse;

use crate::error::Result;
use crate::model::identity::folded;
use crate::model::{Metric, SessionChange};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{ALL_KEYS, KeyRange, Read, Step, Table, Tables};
use crate::store::telemetry::key_name;
use crate::store::telemetry::rows::HistoryOrder;
use crate::timestamp::Timestamp;

use super::day::{DayRef, DayRollup};

/// Version of a row. One of version 1 has nothing of the receipt of its newest Stats record, and no session.
const VERSION: u8 = 2;

/// In the order of their numbers.
const SESSION_CHANGES: [SessionChange; 2] = [SessionChange::Begins, SessionChange::Ends];

const VALUES: usize = Metric::OF_STATS.len();

/// The newest Stats record of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newest<T> {
    /// Its place in history.
    pub(crate) order: HistoryOrder,
    /// The name of its instance as sent.
    pub(crate) instance: T,
    /// How far the clock that dated it was ahead, if it is filed at its receipt for that; else 0.
    pub(crate) seconds_ahead: u64,
    /// Its user as sent; empty for none.
    pub(crate) username: T,
    /// [`Metric::OF_STATS`], in hundredths.
    pub(crate) values: [Option<i64>; VALUES],
}

/// An Activity record that begins or ends a session: its place in history, and which of both it does.
pub(crate) type SessionEvent = (HistoryOrder, SessionChange);

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Latest {
    /// The name of the instance as sent.
    name: String,
    /// The newest filed time of any record.
    seen: Timestamp,
    stats: Option<Newest<String>>,
    session: Option<SessionEvent>,
    ahead_until: Option<Timestamp>,
    pub(super) day: u32,
    pub(super) rollup: DayRollup,
}

/// The key of an instance.
pub(crate) fn key(instance: &str) -> Vec<u8> {
    key_name(&folded(instance))
}

impl Latest {
    pub(super) fn new(name: &str, day: u32) -> Self {
        Self {
            name: name.to_owned(),
            seen: Timestamp::MIN,
            stats: None,
            session: None,
            ahead_until: None,
            day,
            rollup: DayRollup::default(),
        }
    }

    pub(super) fn get(read: &impl Read, key: &[u8]) -> Result<Option<Self>> {
        read.get(Table::Latest, key, |value| {
            LatestRef::read(value)?.into_latest()
        })
    }

    /// Notes how the instance was spelled; the least of the spellings stays.
    pub(super) fn note_name(&mut self, name: &str) {
        if name < self.name.as_str() {
            name.clone_into(&mut self.name);
        }
    }

    /// Notes when a record was filed.
    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.seen = self.seen.max(at);
    }

    /// Notes a Stats record, where it is the newest, in the order of [`age`](crate::store::telemetry::users::age).
    pub(super) fn note_newest(&mut self, newest: &Newest<&str>) {
        let is_older = |known: &Newest<String>| {
            let instance = known.instance.as_str();
            (known.order, Reverse(instance)) <= (newest.order, Reverse(newest.instance))
        };
        if self.stats.as_ref().is_none_or(is_older) {
            let known = self.stats.take();
            let (mut instance, mut username) = known
                .map(|known| (known.instance, known.username))
                .unwrap_or_default();
            newest.instance.clone_into(&mut instance);
            newest.username.clone_into(&mut username);
            self.stats = Some(Newest {
                order: newest.order,
                seconds_ahead: newest.seconds_ahead,
                instance,
                username,
                values: newest.values,
            });
        }
    }

    /// Notes an Activity record that begins or ends a session, where it is the newest.
    pub(super) fn note_session(&mut self, event: SessionEvent) {
        self.session = self.session.max(Some(event));
    }

    /// Notes the time in a record that is filed at its receipt, as a clock was ahead.
    pub(super) fn note_ahead(&mut self, sent: Option<Timestamp>) {
        self.ahead_until = self.ahead_until.max(sent);
    }

    /// Until when a record may repeat one that is filed at its receipt.
    pub(super) fn ahead_until(&self) -> Option<Timestamp> {
        self.ahead_until
    }

    /// Adds what another row says of the same instance; returns the day that is not its newest, to be added elsewhere.
    pub(super) fn merge(&mut self, mut other: Self) -> (u32, DayRollup) {
        self.note_name(&other.name);
        self.note_time(other.seen);
        if let Some(newest) = &other.stats {
            self.note_newest(&Newest {
                order: newest.order,
                seconds_ahead: newest.seconds_ahead,
                instance: &newest.instance,
                username: &newest.username,
                values: newest.values,
            });
        }
        self.session = self.session.max(other.session);
        self.note_ahead(other.ahead_until);
        if other.day > self.day {
            std::mem::swap(&mut self.day, &mut other.day);
            std::mem::swap(&mut self.rollup, &mut other.rollup);
        } else if other.day == self.day {
            self.rollup.merge(&std::mem::take(&mut other.rollup));
        }
        (other.day, other.rollup)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::with_capacity(512);
        encoder.u8(VERSION);
        encoder.text(&self.name);
        encoder.time(self.seen);
        encoder.option(self.stats.as_ref(), |encoder, newest| {
            encode_order(encoder, newest.order);
            encoder.varint(newest.seconds_ahead);
            let other = Some(&newest.instance).filter(|instance| **instance != self.name);
            encoder.option_text(other.map(String::as_str));
            encoder.text(&newest.username);
            let known = newest.values.iter().zip(0..);
            let known = known.filter(|(value, _)| value.is_some());
            encoder.varint(known.fold(0, |bits, (_, place)| bits | 1 << place));
            let values = newest.values.iter().flatten();
            values.for_each(|value| encoder.signed(*value));
        });
        encoder.option(self.session, |encoder, (order, change)| {
            encode_order(encoder, order);
            encoder.variant(&SESSION_CHANGES, &change);
        });
        encoder.option_time(self.ahead_until);
        encoder.varint(self.day.into());
        self.rollup.encode(&mut encoder);
        encoder.finish()
    }
}

/// A row as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct LatestRef<'v> {
    /// The name of the instance as sent.
    pub(crate) name: &'v str,
    /// The newest filed time of any record.
    pub(crate) seen: Timestamp,
    pub(crate) stats: Option<Newest<&'v str>>,
    /// The newest Activity record that began or ended a session.
    pub(crate) session: Option<SessionEvent>,
    /// The latest time in a record that is filed at its receipt, as a clock was ahead: until then one may repeat it.
    pub(crate) ahead_until: Option<Timestamp>,
    /// Its newest day.
    pub(crate) day: u32,
    pub(crate) rollup: DayRef<'v>,
}

impl<'v> LatestRef<'v> {
    pub(crate) fn read(value: &'v [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(value);
        let version = read_version(&mut decoder)?;
        let (name, seen) = (decoder.text()?, decoder.time()?);
        let stats = decoder.option(|decoder| newest(decoder, version, name))?;
        let (mut session, mut ahead_until) = (None, None);
        if version > 1 {
            session = decoder.option(session_event)?;
            ahead_until = decoder.option_time()?;
        }
        let day = u32::try_from(decoder.varint()?).map_err(|_| damaged())?;
        let row = Self {
            name,
            seen,
            stats,
            session,
            ahead_until,
            day,
            rollup: DayRef::read(day, &mut decoder)?,
        };
        decoder.finish()?;
        Ok(row)
    }

    /// The value of a metric in its newest Stats record, in hundredths.
    pub(crate) fn value(&self, metric: Metric) -> Option<i64> {
        let place = Metric::OF_STATS.iter().position(|each| *each == metric)?;
        self.stats.as_ref()?.values.get(place).copied().flatten()
    }

    fn into_latest(self) -> Result<Latest> {
        Ok(Latest {
            name: self.name.to_owned(),
            seen: self.seen,
            stats: self.stats.map(|newest| Newest {
                order: newest.order,
                seconds_ahead: newest.seconds_ahead,
                instance: newest.instance.to_owned(),
                username: newest.username.to_owned(),
                values: newest.values,
            }),
            session: self.session,
            ahead_until: self.ahead_until,
            day: self.day,
            rollup: self.rollup.into_rollup()?,
        })
    }
}

fn encode_order(encoder: &mut Encoder, (at, received_at): HistoryOrder) {
    encoder.time(at);
    encoder.signed(received_at.ticks().wrapping_sub(at.ticks()));
}

/// The order of what stands at `at`.
fn decode_order(decoder: &mut Decoder<'_>, at: Timestamp) -> Result<HistoryOrder> {
    let received_at = at.ticks().wrapping_add(decoder.signed()?);
    Ok((at, Timestamp::from_ticks(received_at)))
}

fn session_event(decoder: &mut Decoder<'_>) -> Result<SessionEvent> {
    let at = decoder.time()?;
    let order = decode_order(decoder, at)?;
    Ok((order, decoder.variant(&SESSION_CHANGES)?))
}

fn read_version(decoder: &mut Decoder<'_>) -> Result<u8> {
    match decoder.u8()? {
        version @ 1..=VERSION => Ok(version),
        _ => Err(damaged()),
    }
}

fn newest<'v>(decoder: &mut Decoder<'v>, version: u8, name: &'v str) -> Result<Newest<&'v str>> {
    let at = decoder.time()?;
    let (mut order, mut seconds_ahead, mut instance) = ((at, at), 0, name);
    if version > 1 {
        order = decode_order(decoder, at)?;
        seconds_ahead = decoder.varint()?;
        instance = decoder.option_text()?.unwrap_or(name);
    }
    let username = decoder.text()?;
    let known = decoder.varint()?;
    if known >> VALUES != 0 {
        return Err(damaged());
    }
    let mut values = [None; VALUES];
    for (place, value) in values.iter_mut().enumerate() {
        if known >> place & 1 == 1 {
            *value = Some(decoder.signed()?);
        }
    }
    Ok(Newest {
        order,
        instance,
        seconds_ahead,
        username,
        values,
    })
}

/// When the instance of a row sent something last, as [`Timestamp::ordered_ticks`].
fn seen(value: &[u8]) -> Result<u64> {
    let mut decoder = Decoder::new(value);
    read_version(&mut decoder)?;
    decoder.text()?;
    Ok(decoder.time()?.ordered_ticks())
}

/// The same of all rows.
pub(crate) fn all_seen(read: &impl Read) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    read.scan(Table::Latest, ALL_KEYS, |_, value| {
        all.push(seen(value)?);
        Ok(Step::Continue(()))
    })?;
    Ok(all)
}

/// Stores a row, over what is there.
pub(super) fn put(tables: &Tables<'_>, key: &[u8], value: &[u8]) -> Result<()> {
    replace(tables, key, Some(value))
}

/// Removes a row.
pub(crate) fn remove(tables: &Tables<'_>, key: &[u8]) -> Result<()> {
    replace(tables, key, None)
}

fn replace(tables: &Tables<'_>, key: &[u8], value: Option<&[u8]>) -> Result<()> {
    let mut before = None;
    tables.replace(Table::Latest, key, value, &mut |old| {
        before = Some(seen(old));
    })?;
    let after = value.map(seen).transpose()?;
    tables
        .effects
        .seen
        .borrow_mut()
        .record_change(before.transpose()?, after);
    Ok(())
}

/// Calls `look` with the row of an instance, if there is one.
pub(crate) fn with_row<R>(
    read: &impl Read,
    instance: &str,
    look: impl FnOnce(LatestRef<'_>) -> Result<R>,
) -> Result<Option<R>> {
    read.get(Table::Latest, &key(instance), |value| {
        look(LatestRef::read(value)?)
    })
}

/// Visits rows in the order of their keys.
pub(crate) fn scan(
    read: &impl Read,
    range: KeyRange<'_>,
    visit: &mut dyn FnMut(&[u8], LatestRef<'_>) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Latest, range, |key, value| {
        visit(key, LatestRef::read(value)?)
    })
}
