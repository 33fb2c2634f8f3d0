//! The names by which a record may belong to a workspace on hold.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::model::identity::folded;
use crate::model::user_key;

use super::table::{Read, Step};
use super::{holds, workspaces};

/// The names of all workspaces on hold: their ids and computer names, and their users. What has one of them is kept, whichever
/// workspace it is resolved to otherwise: a record belongs to a hold if it could.
#[derive(Debug, Default)]
pub(crate) struct HeldNames {
    instances: BTreeSet<String>,
    users: BTreeSet<String>,
}

impl HeldNames {
    /// As of now.
    pub(crate) fn read(read: &impl Read) -> Result<Self> {
        let mut names = Self::default();
        holds::scan_after(read, None, |id| {
            names.instances.insert(folded(id).into_owned());
            workspaces::with(read, id, |entry| {
                let computer = entry.computer_name().map(|name| folded(name).into_owned());
                names.instances.extend(computer);
                let user = entry.username().map(|name| user_key(name).into_owned());
                names.users.extend(user);
                Ok(())
            })?;
            Ok(Step::Continue(()))
        })?;
        // What was sent without a name names nobody.
        names.instances.remove("");
        names.users.remove("");
        Ok(names)
    }

    /// Whether an instance of that name may be a held workspace.
    pub(crate) fn has_instance(&self, name: &str) -> bool {
        !self.instances.is_empty() && self.instances.contains(folded(name).as_ref())
    }

    /// Whether any user is named.
    pub(crate) fn has_users(&self) -> bool {
        !self.users.is_empty()
    }

    /// Whether a user of that name may be one of a held workspace.
    pub(crate) fn has_user(&self, name: &str) -> bool {
        !self.users.is_empty() && self.users.contains(user_key(name).as_ref())
    }
}
