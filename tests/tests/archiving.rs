//! The entries that a node gives its host to archive, and trimming that waits for the archive.

use std::time::Duration;

use deskfleet::cluster::{AppliedEntries, Chain, EntryId, Log as _, LogEntry, MemoryLog};
use deskfleet::limits::LOG_ENTRIES_KEPT;
use deskfleet::{ActivityRecord, Engine, ErrorKind, ManualClock};
use deskfleet_tests::cluster::log::FaultyLog;
use deskfleet_tests::cluster::node::{builder, follow, node, refusal, start, workspace};

fn entries(log: &MemoryLog) -> Vec<LogEntry> {
    log.read(1, usize::MAX, Duration::ZERO).unwrap()
}

fn write(engine: &Engine, count: u64) {
    for number in 0..count {
        engine
            .put_workspace(workspace(&format!("ws-{number}")))
            .unwrap();
    }
}

/// A second later, when the node has synced its file and reported.
fn sync(clock: &ManualClock, engine: &Engine) {
    clock.advance_seconds(1);
    follow(engine);
}

#[test]
fn entries_to_archive_are_those_that_are_durable_with_their_chains() {
    let clock = ManualClock::new(start());
    for is_chained in [true, false] {
        let log = MemoryLog::new(clock.clone());
        let own = FaultyLog::new(log.clone());
        if !is_chained {
            own.keep_no_chain();
        }
        let one = builder(1, &clock).log(own, "one").open_in_memory().unwrap();
        assert_eq!(one.entries_after(0, Chain::default()).unwrap(), None);
        write(&one, 3);
        sync(&clock, &one);
        write(&one, 1);
        let all = entries(&log);
        let found = one.entries_after(0, Chain::default()).unwrap().unwrap();
        assert_eq!((found.fleet, found.position), (all[0].id, 0));
        assert_eq!(found.entries, all[..4], "{is_chained}");
        assert_eq!(found.durable, 4);
        let last = found.entries.last().unwrap();
        let after = |position, chain: Option<Chain>| {
            one.entries_after(position, chain.unwrap())
                .unwrap()
                .unwrap()
        };
        assert_eq!(after(4, last.chain).entries, [], "not durable");
        sync(&clock, &one);
        let rest = after(4, last.chain);
        assert_eq!((rest.position, rest.entries), (4, all[4..].to_vec()));
        // What was archived may be ahead of a node that began again.
        assert_eq!(after(9, last.chain).entries, []);
        let error = refusal(one.entries_after(4, Chain::default()));
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    }
}

#[test]
fn entries_to_archive_come_in_pieces() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    for number in 0..12 {
        let record = ActivityRecord {
            instance_id: format!("ws-{number}").into(),
            activity: "x".repeat(900_000).into(),
            ..ActivityRecord::default()
        };
        one.record(record).unwrap();
    }
    sync(&clock, &one);
    let (mut position, mut chain, mut lengths) = (0, Chain::default(), Vec::new());
    loop {
        let found = one.entries_after(position, chain).unwrap().unwrap();
        let Some(last) = found.entries.last() else {
            assert_eq!(position, found.durable);
            break;
        };
        (position, chain) = (last.position, last.chain.unwrap());
        lengths.push(found.entries.len());
    }
    assert!(lengths.len() > 2, "{lengths:?}");
    assert_eq!(position, one.position().unwrap());
}

#[test]
fn entries_that_the_log_no_longer_has_are_skipped() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let one = node(1, &clock, &log);
    write(&one, 5);
    sync(&clock, &one);
    log.trim(4).unwrap();
    let found = one.entries_after(0, Chain::default()).unwrap().unwrap();
    // The chain before the first entry that the log has is not known, its own is.
    assert_eq!((found.position, found.entries.len()), (4, 0));
    let rest = one.entries_after(4, found.chain).unwrap().unwrap();
    assert_eq!((rest.position, positions(&rest)), (4, vec![5, 6]));
}

fn positions(found: &AppliedEntries) -> Vec<u64> {
    found.entries.iter().map(|entry| entry.position).collect()
}

#[test]
fn entries_of_a_log_without_chains_begin_after_a_gap_with_what_is_applied() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let own = FaultyLog::new(log.clone());
    own.keep_no_chain();
    let one = builder(1, &clock).log(own, "one").open_in_memory().unwrap();
    write(&one, 5);
    sync(&clock, &one);
    log.trim(4).unwrap();
    let found = one.entries_after(0, Chain::default()).unwrap().unwrap();
    assert_eq!((found.position, found.entries.len()), (6, 0));
    write(&one, 1);
    sync(&clock, &one);
    let next = one.entries_after(6, found.chain).unwrap().unwrap();
    assert_eq!((next.position, positions(&next)), (6, vec![7]));
}

/// A log without chains has lost entries, and has others in their place: a node that began after them cannot tell by its own position.
#[test]
fn entries_that_are_not_those_that_were_applied_are_not_given_out() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let own = FaultyLog::new(log.clone());
    own.keep_no_chain();
    let one = builder(1, &clock).log(own, "one").open_in_memory().unwrap();
    write(&one, 3);
    sync(&clock, &one);
    let last = entries(&log).pop().unwrap();
    log.lose_after(2);
    log.append(EntryId([7; 16]), &last.body).unwrap();
    log.append(last.id, &last.body).unwrap();
    let error = refusal(one.entries_after(0, Chain::default()));
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    assert!(
        error.context().contains("entry 3")
            && error.context().contains("not what this node applied"),
        "{error}"
    );
}

#[test]
fn log_that_cannot_be_read_is_an_error_and_raises_no_doubt() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let own = FaultyLog::new(log);
    let one = builder(1, &clock)
        .log(own.clone(), "one")
        .open_in_memory()
        .unwrap();
    write(&one, 2);
    sync(&clock, &one);
    own.partition(true);
    let error = refusal(one.entries_after(0, Chain::default()));
    assert_eq!(error.kind(), ErrorKind::StorageUnavailable, "{error}");
    own.partition(false);
    write(&one, 1);
}

#[test]
fn log_keeps_what_is_not_archived() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let [one, two] = [1, 2].map(|seed| node(seed, &clock, &log));
    one.set_archived(0);
    for _ in 0..LOG_ENTRIES_KEPT / 100 {
        write(&one, 101);
    }
    let minute = || {
        for _ in 0..60 {
            sync(&clock, &two);
            follow(&one);
        }
        log.bounds(0).unwrap().first
    };
    assert_eq!(minute(), 1);
    let status = two.cluster_status().unwrap().unwrap();
    assert_eq!(status.nodes.iter().map(|node| node.durable).min(), Some(0));
    one.set_archived(LOG_ENTRIES_KEPT + 7);
    assert_eq!(minute(), 7);
    one.set_archived(u64::MAX - 1);
    assert_eq!(minute(), log.bounds(0).unwrap().last - LOG_ENTRIES_KEPT);
}
