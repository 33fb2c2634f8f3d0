//! The event log. Key: number of the event, 8 bytes big-endian. Value: time, type number, optional `workSpId`, optional username,
//! detail.

use std::ops::Bound;

use crate::error::Result;
use crate::limits::MAINTENANCE_ROWS_MAX;
use crate::model::{EventType, FleetEvent, is_detail};

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::meta::{self, Sequence};
use crate::store::table::{ALL_KEYS, Read, Step, Table, Tables, after_key, row_number};

/// Appends an event and gives it its number.
pub(crate) fn append(tables: &mut Tables<'_>, mut event: FleetEvent) -> Result<()> {
    event.id = meta::next(tables, Sequence::Event)?;
    tables.put(Table::Events, &event.id.to_be_bytes(), &encode(&event))?;
    tables.effects.last_event = Some(event.id);
    Ok(())
}

/// The number of the last event, also of one that is no longer kept; 0 before the first.
pub(crate) fn last(read: &impl Read) -> Result<u64> {
    Ok(meta::peek(read, Sequence::Event)?.saturating_sub(1))
}

/// The number of the oldest event that is kept.
pub(crate) fn oldest(read: &impl Read) -> Result<Option<u64>> {
    let mut oldest = None;
    read.scan(Table::Events, ALL_KEYS, |key, _| {
        oldest = Some(row_number(key)?);
        Ok(Step::Break(()))
    })?;
    Ok(oldest)
}

/// Visits the events after the number `after`, oldest first.
pub(crate) fn scan_after(
    read: &impl Read,
    after: u64,
    visit: &mut dyn FnMut(FleetEvent) -> Result<Step>,
) -> Result<()> {
    let after = after.to_be_bytes();
    read.scan(Table::Events, after_key(Some(&after)), |key, value| {
        visit(decode(row_number(key)?, value)?)
    })
}

/// Removes events with numbers below `below`, oldest first and at most a step's worth; returns whether there may be more.
pub(crate) fn remove_below(tables: &Tables<'_>, below: u64) -> Result<bool> {
    let below = below.to_be_bytes();
    let range = (Bound::Unbounded, Bound::Excluded(below.as_slice()));
    let mut keys = Vec::new();
    tables.scan(Table::Events, range, |key, _| {
        keys.push(key.to_vec());
        Ok(if keys.len() < MAINTENANCE_ROWS_MAX {
            Step::Continue(())
        } else {
            Step::Break(())
        })
    })?;
    for key in &keys {
        tables.remove(Table::Events, key)?;
    }
    Ok(keys.len() == MAINTENANCE_ROWS_MAX)
}

fn encode(event: &FleetEvent) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.time(event.at);
    encoder.variant(&EventType::STORED, &event.kind);
    encoder.option_text(event.workspace_id.as_deref());
    encoder.option_text(event.username.as_deref());
    encoder.text(&event.detail);
    encoder.finish()
}

fn decode(id: u64, value: &[u8]) -> Result<FleetEvent> {
    let mut decoder = Decoder::new(value);
    let event = FleetEvent {
        id,
        at: decoder.time()?,
        kind: decoder.variant(&EventType::STORED)?,
        workspace_id: decoder.option_text()?.map(str::to_owned),
        username: decoder.option_text()?.map(str::to_owned),
        detail: decoder.text()?.to_owned(),
    };
    decoder.finish()?;
    if !is_detail(&event.detail) {
        return Err(damaged());
    }
    Ok(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    #[test]
    fn every_type_of_event_survives() {
        for kind in EventType::STORED {
            let event = FleetEvent {
                id: 7,
                at: Timestamp::MAX,
                kind,
                workspace_id: Some("ws-1".into()),
                username: None,
                detail: "{}".into(),
            };
            let bytes = encode(&event);
            assert_eq!(decode(7, &bytes).unwrap(), event);
            assert!(decode(7, &bytes[..bytes.len() - 1]).is_err());
        }
    }
}
