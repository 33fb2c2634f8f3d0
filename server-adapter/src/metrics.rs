//! What is counted, and its text in the Prometheus exposition format.
//!
//! Counters are plain atomics: an operation and a status are places in a fixed table, so nothing a client sends can make
//! the table grow, and no label holds a key, a query or the value of a path parameter.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use deskfleet::routes::{ROUTES, Route};
use deskfleet::{Event, Observer};

use crate::counted::Counted;
use crate::page::Page;

/// What a request asks for: the label of what is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    /// A row of the route table.
    Route(&'static Route),
    /// A page of the server's own.
    Page(Page),
    /// No such path, or not with this method.
    None,
}

impl Operation {
    /// How many there are; [`Self::index`] stays below.
    const COUNT: usize = ROUTES.len() + Page::ALL.len() + 1;

    /// Every operation, in the order of [`Self::index`].
    fn all() -> impl Iterator<Item = Self> {
        let routes = ROUTES.iter().map(Self::Route);
        let pages = Page::ALL.into_iter().map(Self::Page);
        routes.chain(pages).chain([Self::None])
    }

    fn index(self) -> usize {
        match self {
            Self::Route(route) => {
                let row = ROUTES.iter().position(|row| std::ptr::eq(row, route));
                row.unwrap_or(Self::COUNT - 1)
            }
            Self::Page(page) => ROUTES.len() + page as usize,
            Self::None => Self::COUNT - 1,
        }
    }

    /// The operation id, the page's name, or `none`.
    fn label(self) -> &'static str {
        match self {
            Self::Route(route) => route.operation_id,
            Self::Page(page) => page.name(),
            Self::None => "none",
        }
    }
}

impl From<Option<&'static Route>> for Operation {
    fn from(route: Option<&'static Route>) -> Self {
        route.map_or(Self::None, Self::Route)
    }
}

/// The statuses that have a counter of their own, lowest first; any other is counted as `other`.
const STATUSES: [u16; 19] = [
    200, 201, 400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 429, 431, 500, 501, 502, 503,
];
/// Upper bounds of the latency buckets, in microseconds.
const BUCKETS_US: [u64; 13] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000,
];

/// Counts requests, and commits when it is also the engine's observer. Clones share their counters.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Arc<Counters>);

#[derive(Debug)]
struct Counters {
    operations: [OperationCounters; Operation::COUNT],
    connections: Arc<AtomicU32>,
    commits: AtomicU64,
    mutations: AtomicU64,
    commit_failures: AtomicU64,
    reopened: AtomicU64,
    filed: AtomicU64,
    internal: AtomicU64,
}

#[derive(Debug, Default)]
struct OperationCounters {
    statuses: [AtomicU64; STATUSES.len()],
    other_status: AtomicU64,
    /// Not cumulative; the last is for what is above every bound.
    buckets: [AtomicU64; BUCKETS_US.len()],
    above: AtomicU64,
    sum_us: AtomicU64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            operations: std::array::from_fn(|_| OperationCounters::default()),
            connections: Arc::default(),
            commits: AtomicU64::default(),
            mutations: AtomicU64::default(),
            commit_failures: AtomicU64::default(),
            reopened: AtomicU64::default(),
            filed: AtomicU64::default(),
            internal: AtomicU64::default(),
        }
    }
}

impl Metrics {
    /// Counts one response.
    pub(crate) fn count_response(&self, operation: Operation, status: u16, duration: Duration) {
        let Some(counters) = self.0.operations.get(operation.index()) else {
            return;
        };
        let status = match STATUSES.binary_search(&status) {
            Ok(place) => counters.statuses.get(place),
            Err(_) => None,
        };
        add(status.unwrap_or(&counters.other_status), 1);
        let us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let place = BUCKETS_US.partition_point(|bound| *bound < us);
        add(counters.buckets.get(place).unwrap_or(&counters.above), 1);
        add(&counters.sum_us, us);
    }

    /// Counts a connection as long as the result lives.
    pub(crate) fn connected(&self) -> Counted {
        Counted::of(&self.0.connections)
    }

    /// The exposition text. `queue` is the number of telemetry records accepted and not yet filed.
    pub(crate) fn text(&self, queue: u64) -> String {
        let mut text = String::with_capacity(16 * 1024);
        self.write_gauges(&mut text, queue);
        self.write_totals(&mut text);
        self.write_requests(&mut text);
        self.write_durations(&mut text);
        text
    }

    fn write_gauges(&self, text: &mut String, queue: u64) {
        const BUILD: &str = "deskfleet_build_info";
        const VERSION: &str = env!("CARGO_PKG_VERSION");
        family(text, BUILD, "gauge", "The version that runs.");
        line(text, &format!("{BUILD}{{version=\"{VERSION}\"}}"), 1);
        let connections = u64::from(self.0.connections.load(Ordering::Relaxed));
        for (name, help, value) in [
            (
                "queue_records",
                "Telemetry records accepted and not yet filed.",
                queue,
            ),
            ("connections", "Open connections.", connections),
        ] {
            let name = format!("deskfleet_{name}");
            family(text, &name, "gauge", help);
            line(text, &name, value);
        }
    }

    fn write_totals(&self, text: &mut String) {
        let all = &self.0;
        for (name, help, counter) in [
            (
                "commits",
                "Transactions that reached the disk.",
                &all.commits,
            ),
            (
                "commit_mutations",
                "Mutations in those transactions.",
                &all.mutations,
            ),
            (
                "commit_failures",
                "Transactions that failed.",
                &all.commit_failures,
            ),
            (
                "records_filed",
                "Telemetry records filed into history.",
                &all.filed,
            ),
            (
                "store_reopened",
                "Times the store was reopened after an I/O error.",
                &all.reopened,
            ),
            ("internal_errors", "Requests answered 500.", &all.internal),
        ] {
            let name = format!("deskfleet_{name}_total");
            family(text, &name, "counter", help);
            line(text, &name, read(counter));
        }
    }

    fn write_requests(&self, text: &mut String) {
        const NAME: &str = "deskfleet_requests_total";
        family(
            text,
            NAME,
            "counter",
            "Requests answered, by operation id and status.",
        );
        for (operation, counters) in self.seen() {
            let label = operation.label();
            let statuses = STATUSES.iter().map(u16::to_string);
            let statuses = statuses.chain(["other".to_owned()]);
            for (status, counter) in statuses.zip(counters.statuses()) {
                if read(counter) != 0 {
                    let series = format!("{NAME}{{operation=\"{label}\",status=\"{status}\"}}");
                    line(text, &series, read(counter));
                }
            }
        }
    }

    fn write_durations(&self, text: &mut String) {
        const NAME: &str = "deskfleet_request_duration_seconds";
        family(
            text,
            NAME,
            "histogram",
            "Time from request head to answer, by operation id.",
        );
        for (operation, counters) in self.seen() {
            let label = operation.label();
            let mut count = 0;
            let bounds = BUCKETS_US.iter().map(|us| seconds(*us).to_string());
            let buckets = counters.buckets.iter().chain([&counters.above]);
            for (bound, bucket) in bounds.chain(["+Inf".to_owned()]).zip(buckets) {
                count += read(bucket);
                let series = format!("{NAME}_bucket{{operation=\"{label}\",le=\"{bound}\"}}");
                line(text, &series, count);
            }
            let sum = seconds(read(&counters.sum_us));
            line(text, &format!("{NAME}_sum{{operation=\"{label}\"}}"), sum);
            let total = format!("{NAME}_count{{operation=\"{label}\"}}");
            line(text, &total, count);
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
            Event::Committed { mutations, .. } => {
                add(&all.commits, 1);
                add(&all.mutations, *mutations as u64);
            }
            Event::CommitFailed { .. } => add(&all.commit_failures, 1),
            Event::Reopened => add(&all.reopened, 1),
            Event::Filed { records } => add(&all.filed, *records),
            Event::Internal { .. } => add(&all.internal, 1),
            // The enum may grow; what is not known here is not counted.
            Event::RetentionBehind { .. } | _ => {}
        }
    }
}

fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn seconds(us: u64) -> f64 {
    Duration::from_micros(us).as_secs_f64()
}

// Writing to a String never fails, so the results below are dropped.

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, series: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "{series} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_indices_of_their_own() {
        let indices: Vec<usize> = Operation::all().map(Operation::index).collect();
        assert_eq!(indices, (0..Operation::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn buckets_are_cumulative_and_statuses_sorted() {
        assert!(STATUSES.is_sorted() && BUCKETS_US.is_sorted());
        let metrics = Metrics::default();
        let page = Operation::Page(Page::Livez);
        for (status, us) in [(200, 100), (200, 101), (503, 6_000_000), (418, 0)] {
            metrics.count_response(page, status, Duration::from_micros(us));
        }
        let text = metrics.text(3);
        for expected in [
            "deskfleet_queue_records 3\n",
            "deskfleet_requests_total{operation=\"livez\",status=\"200\"} 2\n",
            "deskfleet_requests_total{operation=\"livez\",status=\"503\"} 1\n",
            "deskfleet_requests_total{operation=\"livez\",status=\"other\"} 1\n",
            "deskfleet_request_duration_seconds_bucket{operation=\"livez\",le=\"0.0001\"} 2\n",
            "deskfleet_request_duration_seconds_bucket{operation=\"livez\",le=\"0.00025\"} 3\n",
            "deskfleet_request_duration_seconds_bucket{operation=\"livez\",le=\"5\"} 3\n",
            "deskfleet_request_duration_seconds_bucket{operation=\"livez\",le=\"+Inf\"} 4\n",
            "deskfleet_request_duration_seconds_count{operation=\"livez\"} 4\n",
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
        let text = metrics.text(0);
        assert!(text.contains("\ndeskfleet_commits_total 1\n"));
        assert!(text.contains("\ndeskfleet_commit_mutations_total 5\n"));
        assert!(text.contains("\ndeskfleet_records_filed_total 40\n"));
    }
}
