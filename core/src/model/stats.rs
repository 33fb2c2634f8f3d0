//! The Stats record (body of `POST /api/Stats/Post`).

use crate::limits::{COMPUTE_TYPE_NAME_MAX, INSTANCE_ID_MAX, OS_VERSION_MAX, USERNAME_MAX};
use crate::timestamp::Timestamp;

use super::field::{Nullable, record};

record! {
    /// Resource statistics of one workspace instance. Every field is optional; values are stored as sent, odd ones too.
    pub struct StatsRecord {
        /// Number that the agent gave the record; stored, not interpreted.
        id: Option<i32> = "id",
        /// Compute type of the instance, for example `STANDARD`.
        compute_type_name: Nullable<String> = "computeTypeName" max COMPUTE_TYPE_NAME_MAX,
        /// When the statistics were taken. The time of receipt counts where this is absent or more than 5 minutes ahead.
        update_time: Option<Timestamp> = "updatetime",
        /// User who was logged on.
        username: Nullable<String> = "username" max USERNAME_MAX,
        /// Number of logical processors of the instance.
        processor_count: Option<i32> = "processorCount",
        /// Processor load, in percent.
        processor_in_use: Option<i32> = "processorInUse",
        /// Size of the physical memory, in bytes.
        physical_memory: Option<i64> = "physicalMemory",
        /// Available physical memory, in bytes.
        available_physical_memory: Option<i64> = "availablePhysicalMemory",
        /// Size of the virtual memory, in bytes.
        virtual_memory: Option<i64> = "virtualMemory",
        /// Available virtual memory, in bytes.
        available_virtual_memory: Option<i64> = "availableVirtualMemory",
        /// Memory in use, in bytes.
        memory_in_use: Option<i64> = "memoryInUse",
        /// Size of the root volume, in bytes.
        root_total: Option<i64> = "rootTotal",
        /// Free space on the root volume, in bytes.
        root_available: Option<i64> = "rootAvailable",
        /// Size of the user volume, in bytes.
        user_total: Option<i64> = "userTotal",
        /// Free space on the user volume, in bytes.
        user_available: Option<i64> = "userAvailable",
        /// Disk reads, in operations per second.
        disk_reads: Option<f32> = "diskReads",
        /// Disk writes, in operations per second.
        disk_writes: Option<f32> = "diskWrites",
        /// Network traffic received, in bytes per second.
        network_received: Option<f32> = "networkReceived",
        /// Network traffic sent, in bytes per second.
        network_sent: Option<f32> = "networkSent",
        /// Time since the instance started, in seconds.
        uptime: Nullable<f64> = "uptime",
        /// Version of the operating system, for example `10.0.17763`.
        os_version: Nullable<String> = "osVersion" max OS_VERSION_MAX,
        /// Tenant that the instance belongs to.
        tenant_id: Nullable<String> = "tenantId",
        /// Instance that posts: a `workSpId` or a computer name. History is kept for each instance.
        instance_id: Nullable<String> = "instanceId" max INSTANCE_ID_MAX,
    }
}
