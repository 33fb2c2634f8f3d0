//! The startup metrics record (body of `POST /api/Stats/PostStartupMetrics`).

use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// How long the phases of one logon took. Every field is optional.
    pub struct StartupRecord {
        /// Number that the agent gave the record; stored, not interpreted.
        id: Option<i32> = "id",
        /// Compute type of the instance, for example `STANDARD`.
        compute_type_name: Nullable<String> = "computeTypeName",
        /// User who logged on.
        username: Nullable<String> = "username",
        /// When the logon began. The time of receipt counts where this is absent or more than 5 minutes ahead.
        baseline_utc: Option<Timestamp> = "baselineUtc",
        /// Time to load the profile, in milliseconds.
        profile_ms: Option<i32> = "profileMs",
        /// Time to apply group policy, in milliseconds.
        group_policy_ms: Option<i32> = "groupPolicyMs",
        /// Time to start the shell, in milliseconds.
        shell_ms: Option<i32> = "shellMs",
        /// Time of the whole logon, in milliseconds.
        total_ms: Option<i32> = "totalMs",
        /// Instance that posts: a `workSpId` or a computer name. History is kept for each instance.
        instance_id: Nullable<String> = "instanceId",
    }
}
