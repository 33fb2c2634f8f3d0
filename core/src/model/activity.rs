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
    /// The change that an activity of this name is, by its last word: those of Windows (`SessionSwitchReason`: `SessionLogon`,
    /// `RemoteDisconnect`) and what agents make of them (`Log off`, `user_logged_in`). Letters count without case. What failed is none.
    pub(crate) fn named(activity: &str) -> Option<Self> {
        let letters = activity.bytes().filter(u8::is_ascii_alphanumeric);
        let name: Vec<u8> = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        let longest = |words: &[&str]| {
            let found = words.iter().filter(|word| name.ends_with(word.as_bytes()));
            found.map(|word| word.len()).max()
        };
        let has_failed = FAILED.iter().any(|word| {
            let mut places = name.windows(word.len());
            places.any(|place| place == word.as_bytes())
        });
        let (begins, ends) = (longest(&BEGINS), longest(&ENDS));
        if has_failed || longest(&NEITHER) > begins.max(ends) {
            None
        } else if begins > ends {
            Some(Self::Begins)
        } else {
            ends.map(|_| Self::Ends)
        }
    }
}

const BEGINS: [&str; 10] = [
    "logon",
    "login",
    "signin",
    "connect",
    "unlock",
    "loggedon",
    "loggedin",
    "signedin",
    "connected",
    "unlocked",
];
const ENDS: [&str; 10] = [
    "logoff",
    "logout",
    "signout",
    "disconnect",
    "lock",
    "loggedoff",
    "loggedout",
    "signedout",
    "disconnected",
    "locked",
];
/// Words that end as one of those does.
const NEITHER: [&str; 4] = ["clock", "block", "blocked", "unblock"];
const FAILED: [&str; 4] = ["fail", "denied", "error", "reject"];

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
            "Connected",
            "user logged in",
            "Unlocked",
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
            "Disconnected",
            "SessionLocked",
            "Signed Out",
            "screen lock",
        ] {
            assert_eq!(
                SessionChange::named(name),
                Some(SessionChange::Ends),
                "{name}"
            );
        }
        for name in [
            "",
            "Print",
            "Logon failed",
            "Failed Logon",
            "AccessDenied: login",
            "Clock",
            "ock",
            "äö",
        ] {
            assert_eq!(SessionChange::named(name), None, "{name}");
        }
    }
}
