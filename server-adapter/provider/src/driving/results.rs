//! What the results of calls change, and the ends of actions.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::aws::desktop::MergeRecord;
use crate::calls::{Call, Called, Ended};
use crate::fleet::Pending;
use crate::kind::{Order, Stage, Trouble};
use crate::memory::Standing;
use crate::status::{self, Asker};
use crate::step;
use crate::trace::Trace;
use deskfleet_client::backoff::{pause, random};

use super::{DENIED_PAUSE, Driving};

/// What is denied while others are not is tried again after up to one more than this number of [`DENIED_PAUSE`].
const DENIED_PAUSES_MAX: u32 = 9;

impl Driving {
    /// Takes the results of calls into account.
    pub(super) fn ended(&mut self, ended: Ended) {
        for (call, called) in ended {
            self.one_ended(call, called);
        }
    }

    fn one_ended(&mut self, call: Call, result: Called) {
        let Call {
            order,
            trace,
            counted,
        } = call;
        self.busy.remove(&order.workspace_id);
        self.status.called(&order, &result, &trace);
        if let Some(counted) = counted.filter(|_| !result.may_have_happened(self.kind.shows())) {
            self.cap.give_back(counted);
        }
        let was_denied = self.is_denied;
        self.is_denied = result.is_denied().unwrap_or(was_denied);
        if was_denied && !self.is_denied {
            self.begins_at = None;
            self.status.resumed();
        }
        let Some(memory) = self.memories.get_mut(&order.id) else {
            return;
        };
        if result.is_noted() {
            memory.attempts = memory.attempts.max(order.attempt);
        }
        match result {
            Called::Done => self.report(order.id, Ok(()), None, &trace),
            Called::Begun if matches!(order.stage, Stage::AlwaysOn { .. }) => {
                let ended = memory.ends.take().map_or(Ok(()), |(ended, _)| ended);
                if ended.is_err() {
                    self.is_untrue(order.workspace_id);
                }
                self.report(order.id, ended, None, &trace);
            }
            Called::Begun => {
                memory.attempt = Standing::Begun(order.attempt, Instant::now());
                memory.starts += u32::from(order.stage == Stage::Start);
                memory.refusals = None;
            }
            Called::Later { after, why } => {
                memory.attempt = Standing::Refused(order.attempt);
                self.later(&order, after, &why, &trace);
            }
            // The next look at the desktop shows what has become of it.
            Called::Lost(why) => {
                memory.lost();
                memory.lost_to = Some(why.clone());
                if step::is_repeatable(order.action) {
                    self.later(&order, None, &why, &trace);
                }
            }
            Called::Failed(why) | Called::Forbidden(why) => self.fails(&order, why, &trace),
            Called::Denied(why) => {
                memory.attempt = Standing::Refused(order.attempt);
                // The next call is another one: this may be denied alone, and then it is tried less and less often.
                memory.denied += u32::from(!was_denied);
                let pauses = 1 + memory.denied.min(DENIED_PAUSES_MAX);
                let now = Instant::now();
                memory.not_before = Some(now + DENIED_PAUSE * pauses);
                self.begins_at = Some(now + DENIED_PAUSE);
                self.status.paused(&why);
            }
            Called::NotNoted(_) | Called::NotTried => {
                memory.attempt = Standing::NotBegun(order.attempt);
            }
            // It has ended, or another process of this name carries it out: that has time to note what came of it.
            Called::Overtaken => {
                memory.lost();
                memory.not_before = Some(Instant::now() + self.kind.answers_within());
            }
        }
    }

    /// Waits before the next attempt, or gives up.
    fn later(&mut self, order: &Order, after: Option<Duration>, why: &str, trace: &Trace) {
        let Some(memory) = self.memories.get_mut(&order.id) else {
            return;
        };
        let longest = step::longest(order.action);
        let (refused_for, failures) = memory.refused(longest);
        memory.not_before = Some(Instant::now() + pause(failures, after, random()));
        // A desktop that was stopped, or whose running mode was switched, is not left so.
        if refused_for >= longest && order.stage == Stage::First {
            self.fails(order, format!("{why} ({failures} attempts)"), trace);
        }
    }

    /// Ends an action as failed, of which a call was refused.
    fn fails(&mut self, order: &Order, why: String, trace: &Trace) {
        self.is_untrue(order.workspace_id.clone());
        if let Some(why) = self.fails_at_once(order, why) {
            self.report(order.id, Err(why), None, trace);
        }
    }

    /// The state ERROR, which the server gives the desktop of a refused action, is put right by what the cloud shows once the action has ended.
    pub(super) fn is_untrue(&mut self, desktop: String) {
        if self.kind.shows() {
            self.untrue.insert(desktop);
        }
    }

    /// Puts the states of desktops right that an action left as ERROR which was never begun.
    pub(super) fn refresh(&mut self, pending: &[Pending]) -> Result<(), Trouble> {
        if self.untrue.is_empty() {
            return Ok(());
        }
        let busy: HashSet<&String> = pending.iter().map(|of| &of.workspace_id).collect();
        let ids = self.untrue.iter().filter(|id| !busy.contains(id));
        let ids: Vec<String> = ids.cloned().collect();
        let shown = self.shown(&ids)?.unwrap_or_default();
        let desktops = shown.into_values().filter_map(|of| of.desktop);
        let lines: Result<Vec<String>, _> = desktops
            .map(|desktop| serde_json::to_string(&desktop.record))
            .collect();
        // Without it the next scan puts them right.
        let _ = self.fleet.import(&lines.unwrap_or_default());
        for id in &ids {
            self.untrue.remove(id);
        }
        Ok(())
    }

    /// Ends an action at the server. A failure leaves the desktop in the state ERROR; what the cloud shows is true.
    pub(super) fn report(
        &mut self,
        id: u64,
        ended: Result<(), String>,
        record: Option<MergeRecord>,
        trace: &Trace,
    ) {
        if ended.is_err() && self.status.is_standby() {
            // Another process has begun it again.
            return;
        }
        let (result, message) = match &ended {
            Ok(()) => (self.fleet.complete(id, trace), "completed".to_owned()),
            Err(why) => (self.fleet.fail(id, why, trace), format!("failed: {why}")),
        };
        status::ended(id, &message, result.as_ref().err(), trace);
        match result {
            Ok(()) => {
                // Without it the next scan puts the state right.
                let record = record.and_then(|record| serde_json::to_string(&record).ok());
                let _ = self.fleet.import(record.as_slice());
            }
            // One that has ended leaves the outbox; one that is not answered is reported again.
            Err(_) => {
                if let Some(memory) = self.memories.get_mut(&id) {
                    memory.ended = Some(ended);
                }
            }
        }
    }

    /// The cloud showed nothing.
    pub(super) fn trouble(&mut self, trouble: Trouble) {
        let pause = match &trouble {
            Trouble::Denied(_) => DENIED_PAUSE,
            Trouble::Later { after, .. } => after.unwrap_or(self.pace.every).min(DENIED_PAUSE),
        };
        self.paused_until = Some(Instant::now() + pause);
        self.status.cloud_lost(Asker::Actions, trouble);
    }
}
