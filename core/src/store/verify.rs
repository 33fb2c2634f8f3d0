//! Checking a store: every value can be read, and the tables agree. It names what cannot be read, and continues with the rest.

use std::cell::RefCell;

use serde::Serialize;

use crate::error::{EngineError, Result, error_chain};

use super::cluster;
use super::opening::caught;
use super::table::{ALL_KEYS, KeyRange, Read, Step, Table};
use super::telemetry::{history, queue, recent};
use crate::log::EntryId;
use crate::store::fleet::{action_batches, audit, events, keys, pending, workspaces};
use crate::store::meta;

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CheckReport {
    /// What is broken, a sentence each; empty when the store is whole.
    pub problems: Vec<String>,
    /// Workspaces, those no longer listed included.
    pub workspaces: u64,
    /// Telemetry records in the queue.
    pub queued_records: u64,
    /// Telemetry records filed.
    pub history_records: u64,
    /// Audit rows.
    pub audit_rows: u64,
    /// API keys, revoked ones included.
    pub keys: u64,
    /// Events.
    pub events: u64,
    /// Of the file of a node: the fleet, which is the id of the first entry of its log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Of the file of a node: the last entry of the log that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
}

impl CheckReport {
    /// A store that cannot be opened at all.
    pub(super) fn unreadable(error: &EngineError) -> Self {
        Self {
            problems: vec![format!(
                "nothing in the file can be read: {}",
                error_chain(error)
            )],
            ..Self::default()
        }
    }
}

/// Reads every table of `read`.
pub(crate) fn verify(read: &impl Read) -> CheckReport {
    let mut check = Check {
        read: Watched {
            read,
            last: RefCell::default(),
        },
        problems: Vec::new(),
    };
    let workspaces = check.table("workspaces", |read, broken| {
        workspaces::verify(read, |problem| broken.push(problem))
    });
    let history_records = check.table("history", |read, broken| {
        history::verify(read, |problem| broken.push(problem))
    });
    let queued_records = check.table("queue", |read, _| queue::verify(read));
    check.table("users", super::folding::verify_users);
    check.table("recent", recent::verify);
    check.table("rollups", super::rollup::verify);
    let (audit_rows, last_row) = check.table("audit", |read, _| audit_rows(read));
    let (keys, last_key) = check.table("keys", |read, _| {
        let keys = keys::all(read)?;
        Ok((keys.len() as u64, keys.last().map(|key| key.info.id)))
    });
    let (events, last_event) = check.table("events", |read, _| all_events(read));
    check.table("meta", |read, broken| {
        let mut last_batch = None;
        for is_running in [true, false] {
            action_batches::each(read, is_running, &mut |batch| {
                last_batch = last_batch.max(Some(batch.id));
                Ok(())
            })?;
        }
        for (sequence, last) in [
            (meta::Sequence::Audit, last_row),
            (meta::Sequence::Key, last_key),
            (meta::Sequence::Event, last_event),
            (meta::Sequence::Batch, last_batch),
        ] {
            let next = meta::peek(read, sequence)?;
            if last.is_some_and(|last| last >= next) {
                broken.push(format!(
                    "meta: {sequence:?} would give out {next} again, {last:?} is taken"
                ));
            }
        }
        Ok(())
    });
    check.table("pending", outbox);
    check.table("holds", holds);
    let applied = check.table("meta: applied", |read, _| cluster::applied(read));
    CheckReport {
        problems: check.problems,
        workspaces,
        queued_records,
        history_records,
        audit_rows,
        keys,
        events,
        fleet: applied.map(|applied| EntryId(applied.fleet).to_string()),
        position: applied.map(|applied| applied.position),
    }
}

/// The count of audit rows, and the number of the last.
fn audit_rows(read: &impl Read) -> Result<(u64, Option<u64>)> {
    let (mut rows, mut last) = (0, None);
    audit::scan_after(read, None, &mut |row| {
        rows += 1;
        last = Some(row.id);
        Ok(Step::Continue(()))
    })?;
    Ok((rows, last))
}

/// The count of events, and the number of the last.
fn all_events(read: &impl Read) -> Result<(u64, Option<u64>)> {
    let (mut rows, mut last) = (0, None);
    events::scan_after(read, 0, &mut |event| {
        rows += 1;
        last = Some(event.id);
        Ok(Step::Continue(()))
    })?;
    Ok((rows, last))
}

/// The name of the row of `table` at `key`, for a person.
fn row_name(table: Table, key: &[u8]) -> String {
    let number = || key.try_into().map(u64::from_be_bytes).unwrap_or_default();
    let text = || String::from_utf8_lossy(key);
    match table {
        Table::Pending => format!("action {}", number()),
        Table::Audit => format!("audit row {}", number()),
        Table::Keys => format!("key {}", number()),
        Table::Queue => format!("block {} of the queue", number()),
        Table::History => history::part_name(key),
        Table::Workspaces => format!("workspace {}", text()),
        Table::Holds => format!("the hold on {}", text()),
        Table::Users => format!("user {}", text()),
        Table::Events => format!("event {}", number()),
        Table::Recent => format!("recent activities {key:02x?}"),
        Table::Latest => format!("latest values of {}", text()),
        Table::Daily | Table::Hourly => format!("rollup {table:?} {key:02x?}"),
        Table::Meta | Table::WorkspacesByUser | Table::WorkspacesByComputer => {
            format!("{table:?} {}", text().escape_debug())
        }
    }
}

fn outbox(read: &impl Read, broken: &mut Vec<String>) -> Result<()> {
    let mut rows = 0;
    pending::scan_after(read, None, &mut |row| {
        rows += 1;
        let running = workspaces::get(read, &row.workspace_id)?.and_then(|entry| entry.transition);
        if running.is_none_or(|running| running.id != row.id || running.due_at != row.due_at) {
            broken.push(format!(
                "action {}: outbox and workspace {} disagree",
                row.id, row.workspace_id
            ));
        }
        Ok(Step::Continue(()))
    })?;
    let mut running = 0;
    workspaces::scan_after(read, None, &mut |entry| {
        running += u64::from(entry.into_entry().transition.is_some());
        Ok(Step::Continue(()))
    })?;
    if rows != running {
        broken.push(format!(
            "the outbox has {rows} actions, the workspaces {running}"
        ));
    }
    Ok(())
}

fn holds(read: &impl Read, broken: &mut Vec<String>) -> Result<()> {
    read.scan(Table::Holds, ALL_KEYS, |id, hold| {
        crate::store::fleet::holds::decode(hold)?;
        if !read.contains(Table::Workspaces, id)? {
            broken.push(format!(
                "hold on {}: no such workspace",
                String::from_utf8_lossy(id)
            ));
        }
        Ok(Step::Continue(()))
    })
}

struct Check<'r, R> {
    read: Watched<'r, R>,
    problems: Vec<String>,
}

impl<'r, R: Read> Check<'r, R> {
    /// Checks one table; a failure, or a panic of redb over damaged pages, is a problem of that table at that position.
    fn table<T: Default>(
        &mut self,
        name: &str,
        look: impl FnOnce(&Watched<'r, R>, &mut Vec<String>) -> Result<T>,
    ) -> T {
        self.read.last.replace(None);
        let mut broken = Vec::new();
        let found = caught(|| look(&self.read, &mut broken));
        self.problems.append(&mut broken);
        found.unwrap_or_else(|error| {
            let place = self.read.position();
            self.problems
                .push(format!("table {name}, {place}: {}", error_chain(&error)));
            T::default()
        })
    }
}

/// A reader that remembers its position.
struct Watched<'r, R> {
    read: &'r R,
    last: RefCell<Option<(Table, Vec<u8>)>>,
}

impl<R> Watched<'_, R> {
    fn record_key(&self, table: Table, key: &[u8]) {
        self.last.replace(Some((table, key.to_vec())));
    }

    /// The position of the last read.
    fn position(&self) -> String {
        match &*self.last.borrow() {
            None => "before its first row".to_owned(),
            Some((table, key)) => format!("at or after {}", row_name(*table, key)),
        }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<Option<T>> {
        self.record_key(table, key);
        self.read.get(table, key, read)
    }

    fn walk(
        &self,
        table: Table,
        range: KeyRange<'_>,
        back: bool,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<Step>,
    ) -> Result<()> {
        self.read.walk(table, range, back, |key, value| {
            self.record_key(table, key);
            visit(key, value)
        })
    }
}
