//! The fleet and the store in the Prometheus exposition format, version 0.0.4: aggregates, never a series for each desktop.
//!
//! A label holds only values of the vocabularies, so what a client stores can neither add series nor break the text.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use http::HeaderValue;

use crate::model::row::Decimal;
use crate::model::{
    ComputeType, Condition, FleetCounts, Protocol, Rejection, RunningMode, State, StoreStatus,
    Vocabulary, canonical,
};
use crate::timestamp::Timestamp;
use crate::view::actions::{ActionsSince, Unattended};
use crate::view::query::fleet::FleetSummary;

/// The content type.
pub(crate) const PROMETHEUS: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The values at one moment; `None` for those that cannot be read.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) now: Timestamp,
    pub(crate) counts: Option<FleetCounts>,
    pub(crate) unattended: Option<Unattended>,
    pub(crate) summary: Option<FleetSummary>,
    pub(crate) store: Option<StoreStatus>,
    pub(crate) queue_records_max: u64,
    /// Records that were received late, and those by clocks that were ahead, since the start.
    pub(crate) late_and_ahead: [u64; 2],
    pub(crate) rejected: [(Rejection, u64); Rejection::ALL.len()],
    /// As upkeep saw them last.
    pub(crate) conditions: Vec<Condition>,
}

/// A text that is written family by family. Names begin with `deskfleet_`, which is left out of the arguments.
struct Text(String);

// Writing to a String never fails, so the results below are dropped.
impl Text {
    fn figure(&mut self, name: &str, help: &str, value: &dyn Display) {
        self.family(name, help);
        let _ = writeln!(self.0, "deskfleet_{name} {value}");
    }

    fn family(&mut self, name: &str, help: &str) {
        // The name of a counter says so.
        let kind = if name.ends_with("_total") {
            "counter"
        } else {
            "gauge"
        };
        let _ = writeln!(
            self.0,
            "# HELP deskfleet_{name} {help}\n# TYPE deskfleet_{name} {kind}"
        );
    }

    /// A family with a sample for each value of a label.
    fn by<'v>(
        &mut self,
        (name, label, help): (&str, &str, &str),
        samples: impl IntoIterator<Item = (&'v str, u64)>,
    ) {
        self.family(name, help);
        for (value, count) in samples {
            let _ = writeln!(self.0, "deskfleet_{name}{{{label}=\"{value}\"}} {count}");
        }
    }
}

/// The text.
pub(crate) fn text(figures: &Figures) -> String {
    let mut text = Text(String::new());
    let age = |moment: Option<Timestamp>| {
        let age = moment.map(|moment| figures.now.ticks() - moment.ticks());
        seconds(age.unwrap_or_default())
    };
    if let Some(counts) = &figures.counts {
        let states = State::ALL.iter();
        let states = states.map(|state| (state.as_str(), counts.in_state(*state)));
        text.by(
            ("workspaces", "state", "Workspaces, by state."),
            states.chain([("other", counts.in_other_state)]),
        );
        let (held, actions) = (&counts.held, &counts.actions);
        text.figure("workspaces_held", "Workspaces on litigation hold.", held);
        let help = "Actions that were accepted and have not ended.";
        text.figure("actions_running", help, actions);
        let help = "Time since the oldest running action was accepted; 0 without one.";
        text.figure(
            "oldest_action_age_seconds",
            help,
            &age(counts.oldest_action),
        );
    }
    if let Some(unattended) = &figures.unattended {
        let help = "Actions for the host that no provider has begun within 15 minutes.";
        let count = |found: Option<ActionsSince>| found.map_or(0, |found| found.actions);
        text.figure("actions_unattended", help, &count(unattended.waiting));
        let help = "Actions for the host whose last attempt began 2 hours ago or earlier.";
        text.figure("actions_stalled", help, &count(unattended.stalled));
    }
    if let Some(summary) = &figures.summary {
        summary_text(&mut text, summary);
    }
    if let Some(store) = &figures.store {
        store_text(
            &mut text,
            store,
            figures.queue_records_max,
            age(store.oldest_queued),
        );
    }
    let [late, ahead] = figures.late_and_ahead;
    let help = "Telemetry records received more than an hour after the time they carry.";
    text.figure("records_late_total", help, &late);
    let help = "Telemetry records dated more than 5 minutes ahead of the clock of the server.";
    text.figure("records_ahead_total", help, &ahead);
    let help = "Telemetry records refused since the start, by reason.";
    text.by(
        ("records_rejected_total", "reason", help),
        figures
            .rejected
            .map(|(reason, count)| (reason.as_str(), count)),
    );
    text.family(
        "condition",
        "What is wrong now: how many desktops, actions or keys it is about, or 1.",
    );
    for condition in &figures.conditions {
        let code: String = condition
            .code
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect();
        let (severity, count) = (condition.severity.as_str(), condition.count.unwrap_or(1));
        let _ = writeln!(
            text.0,
            "deskfleet_condition{{code=\"{code}\",severity=\"{severity}\"}} {count}"
        );
    }
    text.0
}

fn summary_text(text: &mut Text, summary: &FleetSummary) {
    fn by<T: Vocabulary>(
        text: &mut Text,
        family: (&str, &str, &str),
        counts: &BTreeMap<String, u64>,
    ) {
        let counts = known_counts(counts, canonical::<T>);
        let counts = counts.iter().map(|(value, count)| (value.as_str(), *count));
        text.by(family, counts);
    }
    let modes = (
        "workspaces_by_running_mode",
        "running_mode",
        "Workspaces, by running mode.",
    );
    by::<RunningMode>(text, modes, &summary.by_running_mode);
    let types = (
        "workspaces_by_compute_type",
        "compute_type",
        "Workspaces, by compute type.",
    );
    by::<ComputeType>(text, types, &summary.by_compute_type);
    let protocols = (
        "workspaces_by_protocol",
        "protocol",
        "Workspaces, by streaming protocol.",
    );
    by::<Protocol>(text, protocols, &summary.by_protocol);
    let help = "Instances that sent telemetry within that time, as far as it is filed.";
    text.by(
        ("instances_reporting", "within", help),
        [
            ("15m", summary.reporting_15m),
            ("24h", summary.reporting_24h),
        ],
    );
    let help = "Telemetry records committed per second, over the last minute.";
    let rate = Decimal::of_rounded(summary.records_per_second);
    text.figure("records_per_second", help, &rate);
}

fn store_text(text: &mut Text, store: &StoreStatus, records_max: u64, age: Decimal) {
    text.figure("store_bytes", "Size of the store's file.", &store.bytes);
    if let Some(free) = &store.free_bytes {
        text.figure("disk_free_bytes", "Free space of the store's disk.", free);
    }
    let help = "Telemetry records accepted and not yet filed.";
    text.figure("queue_records", help, &store.queue_records);
    let help = "Queued records above which telemetry is refused.";
    text.figure("queue_records_max", help, &records_max);
    let help = "Bytes of these records in the store.";
    text.figure("queue_bytes", help, &store.queue_bytes);
    let help = "Time since the oldest of these records was received; 0 without one.";
    text.figure("oldest_queued_record_age_seconds", help, &age);
    if let Some(applied) = store.retention_applied {
        let help = "Time up to which retention was applied, since the epoch.";
        let applied = seconds(applied.ticks() - Timestamp::UNIX_EPOCH.ticks());
        text.figure("retention_applied_timestamp_seconds", help, &applied);
    }
}

/// Ticks in seconds; 0 for negative ones.
fn seconds(ticks: i64) -> Decimal {
    Decimal(ticks.max(0), 7)
}

/// The counts of the known values in their canonical spelling, and of all others together.
fn known_counts(
    counts: &BTreeMap<String, u64>,
    canonical: fn(&str) -> Option<String>,
) -> Vec<(String, u64)> {
    let mut known: Vec<(String, u64)> = Vec::new();
    let mut others = 0;
    for (value, count) in counts {
        let Some(value) = canonical(value) else {
            others += *count;
            continue;
        };
        match known.iter_mut().find(|(known, _)| *known == value) {
            Some((_, sum)) => *sum += *count,
            None => known.push((value, *count)),
        }
    }
    known.push(("other".to_owned(), others));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_holds_no_value_outside_its_vocabulary() {
        let counts = [
            ("AUTO_STOP", 3),
            ("Auto\nStop", 1),
            ("a\"} 1\ndeskfleet_x 1", 2),
            ("unknown", 4),
        ];
        let counts = counts
            .map(|(value, count)| (value.to_owned(), count))
            .into();
        let known = known_counts(&counts, canonical::<RunningMode>);
        let known = known.iter().map(|(value, count)| (value.as_str(), *count));
        assert_eq!(known.collect::<Vec<_>>(), [("AUTO_STOP", 4), ("other", 6)]);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let figures = Figures {
            now: Timestamp::UNIX_EPOCH,
            counts: None,
            unattended: None,
            summary: None,
            store: Some(StoreStatus::default()),
            queue_records_max: 7,
            late_and_ahead: [0, 3],
            rejected: Rejection::ALL.map(|reason| (reason, 0)),
            conditions: Vec::new(),
        };
        let text = text(&figures);
        assert!(text.starts_with("# HELP deskfleet_store_bytes Size of the store's file.\n"));
        assert!(
            text.contains(
                "# TYPE deskfleet_queue_records_max gauge\ndeskfleet_queue_records_max 7\n"
            )
        );
        assert!(text.contains(
            "# TYPE deskfleet_records_ahead_total counter\ndeskfleet_records_ahead_total 3\n"
        ));
        assert!(!text.contains("disk_free") && !text.contains("workspaces"));
    }
}
