//! The Activity record (body of `POST /api/Stats/PostActivity`).

use crate::limits::{COMPUTE_TYPE_NAME_MAX, INSTANCE_ID_MAX, USERNAME_MAX};
use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// Something a user did: a logon, a lock, a disconnect. Every field is optional.
    pub struct ActivityRecord {
        /// The agent's own number for the record.
        id: Option<i32> = "id",
        /// Compute type of the instance.
        compute_type_name: Nullable<String> = "computeTypeName" max COMPUTE_TYPE_NAME_MAX,
        /// Whose activity it is.
        username: Nullable<String> = "username" max USERNAME_MAX,
        /// What happened, for example `Logon`.
        activity: Nullable<String> = "activity",
        /// When it happened.
        activity_time: Option<Timestamp> = "activityTime",
        /// The instance that posts.
        instance_id: Nullable<String> = "instanceId" max INSTANCE_ID_MAX,
        /// Tenant of the instance.
        tenant_id: Nullable<String> = "tenantId",
    }
}
