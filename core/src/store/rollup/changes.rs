//! What a slice of filing adds to the rollups.

use std::collections::btree_map::{BTreeMap, Entry};

use crate::error::Result;
use crate::model::metric::STARTUP_TOTAL;
use crate::model::{ComputeType, Stream};
use crate::store::table::{Read, Table, Tables};
use crate::store::telemetry::rows::{Bucket, Rows};
use crate::store::{meta, workspaces};

use super::daily;
use super::day::DayRollup;
use super::hourly::{self, Group, HourRollup};
use super::latest::{self, Latest};
use super::sample::{Sample, slot};
use super::slots::HOUR;

/// The rollups that some buckets of history change, as they are with the changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Where the building of rollups of an older file stands: the buckets after it are not in any rollup yet.
    built: Option<Vec<u8>>,
    latest: BTreeMap<Vec<u8>, Box<Latest>>,
    daily: BTreeMap<Vec<u8>, DayRollup>,
    hourly: BTreeMap<Vec<u8>, HourRollup>,
    /// Empty between two buckets; keeps its memory.
    samples: Vec<Sample>,
}

/// Rows of the rollups, to be put over what is there.
#[derive(Debug, Clone, Default)]
pub(crate) struct RollupRows(Vec<(Table, Vec<u8>, Vec<u8>)>);

impl Changes {
    /// None yet.
    pub(crate) fn begin(read: &impl Read) -> Result<Self> {
        Ok(Self {
            built: meta::rolled_up(read)?,
            ..Self::default()
        })
    }

    /// Rows that they write.
    pub(crate) fn len(&self) -> usize {
        self.latest.len() + self.daily.len() + self.hourly.len()
    }

    /// Adds the rows in `order`, which are new in the bucket whose keys begin with `prefix`.
    pub(crate) fn add_filed(
        &mut self,
        read: &impl Read,
        prefix: &[u8],
        rows: &Rows,
        order: &[u32],
    ) -> Result<()> {
        match &self.built {
            Some(built) if prefix > built.as_slice() => Ok(()),
            _ => self.add(read, rows, order),
        }
    }

    /// Adds the rows in `order`, all of one bucket.
    pub(super) fn add(&mut self, read: &impl Read, rows: &Rows, order: &[u32]) -> Result<()> {
        let Some(first) = order.first().map(|row| *row as usize) else {
            return Ok(());
        };
        let bucket = rows.bucket(first);
        let mut samples = std::mem::take(&mut self.samples);
        samples.clear();
        if bucket.stream == Stream::Stats {
            samples.extend(order.iter().map(|row| Sample::of(rows, *row as usize)));
        }
        // Records that name no instance only count in their group.
        if !bucket.instance.is_empty() {
            self.add_instance(read, bucket, rows, order, &samples)?;
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
        bucket: Bucket<'_>,
        rows: &Rows,
        order: &[u32],
        samples: &[Sample],
    ) -> Result<()> {
        let key = latest::key(bucket.instance);
        let latest = match self.latest.entry(key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let known = Latest::get(read, &key)?;
                let new = || Latest::new(bucket.instance, bucket.day);
                vacant.insert(Box::new(known.unwrap_or_else(new)))
            }
        };
        if bucket.day > latest.day {
            let ended = std::mem::take(&mut latest.rollup);
            self.daily.insert(daily::key(latest.day, &key), ended);
            latest.day = bucket.day;
        }
        latest.note_name(bucket.instance);
        for row in order {
            latest.note(rows.filed_at(*row as usize));
        }
        for (sample, row) in samples.iter().zip(order) {
            latest.note_sample(sample, rows.username(*row as usize));
        }
        let rollup = if bucket.day == latest.day {
            &mut latest.rollup
        } else {
            let key = daily::key(bucket.day, &key);
            match self.daily.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) => {
                    let known = daily::get(read, vacant.key())?;
                    vacant.insert(known.unwrap_or_default())
                }
            }
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
        Ok(match self.hourly.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let known = HourRollup::get(read, vacant.key())?;
                vacant.insert(known.unwrap_or_default())
            }
        })
    }

    /// The rows to write.
    pub(crate) fn finish(self) -> RollupRows {
        let latest = self.latest.into_iter();
        let latest = latest.map(|(key, row)| (Table::Latest, key, row.encode()));
        // A day of process reports that name no user has nothing to say.
        let daily = self.daily.into_iter();
        let daily = daily.filter(|(_, row)| *row != DayRollup::default());
        let daily = daily.map(|(key, row)| (Table::Daily, key, daily::encode(&row)));
        let hourly = self.hourly.into_iter();
        let hourly = hourly.map(|(key, row)| (Table::Hourly, key, row.encode()));
        RollupRows(latest.chain(daily).chain(hourly).collect())
    }
}

impl RollupRows {
    /// Writes them.
    pub(crate) fn put(&self, tables: &Tables<'_>) -> Result<()> {
        tables.rollups_written.set(true);
        let mut rows = self.0.iter();
        rows.try_for_each(|(table, key, value)| tables.put(*table, key, value))
    }
}

/// Adds what records of one instance and stream say of their day.
fn add_to_day(
    rollup: &mut DayRollup,
    stream: Stream,
    rows: &Rows,
    order: &[u32],
    samples: &[Sample],
) {
    let mut user = None;
    for row in order {
        let row = *row as usize;
        // Nearly always that of the row before.
        if user != Some(rows.user(row)) {
            user = Some(rows.user(row));
            rollup.add_user(rows.username(row));
        }
        match stream {
            Stream::Activity => rollup.add_activity(rows.filed_at(row)),
            Stream::Startup => {
                if let Some(total) = rows.integer(row, STARTUP_TOTAL) {
                    rollup.add_startup(total.saturating_mul(100));
                }
            }
            Stream::Stats | Stream::Processes => {}
        }
    }
    for (sample, row) in samples.iter().zip(order) {
        rollup.add_sample(sample, !rows.username(*row as usize).is_empty());
    }
}

/// The group of the workspace that the instance names by its id or as the only one by its computer; where there is none, that of the
/// compute type in the record.
fn group(read: &impl Read, rows: &Rows, row: usize) -> Result<Group<String>> {
    let instance = rows.instance_id(row);
    let of_workspace = |id: &str| {
        workspaces::with(read, id, |entry| {
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
