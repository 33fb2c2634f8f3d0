//! The API keys. Key: key number, 8 bytes big-endian. Value: SHA-256 of the secret, scopes, name, created, expires,
//! last used, revoked. The secret itself is nowhere.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::error::Result;
use crate::model::{KeyInfo, Scopes};
use crate::timestamp::Timestamp;

use super::codec::{Decoder, Encoder};
use super::table::{Read, Step, Table, Tables};

/// SHA-256 of a secret.
pub(crate) type SecretHash = [u8; 32];

/// A key as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredKey {
    pub(crate) hash: SecretHash,
    pub(crate) info: KeyInfo,
}

/// Every key, held in memory: each request asks for one.
#[derive(Debug, Default)]
pub(crate) struct KeyIndex {
    by_hash: BTreeMap<SecretHash, KeyInfo>,
}

impl KeyIndex {
    /// Reads all keys.
    pub(crate) fn rebuild(read: &impl Read) -> Result<Self> {
        let mut index = Self::default();
        for key in all(read)? {
            index.by_hash.insert(key.hash, key.info);
        }
        Ok(index)
    }

    /// The key of that secret, if it is accepted at `now`.
    pub(crate) fn accepted(&self, hash: &SecretHash, now: Timestamp) -> Option<&KeyInfo> {
        self.by_hash.get(hash).filter(|key| is_accepted(key, now))
    }

    /// Whether any key is accepted at `now`.
    pub(crate) fn any_accepted(&self, now: Timestamp) -> bool {
        self.by_hash.values().any(|key| is_accepted(key, now))
    }
}

fn is_accepted(key: &KeyInfo, now: Timestamp) -> bool {
    key.revoked.is_none() && key.expires.is_none_or(|expires| now < expires)
}

/// The key of that number.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<StoredKey>> {
    read.get(Table::Keys, &id.to_be_bytes(), |value| decode(id, value))
}

/// Every key, in the order of their numbers.
pub(crate) fn all(read: &impl Read) -> Result<Vec<StoredKey>> {
    let mut keys = Vec::new();
    let range = (Bound::Unbounded, Bound::Unbounded);
    read.scan(Table::Keys, range, |key, value| {
        let id = Decoder::new(key).array().map(u64::from_be_bytes)?;
        keys.push(decode(id, value)?);
        Ok(Step::Continue(()))
    })?;
    Ok(keys)
}

/// Writes a key, over one that is there.
pub(crate) fn put(tables: &mut Tables<'_>, key: &StoredKey) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.raw(&key.hash);
    encoder.u8(key.info.scopes.bits());
    encoder.text(&key.info.name);
    encoder.time(key.info.created);
    encoder.option_time(key.info.expires);
    encoder.option_time(key.info.last_used);
    encoder.option_time(key.info.revoked);
    tables.effects.keys_changed = true;
    tables.put(Table::Keys, &key.info.id.to_be_bytes(), &encoder.finish())
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
        },
    };
    decoder.end()?;
    Ok(key)
}
