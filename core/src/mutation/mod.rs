//! Every write, as a method of [`Context`]: it decides and writes by the tables, its parameters and the time alone, so it is
//! deterministic. The outer error of a method is the store's, the inner one a refusal.
//!
//! A refused write writes nothing but its audit row and harms nobody else in its transaction. An error of the store fails the
//! whole transaction.

mod actions;
mod audit;
mod holds;
mod keys;
mod maintenance;
mod telemetry;
mod workspaces;

use crate::config::Config;
use crate::error::Result;
use crate::model::AuditAction;
use crate::store::keys::LiveKey;
use crate::store::table::Tables;
use crate::store::telemetry::filing::Filing;
use crate::timestamp::Timestamp;

pub(crate) use maintenance::Maintenance;

/// Who asks for a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Name of the key used; `None` for the host itself.
    pub(crate) key_name: Option<String>,
}

impl Caller {
    /// The host itself, through the typed API.
    pub(crate) const HOST: Self = Self { key_name: None };

    /// Who calls with `key`, or without one.
    pub(crate) fn of(key: Option<&LiveKey>) -> Self {
        Self {
            key_name: key.map(|key| key.info.name.clone()),
        }
    }

    /// What the audit says when the caller names no requester.
    fn name(&self) -> &str {
        self.key_name.as_deref().unwrap_or("host")
    }
}

/// A call refused before its parameters could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) action: AuditAction,
    /// The code it was answered with.
    pub(crate) code: &'static str,
    pub(crate) workspace_id: Option<String>,
    pub(crate) requester: Option<String>,
}

/// How a write ended, once durable: with what it returns, or refused by a rule.
pub(crate) type Outcome<T = ()> = Result<T>;

/// What a write works with. It can do nothing but what the methods here offer.
pub(crate) struct Context<'c, 't> {
    tables: &'c mut Tables<'t>,
    config: &'c Config,
    now: Timestamp,
}

impl<'c, 't> Context<'c, 't> {
    pub(crate) fn new(tables: &'c mut Tables<'t>, config: &'c Config, now: Timestamp) -> Self {
        Self {
            tables,
            config,
            now,
        }
    }

    /// Takes one step of filing.
    pub(crate) fn file(&mut self, filing: Filing) -> Result<Outcome> {
        filing.apply(self.tables)?;
        Ok(Ok(()))
    }
}
