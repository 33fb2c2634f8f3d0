//! The Stats record (body of `POST /api/Stats/Post`).

use crate::limits::{COMPUTE_TYPE_NAME_MAX, INSTANCE_ID_MAX, OS_VERSION_MAX, USERNAME_MAX};
use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// Resource statistics of one workspace instance. Every field is optional; values are stored as sent.
    pub struct StatsRecord {
        /// The agent's own number for the record.
        id: Option<i32> = "id",
        /// Compute type of the instance.
        compute_type_name: Nullable<String> = "computeTypeName" max COMPUTE_TYPE_NAME_MAX,
        /// When the statistics were taken.
        update_time: Option<Timestamp> = "updatetime",
        /// Who was logged on.
        username: Nullable<String> = "username" max USERNAME_MAX,
        /// Processors of the instance.
        processor_count: Option<i32> = "processorCount",
        /// Processor load, percent.
        processor_in_use: Option<i32> = "processorInUse",
        /// Physical memory, bytes.
        physical_memory: Option<i64> = "physicalMemory",
        /// Available physical memory, bytes.
        available_physical_memory: Option<i64> = "availablePhysicalMemory",
        /// Virtual memory, bytes.
        virtual_memory: Option<i64> = "virtualMemory",
        /// Available virtual memory, bytes.
        available_virtual_memory: Option<i64> = "availableVirtualMemory",
        /// Memory in use, bytes.
        memory_in_use: Option<i64> = "memoryInUse",
        /// Size of the root volume, bytes.
        root_total: Option<i64> = "rootTotal",
        /// Free on the root volume, bytes.
        root_available: Option<i64> = "rootAvailable",
        /// Size of the user volume, bytes.
        user_total: Option<i64> = "userTotal",
        /// Free on the user volume, bytes.
        user_available: Option<i64> = "userAvailable",
        /// Disk reads, operations per second.
        disk_reads: Option<f32> = "diskReads",
        /// Disk writes, operations per second.
        disk_writes: Option<f32> = "diskWrites",
        /// Network received, bytes per second.
        network_received: Option<f32> = "networkReceived",
        /// Network sent, bytes per second.
        network_sent: Option<f32> = "networkSent",
        /// Time since start, seconds.
        uptime: Nullable<f64> = "uptime",
        /// Operating system version.
        os_version: Nullable<String> = "osVersion" max OS_VERSION_MAX,
        /// Tenant of the instance.
        tenant_id: Nullable<String> = "tenantId",
        /// The instance that posts.
        instance_id: Nullable<String> = "instanceId" max INSTANCE_ID_MAX,
    }
}
