//! Actions and states.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{Action, AuditAction, AuditEntry, AuditResult, Timestamp};

use crate::demand;
use crate::model::rules::{HOSTED, table};
use crate::simulation::fact::{Fact, Observer, Reading, Verdict};

/// Every action goes from an allowed state through its own to its end. One at a time runs on a workspace, which is in
/// its state; the running actions are those that the audit calls accepted.
#[derive(Debug, Default)]
pub struct Lifecycle {
    /// Rows found valid.
    judged: BTreeSet<(u64, AuditResult)>,
    /// Every time that the clock has shown.
    shown: BTreeSet<Timestamp>,
}

/// Whether the table of the contract has such a row.
fn legal(row: &AuditEntry, action: Action) -> bool {
    let (from, via, then, _) = table(action);
    let (before, after) = (row.previous_state.as_deref(), row.new_state.as_deref());
    let again = action == Action::Reboot && before == Some("REBOOTING");
    let may_begin = match action {
        Action::Terminate => !matches!(before, Some("SUSPENDED" | "TERMINATING" | "TERMINATED")),
        _ => again || before.is_some_and(|before| from.contains(&before)),
    };
    match row.result {
        AuditResult::Accepted => may_begin && after == Some(via) && row.completed_time.is_none(),
        AuditResult::Completed => may_begin && after == Some(then) && row.completed_time.is_some(),
        AuditResult::Failed => may_begin && matches!(after, Some("ERROR" | "UNHEALTHY")),
        AuditResult::Cancelled => may_begin,
        AuditResult::NoChange => {
            let idle = match action {
                Action::Terminate => matches!(before, Some("TERMINATING" | "TERMINATED")),
                Action::ChangeComputeType => true,
                _ => false,
            };
            idle && before == after
        }
        AuditResult::Refused => row.detail.is_some() && before == after,
        _ => false,
    }
}

impl Lifecycle {
    /// Whether an action requested at one time may begin at another: a clock set back before the request begins it
    /// anew.
    fn begun(&self, requested: Timestamp, begun: Timestamp) -> bool {
        begun == requested || begun < requested && self.shown.contains(&begun)
    }

    fn compare(&mut self, reading: &Reading) -> Verdict {
        let mut accepted = BTreeMap::new();
        for row in &reading.audit {
            let AuditAction::Lifecycle(action) = row.action else {
                continue;
            };
            if row.result == AuditResult::Accepted {
                accepted.insert(row.id, row);
            }
            if self.judged.insert((row.id, row.result)) {
                demand!(legal(row, action), "no such transition: {row:?}");
            }
        }
        let mut busy = BTreeSet::new();
        for running in &reading.pending {
            let desk = &running.workspace_id;
            demand!(busy.insert(desk), "two actions run on {desk}");
            let row = accepted.remove(&running.id);
            let row = row.ok_or_else(|| format!("no accepted row for {running:?}"))?;
            let same = row.workspace_id.as_ref() == Some(desk)
                && row.action == AuditAction::Lifecycle(running.action)
                && self.begun(row.time, running.requested_at);
            demand!(same, "{row:?} and {running:?}");
            let (_, via, _, seconds) = table(running.action);
            let is_hosted = HOSTED.contains(&running.action);
            let due = (!is_hosted).then(|| running.requested_at.plus_seconds(seconds));
            demand!(running.due_at == due, "due at another time: {running:?}");
            let view = reading.desks.get(desk.as_str());
            let state = view.and_then(|view| view.workspace.state.as_deref());
            demand!(state == Some(via), "{desk} is {state:?} during {running:?}");
            let shown = view.and_then(|view| view.transition.as_ref());
            demand!(
                shown == Some(running),
                "{desk} shows {shown:?}, the outbox {running:?}"
            );
        }
        if let Some((_, row)) = accepted.first_key_value() {
            return Err(format!("accepted, but it does not run: {row:?}"));
        }
        Ok(())
    }
}

impl Observer for Lifecycle {
    fn promise(&self) -> &'static str {
        "actions follow the table of states"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Clock(now, _) => {
                self.shown.insert(*now);
                Ok(())
            }
            Fact::Read(reading) => self.compare(reading),
            _ => Ok(()),
        }
    }
}
