//! Twenty-four hours of telemetry: people come in the morning, work, go to lunch and leave.

use deskfleet::{
    ActivityRecord, Nullable, ProcessItem, ProcessReport, Record, StartupRecord, State,
    StatsRecord, Timestamp,
};

use super::desktop::Desktop;
use super::random::Random;

/// Desktops that post statistics.
const WITH_STATS: usize = 60;
/// Desktops that post process reports.
const WITH_PROCESSES: usize = 20;
const DAY_MINUTES: i32 = 24 * 60;
const STATS_EVERY_MINUTES: usize = 5;
const PROCESSES_EVERY_MINUTES: usize = 30;
const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;
const TENANT: &str = "contoso";

/// Every record of the 24 hours from `start`, in no particular order.
pub(super) fn records(desktops: &[Desktop], start: Timestamp, random: &mut Random) -> Vec<Record> {
    let mut records = Vec::new();
    let day = Day { start };
    let live = || desktops.iter().filter(|desktop| is_live(desktop));
    for desktop in live() {
        session(desktop, &day, random, &mut records);
    }
    for desktop in live().take(WITH_STATS) {
        let booted = random.between(1, 20) * DAY_MINUTES;
        for minute in (0..DAY_MINUTES).step_by(STATS_EVERY_MINUTES) {
            let uptime = f64::from((booted + minute) * 60);
            records.push(stats(desktop, &day.at(minute), uptime, random));
        }
    }
    for desktop in live().take(WITH_PROCESSES) {
        for minute in (0..DAY_MINUTES).step_by(PROCESSES_EVERY_MINUTES) {
            let moment = day.at(minute);
            if desktop.in_use(moment.minute_of_day) {
                records.push(processes(desktop, &moment, random));
            }
        }
    }
    records
}

fn is_live(desktop: &Desktop) -> bool {
    [State::Available, State::Unhealthy, State::Impaired]
        .into_iter()
        .any(|state| desktop.is_in(state))
}

/// The 24 hours of the demo.
struct Day {
    start: Timestamp,
}

/// A point in them.
struct Moment {
    time: Timestamp,
    /// In UTC.
    minute_of_day: i32,
}

impl Day {
    /// Minute of the UTC day at which the 24 hours begin.
    fn first_minute(&self) -> i32 {
        let midnight = Timestamp::from_day(self.start.day());
        let ticks = self.start.ticks() - midnight.ticks();
        i32::try_from(ticks / (60 * 10_000_000)).unwrap_or(0)
    }

    /// The moment `minutes` after the start.
    fn at(&self, minutes: i32) -> Moment {
        Moment {
            time: self.start.plus_seconds(i64::from(minutes) * 60),
            minute_of_day: (self.first_minute() + minutes).rem_euclid(DAY_MINUTES),
        }
    }

    /// The one time within the 24 hours at this minute of the UTC day, give or take.
    fn when(&self, minute_of_day: i32, random: &mut Random) -> Timestamp {
        let minutes = (minute_of_day - self.first_minute()).rem_euclid(DAY_MINUTES);
        let seconds = i64::from(minutes) * 60 + i64::from(random.between(0, 59));
        self.start.plus_seconds(seconds)
    }
}

/// The fields that every record shares.
struct Common {
    compute_type_name: Nullable<String>,
    username: Nullable<String>,
    instance_id: Nullable<String>,
}

fn common(desktop: &Desktop) -> Common {
    let nullable = |text: Option<&str>| text.map_or(Nullable::Null, Nullable::from);
    Common {
        compute_type_name: nullable(desktop.workspace.compute_type_name.as_deref()),
        username: nullable(desktop.workspace.username.as_deref()),
        instance_id: desktop.workspace.id.as_str().into(),
    }
}

/// A working day: logon with its startup timings, lunch, and going home one way or the other.
fn session(desktop: &Desktop, day: &Day, random: &mut Random, records: &mut Vec<Record>) {
    let logon = desktop.logon_minute;
    let lunch = logon + random.around(180, 270);
    let end = logon + desktop.stay_minutes;
    let goodbye = random.pick(&["Logoff", "Disconnect", "Disconnect"]);
    let back = lunch + random.around(20, 70);
    for (minute, activity) in [
        (logon, "Logon"),
        (lunch, "Lock"),
        (back, "Unlock"),
        (end, goodbye),
    ] {
        let time = day.when(minute, random);
        if activity == "Logon" {
            records.push(startup(desktop, time, random));
        }
        let shared = common(desktop);
        records.push(Record::Activity(Box::new(ActivityRecord {
            id: None,
            compute_type_name: shared.compute_type_name,
            username: shared.username,
            activity: activity.into(),
            activity_time: Some(time),
            instance_id: shared.instance_id,
            tenant_id: TENANT.into(),
        })));
    }
}

fn startup(desktop: &Desktop, time: Timestamp, random: &mut Random) -> Record {
    let shared = common(desktop);
    let profile_ms = random.around(900, 9_000);
    let group_policy_ms = random.around(1_500, 14_000);
    let shell_ms = random.around(1_200, 6_000);
    Record::Startup(Box::new(StartupRecord {
        id: None,
        compute_type_name: shared.compute_type_name,
        username: shared.username,
        baseline_utc: Some(time),
        profile_ms: Some(profile_ms),
        group_policy_ms: Some(group_policy_ms),
        shell_ms: Some(shell_ms),
        total_ms: Some(profile_ms + group_policy_ms + shell_ms + random.between(100, 900)),
        instance_id: shared.instance_id,
    }))
}

fn stats(desktop: &Desktop, moment: &Moment, uptime: f64, random: &mut Random) -> Record {
    let shared = common(desktop);
    let busy = desktop.in_use(moment.minute_of_day);
    let (load, used_percent, traffic) = if busy {
        (random.around(4, 88), random.around(45, 92), 400)
    } else {
        (random.around(0, 4), random.around(22, 34), 4)
    };
    let physical = i64::from(desktop.memory_gib) * GIB;
    // Agents count memory by pages.
    let in_use = physical / 100 * i64::from(used_percent) / 4096 * 4096;
    let root_free = i64::from(random.around(28_000, 31_000)) * MIB;
    Record::Stats(Box::new(StatsRecord {
        id: None,
        compute_type_name: shared.compute_type_name,
        update_time: Some(moment.time),
        username: if busy {
            shared.username
        } else {
            Nullable::Null
        },
        processor_count: Some(desktop.processors),
        processor_in_use: Some(load),
        physical_memory: Some(physical),
        available_physical_memory: Some(physical - in_use),
        virtual_memory: Some(physical + 2 * GIB),
        available_virtual_memory: Some(physical + 2 * GIB - in_use),
        memory_in_use: Some(in_use),
        root_total: Some(80 * GIB),
        root_available: Some(root_free),
        user_total: Some(50 * GIB),
        user_available: Some(root_free / 2 + 9 * GIB),
        disk_reads: Some(rate(traffic, random)),
        disk_writes: Some(rate(traffic, random)),
        network_received: Some(rate(traffic, random) * 1024.0),
        network_sent: Some(rate(traffic, random) * 256.0),
        uptime: uptime.into(),
        os_version: "10.0.20348".into(),
        tenant_id: TENANT.into(),
        instance_id: shared.instance_id,
    }))
}

/// A rate of up to about `high` a second, in halves.
fn rate(high: i32, random: &mut Random) -> f32 {
    let halves = random.around(0, high.saturating_mul(2));
    f32::from(i16::try_from(halves).unwrap_or(i16::MAX)) / 2.0
}

fn processes(desktop: &Desktop, moment: &Moment, random: &mut Random) -> Record {
    const NAMES: [(&str, i32); 8] = [
        ("msedge.exe", 14),
        ("OUTLOOK.EXE", 1),
        ("ms-teams.exe", 6),
        ("EXCEL.EXE", 2),
        ("explorer.exe", 1),
        ("svchost.exe", 71),
        ("MsMpEng.exe", 1),
        ("acrobat.exe", 2),
    ];
    let shared = common(desktop);
    let items = NAMES.map(|(name, count)| ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: Some(random.decimal(9)),
        memory_usage: Some(f64::from(count) * f64::from(random.between(20, 90)) * 1_048_576.0),
        process_count: Some(i64::from(count)),
        username: desktop.workspace.username.clone(),
    });
    Record::Processes(Box::new(ProcessReport {
        compute_type_name: shared.compute_type_name,
        username: shared.username,
        created_date: Some(moment.time),
        processes: Some(items.into()),
        instance_id: shared.instance_id,
    }))
}
