//! What a batch of actions may be.

use std::collections::BTreeSet;

use crate::limits::{BATCH_IDS_MAX, TEXT_MAX, WORKSPACE_ID_MAX};
use crate::model::{ActionBatchRequest, AuditAction};

use super::key_limits::action_names;
use super::validation::{Violation, too_long};

/// Checks a batch that is to be started.
pub(crate) fn check(request: &ActionBatchRequest) -> Result<(), Violation> {
    let violation = |field, message: String| Err(Violation { field, message });
    if !AuditAction::LIMITABLE.contains(&request.action) {
        let message = format!("The field action must be one of {}.", action_names());
        return violation("action", message);
    }
    let ids = &request.workspace_ids;
    if !(1..=BATCH_IDS_MAX).contains(&ids.len()) {
        let message = format!("The field workSpaceIds must list 1 to {BATCH_IDS_MAX} ids.");
        return violation("workSpaceIds", message);
    }
    let different: BTreeSet<_> = ids.iter().collect();
    if different.len() < ids.len() || ids.iter().any(String::is_empty) {
        let message = "The field workSpaceIds must list each id once, and no empty one.";
        return violation("workSpaceIds", message.to_owned());
    }
    if ids.iter().any(|id| id.chars().count() > WORKSPACE_ID_MAX) {
        let message = format!("An id has at most {WORKSPACE_ID_MAX} characters.");
        return violation("workSpaceIds", message);
    }
    if let Some(compute_type) = &request.compute_type
        && compute_type.chars().count() > TEXT_MAX
    {
        return violation("computeType", too_long("computeType", TEXT_MAX));
    }
    for (field, value) in [
        ("atOnce", request.at_once),
        ("stopAfterFailures", request.stop_after_failures),
    ] {
        if value == Some(0) {
            let message = format!("The field {field} must be a whole number from 1.");
            return violation(field, message);
        }
    }
    Ok(())
}
