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
        /// When it happened. The time of receipt counts where this is absent or more than 24 hours ahead.
        activity_time: Option<Timestamp> = "activityTime",
        /// Instance that posts: a `workSpId` or a computer name. History is kept for each instance.
        instance_id: Nullable<String> = "instanceId" max INSTANCE_ID_MAX,
        /// Tenant that the instance belongs to.
        tenant_id: Nullable<String> = "tenantId",
    }
}
