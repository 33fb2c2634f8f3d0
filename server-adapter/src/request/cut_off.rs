//! A node that is cut off from the log of its fleet: what it refuses, and the header `X-Deskfleet-Age`, which says how old its answers are.

use deskfleet::routes::{Answer, Method};
use deskfleet::{Code, ErrorKind};
use http::{HeaderName, Request, Response};

use super::context::RequestContext;
use super::operation::OwnRoute;
use super::positions::shows_the_fleet;
use super::refusal::Refused;
use crate::state::ServerState;

/// On a response, the seconds for which this node may have missed what others wrote.
const AGE: HeaderName = HeaderName::from_static("x-deskfleet-age");

/// As after a write that the log did not take.
pub(crate) const RETRY_SECONDS: u64 = 5;

const SILENT: Refused = (
    Code::StorageUnavailable,
    "The log of the fleet has not responded for more than a second, so nothing was written; try again, here or on another node.",
);
const TAKEN_OVER: Refused = (
    Code::StorageUnavailable,
    "Another server of the log of the fleet took over, and nothing is written until the nodes have restored what it may lack, seconds from now; try again.",
);
const TOO_OLD: Refused = (
    Code::StorageUnavailable,
    "What this node has is older than `cluster.reads_max_age`, because it does not follow the log of the fleet, and keys may be revoked; ask another node.",
);

/// Why a request cannot be handled now, if this node is cut off.
pub(crate) fn refused<B>(
    context: RequestContext<'_>,
    own: Option<&OwnRoute>,
    request: &Request<B>,
) -> Option<Refused> {
    let shared = context.shared;
    let standing = shared.metrics.standing()?;
    let is_taken_over = shared.engine.log_is_taken_over();
    let refuses_writes = is_taken_over || standing.refuses_writes();
    if refuses_writes && own.is_none() && is_write(shared, request) {
        return Some(if is_taken_over { TAKEN_OVER } else { SILENT });
    }
    let age_max = context.options.reads_max_age;
    let is_too_old = !age_max.is_zero() && standing.lag > age_max;
    (is_too_old && shows_the_fleet(shared, own, request) && !may_hold_the_only_copy(shared))
        .then_some(TOO_OLD)
}

/// Whether the log lost what this node had applied: somebody has to read that before the file is removed.
fn may_hold_the_only_copy(shared: &ServerState) -> bool {
    let halted = shared.engine.halted();
    halted.is_some_and(|error| error.kind() == ErrorKind::Corrupted)
}

fn is_write<B>(shared: &ServerState, request: &Request<B>) -> bool {
    let route = shared.engine.route(request.method(), request.uri().path());
    route.is_some_and(|route| {
        route.method != Method::Get && !matches!(route.answer, Answer::Rows(_))
    })
}

/// Adds the age of what this node has, which is none while reads wait for what others wrote.
pub(crate) fn say_age<B>(shared: &ServerState, response: &mut Response<B>) {
    if let Some(standing) = shared.metrics.standing() {
        let least = u64::from(shared.latest_reads.is_skipping());
        let seconds = standing.lag.as_secs().max(least);
        response.headers_mut().insert(AGE, seconds.into());
    }
}
