//! The audit rows of requests that change nothing: data that they hand out, and refusals.

use http::Method;
use http::request::Parts;

use crate::domain::query::Query;
use crate::error::Result;
use crate::model::AuditAction;
use crate::mutation::{AuditAccess, AuditRefusal, Caller, refused_with};
use crate::store::fleet::keys::LiveKey;
use crate::wire::problem::{Code, Problem};

use super::endpoint::{Audited, Route};
use super::parameters::{EXPORT, NEXT_TOKEN};

/// The name of the row that a request has in the audit, if it has one.
fn action(route: &Route, head: &Parts) -> Result<Option<AuditAction>> {
    match route.audited {
        Audited::Never => Ok(None),
        Audited::Always(action) => Ok(Some(action)),
        Audited::Export => {
            let is_export = Query::new(head.uri.query()).flag(EXPORT.name)?;
            Ok(is_export.then_some(AuditAction::QueryExport))
        }
    }
}

fn is_list(route: &Route) -> bool {
    route.audited == Audited::Export
}

/// The data that a request hands out, if it has a row in the audit; HEAD hands out nothing.
pub(super) fn handed_out(route: &Route, head: &Parts) -> Result<Option<AuditAction>> {
    let is_whole = head.method != Method::HEAD;
    Ok(action(route, head)?.filter(|action| is_whole && action.is_access()))
}

/// The row of the data that a request hands out, with its parameters; all pages of a list share it.
pub(super) fn access(
    action: AuditAction,
    route: &Route,
    key: Option<&LiveKey>,
    head: &Parts,
) -> AuditAccess {
    let query = Query::new(head.uri.query());
    let list = is_list(route).then(|| route.path.to_owned());
    let parameters = route
        .parameters()
        .filter(|parameter| ![EXPORT, NEXT_TOKEN].contains(parameter));
    let given = parameters.filter_map(|parameter| {
        let value = query.text(parameter.name).filter(|text| !text.is_empty())?;
        Some(format!("{}={value}", parameter.name))
    });
    let detail = list.into_iter().chain(given).collect::<Vec<_>>().join(" ");
    AuditAccess {
        action,
        detail: Some(detail).filter(|text| !text.is_empty()),
        refused: None,
        by: Caller::with_key(key),
    }
}

/// The row of a refusal, if this endpoint has one.
pub(super) fn refusal(
    route: &Route,
    segments: &[String],
    key: Option<&LiveKey>,
    head: &Parts,
    problem: &Problem,
) -> Option<AuditRefusal> {
    let query = Query::new(head.uri.query());
    // A key above its rate must not fill the audit.
    let is_audited = problem.code != Code::Throttled && head.method != Method::HEAD;
    let action = action(route, head).ok()?.filter(|_| is_audited)?;
    // A dry run writes nothing; only a key without the right makes a row.
    let is_dry_run =
        action == AuditAction::ImportWorkspaces && query.flag("dryRun").unwrap_or_default();
    if is_dry_run && !matches!(problem.code, Code::InvalidApiKey | Code::InsufficientScope) {
        return None;
    }
    let on_workspace = matches!(
        action,
        AuditAction::PlaceHold | AuditAction::ReleaseHold | AuditAction::UpdateWorkspace
    );
    let segment = segments.first().filter(|_| on_workspace);
    let workspace = if action == AuditAction::RemoveTelemetry {
        "instance"
    } else {
        "workSpaceId"
    };
    // The parameters of a list are filters.
    let given = |name| query.text(name).filter(|_| !is_list(route));
    Some(AuditRefusal {
        by: Caller::with_key(key),
        action,
        detail: refused_with(
            problem.code.as_str(),
            named_key(action, segments).as_deref(),
        ),
        workspace_id: segment.cloned().or_else(|| given(workspace)),
        requester: given("requester"),
    })
}

/// The key that a revocation names. A text that is no number may be a secret.
fn named_key(action: AuditAction, segments: &[String]) -> Option<String> {
    let id = segments
        .first()
        .filter(|_| action == AuditAction::RevokeKey);
    let id: u64 = id?.parse().ok()?;
    Some(format!("key {id}"))
}
