//! Floods of nearly equal records: repetitions are found by digests, so each record costs about the same however many
//! share its instance and time, and no read or step holds more than its bounds. Comparing records of one time pair by
//! pair made each of these tests take minutes. `cargo bench -p deskfleet-benches --bench cost` counts the cost.

use std::collections::BTreeSet;

use deskfleet::limits::HISTORY_PAGE_BYTES;
use deskfleet::{
    CommitDriver, Engine, HistoryQuery, Nullable, ProcessItem, ProcessReport, Received, Record,
    StatsRecord, Stream, Timestamp,
};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::posting::engine;

const RECORDS: i32 = 20_000;
const REPORTS: usize = 60;
const ITEMS: usize = 4096;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Statistics of one instance at one time, distinguished by their number. `sent` is far back if they are to be filed at
/// their receipt.
fn stats(number: i32, sent: &str) -> Record {
    Record::Stats(Box::new(StatsRecord {
        id: Some(number),
        update_time: Some(time(sent)),
        username: Nullable::from("jdoe"),
        instance_id: Nullable::from("i"),
        ..StatsRecord::default()
    }))
}

fn report(number: usize) -> Record {
    let mut items = vec![
        ProcessItem {
            process_name: Some("a.exe".to_owned()),
            processor_usage: Some(0.5),
            ..ProcessItem::default()
        };
        ITEMS
    ];
    items.last_mut().unwrap().processor_usage = Some(f64::from(u32::try_from(number).unwrap()));
    Record::Processes(Box::new(ProcessReport {
        created_date: Some(time("2026-11-20T11:00:00Z")),
        instance_id: Nullable::from("i"),
        username: Nullable::from("jdoe"),
        processes: Some(items),
        ..ProcessReport::default()
    }))
}

/// All pages of a history.
fn walk(engine: &Engine, stream: Stream, limit: u32) -> Vec<Vec<Received>> {
    let (mut pages, mut token) = (Vec::new(), None);
    loop {
        let page = engine
            .history(&HistoryQuery {
                limit,
                next_token: token.clone(),
                ..HistoryQuery::new(stream, "i")
            })
            .unwrap();
        pages.push(page.records);
        token = page.next_token;
        if token.is_none() {
            return pages;
        }
    }
}

fn numbers(pages: &[Vec<Received>]) -> Vec<i32> {
    let number = |received: &Received| match &received.record {
        Record::Stats(record) => record.id.unwrap(),
        Record::Activity(_) | Record::Startup(_) | Record::Processes(_) => panic!("{received:?}"),
    };
    pages.iter().flatten().map(number).collect()
}

fn flood_is_filed_once(sent: &str) {
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    let post = |numbers: std::ops::Range<i32>| {
        let mut batch = engine.batch();
        for number in numbers {
            batch.push(&stats(number, sent)).unwrap();
        }
        engine.record_batch(batch).unwrap();
    };
    // Half of it twice while queued, and again once filed.
    post(0..RECORDS);
    post(0..RECORDS / 2);
    // Of one time and receipt that which was accepted last.
    let newest = || {
        let last = engine.user("jdoe").unwrap().unwrap().last_stats;
        numbers(&[last.into_iter().collect()])
    };
    assert_eq!(newest(), [RECORDS - 1]);
    engine.file_pending().unwrap();
    assert_eq!(newest(), [RECORDS - 1]);
    post(RECORDS / 2..RECORDS + 1000);
    assert_eq!(newest(), [RECORDS + 999]);
    let first = engine.history(&HistoryQuery {
        limit: 500,
        ..HistoryQuery::new(Stream::Stats, "i")
    });
    let pending = numbers(&[first.unwrap().records]);
    engine.file_pending().unwrap();
    assert_eq!(engine.queue_count(), 0);
    let pages = walk(&engine, Stream::Stats, 500);
    let all = numbers(&pages);
    assert_eq!(all.get(..500), Some(pending.as_slice()));
    let expected: BTreeSet<_> = (0..RECORDS + 1000).collect();
    assert_eq!(all.len(), expected.len());
    assert_eq!(BTreeSet::from_iter(all), expected);
}

#[test]
fn flood_of_one_sent_time_is_filed_once() {
    flood_is_filed_once("2026-11-20T11:00:00Z");
}

#[test]
fn flood_filed_at_receipt_is_filed_once() {
    flood_is_filed_once("2001-01-01T00:00:00Z");
}

/// A page of large reports ends at about its bound in bytes, filed or queued, and the walk still returns all of them.
#[test]
fn history_pages_of_large_reports_are_bounded_by_bytes() {
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    for filed in [false, true] {
        for number in 0..REPORTS {
            engine.record(report(number)).unwrap();
            engine.record(report(number)).unwrap();
        }
        if filed {
            engine.file_pending().unwrap();
        }
        let pages = walk(&engine, Stream::Processes, 500);
        let item_bytes = pages
            .iter()
            .map(|page| page.len() * ITEMS * size_of::<u64>());
        assert!(item_bytes.max().unwrap() <= HISTORY_PAGE_BYTES);
        assert_eq!(pages.iter().map(Vec::len).sum::<usize>(), REPORTS);
        assert_eq!(walk(&engine, Stream::Processes, 1).len(), REPORTS);
        let user = engine.user("jdoe").unwrap().unwrap();
        assert_eq!(user.last_seen, Some(time("2026-11-20T11:00:00Z")));
    }
}

/// A part that is full of process items is not rewritten by each later step.
#[test]
fn filing_large_reports_writes_no_more_with_more_reports() {
    let disk = Disk::new();
    let engine = engine(CommitDriver::Caller, disk.backend());
    let mut step = |step: usize| {
        for number in step * 10..(step + 1) * 10 {
            engine.record(report(number)).unwrap();
        }
        let before = disk.written();
        engine.file_pending().unwrap();
        disk.written() - before
    };
    let written: Vec<_> = (0..10).map(&mut step).collect();
    let most = written.iter().max().unwrap();
    assert!(*most <= 3 * written.get(1).unwrap(), "{written:?}");
}
