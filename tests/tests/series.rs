//! Series, startups and heatmaps equal what is computed from the posted records one by one.

#![allow(clippy::float_cmp, clippy::cast_precision_loss, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use deskfleet::{
    ActivityRecord, Engine, Nullable, StartupRecord, StatsRecord, Timestamp,
    query::{
        GroupFilter, HeatmapOf, HeatmapQuery, Metric, MetricValues, SeriesPoint, SeriesQuery,
        StartupQuery, Term,
    },
};
use deskfleet_tests::posted::{ago, engine, now, post, sent, text};
use proptest::prelude::*;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const COMPUTE_TYPES: [&str; 3] = ["STANDARD", "POWER", "VALUE"];
const USERS: [&str; 4] = ["", "jdoe", "kchan", "CORP\\JDoe"];

prop_compose! {
    fn stats()(
        desktop in 0_usize..3,
        at in ago(),
        cpu in prop::option::of(-5..130_i32),
        memory in prop::option::of(0..=800_i64),
        reads in prop::option::of(0.0..5000.0_f32),
        user in 0..USERS.len(),
    ) -> StatsRecord {
        StatsRecord {
            update_time: Some(at),
            instance_id: text(&format!("i-{desktop}")),
            compute_type_name: text(COMPUTE_TYPES[desktop]),
            username: text(USERS[user]),
            processor_in_use: cpu,
            physical_memory: memory.map(|_| 800),
            available_physical_memory: memory,
            disk_reads: reads,
            ..StatsRecord::default()
        }
    }
}

/// The value of a metric, in hundredths.
fn value(record: &StatsRecord, metric: Metric) -> Option<i64> {
    let value = match metric {
        Metric::Cpu => f64::from(record.processor_in_use?),
        Metric::Memory => 100.0 * (1.0 - record.available_physical_memory? as f64 / 800.0),
        Metric::DiskReads => f64::from(record.disk_reads?),
        Metric::RootVolume
        | Metric::UserVolume
        | Metric::DiskWrites
        | Metric::NetworkReceived
        | Metric::NetworkSent
        | Metric::Uptime
        | Metric::StartupTotal
        | Metric::HealthScore => return None,
        _ => panic!("{metric:?} is not known here"),
    };
    let is_percentage = matches!(metric, Metric::Cpu | Metric::Memory);
    if is_percentage && !(0.0..=100.0).contains(&value) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is small")]
    Some((value * 100.0).round() as i64)
}

/// The value of the nearest rank.
fn quantile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

fn is_near(value: Option<f64>, exact: Option<i64>) -> bool {
    match (value, exact) {
        (Some(value), Some(exact)) => {
            let exact = exact as f64 / 100.0;
            (value - exact).abs() <= 0.02 * exact.abs()
        }
        (value, exact) => value.is_none() && exact.is_none(),
    }
}

/// Compares the values of a step with those of its records.
fn check_values(values: &MetricValues, records: &[&StatsRecord], has_quantiles: bool) {
    let known = records
        .iter()
        .filter_map(|record| value(record, values.metric));
    let mut known: Vec<i64> = known.collect();
    known.sort_unstable();
    let number = |value: Option<&i64>| value.map(|value| *value as f64 / 100.0);
    assert_eq!(values.min, number(known.first()));
    assert_eq!(values.max, number(known.last()));
    let sum = known.iter().sum::<i64>() as f64;
    let mean = (!known.is_empty()).then(|| sum / known.len() as f64 / 100.0);
    match (values.avg, mean) {
        (Some(avg), Some(mean)) => assert!((avg - mean).abs() <= 0.005_001, "{avg} {mean}"),
        (avg, mean) => assert_eq!(avg, mean),
    }
    if has_quantiles {
        assert!(
            is_near(values.p50, quantile(&known, 50)),
            "{values:?} {known:?}"
        );
        assert!(
            is_near(values.p95, quantile(&known, 95)),
            "{values:?} {known:?}"
        );
    } else {
        assert_eq!((values.p50, values.p95), (None, None));
    }
}

/// Compares a series with the records of which it is.
fn check_series(points: &[SeriesPoint], step: i64, records: &[&StatsRecord], has_quantiles: bool) {
    for point in points {
        let end = point.at.plus_seconds(step);
        let within = records.iter().copied().filter(|record| {
            let at = record.update_time.unwrap();
            at >= point.at && at < end
        });
        let within: Vec<_> = within.collect();
        assert_eq!(point.count, within.len() as u64, "{}", point.at);
        for values in &point.metrics {
            check_values(values, &within, has_quantiles);
        }
    }
    let count: u64 = points.iter().map(|point| point.count).sum();
    assert_eq!(count, records.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn series_of_an_instance_equals_the_recomputation_from_its_records(
        sent in sent(stats(), |record| &mut record.id),
        from in 0..3 * DAY,
        hours in 1..72_i64,
        step in 1..40_000_u64,
    ) {
        let engine = engine();
        let records = post(&engine, &sent);
        let from = now().plus_seconds(-from);
        let to = from.plus_seconds(hours * HOUR);
        let metrics = vec![Metric::DiskReads, Metric::Cpu, Metric::Memory, Metric::Uptime];
        let series = engine.query(&SeriesQuery {
            instance_id: Some("i-1".to_owned()),
            metrics: metrics.clone(),
            from: Some(from),
            to: Some(to),
            step: Some(Duration::from_secs(step)),
            ..SeriesQuery::default()
        }).unwrap();
        let points = &series.points.rows;
        prop_assert!(points.len() <= 500);
        prop_assert!(points[0].at <= from && points[0].at.plus_seconds(series.step_seconds) > from);
        prop_assert!(points.iter().all(|point| point.metrics.iter().map(|values| values.metric).eq(metrics.clone())));
        let of_it = records.iter().filter(|record| {
            let at = record.update_time.unwrap();
            record.instance_id == text("i-1") && at >= from && at < to
        });
        check_series(points, series.step_seconds, &of_it.collect::<Vec<_>>(), false);
        let was_raised = series.step_seconds > i64::try_from(step).unwrap();
        prop_assert_eq!(series.points.warnings.len(), usize::from(was_raised));
    }

    #[test]
    fn series_of_the_fleet_equals_the_recomputation_over_its_instances(
        sent in sent(stats(), |record| &mut record.id),
        step in 1..30_u64,
        filter in 0..4_usize,
    ) {
        let engine = engine();
        let records = post(&engine, &sent);
        engine.file_pending().unwrap();
        let terms = [
            None,
            Some(Term::Is("power".to_owned())),
            Some(Term::In(vec!["VALUE".to_owned(), "STANDARD".to_owned()])),
            Some(Term::Not("VALUE".to_owned())),
        ];
        let wanted: &[&str] = [&COMPUTE_TYPES[..], &["POWER"], &["VALUE", "STANDARD"], &["POWER", "STANDARD"]][filter];
        let series = engine.query(&SeriesQuery {
            from: Some(now().plus_seconds(-4 * DAY)),
            step: Some(Duration::from_secs(step * 3600)),
            filter: GroupFilter { compute_type_name: terms[filter].clone(), ..GroupFilter::default() },
            ..SeriesQuery::default()
        }).unwrap();
        prop_assert_eq!(series.step_seconds, i64::try_from(step).unwrap() * HOUR);
        let of_them = records.iter().filter(|record| {
            wanted.iter().any(|wanted| record.compute_type_name == text(wanted))
        });
        let of_them: Vec<_> = of_them.collect();
        check_series(&series.points.rows, series.step_seconds, &of_them, true);
    }
}

prop_compose! {
    fn startup()(
        desktop in 0_usize..3,
        at in ago(),
        phases in prop::array::uniform3(prop::option::weighted(0.8, 0..60_000_i32)),
        rest in 0..9000_i32,
        has_total in prop::bool::weighted(0.9),
    ) -> StartupRecord {
        let [profile, policy, shell] = phases;
        let total = phases.iter().flatten().sum::<i32>() + rest;
        StartupRecord {
            baseline_utc: Some(at),
            instance_id: text(&format!("i-{desktop}")),
            compute_type_name: text(COMPUTE_TYPES[desktop]),
            username: text("jdoe"),
            profile_ms: profile,
            group_policy_ms: policy,
            shell_ms: shell,
            total_ms: has_total.then_some(total),
            ..StartupRecord::default()
        }
    }
}

/// The phases of a startup, in the order of the columns.
fn phases(record: &StartupRecord) -> [Option<i64>; 5] {
    let [total, profile, policy, shell] = [
        record.total_ms,
        record.profile_ms,
        record.group_policy_ms,
        record.shell_ms,
    ]
    .map(|value| value.map(i64::from));
    let rest = (|| Some(total? - profile? - policy? - shell?))();
    [total, profile, policy, shell, rest]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn startups_equal_the_recomputation_from_their_records(
        sent in sent(startup(), |record| &mut record.id),
        step in 1..50_u64,
    ) {
        let engine = engine();
        let records = post(&engine, &sent);
        engine.file_pending().unwrap();
        let report = engine.query(&StartupQuery {
            step: Some(Duration::from_secs(step * 3600)),
            ..StartupQuery::default()
        }).unwrap();
        for point in &report.points.rows {
            let end = point.at.plus_seconds(report.step_seconds);
            let within = records.iter().filter(|record| {
                let at = record.baseline_utc.unwrap();
                at >= point.at && at < end
            });
            let within: Vec<_> = within.map(phases).collect();
            prop_assert_eq!(point.count, within.len() as u64);
            let all = [point.total, point.profile, point.group_policy, point.shell, point.unattributed];
            for (place, quantiles) in all.into_iter().enumerate() {
                let mut known: Vec<_> = within.iter().filter_map(|phases| phases[place]).collect();
                known.sort_unstable();
                for (value, percent) in [(quantiles.p50, 50), (quantiles.p90, 90), (quantiles.p95, 95), (quantiles.p99, 99)] {
                    let exact = quantile(&known, percent);
                    prop_assert_eq!(value.is_some(), exact.is_some());
                    let off = value.zip(exact).map_or(0, |(value, exact)| (value - exact).abs() * 50 - exact);
                    prop_assert!(off <= 0, "{place} {percent}: {value:?} {exact:?}");
                }
            }
        }
        let count: u64 = report.points.rows.iter().map(|point| point.count).sum();
        prop_assert_eq!(count, records.len() as u64);
        let mut totals: Vec<_> = records.iter().filter_map(|record| record.total_ms.map(i64::from)).collect();
        totals.sort_unstable_by_key(|total| -total);
        totals.truncate(10);
        let slowest: Vec<_> = report.slowest.iter().map(|startup| startup.total_ms).collect();
        prop_assert_eq!(slowest, totals);
    }
}

prop_compose! {
    fn activity()(desktop in 0_usize..3, at in ago(), user in 0..USERS.len()) -> ActivityRecord {
        ActivityRecord {
            activity_time: Some(at),
            instance_id: text(&format!("i-{desktop}")),
            username: text(USERS[user]),
            ..ActivityRecord::default()
        }
    }
}

/// Hours since 0001-01-01, which was a Monday.
fn hour(at: Timestamp) -> i64 {
    at.ticks().div_euclid(10_000_000 * HOUR) - Timestamp::MIN.ticks() / (10_000_000 * HOUR)
}

fn user_of(name: &str) -> String {
    name.trim_start_matches("CORP\\").to_lowercase()
}

/// What was posted of an instance on a day: the hours with their counts, and the users of the day.
type Days = BTreeMap<(String, i64), (BTreeMap<i64, u64>, BTreeSet<String>)>;

fn check_heatmap(engine: &Engine, of: HeatmapOf, days: &Days, offset_minutes: i32) {
    let cells = engine.query(&HeatmapQuery {
        of,
        offset_minutes,
        ..HeatmapQuery::default()
    });
    let cells = cells.unwrap().rows;
    let mut counts = [0; 168];
    let mut users: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); 168];
    for (hours, names) in days.values() {
        for (hour, count) in hours {
            let local = (hour * 60 + i64::from(offset_minutes)).div_euclid(60);
            let cell = usize::try_from(local.rem_euclid(168)).unwrap();
            counts[cell] += count;
            users[cell].extend(names.iter().map(String::as_str));
        }
    }
    assert_eq!(cells.len(), 168);
    for (place, cell) in cells.iter().enumerate() {
        let number = i64::try_from(place).unwrap();
        assert_eq!((cell.weekday, cell.hour), (number / 24 + 1, number % 24));
        assert_eq!(cell.count, counts[place], "{cell:?}");
        assert_eq!(cell.users, users[place].len() as u64, "{cell:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn heatmap_equals_the_recomputation_from_the_records(
        activities in sent(activity(), |record| &mut record.id),
        samples in sent(stats(), |record| &mut record.id),
        offset_minutes in (-14 * 4..=14 * 4).prop_map(|quarters| quarters * 15),
    ) {
        let engine = engine();
        let activities = post(&engine, &activities);
        let samples = post(&engine, &samples);
        engine.file_pending().unwrap();
        let named = |name: &Nullable<String>| match name {
            Nullable::Value(name) => name.clone(),
            Nullable::Absent | Nullable::Null => String::new(),
        };
        let (mut of_activity, mut of_reporting) = (Days::new(), Days::new());
        let mut add = |instance: String, at: Timestamp, user: String, is_activity: bool| {
            let key = (instance, hour(at) / 24);
            for days in [&mut of_activity, &mut of_reporting] {
                let day = days.entry(key.clone()).or_default();
                if !user.is_empty() {
                    day.1.insert(user_of(&user));
                }
            }
            if is_activity {
                *of_activity.entry(key).or_default().0.entry(hour(at)).or_default() += 1;
            } else if !user.is_empty() {
                of_reporting.entry(key).or_default().0.insert(hour(at), 1);
            }
        };
        for record in &activities {
            add(named(&record.instance_id), record.activity_time.unwrap(), named(&record.username), true);
        }
        for record in &samples {
            add(named(&record.instance_id), record.update_time.unwrap(), named(&record.username), false);
        }
        check_heatmap(&engine, HeatmapOf::Activity, &of_activity, offset_minutes);
        check_heatmap(&engine, HeatmapOf::Reporting, &of_reporting, offset_minutes);
    }
}
