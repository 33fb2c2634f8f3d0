//! The newest records of each user that were filed.
//!
//! Key: the user's compare name. Value: the name as sent, the newest time, then three optional blocks of one record:
//! stats, startup, activity.

use std::cmp::Reverse;

use crate::error::Result;
use crate::model::{Received, RecordRef, Stream};
use crate::store::codec::{Decoder, Encoder};
use crate::store::table::{KeyRange, Read, Step, Table, Tables};
use crate::timestamp::Timestamp;

use super::block::{self, BlockEncoder};
use super::key_name;
use super::rows::{HistoryOrder, Rows};

/// What is known of a user from telemetry.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserLatest {
    pub(crate) username: String,
    pub(crate) last_seen: Timestamp,
    pub(crate) stats: Option<Received>,
    pub(crate) startup: Option<Received>,
    pub(crate) activity: Option<Received>,
}

/// The streams of which the newest record of a user is kept, in the order in which they are stored.
const KEPT: [Stream; 3] = [Stream::Stats, Stream::Startup, Stream::Activity];

/// What rows say of one user.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct News {
    /// The filed time of the newest row.
    seen: Option<Timestamp>,
    /// The name in it; of several the least.
    username: u32,
    /// The newest row of each of [`KEPT`].
    newest: [Option<u32>; KEPT.len()],
}

/// Rows of a user and a stream by this are from the oldest to the newest: of those filed at one time that counts which was received last. Of
/// those received at one time too the least instance does, and of these that which was accepted last: so it is the same in whatever order
/// buckets are filed.
pub(crate) fn age(rows: &Rows, row: usize) -> (HistoryOrder, Reverse<&str>) {
    (rows.order(row), Reverse(rows.instance_id(row)))
}

impl News {
    /// What all `rows` say, which are of one user.
    fn of_all(rows: &Rows) -> Self {
        let mut news = Self::default();
        for row in rows.all() {
            news.add(rows, row);
        }
        news
    }

    /// Adds a row, of several of one bucket in the order in which they were accepted.
    pub(crate) fn add(&mut self, rows: &Rows, row: u32) {
        let seen = Some(rows.filed_at(row as usize));
        let is_less = || rows.username(row as usize) < rows.texts.text(self.username);
        if self.seen < seen || self.seen == seen && is_less() {
            (self.seen, self.username) = (seen, rows.user(row as usize));
        }
        let order = |row: u32| (age(rows, row as usize), row);
        let stream = rows.stream(row as usize);
        let place = KEPT.iter().position(|kept| *kept == stream);
        if let Some(newest) = place.and_then(|place| self.newest.get_mut(place))
            && newest.is_none_or(|newest| order(row) > order(newest))
        {
            *newest = Some(row);
        }
    }
}

impl UserLatest {
    /// The time before which a record of `stream` says nothing new, if there is one.
    pub(crate) fn newest(&self, stream: Stream) -> Option<Timestamp> {
        let newest = match stream {
            Stream::Stats => &self.stats,
            Stream::Startup => &self.startup,
            Stream::Activity => &self.activity,
            Stream::Processes => return Some(self.last_seen),
        };
        newest.as_ref().map(|received| received.filed_at)
    }

    fn encode(&self) -> Vec<u8> {
        let mut encoder = BlockEncoder::default();
        let newest = [&self.stats, &self.startup, &self.activity];
        let blocks = newest.map(|newest| {
            newest.as_ref().map(|received| {
                let record = RecordRef::from_record(&received.record);
                encoder.push(&record, received.received_at, received.filed_at);
                encoder.finish()
            })
        });
        encode(&self.username, self.last_seen, &blocks)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let stored = Stored::read(bytes)?;
        let newest = |block: Option<&[u8]>| -> Result<Option<Received>> {
            let Some(block) = block else { return Ok(None) };
            let mut rows = Rows::default();
            block::decode_into(block, &mut rows)?;
            let first = (0..rows.len()).next();
            first.map(|row| rows.received(row)).transpose()
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
#[derive(Debug, Clone, Copy)]
struct Stored<'a> {
    username: &'a str,
    last_seen: Timestamp,
    /// Blocks of one record, of [`KEPT`].
    blocks: [Option<&'a [u8]>; KEPT.len()],
}

fn encode(username: &str, last_seen: Timestamp, blocks: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut out = Encoder::with_capacity(256);
    out.text(username);
    out.time(last_seen);
    for block in blocks {
        out.option(block.as_ref(), |out, block| {
            out.count(block.len());
            out.raw(block);
        });
    }
    out.finish()
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
        decoder.finish()?;
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
        let newer = age(rows, row) >= age(rows, known);
        rows.truncate(end);
        Ok(newer)
    }

    /// Adds its records to `rows`; returns what it says.
    fn into_news(self, rows: &mut Rows) -> Result<News> {
        for block in self.blocks.into_iter().flatten() {
            block::decode_into(block, rows)?;
        }
        Ok(News {
            seen: Some(self.last_seen),
            username: rows.texts.intern(self.username),
            ..News::of_all(rows)
        })
    }

    /// The value with what `rows` say; `None` when that is nothing new.
    fn updated(
        self,
        rows: &mut Rows,
        news: &News,
        encoder: &mut BlockEncoder,
    ) -> Result<Option<Vec<u8>>> {
        let mut newest = [None; KEPT.len()];
        for ((newest, row), block) in newest.iter_mut().zip(news.newest).zip(self.blocks) {
            let Some(row) = row else { continue };
            let is_newer = match block {
                Some(block) => self.is_older(block, rows, row as usize)?,
                None => true,
            };
            *newest = is_newer.then_some(row as usize);
        }
        let (mut username, mut last_seen) = (self.username, self.last_seen);
        let name = rows.texts.text(news.username);
        let is_new = |seen: &Timestamp| {
            let is_less = *seen == last_seen && name < username;
            *seen > last_seen || is_less || username.is_empty()
        };
        if let Some(seen) = news.seen.filter(is_new) {
            (username, last_seen) = (name, seen);
        } else if newest == [None; KEPT.len()] {
            return Ok(None);
        }
        let mut blocks = self.blocks.map(|block| block.map(<[u8]>::to_vec));
        for (block, row) in blocks.iter_mut().zip(newest) {
            let Some(row) = row else { continue };
            encoder.push(
                &rows.borrowed(row)?,
                rows.received_at(row),
                rows.filed_at(row),
            );
            *block = Some(encoder.finish());
        }
        Ok(Some(encode(username, last_seen, &blocks)))
    }
}

/// The value of a user with what `rows` say; `None` when that is nothing new.
pub(super) fn updated(
    read: &impl Read,
    key: &[u8],
    rows: &mut Rows,
    news: &News,
    encoder: &mut BlockEncoder,
) -> Result<Option<Vec<u8>>> {
    let known = read.get(Table::Users, key, |value| {
        Stored::read(value)?.updated(rows, news, encoder)
    })?;
    if let Some(updated) = known {
        return Ok(updated);
    }
    let nothing = Stored {
        username: "",
        last_seen: Timestamp::MIN,
        blocks: [None; KEPT.len()],
    };
    nothing.updated(rows, news, encoder)
}

/// What was filed of a user, with what `rows` say, of which none repeats a filed record.
pub(crate) fn get_with(
    read: &impl Read,
    user_key: &str,
    rows: &mut Rows,
) -> Result<Option<UserLatest>> {
    let (key, news) = (key_name(user_key), News::of_all(rows));
    match updated(read, &key, rows, &news, &mut BlockEncoder::default())? {
        Some(value) => UserLatest::decode(&value).map(Some),
        None => get(read, user_key),
    }
}

/// Moves what is stored under `key` to the user, and keeps the newest of what is stored there.
pub(crate) fn move_to(tables: &Tables<'_>, key: &[u8], user_key: &str) -> Result<()> {
    let mut rows = Rows::default();
    let news = tables.get(Table::Users, key, |value| {
        Stored::read(value)?.into_news(&mut rows)
    })?;
    let Some(news) = news else { return Ok(()) };
    tables.remove(Table::Users, key)?;
    let key = key_name(user_key);
    let value = updated(tables, &key, &mut rows, &news, &mut BlockEncoder::default())?;
    match value {
        Some(value) => tables.put(Table::Users, &key, &value),
        None => Ok(()),
    }
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

/// Visits the users with these keys.
pub(crate) fn scan(
    read: &impl Read,
    keys: KeyRange<'_>,
    mut visit: impl FnMut(&[u8], UserLatest) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Users, keys, |key, value| {
        visit(key, UserLatest::decode(value)?)
    })
}
