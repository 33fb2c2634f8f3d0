//! `X-Deskfleet-Position`: how far the log of a fleet is applied, so that a client sees on one node what it saw on another; and
//! `X-Deskfleet-Log`: which log that is.

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
/// The id of the log that the position is of.
const LOG: HeaderName = HeaderName::from_static("x-deskfleet-log");
/// How long a request waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// How far beyond the known end of the log a position may be. No response had a greater one, so it does not take the place of
/// others.
const AHEAD_MAX: u64 = 1_000_000;

const NO_NUMBER: Refused = (
    Code::InvalidRequest,
    "The header X-Deskfleet-Position is no position of a log: it is the number that an answer had there, such as `X-Deskfleet-Position: 4412`.",
);
const NO_LOG: Refused = (
    Code::InvalidRequest,
    "The header X-Deskfleet-Log is no id of a log: it is 32 hexadecimal digits, as an answer had them there.",
);
const NOT_REACHED: Refused = (
    Code::StorageUnavailable,
    "This node has not applied the log of the fleet up to X-Deskfleet-Position yet; try again, here or on another node.",
);

/// The position of this node's log that a request names; `None` for one of another log, as that may never be reached here, and for a server
/// without a log. One that is no number is refused whichever log is named.
pub(crate) fn named(shared: &ServerState, headers: &HeaderMap) -> Result<Option<u64>, Refused> {
    if shared.engine.position().is_none() {
        return Ok(None);
    }
    let position = headers.get(POSITION);
    let position = position.map(|value| position_in(value).ok_or(NO_NUMBER));
    let position = position.transpose()?;
    let Some(named) = headers.get(LOG) else {
        return Ok(position);
    };
    let named = named.as_bytes();
    if named.len() != 32 || !named.iter().all(u8::is_ascii_hexdigit) {
        return Err(NO_LOG);
    }
    let is_other = log_id(shared).is_some_and(|own| !named.eq_ignore_ascii_case(own.as_bytes()));
    Ok(position.filter(|_| !is_other))
}

/// The id of the log as a header has it.
fn log_id(shared: &ServerState) -> Option<&HeaderValue> {
    if let Some(known) = shared.log_id.get() {
        return Some(known);
    }
    let id = HeaderValue::try_from(shared.engine.fleet_id()?.to_string()).ok()?;
    Some(shared.log_id.get_or_init(|| id))
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
    position: u64,
) -> Result<(), Refused> {
    let applied = shared.engine.position().unwrap_or_default();
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
fn position_in(value: &HeaderValue) -> Option<u64> {
    let text = value.to_str().ok()?;
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

/// Adds the log, and the position up to which it is applied, which includes this request.
pub(crate) fn say<B>(shared: &ServerState, response: &mut Response<B>) {
    if let Some(position) = shared.engine.position() {
        let position = HeaderValue::from(position);
        response.headers_mut().insert(POSITION, position);
        if let Some(log) = log_id(shared) {
            response.headers_mut().insert(LOG, log.clone());
        }
    }
}
