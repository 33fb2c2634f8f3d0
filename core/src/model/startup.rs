//! The startup metrics record (body of `POST /api/Stats/PostStartupMetrics`).

use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// How long the phases of one logon took, in milliseconds. Every field is optional.
    pub struct StartupRecord {
        /// The agent's own number for the record.
        id: Option<i32> = "id",
        /// Compute type of the instance.
        compute_type_name: Nullable<String> = "computeTypeName",
        /// Who logged on.
        username: Nullable<String> = "username",
        /// When the logon began.
        baseline_utc: Option<Timestamp> = "baselineUtc",
        /// Profile load, milliseconds.
        profile_ms: Option<i32> = "profileMs",
        /// Group policy, milliseconds.
        group_policy_ms: Option<i32> = "groupPolicyMs",
        /// Shell start, milliseconds.
        shell_ms: Option<i32> = "shellMs",
        /// The whole logon, milliseconds.
        total_ms: Option<i32> = "totalMs",
        /// The instance that posts.
        instance_id: Nullable<String> = "instanceId",
    }
}
