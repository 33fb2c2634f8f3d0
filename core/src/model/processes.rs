//! The process report (body of `POST /api/Stats/PostProcesses`).

use crate::timestamp::Timestamp;

use super::field::{Nullable, ProcessItem, record};

record! {
    /// What runs on an instance at one moment. Every field is optional.
    pub struct ProcessReport {
        /// Compute type of the instance, for example `STANDARD`.
        compute_type_name: Nullable<String> = "computeTypeName",
        /// User who was logged on.
        username: Nullable<String> = "username",
        /// When the report was made. The time of receipt counts where this is absent or more than 5 minutes ahead.
        created_date: Option<Timestamp> = "createdDate",
        /// The processes by name, at most 4096 items.
        processes: Option<Vec<ProcessItem>> = "processes",
        /// Instance that posts: a `workSpId` or a computer name. History is kept for each instance.
        instance_id: Nullable<String> = "instanceId",
    }
}
