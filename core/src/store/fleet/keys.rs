//! The API keys. Key: key number, 8 bytes big-endian. Value: SHA-256 of the secret, scopes, name, created, expires, last used,
//! revoked, then the limits if there are any. The secret itself is not stored.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::error::Result;
use crate::model::{AuditAction, KeyFilter, KeyInfo, KeyLimits, PRINCIPAL_ID, Scopes, SecretHash};
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables, row_number};

/// A key as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredKey {
    pub(crate) hash: SecretHash,
    pub(crate) info: KeyInfo,
}

/// A key in memory, with a last use that the file may lack.
#[derive(Debug)]
pub(crate) struct LiveKey {
    pub(crate) info: KeyInfo,
    /// In ticks; 0 is never.
    used_at: AtomicI64,
}

impl LiveKey {
    /// The key that stands for a caller that the host has authenticated at `now`.
    pub(crate) fn of_principal(name: String, scopes: Scopes, now: Timestamp) -> Self {
        Self {
            info: KeyInfo {
                id: PRINCIPAL_ID,
                name,
                scopes,
                created: now,
                expires: None,
                last_used: None,
                revoked: None,
                limits: KeyLimits::default(),
            },
            used_at: AtomicI64::new(0),
        }
    }

    /// The last use since the file was opened, if any.
    pub(crate) fn used_at(&self) -> Option<Timestamp> {
        let used_at = self.used_at.load(Ordering::Relaxed);
        (used_at != 0).then(|| Timestamp::from_ticks(used_at))
    }

    /// Records a use at `now`.
    pub(crate) fn set_used_at(&self, now: Timestamp) {
        self.used_at.store(now.ticks(), Ordering::Relaxed);
    }

    /// The key with its newest use.
    pub(crate) fn current(&self) -> KeyInfo {
        let mut info = self.info.clone();
        info.last_used = self.use_to_write().or(info.last_used);
        info
    }

    /// The last use, if the file lacks it. It may be earlier than the one in the file, which a clock ahead has stored.
    pub(crate) fn use_to_write(&self) -> Option<Timestamp> {
        self.used_at()
            .filter(|used_at| self.info.last_used != Some(*used_at))
    }
}

/// Every key, in memory, because each request looks one up.
#[derive(Debug, Default)]
pub(crate) struct KeyIndex {
    by_hash: BTreeMap<SecretHash, Arc<LiveKey>>,
    by_id: BTreeMap<u64, Arc<LiveKey>>,
}

impl KeyIndex {
    /// Reads all keys, and keeps the last uses of `old`.
    pub(crate) fn rebuild(read: &impl Read, old: &Self) -> Result<Self> {
        let mut index = Self::default();
        for key in all(read)? {
            // A later use in the file is of another node.
            let is_newest = |old: &&Arc<LiveKey>| {
                old.info.last_used == key.info.last_used || old.used_at() >= key.info.last_used
            };
            let used_at = old
                .by_hash
                .get(&key.hash)
                .filter(is_newest)
                .map_or(0, |old| old.used_at.load(Ordering::Relaxed));
            let live = Arc::new(LiveKey {
                info: key.info,
                used_at: AtomicI64::new(used_at),
            });
            index.by_id.insert(live.info.id, Arc::clone(&live));
            index.by_hash.insert(key.hash, live);
        }
        Ok(index)
    }

    /// The key of that secret.
    pub(crate) fn get(&self, hash: &SecretHash) -> Option<&Arc<LiveKey>> {
        self.by_hash.get(hash)
    }

    /// The key of that number.
    pub(crate) fn numbered(&self, id: u64) -> Option<&LiveKey> {
        self.by_id.get(&id).map(Arc::as_ref)
    }

    /// The keys after the number `after`, in the order of their numbers.
    pub(crate) fn after(&self, after: u64) -> impl Iterator<Item = &LiveKey> {
        let after = (Bound::Excluded(after), Bound::Unbounded);
        self.by_id.range(after).map(|(_, key)| key.as_ref())
    }

    /// Every key, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &LiveKey> {
        self.after(0)
    }
}

/// The key of that number.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<StoredKey>> {
    read.get(Table::Keys, &id.to_be_bytes(), |value| decode(id, value))
}

/// Every key, in the order of their numbers.
pub(crate) fn all(read: &impl Read) -> Result<Vec<StoredKey>> {
    let mut keys = Vec::new();
    read.scan(Table::Keys, ALL_KEYS, |key, value| {
        keys.push(decode(row_number(key)?, value)?);
        Ok(Step::Continue(()))
    })?;
    Ok(keys)
}

/// The same without the hashes of their secrets.
pub(crate) fn infos(read: &impl Read) -> Result<Vec<KeyInfo>> {
    Ok(all(read)?.into_iter().map(|key| key.info).collect())
}

/// Writes or replaces a key.
pub(crate) fn put(tables: &mut Tables<'_>, key: &StoredKey) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.raw(&key.hash);
    encoder.u8(key.info.scopes.bits());
    encoder.text(&key.info.name);
    encoder.time(key.info.created);
    encoder.option_time(key.info.expires);
    encoder.option_time(key.info.last_used);
    encoder.option_time(key.info.revoked);
    encode_limits(&mut encoder, &key.info.limits);
    tables.effects.keys_changed = true;
    tables.put(Table::Keys, &key.info.id.to_be_bytes(), &encoder.finish())
}

/// Removes a key.
pub(crate) fn remove(tables: &mut Tables<'_>, id: u64) -> Result<()> {
    tables.effects.keys_changed = true;
    tables.remove(Table::Meta, &Destructive::key(id))?;
    tables.remove(Table::Keys, &id.to_be_bytes())?;
    Ok(())
}

/// Writes nothing where nothing is limited.
fn encode_limits(encoder: &mut Encoder, limits: &KeyLimits) {
    if *limits == KeyLimits::default() {
        return;
    }
    encoder.option(limits.actions.as_ref(), |encoder, actions| {
        encoder.count(actions.len());
        for action in actions {
            encoder.variant(&AuditAction::ALL, action);
        }
    });
    encoder.option(limits.filter.as_ref(), |encoder, filter| {
        encoder.option_text(filter.region.as_deref());
        encoder.option_text(filter.directory_id.as_deref());
    });
    encoder.option(limits.destructive_per_hour, |encoder, count| {
        encoder.varint(count.into());
    });
}

fn decode_limits(decoder: &mut Decoder<'_>) -> Result<KeyLimits> {
    if decoder.is_empty() {
        return Ok(KeyLimits::default());
    }
    let actions = |decoder: &mut Decoder<'_>| {
        let count = decoder.count()?;
        let actions = (0..count).map(|_| decoder.variant(&AuditAction::ALL));
        actions.collect()
    };
    let filter = |decoder: &mut Decoder<'_>| {
        let mut text = || decoder.option_text().map(|text| text.map(str::to_owned));
        Ok(KeyFilter {
            region: text()?,
            directory_id: text()?,
        })
    };
    let number =
        |decoder: &mut Decoder<'_>| u32::try_from(decoder.varint()?).map_err(|_| damaged());
    Ok(KeyLimits {
        actions: decoder.option(actions)?,
        filter: decoder.option(filter)?,
        destructive_per_hour: decoder.option(number)?,
    })
}

/// The seconds of the hour in which destructive actions count.
pub(crate) const HOUR_SECONDS: i64 = 60 * 60;

/// How many destructive actions a key has started in its current hour. It is a value of `meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Destructive {
    /// When the hour began: with the first of them.
    pub(crate) since: Timestamp,
    pub(crate) count: u64,
}

impl Destructive {
    fn key(id: u64) -> Vec<u8> {
        [b"destructive/".as_slice(), &id.to_be_bytes()].concat()
    }

    /// That of the key `id`, if it has started one ever.
    fn get(read: &impl Read, id: u64) -> Result<Option<Self>> {
        read.get(Table::Meta, &Self::key(id), |value| {
            let mut decoder = Decoder::new(value);
            let (since, count) = (decoder.time()?, decoder.varint()?);
            decoder.finish()?;
            Ok(Self { since, count })
        })
    }

    /// That of the key `id` in the hour of `now`. An hour begins with the first action after the hour before has ended.
    pub(crate) fn in_hour(read: &impl Read, id: u64, now: Timestamp) -> Result<Self> {
        // Nodes' clocks differ by a little; a clock that was set back by more begins a new hour.
        let is_current = |hour: &Self| {
            let begun = hour.since.plus_seconds(-HOUR_SECONDS);
            (begun..hour.since.plus_seconds(HOUR_SECONDS)).contains(&now)
        };
        let new = Self {
            since: now,
            count: 0,
        };
        Ok(Self::get(read, id)?.filter(is_current).unwrap_or(new))
    }

    /// Stores it for the key `id`.
    pub(crate) fn put(self, tables: &Tables<'_>, id: u64) -> Result<()> {
        let mut encoder = Encoder::default();
        encoder.time(self.since);
        encoder.varint(self.count);
        tables.put(Table::Meta, &Self::key(id), &encoder.finish())
    }
}

fn decode(id: u64, value: &[u8]) -> Result<StoredKey> {
    let mut decoder = Decoder::new(value);
    let hash = decoder.array()?;
    let scopes = Scopes::from_bits(decoder.u8()?);
    let key = StoredKey {
        hash,
        info: KeyInfo {
            id,
            scopes,
            name: decoder.text()?.to_owned(),
            created: decoder.time()?,
            expires: decoder.option_time()?,
            last_used: decoder.option_time()?,
            revoked: decoder.option_time()?,
            limits: decode_limits(&mut decoder)?,
        },
    };
    decoder.finish()?;
    Ok(key)
}
