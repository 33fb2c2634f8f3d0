//! Rebuilding keys that are made of names, for a file that was written with another version of Unicode.

use crate::error::Result;
use crate::model::user_key;

use super::table::{ALL_KEYS, Read, Step, Tables};
use super::telemetry::key_name;
use super::telemetry::users::{self, UserLatest};
use crate::store::fleet::{holds, workspaces};
use crate::store::{meta, rollup};

/// Rebuilds the indexes of the workspaces, extends each hold to all spellings of its id, and rebuilds the keys of `users` and of the
/// rollups.
pub(super) fn fold_names(tables: &Tables<'_>) -> Result<()> {
    workspaces::index_again(tables)?;
    let mut held = Vec::new();
    holds::scan_after(tables, None, |id| {
        held.push(id.to_owned());
        Ok(Step::Continue(()))
    })?;
    for id in held {
        let Some(hold) = holds::get(tables, &id)? else {
            continue;
        };
        for other in workspaces::other_spellings(tables, &id)? {
            if let Some(mut entry) = workspaces::get(tables, &other)?.filter(|entry| !entry.held) {
                entry.held = true;
                workspaces::put(tables, &entry)?;
                holds::put(tables, &other, &hold)?;
            }
        }
    }
    let mut misplaced = Vec::new();
    for_each_misplaced(tables, |key, latest| {
        misplaced.push((key.to_vec(), user_key(&latest.username).into_owned()));
    })?;
    for (key, user) in misplaced {
        users::move_to(tables, &key, &user)?;
    }
    rollup::folding::fold_again(tables)
}

/// Checks that every row of `users` can be read and is under its name.
pub(super) fn verify_users(read: &impl Read, broken: &mut Vec<String>) -> Result<()> {
    let folded = meta::is_folded(read)?;
    for_each_misplaced(read, |key, latest| {
        if folded {
            broken.push(format!(
                "user {}: its key is not that of {}",
                String::from_utf8_lossy(key),
                latest.username
            ));
        }
    })
}

/// Visits the rows of `users` whose key is not that of their name, and reads all of them.
fn for_each_misplaced(read: &impl Read, mut visit: impl FnMut(&[u8], &UserLatest)) -> Result<()> {
    users::scan(read, ALL_KEYS, |key, latest| {
        if key_name(&user_key(&latest.username)) != key {
            visit(key, &latest);
        }
        Ok(Step::Continue(()))
    })
}
