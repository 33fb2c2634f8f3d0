//! The changes that a slice of filing makes to the rollups.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::model::metric::STARTUP_TOTAL;
use crate::model::{ComputeType, Stream};
use crate::store::codec::damaged;
use crate::store::fleet::workspaces;
use crate::store::table::{Read, Table, Tables};
use crate::store::telemetry::rows::{Bucket, NO_TEXT, Rows};
use crate::timestamp::Timestamp;

use super::daily;
use super::day::DayRollup;
use super::hourly::{self, Group, HourRollup};
use super::latest::{self, Latest, Newest};
use super::sample::{Sample, slot};
use super::slots::HOUR;

/// The rollups that some buckets of history change, with the changes applied.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    latest: Changed<Latest>,
    daily: Changed<DayRollup>,
    hourly: Changed<HourRollup>,
    /// Empty between two buckets; keeps its memory.
    samples: Vec<Sample>,
}

/// An instance, by its key and the index of its latest values.
#[derive(Debug)]
pub(crate) struct Instance {
    key: Vec<u8>,
    latest: usize,
}

/// Rows by their keys. All three tables share one type of map, and so one compiled copy.
#[derive(Debug)]
struct Changed<T> {
    places: BTreeMap<Vec<u8>, usize>,
    rows: Vec<T>,
}

impl<T> Default for Changed<T> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            rows: Vec::new(),
        }
    }
}

impl<T> Changed<T> {
    /// The row at `key`; `read` reads it if it is missing here.
    fn row(&mut self, key: Vec<u8>, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<&mut T> {
        let place = self.position(key, read)?;
        self.rows.get_mut(place).ok_or_else(damaged)
    }

    /// The index of that row.
    fn position(&mut self, key: Vec<u8>, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<usize> {
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        let row = read(&key)?;
        Ok(self.put(key, row))
    }

    /// Adds or replaces a row; returns its index.
    fn put(&mut self, key: Vec<u8>, row: T) -> usize {
        self.rows.push(row);
        let place = self.rows.len() - 1;
        self.places.insert(key, place);
        place
    }

    /// Writes the rows in the order of their keys.
    fn encode(self, table: Table, rows: &mut RollupRows, encode: fn(&T) -> Option<Vec<u8>>) {
        for (key, place) in self.places {
            let value = self.rows.get(place).and_then(encode);
            rows.0.extend(value.map(|value| (table, key, value)));
        }
    }
}

/// Rows of the rollups, to store or replace.
#[derive(Debug, Clone, Default)]
pub(crate) struct RollupRows(Vec<(Table, Vec<u8>, Vec<u8>)>);

impl Changes {
    /// Rows that they write.
    pub(crate) fn len(&self) -> usize {
        self.latest.places.len() + self.daily.places.len() + self.hourly.places.len()
    }

    /// The instance of a bucket; `None` if its records name none.
    pub(crate) fn instance(
        &mut self,
        read: &impl Read,
        bucket: Bucket<'_>,
    ) -> Result<Option<Instance>> {
        if bucket.instance.is_empty() {
            return Ok(None);
        }
        let key = latest::key(bucket.instance);
        let latest = self.latest.position(key.clone(), |key| {
            let known = Latest::get(read, key)?;
            Ok(known.unwrap_or_else(|| Latest::new(bucket.instance, bucket.day)))
        })?;
        Ok(Some(Instance { key, latest }))
    }

    /// Until when a record of the instance may repeat one that is filed at its receipt, as a clock was ahead. Always where it names none: of
    /// those there are no latest values.
    pub(crate) fn ahead_until(&self, instance: Option<&Instance>) -> Option<Timestamp> {
        let Some(instance) = instance else {
            return Some(Timestamp::MAX);
        };
        self.latest.rows.get(instance.latest)?.ahead_until()
    }

    /// Adds the rows in `order`, all of one bucket and its instance.
    pub(crate) fn add(
        &mut self,
        read: &impl Read,
        rows: &Rows,
        order: &[u32],
        instance: Option<&Instance>,
    ) -> Result<()> {
        let Some(first) = order.first().map(|row| *row as usize) else {
            return Ok(());
        };
        let bucket = rows.bucket(first);
        let mut samples = std::mem::take(&mut self.samples);
        samples.clear();
        if bucket.stream == Stream::Stats {
            samples.extend(
                order
                    .iter()
                    .map(|row| Sample::from_row(rows, *row as usize)),
            );
        }
        // Records without an instance only count in their group.
        if let Some(instance) = instance {
            self.add_instance(read, (bucket, instance), rows, order, &samples)?;
        }
        match bucket.stream {
            Stream::Stats => {
                self.add_samples(read, bucket, &group(read, rows, first)?, &samples)?;
            }
            Stream::Startup => {
                self.add_startups(read, rows, order, &group(read, rows, first)?)?;
            }
            Stream::Activity | Stream::Processes => {}
        }
        self.samples = samples;
        Ok(())
    }

    fn add_instance(
        &mut self,
        read: &impl Read,
        (bucket, instance): (Bucket<'_>, &Instance),
        rows: &Rows,
        order: &[u32],
        samples: &[Sample],
    ) -> Result<()> {
        let key = &instance.key;
        let latest = self.latest.rows.get_mut(instance.latest);
        let latest = latest.ok_or_else(damaged)?;
        if bucket.day > latest.day {
            let ended = std::mem::take(&mut latest.rollup);
            self.daily.put(daily::key(latest.day, key), ended);
            latest.day = bucket.day;
        }
        latest.note_name(bucket.instance);
        for row in order {
            let row = *row as usize;
            latest.note_time(rows.filed_at(row));
            if bucket.stream == Stream::Activity
                && let Some(change) = rows.session_change(row)
            {
                latest.note_session((rows.order(row), change));
            }
            if rows.is_ahead(row) {
                latest.note_ahead(rows.sent(row));
            }
        }
        let newest = samples.iter().map(|sample| sample.at).max();
        for (sample, row) in samples.iter().zip(order) {
            let row = *row as usize;
            if Some(sample.at) == newest {
                latest.note_newest(&Newest {
                    order: rows.order(row),
                    seconds_ahead: rows.seconds_ahead(row),
                    instance: rows.instance_id(row),
                    username: rows.username(row),
                    values: sample.values,
                });
            }
        }
        let rollup = if bucket.day == latest.day {
            &mut latest.rollup
        } else {
            self.daily.row(daily::key(bucket.day, key), |key| {
                Ok(daily::get(read, key)?.unwrap_or_default())
            })?
        };
        add_to_day(rollup, bucket.stream, rows, order, samples);
        Ok(())
    }

    fn add_samples(
        &mut self,
        read: &impl Read,
        bucket: Bucket<'_>,
        group: &Group<String>,
        samples: &[Sample],
    ) -> Result<()> {
        let hour = |sample: &Sample| slot(sample.at) / HOUR;
        for same in samples.chunk_by(|a, b| hour(a) == hour(b)) {
            let Some(first) = same.first() else { continue };
            let key = hourly::key(bucket.stream, hourly::hour(first.at), group.as_deref());
            let rollup = self.hour(read, key)?;
            for sample in same {
                rollup.add_sample(sample);
            }
        }
        Ok(())
    }

    fn add_startups(
        &mut self,
        read: &impl Read,
        rows: &Rows,
        order: &[u32],
        group: &Group<String>,
    ) -> Result<()> {
        for row in order {
            let row = *row as usize;
            let hour = hourly::hour(rows.filed_at(row));
            let key = hourly::key(Stream::Startup, hour, group.as_deref());
            self.hour(read, key)?.add_startup(rows, row);
        }
        Ok(())
    }

    fn hour(&mut self, read: &impl Read, key: Vec<u8>) -> Result<&mut HourRollup> {
        self.hourly.row(key, |key| {
            Ok(HourRollup::get(read, key)?.unwrap_or_default())
        })
    }

    /// The rows to write.
    pub(crate) fn finish(self) -> RollupRows {
        let mut rows = RollupRows::default();
        let latest = |row: &Latest| Some(row.encode());
        self.latest.encode(Table::Latest, &mut rows, latest);
        // A day of process reports without a user has an empty rollup.
        let daily = |row: &DayRollup| (*row != DayRollup::default()).then(|| daily::encode(row));
        self.daily.encode(Table::Daily, &mut rows, daily);
        let hourly = |row: &HourRollup| Some(row.encode());
        self.hourly.encode(Table::Hourly, &mut rows, hourly);
        rows
    }
}

impl RollupRows {
    /// Writes them.
    pub(crate) fn put(&self, tables: &Tables<'_>) -> Result<()> {
        let mut rows = self.0.iter();
        rows.try_for_each(|(table, key, value)| {
            if *table == Table::Latest {
                latest::put(tables, key, value)
            } else {
                tables.put(*table, key, value)
            }
        })
    }
}

/// Adds records of one instance and stream to their day.
fn add_to_day(
    rollup: &mut DayRollup,
    stream: Stream,
    rows: &Rows,
    order: &[u32],
    samples: &[Sample],
) {
    // No user, so none is added.
    let mut last = NO_TEXT;
    let mut samples = samples.iter();
    for row in order {
        let row = *row as usize;
        let user = rows.user(row);
        // It is nearly always the day of the row before.
        if user != last {
            last = user;
            rollup.add_user(rows.username(row));
        }
        match stream {
            Stream::Stats => {
                if let Some(sample) = samples.next() {
                    rollup.add_sample(sample, user != NO_TEXT);
                }
            }
            Stream::Activity => {
                rollup.add_activity(rows.filed_at(row), rows.session_change(row));
            }
            Stream::Startup => {
                if let Some(total) = rows.integer(row, STARTUP_TOTAL) {
                    rollup.add_startup(total.saturating_mul(100));
                }
            }
            Stream::Processes => {}
        }
    }
}

/// The group of the workspace with the instance's name as id, or else as the only one with that computer name. Without a
/// workspace, the group of the compute type in the record.
fn group(read: &impl Read, rows: &Rows, row: usize) -> Result<Group<String>> {
    let instance = rows.instance_id(row);
    let of_workspace = |id: &str| {
        workspaces::with_entry(read, id, |entry| {
            let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
            Ok(Group {
                region: text(entry.region()),
                running_mode: text(entry.running_mode()),
                compute_type: text(entry.compute_type()),
            })
        })
    };
    if let Some(group) = of_workspace(instance)? {
        return Ok(group);
    }
    if let [id] = workspaces::of_computer(read, instance)?.as_slice()
        && let Some(group) = of_workspace(id)?
    {
        return Ok(group);
    }
    let sent = rows.compute_type(row);
    Ok(Group {
        compute_type: ComputeType::named(sent)
            .map_or_else(String::new, |known| known.as_str().to_owned()),
        ..Group::default()
    })
}
