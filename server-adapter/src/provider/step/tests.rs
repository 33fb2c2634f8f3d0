use crate::provider::aws::desktop::Desktop;

use super::*;

const LEAST: Duration = Duration::from_secs(60);

fn shown(state: State, compute_type: &str) -> Shown {
    Shown {
        state: Some(state),
        compute_type: Some(compute_type.to_owned()),
        record: Desktop::default().into_record(None, "eu-west-1"),
    }
}

fn facts(action: Action, attempts: u32, attempt: Attempt, seen: Seen<'_>) -> Facts<'_> {
    Facts {
        action,
        attempts,
        is_noted: false,
        compute_type: Some("POWER"),
        attempt,
        seen,
        least: LEAST,
    }
}

fn begun(seconds: u64, passed: bool) -> Attempt {
    Attempt::Begun {
        for_: Duration::from_secs(seconds),
        passed,
    }
}

#[test]
fn first_attempt_begins_whatever_is_seen() {
    for action in Action::ALL {
        let available = shown(State::Available, "POWER");
        for seen in [Seen::Nothing, Seen::Gone, Seen::Desktop(&available)] {
            let step = decide(facts(*action, 0, Attempt::Unknown, seen));
            assert_eq!(step, Step::Begin { attempt: 1 }, "{action}");
        }
    }
}

#[test]
fn attempt_that_was_not_begun_is_begun_and_a_refused_one_is_followed_by_another() {
    for action in Action::ALL {
        for (attempt, number) in [(Attempt::NotBegun { attempt: 3 }, 3), (Attempt::Refused, 3)] {
            let step = decide(facts(*action, 2, attempt, Seen::Nothing));
            assert_eq!(step, Step::Begin { attempt: number }, "{action}");
        }
    }
}

/// In every state, with and without a description: what destroys is never begun again.
#[test]
fn unknown_attempt_is_begun_again_only_where_that_does_no_harm() {
    for action in Action::ALL {
        let all = State::ALL.iter().map(|state| shown(*state, "STANDARD"));
        let desktops: Vec<Shown> = all.collect();
        let seen = desktops.iter().map(Seen::Desktop);
        for seen in seen.chain([Seen::Nothing, Seen::Gone]) {
            let step = decide(facts(*action, 1, Attempt::Unknown, seen));
            if matches!(step, Step::Begin { .. }) {
                assert!(is_repeatable(*action), "{action} {seen:?}");
                assert_eq!(step, Step::Begin { attempt: 2 });
            }
        }
        let step = decide(facts(*action, 1, Attempt::Unknown, Seen::Nothing));
        if let Step::Fail(why) = &step {
            assert!(why.starts_with("Unknown:") && !is_repeatable(*action));
        } else {
            assert_eq!(step, Step::Begin { attempt: 2 });
        }
    }
}

#[test]
fn unknown_attempt_that_shows_was_begun() {
    for (action, state, compute_type, expected) in [
        (
            Action::Reboot,
            State::Rebooting,
            "STANDARD",
            Step::Wait { passed: true },
        ),
        (
            Action::Terminate,
            State::Terminating,
            "STANDARD",
            Step::Wait { passed: true },
        ),
        (
            Action::Terminate,
            State::Terminated,
            "STANDARD",
            Step::Complete,
        ),
        (
            Action::Rebuild,
            State::Rebuilding,
            "STANDARD",
            Step::Wait { passed: true },
        ),
        (Action::Start, State::Available, "STANDARD", Step::Complete),
        (
            Action::ChangeComputeType,
            State::Available,
            "power",
            Step::Complete,
        ),
    ] {
        let desktop = shown(state, compute_type);
        let step = decide(facts(action, 1, Attempt::Unknown, Seen::Desktop(&desktop)));
        assert_eq!(step, expected, "{action} {state}");
    }
    let gone = decide(facts(Action::Terminate, 1, Attempt::Unknown, Seen::Gone));
    assert_eq!(gone, Step::Complete);
}

#[test]
fn attempt_with_a_request_id_is_under_way_after_a_restart() {
    let noted = |action, seen| {
        decide(Facts {
            is_noted: true,
            ..facts(action, 1, Attempt::Unknown, seen)
        })
    };
    for action in Action::ALL {
        let step = noted(*action, Seen::Nothing);
        assert_eq!(step, Step::Wait { passed: false }, "{action}");
    }
    // Not yet in the state that it goes through.
    let available = shown(State::Available, "STANDARD");
    let step = noted(Action::Rebuild, Seen::Desktop(&available));
    assert_eq!(step, Step::Wait { passed: false });
}

#[test]
fn reboot_ends_once_it_was_seen_or_after_the_least_time() {
    let available = shown(State::Available, "STANDARD");
    for (attempt, ends) in [
        (begun(5, false), false),
        (begun(59, false), false),
        (begun(60, false), true),
        (begun(5, true), true),
    ] {
        let step = decide(facts(Action::Reboot, 1, attempt, Seen::Desktop(&available)));
        assert_eq!(step == Step::Complete, ends, "{attempt:?}");
    }
}

#[test]
fn action_that_does_not_end_in_time_fails_with_the_state() {
    let rebooting = shown(State::Rebooting, "STANDARD");
    let step = decide(facts(
        Action::Reboot,
        1,
        begun(239, true),
        Seen::Desktop(&rebooting),
    ));
    assert_eq!(step, Step::Wait { passed: true });
    let step = decide(facts(
        Action::Reboot,
        1,
        begun(240, true),
        Seen::Desktop(&rebooting),
    ));
    assert_eq!(
        step,
        Step::Fail("The desktop is REBOOTING after 4 minutes.".to_owned())
    );
}

#[test]
fn recovery_reboot_starts_what_has_stopped() {
    let stopped = shown(State::Stopped, "STANDARD");
    let step = decide(facts(
        Action::RecoveryReboot,
        1,
        begun(5, false),
        Seen::Desktop(&stopped),
    ));
    assert_eq!(step, Step::BeginSecondHalf);
}
