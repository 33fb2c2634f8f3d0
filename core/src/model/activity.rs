//! The Activity record (body of `POST /api/Stats/PostActivity`).

use crate::limits::{COMPUTE_TYPE_NAME_MAX, INSTANCE_ID_MAX, USERNAME_MAX};
use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// Something a user did: a logon, a lock, a disconnect. Every field is optional.
    pub struct ActivityRecord {
        /// Number that the agent gave the record; stored, not interpreted.
        id: Option<i32> = "id",
        /// Compute type of the instance, for example `STANDARD`.
        compute_type_name: Nullable<String> = "computeTypeName" max COMPUTE_TYPE_NAME_MAX,
        /// User who acted.
        username: Nullable<String> = "username" max USERNAME_MAX,
        /// What happened, for example `Logon`.
        activity: Nullable<String> = "activity",
        /// When it happened. The time of receipt counts where this is absent or more than 5 minutes ahead.
        activity_time: Option<Timestamp> = "activityTime",
        /// Instance that posts: a `workSpId` or a computer name. History is kept for each instance.
        instance_id: Nullable<String> = "instanceId" max INSTANCE_ID_MAX,
        /// Tenant that the instance belongs to.
        tenant_id: Nullable<String> = "tenantId",
    }
}

/// What an activity says of the session of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SessionChange {
    /// Somebody uses the desktop from then on.
    Begins,
    /// Nobody does.
    Ends,
}

impl SessionChange {
    /// The change that an activity of this name is, by the last of its words: those of Windows (`SessionSwitchReason`: `SessionLogon`,
    /// `RemoteDisconnect`) and what agents make of them (`Log off`, `user_login`). Letters count without case.
    pub(crate) fn named(activity: &str) -> Option<Self> {
        const BEGINS: [&[u8]; 5] = [b"logon", b"login", b"signin", b"connect", b"unlock"];
        const ENDS: [&[u8]; 5] = [b"logoff", b"logout", b"signout", b"disconnect", b"lock"];
        let letters = activity.bytes().rev().filter(u8::is_ascii_alphanumeric);
        let mut last = [0; 10];
        for (place, letter) in last.iter_mut().rev().zip(letters) {
            *place = letter.to_ascii_lowercase();
        }
        let longest = |names: [&[u8]; 5]| {
            let found = names.into_iter().filter(|name| last.ends_with(name));
            found.map(<[u8]>::len).max()
        };
        match (longest(BEGINS), longest(ENDS)) {
            (begins, ends) if begins > ends => Some(Self::Begins),
            (None, None) => None,
            _ => Some(Self::Ends),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_begin_and_end_by_the_last_word_of_an_activity() {
        for name in [
            "Logon",
            "LOGIN",
            "SessionUnlock",
            "Reconnect",
            "sign-in",
            "user log on",
        ] {
            assert_eq!(
                SessionChange::named(name),
                Some(SessionChange::Begins),
                "{name}"
            );
        }
        for name in [
            "Logoff",
            "Log Off",
            "Lock",
            "RemoteDisconnect",
            "log_out",
            "disconnect.",
        ] {
            assert_eq!(
                SessionChange::named(name),
                Some(SessionChange::Ends),
                "{name}"
            );
        }
        for name in ["", "Print", "Logon failed", "connected", "ock", "äö"] {
            assert_eq!(SessionChange::named(name), None, "{name}");
        }
    }
}
