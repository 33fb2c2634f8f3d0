//! The reports of the nodes, and trimming entries that all of them have applied.

use std::sync::atomic::Ordering;

use crate::error::Result;
use crate::limits::{LOG_ENTRIES_KEPT, LOG_KEEP_SECONDS_MAX, NODE_SILENT_SECONDS};
use crate::locks::lock;
use crate::log::{LogError, LogErrorKind, NodeReport};
use crate::model::{ClusterStatus, LogPositions, NodeStatus};
use crate::mutation::Caller;
use crate::mutation::logged::entry::LEASE_RULES;
use crate::store::cluster as stored;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::super::EngineCore;
use super::Cluster;
use super::report::Report;
use super::settings::configured_by;
use super::verifying::check_same;

/// Seconds by which the clock of a node may differ from that of the log.
const CLOCK_SECONDS_MAX: i64 = 2;
/// Seconds between two reports, and between two syncs of the file.
const REPORT_SECONDS: i64 = 1;
/// Seconds until the next report after one that failed: a failing call may take long, and nothing is applied meanwhile.
const REPORT_AGAIN_SECONDS: i64 = 10;
/// Reports between two trims of the log.
const TRIM_EVERY: i64 = 60;

impl Cluster {
    /// The nodes on the list that do not know these rules.
    pub(super) fn nodes_without_rules(&self, rules: u16) -> Result<Vec<String>> {
        let reports = self.log.reports().map_err(|error| self.failed(error))?;
        let lacks = |reported: &NodeReport| Report::parse(&reported.report).rules < rules;
        let older = reports.into_iter().filter(lacks);
        Ok(older.map(|reported| reported.node).collect())
    }
}

impl EngineCore {
    /// Syncs the file and reports the position of this node, once a second.
    pub(super) fn report_when_due(&self, cluster: &Cluster) -> Result<()> {
        let now = self.injected.clock.now();
        let mut reported_at = lock(&cluster.reported_at);
        let since = reported_at.map(|(at, _)| (now.ticks() - at) / TICKS_PER_SECOND);
        let pause = if cluster.could_report() {
            REPORT_SECONDS
        } else {
            REPORT_AGAIN_SECONDS
        };
        if since.is_some_and(|since| (0..pause).contains(&since)) {
            return Ok(());
        }
        let count = reported_at.map_or(0, |(_, count)| count) + 1;
        *reported_at = Some((now.ticks(), count));
        drop(reported_at);
        // The sync comes first, because the log may be gone. Without space for it the node says so.
        if let Err(error) = self.sync_applied(cluster)
            && !error.is_for_space()
        {
            return Err(error);
        }
        let applied = lock(&cluster.applier).applied;
        let is_halted = cluster.halted().is_some();
        let seen = if is_halted { 0 } else { cluster.position() };
        let bounds = cluster.log.bounds(seen);
        let bounds = bounds.map_err(|error| cluster.failed(error))?;
        cluster.last.store(bounds.last, Ordering::Release);
        if let Some(applied) = applied.filter(|_| !is_halted) {
            // A failover that no call has noticed may have lost entries that are applied here.
            if bounds.takeover.is_some() || applied.position > bounds.last {
                cluster.doubt();
                return self.verify(cluster).map(drop);
            }
            check_same(cluster, &applied, bounds)?;
        }
        self.report(cluster)?;
        if count % TRIM_EVERY == 0 {
            trim(cluster).map_err(|error| cluster.failed(error))?;
        }
        Ok(())
    }

    /// Reports the position of this node. If the log keeps entries but no reports, the node goes on and warns the operator.
    pub(super) fn report(&self, cluster: &Cluster) -> Result<()> {
        if cluster.node.is_empty() {
            return Ok(());
        }
        let applied = stored::applied(&self.store.snapshot()?)?;
        let (unready, warnings) = self.codes_of_node();
        let report = Report {
            applied: applied.map_or(0, |applied| applied.position),
            // The log keeps what is not archived yet.
            durable: cluster
                .durable()
                .min(cluster.archived.load(Ordering::Acquire)),
            chain: applied.map_or(String::new(), |applied| hex(&applied.chain)),
            rules: cluster.rules,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: cluster.process.clone(),
            halted: cluster.halted().map(|error| error.to_string()),
            halt_code: cluster.halt_code(),
            unready,
            warnings,
            takeover: cluster.restored_after(),
            keep_seconds: cluster.keep_seconds,
        };
        let reported = self.exchange_reports(cluster, &report);
        cluster.note_report(reported);
        Ok(())
    }

    /// Returns when this node reported, by the log's clock.
    fn exchange_reports(
        &self,
        cluster: &Cluster,
        report: &Report,
    ) -> Result<Option<Timestamp>, LogError> {
        // Reads the reports before this one replaces the last: another process may have reported under the same name.
        let reports = cluster.log.reports()?;
        let before = self.injected.clock.now();
        cluster.notice(report, &reports, before);
        cluster.log.report(&cluster.node, &report.to_text())?;
        let reports = cluster.log.reports()?;
        let after = self.injected.clock.now();
        let own = reports.iter().find(|report| report.node == cluster.node);
        // The other process reported between the two.
        if let Some(own) = own {
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
        Ok(own.map(|own| own.at))
    }

    /// Makes applied entries durable. The log has them, so this may be late: after a crash the node applies the rest again.
    pub(in crate::engine_core) fn sync_applied(&self, cluster: &Cluster) -> Result<()> {
        // The position in the file, which may have lost unsynced entries.
        let applied = stored::applied(&self.store.snapshot()?)?;
        let position = applied.map_or(0, |applied| applied.position);
        if cluster.durable() < position {
            self.store.sync().map_err(|failure| failure.error)?;
            cluster.durable.fetch_max(position, Ordering::AcqRel);
        }
        Ok(())
    }

    /// The fleet as this node sees it; `None` without a log.
    pub(crate) fn cluster_status(&self) -> Result<Option<ClusterStatus>> {
        let Some(cluster) = self.cluster() else {
            return Ok(None);
        };
        let applied = stored::applied(&self.store.snapshot()?)?;
        let bounds = cluster.log.bounds(0);
        let reports = cluster.log.reports();
        let halted = cluster.check_running().and_then(|()| cluster.check_clock());
        let halted = halted.err().map(|error| error.to_string());
        let unreachable = bounds.as_ref().err().or_else(|| reports.as_ref().err());
        let problem = halted.or_else(|| unreachable.map(ToString::to_string));
        let problem = problem.or_else(|| cluster.doubled(self.injected.clock.now()));
        let problem = problem.or_else(|| cluster.log_warning());
        let last = bounds.as_ref().map_or(0, |bounds| bounds.last);
        let nodes = reports.unwrap_or_default().into_iter();
        let nodes = nodes.map(|reported| {
            let mut report = Report::parse(&reported.report);
            if let Some(applied) = applied.filter(|_| reported.node == cluster.node) {
                // Both are read under one lock: a newer position with the chain of an older one looks like another log.
                report.applied = applied.position;
                report.chain = hex(&applied.chain);
                report.halted = cluster.halted().map(|error| error.to_string());
                report.halt_code = cluster.halt_code();
                (report.unready, report.warnings) = self.codes_of_node();
            }
            NodeStatus {
                node: reported.node,
                reported_at: reported.at,
                position: report.applied,
                durable: report.durable,
                lag: last.saturating_sub(report.applied),
                chain: report.chain,
                rules: report.rules,
                version: report.version,
                halted: report.halted,
                halt_code: report.halt_code,
                unready: report.unready,
                warnings: report.warnings,
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
            halt_code: cluster.halt_code(),
            rules: cluster.fleet_rules(),
            nodes: nodes.collect(),
        }))
    }

    /// A problem for the operator while this node serves.
    pub(crate) fn node_warning(&self) -> Option<String> {
        let all = self.cluster()?.warnings(self.injected.clock.now());
        all.into_iter().next().map(|condition| condition.text)
    }

    /// Removes a node from the list, so that trimming does not wait for it any longer.
    pub(crate) fn forget_node(&self, node: &str, by: &Caller) -> Result<()> {
        let Some(cluster) = self.cluster() else {
            return Ok(());
        };
        let forgotten = cluster.log.forget(node);
        forgotten.map_err(|error| cluster.failed(error))?;
        cluster.await_no_more(node);
        // A node that waits for another one takes no writes, and ends that by this.
        if self.apply_first(cluster).is_ok() && cluster.fleet_rules() >= LEASE_RULES {
            let _ = self.run(configured_by(by, format!("node {node} off the list")));
        }
        Ok(())
    }
}

/// Removes entries that all nodes have on disk, except for the last ones, which show a node that the log is the same, and for those that a node
/// wants kept. Trimming does not wait for a node that was silent for a day: it joins again from the backup of another.
fn trim(cluster: &Cluster) -> Result<(), LogError> {
    // Without reports nothing is trimmed, and no entry is lost.
    let Ok(reports) = cluster.log.reports() else {
        return Ok(());
    };
    let Some(newest) = reports.iter().map(|report| report.at).max() else {
        return Ok(());
    };
    let heard_since = newest.plus_seconds(-NODE_SILENT_SECONDS);
    let live = reports.iter().filter(|report| report.at >= heard_since);
    let live: Vec<Report> = live.map(|report| Report::parse(&report.report)).collect();
    let durable = live.iter().map(|report| report.durable).min();
    let mut below = durable.unwrap_or(0).saturating_sub(LOG_ENTRIES_KEPT);
    let first = cluster.log.bounds(0)?.first;
    let keep = live.iter().map(|report| report.keep_seconds).max();
    let keep = keep.unwrap_or(0).max(cluster.keep_seconds);
    if keep > 0 && below > first {
        let kept_since = newest.plus_seconds(-i64::from(keep.min(LOG_KEEP_SECONDS_MAX)));
        below = first_since(cluster, first, below, kept_since)?;
    }
    if below > first {
        cluster.log.trim(below)?;
    }
    Ok(())
}

/// The first position from `first` on, and before `end`, whose entry was appended at `since` or later; else `end`.
fn first_since(cluster: &Cluster, first: u64, end: u64, since: Timestamp) -> Result<u64, LogError> {
    let (mut from, mut to) = (first, end);
    // Halves up to 64 times.
    while from < to {
        let middle = from.midpoint(to);
        let is_old = match cluster.entry_at(middle) {
            Ok(entry) => entry.is_some_and(|entry| entry.at < since),
            // Another node trims at the same time.
            Err(error) if error.kind == LogErrorKind::Trimmed => true,
            Err(error) => return Err(error),
        };
        if is_old {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    Ok(from)
}

fn hex(bytes: &[u8; 16]) -> String {
    crate::log::EntryId(*bytes).to_string()
}
