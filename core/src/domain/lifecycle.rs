//! The table of actions and states: the states in which an action starts, the state while it runs and the one at its end.

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::REBOOT_STUCK_SECONDS;
use crate::model::{Action, ComputeType, RunningMode, Situation, State};
use crate::timestamp::Timestamp;

/// One row of the table.
struct Rule {
    from: &'static [State],
    via: State,
    then: State,
    refused_under_hold: bool,
}

const fn rule(action: Action) -> Rule {
    use State::{
        Available, Error, Impaired, Rebooting, Rebuilding, Restoring, Starting, Stopped,
        Terminated, Terminating, Unhealthy, Updating,
    };
    let (from, via, then, refused_under_hold): (&'static [State], _, _, _) = match action {
        Action::Reboot => (
            &[Available, Unhealthy, Impaired, Rebooting],
            Rebooting,
            Available,
            false,
        ),
        Action::RecoveryReboot => (
            &[
                Available, Unhealthy, Impaired, Error, Stopped, Rebooting, Starting,
            ],
            Rebooting,
            Available,
            false,
        ),
        Action::Rebuild => (
            &[Available, Error, Unhealthy, Impaired, Stopped, Rebooting],
            Rebuilding,
            Available,
            true,
        ),
        Action::Restore => (
            &[Available, Error, Unhealthy, Impaired, Stopped],
            Restoring,
            Available,
            true,
        ),
        // These start in any state but SUSPENDED, unknown ones included: see `starts_from`.
        Action::Terminate => (&[], Terminating, Terminated, true),
        Action::Start => (&[Stopped], Starting, Available, false),
        Action::ChangeComputeType => (&[Available, Stopped], Updating, Available, false),
    };
    Rule {
        from,
        via,
        then,
        refused_under_hold,
    }
}

/// The result of a look-up in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The action starts: the state is `via` until it ends in `then`.
    Accept { via: State, then: State },
    /// Nothing changes.
    NoChange,
    /// The action does not start.
    Refuse(Refusal),
}

/// Why an action does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    LitigationHold,
    OperationInProgress,
    InvalidResourceState,
    UnsupportedConfiguration,
}

impl Refusal {
    /// The kind of the error.
    pub(crate) const fn kind(self) -> ErrorKind {
        match self {
            Self::LitigationHold => ErrorKind::LitigationHold,
            Self::OperationInProgress => ErrorKind::OperationInProgress,
            Self::InvalidResourceState => ErrorKind::InvalidResourceState,
            Self::UnsupportedConfiguration => ErrorKind::UnsupportedConfiguration,
        }
    }
}

/// Whether a litigation hold forbids `action`.
pub(crate) fn is_refused_under_hold(action: Action) -> bool {
    rule(action).refused_under_hold
}

/// The new type of a `ChangeComputeType`; `None` for other actions, and an error for an unknown type.
pub(crate) fn new_compute_type(action: Action, asked: Option<&str>) -> Result<Option<ComputeType>> {
    if action != Action::ChangeComputeType {
        return Ok(None);
    }
    let asked = asked.unwrap_or_default();
    ComputeType::named(asked).map(Some).ok_or_else(|| {
        EngineError::invalid("computeType", format!("The value '{asked}' is not valid."))
    })
}

/// Looks `action` up for a workspace in `situation`; `compute_type` is the new one of a `ChangeComputeType`.
pub(crate) fn decide(
    action: Action,
    situation: Situation<'_>,
    compute_type: Option<&ComputeType>,
    now: Timestamp,
) -> Decision {
    let rule = rule(action);
    let state = situation.state.and_then(State::named);
    let ending = matches!(state, Some(State::Terminating | State::Terminated));
    if action == Action::Terminate && ending {
        return Decision::NoChange;
    }
    if rule.refused_under_hold && situation.held {
        return Decision::Refuse(Refusal::LitigationHold);
    }
    // A state dated in the future was stored by a clock that was ahead; how long it has lasted is unknown.
    let stuck = now > situation.state_since.plus_seconds(REBOOT_STUCK_SECONDS)
        || now < situation.state_since;
    let stuck_reboot = action == Action::Reboot && state == Some(State::Rebooting) && stuck;
    if situation.in_transition && action != Action::Terminate && !stuck_reboot {
        return Decision::Refuse(Refusal::OperationInProgress);
    }
    if !starts_from(action, &rule, state, situation, stuck) {
        return Decision::Refuse(Refusal::InvalidResourceState);
    }
    if let (Action::ChangeComputeType, Some(new)) = (action, compute_type) {
        let old = situation.compute_type.and_then(ComputeType::named);
        if old.as_ref() == Some(new) {
            return Decision::NoChange;
        }
        if old.is_some_and(|old| !can_change(old.as_str(), new.as_str())) {
            return Decision::Refuse(Refusal::UnsupportedConfiguration);
        }
    }
    Decision::Accept {
        via: rule.via,
        then: rule.then,
    }
}

fn starts_from(
    action: Action,
    rule: &Rule,
    state: Option<State>,
    situation: Situation<'_>,
    stuck: bool,
) -> bool {
    match action {
        Action::Terminate => state != Some(State::Suspended),
        Action::Reboot if state == Some(State::Rebooting) => stuck,
        Action::Start => {
            let mode = situation.running_mode.and_then(RunningMode::named);
            let can_start = matches!(mode, Some(RunningMode::AutoStop | RunningMode::Manual));
            can_start && state == Some(State::Stopped)
        }
        Action::Reboot
        | Action::RecoveryReboot
        | Action::Rebuild
        | Action::Restore
        | Action::ChangeComputeType => state.is_some_and(|state| rule.from.contains(&state)),
    }
}

/// GRAPHICS and GRAPHICSPRO change to nothing else; the two G4DN types only to each other.
fn can_change(old: &str, new: &str) -> bool {
    const G4DN: [&str; 2] = ["GRAPHICS_G4DN", "GRAPHICSPRO_G4DN"];
    match old {
        "GRAPHICS" | "GRAPHICSPRO" => false,
        _ if G4DN.contains(&old) => G4DN.contains(&new),
        _ => true,
    }
}

/// The states in which `action` starts, as text: `AVAILABLE, UNHEALTHY, IMPAIRED or REBOOTING`. `state` is the one in which it
/// did not start.
pub(crate) fn needs(action: Action, state: Option<&str>) -> String {
    match action {
        Action::Terminate => return "any state but SUSPENDED".to_owned(),
        Action::Start => return "STOPPED with running mode AUTO_STOP or MANUAL".to_owned(),
        Action::Reboot
        | Action::RecoveryReboot
        | Action::Rebuild
        | Action::Restore
        | Action::ChangeComputeType => {}
    }
    let from: Vec<&str> = rule(action)
        .from
        .iter()
        .map(|state| state.as_str())
        .collect();
    let needs = match from.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => from.concat(),
    };
    if action == Action::Reboot && state.and_then(State::named) == Some(State::Rebooting) {
        let minutes = REBOOT_STUCK_SECONDS / 60;
        return format!("{needs} for more than {minutes} minutes");
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_790_000_000;

    fn situation(state: Option<&str>) -> Situation<'_> {
        Situation {
            state,
            state_since: Timestamp::from_unix_seconds(NOW),
            running_mode: Some("AUTO_STOP"),
            compute_type: Some("STANDARD"),
            held: false,
            in_transition: false,
        }
    }

    fn decide_at(action: Action, situation: Situation<'_>, seconds: i64) -> Decision {
        let power = ComputeType::named("POWER").unwrap();
        decide(
            action,
            situation,
            Some(&power),
            Timestamp::from_unix_seconds(NOW + seconds),
        )
    }

    /// The states each action starts from, typed from the contract.
    fn expected_from(action: Action) -> &'static str {
        match action {
            Action::Reboot => "AVAILABLE UNHEALTHY IMPAIRED",
            Action::RecoveryReboot => {
                "AVAILABLE UNHEALTHY IMPAIRED ERROR STOPPED REBOOTING STARTING"
            }
            Action::Rebuild => "AVAILABLE ERROR UNHEALTHY IMPAIRED STOPPED REBOOTING",
            Action::Restore => "AVAILABLE ERROR UNHEALTHY IMPAIRED STOPPED",
            Action::Terminate => {
                "PENDING AVAILABLE IMPAIRED UNHEALTHY REBOOTING STARTING REBUILDING RESTORING MAINTENANCE \
                 ADMIN_MAINTENANCE UPDATING STOPPING STOPPED ERROR"
            }
            Action::Start => "STOPPED",
            Action::ChangeComputeType => "AVAILABLE STOPPED",
        }
    }

    #[test]
    fn every_action_in_every_state() {
        for action in Action::ALL {
            let from: Vec<&str> = expected_from(*action).split_whitespace().collect();
            for state in State::ALL {
                let accepted = matches!(
                    decide_at(*action, situation(Some(state.as_str())), 0),
                    Decision::Accept { .. }
                );
                assert_eq!(
                    accepted,
                    from.contains(&state.as_str()),
                    "{action} in {state}"
                );
            }
            let unknown = decide_at(*action, situation(Some("DREAMING")), 0);
            let untold = decide_at(*action, situation(None), 0);
            assert_eq!(unknown, untold);
            assert_eq!(
                matches!(unknown, Decision::Accept { .. }),
                *action == Action::Terminate
            );
        }
    }

    #[test]
    fn terminating_twice_changes_nothing_even_under_hold() {
        for state in ["TERMINATING", "TERMINATED"] {
            let held = Situation {
                held: true,
                in_transition: true,
                ..situation(Some(state))
            };
            assert_eq!(decide_at(Action::Terminate, held, 0), Decision::NoChange);
        }
    }

    #[test]
    fn a_hold_refuses_what_destroys() {
        for action in Action::ALL {
            let state = if *action == Action::Start {
                "STOPPED"
            } else {
                "AVAILABLE"
            };
            let held = Situation {
                held: true,
                ..situation(Some(state))
            };
            let refused = matches!(
                action,
                Action::Rebuild | Action::Restore | Action::Terminate
            );
            let decision = decide_at(*action, held, 0);
            assert_eq!(
                decision == Decision::Refuse(Refusal::LitigationHold),
                refused,
                "{action}"
            );
        }
    }

    #[test]
    fn only_terminate_and_a_stuck_reboot_interrupt() {
        let running = Situation {
            in_transition: true,
            ..situation(Some("REBOOTING"))
        };
        let busy = Decision::Refuse(Refusal::OperationInProgress);
        for action in Action::ALL {
            let interrupts = *action == Action::Terminate;
            assert_eq!(
                decide_at(*action, running, 1200) != busy,
                interrupts,
                "{action}"
            );
        }
        assert!(matches!(
            decide_at(Action::Reboot, running, 1201),
            Decision::Accept { .. }
        ));
        assert_eq!(decide_at(Action::Rebuild, running, 1201), busy);
        let loaded = situation(Some("REBOOTING"));
        assert_eq!(
            decide_at(Action::Reboot, loaded, 1200),
            Decision::Refuse(Refusal::InvalidResourceState)
        );
        for stuck in [1201, -1] {
            assert!(matches!(
                decide_at(Action::Reboot, loaded, stuck),
                Decision::Accept { .. }
            ));
        }
    }

    #[test]
    fn compute_types_that_cannot_change() {
        for (old, new, expected) in [
            ("STANDARD", "POWER", true),
            ("STANDARD", "GRAPHICS_G4DN", true),
            ("GRAPHICS", "GRAPHICSPRO", false),
            ("GRAPHICSPRO", "VALUE", false),
            ("GRAPHICS_G4DN", "GRAPHICSPRO_G4DN", true),
            ("GRAPHICSPRO_G4DN", "GRAPHICS_G4DN", true),
            ("GRAPHICS_G4DN", "GRAPHICS_G6", false),
            ("SOMETHING", "VALUE", true),
        ] {
            assert_eq!(can_change(old, new), expected, "{old} to {new}");
        }
        let same = Situation {
            compute_type: Some("power"),
            ..situation(Some("STOPPED"))
        };
        assert_eq!(
            decide_at(Action::ChangeComputeType, same, 0),
            Decision::NoChange
        );
    }

    #[test]
    fn needs_lists_the_states_an_action_starts_from() {
        assert_eq!(
            needs(Action::Reboot, Some("STOPPED")),
            "AVAILABLE, UNHEALTHY, IMPAIRED or REBOOTING"
        );
        assert_eq!(
            needs(Action::Reboot, Some("REBOOTING")),
            "AVAILABLE, UNHEALTHY, IMPAIRED or REBOOTING for more than 20 minutes"
        );
        assert_eq!(
            needs(Action::ChangeComputeType, None),
            "AVAILABLE or STOPPED"
        );
    }
}
