//! `/operator/leases`: which process of a provider may begin attempts, for a key of scope `admin`.

use deskfleet::{Code, EngineError, ProviderLease};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::request::refusal::{self, Refused};
use crate::state::ServerState;

const NO_LEASE: Refused = (
    Code::InvalidBody,
    "The body is the lease to take, such as {\"provider\": \"aws\", \"instance\": \"4fc1a90e\", \"seconds\": 20}.",
);

#[derive(Deserialize)]
struct LeaseRequest {
    provider: String,
    instance: String,
    seconds: u32,
}

/// Takes, extends or ends a lease. Returns why the engine did not.
pub(crate) async fn take(
    shared: &ServerState,
    body: &[u8],
) -> Result<Result<ProviderLease, EngineError>, Refused> {
    let LeaseRequest {
        provider,
        instance,
        seconds,
    } = serde_json::from_slice(body).map_err(|_| NO_LEASE)?;
    let engine = shared.engine.clone();
    let taken = spawn_blocking(move || engine.take_lease(&provider, &instance, seconds)).await;
    taken.map_err(|_| refusal::ENDED)
}
