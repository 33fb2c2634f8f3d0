//! `/operator/cluster`: the nodes that share a log, for a key of scope `admin`.

use deskfleet::Code;
use serde::Serialize;

use crate::refusal::Refused;
use crate::state::ServerState;

const NO_LOG: Refused = (
    Code::NotFound,
    "This server shares no log with others; start it with --log to make it a node of a fleet.",
);

#[cfg(feature = "cluster")]
mod node {
    use deskfleet::{Code, Engine, EngineError};
    use tokio::task::spawn_blocking;

    use super::NO_LOG;
    use crate::cluster::FleetStatus;
    use crate::refusal::{self, Refused};

    const NO_NODE: Refused = (
        Code::NotFound,
        "No node of that name is on the list; GET /operator/cluster returns the list.",
    );
    /// Of a failure to read the position.
    const UNREADABLE: &str = "The store of this node cannot be read.";
    /// Of a log that cannot be reached.
    const STAYS: &str =
        "The log of the fleet cannot be reached, so the node stays on the list; try again.";

    /// The fleet as this node sees it. Asks the log, which can take long.
    pub(super) async fn status(engine: Engine) -> Result<FleetStatus, Refused> {
        let asked = spawn_blocking(move || engine.cluster_status()).await;
        let status = asked
            .map_err(|_| refusal::ENDED)?
            .map_err(|error| refused(&error, UNREADABLE))?;
        status.map(FleetStatus::new).ok_or(NO_LOG)
    }

    /// Takes a node off the list.
    pub(super) async fn forget(engine: Engine, node: String) -> Result<(), Refused> {
        let known = status(engine.clone()).await?;
        if known.status.log.is_none() {
            return Err((Code::StorageUnavailable, STAYS));
        }
        if !known.status.nodes.iter().any(|said| said.node == node) {
            return Err(NO_NODE);
        }
        let forgotten = spawn_blocking(move || engine.forget_node(&node)).await;
        let forgotten = forgotten.map_err(|_| refusal::ENDED)?;
        forgotten.map_err(|error| refused(&error, STAYS))
    }

    fn refused(error: &EngineError, said: &'static str) -> Refused {
        (error.kind().into(), said)
    }
}

#[cfg(feature = "cluster")]
pub(crate) async fn status(shared: &ServerState) -> Result<impl Serialize + use<>, Refused> {
    node::status(shared.engine.clone()).await
}

#[cfg(feature = "cluster")]
pub(crate) async fn forget(shared: &ServerState, node: String) -> Result<(), Refused> {
    node::forget(shared.engine.clone(), node).await
}

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn status(_: &ServerState) -> Result<impl Serialize + use<>, Refused> {
    Err::<(), _>(NO_LOG)
}

#[cfg(not(feature = "cluster"))]
#[expect(
    clippy::unused_async,
    reason = "with the feature `cluster` it asks the log"
)]
pub(crate) async fn forget(_: &ServerState, _: String) -> Result<(), Refused> {
    Err(NO_LOG)
}
