//! A Stats record as a program without the engine would read it: serde into a struct that owns its texts.

use serde::Deserialize;

/// The 23 fields of a Stats record. Its time stays the text that was sent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the interface")]
pub struct StatsRow {
    pub id: Option<i32>,
    pub compute_type_name: Option<String>,
    pub updatetime: Option<String>,
    pub username: Option<String>,
    pub processor_count: Option<i32>,
    pub processor_in_use: Option<i32>,
    pub physical_memory: Option<i64>,
    pub available_physical_memory: Option<i64>,
    pub virtual_memory: Option<i64>,
    pub available_virtual_memory: Option<i64>,
    pub memory_in_use: Option<i64>,
    pub root_total: Option<i64>,
    pub root_available: Option<i64>,
    pub user_total: Option<i64>,
    pub user_available: Option<i64>,
    pub disk_reads: Option<f32>,
    pub disk_writes: Option<f32>,
    pub network_received: Option<f32>,
    pub network_sent: Option<f32>,
    pub uptime: Option<f64>,
    pub os_version: Option<String>,
    pub tenant_id: Option<String>,
    pub instance_id: Option<String>,
}

impl StatsRow {
    /// Reads the body of a post.
    ///
    /// # Panics
    /// When it is not such a record.
    #[must_use]
    pub fn parse(body: &[u8]) -> Self {
        serde_json::from_slice(body).expect("a Stats record")
    }
}
