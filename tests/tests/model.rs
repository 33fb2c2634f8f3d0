//! The model suite: random operations on an engine and its reference.
//!
//! `DESKFLEET_MODEL_CASES` sets the number of runs; CI takes the default, a long run 100 000. A failing run is printed
//! as a list of operations: paste it into [`regressions_replay`] to keep it.

use deskfleet_tests::model::op::{
    Desk, Doing, Instance, Jump, Kind, Mode, NewDesk, Op, Person, Post, Sent, StateName, Telemetry,
};
use deskfleet_tests::model::{run, strategy};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Runs of the default.
const CASES: u32 = 2000;

#[test]
fn random_operations_agree_with_the_reference() {
    let cases = std::env::var("DESKFLEET_MODEL_CASES")
        .ok()
        .map(|cases| cases.parse().expect("a number"));
    let config = Config {
        cases: cases.unwrap_or(CASES),
        failure_persistence: None,
        ..Config::default()
    };
    // The default runs are the same everywhere; with another number they differ each time.
    let mut runner = match cases {
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
        Some(_) => TestRunner::new(config),
    };
    let result = quietly(|| {
        runner.run(&strategy::ops(), |ops| {
            run(&ops);
            Ok::<(), TestCaseError>(())
        })
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, ops)) => panic!("{reason}\nreplay with run(&{ops:#?})"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

/// Runs `work` without the messages of panics on this thread: while a failing run is minimized there are hundreds, and
/// the last one is printed with the run.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let here = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != here {
            before(info);
        }
    }));
    let result = work();
    drop(std::panic::take_hook());
    result
}

/// Runs that failed once, or were written by hand, as they are printed.
#[test]
fn regressions_replay() {
    let new = NewDesk {
        desk: Desk(0),
        person: Some(Person(0)),
        state: StateName(0),
        mode: Mode(0),
        kind: Kind(0),
    };
    run(&[]);
    // A reboot that ends by the clock, and one that Terminate cancels.
    run(&[
        Op::Put(new),
        Op::Act(Doing(0), Some(Desk(0)), None, Kind(0)),
        Op::Clock(Jump(3)),
        Op::Act(Doing(0), None, Some(Person(1)), Kind(0)),
        Op::Act(Doing(4), Some(Desk(0)), None, Kind(0)),
        Op::Reopen,
        Op::Clock(Jump(11)),
    ]);
}

/// A record dated three days ahead is filed at its time of receipt; its retry a second later changes nothing, including
/// the time when the user was last seen.
#[test]
fn retry_with_an_unbelievable_time_is_stored_once() {
    for stream in (0..4).map(Telemetry) {
        let post = || {
            Op::Record(Post {
                stream,
                instance: Instance(2),
                person: Some(Person(3)),
                sent: Sent(11),
                number: true,
            })
        };
        run(&[post(), Op::Clock(Jump(0)), post()]);
        run(&[post(), Op::File, Op::Clock(Jump(0)), post(), Op::File]);
    }
}

/// A computer name of a workspace that has been TERMINATED for seven days resolves to nothing, even before maintenance
/// removed it.
#[test]
fn computer_name_of_a_workspace_terminated_for_7_days_resolves_to_nothing() {
    let new = |desk, state| NewDesk {
        desk: Desk(desk),
        person: None,
        state: StateName(state),
        mode: Mode(0),
        kind: Kind(0),
    };
    let post = Post {
        stream: Telemetry(1),
        instance: Instance(3),
        person: None,
        sent: Sent(0),
        number: false,
    };
    run(&[
        Op::PutMany(vec![new(3, 5)]),
        Op::Clock(Jump(11)),
        Op::Record(post),
        Op::Put(new(0, 0)),
    ]);
}

/// Two desktops of one user report for the same moment; a retry of the first leaves the second the newest.
#[test]
fn retry_of_a_record_of_another_desktop_leaves_the_newest() {
    let post = |instance, sent| {
        let (instance, person) = (Instance(instance), Some(Person(3)));
        Op::Record(Post {
            stream: Telemetry(0),
            instance,
            person,
            sent: Sent(sent),
            number: true,
        })
    };
    let second = || Op::Clock(Jump(0));
    run(&[post(2, 1), second(), post(0, 1), second(), post(2, 1)]);
    // The same with an unbelievable time.
    run(&[post(2, 11), second(), post(0, 11), second(), post(2, 11)]);
}
