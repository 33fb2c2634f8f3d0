//! skeleton: signatures only
#![expect(missing_docs, unused_variables, clippy::todo, reason = "skeleton")]
use crate::*;
use bytes::Bytes;
use http::{Request, Response};
use redb::StorageBackend;
use std::path::Path;

#[derive(Debug, Clone)]
pub struct Engine {}
#[derive(Debug, Default)]
pub struct EngineBuilder {}

impl EngineBuilder {
    /// `SystemTime::now`, a closure, or a `ManualClock`
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        todo!()
    }
    /// e.g. `getrandom::fill`
    #[must_use]
    pub fn random<E>(
        self,
        fill: impl Fn(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        todo!()
    }
    /// deterministic randomness for test doubles
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        todo!()
    }
    #[must_use]
    pub fn observer(self, observer: impl Observer) -> Self {
        todo!()
    }
    #[must_use]
    pub fn config(self, config: Config) -> Self {
        todo!()
    }
    /// Tells free bytes of the medium (for `LowDisk`).
    #[must_use]
    pub fn free_space(self, probe: impl Fn() -> Option<u64> + Send + Sync + 'static) -> Self {
        todo!()
    }
    pub fn open(self, path: impl AsRef<Path>) -> Result<Engine> {
        todo!()
    }
    pub fn open_in_memory(self) -> Result<Engine> {
        todo!()
    }
    pub fn open_backend(self, backend: impl StorageBackend) -> Result<Engine> {
        todo!()
    }
}

/// The future of `Engine::call`
#[derive(Debug)]
pub struct ResponseFuture {}
impl Future for ResponseFuture {
    type Output = Response<Bytes>;
    fn poll(
        self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        todo!()
    }
}

/// A lifecycle action, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRequest {
    pub action: Action,
    pub workspace_id: Option<String>,
    pub sam_account: Option<String>,
    pub requester: Option<String>,
    pub compute_type: Option<String>,
}
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub name: String,
    pub scopes: Scopes,
    pub expires: Option<Timestamp>,
}
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspacePage {
    pub workspaces: Vec<Workspace>,
    pub next_token: Option<String>,
}
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    pub state: Option<String>,
    pub username: Option<String>,
    pub region: Option<String>,
    pub directory_id: Option<String>,
    pub running_mode: Option<String>,
    pub compute_type_name: Option<String>,
    pub q: Option<String>,
}
/// How the host ends an action as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailedState {
    #[default]
    Error,
    Unhealthy,
}
/// What `check` found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub problems: Vec<String>,
    pub workspaces: u64,
    pub queued_records: u64,
    pub history_records: u64,
    pub audit_rows: u64,
    pub keys: u64,
}
/// A row of `Get24HourActivity`.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityView {
    pub received: Received,
    pub workspace_id: Option<String>,
    pub computer_name: Option<String>,
}
#[derive(Debug, Clone, PartialEq)]
pub struct UserView {
    pub username: String,
    pub workspaces: Vec<Workspace>,
    pub litigation_hold: bool,
    pub last_activity: Option<Received>,
    pub last_seen: Option<Timestamp>,
    pub last_stats: Option<Received>,
    pub last_startup: Option<Received>,
}
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPage {
    pub records: Vec<Received>,
    pub next_token: Option<String>,
}

impl Engine {
    #[must_use]
    pub fn builder() -> EngineBuilder {
        todo!()
    }
    /// Blocks until durable; infallible.
    #[must_use]
    pub fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        todo!()
    }
    /// The same as a future.
    #[must_use]
    pub fn call(&self, request: Request<Bytes>) -> ResponseFuture {
        todo!()
    }
    /// How much of a body a server needs to read for a request with this path (method does not matter).
    #[must_use]
    pub fn body_bytes_max(&self, path: &str) -> usize {
        todo!()
    }
    #[must_use]
    pub fn config(&self) -> &Config {
        todo!()
    }
    #[must_use]
    pub fn now(&self) -> Timestamp {
        todo!()
    }
    /// `CommitDriver::Host`: commits what waits; answers how many mutations.
    pub fn commit_pending(&self) -> usize {
        todo!()
    }
    /// Queued telemetry records.
    #[must_use]
    pub fn queue_count(&self) -> u64 {
        todo!()
    }
    /// Files all queued telemetry; answers how many records.
    pub fn file_pending(&self) -> Result<u64> {
        todo!()
    }
    /// Everything that is due: ends transitions, files, retention, purges. Call once a second or so.
    pub fn maintain(&self) -> Result<()> {
        todo!()
    }

    // workspaces
    pub fn workspace(&self, id: &str) -> Result<Option<WorkspaceView>> {
        todo!()
    }
    pub fn workspaces(&self, limit: u32, next_token: Option<&str>) -> Result<WorkspacePage> {
        todo!()
    }
    pub fn workspaces_on_hold(
        &self,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        todo!()
    }
    pub fn find_workspaces(
        &self,
        filter: &WorkspaceFilter,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<WorkspacePage> {
        todo!()
    }
    pub fn put_workspace(&self, workspace: Workspace) -> Result<()> {
        todo!()
    }
    /// All or nothing per 1000.
    pub fn put_workspaces(&self, workspaces: Vec<Workspace>) -> Result<u64> {
        todo!()
    }
    pub fn remove_workspace(&self, id: &str) -> Result<()> {
        todo!()
    }
    pub fn place_hold(&self, id: &str, matter: &str, reason: Option<&str>) -> Result<()> {
        todo!()
    }
    pub fn release_hold(&self, id: &str) -> Result<()> {
        todo!()
    }
    // actions
    pub fn act(&self, request: ActionRequest) -> Result<()> {
        todo!()
    }
    pub fn pending_actions(&self) -> Result<Vec<PendingAction>> {
        todo!()
    }
    pub fn complete_action(&self, id: u64) -> Result<()> {
        todo!()
    }
    pub fn fail_action(&self, id: u64, state: FailedState, detail: Option<&str>) -> Result<()> {
        todo!()
    }
    pub fn admin_activity(&self, count: u32) -> Result<Vec<AuditEntry>> {
        todo!()
    }
    // telemetry
    pub fn record(&self, record: Record) -> Result<()> {
        todo!()
    }
    pub fn record_all(&self, records: Vec<Record>) -> Result<()> {
        todo!()
    }
    pub fn user(&self, username: &str) -> Result<Option<UserView>> {
        todo!()
    }
    pub fn activity_24_hours(&self) -> Result<Vec<ActivityView>> {
        todo!()
    }
    pub fn history(
        &self,
        stream: Stream,
        instance_id: &str,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        limit: u32,
        next_token: Option<&str>,
    ) -> Result<HistoryPage> {
        todo!()
    }
    // keys
    pub fn issue_key(&self, key: NewKey) -> Result<IssuedKey> {
        todo!()
    }
    pub fn keys(&self) -> Result<Vec<KeyInfo>> {
        todo!()
    }
    pub fn revoke_key(&self, id: u64) -> Result<()> {
        todo!()
    }
    // file
    pub fn check(&self) -> Result<CheckReport> {
        todo!()
    }
    /// A consistent copy into a new file; writes go on meanwhile.
    pub fn backup(&self, destination: impl AsRef<Path>) -> Result<()> {
        todo!()
    }
    /// Gives free pages back; answers whether the file shrank. Fails while reads or writes are under way.
    pub fn compact(&self) -> Result<bool> {
        todo!()
    }
    /// Commits what waits and closes the file; later calls answer 503.
    pub fn close(&self) -> Result<()> {
        todo!()
    }
}
