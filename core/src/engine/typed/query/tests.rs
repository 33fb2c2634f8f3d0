//! What answers leave out when there is more than they may examine, and what the host cannot ask for.

use crate::clock::ManualClock;
use crate::domain::range::Range;
use crate::domain::steps::Steps;
use crate::model::{StatsRecord, Stream};
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::history::{self, HistoryQuery};
use crate::view::query::coverage::Coverage;
use crate::view::query::groups::{GroupFilter, each_step, first_covered};

use super::*;

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

fn now() -> Timestamp {
    "2026-11-20T12:30:00Z".parse().unwrap()
}

/// The last `seconds`.
fn last(seconds: i64) -> Range {
    Range::new(now().plus_seconds(-seconds), now()).unwrap()
}

/// Two desktops with a sample every 6 hours of two days, filed.
fn engine() -> Engine {
    let builder = Engine::builder().clock(ManualClock::new(now())).seed(1);
    let engine = builder.open_in_memory().unwrap();
    for sample in 0..8 {
        for desktop in ["i", "j"] {
            let record = StatsRecord {
                update_time: Some(now().plus_seconds(-6 * HOUR * sample)),
                instance_id: desktop.into(),
                compute_type_name: if desktop == "i" { "POWER" } else { "VALUE" }.into(),
                ..StatsRecord::default()
            };
            engine.record(record).unwrap();
        }
    }
    engine.file_pending().unwrap();
    engine
}

#[test]
fn coverage_is_of_whole_hours_or_days_and_says_so() {
    let engine = engine();
    let reader = engine.core().reader().unwrap();
    let range = |from: &str, to: &str| Range::new(from.parse().unwrap(), to.parse().unwrap());
    for (from, to, warnings) in [
        ("2026-11-20T08:00:00Z", "2026-11-20T12:30:00Z", 0),
        ("2026-11-20T08:00:00Z", "2026-11-20T10:00:00Z", 0),
        ("2026-11-20T08:00:00Z", "2026-11-20T09:59:00Z", 1),
        ("2026-11-20T08:00:01Z", "2026-11-20T10:00:00Z", 1),
    ] {
        let asked = range(from, to).unwrap();
        let hours = Coverage::hours(&reader, asked);
        assert_eq!(hours.range().from, "2026-11-20T08:00:00Z".parse().unwrap());
        assert_eq!(hours.into_warnings().len(), warnings, "{from} {to}");
    }
    let days = Coverage::days(&reader, last(DAY)).unwrap();
    let covered = range("2026-11-19", "2026-11-21").unwrap();
    assert_eq!(days.range(), covered);
    let message =
        "The answer is of whole days (UTC), from 2026-11-19T00:00:00Z to 2026-11-21T00:00:00Z.";
    assert_eq!(days.into_warnings(), [message]);
    let all = Range::new(Timestamp::MIN, Timestamp::MAX).unwrap();
    let days = Coverage::days(&reader, all).unwrap();
    let count = days.days_covered().count() as u64;
    assert_eq!(days.into_warnings().len(), 0, "{count}");
}

#[test]
fn days_of_more_rollups_than_are_examined_are_the_newest() {
    let engine = engine();
    let reader = engine.core().reader().unwrap();
    for (rows, first) in [
        (6, "2026-11-18"),
        (5, "2026-11-19"),
        (2, "2026-11-20"),
        (0, "2026-11-20"),
    ] {
        let mut days = Coverage::hours(&reader, last(2 * DAY));
        days.cut_days_to(&reader, rows).unwrap();
        let first: Timestamp = first.parse().unwrap();
        assert_eq!(*days.days_covered().start(), first.day(), "{rows}");
        let warnings = days.into_warnings();
        let is_cut = first.day() > last(2 * DAY).from.day();
        assert_eq!(warnings.len(), 1 + usize::from(is_cut), "{warnings:?}");
        let message = format!("what is before {first} is more than one answer examines");
        assert_eq!(
            warnings.iter().any(|warning| warning.contains(&message)),
            is_cut
        );
    }
}

#[test]
fn hours_of_more_rollups_than_are_examined_are_the_newest_and_whole() {
    let engine = engine();
    let reader = engine.core().reader().unwrap();
    // Of each hour the rows of two groups.
    for (rows, hours) in [(100, 8), (16, 8), (15, 8), (14, 7), (3, 2), (2, 1), (1, 1)] {
        let mut coverage = Coverage::hours(&reader, last(2 * DAY));
        coverage.hour_rows_max = rows;
        let steps = Steps::new(coverage.range(), HOUR);
        let (mut counts, filter) = (Vec::new(), GroupFilter::default());
        let mut add = |place, totals: &crate::store::rollup::hourly::HourTotals| {
            counts.push((steps.start(place), totals.count));
        };
        each_step(
            &reader,
            Stream::Stats,
            &filter,
            &mut coverage,
            steps,
            &mut add,
        )
        .unwrap();
        let begin: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let expected = (0..hours).map(|hour| (begin.plus_seconds(-6 * HOUR * hour), 2));
        assert_eq!(counts, expected.collect::<Vec<_>>(), "{rows}");
        let first = steps.start(first_covered(&coverage, steps));
        let is_cut = hours < 8;
        assert_eq!(coverage.into_warnings().len(), 1 + usize::from(is_cut));
        let oldest = if is_cut {
            counts.last().unwrap().0
        } else {
            steps.start(0)
        };
        assert_eq!(first, oldest, "{rows}");
    }
}

#[test]
fn records_of_an_instance_beyond_those_examined_are_the_oldest() {
    let engine = engine();
    let core = engine.core();
    let wanted = Wanted::Instance(Stream::Stats, "i");
    let reader = core.telemetry_reader(wanted).unwrap();
    let query = HistoryQuery::new(Stream::Stats, "i");
    let range = Range::new(now().plus_seconds(-3 * DAY), now().plus_seconds(1)).unwrap();
    // Samples: three today, four yesterday, one the day before.
    for (max, seen, complete_from) in [
        (9, 8, None),
        (8, 8, None),
        (7, 7, Some("2026-11-19")),
        (4, 7, Some("2026-11-19")),
        (3, 3, Some("2026-11-20")),
    ] {
        let mut count = 0;
        let cut = history::scan(&reader, &query, range, max, &mut |_, _| count += 1).unwrap();
        let complete_from = complete_from.map(|text| text.parse().unwrap());
        assert_eq!((count, cut), (seen, complete_from), "{max}");
    }
}

#[test]
fn question_of_the_host_has_no_format() {
    let refused = engine().ask("workspaces", "format=csv", b"").unwrap_err();
    assert_eq!(refused.parameter(), Some("query"));
    assert!(engine().ask("workspaces", "fields=state", b"").is_ok());
}
