//! The audit.

use std::collections::BTreeMap;

use deskfleet::{AuditEntry, AuditResult, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Reading, Verdict};

/// Rows of the audit are numbered once, stay, and change only when their action ends.
#[derive(Debug, Default)]
pub struct AuditRows {
    seen: BTreeMap<u64, AuditEntry>,
}

/// What may have become of a row that was seen. An end that nobody wrote down is taken back with the clock.
fn may_become(old: &AuditEntry, new: &AuditEntry, now: Timestamp) -> bool {
    let ended = |row: &AuditEntry| {
        matches!(
            row.result,
            AuditResult::Completed | AuditResult::Failed | AuditResult::Cancelled
        )
    };
    let by_the_clock = old.result == AuditResult::Completed && old.completed_time > Some(now);
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
    old == new
}

impl AuditRows {
    fn compare(&mut self, reading: &Reading) -> Verdict {
        let ids: Vec<_> = reading.audit.iter().map(|row| row.id).collect();
        let ascending = ids.is_sorted_by(|left, right| left < right);
        demand!(ascending, "numbers of the audit: {ids:?}");
        let found: BTreeMap<_, _> = reading.audit.iter().map(|row| (row.id, row)).collect();
        for (id, old) in &self.seen {
            let new = found.get(id).ok_or_else(|| format!("{old:?} is gone"))?;
            let good = may_become(old, new, reading.now);
            demand!(good, "{old:?} became {new:?}");
        }
        let last = self.seen.keys().next_back().copied().unwrap_or(0);
        for (id, row) in &found {
            let used_again = *id < last && !self.seen.contains_key(id);
            demand!(!used_again, "a number before {last} was given out: {row:?}");
        }
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
        match fact {
            Fact::Read(reading) => self.compare(reading),
            _ => Ok(()),
        }
    }
}

/// Every call of an action has one row in the audit that says how it was answered; one without an answer has at most one.
#[derive(Debug, Default)]
pub struct OneRowPerAction {
    endings: BTreeMap<String, Ending>,
}

impl OneRowPerAction {
    fn check(&self, requester: &str, rows: &[&AuditEntry]) -> Verdict {
        let ending = self.endings.get(requester);
        let said = |row: &AuditEntry| match ending {
            Some(Ending::Done) => row.result != AuditResult::Refused,
            Some(Ending::Refused(code)) => {
                row.result == AuditResult::Refused && row.detail.as_deref() == Some(code)
            }
            Some(Ending::Unknown) => true,
            None => false,
        };
        let right = match (ending, rows) {
            (Some(Ending::Unknown), []) => true,
            (_, [row]) => said(row),
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
            }
            _ => {}
        }
        Ok(())
    }
}
