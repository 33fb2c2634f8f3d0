use crate::aws::desktop::Desktop;

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
        starts: 0,
        is_noted: false,
        compute_type: Some("POWER"),
        attempt,
        seen,
        was_shown: false,
        gone_for: Duration::ZERO,
        known_for: LEAST,
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
fn first_attempt_begins_unless_the_cloud_does_not_show_the_desktop() {
    for action in Action::ALL {
        let available = shown(State::Available, "POWER");
        for seen in [Seen::Nothing, Seen::Gone, Seen::Desktop(&available)] {
            let step = decide(facts(*action, 0, Attempt::Unknown, seen));
            let is_gone = matches!(seen, Seen::Gone);
            let expected = if is_gone {
                Step::NotHere
            } else {
                Step::Begin { attempt: 1 }
            };
            assert_eq!(step, expected, "{action}");
        }
    }
}

/// In whatever state this process is: a desktop that it never saw may be another account's, and one description may be wrong.
#[test]
fn desktop_that_is_gone_is_believed_gone_once_it_was_shown_and_for_a_while() {
    for action in Action::ALL {
        for attempt in [begun(5, true), Attempt::Unknown] {
            for (was_shown, gone_for, is_believed) in [
                (false, 3600, false),
                (true, 0, false),
                (true, 59, false),
                (true, 60, true),
            ] {
                let step = decide(Facts {
                    was_shown,
                    gone_for: Duration::from_secs(gone_for),
                    ..facts(*action, 1, attempt, Seen::Gone)
                });
                let expected = match (is_believed, *action) {
                    (true, Action::Terminate) => Step::Complete,
                    (true, _) => Step::Fail("There is no such desktop any more.".to_owned()),
                    (false, _) => Step::Wait {
                        passed: matches!(attempt, Attempt::Begun { .. }),
                    },
                };
                assert_eq!(
                    step, expected,
                    "{action} {attempt:?} {was_shown} {gone_for}"
                );
            }
        }
    }
    // The cloud accepted it from a process that ended.
    let noted = decide(Facts {
        is_noted: true,
        gone_for: LEAST,
        ..facts(Action::Terminate, 1, begun(5, false), Seen::Gone)
    });
    assert_eq!(noted, Step::Complete);
    let late = decide(Facts {
        known_for: LEAST * UNSEEN,
        ..facts(Action::Terminate, 1, Attempt::Unknown, Seen::Gone)
    });
    assert!(matches!(late, Step::Fail(why) if why.starts_with("Unknown:")));
    // Nothing was accepted: the credentials may be those of another account by now.
    for attempt in [Attempt::Refused, Attempt::NotBegun { attempt: 1 }] {
        let refused = decide(Facts {
            was_shown: true,
            gone_for: LEAST,
            ..facts(Action::Terminate, 1, attempt, Seen::Gone)
        });
        assert_eq!(refused, Step::NotHere);
    }
}

#[test]
fn lost_attempt_is_judged_by_no_description_that_may_be_older() {
    let available = shown(State::Available, "STANDARD");
    for action in [
        Action::Rebuild,
        Action::Restore,
        Action::Terminate,
        Action::Reboot,
    ] {
        let of = |seconds| {
            decide(Facts {
                known_for: Duration::from_secs(seconds),
                ..facts(action, 1, Attempt::Unknown, Seen::Desktop(&available))
            })
        };
        assert_eq!(of(59), Step::LookAgain, "{action}");
        assert_ne!(of(60), Step::LookAgain, "{action}");
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
}

#[test]
fn attempt_with_a_request_id_is_under_way_after_a_restart() {
    let noted = |action, seen| {
        decide(Facts {
            is_noted: true,
            known_for: Duration::ZERO,
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
    for (attempts, attempt, expected) in [
        (1, begun(5, false), Step::BeginSecondHalf { attempt: 2 }),
        // It was down for long: the desktop is started all the same.
        (
            1,
            begun(86_400, false),
            Step::BeginSecondHalf { attempt: 2 },
        ),
        (1, Attempt::Unknown, Step::BeginSecondHalf { attempt: 2 }),
        (2, Attempt::Refused, Step::BeginSecondHalf { attempt: 3 }),
        (
            1,
            Attempt::NotBegun { attempt: 2 },
            Step::BeginSecondHalf { attempt: 2 },
        ),
        (2, begun(5, false), Step::Wait { passed: true }),
        (2, begun(60, false), Step::BeginSecondHalf { attempt: 3 }),
    ] {
        let seen = Seen::Desktop(&stopped);
        let step = decide(facts(Action::RecoveryReboot, attempts, attempt, seen));
        assert_eq!(step, expected, "{attempts} {attempt:?}");
    }
    let seen = Seen::Desktop(&stopped);
    // Attempts that were refused say nothing of the desktop.
    for (starts, fails) in [(0, false), (19, false), (20, true)] {
        let step = decide(Facts {
            starts,
            ..facts(Action::RecoveryReboot, 60, Attempt::Refused, seen)
        });
        assert_eq!(matches!(step, Step::Fail(_)), fails, "{step:?}");
    }
    let stopping = shown(State::Stopping, "STANDARD");
    let step = decide(facts(
        Action::RecoveryReboot,
        1,
        begun(86_400, true),
        Seen::Desktop(&stopping),
    ));
    assert_eq!(step, Step::Wait { passed: true });
}
