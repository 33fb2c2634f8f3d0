//! Problems that a node notices when it reports, for the operator.

use std::collections::BTreeSet;

use crate::locks::lock;
use crate::log::{LogError, NodeReport};
use crate::model::{Condition, Severity};
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::Cluster;
use super::report::Report;

/// Seconds for which a node shows a problem. It checks once a second, and does not see the problem each time.
const SHOWN_SECONDS: i64 = 10;
/// Seconds for which it shows that the log lost entries: an operator has to see it, and it ends by itself.
const RESTORED_SHOWN_SECONDS: i64 = 60 * 60;

/// What a node noticed, with the times of its own clock.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    /// When it reported last, by the clock of the log.
    reported_at: Option<Timestamp>,
    /// When it last saw another process report under its name.
    doubled_at: Option<Timestamp>,
    /// When it last saw that another node differs from it, and how.
    differed: Option<(Timestamp, String)>,
    /// Why the last report failed, if it did.
    unreported: Option<String>,
    /// The nodes of the list.
    nodes: BTreeSet<String>,
    /// When it last restored entries of the log, and up to which.
    restored: Option<(Timestamp, String)>,
}

impl Cluster {
    /// Checks the `reports` that exist at `now`, before this node reports.
    pub(super) fn notice(&self, own: &Report, reports: &[NodeReport], now: Timestamp) {
        let mut noticed = lock(&self.noticed);
        noticed.nodes = reports.iter().map(|of| of.node.clone()).collect();
        for reported in reports {
            let other = Report::parse(&reported.report);
            if reported.node == self.node {
                // A report of the previous process is not newer than the first one of this process.
                let is_newer = noticed.reported_at.is_some_and(|at| reported.at > at);
                if is_newer && other.process != own.process {
                    noticed.doubled_at = Some(now);
                }
            } else if other.halted.is_none() && own.differs_from(&other) {
                let message = format!(
                    "this node and {} applied different entries up to {}: the log lost entries that one of them had applied; \
                     `deskfleet cluster status` says what to do",
                    reported.node, own.applied
                );
                noticed.differed = Some((now, message));
            }
        }
    }

    /// Records the result of a report: its time by the clock of the log.
    pub(super) fn note_report(&self, reported: Result<Option<Timestamp>, LogError>) {
        let mut noticed = lock(&self.noticed);
        match reported {
            Ok(at) => {
                noticed.reported_at = at.or(noticed.reported_at);
                noticed.unreported = None;
            }
            Err(error) => noticed.unreported = Some(error.message),
        }
    }

    /// Records that this node restored entries of the log, of which `last` was the last.
    pub(super) fn note_restored(&self, count: usize, last: u64, now: Timestamp) {
        let message = format!(
            "the log had lost its end, and this node restored {count} entries that it had applied, up to {last}. Set the log up such that a server that takes \
             over has everything"
        );
        lock(&self.noticed).restored = Some((now, message));
    }

    /// The nodes of the list, as it was read last.
    pub(super) fn listed_nodes(&self) -> BTreeSet<String> {
        lock(&self.noticed).nodes.clone()
    }

    /// Whether the last report succeeded.
    pub(super) fn could_report(&self) -> bool {
        lock(&self.noticed).unreported.is_none()
    }

    /// Another process that reports under the name of this node, if one did so lately.
    pub(super) fn doubled(&self, now: Timestamp) -> Option<String> {
        let at = lock(&self.noticed).doubled_at?;
        is_shown(at, now, SHOWN_SECONDS).then(|| {
            format!(
                "another process reports under the name {}: two nodes have one name, and the log may be trimmed before both have \
                 applied it. Stop one of them, or start it with another --node and a file of its own",
                self.node
            )
        })
    }

    /// Problems for the operator while this node serves.
    pub(in crate::engine_core) fn warnings(&self, now: Timestamp) -> Vec<Condition> {
        let doubled = self.doubled(now);
        let (differed, restored, unreported) = {
            let noticed = lock(&self.noticed);
            let shown = |noticed: &Option<(Timestamp, String)>, seconds| {
                let noticed = noticed.as_ref();
                let shown = noticed.filter(|(at, _)| is_shown(*at, now, seconds));
                shown.map(|(_, message)| message.clone())
            };
            (
                shown(&noticed.differed, SHOWN_SECONDS),
                shown(&noticed.restored, RESTORED_SHOWN_SECONDS),
                noticed.unreported.as_deref().map(unreported),
            )
        };
        let all = [
            ("NodeNameTaken", doubled),
            ("NodesDiffer", differed),
            ("NodeUnreported", unreported),
            ("LogRestored", restored),
            ("LogUnsafe", self.log_warning()),
        ];
        let all = all.into_iter();
        all.filter_map(|(code, text)| Some(Condition::new(code, Severity::Warning, text?, now)))
            .collect()
    }

    /// Why the log may lose entries that it acknowledges.
    pub(super) fn log_warning(&self) -> Option<String> {
        let warnings = self.log.warnings();
        (!warnings.is_empty()).then(|| format!("the log of the fleet: {}", warnings.join("; ")))
    }
}

fn unreported(error: &str) -> String {
    format!(
        "this node cannot report where it stands, though the log has its entries: {error}. The other nodes show it as silent, and its \
         clock is not compared"
    )
}

fn is_shown(at: Timestamp, now: Timestamp, seconds_max: i64) -> bool {
    let seconds = (now.ticks() - at.ticks()) / TICKS_PER_SECOND;
    (0..=seconds_max).contains(&seconds)
}
