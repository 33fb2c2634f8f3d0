//! One look at an action and its desktop.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Action, State, Timestamp};

use crate::calls::Call;
use crate::fleet::Pending;
use crate::kind::{Order, Shown, Stage, Trouble};
use crate::log_line;
use crate::memory::{Memory, NotBegun, Standing};
use crate::step::{self, Facts, Seen, Step, decide};

use super::{Driving, SHOWN_AT_ONCE};

/// How long an action is left alone whose desktop the cloud does not show.
const ELSEWHERE_PAUSE: Duration = Duration::from_secs(60);

/// What the cloud said of a desktop when it was asked at that time.
pub(super) struct Described {
    at: Instant,
    /// `None` where there is no such desktop.
    pub(super) desktop: Option<Shown>,
}

impl Driving {
    /// Without those that destroy for the first time and are more than may begin now: they need no look.
    pub(super) fn within_cap<'p>(&mut self, actions: Vec<&'p Pending>) -> Vec<&'p Pending> {
        let mut room = self.cap.room(Timestamp::from(SystemTime::now()));
        let mut within = Vec::with_capacity(actions.len());
        for action in actions {
            let destructive = action.action().filter(|of| step::is_destructive(*of));
            if let Some(kind) = destructive.filter(|_| action.attempts == 0) {
                let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
                // A server that is behind may not know it; and what is another provider's takes no room.
                let is_first = memory.attempts == 0 && memory.attempt == Standing::Unknown;
                if is_first && memory.ended.is_none() && memory.message != Some(NotBegun::Elsewhere)
                {
                    if room == 0 {
                        hold_back(memory, &order(action, kind, 1, Stage::First), self.cap.max);
                        continue;
                    }
                    room -= 1;
                }
            }
            within.push(action);
        }
        within
    }

    /// What the cloud says of the desktops with these ids; `None` where nobody can show them.
    pub(super) fn shown(
        &self,
        ids: &[String],
    ) -> Result<Option<HashMap<String, Described>>, Trouble> {
        if !self.kind.shows() {
            return Ok(None);
        }
        let mut all = HashMap::new();
        for ids in ids.chunks(SHOWN_AT_ONCE) {
            let at = Instant::now();
            let mut shown = self.kind.show(ids)?;
            let described = ids.iter().map(|id| {
                let desktop = shown.remove(id);
                (id.clone(), Described { at, desktop })
            });
            all.extend(described);
        }
        Ok(Some(all))
    }

    /// Does what an action needs, but for a call.
    pub(super) fn advance_action(
        &mut self,
        action: &Pending,
        shown: Option<&HashMap<String, Described>>,
        may_begin: bool,
    ) -> Option<Call> {
        // One that a newer server knows: another provider does.
        let kind = action.action()?;
        let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
        if let Some(ended) = memory.ended.clone() {
            let trace = memory.trace.clone();
            self.report(action.id, ended, None, &trace);
            return None;
        }
        let is_noted = memory.read(action.attempts, action.note.as_deref());
        let described = shown.and_then(|all| all.get(&action.workspace_id));
        // A description may be much older than this look, and shows nothing that was begun since.
        let at = described.map_or_else(Instant::now, |described| described.at);
        let desktop = described.and_then(|described| described.desktop.as_ref());
        let seen = match (described, desktop) {
            (None, _) => Seen::Nothing,
            (Some(_), None) => Seen::Gone,
            (Some(_), Some(desktop)) => Seen::Desktop(desktop),
        };
        memory.saw(seen, at);
        let state = desktop.and_then(|shown| shown.state);
        // A desktop that was stopped is started first.
        let is_stopped = matches!(state, Some(State::Stopping | State::Stopped));
        if let Some(ends) = memory.ends.clone().filter(|_| !is_stopped) {
            return self.ends(action, kind, ends, (desktop, at), may_begin);
        }
        let since = |begun: Instant| at.saturating_duration_since(begun);
        let step = decide(Facts {
            action: kind,
            attempts: memory.attempts,
            starts: memory.starts,
            is_noted,
            compute_type: action.compute_type.as_deref(),
            attempt: memory.last_attempt(at),
            seen,
            was_shown: memory.was_shown,
            gone_for: memory.gone_since.map_or(Duration::ZERO, since),
            known_for: since(memory.known_since),
            least: self.pace.least,
        });
        match step {
            Step::Begin { .. } | Step::BeginSecondHalf { .. } if !may_begin => {}
            Step::Begin { attempt } => {
                return self.call(order(action, kind, attempt, Stage::First));
            }
            Step::BeginSecondHalf { attempt } => {
                return self.call(order(action, kind, attempt, Stage::Start));
            }
            Step::Wait { passed } => {
                memory.passed = passed;
                if memory.attempt == Standing::Unknown && passed {
                    memory.attempt = Standing::Begun(memory.attempts, at);
                }
            }
            Step::LookAgain => {}
            Step::NotHere => {
                memory.not_before = Some(Instant::now() + ELSEWHERE_PAUSE);
                leave_alone(memory, action);
            }
            Step::Complete => {
                return self.ends(action, kind, (Ok(()), at), (desktop, at), may_begin);
            }
            Step::Fail(mut why) => {
                if let Some(answer) = memory.lost_to.take() {
                    why = format!("{why} {answer}");
                }
                return self.ends(action, kind, (Err(why), at), (desktop, at), may_begin);
            }
        }
        None
    }

    pub(super) fn call(&mut self, order: Order) -> Option<Call> {
        let memory = self.memories.get_mut(&order.id)?;
        let mut counted = None;
        if step::is_destructive(order.action) {
            counted = self.cap.take(Timestamp::from(SystemTime::now()));
            if counted.is_none() {
                hold_back(memory, &order, self.cap.max);
                return None;
            }
        }
        memory.message = None;
        if order.stage == Stage::First {
            // The state that it goes through was that of an attempt before.
            memory.passed = false;
        }
        Some(Call {
            order,
            trace: memory.trace.clone(),
            counted,
        })
    }
}

pub(super) fn order(action: &Pending, kind: Action, attempt: u32, stage: Stage) -> Order {
    Order {
        id: action.id,
        action: kind,
        workspace_id: action.workspace_id.clone(),
        compute_type: action.compute_type.clone(),
        attempt,
        stage,
    }
}

/// Says it once.
fn leave_alone(memory: &mut Memory, action: &Pending) {
    if memory.says(NotBegun::Elsewhere) {
        let Pending {
            id,
            action,
            workspace_id,
            ..
        } = action;
        log_line::say(&format!(
            "action {id}, {action} of {workspace_id}: left alone, as the cloud shows no such desktop to this account in this region; where it is nowhere, end the action with POST /operator/actions/{id}/fail"
        ));
    }
}

/// Says it once.
fn hold_back(memory: &mut Memory, order: &Order, max: usize) {
    if memory.says(NotBegun::HeldBack) {
        log_line::say(&format!(
            "{order}: held back, as {max} were begun within an hour (--max-destructive)"
        ));
    }
}
