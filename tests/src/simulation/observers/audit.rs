//! The audit.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{AuditAction, AuditEntry, AuditResult, RetentionDays, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Reading, Verdict};
use crate::simulation::fleet::same_name;

use super::held::Held;

/// The earliest time that the clock showed since everything was last read.
#[derive(Debug, Default)]
struct Earliest(Option<Timestamp>);

impl Earliest {
    fn include(&mut self, now: Timestamp) {
        self.0 = Some(self.0.map_or(now, |earliest| earliest.min(now)));
    }

    /// Everything is read at this time, which becomes the earliest one.
    fn begin(&mut self, now: Timestamp) {
        self.0 = Some(now);
    }
}

/// Audit rows are numbered once and change only when their action ends. They stay for as long as rows are kept; those
/// that name a held workspace stay for as long as it is held.
#[derive(Debug, Default)]
pub struct AuditRows {
    seen: BTreeMap<u64, AuditEntry>,
    earliest: Earliest,
    held: Held,
    /// Of the rows seen, those that retention may have removed.
    old: BTreeSet<u64>,
}

/// What may have become of a row that was seen. An end that no write has stored is undone when the clock is set back;
/// another may be stored then.
fn may_become(old: &AuditEntry, new: &AuditEntry, earliest: Timestamp) -> bool {
    let ended = |row: &AuditEntry| {
        matches!(
            row.result,
            AuditResult::Completed | AuditResult::Failed | AuditResult::Cancelled
        )
    };
    let by_the_clock = old.result == AuditResult::Completed && old.completed_time > Some(earliest);
    if old.result == AuditResult::Accepted || by_the_clock {
        let as_asked = AuditEntry {
            result: old.result,
            new_state: old.new_state.clone(),
            completed_time: old.completed_time,
            detail: old.detail.clone(),
            ..new.clone()
        };
        return as_asked == *old && (new.result == AuditResult::Accepted || ended(new));
    }
    let counted = AuditEntry {
        detail: new.detail.clone(),
        ..old.clone()
    };
    counted == *new && may_count(old, new)
}

/// Whether the detail is the same, except for a count of equal calls, which only grows.
fn may_count(old: &AuditEntry, new: &AuditEntry) -> bool {
    let (message, calls) = counted(old);
    let (still, more) = counted(new);
    let repeatable = matches!(old.result, AuditResult::Refused | AuditResult::NoChange);
    // What is handed out is counted as well.
    let repeatable =
        repeatable || matches!(old.action, AuditAction::ListKeys | AuditAction::QueryExport);
    message == still && (calls == more || repeatable && calls < more)
}

/// The code in the detail, and the number of calls it stands for.
fn counted(row: &AuditEntry) -> (&str, u64) {
    let detail = row.detail.as_deref().unwrap_or_default();
    let parts = detail
        .strip_suffix(" times)")
        .and_then(|rest| rest.rsplit_once('('));
    let parts = parts.and_then(|(message, calls)| Some((message.trim_end(), calls.parse().ok()?)));
    parts.unwrap_or((detail, 1))
}

impl AuditRows {
    /// Retention was applied as of then.
    fn retained(&mut self, at: Timestamp) {
        let days = i64::from(RetentionDays::default().audit);
        let kept_from = at.plus_seconds(-days * 86_400);
        let held = self.held.names();
        for (id, row) in &self.seen {
            let names = [&row.workspace_id, &row.computer_name, &row.username];
            let mut names = names.into_iter().flatten();
            let is_held = names.any(|name| held.contains(same_name(name)));
            if row.time < kept_from && !is_held {
                self.old.insert(*id);
            }
        }
    }

    fn compare(&mut self, reading: &Reading) -> Verdict {
        self.earliest.include(reading.now);
        let earliest = self.earliest.0.unwrap_or(reading.now);
        self.earliest.begin(reading.now);
        let ids: Vec<_> = reading.audit.iter().map(|row| row.id).collect();
        let ascending = ids.is_sorted_by(|left, right| left < right);
        demand!(ascending, "numbers of the audit: {ids:?}");
        let found: BTreeMap<_, _> = reading.audit.iter().map(|row| (row.id, row)).collect();
        for (id, old) in &self.seen {
            let Some(new) = found.get(id) else {
                demand!(self.old.contains(id), "{old:?} is gone");
                continue;
            };
            let good = may_become(old, new, earliest);
            demand!(good, "{old:?} became {new:?}");
        }
        let last = self.seen.keys().next_back().copied().unwrap_or(0);
        for (id, row) in &found {
            let used_again = *id < last && !self.seen.contains_key(id);
            demand!(!used_again, "a number before {last} was given out: {row:?}");
        }
        self.old.retain(|id| found.contains_key(id));
        self.seen = reading
            .audit
            .iter()
            .map(|row| (row.id, row.clone()))
            .collect();
        Ok(())
    }
}

impl Observer for AuditRows {
    fn promise(&self) -> &'static str {
        "the audit only grows"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        self.held.see(fact);
        match fact {
            Fact::Clock(now, _) => self.earliest.include(*now),
            Fact::Retained(at, _) => self.retained(*at),
            Fact::Read(reading) => return self.compare(reading),
            _ => {}
        }
        Ok(())
    }
}

/// Every call of an action has one audit row with its outcome; a call without an answer has at most one.
#[derive(Debug, Default)]
pub struct OneRowPerAction {
    /// Since everything was last read.
    endings: BTreeMap<String, Ending>,
    /// Calls whose row was right; [`AuditRows`] checks them from then on.
    judged: BTreeSet<String>,
    /// Rows with an earlier time may be removed at once.
    earliest: Earliest,
    retained: Option<Timestamp>,
}

impl OneRowPerAction {
    fn may_be_too_old(&self) -> bool {
        let days = i64::from(RetentionDays::default().audit);
        let kept_from = self.retained.map(|at| at.plus_seconds(-days * 86_400));
        self.earliest
            .0
            .is_some_and(|earliest| Some(earliest) < kept_from)
    }

    fn check(&self, requester: &str, rows: &[&AuditEntry]) -> Verdict {
        let ending = self.endings.get(requester);
        let message = |row: &AuditEntry| match ending {
            Some(Ending::Done) => row.result != AuditResult::Refused,
            Some(Ending::Refused(code)) => {
                row.result == AuditResult::Refused && row.detail.as_deref() == Some(code)
            }
            Some(Ending::Unknown) => true,
            None => false,
        };
        let unwritten = |code: &str| matches!(code, "StorageUnavailable" | "LowDisk" | "Corrupted");
        let right = match (ending, rows) {
            (Some(Ending::Refused(code)), rows) if unwritten(code) => rows.is_empty(),
            (Some(Ending::Unknown), []) => true,
            (_, []) => self.may_be_too_old(),
            (_, [row]) => message(row) || self.judged.contains(requester),
            _ => false,
        };
        demand!(
            right,
            "{requester} ended as {ending:?}, but the audit has {rows:?}"
        );
        Ok(())
    }
}

impl Observer for OneRowPerAction {
    fn promise(&self) -> &'static str {
        "one row for each call of an action"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Answered(_, Intent::Act { requester, .. }, ending, _) => {
                self.endings.insert(requester.clone(), (*ending).clone());
            }
            Fact::Lost(_, Intent::Act { requester, .. }) => {
                self.endings.insert(requester.clone(), Ending::Unknown);
            }
            Fact::Read(reading) => {
                let mut rows: BTreeMap<&str, Vec<&AuditEntry>> = BTreeMap::new();
                for requester in self.endings.keys() {
                    rows.insert(requester, Vec::new());
                }
                for row in &reading.audit {
                    if row.requester.starts_with("call-") {
                        rows.entry(&row.requester).or_default().push(row);
                    }
                }
                for (requester, rows) in rows {
                    self.check(requester, &rows)?;
                }
                self.judged
                    .extend(std::mem::take(&mut self.endings).into_keys());
                self.earliest.begin(reading.now);
            }
            Fact::Clock(now, _) => {
                self.earliest.include(*now);
            }
            Fact::Retained(at, _) => {
                self.retained = self.retained.max(Some(*at));
            }
            _ => {}
        }
        Ok(())
    }
}
