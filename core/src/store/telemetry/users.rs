//! The newest records of each user that were filed.
//!
//! Key: the user's compare name. Value: the name as sent, the newest time, then three optional blocks of one record:
//! stats, startup, activity.

use std::cmp::Reverse;
use std::ops::Bound;

use crate::error::Result;
use crate::model::{Received, RecordRef, Stream};
use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{Read, Step, Table, Tables};
use crate::timestamp::Timestamp;

use super::block::{self, BlockEncoder};
use super::key_name;
use super::rows::Rows;

/// What is known of a user from telemetry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserLatest {
    pub(crate) username: String,
    pub(crate) last_seen: Timestamp,
    pub(crate) stats: Option<Received>,
    pub(crate) startup: Option<Received>,
    pub(crate) activity: Option<Received>,
}

/// The streams of which the newest record of a user is kept, in the order in which they stand.
const KEPT: [Stream; 3] = [Stream::Stats, Stream::Startup, Stream::Activity];

/// What rows tell of one user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct News {
    /// The newest of all streams.
    seen: u32,
    /// The newest of each of [`KEPT`].
    newest: [Option<u32>; KEPT.len()],
}

impl News {
    /// What a row tells.
    pub(crate) fn of(rows: &Rows, row: u32) -> Self {
        let mut news = Self {
            seen: row,
            newest: [None; KEPT.len()],
        };
        news.see(rows, row);
        news
    }

    /// Takes in a row. Of two filed at one time that which was accepted first counts, so a repetition at that time never does.
    pub(crate) fn see(&mut self, rows: &Rows, row: u32) {
        let order = |row: u32| (rows.filed_at(row as usize), Reverse(row));
        let is_newer = |than: u32| order(row) > order(than);
        if is_newer(self.seen) {
            self.seen = row;
        }
        let stream = rows.stream(row as usize);
        let place = KEPT.iter().position(|kept| *kept == stream);
        if let Some(newest) = place.and_then(|place| self.newest.get_mut(place))
            && newest.is_none_or(is_newer)
        {
            *newest = Some(row);
        }
    }

    fn last_seen(&self, rows: &Rows) -> Timestamp {
        rows.filed_at(self.seen as usize)
    }

    fn username<'r>(&self, rows: &'r Rows) -> &'r str {
        rows.username(self.seen as usize)
    }
}

impl UserLatest {
    /// The time before which a record of `stream` tells nothing new, if there is one.
    pub(crate) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        let newest = match stream {
            Stream::Stats => &self.stats,
            Stream::Startup => &self.startup,
            Stream::Activity => &self.activity,
            Stream::Processes => return Some(self.last_seen),
        };
        newest.as_ref().map(|received| received.filed_at)
    }

    /// What is known of a user with what `rows` tell, of which none repeats a filed record.
    pub(crate) fn with(known: Option<Self>, rows: &Rows, news: &News) -> Result<Self> {
        let seen = news.last_seen(rows);
        let mut latest = known.unwrap_or_else(|| Self {
            username: String::new(),
            last_seen: seen,
            stats: None,
            startup: None,
            activity: None,
        });
        if seen > latest.last_seen || latest.username.is_empty() {
            latest.last_seen = seen;
            news.username(rows).clone_into(&mut latest.username);
        }
        let slots = [&mut latest.stats, &mut latest.startup, &mut latest.activity];
        for (slot, row) in slots.into_iter().zip(news.newest) {
            let Some(row) = row else { continue };
            let received = rows.received(row as usize)?;
            let is_newer = |known: &Received| received.filed_at > known.filed_at;
            if slot.as_ref().is_none_or(is_newer) {
                *slot = Some(received);
            }
        }
        Ok(latest)
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
                write_block(encoder, &block.finish());
            });
        }
        encoder.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let stored = Stored::read(bytes)?;
        let newest = |block: Option<&[u8]>| -> Result<Option<Received>> {
            let records = block.map(block::decode).transpose()?;
            Ok(records.into_iter().flatten().next())
        };
        let [stats, startup, activity] = stored.blocks;
        Ok(Self {
            username: stored.username.to_owned(),
            last_seen: stored.last_seen,
            stats: newest(stats)?,
            startup: newest(startup)?,
            activity: newest(activity)?,
        })
    }
}

/// A value of the table, its records not read.
struct Stored<'a> {
    username: &'a str,
    last_seen: Timestamp,
    /// Blocks of one record, of [`KEPT`].
    blocks: [Option<&'a [u8]>; KEPT.len()],
}

impl<'a> Stored<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(bytes);
        let mut stored = Self {
            username: decoder.text()?,
            last_seen: decoder.time()?,
            blocks: [None; KEPT.len()],
        };
        for block in &mut stored.blocks {
            *block = decoder.option(|decoder| {
                let length = decoder.count()?;
                decoder.raw(length)
            })?;
        }
        decoder.end()?;
        Ok(stored)
    }

    /// Whether a row takes the place of the record in `block`, of the same stream.
    fn is_older(&self, block: &[u8], rows: &mut Rows, row: usize) -> Result<bool> {
        if rows.filed_at(row) > self.last_seen {
            return Ok(true);
        }
        let end = rows.mark();
        let known = rows.len();
        block::decode_into(block, rows)?;
        let newer = rows.filed_at(row) > rows.filed_at(known);
        rows.cut(end);
        Ok(newer)
    }

    /// The value with what `rows` tell; `None` when that is nothing new.
    fn renewed(
        &self,
        rows: &mut Rows,
        news: &News,
        encoder: &mut BlockEncoder,
    ) -> Result<Option<Vec<u8>>> {
        let mut newest = [None; KEPT.len()];
        let mut changed = false;
        for ((newest, row), block) in newest.iter_mut().zip(news.newest).zip(self.blocks) {
            let Some(row) = row else { continue };
            if match block {
                Some(block) => self.is_older(block, rows, row as usize)?,
                None => true,
            } {
                *newest = Some(row);
                changed = true;
            }
        }
        let (mut username, mut last_seen) = (self.username, self.last_seen);
        if news.last_seen(rows) > last_seen || username.is_empty() {
            (username, last_seen) = (news.username(rows), news.last_seen(rows));
            changed = true;
        }
        if !changed {
            return Ok(None);
        }
        let mut out = Encoder::with_capacity(256);
        out.text(username);
        out.time(last_seen);
        for (row, block) in newest.into_iter().zip(self.blocks) {
            match row {
                Some(row) => {
                    let row = row as usize;
                    let record = rows.borrowed(row)?;
                    encoder.push(&record, rows.received_at(row), rows.filed_at(row));
                    let block = encoder.finish();
                    out.option(Some(block.as_slice()), write_block);
                }
                None => out.option(block, write_block),
            }
        }
        Ok(Some(out.finish()))
    }
}

fn write_block(out: &mut Encoder, block: &[u8]) {
    out.count(block.len());
    out.raw(block);
}

/// The key and the value of a user with what `rows` tell; `None` when that is nothing new.
pub(super) fn renewed(
    read: &impl Read,
    user_key: &str,
    rows: &mut Rows,
    news: &News,
    encoder: &mut BlockEncoder,
) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
    let key = key_name(user_key);
    let renewed = read.get(Table::Users, &key, |value| {
        Stored::read(value)?.renewed(rows, news, encoder)
    })?;
    let value = if let Some(renewed) = renewed {
        renewed
    } else {
        let nothing = Stored {
            username: "",
            last_seen: news.last_seen(rows),
            blocks: [None; KEPT.len()],
        };
        nothing.renewed(rows, news, encoder)?
    };
    Ok(value.map(|value| (key, value)))
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
