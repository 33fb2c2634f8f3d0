//! Actions and the audit, from Rust.

use crate::domain::{action_batches, validation};
use crate::engine::typed::all_pages;
use crate::engine::{Engine, WriteFuture};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::{EngineError, Result};
use crate::limits::LEASE_SECONDS_MAX;
use crate::model::{
    ActionBatch, ActionBatchRequest, ActionRequest, Attempt, AuditAction, AuditEntry, FailedState,
    KeyInfo, PendingAction, ProviderLease,
};
use crate::mutation::{
    Act, AuditAccess, Caller, CompleteAction, DispatchAction, FailAction, NoteAction,
    StartActionBatch, StopActionBatch, TakeLease,
};
use crate::view::actions::{self, ActionPage, ActionQuery, Actions, Unattended};
use crate::view::audit::{AuditPage, AuditQuery, AuditRows};
use crate::view::pages;
use crate::wire::problem::Code;

/// Actions.
impl Engine {
    /// Requests a lifecycle action. `Ok` means accepted; the next read shows the transitional state.
    ///
    /// Returns the number of the action, by which [`Self::pending_actions`] lists it and [`Self::complete_action`] ends it;
    /// `None` when nothing changes, as for a change to the current compute type.
    ///
    /// # Errors
    /// The refusals of the interface, each an [`ErrorKind`] of the same name; each makes an audit row.
    pub fn act(&self, request: ActionRequest) -> Result<Option<u64>> {
        let by = Caller::HOST;
        self.core().run(Act { request, by })
    }

    /// The same as a future that any executor can drive. The action is submitted at once, in this call; dropping the future does
    /// not take it back.
    pub fn act_async(&self, request: ActionRequest) -> WriteFuture<Option<u64>> {
        let by = Caller::HOST;
        let submitted = self.core().submit(Act { request, by });
        WriteFuture::new(&self.running.core, Ok(submitted))
    }

    /// Starts an action on many workspaces: as many at once as the request says, the others in [`Self::maintain`] as those end. Each has
    /// an audit row and events with the number of the batch, as if it had been requested alone; a refusal of one is no error.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a request that is out of bounds, [`ErrorKind::Throttled`] where
    /// [`BATCHES_RUNNING_MAX`](crate::limits::BATCHES_RUNNING_MAX) batches run.
    pub fn start_actions(&self, request: ActionBatchRequest) -> Result<ActionBatch> {
        action_batches::check(&request)?;
        let by = Caller::HOST;
        self.core().run(StartActionBatch { request, by })
    }

    /// A batch of actions, as of its last step.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]: [`BATCHES_ENDED_MAX`](crate::limits::BATCHES_ENDED_MAX) are kept after their end.
    pub fn action_batch(&self, id: u64) -> Result<ActionBatch> {
        actions::batch_of(&self.core().reader()?, id)
    }

    /// The batches of actions that run, and the newest that have ended; newest first, without their items.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn action_batches(&self) -> Result<Vec<ActionBatch>> {
        actions::batches(&self.core().reader()?)
    }

    /// Lets no further action of a batch begin; those that run go on.
    ///
    /// # Errors
    /// Those of [`Self::action_batch`].
    pub fn stop_action_batch(&self, id: u64) -> Result<ActionBatch> {
        let by = Caller::HOST;
        self.core().run(StopActionBatch { id, by })
    }

    /// The outbox: all actions that have not ended, in the order they were accepted. No crash takes back what is in it.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read, or an action whose caller got
    /// [`ErrorKind::Indeterminate`] cannot be made durable now.
    pub fn pending_actions(&self) -> Result<Vec<PendingAction>> {
        Ok(self.action_page(Actions::all())?.actions)
    }

    /// One page of the outbox.
    ///
    /// # Errors
    /// Those of [`Self::pending_actions`]; [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn actions(&self, query: &ActionQuery) -> Result<ActionPage> {
        self.action_page(Actions::page(query)?)
    }

    fn action_page(&self, wanted: Actions) -> Result<ActionPage> {
        let reader = self.core().durable_reader()?;
        let (actions, next_token) = pages::collect(wanted, &reader)?;
        Ok(ActionPage {
            actions,
            next_token,
        })
    }

    /// The actions that only the host ends, and that no provider has begun within
    /// [15 minutes](crate::limits::UNATTENDED_SECONDS) or whose last attempt began
    /// [2 hours](crate::limits::STALLED_SECONDS) ago or earlier. Reads the whole outbox.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn unattended_actions(&self) -> Result<Unattended> {
        actions::unattended(&self.core().reader()?)
    }

    /// Records that a provider begins an attempt at an action. Call it before the attempt, and begin only on `Ok`: the action may
    /// have been cancelled or held since. The number is one more than the attempts so far. Repeating the last one changes
    /// nothing, so a call whose response was lost can be repeated.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::Cancelled`] when another action or a replaced state cancelled it;
    /// [`ErrorKind::LitigationHold`] when a hold that was placed since forbids it; [`ErrorKind::InvalidResourceState`] when it has
    /// ended, when the clock ends it, and on any other number; [`ErrorKind::InvalidParameter`] on a name that is empty or longer than 256
    /// code points.
    pub fn dispatch_action(&self, id: u64, attempt: Attempt) -> Result<PendingAction> {
        validation::short_text("provider", &attempt.provider)?;
        if let Some(instance) = &attempt.instance {
            validation::short_text("instance", instance)?;
        }
        self.core().run(DispatchAction { id, attempt })
    }

    /// Takes the lease of a provider for a process of it, or extends the one that this process has; zero seconds end it. While it lasts, attempts of
    /// other processes of that provider are refused, so a process that waits for the lease can take over from one that is gone.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidResourceState`] while another process has it; [`ErrorKind::InvalidParameter`] on a name that is empty or longer than 256
    /// code points, and on more than [`LEASE_SECONDS_MAX`](crate::limits::LEASE_SECONDS_MAX) seconds; [`ErrorKind::NotFound`] on a node of a fleet
    /// that writes by rules of before leases.
    pub fn take_lease(
        &self,
        provider: &str,
        instance: &str,
        seconds: u32,
    ) -> Result<ProviderLease> {
        validation::short_text("provider", provider)?;
        validation::short_text("instance", instance)?;
        if i64::from(seconds) > LEASE_SECONDS_MAX {
            let message = format!("seconds is at most {LEASE_SECONDS_MAX}");
            return Err(EngineError::invalid("seconds", message));
        }
        let (provider, instance) = (provider.to_owned(), instance.to_owned());
        let until = self.core().take_lease(TakeLease {
            provider: provider.clone(),
            instance: instance.clone(),
            seconds,
        })?;
        Ok(ProviderLease {
            provider,
            instance,
            until,
        })
    }

    /// Records what the provider's support will ask for, such as the id of a request. At the end it is in the audit row of the
    /// action. `attempt` must be the number of the last attempt, so that a late note is not taken for one of a later attempt.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::Cancelled`]; [`ErrorKind::InvalidResourceState`] when it has ended or has another last attempt;
    /// [`ErrorKind::InvalidParameter`] on a text that is empty or longer than 256 code points.
    pub fn note_action(&self, id: u64, attempt: u32, request_id: &str) -> Result<()> {
        validation::short_text("requestId", request_id)?;
        let note = request_id.to_owned();
        self.core().run(NoteAction { id, attempt, note })
    }

    /// Ends an action as intended, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn complete_action(&self, id: u64) -> Result<()> {
        self.core().run(CompleteAction(id))
    }

    /// Ends an action as failed, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn fail_action(&self, id: u64, state: FailedState, detail: Option<&str>) -> Result<()> {
        detail.map_or(Ok(()), |detail| validation::short_text("detail", detail))?;
        let detail = detail.map(str::to_owned);
        self.core().run(FailAction { id, state, detail })
    }

    /// The newest `count` audit rows, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn admin_activity(&self, count: u32) -> Result<Vec<AuditEntry>> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(self.audit_page(AuditRows::newest(count))?.rows)
    }

    /// Writes the audit row of data that the host hands out beside the engine's own endpoints, such as a copy of the store. Call
    /// it before the first byte is sent. It names the key, or `None` for the host itself, and the code of a refusal. `detail`
    /// says which data, such as the name of a file. Calls of one key, minute and detail share a row.
    ///
    /// On a full disk there is no row; the observer gets [`Event::Unaudited`](crate::Event::Unaudited).
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::Indeterminate`]: then nothing may be handed out.
    pub fn audit_access(
        &self,
        action: AuditAction,
        key: Option<&KeyInfo>,
        detail: Option<&str>,
        refused: Option<Code>,
    ) -> Result<()> {
        self.core().audit_access(AuditAccess {
            action,
            detail: detail.map(str::to_owned),
            refused: refused.map(|code| code.as_str().into()),
            by: Caller::from_key(key),
        })
    }

    /// One page of the audit, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list, [`ErrorKind::StorageUnavailable`] when the store cannot be
    /// read.
    pub fn audit(&self, query: &AuditQuery) -> Result<AuditPage> {
        self.audit_page(AuditRows::page(query.clone())?)
    }

    /// All rows of the audit that a query names, from its page on, newest first, read page by page. Ends after the first error.
    pub fn all_audit(
        &self,
        mut query: AuditQuery,
    ) -> impl Iterator<Item = Result<AuditEntry>> + use<> {
        let engine = self.clone();
        all_pages(query.next_token.take(), move |next_token| {
            query.next_token = next_token;
            let page = engine.audit(&query)?;
            Ok((page.rows, page.next_token))
        })
    }

    fn audit_page(&self, wanted: AuditRows) -> Result<AuditPage> {
        let (rows, next_token) = pages::collect(wanted, &self.core().reader()?)?;
        Ok(AuditPage { rows, next_token })
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    use crate::clock::ManualClock;
    use crate::config::{CommitDriver, Config};
    use crate::error::ErrorKind;
    use crate::model::{State, StatsRecord, Workspace};

    use super::*;

    fn engine() -> Engine {
        let config = Config {
            commit_driver: CommitDriver::Host,
            ..Config::default()
        };
        let clock = ManualClock::new("2026-11-20".parse().unwrap());
        let engine = Engine::builder().clock(clock).seed(1).config(config);
        engine.open_in_memory().unwrap()
    }

    fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn act_async_resolves_to_the_number_of_the_outbox_once_durable() {
        let engine = engine();
        for (id, state) in [("ws-1", State::Unhealthy), ("ws-2", State::Available)] {
            engine
                .put_workspace(Workspace {
                    id: id.to_owned(),
                    compute_type_name: Some("STANDARD".into()),
                    state: Some(state.into()),
                    ..Workspace::default()
                })
                .unwrap();
        }
        let mut reboot = engine.act_async(ActionRequest::reboot("ws-1"));
        assert!(poll(&mut reboot).is_pending());
        assert!(engine.commit_pending() > 0);
        let Poll::Ready(Ok(Some(id))) = poll(&mut reboot) else {
            panic!("accepted and durable");
        };
        assert_eq!(engine.pending_actions().unwrap()[0].id, id);
        engine.complete_action(id).unwrap();
        let same = ActionRequest::change_compute_type("ws-2", "STANDARD");
        assert_eq!(engine.act(same).unwrap(), None);

        let mut refused = engine.act_async(ActionRequest::reboot("ws-3"));
        engine.commit_pending();
        let Poll::Ready(Err(error)) = poll(&mut refused) else {
            panic!("refused");
        };
        assert_eq!(error.kind(), ErrorKind::WorkSpaceNotFound);
    }

    #[test]
    fn record_async_is_pending_until_the_commit() {
        let engine = engine();
        let mut record = engine.record_async(StatsRecord::default()).unwrap();
        assert!(poll(&mut record).is_pending());
        engine.commit_pending();
        assert!(matches!(poll(&mut record), Poll::Ready(Ok(()))));
        let not_finite = StatsRecord {
            uptime: f64::NAN.into(),
            ..StatsRecord::default()
        };
        assert!(engine.record_async(not_finite).is_err());
    }
}
