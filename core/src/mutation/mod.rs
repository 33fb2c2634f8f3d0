//! Every write, as data: a [`Mutation`] decides by the tables, its own members and the time alone, so it is deterministic.
//!
//! A refused mutation writes nothing but its audit row and affects no other in its transaction. An error of the store fails the
//! whole transaction.

mod action_batch;
mod actions;
mod audit;
pub(crate) mod configure;
mod dispatch;
mod events;
mod holds;
mod import;
mod keys;
pub(crate) mod logged;
mod maintenance;
mod removal;
mod retention;
mod telemetry;
mod workspaces;

use std::fmt;

use crate::config::Config;
use crate::domain::keys::HOST_NAME;
use crate::error::Result;
use crate::model::{KeyInfo, PRINCIPAL_ID, WriteClass};
use crate::store::fleet::keys::LiveKey;
use crate::store::meta;
use crate::store::table::Tables;
use crate::store::telemetry::filing::Slice;
use crate::timestamp::Timestamp;

pub(crate) use action_batch::{StartActionBatch, StopActionBatch};
pub(crate) use actions::{Act, CompleteAction, FailAction};
pub(crate) use audit::{AuditAccess, AuditRefusal, refused_with};
pub(crate) use dispatch::{DispatchAction, NoteAction, TakeLease};
pub(crate) use holds::{PlaceHold, ReleaseHold};
pub(crate) use import::{ImportCounts, ImportWorkspaces, Imported, merge_record};
pub(crate) use keys::{IssueKey, RevokeKey, TouchKeys};
pub(crate) use logged::Logged;
pub(crate) use maintenance::Maintenance;
pub(crate) use removal::RemoveTelemetry;
pub(crate) use retention::{Derived, Removing, Span};
pub(crate) use telemetry::Telemetry;
pub(crate) use workspaces::{PutWorkspace, PutWorkspaces, RemoveWorkspace, is_spelled_as};

/// A write, as data.
pub(crate) trait Mutation: Logged + fmt::Debug + Send + 'static {
    /// Its result, once it is durable.
    type Output: Send;

    /// Its class, which decides how much space it leaves free.
    fn class(&self) -> WriteClass {
        WriteClass::Fleet
    }

    /// About how many bytes it takes, if that is more than usual.
    fn bytes(&self) -> usize {
        0
    }

    /// Decides and writes. The outer error is the store's, the inner one a refusal.
    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<Self::Output>>;
}

/// The caller of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Number and name of the key used, or of a principal; `None` for the host itself.
    pub(crate) key: Option<(u64, String)>,
}

impl Caller {
    /// The host itself, through the typed API.
    pub(crate) const HOST: Self = Self { key: None };

    /// The caller with `key`; without one the host itself.
    pub(crate) fn with_key(key: Option<&LiveKey>) -> Self {
        Self {
            key: key.map(|key| (key.info.id, key.info.name.clone())),
        }
    }

    /// The caller with a key of the host's requests; without one the host itself.
    pub(crate) fn from_key(key: Option<&KeyInfo>) -> Self {
        Self {
            key: key.map(|key| (key.id, key.name.clone())),
        }
    }

    /// The number of the key used.
    fn key_id(&self) -> Option<u64> {
        let id = self.key.as_ref().map(|(id, _)| *id);
        id.filter(|id| *id != PRINCIPAL_ID)
    }

    /// The requester in the audit if the caller names none.
    fn name(&self) -> &str {
        self.key.as_ref().map_or(HOST_NAME, |(_, name)| name)
    }
}

/// The outcome of a write, once durable: its result, or the refusal by a rule.
pub(crate) type Outcome<T = ()> = Result<T>;

/// The tables and the time to which a mutation is applied.
pub(crate) struct Context<'c, 't> {
    tables: &'c mut Tables<'t>,
    config: &'c Config,
    now: Timestamp,
    /// Whether it is local to a node: then it has no events.
    pub(crate) here: bool,
    /// The batch whose action is being applied.
    batch: Option<u64>,
}

impl<'c, 't> Context<'c, 't> {
    pub(crate) fn new(tables: &'c mut Tables<'t>, config: &'c Config, now: Timestamp) -> Self {
        Self {
            tables,
            config,
            now,
            here: false,
            batch: None,
        }
    }
}

/// A slice of a pass of filing.
impl Mutation for Slice {
    /// Whether [`Maintenance::RemoveFiled`] has something to do.
    type Output = bool;

    fn class(&self) -> WriteClass {
        self.class()
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<bool>> {
        let (records, damaged) = (self.records(), self.set_aside());
        let filed = meta::filed(context.tables)?;
        let more = Self::apply(self, context.tables)?;
        if !context.here && meta::filed(context.tables)?.below != filed.below {
            context.telemetry_filed(records, damaged)?;
        }
        Ok(Ok(more))
    }
}
