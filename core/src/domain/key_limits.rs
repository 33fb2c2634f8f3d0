//! What the limits of a key exclude.

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{TERM_VALUES_MAX, TEXT_MAX};
use crate::model::{AuditAction, KeyFilter, KeyLimits, Scope, Scopes, Workspace};

use super::term::{Term, Wanted};
use super::validation::Violation;

/// The actions that a key may be limited to, as a message names them.
pub(crate) fn action_names() -> String {
    AuditAction::LIMITABLE.map(AuditAction::as_str).join(", ")
}

/// Checks the limits of a new key with these scopes.
pub(crate) fn check(limits: &KeyLimits, scopes: Scopes) -> Result<(), Violation> {
    let violation = |field, message: String| Err(Violation { field, message });
    if limits.actions.is_some() || limits.filter.is_some() || limits.destructive_per_hour.is_some()
    {
        if scopes.grant(Scope::Admin) {
            let message = "The field scopes must not have admin beside limits: such a key can issue itself another one.";
            return violation("scopes", message.to_owned());
        }
        if !scopes.grant(Scope::Act) {
            let message = "The field scopes must have act beside limits, which are about actions.";
            return violation("scopes", message.to_owned());
        }
    }
    if let Some(actions) = &limits.actions
        && (actions.is_empty() || !actions.iter().all(|a| AuditAction::LIMITABLE.contains(a)))
    {
        let known = action_names();
        let message =
            format!("The field actions must list at least one of {known}, and nothing else.");
        return violation("actions", message);
    }
    let Some(filter) = &limits.filter else {
        return Ok(());
    };
    if *filter == KeyFilter::default() {
        let message =
            "The field filter must have region or directoryId; leave it out to limit nothing.";
        return violation("filter", message.to_owned());
    }
    for (name, field, text) in [
        ("region", "filter.region", &filter.region),
        ("directoryId", "filter.directoryId", &filter.directory_id),
    ] {
        let Some(text) = text else { continue };
        if text.is_empty() || text.chars().count() > TEXT_MAX {
            let message = format!("The field {field} must have 1 to {TEXT_MAX} characters.");
            return violation(field, message);
        }
        // Lists take what follows, and select nothing or too much by it; a key would be limited to something else than was meant.
        let excluded = text.strip_prefix("ne.");
        let one = excluded.unwrap_or(text);
        let is_list = text.starts_with("in.");
        let has_space = text.split(',').any(|value| value.trim() != value);
        if one.is_empty() || has_space || (!is_list && one.contains(',')) {
            let message = format!(
                "The field {field} must be a value, in.A,B without spaces, or ne.A with one value."
            );
            return violation(field, message);
        }
        if let Err(error) = term(name, text) {
            return violation(field, error.context().to_owned());
        }
    }
    Ok(())
}

fn term(name: &'static str, text: &str) -> Result<Wanted> {
    Term::parse(name, text.to_owned(), TERM_VALUES_MAX).map(|term| Wanted::new(&term))
}

/// Refuses an action that the limits exclude.
pub(crate) fn allow_action(limits: &KeyLimits, action: AuditAction) -> Result<()> {
    let Some(actions) = &limits.actions else {
        return Ok(());
    };
    if actions.contains(&action) || !AuditAction::LIMITABLE.contains(&action) {
        return Ok(());
    }
    let names: Vec<_> = actions.iter().map(|action| action.as_str()).collect();
    let message = format!(
        "The API key is limited to {}; {} takes another key.",
        names.join(", "),
        action.as_str()
    );
    Err(EngineError::new(ErrorKind::InsufficientScope, message))
}

/// Refuses an action on a workspace that the limits exclude.
pub(crate) fn allow(limits: &KeyLimits, action: AuditAction, workspace: &Workspace) -> Result<()> {
    allow_action(limits, action)?;
    let (region, directory_id) = (&workspace.region, &workspace.directory_id);
    allow_workspace(limits, region.as_deref(), directory_id.as_deref())
}

/// Refuses a workspace, of this region and directory, that the limits exclude.
fn allow_workspace(
    limits: &KeyLimits,
    region: Option<&str>,
    directory_id: Option<&str>,
) -> Result<()> {
    let Some(filter) = &limits.filter else {
        return Ok(());
    };
    for (name, wanted, value) in [
        ("region", &filter.region, region),
        ("directoryId", &filter.directory_id, directory_id),
    ] {
        let Some(wanted) = wanted else { continue };
        // A workspace without a value may be anywhere.
        if value.is_none() || !term(name, wanted)?.accepts(value) {
            let message = format!("The API key is limited to WorkSpaces with {name} {wanted}.");
            return Err(EngineError::new(ErrorKind::InsufficientScope, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Action;

    fn act() -> Scopes {
        [Scope::Act].into_iter().collect()
    }

    fn filtered(region: Option<&str>, directory_id: Option<&str>) -> KeyLimits {
        KeyLimits {
            filter: Some(KeyFilter {
                region: region.map(str::to_owned),
                directory_id: directory_id.map(str::to_owned),
            }),
            ..KeyLimits::default()
        }
    }

    #[test]
    fn filter_of_a_key_compares_as_the_filters_of_lists_do() {
        for (limits, region, directory, allowed) in [
            (
                filtered(Some("eu-west-1"), None),
                Some("EU-West-1"),
                None,
                true,
            ),
            (
                filtered(Some("eu-west-1"), None),
                Some("eu-west-2"),
                None,
                false,
            ),
            (filtered(Some("eu-west-1"), None), None, None, false),
            (filtered(Some("in.a,b"), None), Some("B"), None, true),
            (filtered(Some("ne.a"), None), None, None, false),
            (filtered(Some("ne.a"), None), Some("A"), None, false),
            (filtered(None, Some("d-1")), None, Some("d-1"), true),
            (
                filtered(Some("a"), Some("d-1")),
                Some("a"),
                Some("d-2"),
                false,
            ),
            (KeyLimits::default(), None, None, true),
        ] {
            let outcome = allow_workspace(&limits, region, directory);
            assert_eq!(
                outcome.is_ok(),
                allowed,
                "{limits:?} {region:?} {directory:?}"
            );
        }
    }

    #[test]
    fn limits_that_exclude_all_or_nothing_are_refused() {
        let actions = |actions: &[AuditAction]| KeyLimits {
            actions: Some(actions.to_vec()),
            ..KeyLimits::default()
        };
        for (limits, field) in [
            (actions(&[]), "actions"),
            (actions(&[AuditAction::IssueKey]), "actions"),
            (filtered(None, None), "filter"),
            (filtered(Some(""), None), "filter.region"),
            (filtered(Some("in."), None), "filter.region"),
            (filtered(Some("ne."), None), "filter.region"),
            (filtered(Some("ne.a,b"), None), "filter.region"),
            (filtered(None, Some(&"x".repeat(257))), "filter.directoryId"),
        ] {
            let refused = check(&limits, act()).map_err(|violation| violation.field);
            assert_eq!(refused, Err(field), "{limits:?}");
        }
        let reboot = AuditAction::Lifecycle(Action::Reboot);
        assert_eq!(check(&actions(&[reboot]), act()).ok(), Some(()));
        assert!(allow_action(&actions(&[reboot]), reboot).is_ok());
        assert!(allow_action(&actions(&[reboot]), AuditAction::RemoveWorkspace).is_err());
        // What is no action on a workspace needs another scope already.
        assert!(allow_action(&actions(&[reboot]), AuditAction::PlaceHold).is_ok());
    }
}
