//! The rollups of days before the newest of an instance, which is in `latest`.
//!
//! Key: day, 4 bytes big-endian; the folded name of the instance (name in a key).

use std::ops::{Range, RangeInclusive};

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{ALL_KEYS, Read, Step, Table, key_range};

use super::VERSION;
use super::day::{DayRef, DayRollup};
use super::latest::{self, LatestRef};

/// The key of a day of an instance, by the key of the instance.
pub(super) fn key(day: u32, instance: &[u8]) -> Vec<u8> {
    [&day.to_be_bytes(), instance].concat()
}

/// The day of a key, and the key of the instance.
pub(crate) fn read_key(key: &[u8]) -> Result<(u32, &[u8])> {
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
pub(crate) fn read_value<'v>(key: &[u8], value: &'v [u8]) -> Result<DayRef<'v>> {
    let mut decoder = Decoder::new(value);
    if decoder.u8()? != VERSION {
        return Err(damaged());
    }
    let rollup = DayRef::read(read_key(key)?.0, &mut decoder)?;
    decoder.finish()?;
    Ok(rollup)
}

pub(super) fn get(read: &impl Read, key: &[u8]) -> Result<Option<DayRollup>> {
    read.get(Table::Daily, key, |value| {
        read_value(key, value)?.into_rollup()
    })
}

/// The first day with a rollup in this table.
pub(crate) fn first_day(read: &impl Read) -> Result<Option<u32>> {
    let mut first = None;
    read.scan(Table::Daily, ALL_KEYS, |key, _| {
        first = Some(read_key(key)?.0);
        Ok(Step::Break(()))
    })?;
    Ok(first)
}

/// The range of `days` that have rollups.
pub(super) fn stored_days(read: &impl Read, days: &RangeInclusive<u32>) -> Result<Range<u32>> {
    let (first, mut last) = (first_day(read)?, None);
    read.scan_back(Table::Daily, ALL_KEYS, |key, _| {
        last = Some(read_key(key)?.0);
        Ok(Step::Break(()))
    })?;
    Ok(first.zip(last).map_or(0..0, |(first, last)| {
        first.max(*days.start())..last.min(*days.end()).saturating_add(1)
    }))
}

/// Keeps, of the sorted keys of instances, those without a day before `before`.
pub(crate) fn without_days(
    read: &impl Read,
    instances: &mut Vec<Vec<u8>>,
    before: u32,
) -> Result<()> {
    let (mut start, before) = (Some(0), before.to_be_bytes());
    while let Some(day) = start.take()
        && let [first, ..] = instances.as_slice()
    {
        let (from, first) = (key(day, first), first.clone());
        let range = key_range(Some(&from), Some(&before));
        read.scan(Table::Daily, range, |key, _| {
            let (day, instance) = read_key(key)?;
            let passed = instances
                .last()
                .is_none_or(|last| instance > last.as_slice());
            if passed || instance < first.as_slice() {
                start = Some(day + u32::from(passed));
                return Ok(Step::Break(()));
            }
            if let Ok(found) = instances.binary_search_by(|key| key.as_slice().cmp(instance)) {
                instances.remove(found);
            }
            Ok(Step::Continue(()))
        })?;
    }
    Ok(())
}

/// The key of the next day after a key, or of the first day, on which an instance may have a rollup.
pub(crate) fn next_key(
    read: &impl Read,
    instance: &str,
    after: Option<&[u8]>,
) -> Result<Option<Vec<u8>>> {
    let next = after.map(|key| read_key(key).map(|(day, _)| day.saturating_add(1)));
    let from = next.transpose()?.unwrap_or_default().to_be_bytes();
    let mut found = None;
    read.scan(Table::Daily, key_range(Some(&from), None), |at, _| {
        found = Some(key(read_key(at)?.0, &latest::key(instance)));
        Ok(Step::Break(()))
    })?;
    Ok(found)
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
