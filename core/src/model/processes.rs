//! The process report (body of `POST /api/Stats/PostProcesses`).

use crate::timestamp::Timestamp;

use super::field::{Nullable, ProcessItem, record};

record! {
    /// What runs on an instance. Every field is optional.
    pub struct ProcessReport {
        /// Compute type of the instance.
        compute_type_name: Nullable<String> = "computeTypeName",
        /// Who was logged on.
        username: Nullable<String> = "username",
        /// When the report was made.
        created_date: Option<Timestamp> = "createdDate",
        /// The processes, at most 4096.
        processes: Option<Vec<ProcessItem>> = "processes",
        /// The instance that posts.
        instance_id: Nullable<String> = "instanceId",
    }
}
