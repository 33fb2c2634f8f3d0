//! A working week of telemetry: people come in the morning, work, go to lunch and leave; the weekend is quiet.

use deskfleet::{
    ActivityRecord, Nullable, ProcessItem, ProcessReport, Record, StartupRecord, StatsRecord,
    Timestamp,
};

use super::desktop::{Desktop, Habit};
use super::random::Random;
use super::{DAY, HOUR, WEEK};

/// Seconds between two samples of an agent.
const LOOK: i64 = HOUR / 4;
/// Samples between two records: of statistics while nobody is logged on, and of processes.
const IDLE_LOOKS: i64 = 4;
const PROCESS_LOOKS: i64 = 8;
const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;
const TENANT: &str = "contoso";

/// Every record of the week before `end`, in no particular order.
pub(super) fn records(desktops: &[Desktop], end: Timestamp, random: &mut Random) -> Vec<Record> {
    let start = end.plus_seconds(-WEEK);
    let mut records = Vec::new();
    for desktop in desktops.iter().filter(|desktop| desktop.reports()) {
        let sessions = sessions(desktop, start, random);
        for session in &sessions {
            activities(desktop, session, random, &mut records);
        }
        looks(desktop, &sessions, start, random, &mut records);
    }
    records.retain(|record| {
        let time = record.sent_time();
        time >= Some(start) && time < Some(end)
    });
    records
}

/// Whether it is a day from Monday to Friday. Day 0 was a Monday.
pub(super) fn is_workday(day: u32) -> bool {
    day % 7 < 5
}

/// One day of a user.
struct Session {
    logon: Timestamp,
    lunch: Timestamp,
    back: Timestamp,
    end: Timestamp,
}

/// The days on which the user comes, those included that begin before `start`.
fn sessions(desktop: &Desktop, start: Timestamp, random: &mut Random) -> Vec<Session> {
    let mut sessions = Vec::new();
    for day in start.day() - 1..=start.day() + 8 {
        let odds = if is_workday(day) { 95 } else { 6 };
        if random.between(1, 100) > odds || desktop.habit == Habit::Unused {
            continue;
        }
        let mut later = |time: Timestamp, low, high| {
            time.plus_seconds(i64::from(random.around(low * 60, high * 60)))
        };
        let minute = desktop.logon_minute;
        let logon = later(Timestamp::from_day(day), minute - 15, minute + 15);
        let lunch = later(logon, 180, 270);
        let back = later(lunch, 20, 70);
        let stay = desktop.stay_minutes;
        let end = later(logon, stay - 30, stay + 30);
        sessions.push(Session {
            logon,
            lunch,
            back,
            end,
        });
    }
    sessions
}

/// The records of an agent that samples every quarter of an hour. A desktop that stops by itself is off while nobody is logged
/// on.
fn looks(
    desktop: &Desktop,
    sessions: &[Session],
    start: Timestamp,
    random: &mut Random,
    records: &mut Vec<Record>,
) {
    let phase = i64::from(random.between(0, 899));
    let booted = start.plus_seconds(-DAY * i64::from(random.between(1, 20)));
    let always_on = desktop.workspace.running_mode.as_deref() == Some("ALWAYS_ON");
    for look in 0..WEEK / LOOK {
        let time = start.plus_seconds(look * LOOK + phase);
        let session = sessions
            .iter()
            .find(|session| session.logon <= time && time < session.end);
        let Some(session) = session else {
            if always_on && look % IDLE_LOOKS == 0 {
                records.push(stats(desktop, time, booted, Use::None, random));
            }
            continue;
        };
        let booted = if always_on {
            booted
        } else {
            session.logon.plus_seconds(-90)
        };
        let away = session.lunch <= time && time < session.back;
        let usage = if away { Use::Locked } else { Use::Work };
        records.push(stats(desktop, time, booted, usage, random));
        if look % PROCESS_LOOKS == 0 {
            records.push(processes(desktop, time, random));
        }
    }
}

/// Compute type, user and instance, as every record has them.
fn names(desktop: &Desktop) -> [Nullable<String>; 3] {
    let workspace = &desktop.workspace;
    [
        workspace.compute_type_name.as_deref(),
        workspace.username.as_deref(),
        Some(workspace.id.as_str()),
    ]
    .map(|text| text.map_or(Nullable::Null, Nullable::from))
}

/// A working day: logon with its startup timings, lunch, and going home one way or the other.
fn activities(
    desktop: &Desktop,
    session: &Session,
    random: &mut Random,
    records: &mut Vec<Record>,
) {
    records.push(startup(desktop, session.logon, random));
    let goodbye = random.pick(&["Logoff", "Disconnect", "Disconnect"]);
    for (time, activity) in [
        (session.logon, "Logon"),
        (session.lunch, "Lock"),
        (session.back, "Unlock"),
        (session.end, goodbye),
    ] {
        let [compute_type_name, username, instance_id] = names(desktop);
        records.push(Record::Activity(Box::new(ActivityRecord {
            id: None,
            compute_type_name,
            username,
            activity: activity.into(),
            activity_time: Some(time),
            instance_id,
            tenant_id: TENANT.into(),
        })));
    }
}

/// The timings of a logon; a few are slow, and most on an overloaded desktop.
fn startup(desktop: &Desktop, time: Timestamp, random: &mut Random) -> Record {
    let [compute_type_name, username, instance_id] = names(desktop);
    let slow_percent = 3 + 67 * i32::from(desktop.habit == Habit::Overloaded);
    let times = 1 + 4 * i32::from(random.between(1, 100) <= slow_percent);
    let profile_ms = random.around(900, 9_000) * times;
    let group_policy_ms = random.around(1_500, 14_000) * times;
    let shell_ms = random.around(1_200, 6_000);
    Record::Startup(Box::new(StartupRecord {
        id: None,
        compute_type_name,
        username,
        baseline_utc: Some(time),
        profile_ms: Some(profile_ms),
        group_policy_ms: Some(group_policy_ms),
        shell_ms: Some(shell_ms),
        total_ms: Some(profile_ms + group_policy_ms + shell_ms + random.between(100, 900)),
        instance_id,
    }))
}

/// The activity of a desktop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    None,
    Locked,
    Work,
}

fn stats(
    desktop: &Desktop,
    time: Timestamp,
    booted: Timestamp,
    usage: Use,
    random: &mut Random,
) -> Record {
    let [compute_type_name, username, instance_id] = names(desktop);
    let (load, used_percent, traffic) = match usage {
        Use::None => (random.around(0, 4), random.around(22, 34), 4),
        Use::Locked => (random.around(0, 8), random.around(40, 55), 12),
        Use::Work if desktop.habit == Habit::Overloaded => {
            (random.around(82, 100), random.around(88, 98), 900)
        }
        Use::Work => (random.around(2, 58), random.around(42, 80), 400),
    };
    let uptime = i32::try_from((time.ticks() - booted.ticks()) / 10_000_000).unwrap_or(0);
    let physical = i64::from(desktop.memory_gib) * GIB;
    // Agents count memory by pages.
    let in_use = physical / 100 * i64::from(used_percent) / 4096 * 4096;
    let root_free = i64::from(random.around(28_000, 31_000)) * MIB;
    Record::Stats(Box::new(StatsRecord {
        id: None,
        compute_type_name,
        update_time: Some(time),
        username: if usage == Use::None {
            Nullable::Null
        } else {
            username
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
        uptime: f64::from(uptime).into(),
        os_version: "10.0.20348".into(),
        tenant_id: TENANT.into(),
        instance_id,
    }))
}

/// A rate of up to about `high` a second, in halves.
fn rate(high: i32, random: &mut Random) -> f32 {
    let halves = random.around(0, high.saturating_mul(2));
    f32::from(i16::try_from(halves).unwrap_or(i16::MAX)) / 2.0
}

fn processes(desktop: &Desktop, time: Timestamp, random: &mut Random) -> Record {
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
    let [compute_type_name, username, instance_id] = names(desktop);
    let items = NAMES.map(|(name, count)| ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: Some(random.decimal(9)),
        memory_usage: Some(f64::from(count) * f64::from(random.between(20, 90)) * 1_048_576.0),
        process_count: Some(i64::from(count)),
        username: desktop.workspace.username.clone(),
    });
    Record::Processes(Box::new(ProcessReport {
        compute_type_name,
        username,
        created_date: Some(time),
        processes: Some(items.into()),
        instance_id,
    }))
}
