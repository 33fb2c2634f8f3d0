//! The outbox: the actions that have not ended. Key: action number, 8 bytes big-endian. Value: optional due time, then
//! `workSpId`, then the attempts of a provider, if any. The other members of an action are stored with its workspace.

use crate::error::Result;
use crate::model::{Attempt, PendingAction};
use crate::timestamp::Timestamp;

use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::fleet::workspaces::Transition;
use crate::store::table::{Read, Step, Table, Tables, after_key, row_number};

/// A row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) id: u64,
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) workspace_id: String,
    /// `None` while no provider has begun.
    pub(crate) dispatched: Option<Dispatched>,
}

/// The attempts of a provider at an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dispatched {
    /// The last attempt; its number is how many there were.
    pub(crate) attempt: Attempt,
    /// When the last attempt began.
    pub(crate) begun_at: Timestamp,
    /// The note of the provider.
    pub(crate) note: Option<String>,
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
    if let Some(dispatched) = &pending.dispatched {
        let attempt = &dispatched.attempt;
        encoder.varint(attempt.number.into());
        encoder.time(dispatched.begun_at);
        encoder.text(&attempt.provider);
        encoder.option_text(attempt.instance.as_deref());
        encoder.option_text(dispatched.note.as_deref());
    }
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

impl Dispatched {
    /// A summary for the audit: `aws, 2 attempts, request 7f-1`.
    pub(crate) fn summary(&self) -> String {
        let Attempt {
            number, provider, ..
        } = &self.attempt;
        let plural = if *number == 1 { "" } else { "s" };
        let mut message = format!("{provider}, {number} attempt{plural}");
        if let Some(note) = &self.note {
            message.push_str(", request ");
            message.push_str(note);
        }
        message
    }
}

impl Pending {
    /// The row and the rest of its action, as the outbox shows it.
    pub(crate) fn into_action(self, running: Transition) -> PendingAction {
        let dispatched = self.dispatched;
        PendingAction {
            id: running.id,
            action: running.action,
            workspace_id: self.workspace_id,
            requested_at: running.requested_at,
            due_at: running.due_at,
            compute_type: running.compute_type,
            attempts: dispatched.as_ref().map_or(0, |last| last.attempt.number),
            last_attempt_at: dispatched.as_ref().map(|last| last.begun_at),
            provider: dispatched
                .as_ref()
                .map(|last| last.attempt.provider.clone()),
            note: dispatched.and_then(|last| last.note),
        }
    }
}

/// The action that runs on the workspace `id`, as the outbox shows it.
pub(crate) fn shown(read: &impl Read, id: &str, running: Transition) -> Result<PendingAction> {
    let row = get(read, running.id)?.unwrap_or_else(|| Pending {
        id: running.id,
        due_at: running.due_at,
        workspace_id: id.to_owned(),
        dispatched: None,
    });
    Ok(row.into_action(running))
}

fn decode(id: u64, value: &[u8]) -> Result<Pending> {
    let mut decoder = Decoder::new(value);
    let mut pending = Pending {
        id,
        due_at: decoder.option_time()?,
        workspace_id: decoder.text()?.to_owned(),
        dispatched: None,
    };
    if !decoder.is_empty() {
        let number = u32::try_from(decoder.varint()?).map_err(|_| damaged())?;
        let begun_at = decoder.time()?;
        pending.dispatched = Some(Dispatched {
            attempt: Attempt {
                number,
                provider: decoder.text()?.to_owned(),
                instance: decoder.option_text()?.map(str::to_owned),
            },
            begun_at,
            note: decoder.option_text()?.map(str::to_owned),
        });
    }
    decoder.finish()?;
    Ok(pending)
}
