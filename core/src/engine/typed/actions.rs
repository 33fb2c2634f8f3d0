//! Actions and the audit, from Rust.

use crate::domain::validation;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::model::{ActionRequest, AuditEntry, FailedState, PendingAction};
use crate::mutation::Caller;
use crate::store::table::Step;
use crate::view::actions;

/// Actions.
impl Engine {
    /// Asks for a lifecycle action. `Ok` means accepted; the next read shows the transitional state.
    ///
    /// # Errors
    /// The refusals of the interface, each an [`ErrorKind`] of the same name; each makes an audit row.
    pub fn act(&self, request: ActionRequest) -> Result<()> {
        self.core()
            .run(move |context| context.act(&request, &Caller::HOST))
    }

    /// The outbox: the actions that have not ended, in the order they were accepted. No crash takes back what is in it.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read, or an action whose caller was answered
    /// [`ErrorKind::Indeterminate`] cannot be made durable now.
    pub fn pending_actions(&self) -> Result<Vec<PendingAction>> {
        let mut running = Vec::new();
        actions::running(&self.core().durable_reader()?, None, |action| {
            running.push(action);
            Step::Continue(())
        })?;
        Ok(running)
    }

    /// Ends an action as intended, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn complete_action(&self, id: u64) -> Result<()> {
        self.core().run(move |context| context.complete_action(id))
    }

    /// Ends an action as failed, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn fail_action(&self, id: u64, state: FailedState, detail: Option<&str>) -> Result<()> {
        detail.map_or(Ok(()), |detail| validation::short_text("detail", detail))?;
        let detail = detail.map(str::to_owned);
        self.core()
            .run(move |context| context.fail_action(id, state, detail))
    }

    /// The newest `count` audit rows, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn admin_activity(&self, count: u32) -> Result<Vec<AuditEntry>> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut rows = Vec::new();
        if count == 0 {
            return Ok(rows);
        }
        actions::audit(&self.core().reader()?, None, |row| {
            rows.push(row.clone());
            if rows.len() < count {
                Step::Continue(())
            } else {
                Step::Break(())
            }
        })?;
        Ok(rows)
    }
}
