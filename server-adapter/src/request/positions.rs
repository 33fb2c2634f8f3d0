//! `X-Deskfleet-Position`: how far the log of a fleet is applied, so that a client sees on one node what it saw on another.

use std::sync::Arc;
use std::time::Duration;

use deskfleet::Code;
use deskfleet::routes::{Access, Method};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use tokio::time::timeout;

use super::operation::{Own, OwnRoute};
use super::refusal::{self, Refused};
use crate::limits::sources::Source;
use crate::response::slow_reads::SourcePlace;
use crate::state::ServerState;

/// On a response the position of the last entry that is applied here; on a request the position to apply before it is handled.
const POSITION: HeaderName = HeaderName::from_static("x-deskfleet-position");
/// How long a request waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// How far beyond the known end of the log a position may be. No response had a greater one, so it does not take the place of
/// others.
const AHEAD_MAX: u64 = 1_000_000;

const NO_NUMBER: Refused = (
    Code::InvalidRequest,
    "The header X-Deskfleet-Position is no position of a log: it is the number that an answer had there, such as `X-Deskfleet-Position: 4412`.",
);
const NOT_REACHED: Refused = (
    Code::StorageUnavailable,
    "This node has not applied the log of the fleet up to X-Deskfleet-Position yet; try again, here or on another node.",
);

/// The position that a request names; `None` also for a server without a log, which does not wait.
pub(crate) fn named<'r>(shared: &ServerState, headers: &'r HeaderMap) -> Option<&'r HeaderValue> {
    shared.engine.position()?;
    headers.get(POSITION)
}

/// Whether a request shows what other nodes wrote, or needs a key that may have been issued there: all but the pages of the server, and
/// telemetry that arrives.
pub(crate) fn shows_the_fleet<B>(
    shared: &ServerState,
    own: Option<&OwnRoute>,
    request: &Request<B>,
) -> bool {
    if shared.engine.position().is_none() {
        return false;
    }
    if let Some(row) = own {
        return matches!(row.own, Own::Service(_));
    }
    let route = shared.engine.route(request.method(), request.uri().path());
    route.is_some_and(|route| route.method != Method::Post || route.access != Access::Telemetry)
}

/// Waits until the position is applied here; returns a refusal otherwise.
pub(crate) async fn reached(
    shared: &ServerState,
    source: &Arc<Source>,
    value: &HeaderValue,
) -> Result<(), Refused> {
    let applied = shared.engine.position().unwrap_or_default();
    let position = position(value).ok_or(NO_NUMBER)?;
    if applied >= position {
        return Ok(());
    }
    let last = shared.engine.log_last().unwrap_or(applied);
    if position > last.saturating_add(AHEAD_MAX) {
        return Err(NOT_REACHED);
    }
    let place = SourcePlace::try_take(&source.position_waiters, &shared.position_waiters);
    let _place = place.ok_or(refusal::BUSY)?;
    timeout(PATIENCE, shared.engine.applied(position))
        .await
        .map_err(|_| NOT_REACHED)
}

/// The digits of a number.
fn position(value: &HeaderValue) -> Option<u64> {
    let text = value.to_str().ok()?;
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

/// Adds the position up to which the log is applied, which includes this request.
pub(crate) fn say<B>(shared: &ServerState, response: &mut Response<B>) {
    if let Some(position) = shared.engine.position() {
        let position = HeaderValue::from(position);
        response.headers_mut().insert(POSITION, position);
    }
}
