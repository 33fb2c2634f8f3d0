//! The litigation holds. Key: `workSpId`. Value: matter, optional reason, placed by, placed at.

use std::ops::Bound;

use crate::error::Result;
use crate::model::LitigationHold;
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{KeyRange, Read, Step, Table, Tables, after_key};

/// A hold in its stored form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoldRef<'v> {
    pub(crate) matter: &'v str,
    pub(crate) reason: Option<&'v str>,
    pub(crate) placed_by: &'v str,
    pub(crate) placed_at: Timestamp,
}

/// The hold on a workspace.
pub(crate) fn get(read: &impl Read, id: &str) -> Result<Option<LitigationHold>> {
    read.get(Table::Holds, id.as_bytes(), |value| {
        let hold = decode(value)?;
        Ok(LitigationHold {
            matter: hold.matter.to_owned(),
            reason: hold.reason.map(str::to_owned),
            placed_by: hold.placed_by.to_owned(),
            placed_at: hold.placed_at,
        })
    })
}

/// Places or replaces a hold.
pub(crate) fn put(tables: &Tables<'_>, id: &str, hold: &LitigationHold) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.text(&hold.matter);
    encoder.option_text(hold.reason.as_deref());
    encoder.text(&hold.placed_by);
    encoder.time(hold.placed_at);
    tables.effects.held.take();
    tables.put(Table::Holds, id.as_bytes(), &encoder.finish())
}

/// Removes a hold.
pub(crate) fn remove(tables: &Tables<'_>, id: &str) -> Result<()> {
    tables.effects.held.take();
    tables.remove(Table::Holds, id.as_bytes())?;
    Ok(())
}

/// Visits the ids of the held workspaces after `after`, in order.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<&str>,
    mut visit: impl FnMut(&str) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Holds, after_key(after), |id, _| visit(id_of(id)?))
}

/// Visits the holds on the workspaces in a range of ids, in their order.
pub(crate) fn scan(
    read: &impl Read,
    range: KeyRange<'_>,
    visit: &mut dyn FnMut(&str, HoldRef<'_>) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Holds, range, |id, value| {
        visit(id_of(id)?, decode(value)?)
    })
}

/// The range of one id.
pub(crate) fn only(id: &str) -> KeyRange<'_> {
    let bound = Bound::Included(id.as_bytes());
    (bound, bound)
}

fn id_of(key: &[u8]) -> Result<&str> {
    std::str::from_utf8(key).map_err(|_| damaged())
}

pub(in crate::store) fn decode(bytes: &[u8]) -> Result<HoldRef<'_>> {
    let mut decoder = Decoder::new(bytes);
    let hold = HoldRef {
        matter: decoder.text()?,
        reason: decoder.option_text()?,
        placed_by: decoder.text()?,
        placed_at: decoder.time()?,
    };
    decoder.finish()?;
    Ok(hold)
}
