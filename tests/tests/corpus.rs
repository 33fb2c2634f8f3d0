//! Replays `tests/corpus/<target>/` through the body of each fuzz target.
//!
//! The corpus is small and hand-written; a finding of a fuzzing run is added here as its regression test.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test, whose body serves every target"
)]

use std::fs;
use std::path::Path;

use deskfleet_tests::fuzzing;
use deskfleet_tests::panics::{expect_redb_to_panic, other_panics};

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    expect_redb_to_panic();
    for path in paths {
        println!("{}", path.display());
        body(&fs::read(&path).unwrap());
        assert_eq!(
            other_panics(),
            0,
            "something panicked, in this test or one beside it, and was caught"
        );
    }
}

#[test]
fn corpus_of_requests_replays() {
    replay("request", fuzzing::request);
}

#[test]
fn corpus_of_queries_replays() {
    replay("query", fuzzing::query);
}

#[test]
fn corpus_of_questions_replays() {
    replay("question", fuzzing::question);
}

#[test]
fn corpus_of_times_replays() {
    replay("time", fuzzing::time);
}

#[test]
fn corpus_of_bodies_replays() {
    replay("body", fuzzing::body);
}

#[test]
fn corpus_of_tokens_replays() {
    replay("token", fuzzing::token);
}

#[test]
fn corpus_of_stored_values_replays() {
    replay("stored", fuzzing::stored);
}

#[test]
fn corpus_of_files_replays() {
    replay("file", fuzzing::file);
}

#[test]
fn corpus_of_log_entries_replays() {
    replay("log_entry", fuzzing::log_entry);
}

#[test]
fn corpus_of_operations_replays() {
    replay("operations", fuzzing::operations);
}
