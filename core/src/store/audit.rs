//! The audit. Key: row number, 8 bytes big-endian. Value: time, requester, action number, result number, then seven
//! optional values in the order of [`AuditEntry`].

use std::ops::Bound;

use crate::error::Result;
use crate::model::{AuditAction, AuditEntry, AuditResult};

use super::codec::{Decoder, Encoder};
use super::table::{Read, Step, Table, Tables, after_key, row_number};

/// The row of that number.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<AuditEntry>> {
    read.get(Table::Audit, &id.to_be_bytes(), |value| decode(id, value))
}

/// Writes a row, over one that is there.
pub(crate) fn put(tables: &Tables<'_>, entry: &AuditEntry) -> Result<()> {
    tables.put(Table::Audit, &entry.id.to_be_bytes(), &encode(entry))
}

/// Removes a row.
pub(crate) fn remove(tables: &Tables<'_>, id: u64) -> Result<()> {
    tables.remove(Table::Audit, &id.to_be_bytes())?;
    Ok(())
}

/// Visits the rows before the number `before`, newest first.
pub(crate) fn scan_before(
    read: &impl Read,
    before: Option<u64>,
    mut visit: impl FnMut(AuditEntry) -> Result<Step>,
) -> Result<()> {
    let before = before.map(u64::to_be_bytes);
    let end = before
        .as_ref()
        .map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_slice()));
    read.scan_back(Table::Audit, (Bound::Unbounded, end), |key, value| {
        visit(decode(row_number(key)?, value)?)
    })
}

/// Visits the rows after the number `after`, oldest first.
pub(crate) fn scan_after(
    read: &impl Read,
    after: Option<u64>,
    mut visit: impl FnMut(AuditEntry) -> Result<Step>,
) -> Result<()> {
    let after = after.map(u64::to_be_bytes);
    read.scan(Table::Audit, after_key(after.as_ref()), |key, value| {
        visit(decode(row_number(key)?, value)?)
    })
}

/// The value of a row, which its number is not in.
pub(super) fn encode(entry: &AuditEntry) -> Vec<u8> {
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
    encoder.finish()
}

fn decode(id: u64, value: &[u8]) -> Result<AuditEntry> {
    fn owned(text: Option<&str>) -> Option<String> {
        text.map(str::to_owned)
    }
    let mut decoder = Decoder::new(value);
    let time = decoder.time()?;
    let requester = decoder.text()?.to_owned();
    let action = decoder.variant(&AuditAction::ALL)?;
    let result = decoder.variant(&AuditResult::ALL)?;
    let entry = AuditEntry {
        id,
        time,
        requester,
        action,
        result,
        workspace_id: owned(decoder.option_text()?),
        username: owned(decoder.option_text()?),
        computer_name: owned(decoder.option_text()?),
        previous_state: owned(decoder.option_text()?),
        new_state: owned(decoder.option_text()?),
        completed_time: decoder.option_time()?,
        detail: owned(decoder.option_text()?),
        api_key_name: owned(decoder.option_text()?),
    };
    decoder.end()?;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use crate::timestamp::Timestamp;

    use super::*;

    #[test]
    fn every_action_and_result_survives() {
        for action in AuditAction::ALL {
            for result in AuditResult::ALL {
                let entry = AuditEntry {
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
                };
                let bytes = encode(&entry);
                assert_eq!(decode(7, &bytes).unwrap(), entry);
                assert!(decode(7, &bytes[..bytes.len() - 1]).is_err());
            }
        }
    }
}
