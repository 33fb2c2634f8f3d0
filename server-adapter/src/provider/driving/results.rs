//! What the results of calls change, and the ends of actions.

use std::time::{Duration, Instant};

use crate::provider::aws::desktop::MergeRecord;
use crate::provider::backoff::{pause, random};
use crate::provider::calls::{Call, Called, Ended};
use crate::provider::kind::{Order, Trouble};
use crate::provider::memory::Standing;
use crate::provider::status;
use crate::provider::step;
use crate::provider::trace::Trace;

use super::{DENIED_PAUSE, Driving};

impl Driving {
    /// Takes the results of calls into account.
    pub(super) fn ended(&mut self, ended: Ended) {
        for (call, result) in ended {
            let Call { order, trace } = call;
            self.busy.remove(&order.workspace_id);
            self.status.called(&order, &result, &trace);
            let may_destroy = matches!(result, Called::Done | Called::Begun | Called::Lost);
            if step::is_destructive(order.action) && !may_destroy {
                self.cap.give_back();
            }
            if !matches!(result, Called::Denied(_) | Called::NotTried) {
                self.is_denied = false;
            }
            let Some(memory) = self.memories.get_mut(&order.id) else {
                continue;
            };
            match result {
                Called::Done => self.report(order.id, Ok(()), None, &trace),
                Called::Begun => {
                    memory.attempt = Standing::Begun(Instant::now());
                    memory.refused = None;
                }
                Called::Later { after, why } => {
                    memory.attempt = Standing::Refused;
                    self.later(&order, after, &why, &trace);
                }
                // The next look at the desktop shows what has become of it.
                Called::Lost => {
                    memory.lost();
                    if step::is_repeatable(order.action) {
                        self.later(&order, None, "There is no answer.", &trace);
                    }
                }
                Called::Failed(why) | Called::Forbidden(why) => {
                    self.report(order.id, Err(why), None, &trace);
                    if self.kind.shows() {
                        self.untrue.insert(order.workspace_id);
                    }
                }
                Called::Denied(why) => {
                    memory.attempt = Standing::Refused;
                    self.trouble(Trouble::Denied(why));
                }
                Called::NotNoted(_) | Called::NotTried => {
                    memory.attempt = Standing::NotBegun(order.attempt);
                }
                // It has ended, or another process of this name carries it out: that has time to end it.
                Called::Overtaken => {
                    memory.lost();
                    memory.not_before = Some(Instant::now() + step::longest(order.action));
                }
            }
        }
    }

    /// Waits before the next attempt, or gives up.
    fn later(&mut self, order: &Order, after: Option<Duration>, why: &str, trace: &Trace) {
        let Some(memory) = self.memories.get_mut(&order.id) else {
            return;
        };
        let now = Instant::now();
        let (since, before) = memory.refused.unwrap_or((now, 0));
        let failures = before + 1;
        memory.refused = Some((since, failures));
        memory.not_before = Some(now + pause(failures, after, random()));
        if since.elapsed() >= step::longest(order.action) {
            let why = format!("{why} ({failures} attempts)");
            self.report(order.id, Err(why), None, trace);
        }
    }

    /// Ends an action at the server. A failure leaves the desktop in the state ERROR; what the cloud shows is true.
    pub(super) fn report(
        &mut self,
        id: u64,
        ended: Result<(), String>,
        record: Option<MergeRecord>,
        trace: &Trace,
    ) {
        let (result, said) = match &ended {
            Ok(()) => (self.fleet.complete(id, trace), "completed".to_owned()),
            Err(why) => (self.fleet.fail(id, why, trace), format!("failed: {why}")),
        };
        status::ended(id, &said, result.as_ref().err(), trace);
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

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Denied(why) => {
                self.paused_until = Some(Instant::now() + DENIED_PAUSE);
                self.is_denied = true;
                self.status.paused(&why);
            }
            Trouble::Later { after, why } => {
                let pause = after.unwrap_or(self.pace.every).min(DENIED_PAUSE);
                self.paused_until = Some(Instant::now() + pause);
                status::cloud_lost(&why);
            }
        }
    }
}
