//! Where a record stands by the time that it carries and that of its receipt: records of any order and of clocks of any kind give the
//! answers that follow from both times alone.
//!
//! `DATING_SEEDS=1000 cargo test -p deskfleet-tests --test suites dating::` runs more seeds than the default.

use deskfleet::{
    ActivityRecord, Clock as _, Engine, HistoryQuery, ManualClock, Record, StatsRecord, Stream,
    Timestamp,
    query::{Metric, SeriesQuery, WorkspaceRow, WorkspaceRowsQuery},
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::desk;
use fastrand::Rng;

const DAY: i64 = 86_400;

fn open() -> (Engine, ManualClock) {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let engine = Engine::builder().clock(clock.clone()).seed(7);
    let engine = engine.open_in_memory().unwrap();
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
        .unwrap();
    (engine, clock)
}

fn stats(at: Option<Timestamp>, cpu: i32) -> Record {
    Record::Stats(Box::new(StatsRecord {
        update_time: at,
        instance_id: "ws-1".into(),
        username: "jdoe".into(),
        processor_in_use: Some(cpu),
        ..StatsRecord::default()
    }))
}

fn row(engine: &Engine) -> WorkspaceRow {
    let mut rows = engine.query(&WorkspaceRowsQuery::default()).unwrap().rows;
    rows.remove(0)
}

/// The cpu of the newest record by the list of workspaces, by the user, and at the end of the history.
fn newest(engine: &Engine) -> [Option<f64>; 3] {
    let cpu = |record: &Record| match record {
        Record::Stats(stats) => stats.processor_in_use.map(f64::from),
        Record::Activity(_) | Record::Startup(_) | Record::Processes(_) => None,
    };
    let user = engine.user("jdoe").unwrap().unwrap();
    let page = engine
        .history(&HistoryQuery {
            limit: 100,
            ..HistoryQuery::new(Stream::Stats, "ws-1")
        })
        .unwrap();
    [
        row(engine).cpu,
        user.last_stats.and_then(|received| cpu(&received.record)),
        page.records
            .last()
            .and_then(|received| cpu(&received.record)),
    ]
}

#[test]
fn of_two_values_of_one_time_the_later_received_wins_everywhere() {
    for filed in [false, true] {
        for moves in [0, 1] {
            let (engine, clock) = open();
            let at = Some(clock.now());
            for cpu in [44, 45, 44, 12] {
                engine.record_all(&[stats(at, cpu)]).unwrap();
                clock.advance_seconds(moves);
                if filed {
                    engine.file_pending().unwrap();
                }
            }
            assert_eq!(newest(&engine), [Some(12.0); 3], "filed {filed}, {moves}");
        }
    }
}

#[test]
fn clock_that_is_ahead_is_counted_and_shown() {
    let (engine, clock) = open();
    let metric = |name: &str| {
        let text = engine.metrics();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    let ahead = clock.now().plus_seconds(20 * 3600);
    engine.record_all(&[stats(Some(ahead), 90)]).unwrap();
    assert_eq!(row(&engine).clock_ahead_seconds, Some(20 * 3600));
    assert_eq!(row(&engine).last_seen, Some(clock.now()));
    clock.advance_seconds(60);
    let late = clock.now().plus_seconds(-100 * DAY);
    let records = [stats(Some(clock.now()), 10), stats(Some(late), 70)];
    engine.record_all(&records).unwrap();
    assert_eq!(newest(&engine), [Some(10.0); 3]);
    assert_eq!(row(&engine).clock_ahead_seconds, None);
    assert_eq!(metric("deskfleet_records_ahead_total "), "1");
    assert_eq!(metric("deskfleet_records_late_total "), "1");
}

/// A record that was ahead and is sent again once its time is not ahead any more, in the same pass of filing or after it.
#[test]
fn retry_of_a_record_that_was_ahead_changes_nothing() {
    for filed in [false, true] {
        for wait in [60, 20 * 60, 7200] {
            let (engine, clock) = open();
            let record = [stats(Some(clock.now().plus_seconds(900)), 5)];
            for _ in 0..3 {
                engine.record_all(&record).unwrap();
                if filed {
                    engine.file_pending().unwrap();
                }
                clock.advance_seconds(wait);
            }
            engine.file_pending().unwrap();
            let page = engine
                .history(&HistoryQuery::new(Stream::Stats, "ws-1"))
                .unwrap();
            assert_eq!(page.records.len(), 1, "filed {filed}, {wait}");
        }
    }
}

#[test]
fn percentage_outside_of_its_bounds_is_in_no_rollup() {
    let (engine, clock) = open();
    let at = |seconds: i64| Some(clock.now().plus_seconds(seconds));
    let records = [
        stats(at(-120), 40),
        stats(at(-60), i32::MAX),
        stats(at(-30), -1),
    ];
    engine.record_all(&records).unwrap();
    for instance_id in [None, Some("ws-1".to_owned())] {
        let series = SeriesQuery {
            instance_id,
            metrics: vec![Metric::Cpu],
            ..SeriesQuery::default()
        };
        let points = engine.query(&series).unwrap();
        let values = points.points.rows.iter().map(|point| &point.metrics[0]);
        let values: Vec<_> = values
            .filter_map(|values| values.min.zip(values.max))
            .collect();
        assert_eq!(values, [(40.0, 40.0)], "{series:?}");
    }
    assert_eq!(row(&engine).cpu, None, "the newest says nothing");
    let user = engine.user("jdoe").unwrap().unwrap();
    let Some(Record::Stats(last)) = user.last_stats.map(|received| received.record) else {
        panic!("no Stats record");
    };
    assert_eq!(last.processor_in_use, Some(-1), "kept as sent");
}

/// A record that was accepted, and where it is to stand.
#[derive(Debug, Clone)]
struct Sent {
    record: Record,
    filed: Timestamp,
    received: Timestamp,
}

fn post(engine: &Engine, clock: &ManualClock, random: &mut Rng, sent: &mut Vec<Sent>) {
    clock.advance_seconds(random.i64(1..900));
    let received = clock.now();
    let offsets = [
        0,
        -30,
        30,
        299,
        301,
        7200,
        20 * 3600,
        -3700,
        -25 * 3600,
        -40 * DAY,
        -100 * DAY,
        -500 * DAY,
    ];
    let offset = offsets[random.usize(..offsets.len())];
    let at = random.u8(..8).ne(&0).then(|| received.plus_seconds(offset));
    let number = i32::try_from(sent.len()).unwrap();
    let record = if random.bool() {
        stats(at, number)
    } else {
        Record::from(ActivityRecord {
            id: Some(number),
            activity: "Logon".into(),
            activity_time: at,
            username: "jdoe".into(),
            instance_id: "ws-1".into(),
            ..ActivityRecord::default()
        })
    };
    engine.record_all(std::slice::from_ref(&record)).unwrap();
    if random.u8(..4) == 0 && at.is_some() {
        // A retry changes nothing.
        engine.record_all(std::slice::from_ref(&record)).unwrap();
    }
    let limit = received.plus_seconds(300);
    let filed = at.filter(|at| *at <= limit).unwrap_or(received);
    sent.push(Sent {
        record,
        filed,
        received,
    });
}

fn check(engine: &Engine, now: Timestamp, sent: &[Sent], place: &str) {
    let of = |stream: Stream| {
        let mut of: Vec<&Sent> = sent
            .iter()
            .filter(|sent| sent.record.stream() == stream)
            .collect();
        of.sort_by_key(|sent| (sent.filed, sent.received));
        of
    };
    let user = engine.user("jdoe").unwrap().unwrap();
    assert_eq!(
        user.last_seen,
        sent.iter().map(|sent| sent.filed).max(),
        "{place}"
    );
    for (stream, last) in [
        (Stream::Stats, &user.last_stats),
        (Stream::Activity, &user.last_activity),
    ] {
        let expected = of(stream);
        let found = last.as_ref().map(|last| (&last.record, last.filed_at));
        let newest = expected.last().map(|sent| (&sent.record, sent.filed));
        assert_eq!(found, newest, "{place}, {stream:?}");
        let page = engine
            .history(&HistoryQuery {
                limit: 500,
                ..HistoryQuery::new(stream, "ws-1")
            })
            .unwrap();
        let found: Vec<_> = page
            .records
            .iter()
            .map(|received| &received.record)
            .collect();
        let expected: Vec<_> = expected.iter().map(|sent| &sent.record).collect();
        assert_eq!(found, expected, "{place}, {stream:?}");
    }
    let stats = of(Stream::Stats);
    let newest = stats.last();
    let row = row(engine);
    assert_eq!(row.last_seen, newest.map(|sent| sent.filed), "{place}");
    let ahead = newest.and_then(|sent| {
        let seconds = (sent.record.sent_time()?.ticks() - sent.received.ticks()) / 10_000_000;
        (seconds > 300).then_some(seconds)
    });
    assert_eq!(row.clock_ahead_seconds, ahead, "{place}");
    let mut window = of(Stream::Activity);
    window.retain(|sent| sent.filed > now.plus_seconds(-DAY) && sent.filed <= now);
    window.reverse();
    let found = engine.activity_24_hours().unwrap();
    let found: Vec<_> = found.iter().map(|view| &view.received.record).collect();
    let expected: Vec<_> = window.iter().map(|sent| &sent.record).collect();
    assert_eq!(found, expected, "{place}");
}

#[test]
fn answers_follow_from_filed_time_and_receipt_whatever_the_order_and_the_clocks() {
    let seeds = std::env::var("DATING_SEEDS").ok();
    for seed in 0..seeds.map_or(60, |seeds| seeds.parse().expect("a number of seeds")) {
        let mut random = Rng::with_seed(seed);
        let (engine, clock) = open();
        let mut sent = Vec::new();
        for step in 0..random.usize(1..40) {
            post(&engine, &clock, &mut random, &mut sent);
            if random.u8(..5) == 0 {
                engine.file_pending().unwrap();
            }
            if random.u8(..3) == 0 {
                check(
                    &engine,
                    clock.now(),
                    &sent,
                    &format!("seed {seed}, step {step}"),
                );
            }
        }
        engine.file_pending().unwrap();
        check(&engine, clock.now(), &sent, &format!("seed {seed}"));
        assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    }
}
