//! The caller: the API key, where it is sent, and what it grants.

use std::borrow::Cow;
use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;

use crate::domain::query::{API_KEY, Query};
use crate::domain::validation::truncate_requester;
use crate::domain::{key_limits, keys};
use crate::engine_core::EngineCore;
use crate::model::{PRINCIPAL_ID, Principal, Scope};
use crate::store::fleet::keys::LiveKey;
use crate::wire::problem::{Code, Problem};

use super::endpoint::{Access, Audited, Route};

/// The scope that `access` requires here; `None`: anyone may call.
fn scope_wanted(core: &EngineCore, access: Access) -> Option<Scope> {
    match access {
        Access::Key(scope) | Access::KeyOrAudit(scope) => Some(scope),
        Access::Telemetry => core.config.require_ingest_key.then_some(Scope::Ingest),
    }
}

/// The caller's key, if it is accepted; `None` if no key is needed.
pub(crate) fn authenticate(
    core: &EngineCore,
    access: Access,
    head: &Parts,
) -> Result<Option<Arc<LiveKey>>, Problem> {
    if scope_wanted(core, access).is_none() {
        return Ok(None);
    }
    // One response for every reason: it does not say which keys exist.
    let refused = || {
        Problem::detailed(
            Code::InvalidApiKey,
            "The API key is missing or not accepted.",
        )
    };
    carried(core, head).ok_or_else(refused).map(Some)
}

/// The principal of a request, else the key that it carries if that is accepted.
fn carried(core: &EngineCore, head: &Parts) -> Option<Arc<LiveKey>> {
    if let Some(principal) = head.extensions.get::<Principal>() {
        let name = truncate_requester(&principal.name);
        // The audit would name nobody.
        if name.trim().is_empty() {
            return None;
        }
        return Some(Arc::new(LiveKey::of_principal(
            name,
            principal.scopes,
            core.now(),
        )));
    }
    let secret = secret(&head.headers, Query::new(head.uri.query()))?;
    core.accepted_key(&keys::hash(&secret))
}

/// Whether a request carries a key that is accepted, also where none is needed.
pub(crate) fn carries_key(core: &EngineCore, head: &Parts) -> bool {
    carried(core, head).is_some()
}

/// Refuses a key that is above its rate.
#[inline]
fn throttle(core: &EngineCore, key: Option<&LiveKey>) -> Result<(), Problem> {
    match key.and_then(|key| core.throttle(key.info.id)) {
        Some(seconds) => Err(Problem::throttled(seconds)),
        None => Ok(()),
    }
}

/// Refuses a key that is above its rate, or that lacks the scope.
pub(crate) fn authorize(
    core: &EngineCore,
    access: Access,
    key: Option<&LiveKey>,
) -> Result<(), Problem> {
    throttle(core, key)?;
    let wanted = scope_wanted(core, access);
    match (wanted, key) {
        (Some(wanted), Some(key)) if !grants(access, wanted, key) => {
            let who = if key.info.id == PRINCIPAL_ID {
                "caller"
            } else {
                "API key"
            };
            let message = format!("The {who} lacks the scope {}.", wanted.as_str());
            Err(Problem::detailed(Code::InsufficientScope, message))
        }
        _ => Ok(()),
    }
}

/// A batch of telemetry is on the operator surface, so `admin` suffices as well.
fn grants(access: Access, wanted: Scope, key: &LiveKey) -> bool {
    let scopes = key.info.scopes;
    scopes.grant(wanted)
        || match access {
            Access::Key(Scope::Ingest) => scopes.grant(Scope::Admin),
            Access::KeyOrAudit(_) => scopes.grant(Scope::Audit),
            Access::Key(_) | Access::Telemetry => false,
        }
}

/// Refuses an action that the limits of the key exclude.
pub(crate) fn authorize_action(route: &Route, key: Option<&LiveKey>) -> Result<(), Problem> {
    match (route.audited, key) {
        (Audited::Always(action), Some(key)) => {
            let allowed = key_limits::allow_action(&key.info.limits, action);
            allowed.map_err(|error| Problem::from(&error))
        }
        _ => Ok(()),
    }
}

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The secret from `X-Api-Key`, `Authorization: Bearer` or the query, in this order; the first one there counts.
fn secret<'r>(headers: &'r HeaderMap, query: Query<'r>) -> Option<Cow<'r, str>> {
    if let Some(header) = headers.get(X_API_KEY) {
        return header.to_str().ok().map(Cow::Borrowed);
    }
    let bearer = headers.get(AUTHORIZATION).and_then(|header| {
        let (scheme, secret) = header.to_str().ok()?.split_once(' ')?;
        let bearer = scheme.eq_ignore_ascii_case("bearer");
        bearer.then(|| Cow::Borrowed(secret.trim()))
    });
    bearer.or_else(|| query.get(API_KEY))
}
