//! The running mode of desktops that are always on: AWS stops none of them, so a recovery reboot switches the mode, where that is wanted.
//!
//! What it was before stands in the inventory, which says so from before the first call until the action has ended: a process that takes
//! over after another was killed finds it there. The call writes it, by the description that it acts on.

use std::time::Instant;

use deskfleet::Action;

use crate::amazon::{ALWAYS_ON, AUTO_STOP};
use crate::calls::Call;
use crate::fleet::Pending;
use crate::kind::{Order, Shown, Stage};
use crate::memory::Standing;

use super::Driving;
use super::look::order;

impl Driving {
    fn may_switch(&self, action: Action) -> bool {
        action == Action::RecoveryReboot && self.kind.switches_mode()
    }

    /// Whether the running mode was switched; `None` where that cannot be said now.
    fn is_switched(&self, action: Action, shown: Option<&Shown>) -> Option<bool> {
        let mode = shown.and_then(|shown| shown.record.running_mode.as_deref());
        if !self.may_switch(action) || mode != Some(AUTO_STOP) {
            return Some(false);
        }
        let shown = shown?;
        let before = self.fleet.running_mode(&shown.record.work_sp_id).ok()?;
        Some(before.as_deref() == Some(ALWAYS_ON))
    }

    /// Ends an action like that, once its desktop has the running mode again that it had before.
    pub(super) fn ends(
        &mut self,
        action: &Pending,
        kind: Action,
        (ended, from): (Result<(), String>, Instant),
        (shown, at): (Option<&Shown>, Instant),
        may_begin: bool,
    ) -> Option<Call> {
        let is_switched = if at < from {
            None
        } else {
            self.is_switched(kind, shown)
        };
        let memory = self.memories.get_mut(&action.id)?;
        if is_switched == Some(false) {
            let trace = memory.trace.clone();
            memory.ends = None;
            // Of an attempt of which nothing is known the state may be that from before.
            let is_true = ended.is_err() && memory.attempt != Standing::Unknown;
            let record = shown.filter(|_| is_true).map(|shown| shown.record.clone());
            if ended.is_err() && record.is_none() && self.may_switch(kind) {
                self.is_untrue(action.workspace_id.clone());
            }
            self.report(action.id, ended, record, &trace);
            return None;
        }
        let is_failed = ended.is_err();
        if memory.ends.replace((ended, from)).is_none() {
            memory.refusals = None;
        }
        if is_switched.is_none() || !may_begin {
            return None;
        }
        let attempt = match memory.attempt {
            Standing::NotBegun(attempt) => attempt,
            Standing::Unknown | Standing::Refused(_) | Standing::Begun(..) => {
                memory.attempts.saturating_add(1)
            }
        };
        self.call(order(action, kind, attempt, Stage::AlwaysOn { is_failed }))
    }

    /// The reason of a failure that is to be reported now; `None` where the running mode may have to be switched back before.
    pub(super) fn fails_at_once(&mut self, order: &Order, why: String) -> Option<String> {
        let may_switch = self.may_switch(order.action);
        let Some(memory) = self.memories.get_mut(&order.id).filter(|_| may_switch) else {
            return Some(why);
        };
        if matches!(order.stage, Stage::AlwaysOn { .. }) {
            let before = match memory.ends.take() {
                Some((Err(before), _)) => before + " ",
                _ => String::new(),
            };
            return Some(format!(
                "{before}The running mode is AUTO_STOP still, in place of ALWAYS_ON: {why}"
            ));
        }
        // A description may be older than the switch.
        memory.ends = Some((Err(why), Instant::now() + self.pace.least));
        memory.refusals = None;
        None
    }
}
