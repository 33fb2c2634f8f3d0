//! The outbox: the actions that have not ended. Key: action number, 8 bytes big-endian. Value: optional due time, then
//! `workSpId`. The rest of an action stands with its workspace.

use crate::error::Result;
use crate::timestamp::Timestamp;

use super::codec::{Decoder, Encoder};
use super::table::{Read, Step, Table, Tables, after_key, row_number};

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) id: u64,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) workspace_id: String,
}

/// The row of that action.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<Pending>> {
    read.get(Table::Pending, &id.to_be_bytes(), |value| decode(id, value))
}

/// Adds a row.
pub(crate) fn put(tables: &Tables<'_>, pending: &Pending) -> Result<()> {
    let mut encoder = Encoder::default();
    encoder.option_time(pending.due_at);
    encoder.text(&pending.workspace_id);
    tables.put(Table::Pending, &pending.id.to_be_bytes(), &encoder.finish())
}

/// Removes a row.
pub(crate) fn remove(tables: &Tables<'_>, id: u64) -> Result<()> {
    tables.remove(Table::Pending, &id.to_be_bytes())?;
    Ok(())
}

/// Visits the rows after the number `after`, in the order of their numbers.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<u64>,
    visit: &mut dyn FnMut(Pending) -> Result<Step>,
) -> Result<()> {
    let after = after.map(u64::to_be_bytes);
    read.scan(Table::Pending, after_key(after.as_ref()), |key, value| {
        visit(decode(row_number(key)?, value)?)
    })
}

fn decode(id: u64, value: &[u8]) -> Result<Pending> {
    let mut decoder = Decoder::new(value);
    let pending = Pending {
        id,
        due_at: decoder.option_time()?,
        workspace_id: decoder.text()?.to_owned(),
    };
    decoder.end()?;
    Ok(pending)
}
