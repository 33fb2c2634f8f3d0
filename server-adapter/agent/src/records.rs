//! The four records of telemetry, as the server reads them. A field that is not known is left out.

use std::time::SystemTime;

use serde::Serialize;

use super::utc;

/// The longest instance id, compute type, user name and version of an operating system, in code points.
pub(crate) const INSTANCE_MAX: usize = 50;
pub(crate) const COMPUTE_TYPE_MAX: usize = 25;
const USERNAME_MAX: usize = 50;
const OS_VERSION_MAX: usize = 20;

/// What every record has: who sends it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Names {
    pub(crate) instance_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compute_type_name: Option<String>,
    /// The user who is logged on, and only while somebody is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) username: Option<String>,
}

impl Names {
    /// The same for another user, or for nobody.
    pub(crate) fn with_user(&self, user: Option<&str>) -> Self {
        Self {
            username: user.map(|user| shortened(user, USERNAME_MAX)),
            ..self.clone()
        }
    }
}

/// The load of the machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsRecord {
    #[serde(flatten)]
    pub(crate) names: Names,
    pub(crate) updatetime: String,
    /// Logical processors.
    pub(crate) processor_count: usize,
    /// In percent of all processors, over the time since the record before.
    pub(crate) processor_in_use: i32,
    /// Memory and volumes are in bytes.
    pub(crate) physical_memory: u64,
    pub(crate) available_physical_memory: u64,
    pub(crate) virtual_memory: u64,
    pub(crate) available_virtual_memory: u64,
    pub(crate) memory_in_use: u64,
    #[serde(flatten)]
    pub(crate) root: RootVolume,
    #[serde(flatten)]
    pub(crate) user: UserVolume,
    /// Operations a second since the record before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disk_reads: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disk_writes: Option<f32>,
    /// Bytes a second since the record before.
    pub(crate) network_received: f32,
    pub(crate) network_sent: f32,
    /// In seconds.
    pub(crate) uptime: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) os_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tenant_id: Option<String>,
}

/// The volume of the operating system, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RootVolume {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root_available: Option<u64>,
}

/// The volume of the users' files, in bytes, where it is one of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserVolume {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_total: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_available: Option<u64>,
}

/// What a user did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityRecord {
    #[serde(flatten)]
    pub(crate) names: Names,
    pub(crate) activity: String,
    pub(crate) activity_time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tenant_id: Option<String>,
}

/// How long a boot or a logon took, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartupRecord {
    #[serde(flatten)]
    pub(crate) names: Names,
    pub(crate) baseline_utc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile_ms: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group_policy_ms: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shell_ms: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) total_ms: Option<i32>,
}

/// The processes that use most.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessReport {
    #[serde(flatten)]
    pub(crate) names: Names,
    pub(crate) created_date: String,
    pub(crate) processes: Vec<ProcessItem>,
}

/// The processes of one name together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessItem {
    pub(crate) process_name: String,
    /// In percent of all processors.
    pub(crate) processor_usage: f64,
    /// In bytes.
    pub(crate) memory_usage: u64,
    pub(crate) process_count: u32,
}

/// A record of any stream; its JSON is a line of a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Record {
    Stats(Box<StatsRecord>),
    Activity(ActivityRecord),
    Startup(StartupRecord),
    Processes(ProcessReport),
}

impl Record {
    /// The record as a line of NDJSON, without its end. Sent again, it is the same bytes, which is how the server knows a repetition.
    pub(crate) fn line(&self) -> String {
        // All members are texts and numbers, which have a JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// `time` as the server reads it.
pub(crate) fn written_time(time: SystemTime) -> String {
    utc::format(time)
}

/// The version of the operating system, as long as the server takes it.
pub(crate) fn os_version(version: &str) -> String {
    shortened(version, OS_VERSION_MAX)
}

/// The first `max` characters.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}
