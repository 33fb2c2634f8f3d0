//! What every [`Log`] must keep, whatever holds it.

use std::time::{Duration, Instant};

use deskfleet::cluster::{EntryId, Log, LogEntry, LogErrorKind};

/// Long enough for a machine under load; a check that passes never waits so long.
const PATIENCE: Duration = Duration::from_secs(60);
const NOW: Duration = Duration::ZERO;
const WHATEVER: usize = 64 << 20;

/// Checks the contract. Each call of `open` returns another handle of one log, which has no entries and no reports at first.
///
/// # Panics
/// Where the log breaks the contract.
pub fn check(open: &dyn Fn() -> Box<dyn Log>) {
    let (log, other) = (open(), open());
    let (log, other) = (log.as_ref(), other.as_ref());
    empty_log_has_no_entries(log);
    positions_follow_without_gap(log);
    all_handles_read_the_same(log, other);
    same_id_returns_first_position(log, other);
    same_id_at_once_is_appended_once(log, other);
    concurrent_appends_have_distinct_positions(log, other);
    read_is_bounded_by_bytes(log);
    read_waits_for_an_entry(log, other);
    waiting_read_delays_no_append(log);
    large_body_is_kept(log, other);
    entry_is_restored_at_the_end_alone(log, other);
    trimmed_entries_are_refused(log, other);
    reports_are_kept_by_node(log, other);
    reopened_log_is_the_same(log, open().as_ref());
}

/// An id that nothing else in this file has.
fn id(group: u8, number: u64) -> EntryId {
    let mut bytes = [group; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    EntryId(bytes)
}

fn last(log: &dyn Log) -> u64 {
    log.bounds(0).unwrap().last
}

/// The entries from a position on, without the one that a log returns ahead of them which keeps no chain.
fn read(log: &dyn Log, from: u64, bytes_max: usize, patience: Duration) -> Vec<LogEntry> {
    let mut entries = log.read(from, bytes_max, patience).unwrap();
    if let Some(first) = entries.first()
        && first.chain.is_none()
    {
        let is_ahead = first.position + 1 == from;
        let is_removed = log.bounds(0).unwrap().first == from;
        assert!(is_ahead || is_removed, "{} of {from}", first.position);
        assert!(!is_ahead || entries.len() > 1, "no entry from {from} on");
        entries.retain(|entry| entry.position >= from);
    }
    entries
}

/// The entries of the positions, in as many reads as it takes.
fn entries(log: &dyn Log, from: u64, through: u64, bytes_max: usize) -> Vec<LogEntry> {
    let mut entries = Vec::new();
    let mut next = from;
    while next <= through {
        let found = read(log, next, bytes_max, PATIENCE);
        assert!(!found.is_empty(), "no entry at {next} of {through}");
        for entry in found {
            assert_eq!(entry.position, next, "a gap or another order");
            if let Some(LogEntry {
                chain: Some(before),
                ..
            }) = entries.last()
            {
                assert_eq!(entry.chain, Some(entry.chain_after(before)), "at {next}");
            }
            next += 1;
            entries.push(entry);
        }
    }
    entries
}

fn empty_log_has_no_entries(log: &dyn Log) {
    let bounds = log.bounds(0).unwrap();
    assert_eq!((bounds.first, bounds.last), (1, 0));
    assert!(log.read(1, WHATEVER, NOW).unwrap().is_empty());
    log.trim(1).unwrap();
    log.trim(1000).unwrap();
    assert_eq!(log.bounds(0).unwrap(), bounds);
    assert!(log.reports().unwrap().is_empty());
}

fn positions_follow_without_gap(log: &dyn Log) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let mut chains = Vec::new();
    for number in 1..=10 {
        let appended = log.append(id(1, number), &all_bytes).unwrap();
        assert_eq!(appended.position, number);
        chains.push(appended.chain);
        assert_eq!(last(log), number);
    }
    let bounds = log.bounds(0).unwrap();
    assert_eq!((bounds.first, bounds.last), (1, 10));
    for (entry, chain) in entries(log, 1, 10, WHATEVER).into_iter().zip(chains) {
        assert_eq!(entry.id, id(1, entry.position));
        assert_eq!(entry.chain, chain);
        if entry.position == 1 {
            let zeros = [0; 16];
            let expected = entry.chain.map(|_| entry.chain_after(&zeros));
            assert_eq!(entry.chain, expected);
        }
        assert_eq!(entry.body, all_bytes);
        let year = entry.at.to_string();
        assert!(
            "2020" < year.as_str(),
            "{year} is not the clock of any server"
        );
    }
    assert!(log.read(11, WHATEVER, NOW).unwrap().is_empty());
    assert!(log.read(1000, WHATEVER, NOW).unwrap().is_empty());
}

fn all_handles_read_the_same(log: &dyn Log, other: &dyn Log) {
    let last = last(log);
    let all = entries(log, 1, last, WHATEVER);
    assert_eq!(entries(other, 1, last, WHATEVER), all);
    assert_eq!(entries(other, 1, last, 1), all);
    let middle = usize::try_from(last / 2).unwrap();
    assert_eq!(
        entries(log, last / 2 + 1, last, WHATEVER),
        all[middle..],
        "from the middle on"
    );
}

fn same_id_returns_first_position(log: &dyn Log, other: &dyn Log) {
    let first = log.append(id(2, 0), b"first").unwrap().position;
    let second = log.append(id(2, 1), b"second").unwrap().position;
    assert_eq!(second, first + 1);
    assert_eq!(log.append(id(2, 0), b"first").unwrap().position, first);
    assert_eq!(other.append(id(2, 0), b"first").unwrap().position, first);
    assert_eq!(other.append(id(2, 1), b"second").unwrap().position, second);
    assert_eq!(last(log), second);
    assert_eq!(log.append(id(2, 2), b"third").unwrap().position, second + 1);
}

fn same_id_at_once_is_appended_once(log: &dyn Log, other: &dyn Log) {
    let before = last(log);
    for number in 0..20 {
        let append = |log: &dyn Log| log.append(id(3, number), b"at once").unwrap().position;
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(|| append(other));
            (append(log), there.join().unwrap())
        });
        assert_eq!((here, there), (before + 1 + number, here));
    }
    assert_eq!(last(log), before + 20);
}

fn concurrent_appends_have_distinct_positions(log: &dyn Log, other: &dyn Log) {
    const THREADS: u64 = 6;
    const EACH: u64 = 25;
    let before = last(log);
    let body = |id: EntryId| id.0.repeat(64);
    let appended = std::thread::scope(|scope| {
        let append = |thread: u64| {
            let (own, second) = if thread.is_multiple_of(2) {
                (log, other)
            } else {
                (other, log)
            };
            let mut positions = Vec::new();
            for number in 0..EACH {
                let id = id(4, thread << 32 | number);
                let position = own.append(id, &body(id)).unwrap().position;
                assert!(own.bounds(0).unwrap().last >= position);
                if number % 5 == 0 {
                    assert_eq!(second.append(id, &body(id)).unwrap().position, position);
                }
                positions.push((position, id));
            }
            assert!(positions.is_sorted(), "a later append is before");
            positions
        };
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || append(thread)))
            .collect();
        let threads = threads.into_iter().map(|thread| thread.join().unwrap());
        let mut appended: Vec<_> = threads.flatten().collect();
        appended.sort_unstable();
        appended
    });
    let through = before + THREADS * EACH;
    assert_eq!(last(log), through);
    let read = entries(log, before + 1, through, WHATEVER);
    assert_eq!(entries(other, before + 1, through, WHATEVER), read);
    assert_eq!(read.len(), appended.len());
    for (entry, (position, id)) in read.iter().zip(appended) {
        assert_eq!((entry.position, entry.id), (position, id));
        assert_eq!(entry.body, body(id));
    }
}

fn read_is_bounded_by_bytes(log: &dyn Log) {
    let from = last(log) + 1;
    for number in 0..10 {
        log.append(id(5, number), &[7; 1000]).unwrap();
    }
    for bytes_max in [0, 1, 999, 1000, 1001, 3500, 10_000] {
        let read = read(log, from, bytes_max, NOW);
        let (_, before_last) = read.split_last().expect("at least one");
        let bytes: usize = before_last.iter().map(|entry| entry.body.len()).sum();
        assert!(
            bytes <= bytes_max,
            "{} entries for {bytes_max} bytes",
            read.len()
        );
        assert_eq!(entries(log, from, from + 9, bytes_max).len(), 10);
    }
}

fn read_waits_for_an_entry(log: &dyn Log, other: &dyn Log) {
    let next = last(log) + 1;
    let (begun, patience) = (Instant::now(), Duration::from_millis(100));
    assert!(log.read(next, WHATEVER, patience).unwrap().is_empty());
    assert!(begun.elapsed() >= patience, "it did not wait");
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(log, next, WHATEVER, PATIENCE));
        assert_eq!(other.append(id(6, 0), b"awaited").unwrap().position, next);
        let read = reader.join().unwrap();
        assert_eq!(read.first().map(|entry| entry.id), Some(id(6, 0)));
    });
}

/// Where the append waited for the read, the read would end without an entry.
fn waiting_read_delays_no_append(log: &dyn Log) {
    let next = last(log) + 1;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read(log, next + 5, WHATEVER, PATIENCE));
        for number in 0..6 {
            let position = log.append(id(7, number), b"meanwhile").unwrap().position;
            assert_eq!(position, next + number);
        }
        let read = reader.join().unwrap();
        assert_eq!(read.first().map(|entry| entry.position), Some(next + 5));
    });
}

fn large_body_is_kept(log: &dyn Log, other: &dyn Log) {
    let body = |number: u64| -> Vec<u8> {
        let mixed = |index: u64| (index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8;
        (0..1_000_000_u64)
            .map(|index| mixed(index + number))
            .collect()
    };
    let from = last(log) + 1;
    for number in 0..4 {
        let position = log.append(id(8, number), &body(number)).unwrap().position;
        assert_eq!(position, from + number);
        assert_eq!(
            log.append(id(8, number), &body(number)).unwrap().position,
            position
        );
    }
    for bytes_max in [1, 2_500_000, WHATEVER] {
        let read = entries(other, from, from + 3, bytes_max);
        assert!(
            (0..4)
                .zip(&read)
                .all(|(number, entry)| entry.body == body(number))
        );
    }
}

fn trimmed_entries_are_refused(log: &dyn Log, other: &dyn Log) {
    let last = last(log);
    let below = last / 2;
    trim(log, below, below);
    for log in [log, other] {
        for from in [1, below - 1] {
            assert_is_removed(log, from);
        }
        assert_eq!(log.bounds(0).unwrap().last, last);
        assert_eq!(entries(log, below, last, WHATEVER)[0].position, below);
    }
    // What was removed before, and what is not there yet, is no error.
    trim(log, 1, below);
    trim(log, last + 1, last + 1);
    assert!(log.read(last + 1, WHATEVER, NOW).unwrap().is_empty());
    assert_is_removed(log, last);
    trim(log, last + 1000, last + 1);
    assert_eq!(
        log.append(id(9, 0), b"after all").unwrap().position,
        last + 1
    );
    assert_eq!(
        other.append(id(9, 1), b"and more").unwrap().position,
        last + 2
    );
    assert_eq!(entries(log, last + 1, last + 2, WHATEVER).len(), 2);
}

/// Waits until an entry is removed: it may be readable for a while longer.
fn assert_is_removed(log: &dyn Log, position: u64) {
    let begun = Instant::now();
    loop {
        match log.read(position, 1, NOW) {
            Err(refused) => {
                assert_eq!(refused.kind, LogErrorKind::Trimmed, "{refused}");
                return;
            }
            Ok(_) => assert!(begun.elapsed() < PATIENCE, "{position} is still there"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Trims, and waits until no entry before `first` is left.
fn trim(log: &dyn Log, below: u64, first: u64) {
    log.trim(below).unwrap();
    let begun = Instant::now();
    while log.bounds(0).unwrap().first != first {
        let bounds = log.bounds(0).unwrap();
        assert!(
            begun.elapsed() < PATIENCE,
            "{bounds:?} after a trim below {below}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a log lost looks like what it never had.
fn entry_is_restored_at_the_end_alone(log: &dyn Log, other: &dyn Log) {
    assert_eq!(log.bounds(0).unwrap().takeover, None);
    let end = last(log);
    let newest = entries(log, end, end, WHATEVER).remove(0);
    // A log that keeps no chain compares the position alone.
    let before = newest.chain.unwrap_or_default();
    let entry = |number: u64, before| {
        let mut entry = LogEntry {
            position: end + number,
            at: "2026-11-20T08:00:00.123456Z".parse().unwrap(),
            id: id(12, number),
            body: vec![u8::try_from(number).unwrap(); 100],
            chain: None,
        };
        entry.chain = newest.chain.map(|_| entry.chain_after(before));
        entry
    };
    let first = entry(1, &before);
    let after_first = first.chain.unwrap_or_default();
    let second = entry(2, &after_first);
    assert!(!log.restore(&after_first, &second).unwrap(), "a gap");
    if newest.chain.is_some() {
        assert!(!log.restore(&[7; 16], &first).unwrap(), "another chain");
    }
    assert!(!log.restore(&before, &newest).unwrap(), "one that it has");
    assert_eq!(last(log), end);
    assert!(log.restore(&before, &first).unwrap());
    assert!(!other.restore(&before, &first).unwrap(), "once is enough");
    assert!(other.restore(&after_first, &second).unwrap());
    assert_eq!(last(log), end + 2);
    assert_eq!(entries(other, end + 1, end + 2, WHATEVER), [first, second]);
    // It is an entry as any other is: known by its id, and followed by others.
    assert_eq!(log.append(id(12, 2), &[2; 100]).unwrap().position, end + 2);
    assert_eq!(log.append(id(12, 3), b"third").unwrap().position, end + 3);
    entries(log, end, end + 3, WHATEVER);
}

fn reports_are_kept_by_node(log: &dyn Log, other: &dyn Log) {
    let reports = |log: &dyn Log| -> Vec<(String, String)> {
        let reports = log.reports().unwrap();
        let texts = reports.into_iter();
        texts
            .map(|message| (message.node, message.report))
            .collect()
    };
    let pair = |node: &str, report: &str| (node.to_owned(), report.to_owned());
    let last = last(log);
    log.report("node-b", r#"{"applied":1}"#).unwrap();
    other.report("node-a", "Übernahme, \"angehalten\"").unwrap();
    log.report("node-b", r#"{"applied":2}"#).unwrap();
    let both = [
        pair("node-a", "Übernahme, \"angehalten\""),
        pair("node-b", r#"{"applied":2}"#),
    ];
    for log in [log, other] {
        assert_eq!(reports(log), both);
        let at = log.reports().unwrap()[0].at.to_string();
        assert!("2020" < at.as_str(), "{at} is not the clock of any server");
    }
    log.forget("node-a").unwrap();
    log.forget("node-a").unwrap();
    log.forget("node-of-nobody").unwrap();
    assert_eq!(reports(other), both[1..]);
    other.report("node-a", "again").unwrap();
    assert_eq!(reports(log)[0], pair("node-a", "again"));
    assert_eq!(log.bounds(0).unwrap().last, last, "a report is no entry");
}

fn reopened_log_is_the_same(log: &dyn Log, reopened: &dyn Log) {
    let bounds = log.bounds(0).unwrap();
    assert_eq!(reopened.bounds(0).unwrap(), bounds);
    let all = |log: &dyn Log| entries(log, bounds.first, bounds.last, WHATEVER);
    assert_eq!(all(reopened), all(log));
    assert_eq!(reopened.reports().unwrap(), log.reports().unwrap());
    assert_eq!(
        reopened.append(id(9, 1), b"and more").unwrap().position,
        bounds.last
    );
    assert_eq!(
        reopened.append(id(10, 0), b"more").unwrap().position,
        bounds.last + 1
    );
}
