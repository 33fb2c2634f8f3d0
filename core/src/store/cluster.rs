//! The position of the store in the log that it shares with other nodes.

use crate::error::{EngineError, ErrorKind, Result};
use crate::timestamp::Timestamp;

use super::codec::{Decoder, Encoder};
use super::meta::{self, Sequence};
use super::table::{ALL_KEYS, Read, Step, Table, Tables};

/// The key of the node's position in the log; a file without it belongs to no cluster.
const APPLIED_KEY: &[u8] = b"applied";
const FOUNDING_KEY: &[u8] = b"founding";
const CONFIGURATION_KEY: &[u8] = b"fleet_configuration";
const RULES_KEY: &[u8] = b"rules";

/// Refuses the file of a node: a local write would make it differ from the other nodes.
pub(super) fn refuse(read: &impl Read) -> Result<()> {
    if !read.contains(Table::Meta, APPLIED_KEY)? {
        return Ok(());
    }
    let message = "the file belongs to a fleet of several nodes: start with --log and the address of its log, or open it for \
                reading only; `deskfleet cluster leave` makes a copy of it a store of its own";
    Err(EngineError::new(ErrorKind::Configuration, message))
}

/// A value of the hash chain over the log.
pub(crate) type Hash = [u8; 16];

/// How far the log is applied to the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Applied {
    /// The id of the first entry of the log: two logs never begin with the same.
    pub(crate) fleet: [u8; 16],
    /// The position of the last entry.
    pub(crate) position: u64,
    /// Its time.
    pub(crate) at: Timestamp,
    /// The chain before it and with it.
    pub(crate) before: Hash,
    pub(crate) chain: Hash,
}

/// The position of the node; `None` before its first entry.
pub(crate) fn applied(read: &impl Read) -> Result<Option<Applied>> {
    read.get(Table::Meta, APPLIED_KEY, |value| {
        let mut decoder = Decoder::new(value);
        let applied = Applied {
            fleet: decoder.array()?,
            position: u64::from_le_bytes(decoder.array()?),
            at: Timestamp::from_ticks(i64::from_le_bytes(decoder.array()?)),
            before: decoder.array()?,
            chain: decoder.array()?,
        };
        decoder.finish()?;
        Ok(applied)
    })
}

/// Stores the position of the node.
pub(crate) fn set_applied(tables: &Tables<'_>, applied: &Applied) -> Result<()> {
    let mut value = Encoder::with_capacity(64);
    value.raw(&applied.fleet);
    value.raw(&applied.position.to_le_bytes());
    value.raw(&applied.at.ticks().to_le_bytes());
    value.raw(&applied.before);
    value.raw(&applied.chain);
    tables.put(Table::Meta, APPLIED_KEY, &value.finish())
}

/// Takes the file out of its fleet; returns whether it was in one.
pub(crate) fn leave(tables: &Tables<'_>) -> Result<bool> {
    tables.remove(Table::Meta, FOUNDING_KEY)?;
    tables.remove(Table::Meta, RULES_KEY)?;
    tables.remove(Table::Meta, APPLIED_KEY)
}

/// Removes the settings that a store has of the fleet that it left: it is served by others.
pub(crate) fn forget_configuration(tables: &Tables<'_>) -> Result<()> {
    tables.remove(Table::Meta, CONFIGURATION_KEY).map(drop)
}

/// The settings that all nodes share, as lines `name=value`; `None` before the first entry. A store that left its fleet has them until it is
/// served, by a node that begins another fleet or alone.
pub(crate) fn fleet_configuration(read: &impl Read) -> Result<Option<String>> {
    read.get(Table::Meta, CONFIGURATION_KEY, |value| {
        Ok(String::from_utf8_lossy(value).into_owned())
    })
}

/// Stores the settings that all nodes share.
pub(crate) fn set_fleet_configuration(tables: &Tables<'_>, lines: &str) -> Result<()> {
    tables.put(Table::Meta, CONFIGURATION_KEY, lines.as_bytes())
}

/// The newest rules that an applied entry has; `None` before the first entry.
pub(crate) fn rules(read: &impl Read) -> Result<Option<u16>> {
    read.get(Table::Meta, RULES_KEY, |value| {
        Ok(u16::from_le_bytes(Decoder::new(value).array()?))
    })
}

/// Stores the newest rules that an applied entry has.
pub(crate) fn set_rules(tables: &Tables<'_>, rules: u16) -> Result<()> {
    tables.put(Table::Meta, RULES_KEY, &rules.to_le_bytes())
}

/// The id of the first entry, if this node tried to append it.
pub(crate) fn founding_id(read: &impl Read) -> Result<Option<[u8; 16]>> {
    read.get(Table::Meta, FOUNDING_KEY, |value| {
        Decoder::new(value).array()
    })
}

/// Stores the id of the first entry.
pub(crate) fn set_founding_id(tables: &Tables<'_>, id: [u8; 16]) -> Result<()> {
    tables.put(Table::Meta, FOUNDING_KEY, &id)
}

/// Whether the file has never stored anything.
pub(crate) fn is_fresh(read: &impl Read) -> Result<bool> {
    for sequence in [Sequence::Audit, Sequence::Key, Sequence::Event] {
        if meta::peek(read, sequence)? != 1 {
            return Ok(false);
        }
    }
    for table in [Table::Workspaces, Table::Queue, Table::History] {
        let mut empty = true;
        read.scan(table, ALL_KEYS, |_, _| {
            empty = false;
            Ok(Step::Break(()))
        })?;
        if !empty {
            return Ok(false);
        }
    }
    Ok(true)
}
