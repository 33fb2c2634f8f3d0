//! What to do about an action, from what is known of it: a decision without a clock, a network or a memory of its own.
//!
//! A provider may end at any moment, so the outbox has to say enough: an attempt is noted there before it begins, and its request id once
//! it is under way. An attempt without one, of which this process knows nothing, may have begun or not.

use std::time::Duration;

use deskfleet::{Action, ActionDurations, State};

use super::kind::Shown;

/// What this process knows of the last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// It was noted by another process, or its answer was lost.
    Unknown,
    /// This one is noted perhaps, and was not begun.
    NotBegun { attempt: u32 },
    /// It was noted and refused: nothing happened.
    Refused,
    /// It is under way for that time.
    Begun {
        for_: Duration,
        /// Whether the desktop was seen in the state that the action goes through.
        passed: bool,
    },
}

/// A desktop.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seen<'s> {
    /// Nobody can show it.
    Nothing,
    /// There is none.
    Gone,
    Desktop(&'s Shown),
}

/// What is known of an action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'f> {
    pub(super) action: Action,
    /// Attempts that are noted in the outbox.
    pub(super) attempts: u32,
    /// Of those, the accepted starts of a desktop that was stopped, as far as this process knows.
    pub(super) starts: u32,
    /// Whether the last one is noted as under way.
    pub(super) is_noted: bool,
    /// The new compute type, of a `ChangeComputeType`.
    pub(super) compute_type: Option<&'f str>,
    pub(super) attempt: Attempt,
    pub(super) seen: Seen<'f>,
    /// Whether this process saw the desktop before.
    pub(super) was_shown: bool,
    /// For how long each description was without it.
    pub(super) gone_for: Duration,
    /// For how long this process knows of the action, or that the answer to its last attempt was lost.
    pub(super) known_for: Duration,
    /// The least time between a call and its end, where the state that the action goes through was not seen, and after which a description is
    /// believed that shows nothing of a call.
    pub(super) least: Duration,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Begin this attempt.
    Begin { attempt: u32 },
    /// Begin this attempt, with the second half of the action.
    BeginSecondHalf { attempt: u32 },
    /// Leave it alone: the desktop is none of this cloud, as far as that shows.
    NotHere,
    /// Nothing, before another description.
    LookAgain,
    /// It is under way, and the desktop was seen in the state that the action goes through where that is true.
    Wait { passed: bool },
    /// It has happened.
    Complete,
    /// It has not, for this reason.
    Fail(String),
}

/// Whether an action is begun again where it is unknown whether it was begun: doing it twice does no harm.
pub(super) fn is_repeatable(action: Action) -> bool {
    match action {
        Action::Reboot | Action::RecoveryReboot | Action::Start => true,
        Action::Rebuild | Action::Restore | Action::Terminate | Action::ChangeComputeType => false,
    }
}

/// Whether an action destroys what is on the desktop.
pub(super) fn is_destructive(action: Action) -> bool {
    matches!(
        action,
        Action::Rebuild | Action::Restore | Action::Terminate
    )
}

/// Times the least time for which a desktop may not be shown that this process has never seen.
const UNSEEN: u32 = 10;
/// Accepted starts after which a desktop that was stopped and does not start is left to a person.
const STARTS_MAX: u32 = 20;

/// How long an action may take, retries included.
pub(super) fn longest(action: Action) -> Duration {
    ActionDurations::default().for_action(action) * 2
}

/// The state that an action goes through.
fn passes(action: Action, state: State) -> bool {
    match action {
        Action::Reboot => state == State::Rebooting,
        Action::RecoveryReboot => {
            matches!(
                state,
                State::Stopping | State::Stopped | State::Starting | State::Rebooting
            )
        }
        Action::Rebuild => state == State::Rebuilding,
        Action::Restore => state == State::Restoring,
        Action::Terminate => state == State::Terminating,
        Action::Start => state == State::Starting,
        Action::ChangeComputeType => state == State::Updating,
    }
}

/// What to do.
pub(super) fn decide(facts: Facts<'_>) -> Step {
    let next = facts.attempts.saturating_add(1);
    let number = match facts.attempt {
        // Not the last one that is noted: of that the outbox may say that it was refused, and this one may be carried out.
        Attempt::NotBegun { attempt } => attempt,
        Attempt::Unknown | Attempt::Refused | Attempt::Begun { .. } => next,
    };
    if is_stopped_half_way(facts) {
        return start_again(facts, number);
    }
    match facts.attempt {
        Attempt::Begun { for_, passed } => under_way(facts, for_, passed),
        Attempt::Unknown if facts.attempts > 0 && facts.is_noted => {
            under_way(facts, facts.known_for, false)
        }
        Attempt::Unknown if facts.attempts > 0 => unknown(facts, next),
        Attempt::Unknown | Attempt::NotBegun { .. } | Attempt::Refused => {
            // A call for a desktop of another account or region would be answered as if it had gone.
            if matches!(facts.seen, Seen::Gone) {
                return Step::NotHere;
            }
            Step::Begin { attempt: number }
        }
    }
}

/// Whether the first half of a recovery reboot has happened, by this process or another.
fn is_stopped_half_way(facts: Facts<'_>) -> bool {
    let is_stopped = |shown: &Shown| shown.state == Some(State::Stopped);
    facts.action == Action::RecoveryReboot
        && facts.attempts > 0
        && matches!(facts.seen, Seen::Desktop(shown) if is_stopped(shown))
}

/// However long it took: it runs before the action is over.
fn start_again(facts: Facts<'_>, number: u32) -> Step {
    match facts.attempt {
        // A start may have been accepted that the description does not show yet.
        Attempt::Begun { for_, .. } if facts.attempts > 1 && for_ < facts.least => {
            Step::Wait { passed: true }
        }
        _ if facts.starts >= STARTS_MAX => Step::Fail(format!(
            "The desktop was stopped, and did not start though that was accepted {STARTS_MAX} times."
        )),
        Attempt::Unknown | Attempt::NotBegun { .. } | Attempt::Refused | Attempt::Begun { .. } => {
            Step::BeginSecondHalf { attempt: number }
        }
    }
}

/// Of a desktop that is not shown. That it was shown before says that it is one of this account, and so does a request id for what destroys:
/// the process that has it had seen the desktop. One description may be wrong.
fn gone(facts: Facts<'_>, passed: bool) -> Step {
    let was_here = facts.was_shown || (facts.is_noted && facts.action == Action::Terminate);
    if !was_here {
        if facts.known_for < facts.least * UNSEEN {
            return Step::Wait { passed };
        }
        return Step::Fail(
            "Unknown: the cloud has not shown the desktop since this provider started. It is gone, or one of another account or region."
                .to_owned(),
        );
    }
    if facts.gone_for < facts.least {
        return Step::Wait { passed };
    }
    if facts.action == Action::Terminate {
        return Step::Complete;
    }
    Step::Fail("There is no such desktop any more.".to_owned())
}

/// Of an action that was begun: whether it has ended.
fn under_way(facts: Facts<'_>, for_: Duration, passed: bool) -> Step {
    let shown = match facts.seen {
        // Somebody else completes it.
        Seen::Nothing => return Step::Wait { passed },
        Seen::Gone => return gone(facts, passed),
        Seen::Desktop(shown) => shown,
    };
    let passed = passed || shown.state.is_some_and(|state| passes(facts.action, state));
    let may_have_ended = passed || for_ >= facts.least;
    let has_ended = match (facts.action, shown.state) {
        (Action::Terminate, state) => state == Some(State::Terminated),
        (Action::ChangeComputeType, Some(State::Available | State::Stopped)) => {
            has_type(facts, shown)
        }
        (Action::Start, Some(State::Available)) => true,
        (Action::Reboot | Action::RecoveryReboot, Some(State::Available)) => may_have_ended,
        (Action::Rebuild | Action::Restore, Some(State::Available | State::Stopped)) => {
            may_have_ended
        }
        _ => false,
    };
    if has_ended {
        return Step::Complete;
    }
    // However long it stops: it is to be started after that.
    let is_stopping =
        facts.action == Action::RecoveryReboot && shown.state == Some(State::Stopping);
    if for_ >= longest(facts.action) && !is_stopping {
        let state = shown.state.map_or("in no known state", State::as_str);
        let minutes = for_.as_secs() / 60;
        return Step::Fail(format!("The desktop is {state} after {minutes} minutes."));
    }
    Step::Wait { passed }
}

fn has_type(facts: Facts<'_>, shown: &Shown) -> bool {
    let wanted = facts.compute_type.unwrap_or_default();
    let is = |of: &String| of.eq_ignore_ascii_case(wanted);
    shown.compute_type.as_ref().is_some_and(is)
}

/// Of an action that may have been begun or not.
fn unknown(facts: Facts<'_>, next: u32) -> Step {
    if let Seen::Desktop(shown) = facts.seen
        && let Some(state) = shown.state
    {
        if passes(facts.action, state) {
            return Step::Wait { passed: true };
        }
        let has_happened = match facts.action {
            Action::ChangeComputeType => has_type(facts, shown),
            Action::Start => state == State::Available,
            Action::Terminate => state == State::Terminated,
            Action::Reboot | Action::RecoveryReboot | Action::Rebuild | Action::Restore => false,
        };
        if has_happened {
            return Step::Complete;
        }
    }
    match facts.seen {
        Seen::Gone => return gone(facts, false),
        // The description may be older than the call.
        Seen::Desktop(_) if facts.known_for < facts.least => return Step::LookAgain,
        Seen::Desktop(_) | Seen::Nothing => {}
    }
    if is_repeatable(facts.action) {
        return Step::Begin { attempt: next };
    }
    Step::Fail(format!(
        "Unknown: whether attempt {} was carried out cannot be said. Look at the desktop, and ask again.",
        facts.attempts
    ))
}

#[cfg(test)]
mod tests;
