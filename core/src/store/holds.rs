//! The litigation holds. Key: `workSpId`. Value: matter, optional reason, placed by, placed at.

use crate::error::Result;
use crate::model::LitigationHold;

use super::codec::{Decoder, Encoder, damaged};
use super::table::{Read, Step, Table, Tables, after_key};

/// The hold on a workspace.
pub(crate) fn get(read: &impl Read, id: &str) -> Result<Option<LitigationHold>> {
    read.get(Table::Holds, id.as_bytes(), decode)
}

/// Places a hold, over one that is there.
pub(crate) fn put(tables: &Tables<'_>, id: &str, hold: &LitigationHold) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.text(&hold.matter);
    encoder.option_text(hold.reason.as_deref());
    encoder.text(&hold.placed_by);
    encoder.time(hold.placed_at);
    tables.put(Table::Holds, id.as_bytes(), &encoder.finish())
}

/// Removes a hold.
pub(crate) fn remove(tables: &Tables<'_>, id: &str) -> Result<()> {
    tables.remove(Table::Holds, id.as_bytes())?;
    Ok(())
}

/// Visits the ids of the held workspaces after `after`, in order.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<&str>,
    mut visit: impl FnMut(&str) -> Result<Step>,
) -> Result<()> {
    read.scan(Table::Holds, after_key(after), |id, _| {
        visit(std::str::from_utf8(id).map_err(|_| damaged())?)
    })
}

pub(super) fn decode(bytes: &[u8]) -> Result<LitigationHold> {
    let mut decoder = Decoder::new(bytes);
    let hold = LitigationHold {
        matter: decoder.text()?.to_owned(),
        reason: decoder.option_text()?.map(str::to_owned),
        placed_by: decoder.text()?.to_owned(),
        placed_at: decoder.time()?,
    };
    decoder.end()?;
    Ok(hold)
}
