//! The event log.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{AuditAction, AuditEntry, AuditResult, EventType, FleetEvent, RetentionDays};

use crate::demand;
use crate::events::member;
use crate::simulation::fact::{Fact, Observer, Reading, Verdict};

/// Events are numbered once, without a gap, never change, and go from the oldest on; an action has its events exactly where it
/// has its audit row.
#[derive(Debug, Default)]
pub struct EventLog {
    seen: BTreeMap<u64, FleetEvent>,
    last: u64,
}

/// The actions that events of this type are about, each as often as there are some.
fn actions(events: &[FleetEvent], kind: EventType) -> Vec<u64> {
    let wanted = events.iter().filter(|event| event.kind == kind);
    wanted
        .filter_map(|event| member(event, "actionId"))
        .collect()
}

fn of_actions(rows: &[AuditEntry], results: &[AuditResult]) -> Vec<u64> {
    let wanted = |row: &&AuditEntry| {
        matches!(row.action, AuditAction::Lifecycle(_)) && results.contains(&row.result)
    };
    rows.iter().filter(wanted).map(|row| row.id).collect()
}

impl EventLog {
    fn compare(&mut self, events: &[FleetEvent]) -> Verdict {
        let ids: Vec<_> = events.iter().map(|event| event.id).collect();
        let whole = ids.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        demand!(whole, "numbers of events: {ids:?}");
        let newest = ids.last().copied().unwrap_or(self.last);
        demand!(newest >= self.last, "event {} is gone", self.last);
        self.last = newest;
        for event in events {
            match self.seen.get(&event.id) {
                Some(seen) => demand!(seen == event, "{seen:?} became {event:?}"),
                None => demand!(
                    self.seen.range(event.id..).next().is_none(),
                    "a number was given out again: {event:?}"
                ),
            }
        }
        self.seen = events
            .iter()
            .map(|event| (event.id, event.clone()))
            .collect();
        Ok(())
    }

    /// Compares with the audit, from the first action on whose event is kept.
    fn compare_with_audit(reading: &Reading) -> Verdict {
        let accepted = actions(&reading.events, EventType::ActionAccepted);
        let Some(first) = accepted.first() else {
            return Ok(());
        };
        let oldest_row = reading.audit.first().map_or(u64::MAX, |row| row.id);
        // Both logs have what happened since then.
        let both = (*first).max(oldest_row);
        // A row that was written while the clock was far behind is removed before its event: of these only the oldest go.
        let days = i64::from(RetentionDays::default().audit);
        let oldest = reading.now.plus_seconds(-days * 86_400);
        let old = reading.events.iter().filter(|event| event.at < oldest);
        let old: BTreeSet<_> = old.filter_map(|event| member(event, "actionId")).collect();
        let has_row = |id: u64| reading.audit.iter().any(|row| row.id == id);
        let since = |mut ids: Vec<u64>| -> Vec<u64> {
            ids.retain(|id| *id >= both && (has_row(*id) || !old.contains(id)));
            ids.sort_unstable();
            ids
        };
        let ended = [AuditResult::Failed, AuditResult::Cancelled];
        let begun = [AuditResult::Accepted, AuditResult::Completed];
        for (kind, results) in [
            (EventType::ActionAccepted, &[begun, ended].concat()),
            (EventType::ActionFailed, &ended.to_vec()),
        ] {
            let rows = since(of_actions(&reading.audit, results));
            let events = since(actions(&reading.events, kind));
            demand!(
                rows == events,
                "{kind:?} of {rows:?}, but events of {events:?}"
            );
        }
        // An end by the clock has no event before it is written.
        let rows = of_actions(&reading.audit, &[AuditResult::Completed]);
        let events = since(actions(&reading.events, EventType::ActionCompleted));
        let once = events.is_sorted_by(|left, right| left < right);
        let right = once && events.iter().all(|id| rows.contains(id));
        demand!(right, "completed are {rows:?}, but events of {events:?}");
        Ok(())
    }
}

impl Observer for EventLog {
    fn promise(&self) -> &'static str {
        "an event where there is a change, once"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        if let Fact::Read(reading) = fact {
            self.compare(&reading.events)?;
            Self::compare_with_audit(reading)?;
        }
        Ok(())
    }
}
