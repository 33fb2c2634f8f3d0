//! Queries on telemetry: a day of one instance, what users did in a day, what is known of a user, paging a history.
//!
//! The data is recorded through the typed API under a manual clock and filed, as in a running fleet; except for rows
//! with a queue. `DESKFLEET_BENCH_LARGE=1` adds a fleet of 100 000 instances.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use deskfleet::{HistoryQuery, Stream};
use deskfleet_benches::samples::{BATCH, STEPS_A_DAY, activity_sample, instance_id, stats_sample};
use deskfleet_benches::{Fixture, is_measuring, open};
use http::StatusCode;
use tempfile::TempDir;

const DAY_SECONDS: i64 = 86_400;
const HOUR_SECONDS: i64 = 3600;

fn fixture() -> (TempDir, Fixture) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let fixture = open(Some(folder.path()), |_| {});
    (folder, fixture)
}

/// Two sizes, two orders of magnitude apart, and a third on demand; small when nothing is measured.
fn fleets() -> Vec<usize> {
    if !is_measuring() {
        return vec![2, 4];
    }
    let large = std::env::var_os("DESKFLEET_BENCH_LARGE").is_some_and(|large| large == "1");
    [100, 10_000]
        .into_iter()
        .chain(large.then_some(100_000))
        .collect()
}

/// Measures a GET over HTTP.
fn get(criterion: &mut Criterion, group: &str, id: BenchmarkId, fixture: &Fixture, path: &str) {
    let answer = fixture.engine.handle(fixture.get(path));
    assert_eq!(answer.status(), StatusCode::OK, "{path}");
    let mut group = criterion.benchmark_group(group);
    group.bench_function(id, |bencher| {
        bencher.iter_batched(
            || fixture.get(path),
            |request| fixture.engine.handle(request),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// The last 24 hours of one instance, 288 samples, out of a fleet; then page by page.
fn day_of_an_instance(criterion: &mut Criterion) {
    for instances in fleets() {
        let (_folder, fixture) = fixture();
        fixture.live(instances, 24);
        let id = instance_id(instances / 2);
        let from = fixture.engine.now().plus_seconds(-DAY_SECONDS);
        let history = |limit, token: Option<&str>| {
            let history = &fixture.engine;
            let page = history.history(&HistoryQuery {
                from: Some(from),
                limit,
                next_token: token.map(str::to_owned),
                ..HistoryQuery::new(Stream::Stats, &id)
            });
            page.expect("a page")
        };
        assert_eq!(history(500, None).records.len(), STEPS_A_DAY);

        let mut group = criterion.benchmark_group("queries/24_hours");
        group.throughput(Throughput::Elements(STEPS_A_DAY as u64));
        group.bench_function(BenchmarkId::new("typed", instances), |bencher| {
            bencher.iter(|| history(500, None));
        });
        group.finish();
        let path = format!("/operator/telemetry/stats?instanceId={id}&from={from}&limit=500");
        let name = BenchmarkId::new("http", instances);
        get(criterion, "queries/24_hours", name, &fixture, &path);

        let middle = history(100, None).next_token.expect("a token");
        let mut group = criterion.benchmark_group("queries/history_page_of_50");
        group.throughput(Throughput::Elements(50));
        group.bench_function(BenchmarkId::new("typed", instances), |bencher| {
            bencher.iter(|| history(50, Some(&middle)));
        });
        group.finish();
        let path = format!(
            "/operator/telemetry/stats?instanceId={id}&from={from}&limit=50&nextToken={middle}"
        );
        let name = BenchmarkId::new("http", instances);
        get(
            criterion,
            "queries/history_page_of_50",
            name,
            &fixture,
            &path,
        );
    }
}

/// Activities of the last day after 30 older days with as many each.
fn activity(criterion: &mut Criterion) {
    let (counts, days) = if is_measuring() {
        ([100, 5000], 31)
    } else {
        ([4, 8], 3)
    };
    for count in counts {
        let (_folder, fixture) = fixture();
        fixture.fill(count);
        for _ in 0..days {
            // One by one over the last hour of the day, so that all of the last day are within 24 hours.
            fixture.clock.advance_seconds(DAY_SECONDS);
            let now = fixture.engine.now();
            fixture.record(
                BATCH,
                (0..count).map(|number| {
                    let ago = i64::try_from(number).unwrap_or(0) % HOUR_SECONDS;
                    activity_sample(number, now.plus_seconds(-ago))
                }),
            );
            fixture.engine.file_pending().expect("records are filed");
        }
        let found = fixture.engine.activity_24_hours().expect("activities");
        assert_eq!(found.len(), count);
        let mut group = criterion.benchmark_group("queries/24_hour_activity");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("typed", count), |bencher| {
            bencher.iter(|| fixture.engine.activity_24_hours());
        });
        group.finish();
        let name = BenchmarkId::new("http", count);
        let path = "/api/Information/Get24HourActivity";
        get(criterion, "queries/24_hour_activity", name, &fixture, path);
    }
}

/// What is known of a user, filed and with a queue.
fn user(criterion: &mut Criterion) {
    let queues = if is_measuring() {
        [0, 100_000]
    } else {
        [0, 10]
    };
    for users in fleets().into_iter().take(2) {
        let (_folder, fixture) = fixture();
        fixture.fill(users);
        fixture.live(users, 1);
        let now = fixture.engine.now();
        fixture.record(BATCH, (0..users).map(|user| activity_sample(user, now)));
        fixture.engine.file_pending().expect("records are filed");
        for queued in queues {
            // As posts would come: of all users in turn, 64 to a commit.
            fixture.record(
                64,
                (0..queued).map(|number| {
                    let time = now.plus_seconds(i64::try_from(number / users).unwrap_or(0) + 1);
                    stats_sample(number % users, time)
                }),
            );
            assert_eq!(fixture.engine.queue_count(), queued as u64);
            let name = format!("user{}", users / 2);
            let found = fixture.engine.user(&name).expect("a user");
            assert!(found.is_some_and(|user| user.last_stats.is_some()));
            let group = format!("queries/user_behind_{queued}");
            let mut typed = criterion.benchmark_group(&group);
            typed.bench_function(BenchmarkId::new("typed", users), |bencher| {
                bencher.iter(|| fixture.engine.user(&name));
            });
            typed.finish();
            let path = format!("/api/Information/GetUserInformation?username={name}");
            get(
                criterion,
                &group,
                BenchmarkId::new("http", users),
                &fixture,
                &path,
            );
        }
    }
}

criterion_group! {
    name = benches;
    // A read of a queue in which every block holds the user takes long; fewer samples are enough.
    config = Criterion::default().sample_size(20);
    targets = day_of_an_instance, activity, user
}
criterion_main!(benches);
