//! Questions about a fleet of 100, 10 000 and 100 000 desktops, in groups of 16: 30 days of which the last two have 12 samples,
//! and the others one, at another hour of the day for each desktop; a tenth also starts up and is logged on to each day. One more instance has a
//! sample every five minutes.
//!
//! Not a criterion bench, as its fixture takes most of the time. `--desktops 10000` runs one size, and a part of a path only its questions.
//! `export` runs the exports alone, of a million records; `export --records 10000000` takes minutes.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

use std::time::Instant;

use deskfleet::{
    ActivityRecord, ProcessItem, ProcessReport, Record, StartupRecord, StatsRecord, Timestamp,
    Workspace,
};
use deskfleet_benches::{Fixture, exporting, is_measuring, open, workspace};
use http::StatusCode;

const DAYS: i64 = 30;
const DAY_SECONDS: i64 = 86_400;
const GIB: i64 = 1 << 30;
/// Desktops that report their processes, once.
const REPORTING: usize = 30_000;
/// Litigation holds, at most.
const HELD: usize = 500;
/// Runs of each question.
const ROUNDS: usize = 21;

const FLEET: &str = "/query/fleet";

/// What is asked, and the bound in milliseconds for 100 000 desktops, where there is one.
const QUESTIONS: &[(&str, Option<f64>)] = &[
    (FLEET, Some(5.0)),
    ("/query/workspaces?limit=50", Some(150.0)),
    ("/query/workspaces?sort=state&limit=50", Some(150.0)),
    (
        "/query/workspaces?sort=-cpu&state=AVAILABLE&region=in.eu-central-1,us-east-1",
        Some(150.0),
    ),
    ("/query/workspaces?sort=-cpuP95&window=24h", Some(150.0)),
    (
        "/query/workspaces?sort=healthScore&window=24h&limit=500",
        Some(150.0),
    ),
    ("/query/top?metric=cpu&limit=20", Some(150.0)),
    (
        "/query/top?metric=memory&statistic=avg&from=-7d&limit=20",
        None,
    ),
    ("/query/series?instanceId=dense&from=-30d", Some(10.0)),
    ("/query/series?from=-30d&step=1h", Some(50.0)),
    ("/query/startup?from=-30d", None),
    ("/query/heatmap?of=reporting", None),
    ("/query/heatmap?of=activity", None),
    ("/query/heatmap?of=reporting&from=-7d", None),
    ("/query/top?metric=uptime&limit=20", Some(150.0)),
    // A page examines 645 desktops.
    ("/query/advice?limit=500", None),
    ("/query/processes?sort=-cpu", None),
    ("/query/timeline?workSpaceId=ws-000000001", None),
    ("/query/holds", Some(150.0)),
    ("/query/holds?sort=-placedAt&limit=500", Some(150.0)),
];

/// What a console shows of a workspace.
const SHOWN: &str = "workSpId,computerName,username,state,runningMode,computeTypeName,region,onHold,transition,lastSeen,cpu,memory,\
    rootVolume,userVolume,uptimeSeconds";

fn main() {
    if exporting::run() {
        return;
    }
    let sizes = if is_measuring() {
        vec![100, 10_000, 100_000]
    } else {
        vec![3]
    };
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let (mut only, mut part) = (None, None);
    while let Some(argument) = arguments.next() {
        if argument == "--desktops" {
            only = arguments.next().and_then(|count| count.parse().ok());
        } else {
            part = Some(argument);
        }
    }
    for desktops in only.map_or(sizes, |only: usize| vec![only]) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let begun = Instant::now();
        let fixture = open(Some(folder.path()), |config| {
            config.retention_days.stats = 60;
        });
        fill(&fixture, desktops);
        hold(&fixture, desktops);
        let bytes = fixture.engine.store_status().expect("a store").bytes;
        println!(
            "{desktops} desktops: {} MB, made in {:.0} s",
            bytes / 1_000_000,
            begun.elapsed().as_secs_f64()
        );
        for &(path, bound) in QUESTIONS {
            if part
                .as_ref()
                .is_none_or(|part| path.contains(part.as_str()))
            {
                ask(&fixture, path, bound.filter(|_| desktops == 100_000));
            }
        }
        let wants = |name: &str| {
            part.as_ref()
                .is_none_or(|part| name.contains(part.as_str()))
        };
        if wants("workSpId") {
            // The rows on a screen, anywhere in the fleet.
            let ids = (0..50).map(|row| format!("ws-{:09}", row * (desktops / 50)));
            let ids: Vec<_> = ids.collect();
            let path = format!("/query/workspaces?workSpId=in.{}", ids.join(","));
            ask(&fixture, &path, Some(5.0));
        }
        if wants("columns") {
            load(&fixture, desktops);
        }
        if wants(FLEET) {
            after_changes(&fixture, desktops);
        }
    }
}

/// Prints how long it takes to load the fleet as a console does, in pages of columns.
fn load(fixture: &Fixture, desktops: usize) {
    let mut times = Vec::new();
    for _ in 0..if is_measuring() { 5 } else { 1 } {
        let (mut rows, mut bytes, mut pages) = (0, 0, 0);
        let mut path = format!("/query/workspaces?format=columns&limit=5000&fields={SHOWN}");
        let begun = Instant::now();
        loop {
            let response = fixture.engine.handle(fixture.get(&path));
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            let body = std::str::from_utf8(response.body()).expect("JSON");
            bytes += body.len();
            pages += 1;
            let value = |name: &str| {
                let (_, rest) = body.rsplit_once(name)?;
                rest.split(['"', ',']).find(|part| !part.is_empty())
            };
            let count = value("\"count\":").expect("a count");
            rows += count.parse::<usize>().expect("a number");
            let Some(token) = value("\"nextToken\":").filter(|token| *token != "null") else {
                break;
            };
            path = format!(
                "/query/workspaces?format=columns&limit=5000&fields={SHOWN}&nextToken={token}"
            );
        }
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(rows, desktops);
        println!(
            "  columns: {pages} pages, {bytes} bytes, {} a row",
            bytes / rows.max(1)
        );
    }
    times.sort_by(f64::total_cmp);
    let bound = if desktops == 100_000 {
        ", bound 2000 ms"
    } else {
        ""
    };
    println!(
        "  columns: all {:.0} to {:.0} ms{bound}",
        times.first().expect("a round"),
        times.last().expect("a round")
    );
}

/// Counts the fleet after each of some filings, and after each write of a workspace.
fn after_changes(fixture: &Fixture, desktops: usize) {
    let file = &mut |_| {
        fixture.clock.advance_seconds(60);
        let at = fixture.engine.now();
        let records: Vec<_> = (0..desktops.min(10_000)).map(|n| record(n, at)).collect();
        fixture.engine.record_all(&records).expect("records");
        fixture.engine.file_pending().expect("filing");
    };
    let bound = (desktops == 100_000).then_some(5.0);
    ask_after(fixture, FLEET, (" after a filing", file), bound);
    let put = &mut |round| {
        let put = fixture.engine.put_workspace(desktop(round % desktops));
        put.expect("a workspace");
    };
    ask_after(fixture, FLEET, (" after a write of a workspace", put), None);
}

/// Prints how long a question takes.
fn ask(fixture: &Fixture, path: &str, bound: Option<f64>) {
    ask_after(fixture, path, ("", &mut |_| ()), bound);
}

/// The same, each time after something that is not counted.
fn ask_after(
    fixture: &Fixture,
    path: &str,
    (name, before): (&str, &mut dyn FnMut(usize)),
    bound: Option<f64>,
) {
    let rounds = if is_measuring() { ROUNDS } else { 1 };
    let mut times = Vec::new();
    let mut length = 0;
    for round in 0..rounds {
        before(round);
        let request = fixture.get(path);
        let begun = Instant::now();
        let response = fixture.engine.handle(request);
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        length = response.body().len();
    }
    let first = times.first().copied().unwrap_or_default();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).copied();
    let (median, last) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
    let bound = bound.map_or(String::new(), |bound| format!(", bound {bound} ms"));
    println!(
        "  {path:.90}{name}: p50 {median:.2} ms, p99 {last:.2} ms, first {first:.2} ms{bound}, {length} bytes"
    );
}

/// Puts the workspaces, records their samples and files them, day by day.
fn fill(fixture: &Fixture, desktops: usize) {
    let workspaces = (0..desktops).map(desktop).collect();
    fixture
        .engine
        .put_workspaces(workspaces)
        .expect("workspaces");
    let begin = fixture.engine.now();
    for day in 0..DAYS {
        let samples = if day < DAYS - 2 { 1 } else { 12 };
        for sample in 0..samples {
            let at = begin.plus_seconds(day * DAY_SECONDS + sample * (DAY_SECONDS / samples));
            fixture.clock.set(at);
            for first in (0..desktops).step_by(10_000) {
                let records: Vec<_> = (first..desktops.min(first + 10_000))
                    .map(|number| record(number, spread(number, at, samples)))
                    .collect();
                fixture.engine.record_all(&records).expect("records");
            }
        }
        let begin = begin.plus_seconds(day * DAY_SECONDS);
        let others = dense(begin).chain((0..desktops).step_by(10).flat_map(|n| used(n, begin)));
        let others: Vec<_> = others.collect();
        fixture.engine.record_all(&others).expect("records");
        fixture.engine.file_pending().expect("filing");
    }
    let at = fixture.engine.now().plus_seconds(-3600);
    let reports: Vec<_> = (0..desktops.min(REPORTING))
        .map(|number| processes(number, at))
        .collect();
    for reports in reports.chunks(1000) {
        fixture.engine.record_all(reports).expect("reports");
    }
    fixture.engine.file_pending().expect("filing");
}

/// Places holds all over the fleet.
fn hold(fixture: &Fixture, desktops: usize) {
    for number in (0..desktops).step_by(desktops.div_ceil(HELD)) {
        let id = format!("ws-{number:09}");
        let matter = format!("Matter {}", number % 7);
        let placed = fixture.engine.place_hold(&id, &matter, None);
        placed.expect("a workspace");
    }
}

/// When a desktop sends the one of `samples` a day that begins at `at`: the desktops of a group at different hours.
fn spread(number: usize, at: Timestamp, samples: i64) -> Timestamp {
    let hour = i64::try_from(number / 16).unwrap_or_default() % (24 / samples);
    at.plus_seconds(hour * 3600)
}

/// A day of an instance that sends a sample every five minutes.
fn dense(begin: Timestamp) -> impl Iterator<Item = Record> {
    (0..288).map(move |sample| {
        let mut record = record(0, begin.plus_seconds(sample * 300));
        if let Record::Stats(stats) = &mut record {
            stats.instance_id = "dense".into();
        }
        record
    })
}

/// A startup and an activity of a desktop on a day.
fn used(number: usize, begin: Timestamp) -> [Record; 2] {
    let at = spread(number / 10, begin, 1);
    let total = i32::try_from(20_000 + number % 1000 * 50).unwrap_or_default();
    let startup = StartupRecord {
        baseline_utc: Some(at),
        instance_id: format!("ws-{number:09}").into(),
        username: format!("user{number}").into(),
        profile_ms: Some(total / 4),
        group_policy_ms: Some(total / 8),
        shell_ms: Some(total / 2),
        total_ms: Some(total),
        ..StartupRecord::default()
    };
    let activity = ActivityRecord {
        activity_time: Some(at),
        instance_id: format!("ws-{number:09}").into(),
        username: format!("user{number}").into(),
        activity: "Logon".into(),
        ..ActivityRecord::default()
    };
    [startup.into(), activity.into()]
}

/// One of 16 groups.
fn desktop(number: usize) -> Workspace {
    let pick = |texts: [&'static str; 4], by: usize| texts.get(number / by % 4).copied();
    Workspace {
        region: pick(["eu-central-1", "us-east-1", "us-west-2", "ap-south-1"], 1)
            .map(str::to_owned),
        running_mode: pick(["AUTO_STOP", "ALWAYS_ON", "AUTO_STOP", "ALWAYS_ON"], 4).map(Into::into),
        compute_type_name: pick(["STANDARD", "STANDARD", "POWER", "POWER"], 4).map(Into::into),
        ..workspace(number)
    }
}

/// A report of 40 processes.
fn processes(number: usize, at: Timestamp) -> Record {
    let item = |place: usize| ProcessItem {
        process_name: Some(format!("process-{}.exe", place * (1 + number % 3))),
        processor_usage: f64::from(u8::try_from(place).unwrap_or_default()).into(),
        memory_usage: Some(1_048_576.0),
        ..ProcessItem::default()
    };
    Record::from(ProcessReport {
        created_date: Some(at),
        instance_id: format!("ws-{number:09}").into(),
        processes: Some((0..40).map(item).collect()),
        ..ProcessReport::default()
    })
}

/// A sample that differs from instance to instance and from time to time.
fn record(number: usize, at: Timestamp) -> Record {
    let mut bits = number as u64 ^ at.ticks().cast_unsigned();
    let mut below = |below: u64| {
        // SplitMix64.
        bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        i64::try_from((mixed ^ mixed >> 31) % below).unwrap_or_default()
    };
    Record::from(StatsRecord {
        update_time: Some(at),
        username: format!("user{number}").into(),
        processor_in_use: i32::try_from(below(10) * below(11)).ok(),
        physical_memory: Some(8 * GIB),
        available_physical_memory: Some(GIB + below(4 * GIB.unsigned_abs())),
        root_total: Some(80 * GIB),
        root_available: Some(40 * GIB),
        user_total: Some(50 * GIB),
        user_available: Some(25 * GIB),
        network_sent: Some(512.0),
        uptime: 3600.0.into(),
        instance_id: format!("ws-{number:09}").into(),
        ..StatsRecord::default()
    })
}
