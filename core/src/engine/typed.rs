//! The engine for a Rust program: the same rules as over HTTP, without URLs. Where a call needs a key over HTTP, the
//! audit names the caller `host` here.

use std::path::Path;
use std::sync::Arc;

use crate::api::{auth, operator};
use crate::config::Config;
use crate::domain::validation;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::BULK_UPSERT_CHUNK;
use crate::model::{
    ActionRequest, AuditEntry, FailedState, IssuedKey, KeyInfo, NewKey, PendingAction, Record,
    Stream, Workspace, WorkspaceView, user_key,
};
use crate::mutation::{Caller, Done, Mutation};
use crate::store::telemetry::queue::Wanted;
use crate::store::verify::{CheckReport, verify};
use crate::timestamp::Timestamp;
use crate::view::actions;
use crate::view::activity::{self, ActivityView};
use crate::view::history::{self, HistoryPage, HistoryQuery};
use crate::view::user::{self, UserView};
use crate::view::workspaces::{self, Listing, WorkspaceFilter};

use super::Engine;

/// One page of workspaces, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspacePage {
    /// The workspaces, each as it stands now.
    pub workspaces: Vec<Workspace>,
    /// The token of the next page, if there is one.
    pub next_token: Option<String>,
}

impl From<validation::Violation> for EngineError {
    fn from(violation: validation::Violation) -> Self {
        Self::invalid(violation.field, violation.message)
    }
}

/// Workspaces.
impl Engine {
    /// One workspace with its running action and its hold.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn workspace(&self, id: &str) -> Result<Option<WorkspaceView>> {
        workspaces::one(&self.machine().reader()?, id)
    }

    /// One page of all workspaces; `next_token` is that of the page before.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn workspaces(&self, limit: u32, next_token: Option<&str>) -> Result<WorkspacePage> {
        self.page(Listing::All, limit, next_token)
    }

    /// One page of the workspaces on litigation hold.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn workspaces_on_hold(
        &self,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        self.page(Listing::OnHold, limit, next_token)
    }

    /// One page of the workspaces that a filter accepts.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn find_workspaces(
        &self,
        filter: &WorkspaceFilter,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        self.page(Listing::Filtered(filter), limit, next_token)
    }

    fn page(&self, listing: Listing<'_>, limit: u32, token: Option<&str>) -> Result<WorkspacePage> {
        let limit = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let reader = self.machine().reader()?;
        let next_token = workspaces::page(&reader, listing, limit, token, |entry| {
            found.push(entry.into_entry().workspace);
        })?;
        Ok(WorkspacePage {
            workspaces: found,
            next_token,
        })
    }

    /// Creates or replaces a workspace. Known values are stored in upper case. A state other than that of a running
    /// action cancels the action.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long.
    pub fn put_workspace(&self, mut workspace: Workspace) -> Result<()> {
        validation::workspace(&mut workspace)?;
        self.done(Mutation::PutWorkspace(Box::new(workspace)))
    }

    /// Creates or replaces workspaces, all or nothing in each 1000; answers how many.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] when a value is empty or too long; nothing is stored then.
    pub fn put_workspaces(&self, mut workspaces: Vec<Workspace>) -> Result<u64> {
        for workspace in &mut workspaces {
            validation::workspace(workspace)?;
        }
        let count = workspaces.len() as u64;
        let machine = self.machine();
        let chunks = workspaces.chunks(BULK_UPSERT_CHUNK);
        let tickets: Vec<_> = chunks
            .map(|chunk| machine.submit(Mutation::PutWorkspaces(chunk.to_vec())))
            .collect();
        for ticket in tickets {
            machine.wait(&ticket)?;
        }
        Ok(count)
    }

    /// Removes a workspace's record; the desktop itself is not touched.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::LitigationHold`], [`ErrorKind::OperationInProgress`].
    pub fn remove_workspace(&self, id: &str) -> Result<()> {
        self.done(Mutation::RemoveWorkspace {
            id: Some(id.to_owned()),
            by: Caller::HOST,
        })
    }

    /// Places a litigation hold, over one that is there. Matter and reason have 1 to 256 code points.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`], [`ErrorKind::InvalidParameter`].
    pub fn place_hold(&self, id: &str, matter: &str, reason: Option<&str>) -> Result<()> {
        validation::short_text("matter", matter)?;
        reason.map_or(Ok(()), |reason| validation::short_text("reason", reason))?;
        self.done(Mutation::PlaceHold {
            id: id.to_owned(),
            matter: matter.to_owned(),
            reason: reason.map(str::to_owned),
            by: Caller::HOST,
        })
    }

    /// Releases a litigation hold.
    ///
    /// # Errors
    /// [`ErrorKind::WorkSpaceNotFound`]; [`ErrorKind::NotFound`] where there is none.
    pub fn release_hold(&self, id: &str) -> Result<()> {
        self.done(Mutation::ReleaseHold {
            id: id.to_owned(),
            by: Caller::HOST,
        })
    }

    fn done(&self, mutation: Mutation) -> Result<()> {
        self.machine().run(mutation).map(drop)
    }
}

/// Actions.
impl Engine {
    /// Asks for a lifecycle action. `Ok` means accepted; the next read shows the transitional state.
    ///
    /// # Errors
    /// The refusals of the interface, each an [`ErrorKind`] of the same name; each makes an audit row.
    pub fn act(&self, request: ActionRequest) -> Result<()> {
        self.done(Mutation::Act {
            request: Box::new(request),
            by: Caller::HOST,
        })
    }

    /// The outbox: the actions that have not ended, in the order they were accepted.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn pending_actions(&self) -> Result<Vec<PendingAction>> {
        actions::running(&self.machine().reader()?)
    }

    /// Ends an action as intended, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn complete_action(&self, id: u64) -> Result<()> {
        self.done(Mutation::CompleteAction(id))
    }

    /// Ends an action as failed, now.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; [`ErrorKind::InvalidResourceState`] when it has ended already.
    pub fn fail_action(&self, id: u64, state: FailedState, detail: Option<&str>) -> Result<()> {
        detail.map_or(Ok(()), |detail| validation::short_text("detail", detail))?;
        self.done(Mutation::FailAction {
            id,
            state,
            detail: detail.map(str::to_owned),
        })
    }

    /// The newest `count` audit rows, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn admin_activity(&self, count: u32) -> Result<Vec<AuditEntry>> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        actions::audit(&self.machine().reader()?, count)
    }
}

/// Telemetry.
impl Engine {
    /// Accepts one record; durable when this answers `Ok`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a text that is too long or a number that is not finite,
    /// [`ErrorKind::QueueFull`], [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`].
    pub fn record(&self, record: Record) -> Result<()> {
        self.record_all(vec![record])
    }

    /// Accepts records in one transaction: all of them, or none.
    ///
    /// # Errors
    /// Those of [`Self::record`].
    pub fn record_all(&self, records: Vec<Record>) -> Result<()> {
        for record in &records {
            if let Some((spec, max)) = validation::record(record).first() {
                return Err(EngineError::invalid(
                    spec.name,
                    validation::too_long(spec.name, *max),
                ));
            }
            if let Some(name) = validation::non_finite(record.fields()) {
                let said = format!("The field {name} must be a finite number.");
                return Err(EngineError::invalid(name, said));
            }
        }
        self.done(Mutation::Telemetry(records))
    }

    /// Telemetry records that are durable and not yet filed into history.
    #[must_use]
    pub fn queue_count(&self) -> u64 {
        self.machine().store.queued()
    }

    /// What is known of a user; `None` when neither a workspace nor telemetry knows one.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn user(&self, username: &str) -> Result<Option<UserView>> {
        let user = user_key(username);
        user::one(
            &self.machine().telemetry_reader(Wanted::User(&user))?,
            username,
        )
    }

    /// What users did in the last 24 hours, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn activity_24_hours(&self) -> Result<Vec<ActivityView>> {
        activity::last_24_hours(
            &self
                .machine()
                .telemetry_reader(Wanted::Stream(Stream::Activity))?,
        )
    }

    /// One page of the history of an instance, oldest first: filed times from `from`, inclusive, to `to`, exclusive.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on a token of another list.
    pub fn history(
        &self,
        stream: Stream,
        instance_id: &str,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<HistoryPage> {
        let query = HistoryQuery {
            stream,
            instance_id: instance_id.to_owned(),
            from,
            to,
            limit: limit.max(1),
            next_token: next_token.map(str::to_owned),
        };
        let wanted = Wanted::Instance(stream, instance_id);
        history::page(&self.machine().telemetry_reader(wanted)?, &query)
    }
}

/// Keys.
impl Engine {
    /// Issues an API key. The secret is in the answer and nowhere else.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidParameter`] on an empty or too long name, or no scope.
    pub fn issue_key(&self, key: NewKey) -> Result<IssuedKey> {
        validation::short_text("name", &key.name)?;
        if key.scopes.is_empty() {
            return Err(EngineError::invalid(
                "scopes",
                "A key needs at least one scope.",
            ));
        }
        let (secret, hash) = auth::new_secret(self.machine())?;
        let by = Caller::HOST;
        match self.machine().run(Mutation::IssueKey { key, hash, by })? {
            Done::Key(info) => Ok(IssuedKey { info, secret }),
            other => Err(EngineError::new(
                ErrorKind::Internal,
                format!("issuing a key answered {other:?}"),
            )),
        }
    }

    /// Every key, revoked ones included, in the order they were issued.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when the store cannot be read.
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        operator::all_keys(self.machine())
    }

    /// Whether any key is accepted now.
    #[must_use]
    pub fn has_key(&self) -> bool {
        self.machine()
            .store
            .keys()
            .any_accepted(self.machine().now())
    }

    /// Revokes a key; from now on it is not accepted. Revoking it again changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn revoke_key(&self, id: u64) -> Result<()> {
        self.done(Mutation::RevokeKey {
            id,
            by: Caller::HOST,
        })
    }
}

/// Running it.
impl Engine {
    /// The configuration it was opened with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.machine().config
    }

    /// The time, as the injected clock tells it.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.machine().now()
    }

    /// Commits what waits, unless that is under way; answers how many mutations. For
    /// [`CommitDriver::Host`](crate::CommitDriver::Host): once per turn of the event loop.
    pub fn commit_pending(&self) -> usize {
        self.machine().lead()
    }

    /// Files all queued telemetry into history; answers how many records.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`].
    pub fn file_pending(&self) -> Result<u64> {
        self.machine().file_pending()
    }

    /// Does what is due: ends actions, files telemetry, and once an hour removes what is older than it is kept. Call it
    /// every second or so; reads are right without it.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`]. What was done until then stays done.
    pub fn maintain(&self) -> Result<()> {
        self.machine().maintain()
    }

    /// Removes what is older than it is kept, now.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`], [`ErrorKind::LowDisk`]. What was removed until then stays removed.
    pub fn apply_retention(&self) -> Result<()> {
        self.machine().sweep()
    }

    /// Checks the whole file: its pages, its values, and that its tables agree. Nothing else runs in the meantime.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupted`], [`ErrorKind::StorageUnavailable`].
    pub fn check(&self) -> Result<CheckReport> {
        let store = &self.machine().store;
        let whole = store.check_pages()?;
        let mut report = verify(&store.snapshot()?)?;
        if !whole {
            report.problems.insert(
                0,
                "pages were damaged or lost; the file was repaired".to_owned(),
            );
        }
        Ok(report)
    }

    /// Writes a consistent copy into a new file; requests are answered in the meantime.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when there is a file already or it cannot be written; nothing is left then.
    pub fn backup(&self, destination: impl AsRef<Path>) -> Result<()> {
        self.machine().store.copy_to(destination.as_ref())
    }

    /// Gives free pages back to the file system; answers whether the file changed.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] while the store is read or written.
    pub fn compact(&self) -> Result<bool> {
        self.machine().store.compact()
    }

    /// Commits what waits and closes the file; later calls answer 503. The last clone does this when it is dropped, but
    /// cannot tell of an error.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`] when something could not be written.
    pub fn close(&self) -> Result<()> {
        self.running.stop();
        self.machine().close()
    }

    /// Whether the store can be read.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.machine().reader().is_ok()
    }

    /// Whether two handles are the same engine.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.running, &other.running)
    }
}
