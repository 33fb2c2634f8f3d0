//! The process report (body of `POST /api/Stats/PostProcesses`) and its items.

use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

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

record! {
    /// One process name of a [`ProcessReport`], summed over its processes. Every field is optional.
    pub struct ProcessItem {
        /// Name of the executable.
        process_name: Option<String> = "processName",
        /// Processor load, percent.
        processor_usage: Option<f64> = "processorUsage",
        /// Memory, bytes.
        memory_usage: Option<f64> = "memoryUsage",
        /// Processes of that name.
        process_count: Option<i64> = "processCount",
        /// Who runs them.
        username: Option<String> = "username",
    }
}
