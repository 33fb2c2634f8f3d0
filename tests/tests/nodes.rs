//! The conformance cases through the nodes of a fleet: the same requests must return the same bytes, whichever node they are sent to.

use deskfleet_tests::conformance::cases;
use deskfleet_tests::conformance::runner::{Answer, run, run_on_nodes};
use deskfleet_tests::transport::Handle;

/// Each node counts the requests of a key by itself.
const COUNTED_BY_NODE: &str = "2 429";
/// Members of a body that are of one node: what was asked and received there.
const OF_ONE_NODE: [&str; 2] = ["\"lastUsed\":", "\"recordsPerSecond\":"];
const SECRET: &str = "dfk_";
/// The characters of a secret after that.
const SECRET_LENGTH: usize = 43;

/// An answer without what is of one node.
fn shared(answer: &Answer) -> Answer {
    let mut shared = answer.clone();
    let body = String::from_utf8_lossy(&answer.body);
    let mut body = without_fractions(&body);
    for member in OF_ONE_NODE {
        body = without(&body, member, |rest| rest.find([',', '}']));
    }
    body = without(&body, SECRET, |_| Some(SECRET_LENGTH));
    shared.body = body.into();
    shared
}

/// A text without what follows each `mark`, of the length that `length` finds.
fn without(text: &str, mark: &str, length: impl Fn(&str) -> Option<usize>) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        let rest = length(part).and_then(|length| part.get(length..));
        kept + mark + rest.unwrap_or(part)
    })
}

/// A text whose times have no more than milliseconds.
fn without_fractions(text: &str) -> String {
    let mut parts = text.split('.');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        let digits = part.find(|char: char| !char.is_ascii_digit());
        match part.split_at(digits.unwrap_or(part.len())) {
            (fraction, rest) if rest.starts_with('Z') => {
                let milliseconds = fraction.get(..3).unwrap_or(fraction);
                let milliseconds = milliseconds.trim_end_matches('0');
                let point = if milliseconds.is_empty() { "" } else { "." };
                kept + point + milliseconds + rest
            }
            _ => kept + "." + part,
        }
    })
}

/// Where they differ from one engine without a log, it is in what begins or ends at this very moment: one node over a log returns the same
/// there.
#[test]
fn three_nodes_in_turn_return_the_bytes_of_one_engine() {
    let (mut compared, mut as_one_node) = (0, 0);
    for case in cases() {
        if case.row == COUNTED_BY_NODE {
            continue;
        }
        let alone = run(&case, |engine| Handle(engine.clone())).answers;
        let node = run_on_nodes(&case, 1).answers;
        let nodes = run_on_nodes(&case, 3).answers;
        assert_eq!((alone.len(), node.len()), (nodes.len(), nodes.len()));
        for (index, (found, (alone, node))) in nodes.iter().zip(alone.iter().zip(&node)).enumerate()
        {
            let found = shared(found);
            compared += 1;
            if found != shared(alone) {
                as_one_node += 1;
                assert!(
                    found == shared(node),
                    "[{}] {}, answer {index}\none engine:  {alone:?}\none node:    {node:?}\nthree nodes: {found:?}",
                    case.row,
                    case.name
                );
            }
        }
    }
    println!(
        "{compared} answers compared, {as_one_node} of them with those of one node over a log"
    );
    assert!(compared > 10_000 && as_one_node < compared / 50);
}

#[test]
fn what_is_of_one_node_is_left_out() {
    let text = r#"{"at":"2026-11-20T12:00:00.0000012Z","key":"dfk_0123456789012345678901234567890123456789012","lastUsed":null,"rate":1.25}"#;
    let left = without(&without_fractions(text), SECRET, |_| Some(SECRET_LENGTH));
    let left = without(&left, OF_ONE_NODE[0], |rest| rest.find([',', '}']));
    assert_eq!(
        left,
        r#"{"at":"2026-11-20T12:00:00Z","key":"dfk_","lastUsed":,"rate":1.25}"#
    );
    assert_eq!(
        without_fractions("12:00:00.1204567Z 0.50"),
        "12:00:00.12Z 0.50"
    );
}
