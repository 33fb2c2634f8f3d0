//! Batches of actions. They are values of `meta`. Key: `batch/`, then `r` while it runs or `e` once it has ended, then its number, 8 bytes
//! big-endian. A batch that runs is found without reading those that have ended.

use crate::error::Result;
use crate::model::{ActionBatch, AuditAction, AuditResult, BatchItem, BatchStop};

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::table::{Read, Step, Table, Tables, after_prefix, key_range};

const RUNNING: &[u8] = b"batch/r";
const ENDED: &[u8] = b"batch/e";

fn key(prefix: &[u8], id: u64) -> Vec<u8> {
    [prefix, &id.to_be_bytes()].concat()
}

/// The batch of that number.
pub(crate) fn get(read: &impl Read, id: u64) -> Result<Option<ActionBatch>> {
    for prefix in [RUNNING, ENDED] {
        let found = read.get(Table::Meta, &key(prefix, id), |value| decode(id, value))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Writes or replaces a batch.
pub(crate) fn put(tables: &Tables<'_>, batch: &ActionBatch) -> Result<()> {
    let running = key(RUNNING, batch.id);
    if batch.ended_at.is_none() {
        return tables.put(Table::Meta, &running, &encode(batch));
    }
    tables.remove(Table::Meta, &running)?;
    tables.put(Table::Meta, &key(ENDED, batch.id), &encode(batch))
}

/// Removes a batch that has ended.
pub(crate) fn remove_ended(tables: &Tables<'_>, id: u64) -> Result<()> {
    tables.remove(Table::Meta, &key(ENDED, id))?;
    Ok(())
}

fn scan(
    read: &impl Read,
    is_running: bool,
    visit: &mut dyn FnMut(u64, &[u8]) -> Result<Step>,
) -> Result<()> {
    let prefix = if is_running { RUNNING } else { ENDED };
    let end = after_prefix(prefix);
    let range = key_range(Some(prefix), end.as_deref());
    read.scan(Table::Meta, range, |key, value| {
        let id = key.get(prefix.len()..).unwrap_or_default();
        let id = u64::from_be_bytes(id.try_into().map_err(|_| damaged())?);
        visit(id, value)
    })
}

/// Visits the batches that run, or those that have ended, oldest first: one is in memory at a time.
pub(crate) fn each(
    read: &impl Read,
    is_running: bool,
    visit: &mut dyn FnMut(ActionBatch) -> Result<()>,
) -> Result<()> {
    scan(read, is_running, &mut |id, value| {
        visit(decode(id, value)?)?;
        Ok(Step::Continue(()))
    })
}

/// The numbers of the batches that run, or of those that have ended, oldest first.
pub(crate) fn ids(read: &impl Read, is_running: bool) -> Result<Vec<u64>> {
    let mut ids = Vec::new();
    scan(read, is_running, &mut |id, _| {
        ids.push(id);
        Ok(Step::Continue(()))
    })?;
    Ok(ids)
}

fn encode(batch: &ActionBatch) -> Vec<u8> {
    let mut encoder = Encoder::default();
    encoder.variant(&AuditAction::ALL, &batch.action);
    encoder.option_text(batch.compute_type.as_deref());
    encoder.option_text(batch.requester.as_deref());
    encoder.option(batch.api_key_id, Encoder::varint);
    encoder.option_text(batch.api_key_name.as_deref());
    encoder.varint(batch.at_once.into());
    encoder.varint(batch.stop_after_failures.unwrap_or(0).into());
    encoder.time(batch.started_at);
    encoder.option_time(batch.ended_at);
    encoder.option(batch.stopped, |encoder, stop| {
        encoder.variant(&BatchStop::ALL, &stop);
    });
    encoder.count(batch.items.len());
    for item in &batch.items {
        encoder.text(&item.workspace_id);
        encoder.option(item.result, |encoder, result| {
            encoder.variant(&AuditResult::ALL, &result);
        });
        encoder.option_text(item.code.as_deref());
        encoder.option(item.action_id, Encoder::varint);
    }
    encoder.finish()
}

fn decode(id: u64, value: &[u8]) -> Result<ActionBatch> {
    fn owned(text: Option<&str>) -> Option<String> {
        text.map(str::to_owned)
    }
    fn small(value: u64) -> Result<u32> {
        u32::try_from(value).map_err(|_| damaged())
    }
    let mut decoder = Decoder::new(value);
    let mut batch = ActionBatch {
        id,
        action: decoder.variant(&AuditAction::ALL)?,
        compute_type: owned(decoder.option_text()?),
        requester: owned(decoder.option_text()?),
        api_key_id: decoder.option(Decoder::varint)?,
        api_key_name: owned(decoder.option_text()?),
        at_once: small(decoder.varint()?)?,
        stop_after_failures: Some(small(decoder.varint()?)?).filter(|count| *count > 0),
        started_at: decoder.time()?,
        ended_at: decoder.option_time()?,
        stopped: decoder.option(|decoder| decoder.variant(&BatchStop::ALL))?,
        waiting: 0,
        running: 0,
        succeeded: 0,
        failed: 0,
        items: Vec::new(),
    };
    for _ in 0..decoder.count()? {
        batch.items.push(BatchItem {
            workspace_id: decoder.text()?.to_owned(),
            result: decoder.option(|decoder| decoder.variant(&AuditResult::ALL))?,
            code: owned(decoder.option_text()?),
            action_id: decoder.option(Decoder::varint)?,
        });
    }
    decoder.finish()?;
    batch.count();
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use crate::model::{Action, ActionBatchRequest};
    use crate::timestamp::Timestamp;

    use super::*;

    #[test]
    fn batch_round_trips_and_no_part_of_it_is_a_batch() {
        let request = ActionBatchRequest::new(Action::Reboot, ["ws-1", "ws-2"]);
        let item = |workspace_id: &str, result, code: Option<&str>, action_id| BatchItem {
            workspace_id: workspace_id.to_owned(),
            result,
            code: code.map(str::to_owned),
            action_id,
        };
        let items = vec![
            item("ws-1", Some(AuditResult::Accepted), None, Some(300)),
            item(
                "ws-2",
                Some(AuditResult::Refused),
                Some("LitigationHold"),
                None,
            ),
            item("ws-3", None, None, None),
        ];
        let mut batch = ActionBatch {
            id: 7,
            action: request.action,
            compute_type: None,
            requester: Some("Ada".to_owned()),
            api_key_name: Some("desk".to_owned()),
            api_key_id: Some(3),
            at_once: 20,
            stop_after_failures: None,
            started_at: Timestamp::UNIX_EPOCH,
            ended_at: None,
            stopped: None,
            waiting: 1,
            running: 1,
            succeeded: 0,
            failed: 1,
            items,
        };
        for stopped in [None, Some(BatchStop::Failures)] {
            batch.stopped = stopped;
            batch.stop_after_failures = stopped.map(|_| 1);
            let bytes = encode(&batch);
            assert_eq!(decode(7, &bytes).unwrap(), batch);
            for end in 0..bytes.len() {
                assert!(decode(7, &bytes[..end]).is_err(), "{end}");
            }
        }
    }
}
