//! The rollups of days before the newest of an instance, which is in `latest`.
//!
//! Key: day, 4 bytes big-endian; the folded name of the instance (name in a key).

use std::ops::{Range, RangeInclusive};

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{ALL_KEYS, KeyRange, Read, Step, Table};

use super::VERSION;
use super::day::{DayRef, DayRollup};
use super::latest::{self, LatestRef};

/// The key of a day of an instance, by the key of the instance.
pub(super) fn key(day: u32, instance: &[u8]) -> Vec<u8> {
    [&day.to_be_bytes(), instance].concat()
}

/// The day of a key, and the key of the instance.
pub(crate) fn place(key: &[u8]) -> Result<(u32, &[u8])> {
    let (day, instance) = key.split_first_chunk().ok_or_else(damaged)?;
    Ok((u32::from_be_bytes(*day), instance))
}

pub(super) fn encode(rollup: &DayRollup) -> Vec<u8> {
    let mut encoder = Encoder::with_capacity(512);
    encoder.u8(VERSION);
    rollup.encode(&mut encoder);
    encoder.finish()
}

/// The rollup at a key.
pub(super) fn read_value<'v>(key: &[u8], value: &'v [u8]) -> Result<DayRef<'v>> {
    let mut decoder = Decoder::new(value);
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    let rollup = DayRef::read(place(key)?.0, &mut decoder)?;
    decoder.end()?;
    Ok(rollup)
}

pub(super) fn get(read: &impl Read, key: &[u8]) -> Result<Option<DayRollup>> {
    read.get(Table::Daily, key, |value| {
        read_value(key, value)?.into_rollup()
    })
}

/// The first day of which there is a rollup here.
pub(crate) fn first_day(read: &impl Read) -> Result<Option<u32>> {
    let mut first = None;
    read.scan(Table::Daily, ALL_KEYS, |key, _| {
        first = Some(place(key)?.0);
        Ok(Step::Break(()))
    })?;
    Ok(first)
}

/// The days of `days` from the first to the last of which there are rollups.
pub(super) fn stored_days(read: &impl Read, days: &RangeInclusive<u32>) -> Result<Range<u32>> {
    let (first, mut last) = (first_day(read)?, None);
    read.scan_back(Table::Daily, ALL_KEYS, |key, _| {
        last = Some(place(key)?.0);
        Ok(Step::Break(()))
    })?;
    Ok(first.zip(last).map_or(0..0, |(first, last)| {
        first.max(*days.start())..last.min(*days.end()).saturating_add(1)
    }))
}

/// Visits the days with these keys.
pub(crate) fn scan(
    read: &impl Read,
    keys: KeyRange<'_>,
    mut visit: impl FnMut(&[u8], &[u8], DayRef<'_>) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Daily, keys, |key, value| {
        visit(key, place(key)?.1, read_value(key, value)?)
    })
}

/// Calls `look` with the rollups of an instance within `days`, newest first; returns false where the instance never sent anything.
pub(crate) fn with_days(
    read: &impl Read,
    instance: &str,
    days: RangeInclusive<u32>,
    look: &mut dyn FnMut(&[DayRef<'_>]) -> Result<()>,
) -> Result<bool> {
    let instance = latest::key(instance);
    let mut values = Vec::new();
    let newest = read.get(Table::Latest, &instance, |value| {
        let newest = LatestRef::read(value)?.day;
        if days.contains(&newest) {
            values.push((None, value.to_vec()));
        }
        Ok(newest)
    })?;
    let Some(newest) = newest else {
        return Ok(false);
    };
    let stored = stored_days(read, &days)?;
    for day in stored.rev().filter(|day| *day < newest) {
        let key = key(day, &instance);
        let value = read.get(Table::Daily, &key, |value| Ok(value.to_vec()))?;
        values.extend(value.map(|value| (Some(key), value)));
    }
    let days = values.iter().map(|(key, value)| match key {
        Some(key) => read_value(key, value),
        None => Ok(LatestRef::read(value)?.rollup),
    });
    let days = days.collect::<Result<Vec<_>>>()?;
    look(&days)?;
    Ok(true)
}
