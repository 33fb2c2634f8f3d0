//! The names by which a record may belong to a workspace on hold.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::model::identity::id_key;
use crate::model::user_key;

/// The names of all workspaces on hold: their ids and computer names, and their users. A record with one of these names is kept,
/// whichever workspace it resolves to: it belongs to a hold if it could.
#[derive(Debug, Default)]
pub(crate) struct HeldNames {
    instances: BTreeSet<String>,
    users: BTreeSet<String>,
}

impl HeldNames {
    /// Adds the names of a workspace. An empty name matches nothing.
    pub(in crate::store) fn add(&mut self, id: &str, computer: Option<&str>, user: Option<&str>) {
        let instances = [Some(id), computer].into_iter().flatten().map(id_key);
        let instances = instances.filter(|name| !name.is_empty());
        self.instances.extend(instances.map(Into::into));
        let user = user.map(user_key).filter(|name| !name.is_empty());
        self.users.extend(user.map(Into::into));
    }

    /// Whether an instance of that name may be a held workspace.
    pub(crate) fn has_instance(&self, name: &str) -> bool {
        !self.instances.is_empty() && self.instances.contains(id_key(name).as_ref())
    }

    /// Whether one of its users has a compare name after `name`.
    pub(crate) fn has_user_after(&self, name: &str) -> bool {
        let after = (Bound::Excluded(name), Bound::Unbounded);
        self.users.range::<str, _>(after).next().is_some()
    }

    /// Whether a user of that name may be one of a held workspace.
    pub(crate) fn has_user(&self, name: &str) -> bool {
        !self.users.is_empty() && self.users.contains(user_key(name).as_ref())
    }
}
