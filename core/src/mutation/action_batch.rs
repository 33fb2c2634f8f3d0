//! Batches of actions: starting one, going on as its actions end, stopping it.

use crate::domain::{key_limits, keys as key_rules, lifecycle, validation};
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{BATCHES_ENDED_MAX, BATCHES_RUNNING_MAX, MAINTENANCE_ROWS_MAX};
use crate::model::{
    ActionBatch, ActionBatchRequest, ActionRequest, AuditAction, AuditResult, BatchItem, BatchStop,
    PRINCIPAL_ID,
};
use crate::store::fleet::{action_batches, keys};
use crate::store::meta;

use super::{Act, Caller, Context, Mutation, Outcome, RemoveWorkspace};

/// When to ask again where too many batches run, in seconds.
const FULL_RETRY_SECONDS: u32 = 60;

/// Starts an action on many workspaces.
#[derive(Debug)]
pub(crate) struct StartActionBatch {
    pub(crate) request: ActionBatchRequest,
    pub(crate) by: Caller,
}

impl Mutation for StartActionBatch {
    type Output = ActionBatch;

    fn bytes(&self) -> usize {
        let ids = self.request.workspace_ids.iter();
        ids.map(|id| BYTES_OF_ACTION + id.len()).sum()
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<ActionBatch>> {
        let Self { request, by } = self;
        let row = context.row(request.action, &by, request.requester.as_deref());
        let limits = context.limits(&by)?;
        let allowed = key_limits::allow_action(&limits, request.action);
        if let Err(error) = allowed.and_then(|()| compute_type(&request)) {
            return context.refused(row, error);
        }
        // Batches of which all have begun are bounded by their desktops.
        let mut going_on = 0;
        action_batches::each(context.tables, true, &mut |batch| {
            going_on += usize::from(batch.stopped.is_none() && batch.waiting > 0);
            Ok(())
        })?;
        if going_on >= BATCHES_RUNNING_MAX {
            let message = format!(
                "{BATCHES_RUNNING_MAX} batches of actions run already; wait until one has ended, or stop one."
            );
            return Ok(Err(EngineError::throttled(FULL_RETRY_SECONDS, message)));
        }
        let waiting = |workspace_id| BatchItem {
            workspace_id,
            result: None,
            code: None,
            action_id: None,
        };
        let api_key_id = by.key_id();
        let api_key_name = by.key.map(|(_, name)| name);
        let mut batch = ActionBatch {
            id: meta::next(context.tables, meta::Sequence::Batch)?,
            action: request.action,
            compute_type: request.compute_type,
            requester: request
                .requester
                .as_deref()
                .filter(|text| !text.is_empty())
                .map(validation::truncate_requester),
            api_key_name,
            api_key_id,
            at_once: request.at_once.unwrap_or(u32::MAX),
            stop_after_failures: request.stop_after_failures,
            started_at: context.now,
            ended_at: None,
            stopped: None,
            waiting: 0,
            running: 0,
            succeeded: 0,
            failed: 0,
            items: request.workspace_ids.into_iter().map(waiting).collect(),
        };
        let count = u32::try_from(batch.items.len()).unwrap_or(u32::MAX);
        batch.at_once = batch.at_once.min(count).max(1);
        batch.count();
        context.advance(&mut batch)?;
        Ok(Ok(batch))
    }
}

/// About how many bytes an action writes: its audit row, its event, its row in the outbox.
const BYTES_OF_ACTION: usize = 1024;

/// Checks the compute type of a batch, as that of one action is.
fn compute_type(request: &ActionBatchRequest) -> Result<()> {
    if let AuditAction::Lifecycle(action) = request.action {
        lifecycle::new_compute_type(action, request.compute_type.as_deref())?;
    }
    Ok(())
}

/// Lets no further action of a batch begin; those that run go on.
#[derive(Debug)]
pub(crate) struct StopActionBatch {
    pub(crate) id: u64,
    pub(crate) by: Caller,
}

impl Mutation for StopActionBatch {
    type Output = ActionBatch;

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<ActionBatch>> {
        let Some(mut batch) = action_batches::get(context.tables, self.id)? else {
            let error = EngineError::new(ErrorKind::NotFound, "No such batch.");
            return Ok(Err(error));
        };
        let limits = context.limits(&self.by)?;
        if let Err(error) = key_limits::allow_action(&limits, batch.action) {
            return Ok(Err(error));
        }
        if batch.ended_at.is_none() && batch.stopped.is_none() {
            batch.stopped = Some(BatchStop::Requested);
            context.advance(&mut batch)?;
            context.batch = Some(batch.id);
            let mut row = context.row(AuditAction::StopBatch, &self.by, None);
            context.batch = None;
            let (action, waiting) = (batch.action.as_str(), batch.waiting);
            row.set_detail(&format!("{action}, {waiting} not begun"));
            context.write_row(row, AuditResult::Completed)?;
        }
        Ok(Ok(batch))
    }
}

impl Context<'_, '_> {
    /// Goes on with the batch of that number, if it runs.
    pub(super) fn advance_batch(&mut self, id: u64) -> Result<()> {
        match action_batches::get(self.tables, id)? {
            Some(mut batch) if batch.ended_at.is_none() => self.advance(&mut batch),
            Some(_) | None => Ok(()),
        }
    }

    /// Notes which actions of a batch have ended, begins as many as may run now, and writes it.
    fn advance(&mut self, batch: &mut ActionBatch) -> Result<()> {
        for item in &mut batch.items {
            if let (Some(AuditResult::Accepted), Some(id)) = (item.result, item.action_id) {
                // A row that is no longer kept was of an action that ended long ago.
                item.result = self.end_of(id)?.or(Some(AuditResult::Completed));
            }
        }
        batch.count();
        if batch.stopped.is_none() && batch.waiting > 0 && self.is_key_ended(batch)? {
            batch.stopped = Some(BatchStop::KeyEnded);
        }
        let (mut place, mut begun) = (0, 0);
        loop {
            let is_over = batch
                .stop_after_failures
                .is_some_and(|max| batch.failed >= u64::from(max));
            if is_over && batch.waiting > 0 {
                batch.stopped = batch.stopped.or(Some(BatchStop::Failures));
            }
            // The other ones begin in the next step: the writer waits for this one.
            if !batch.can_begin() || begun == MAINTENANCE_ROWS_MAX {
                break;
            }
            let Some(item) = batch.items.get(place) else {
                break;
            };
            if item.result.is_none() {
                self.begin(batch, place)?;
                begun += 1;
            }
            place += 1;
        }
        if batch.running == 0 && (batch.waiting == 0 || batch.stopped.is_some()) {
            batch.ended_at = Some(self.now);
            let ended = action_batches::ids(self.tables, false)?;
            for old in ended.iter().rev().skip(BATCHES_ENDED_MAX - 1) {
                action_batches::remove_ended(self.tables, *old)?;
            }
        }
        action_batches::put(self.tables, batch)
    }

    /// Begins the action on the workspace at `place`.
    fn begin(&mut self, batch: &mut ActionBatch, place: usize) -> Result<()> {
        let Some(item) = batch.items.get_mut(place) else {
            return Ok(());
        };
        let by = Caller {
            key: batch
                .api_key_name
                .clone()
                .map(|name| (batch.api_key_id.unwrap_or(PRINCIPAL_ID), name)),
        };
        let id = Some(item.workspace_id.clone());
        self.batch = Some(batch.id);
        let begun = if let AuditAction::Lifecycle(action) = batch.action {
            let request = ActionRequest {
                action,
                workspace_id: id,
                sam_account: None,
                requester: batch.requester.clone(),
                compute_type: batch.compute_type.clone(),
            };
            let begun = Act { request, by }.apply(self);
            begun.map(|begun| begun.map(|id| (AuditResult::NoChange, id)))
        } else {
            // The only other action of a batch.
            let removed = RemoveWorkspace { id, by }.apply(self);
            removed.map(|removed| removed.map(|()| (AuditResult::Completed, None)))
        };
        self.batch = None;
        batch.waiting -= 1;
        match begun? {
            Ok((_, Some(id))) => {
                (item.result, item.action_id) = (Some(AuditResult::Accepted), Some(id));
                batch.running += 1;
            }
            Ok((result, None)) => {
                item.result = Some(result);
                batch.succeeded += 1;
            }
            Err(error) if error.kind() == ErrorKind::Throttled => {
                // Each further one would be refused for the same reason.
                batch.stopped = Some(BatchStop::Throttled);
                batch.waiting += 1;
            }
            Err(error) => {
                item.result = Some(AuditResult::Refused);
                item.code = Some(error.kind().code().to_owned());
                batch.failed += 1;
            }
        }
        Ok(())
    }

    /// Whether the key that started a batch is no longer accepted.
    fn is_key_ended(&self, batch: &ActionBatch) -> Result<bool> {
        let Some(id) = batch.api_key_id else {
            return Ok(false);
        };
        let key = keys::get(self.tables, id)?;
        Ok(!key.is_some_and(|key| key_rules::is_accepted(&key.info, self.now)))
    }
}
