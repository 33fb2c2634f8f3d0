//! What the nodes say of themselves, and removing what all of them have applied.

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::limits::{LOG_ENTRIES_KEPT, NODE_SILENT_SECONDS};
use crate::locks::lock;
use crate::mutation::logged::entry::RULES;
use crate::store::cluster as stored;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::super::EngineCore;
use super::Cluster;

/// Seconds by which the clock of a node may differ from that of the log.
const CLOCK_SECONDS_MAX: i64 = 2;
/// Seconds between two reports, and between two syncs of the file.
const REPORT_SECONDS: i64 = 1;
/// Reports between two looks at what can be removed from the log.
const TRIM_EVERY: i64 = 60;

/// What a node says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Report {
    applied: u64,
    durable: u64,
    chain: String,
    rules: u16,
    version: String,
    halted: Option<String>,
}

/// A fleet of several nodes, as one of them sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The name of the node that answers.
    pub node: String,
    /// Names the fleet: the id of the first entry of its log, 32 hexadecimal digits; `null` before it was read.
    pub fleet: Option<String>,
    /// The position of the last entry that this node has applied.
    pub position: u64,
    /// The time of that entry.
    pub position_at: Option<Timestamp>,
    /// The first and the last position that the log holds; `null` where it cannot be reached.
    pub log: Option<LogPositions>,
    /// Why the log cannot be reached, or why this node applies nothing more.
    pub problem: Option<String>,
    /// All nodes that reported, by their names.
    pub nodes: Vec<NodeStatus>,
}

/// The positions that the log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogPositions {
    /// The first that was not removed.
    pub first: u64,
    /// The last; 0 before the first entry.
    pub last: u64,
}

/// What a node of the fleet said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// Its name.
    pub node: String,
    /// When it said this, by the clock of the log.
    pub reported_at: Timestamp,
    /// The position of the last entry that it had applied.
    pub position: u64,
    /// The same as of the last sync of its file.
    pub durable: u64,
    /// Entries that it had not applied yet, of those in the log now.
    pub lag: u64,
    /// The hash chain over the log up to its position: of nodes at one position it is the same.
    pub chain: String,
    /// The newest rules that it knows.
    pub rules: u16,
    /// The version of deskfleet.
    pub version: String,
    /// Why it applies nothing more.
    pub halted: Option<String>,
}

impl EngineCore {
    /// Syncs the file and says where this node stands, once a second.
    pub(super) fn report_when_due(&self, cluster: &Cluster) -> Result<()> {
        let now = self.injected.clock.now();
        let mut reported_at = lock(&cluster.reported_at);
        let since = reported_at.map(|(at, _)| (now.ticks() - at) / TICKS_PER_SECOND);
        if since.is_some_and(|since| (0..REPORT_SECONDS).contains(&since)) {
            return Ok(());
        }
        let count = reported_at.map_or(0, |(_, count)| count) + 1;
        *reported_at = Some((now.ticks(), count));
        drop(reported_at);
        self.report(cluster)?;
        if count % TRIM_EVERY == 0 {
            trim(cluster)?;
        }
        Ok(())
    }

    /// Syncs the file and says where this node stands.
    pub(super) fn report(&self, cluster: &Cluster) -> Result<()> {
        self.sync_applied(cluster)?;
        let applied = stored::applied(&self.store.snapshot()?)?;
        let report = Report {
            applied: applied.map_or(0, |applied| applied.position),
            durable: cluster.durable.load(Ordering::Acquire),
            chain: applied.map_or(String::new(), |applied| hex(&applied.chain)),
            rules: RULES,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            halted: cluster.check_running().err().map(|error| error.to_string()),
        };
        let report = serde_json::to_string(&report).unwrap_or_default();
        let before = self.injected.clock.now();
        let reported = cluster.log.report(&cluster.node, &report);
        let reports = reported.and_then(|()| cluster.log.reports());
        let reports = reports.map_err(|error| cluster.failed(error))?;
        let after = self.injected.clock.now();
        // When this one reported, by the log's clock: between the two.
        if let Some(own) = reports.iter().find(|said| said.node == cluster.node) {
            let ahead = before.ticks() - own.at.ticks();
            let behind = own.at.ticks() - after.ticks();
            let most = CLOCK_SECONDS_MAX * TICKS_PER_SECOND;
            let ahead = match (ahead > most, behind > most) {
                (true, _) => ahead,
                (_, true) => -behind,
                _ => 0,
            };
            let ahead_ms = ahead / (TICKS_PER_SECOND / 1000);
            cluster.clock_ahead_ms.store(ahead_ms, Ordering::Release);
        }
        Ok(())
    }

    /// Makes durable what is applied. The log has it, so this need not be soon: after a crash the rest is applied again.
    pub(in crate::engine_core) fn sync_applied(&self, cluster: &Cluster) -> Result<()> {
        let position = cluster.position();
        if cluster.durable.load(Ordering::Acquire) < position {
            self.store.sync().map_err(|failure| failure.error)?;
            cluster.durable.fetch_max(position, Ordering::AcqRel);
        }
        Ok(())
    }

    /// The fleet as this node sees it; `None` where it shares no log.
    pub(crate) fn cluster_status(&self) -> Result<Option<ClusterStatus>> {
        let Some(cluster) = self.cluster() else {
            return Ok(None);
        };
        let applied = stored::applied(&self.store.snapshot()?)?;
        let bounds = cluster.log.bounds();
        let reports = cluster.log.reports();
        let halted = cluster.check_running().and_then(|()| cluster.check_clock());
        let halted = halted.err().map(|error| error.to_string());
        let unreachable = bounds.as_ref().err().or_else(|| reports.as_ref().err());
        let problem = halted.or_else(|| unreachable.map(ToString::to_string));
        let last = bounds.as_ref().map_or(0, |bounds| bounds.last);
        let nodes = reports.unwrap_or_default().into_iter();
        let nodes = nodes.map(|said| {
            let report: Report = serde_json::from_str(&said.report).unwrap_or_default();
            NodeStatus {
                node: said.node,
                reported_at: said.at,
                position: report.applied,
                durable: report.durable,
                lag: last.saturating_sub(report.applied),
                chain: report.chain,
                rules: report.rules,
                version: report.version,
                halted: report.halted,
            }
        });
        Ok(Some(ClusterStatus {
            node: cluster.node.clone(),
            fleet: applied.map(|applied| hex(&applied.fleet)),
            position: cluster.position(),
            position_at: applied.map(|applied| applied.at),
            log: bounds.ok().map(|bounds| LogPositions {
                first: bounds.first,
                last: bounds.last,
            }),
            problem,
            nodes: nodes.collect(),
        }))
    }

    /// Removes a node from the list; it is not waited for any longer.
    pub(crate) fn forget_node(&self, node: &str) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        let forgotten = cluster.log.forget(node);
        forgotten.map_err(|error| cluster.failed(error))
    }
}

/// Removes entries that all nodes have on disk, but for the last ones, by which a node finds out that the log is the same. A node that said
/// nothing for long is not waited for: it joins again from the backup of another.
fn trim(cluster: &Cluster) -> Result<()> {
    let reports = cluster
        .log
        .reports()
        .map_err(|error| cluster.failed(error))?;
    let Some(newest) = reports.iter().map(|said| said.at).max() else {
        return Ok(());
    };
    let heard_since = newest.plus_seconds(-NODE_SILENT_SECONDS);
    let live = reports.iter().filter(|said| said.at >= heard_since);
    let durable = live.map(|said| {
        let report: Report = serde_json::from_str(&said.report).unwrap_or_default();
        report.durable
    });
    let below = durable.min().unwrap_or(0).saturating_sub(LOG_ENTRIES_KEPT);
    let bounds = cluster
        .log
        .bounds()
        .map_err(|error| cluster.failed(error))?;
    if below > bounds.first {
        cluster
            .log
            .trim(below)
            .map_err(|error| cluster.failed(error))?;
    }
    Ok(())
}

fn hex(bytes: &[u8; 16]) -> String {
    crate::log::EntryId(*bytes).to_string()
}
