//! The counters, and their text in the Prometheus exposition format.
//!
//! Counters are plain atomics: an operation and a status are indexes in a fixed table, so a client cannot make the table grow,
//! and no label holds a key, a query or the value of a path parameter.

mod conditions;
mod connections;
mod counter;
mod exposition;
mod figures;
mod histogram;
#[cfg(feature = "cluster")]
mod node;
pub(crate) mod scraped;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

#[cfg(feature = "cluster")]
use deskfleet::Condition;
use deskfleet::{Event, Observer, Timestamp};

use crate::backups::BackupState;
use crate::limits::counted::Counted;
use crate::notifications::Receivers;
use crate::request::operation::Operation;

pub(crate) use connections::RefusedConnection;
use counter::{add, read};
use exposition::Exposition;
pub(crate) use figures::Figures;
use histogram::Histogram;
#[cfg(feature = "cluster")]
pub(crate) use node::Standing;

/// The statuses that have a counter of their own, lowest first; any other is counted as `other`.
const STATUSES: [u16; 22] = [
    200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 429, 431, 499, 500,
    501, 502, 503,
];

/// Counts requests, and commits when it is also the engine's observer. Clones share their counters.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    operations: [OperationCounters; Operation::COUNT],
    connections: Arc<AtomicU32>,
    connections_refused: [AtomicU64; RefusedConnection::ALL.len()],
    commits: AtomicU64,
    commit_durations: Histogram,
    mutations: AtomicU64,
    commit_failures: AtomicU64,
    reopened: AtomicU64,
    writer_restarts: AtomicU64,
    displaced: AtomicBool,
    filed: AtomicU64,
    internal: AtomicU64,
    maintenance_failures: AtomicU64,
    /// The begin of the last round of maintenance that succeeded, in ticks; 0 before the first.
    maintained_at: AtomicI64,
    receivers: Receivers,
    observed: conditions::Observed,
    #[cfg(feature = "cluster")]
    node: node::NodeCounters,
}

#[derive(Debug, Default)]
struct OperationCounters {
    statuses: [AtomicU64; STATUSES.len()],
    other_status: AtomicU64,
    durations: Histogram,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            operations: std::array::from_fn(|_| OperationCounters::default()),
            connections: Arc::default(),
            connections_refused: Default::default(),
            commits: AtomicU64::default(),
            commit_durations: Histogram::default(),
            mutations: AtomicU64::default(),
            commit_failures: AtomicU64::default(),
            reopened: AtomicU64::default(),
            writer_restarts: AtomicU64::default(),
            displaced: AtomicBool::default(),
            filed: AtomicU64::default(),
            internal: AtomicU64::default(),
            maintenance_failures: AtomicU64::default(),
            maintained_at: AtomicI64::default(),
            receivers: Receivers::default(),
            observed: conditions::Observed::default(),
            #[cfg(feature = "cluster")]
            node: node::NodeCounters::default(),
        }
    }
}

impl Metrics {
    /// Counts one request by its response; 499 where its connection ended before.
    pub(crate) fn count_response(&self, operation: Operation, status: u16, duration: Duration) {
        let Some(counters) = self.0.operations.get(operation.index()) else {
            return;
        };
        let status = match STATUSES.binary_search(&status) {
            Ok(place) => counters.statuses.get(place),
            Err(_) => None,
        };
        add(status.unwrap_or(&counters.other_status), 1);
        counters.durations.observe(duration);
    }

    /// Counts a connection as long as the result lives.
    pub(crate) fn connected(&self) -> Counted {
        Counted::new(&self.0.connections)
    }

    /// Counts a connection that was closed or refused.
    pub(crate) fn connection_refused(&self, reason: RefusedConnection) {
        if let Some(counter) = self.0.connections_refused.get(reason as usize) {
            add(counter, 1);
        }
        // To make room by closing an idle connection refuses nothing.
        if reason != RefusedConnection::Idle {
            let now = Timestamp::from(SystemTime::now()).ticks();
            self.0.observed.refused_at.store(now, Ordering::Relaxed);
        }
    }

    /// Records a round of maintenance that began then and succeeded.
    pub(crate) fn maintained(&self, at: Timestamp) {
        self.0
            .observed
            .is_maintenance_failing
            .store(false, Ordering::Relaxed);
        self.0.maintained_at.store(at.ticks(), Ordering::Relaxed);
    }

    /// How webhooks and the heartbeat take what is sent.
    pub(crate) fn receivers(&self) -> &Receivers {
        &self.0.receivers
    }

    /// Records a round of maintenance that failed.
    pub(crate) fn maintenance_failed(&self) {
        self.0
            .observed
            .is_maintenance_failing
            .store(true, Ordering::Relaxed);
        add(&self.0.maintenance_failures, 1);
    }

    /// Sets that the server is a node at `position` of the log, whose entry was appended at `at`, and begins to follow it.
    #[cfg(feature = "cluster")]
    pub(crate) fn node_begun(&self, position: u64, at: SystemTime) {
        self.0.node.begun(position, at);
    }

    /// Records that a call of the log is made.
    #[cfg(feature = "cluster")]
    pub(crate) fn log_asked(&self) {
        self.0.node.asked();
    }

    /// Records that the log responded to a call.
    #[cfg(feature = "cluster")]
    pub(crate) fn log_heard(&self) {
        self.0.node.heard();
    }

    /// Records a read of the log, whose last entry is `last`.
    #[cfg(feature = "cluster")]
    pub(crate) fn followed(&self, position: u64, last: u64) {
        self.0.node.followed(position, last);
    }

    /// Records that the log could not be read, or its entries not applied here.
    #[cfg(feature = "cluster")]
    pub(crate) fn follow_failed(&self, is_of_log: bool) {
        self.0.node.follow_failed(is_of_log);
    }

    /// Records that the node applies nothing more.
    #[cfg(feature = "cluster")]
    pub(crate) fn node_halted(&self) {
        self.0.node.halted();
    }

    /// Sets what is wrong with the other nodes.
    #[cfg(feature = "cluster")]
    pub(crate) fn set_other_nodes(&self, conditions: Vec<Condition>) {
        self.0.node.set_others(conditions);
    }

    /// Sets what is wrong with the archive of the log.
    #[cfg(feature = "cluster")]
    pub(crate) fn set_archive(&self, conditions: Vec<Condition>) {
        self.0.node.set_archive(conditions);
    }

    /// Why the node is not ready, if the log is the reason.
    #[cfg(feature = "cluster")]
    pub(crate) fn log_condition(&self) -> Option<Condition> {
        self.0.node.log_condition(SystemTime::now().into())
    }

    /// Records the end of an append to the log.
    #[cfg(feature = "cluster")]
    pub(crate) fn appended(&self, duration: Duration, is_done: bool) {
        self.0.node.appended(duration, is_done);
    }

    /// The position of the node; `None` for a server without a log.
    #[cfg(feature = "cluster")]
    pub(crate) fn standing(&self) -> Option<Standing> {
        self.0.node.standing()
    }

    /// The exposition text; `connections_max` is the bound of connections, `backups` how the last copies went where there is a folder for them.
    pub(crate) fn text(
        &self,
        figures: &Figures,
        connections_max: usize,
        backups: Option<&BackupState>,
    ) -> String {
        let mut text = Exposition::default();
        let build = text.family("build_info", "gauge", "The version that runs.");
        let version = env!("CARGO_PKG_VERSION");
        text.sample(&format!("{build}{{version=\"{version}\"}}"), 1);
        #[cfg(feature = "cluster")]
        let is_log_used = self.log_condition().is_none();
        #[cfg(not(feature = "cluster"))]
        let is_log_used = true;
        figures.write(&mut text, is_log_used);
        self.write_state(&mut text, connections_max);
        self.write_totals(&mut text);
        if let Some(backups) = backups {
            figures::write_backups(&mut text, backups);
        }
        figures::write_receivers(&mut text, &self.0.receivers.all());
        let commits = text.family(
            "commit_duration_seconds",
            "histogram",
            "Time of a transaction, from its first mutation to the end of its sync.",
        );
        self.0.commit_durations.write(&mut text, &commits, "");
        #[cfg(feature = "cluster")]
        self.0.node.write(&mut text);
        self.write_requests(&mut text);
        text.into_text()
    }

    fn write_state(&self, text: &mut Exposition, connections_max: usize) {
        let all = &self.0;
        let connections = all.connections.load(Ordering::Relaxed);
        text.gauge("connections", "Open connections.", connections);
        text.gauge(
            "connections_max",
            "Connections that may be open at once.",
            connections_max,
        );
        let name = text.family(
            "connections_refused_total",
            "counter",
            "Connections closed, or refused their request, for want of room.",
        );
        for (reason, counter) in RefusedConnection::ALL.iter().zip(&all.connections_refused) {
            let series = format!("{name}{{reason=\"{}\"}}", reason.label());
            text.sample(&series, read(counter));
        }
        text.gauge(
            "file_displaced",
            "Whether the store's file was removed or replaced.",
            u8::from(all.displaced.load(Ordering::Relaxed)),
        );
        if let Some(end) = self.certificate_end() {
            text.gauge(
                "certificate_expires_timestamp_seconds",
                "End of the certificate of the server, since the epoch.",
                figures::unix_seconds(end),
            );
        }
        let maintained_at = all.maintained_at.load(Ordering::Relaxed);
        if maintained_at != 0 {
            text.gauge(
                "maintenance_last_success_timestamp_seconds",
                "Begin of the last round of maintenance that succeeded, since the epoch.",
                figures::unix_seconds(Timestamp::from_ticks(maintained_at)),
            );
        }
    }

    fn write_totals(&self, text: &mut Exposition) {
        let all = &self.0;
        for (name, help, counter) in [
            (
                "commits_total",
                "Transactions that reached the disk.",
                &all.commits,
            ),
            (
                "commit_mutations_total",
                "Mutations in those transactions.",
                &all.mutations,
            ),
            (
                "commit_failures_total",
                "Transactions that failed.",
                &all.commit_failures,
            ),
            (
                "records_filed_total",
                "Telemetry records filed into history.",
                &all.filed,
            ),
            (
                "store_reopened_total",
                "Times the store was reopened after an I/O error.",
                &all.reopened,
            ),
            (
                "writer_restarts_total",
                "Times the thread that commits went on after a panic.",
                &all.writer_restarts,
            ),
            (
                "maintenance_failures_total",
                "Rounds of maintenance that failed.",
                &all.maintenance_failures,
            ),
            (
                "internal_errors_total",
                "Requests answered 500.",
                &all.internal,
            ),
        ] {
            text.counter(name, help, read(counter));
        }
    }

    fn write_requests(&self, text: &mut Exposition) {
        let name = text.family(
            "requests_total",
            "counter",
            "Requests answered, by operation id and status.",
        );
        for (operation, counters) in self.seen() {
            let label = operation.label();
            let statuses = STATUSES.iter().map(u16::to_string);
            let statuses = statuses.chain(["other".to_owned()]);
            for (status, counter) in statuses.zip(counters.statuses()) {
                if read(counter) != 0 {
                    let series = format!("{name}{{operation=\"{label}\",status=\"{status}\"}}");
                    text.sample(&series, read(counter));
                }
            }
        }
        let name = text.family(
            "request_duration_seconds",
            "histogram",
            "Time from request head to answer, by operation id.",
        );
        for (operation, counters) in self.seen() {
            let label = format!("operation=\"{}\",", operation.label());
            counters.durations.write(text, &name, &label);
        }
    }

    /// The operations that were asked for at least once.
    fn seen(&self) -> impl Iterator<Item = (Operation, &OperationCounters)> {
        Operation::all()
            .zip(&self.0.operations)
            .filter(|(_, counters)| counters.seen())
    }
}

impl OperationCounters {
    /// Those of [`STATUSES`], then that of any other.
    fn statuses(&self) -> impl Iterator<Item = &AtomicU64> {
        self.statuses.iter().chain([&self.other_status])
    }

    fn seen(&self) -> bool {
        self.statuses().any(|counter| read(counter) != 0)
    }
}

impl Observer for Metrics {
    fn event(&self, event: &Event<'_>) {
        let all = &self.0;
        match event {
            Event::Committed {
                mutations,
                duration,
            } => {
                add(&all.commits, 1);
                all.commit_durations.observe(*duration);
                add(&all.mutations, *mutations as u64);
            }
            Event::CommitFailed { .. } => add(&all.commit_failures, 1),
            Event::WriterThreadRestarted { .. } => add(&all.writer_restarts, 1),
            Event::UpkeepFailed { .. } => self.maintenance_failed(),
            Event::Reopened => add(&all.reopened, 1),
            Event::FileDisplaced { .. } => all.displaced.store(true, Ordering::Relaxed),
            Event::FileReturned => {
                all.displaced.store(false, Ordering::Relaxed);
                // Rounds failed for want of the file; the round that has found it looks for conditions before it ends.
                let failing = &all.observed.is_maintenance_failing;
                failing.store(false, Ordering::Relaxed);
            }
            Event::Filed { records } => add(&all.filed, *records),
            Event::Internal { .. } => add(&all.internal, 1),
            // The enum may grow; what is not known here is not counted.
            Event::RetentionBehind { .. } | _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use deskfleet::Engine;

    use crate::request::operation::OwnRoute;

    use super::*;

    fn text(metrics: &Metrics) -> String {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        let engine = builder.open_in_memory().unwrap();
        metrics.text(&Figures::read(&engine), 9, None)
    }

    #[test]
    fn responses_are_counted_by_operation_and_status() {
        assert!(STATUSES.is_sorted());
        let metrics = Metrics::default();
        let page = Operation::Own(OwnRoute::find(&http::Method::GET, "/livez").unwrap());
        for status in [200, 200, 503, 418] {
            metrics.count_response(page, status, Duration::ZERO);
        }
        let text = text(&metrics);
        for expected in [
            "deskfleet_requests_total{operation=\"livez\",status=\"200\"} 2\n",
            "deskfleet_requests_total{operation=\"livez\",status=\"503\"} 1\n",
            "deskfleet_requests_total{operation=\"livez\",status=\"other\"} 1\n",
            "deskfleet_request_duration_seconds_count{operation=\"livez\"} 4\n",
            "deskfleet_connections_max 9\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("getAllWorkSpaces"), "never asked for");
    }

    #[test]
    fn events_of_the_engine_are_counted() {
        let metrics = Metrics::default();
        metrics.event(&Event::Committed {
            mutations: 5,
            duration: Duration::from_millis(2),
        });
        metrics.event(&Event::Filed { records: 40 });
        metrics.event(&Event::WriterThreadRestarted { panic: "" });
        metrics.maintenance_failed();
        metrics.maintained(Timestamp::from_unix_seconds(1_790_000_000));
        let text = text(&metrics);
        for expected in [
            "deskfleet_commit_duration_seconds_count 1",
            "deskfleet_commit_duration_seconds_sum 0.002",
            "deskfleet_commit_mutations_total 5",
            "deskfleet_records_filed_total 40",
            "deskfleet_writer_restarts_total 1",
            "deskfleet_maintenance_failures_total 1",
            "deskfleet_maintenance_last_success_timestamp_seconds 1790000000",
        ] {
            assert!(
                text.contains(&format!("\n{expected}\n")),
                "{expected}\n{text}"
            );
        }
    }
}
