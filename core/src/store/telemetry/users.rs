//! The newest records of each user that were filed.
//!
//! Key: the user's compare name. Value: the name as sent, the newest time, then three optional blocks of one record:
//! stats, startup, activity.

use std::ops::Bound;

use crate::error::Result;
use crate::model::{Received, RecordRef, Stream, history_order};
use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{Read, Step, Table, Tables};
use crate::timestamp::Timestamp;

use super::codec::{self, BlockEncoder};
use super::key_name;

/// What is known of a user from telemetry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserLatest {
    pub(crate) username: String,
    pub(crate) last_seen: Timestamp,
    pub(crate) stats: Option<Received>,
    pub(crate) startup: Option<Received>,
    pub(crate) activity: Option<Received>,
}

impl UserLatest {
    /// What one record tells.
    fn of(received: &Received) -> Self {
        let mut latest = Self {
            username: received.record.username().to_owned(),
            last_seen: received.filed_at,
            stats: None,
            startup: None,
            activity: None,
        };
        latest.take_newest(received);
        latest
    }

    /// What `known` and then `records`, in the order they were accepted, tell of one user; `None` when both are empty.
    pub(crate) fn newest<'r>(
        known: Option<Self>,
        records: impl Iterator<Item = &'r Received> + Clone,
    ) -> Option<Self> {
        let mut latest = match (known, records.clone().next()) {
            (Some(known), _) => known,
            (None, Some(first)) => Self::of(first),
            (None, None) => return None,
        };
        // Only the newest of each stream is copied.
        let mut best: [Option<&'r Received>; 3] = [None; 3];
        for received in records {
            latest.see(received.filed_at, received.record.username());
            let slot = match received.record.stream() {
                Stream::Stats => 0,
                Stream::Startup => 1,
                Stream::Activity => 2,
                Stream::Processes => continue,
            };
            if let Some(best) = best.get_mut(slot)
                && best.is_none_or(|known| is_newer(received, known))
            {
                *best = Some(received);
            }
        }
        for received in best.into_iter().flatten() {
            latest.take_newest(received);
        }
        Some(latest)
    }

    fn see(&mut self, time: Timestamp, username: &str) {
        if time >= self.last_seen {
            self.last_seen = time;
            username.clone_into(&mut self.username);
        }
    }

    fn take_newest(&mut self, received: &Received) {
        let slot = match received.record.stream() {
            Stream::Stats => &mut self.stats,
            Stream::Startup => &mut self.startup,
            Stream::Activity => &mut self.activity,
            Stream::Processes => return,
        };
        if slot.as_ref().is_none_or(|known| is_newer(received, known)) {
            *slot = Some(received.clone());
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::default();
        encoder.text(&self.username);
        encoder.time(self.last_seen);
        for newest in [&self.stats, &self.startup, &self.activity] {
            encoder.option(newest.as_ref(), |encoder, received| {
                let mut block = BlockEncoder::default();
                let record = RecordRef::of(&received.record);
                block.push(&record, received.received_at, received.filed_at);
                let block = block.finish();
                encoder.count(block.len());
                encoder.raw(&block);
            });
        }
        encoder.finish()
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let mut decoder = Decoder::new(bytes);
        let username = decoder.text()?.to_owned();
        let last_seen = decoder.time()?;
        let mut newest = || -> Result<Option<Received>> {
            let block = decoder.option(|decoder| {
                let length = decoder.count()?;
                decoder.raw(length)
            })?;
            let records = block.map(codec::decode).transpose()?;
            Ok(records.into_iter().flatten().next())
        };
        let latest = Self {
            username,
            last_seen,
            stats: newest()?,
            startup: newest()?,
            activity: newest()?,
        };
        decoder.end()?;
        Ok(latest)
    }
}

/// Whether `received` takes the place of `known`; a repetition does not.
fn is_newer(received: &Received, known: &Received) -> bool {
    history_order(received) > history_order(known) && !received.repeats(known)
}

/// What was filed of a user.
pub(crate) fn get(read: &impl Read, user_key: &str) -> Result<Option<UserLatest>> {
    read.get(Table::Users, &key_name(user_key), UserLatest::decode)
}

/// Stores what is known of a user.
pub(crate) fn put(tables: &Tables<'_>, user_key: &str, latest: &UserLatest) -> Result<()> {
    tables.put(Table::Users, &key_name(user_key), &latest.encode())
}

/// Forgets a user.
pub(crate) fn remove(tables: &Tables<'_>, user_key: &str) -> Result<()> {
    tables.remove(Table::Users, &key_name(user_key))?;
    Ok(())
}

/// Visits the users behind the key `after`, in the order of the keys.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<&[u8]>,
    mut visit: impl FnMut(&[u8], UserLatest) -> Result<Step>,
) -> Result<()> {
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    read.scan(Table::Users, (start, Bound::Unbounded), |key, value| {
        visit(key, UserLatest::decode(value)?)
    })
}
