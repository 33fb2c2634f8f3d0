//! The reference's telemetry: everything accepted, once.

use deskfleet::{
    ActivityRecord, ActivityView, Nullable, ProcessItem, ProcessReport, Received, Record,
    StartupRecord, StatsRecord, Stream, Timestamp,
};

use crate::sweeps::Sweeps;

use super::fleet::Fleet;
use super::op::Post;
use super::rules::{Entry, normal};

const DAY: i64 = 86_400;
/// A record dated further ahead stands at its receipt.
const AHEAD_SECONDS: i64 = 300;

/// What was accepted.
#[derive(Debug)]
pub(super) struct Telemetry {
    pub(super) sweeps: Sweeps,
    /// Without repetitions, in the order of arrival.
    pub(super) records: Vec<Received>,
    /// Accepted and not filed, repetitions included.
    pub(super) queued: u64,
}

/// The record of a post.
pub(super) fn record(post: Post) -> Record {
    let text = |text: &str| {
        if text.is_empty() {
            Nullable::Absent
        } else {
            Nullable::from(text)
        }
    };
    let instance_id = text(post.instance.value());
    let username = text(post.person.map_or("", |person| person.value()));
    let time = post.sent.time();
    let number = i32::from(post.number);
    match post.stream.value() {
        Stream::Stats => Record::Stats(Box::new(StatsRecord {
            id: Some(number),
            update_time: time,
            username,
            uptime: if post.number {
                Nullable::Null
            } else {
                Nullable::Value(0.1)
            },
            disk_reads: Some(0.1),
            root_total: Some(i64::MAX - i64::from(number)),
            instance_id,
            ..StatsRecord::default()
        })),
        Stream::Activity => Record::Activity(Box::new(ActivityRecord {
            activity: Nullable::from(if post.number { "Logon" } else { "Lock" }),
            activity_time: time,
            username,
            tenant_id: Nullable::Null,
            instance_id,
            ..ActivityRecord::default()
        })),
        Stream::Startup => Record::Startup(Box::new(StartupRecord {
            total_ms: Some(-number),
            baseline_utc: time,
            username,
            instance_id,
            ..StartupRecord::default()
        })),
        Stream::Processes => Record::Processes(Box::new(ProcessReport {
            created_date: time,
            username,
            processes: Some(vec![ProcessItem {
                process_name: Some("a.exe".to_owned()),
                processor_usage: Some(f64::from(number) / 3.0),
                ..ProcessItem::default()
            }]),
            instance_id,
            ..ProcessReport::default()
        })),
    }
}

impl Telemetry {
    /// For a store created at this time.
    pub(super) fn since(created: Timestamp) -> Self {
        Self {
            sweeps: Sweeps::since(created),
            records: Vec::new(),
            queued: 0,
        }
    }

    pub(super) fn accept(&mut self, record: Record, now: Timestamp) {
        self.queued += 1;
        let sent = record.sent_time();
        // A clock before the last sweep is not believed.
        let received_at = now.max(self.sweeps.last);
        let is_behind = now < received_at;
        let believed = sent.filter(|sent| is_behind || *sent <= now.plus_seconds(AHEAD_SECONDS));
        let received = Received {
            record,
            received_at,
            filed_at: believed.unwrap_or(received_at),
        };
        // A repetition equals a record filed on the same day; the first that arrived stays.
        let same_day = |held: &Received| held.filed_at.day() == received.filed_at.day();
        let repeats =
            |held: &Received| sent.is_some() && held.record == received.record && same_day(held);
        if !self.records.iter().any(repeats) {
            self.records.push(received);
        }
    }

    pub(super) fn of_stream(&self, stream: Stream) -> impl Iterator<Item = &Received> {
        self.records
            .iter()
            .filter(move |held| held.record.stream() == stream)
    }

    /// The history of an instance, oldest first.
    pub(super) fn history(
        &self,
        stream: Stream,
        instance: &str,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
    ) -> Vec<Received> {
        let within =
            |time: Timestamp| from.is_none_or(|from| time >= from) && to.is_none_or(|to| time < to);
        let mine =
            |held: &&Received| held.record.instance_id() == instance && within(held.filed_at);
        let mut found: Vec<_> = self.of_stream(stream).filter(mine).cloned().collect();
        found.sort_by_key(sort_key);
        found
    }

    /// The records of a user.
    pub(super) fn of_user(&self, name: &str) -> impl Iterator<Item = &Received> {
        let name = normal(name);
        self.records
            .iter()
            .filter(move |held| normal(held.record.username()) == name)
    }

    pub(super) fn day(&self, fleet: &Fleet, now: Timestamp) -> Vec<ActivityView> {
        let within =
            |held: &&Received| held.filed_at <= now && held.filed_at > now.plus_seconds(-DAY);
        let views = self.of_stream(Stream::Activity).filter(within).map(|held| {
            let found = resolve(fleet, &held.record);
            ActivityView {
                received: held.clone(),
                workspace_id: found.map(|entry| entry.workspace.id.clone()),
                computer_name: found.and_then(|entry| entry.workspace.computer_name.clone()),
            }
        });
        let mut views: Vec<_> = views.collect();
        views.sort_by_key(|view| std::cmp::Reverse(sort_key(&view.received)));
        views
    }
}

/// The position of a record: by time, then by receipt. Records equal in both may come in any order.
pub(super) fn sort_key(received: &Received) -> (Timestamp, Timestamp) {
    (received.filed_at, received.received_at)
}

/// The workspace of a record: by id, by computer name, by its user if that is the user's only one.
fn resolve<'a>(fleet: &'a Fleet, record: &Record) -> Option<&'a Entry> {
    let instance = record.instance_id();
    let named = |entry: &&Entry| {
        let name = entry.workspace.computer_name.as_deref();
        name.is_some_and(|name| name.eq_ignore_ascii_case(instance))
    };
    let by_instance = || {
        fleet
            .desks
            .get(instance)
            .or_else(|| fleet.desks.values().find(named))
    };
    let found = if instance.is_empty() {
        None
    } else {
        by_instance()
    };
    found.or_else(|| {
        let mut owned = fleet
            .desks
            .values()
            .filter(|entry| !record.username().is_empty() && entry.owned_by(record.username()));
        match (owned.next(), owned.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    })
}
