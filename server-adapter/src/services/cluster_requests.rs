//! `/operator/cluster`: the nodes that share a log, for a key of scope `admin`.

use deskfleet::Code;
#[cfg(not(feature = "cluster"))]
use deskfleet::{EngineError, KeyInfo};
#[cfg(not(feature = "cluster"))]
use serde::Serialize;

use crate::request::refusal::Refused;
#[cfg(not(feature = "cluster"))]
use crate::state::ServerState;

const NO_LOG: Refused = (
    Code::NotFound,
    "This server shares no log with others; start it with --log to make it a node of a fleet.",
);

#[cfg(feature = "cluster")]
mod node {
    use std::collections::BTreeMap;

    use deskfleet::settings::Value;
    use deskfleet::{Code, EngineError, ErrorKind, KeyInfo};
    use serde_json::Value as Json;
    use tokio::task::spawn_blocking;

    use super::NO_LOG;
    use crate::cluster::FleetStatus;
    use crate::log::LogQueue;
    use crate::request::refusal::{self, Refused};
    use crate::state::ServerState;

    const NO_NODE: Refused = (
        Code::NotFound,
        "No node of that name is on the list; GET /operator/cluster returns the list.",
    );
    /// The message about a position that cannot be read.
    const UNREADABLE: &str = "The store of this node cannot be read.";
    /// The message about a log that cannot be reached.
    const STAYS: &str =
        "The log of the fleet cannot be reached, so the node stays on the list; try again.";
    /// The message about nodes that have not been upgraded.
    const NOT_UPGRADED: &str = "Not all nodes on the list know the rules of this one: upgrade them, or take off the list what is gone for good; `deskfleet cluster status` says which.";
    /// The message about an upgrade that could not be ended.
    const NOT_FINALIZED: &str = "The rules may not have been raised: `deskfleet cluster status` says by which the nodes write; try again.";

    const NO_ENTRY: Refused = (
        Code::StorageUnavailable,
        "The log of the fleet has no entry yet; try again.",
    );
    const NO_SETTINGS: Refused = (
        Code::InvalidBody,
        "The body is an object of the settings to change, such as {\"retention_days.stats\": 14}.",
    );

    /// The setting that decides for how long it is known who did what: no key shortens that.
    const AUDIT_RETENTION: &str = "retention_days.audit";
    const NOT_BY_A_KEY: Refused = (
        Code::InvalidBody,
        "retention_days.audit, for how long it is known who did what, is not changed with a key: start a node with all settings of the fleet, this one changed, and with --configure-fleet.",
    );

    /// The fleet as this node sees it.
    pub(crate) async fn status(shared: &ServerState) -> Result<FleetStatus, Refused> {
        let status = shared.fleet.get(&shared.engine).await;
        let status = status.ok_or(refusal::ENDED)?;
        status
            .map_err(|error| refused(&error, UNREADABLE))?
            .ok_or(NO_LOG)
    }

    /// Takes a node off the list.
    pub(crate) async fn forget(
        shared: &ServerState,
        node: String,
        caller: Option<KeyInfo>,
    ) -> Result<(), Refused> {
        let known = status(shared).await?;
        if known.status.log.is_none() {
            return Err((Code::StorageUnavailable, STAYS));
        }
        if !known
            .status
            .nodes
            .iter()
            .any(|message| message.node == node)
        {
            return Err(NO_NODE);
        }
        let change = format!("took node {node} off the list");
        let engine = shared.engine.clone();
        let by = id_of(caller.as_ref());
        let forgotten = spawn_blocking(move || engine.forget_node(&node, caller.as_ref())).await;
        shared.fleet.expire().await;
        let forgotten = forgotten.map_err(|_| refusal::ENDED)?;
        forgotten.map_err(|error| refused(&error, STAYS))?;
        log_change(by, &change);
        Ok(())
    }

    /// The settings of the fleet, by their names.
    pub(crate) fn settings(shared: &ServerState) -> Result<BTreeMap<String, Json>, Refused> {
        if shared.engine.node_name().is_none() {
            return Err(NO_LOG);
        }
        let settings = shared.engine.fleet_settings();
        let settings = settings.map_err(|error| refused(&error, UNREADABLE))?;
        let settings = settings.ok_or(NO_ENTRY)?.into_iter();
        Ok(settings.map(|(name, value)| (name, json(value))).collect())
    }

    /// Changes settings of the fleet. Returns why the engine did not.
    pub(crate) async fn configure(
        shared: &ServerState,
        body: &[u8],
        caller: Option<KeyInfo>,
    ) -> Result<Result<(), EngineError>, Refused> {
        if shared.engine.node_name().is_none() {
            return Err(NO_LOG);
        }
        let changes: BTreeMap<String, Json> =
            serde_json::from_slice(body).map_err(|_| NO_SETTINGS)?;
        if changes.is_empty() {
            return Err(NO_SETTINGS);
        }
        if changes.contains_key(AUDIT_RETENTION) {
            return Err(NOT_BY_A_KEY);
        }
        let changes = changes.into_iter();
        let changes: Vec<_> = changes.map(|(name, json)| (name, value(json))).collect();
        let by = id_of(caller.as_ref());
        let names = changes.iter().map(|(name, _)| &**name);
        let names = names.collect::<Vec<_>>().join(", ");
        let engine = shared.engine.clone();
        let changed =
            spawn_blocking(move || engine.change_fleet_settings(&changes, caller.as_ref()));
        let changed = changed.await.map_err(|_| refusal::ENDED)?;
        if changed.is_ok() {
            log_change(by, &format!("set settings of the fleet: {names}"));
        }
        Ok(changed)
    }

    /// Ends an upgrade.
    pub(crate) async fn finalize(
        shared: &ServerState,
        caller: Option<KeyInfo>,
    ) -> Result<(), Refused> {
        status(shared).await?;
        let engine = shared.engine.clone();
        let finalized = spawn_blocking(move || engine.finalize_fleet(caller.as_ref())).await;
        shared.fleet.expire().await;
        let finalized = finalized.map_err(|_| refusal::ENDED)?;
        finalized.map_err(|error| {
            let is_older = error.kind() == ErrorKind::InvalidResourceState;
            refused(
                &error,
                if is_older {
                    NOT_UPGRADED
                } else {
                    NOT_FINALIZED
                },
            )
        })
    }

    fn id_of(caller: Option<&KeyInfo>) -> u64 {
        caller.map_or(0, |caller| caller.id)
    }

    /// Logs a change that may have no audit row: there is none before the fleet writes by rules that know it.
    fn log_change(by: u64, change: &str) {
        LogQueue::stderr().line(&format!("deskfleet: key {by} {change}"));
    }

    fn json(value: Value) -> Json {
        match value {
            Value::Boolean(value) => value.into(),
            Value::Number(number) => number.into(),
            Value::Text(text) => text.into(),
            Value::List(texts) => texts.into(),
            Value::Other(_) | Value::Group => Json::Null,
        }
    }

    fn value(json: Json) -> Value {
        match json {
            Json::Bool(value) => Value::Boolean(value),
            Json::String(text) => Value::Text(text),
            Json::Number(number) => match number.as_u64() {
                Some(number) => Value::Number(number),
                None => Value::Other(number.to_string()),
            },
            other @ (Json::Null | Json::Array(_) | Json::Object(_)) => {
                Value::Other(other.to_string())
            }
        }
    }

    fn refused(error: &EngineError, message: &'static str) -> Refused {
        (error.kind().into(), message)
    }
}

#[cfg(feature = "cluster")]
pub(crate) use node::{configure, finalize, forget, settings, status};

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn status(_: &ServerState) -> Result<impl Serialize + use<>, Refused> {
    Err::<(), _>(NO_LOG)
}

#[cfg(not(feature = "cluster"))]
pub(crate) fn settings(_: &ServerState) -> Result<impl Serialize + use<>, Refused> {
    Err::<(), _>(NO_LOG)
}

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn configure(
    _: &ServerState,
    _: &[u8],
    _: Option<KeyInfo>,
) -> Result<Result<(), EngineError>, Refused> {
    Err(NO_LOG)
}

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn finalize(_: &ServerState, _: Option<KeyInfo>) -> Result<(), Refused> {
    Err(NO_LOG)
}

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn forget(_: &ServerState, _: String, _: Option<KeyInfo>) -> Result<(), Refused> {
    Err(NO_LOG)
}
