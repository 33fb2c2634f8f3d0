//! The conformance cases over every transport: the same requests must give the same bytes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use deskfleet::Engine;
use deskfleet_tests::conformance::runner::run;
use deskfleet_tests::conformance::{AREAS, case::Case};
use deskfleet_tests::transport::{Call, Handle, Transport};

/// Runs every case over `handle` and over the other transport, and compares all that came back.
fn same_as_handle<T: Transport>(connect: impl Fn(&Engine) -> T) {
    let light = |case: &Case| !case.heavy;
    for case in AREAS.iter().flat_map(|(_, cases)| cases()).filter(light) {
        let expected = run(&case, |engine| Handle(engine.clone()));
        let found = run(&case, &connect);
        for (index, (left, right)) in expected.answers.iter().zip(&found.answers).enumerate() {
            assert!(
                left == right,
                "[{}] {}, answer {index}\nthrough handle: {left:?}\nthrough this:   {right:?}",
                case.row,
                case.name
            );
        }
        assert_eq!(expected.answers.len(), found.answers.len());
    }
}

#[test]
fn call_answers_what_handle_answers() {
    same_as_handle(|engine| Call(engine.clone()));
}
