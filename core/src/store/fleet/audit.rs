//! The audit. Key: row number, 8 bytes big-endian. Value: time, requester, action number, result number, then seven
//! optional values in the order of [`AuditEntry`]; then the number of the key, where one was used; then what marks the row, where something does.

use std::ops::Bound;

use crate::error::Result;
use crate::model::{AuditAction, AuditEntry, AuditResult};
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{Read, Step, Table, Tables, after_key, row_number};

/// The row of that number.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<AuditEntry>> {
    read.get(Table::Audit, &id.to_be_bytes(), |value| decode(id, value))
}

/// Writes or replaces a row.
pub(crate) fn put(tables: &Tables<'_>, entry: &AuditEntry) -> Result<()> {
    tables.put(Table::Audit, &entry.id.to_be_bytes(), &encode(entry))
}

/// Removes a row.
pub(crate) fn remove(tables: &Tables<'_>, id: u64) -> Result<()> {
    tables.remove(Table::Audit, &id.to_be_bytes())?;
    Ok(())
}

/// A row in its stored form: a search decodes only what it needs.
pub(crate) struct StoredRow<'v> {
    pub(crate) id: u64,
    pub(crate) time: Timestamp,
    pub(crate) requester: &'v str,
    pub(crate) action: AuditAction,
    pub(crate) result: AuditResult,
    pub(crate) workspace_id: Option<&'v str>,
    rest: Decoder<'v>,
}

/// Visits the rows before the number `before`, newest first.
pub(crate) fn scan_before(
    read: &impl Read,
    before: Option<u64>,
    visit: &mut dyn FnMut(StoredRow<'_>) -> Result<Step>,
) -> Result<()> {
    let before = before.map(u64::to_be_bytes);
    let end = before
        .as_ref()
        .map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_slice()));
    read.scan_back(Table::Audit, (Bound::Unbounded, end), |key, value| {
        visit(StoredRow::begin(row_number(key)?, value)?)
    })
}

/// Visits the rows after the number `after`, oldest first.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<u64>,
    visit: &mut dyn FnMut(AuditEntry) -> Result<Step>,
) -> Result<()> {
    let after = after.map(u64::to_be_bytes);
    read.scan(Table::Audit, after_key(after.as_ref()), |key, value| {
        visit(decode(row_number(key)?, value)?)
    })
}

/// The mark of an action that the clock ends.
const SIMULATED: u8 = 1;
/// The mark of an action of a batch; the number of the batch follows the marks.
const OF_BATCH: u8 = 2;

/// The value of a row, without its number.
pub(in crate::store) fn encode(entry: &AuditEntry) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.time(entry.time);
    encoder.text(&entry.requester);
    encoder.variant(&AuditAction::ALL, &entry.action);
    encoder.variant(&AuditResult::ALL, &entry.result);
    encoder.option_text(entry.workspace_id.as_deref());
    encoder.option_text(entry.username.as_deref());
    encoder.option_text(entry.computer_name.as_deref());
    encoder.option_text(entry.previous_state.as_deref());
    encoder.option_text(entry.new_state.as_deref());
    encoder.option_time(entry.completed_time);
    encoder.option_text(entry.detail.as_deref());
    encoder.option_text(entry.api_key_name.as_deref());
    // No key has the number 0.
    let simulated = if entry.simulated { SIMULATED } else { 0 };
    let marks = simulated | entry.batch_id.map_or(0, |_| OF_BATCH);
    if entry.api_key_id.is_some() || marks > 0 {
        encoder.varint(entry.api_key_id.unwrap_or(0));
    }
    if marks > 0 {
        encoder.u8(marks);
    }
    if let Some(batch) = entry.batch_id {
        encoder.varint(batch);
    }
    encoder.finish()
}

fn decode(id: u64, value: &[u8]) -> Result<AuditEntry> {
    StoredRow::begin(id, value)?.entry()
}

impl<'v> StoredRow<'v> {
    fn begin(id: u64, value: &'v [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(value);
        Ok(Self {
            id,
            time: decoder.time()?,
            requester: decoder.text()?,
            action: decoder.variant(&AuditAction::ALL)?,
            result: decoder.variant(&AuditResult::ALL)?,
            workspace_id: decoder.option_text()?,
            rest: decoder,
        })
    }

    /// The whole row.
    pub(crate) fn entry(self) -> Result<AuditEntry> {
        fn owned(text: Option<&str>) -> Option<String> {
            text.map(str::to_owned)
        }
        let mut rest = self.rest;
        let mut entry = AuditEntry {
            id: self.id,
            time: self.time,
            requester: self.requester.to_owned(),
            action: self.action,
            result: self.result,
            workspace_id: owned(self.workspace_id),
            username: owned(rest.option_text()?),
            computer_name: owned(rest.option_text()?),
            previous_state: owned(rest.option_text()?),
            new_state: owned(rest.option_text()?),
            completed_time: rest.option_time()?,
            detail: owned(rest.option_text()?),
            api_key_name: owned(rest.option_text()?),
            simulated: false,
            batch_id: None,
            api_key_id: None,
        };
        // A row of a call without a key ends here, unless it is marked.
        if !rest.is_empty() {
            entry.api_key_id = Some(rest.varint()?).filter(|id| *id != 0);
        }
        if !rest.is_empty() {
            let marks = rest.u8()?;
            if marks == 0 || marks & !(SIMULATED | OF_BATCH) != 0 {
                return Err(damaged());
            }
            entry.simulated = marks & SIMULATED != 0;
            if marks & OF_BATCH != 0 {
                entry.batch_id = Some(rest.varint()?);
            }
        }
        rest.finish()?;
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(action: AuditAction, result: AuditResult) -> AuditEntry {
        AuditEntry {
            id: 7,
            time: Timestamp::MIN,
            requester: "svc-desk".into(),
            action,
            workspace_id: Some("ws-1".into()),
            username: None,
            computer_name: Some(String::new()),
            result,
            previous_state: None,
            new_state: Some("AVAILABLE".into()),
            completed_time: Some(Timestamp::MAX),
            detail: None,
            api_key_name: Some("desk".into()),
            simulated: false,
            batch_id: None,
            api_key_id: Some(300),
        }
    }

    #[test]
    fn every_action_and_result_survives() {
        for action in AuditAction::ALL {
            for result in AuditResult::ALL {
                let entry = row(action, result);
                let bytes = encode(&entry);
                assert_eq!(decode(7, &bytes).unwrap(), entry);
                assert!(decode(7, &bytes[..bytes.len() - 1]).is_err());
            }
        }
    }

    #[test]
    fn row_with_and_without_a_key_number_and_marks_round_trips() {
        let mut entry = row(AuditAction::IssueKey, AuditResult::Completed);
        for api_key_id in [None, Some(1), Some(300)] {
            for (simulated, batch_id) in [
                (false, None),
                (true, None),
                (false, Some(9)),
                (true, Some(300)),
            ] {
                (entry.api_key_id, entry.simulated) = (api_key_id, simulated);
                entry.batch_id = batch_id;
                assert_eq!(decode(7, &encode(&entry)).unwrap(), entry);
            }
        }
    }
}
