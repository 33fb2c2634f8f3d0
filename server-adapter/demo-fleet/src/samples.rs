//! The telemetry of a desktop.

use std::ops::Range;

use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::days::{BOOT, Session};
use super::desktop::{Desktop, Habit};
use super::random::Random;

const DAY: i64 = 86_400;
const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;
const TENANT: &str = "contoso";
/// Marks the random numbers of samples, boots, startups and programs.
const SAMPLES: i64 = 1;
const BOOTS: i64 = 2;
const LOGONS: i64 = 3;
const PROGRAMS: i64 = 4;
/// Name, how many of each run, on how many desktops in a hundred, the most load in percent, and the usual memory of all in MiB.
const PROCESSES: [(&str, i32, i32, i32, i32); 12] = [
    ("msedge.exe", 14, 96, 22, 1100),
    ("OUTLOOK.EXE", 1, 88, 8, 310),
    ("ms-teams.exe", 6, 71, 18, 860),
    ("EXCEL.EXE", 2, 54, 26, 240),
    ("WINWORD.EXE", 1, 37, 9, 180),
    ("explorer.exe", 1, 100, 4, 130),
    ("svchost.exe", 71, 100, 6, 620),
    ("MsMpEng.exe", 1, 100, 31, 210),
    ("acrobat.exe", 2, 29, 12, 190),
    ("SAPgui.exe", 1, 18, 7, 150),
    ("powershell.exe", 1, 12, 35, 90),
    ("zoom.exe", 2, 9, 24, 340),
];

/// How often an agent measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Intervals {
    /// Seconds between two samples.
    pub sample: i64,
    /// Samples between two records of the load while nobody is logged on.
    pub idle: i64,
    /// Samples between two reports of processes.
    pub processes: i64,
}

impl Intervals {
    /// As `deskfleet-agent` measures by default.
    pub const AGENT: Self = Self {
        sample: 300,
        idle: 1,
        processes: 3,
    };
    /// Few enough for a week to be loaded within seconds.
    pub const WEEK: Self = Self {
        sample: 900,
        idle: 4,
        processes: 8,
    };
}

/// A stream of telemetry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// The load.
    Stats,
    /// What the user did.
    Activity,
    /// How long logons took.
    Startup,
    /// What ran.
    Processes,
}

impl Stream {
    /// The member of a batch that has a record of it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stats => "stats",
            Self::Activity => "activity",
            Self::Startup => "startup",
            Self::Processes => "processes",
        }
    }
}

/// A record that an agent sends.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// In seconds since 1970; the record has the same time.
    pub time: i64,
    /// Where it belongs.
    pub stream: Stream,
    /// Its members.
    pub record: Map<String, Value>,
}

impl Sent {
    /// The record alone, as JSON.
    #[must_use]
    pub fn body(&self) -> String {
        serde_json::to_string(&self.record).unwrap_or_default()
    }

    /// The line of a batch.
    #[must_use]
    pub fn line(&self) -> String {
        json!({ self.stream.name(): self.record }).to_string()
    }
}

/// The use of a desktop at a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    None,
    Locked,
    Work,
}

impl Desktop {
    /// What its agent sends of a span of seconds since 1970, oldest first. A desktop that stops by itself is off while nobody is logged on.
    #[must_use]
    pub fn records(&self, span: Range<i64>, intervals: Intervals) -> Vec<Sent> {
        let sessions = self.sessions(&span);
        let mut records = Vec::new();
        for session in &sessions {
            self.add_day(session, &mut records);
        }
        self.add_samples(&sessions, &span, intervals, &mut records);
        records.retain(|sent| span.contains(&sent.time));
        records.sort_by_key(|sent| (sent.time, sent.stream));
        records
    }

    /// A working day: logon with its startup timings, lunch, and going home one way or the other.
    fn add_day(&self, session: &Session, records: &mut Vec<Sent>) {
        let random = &mut Random::for_numbers(self.seed, &[self.number, session.day, LOGONS]);
        let startup = self.startup(random);
        records.push(self.sent(session.logon, Stream::Startup, "baselineUtc", startup));
        let goodbye = random.pick(&["Logoff", "Disconnect", "Disconnect"]);
        for (time, activity) in [
            (session.logon, "Logon"),
            (session.lunch, "Lock"),
            (session.back, "Unlock"),
            (session.end, goodbye),
        ] {
            let record = json!({ "activity": activity, "tenantId": TENANT });
            records.push(self.sent(time, Stream::Activity, "activityTime", record));
        }
    }

    fn add_samples(
        &self,
        sessions: &[Session],
        span: &Range<i64>,
        intervals: Intervals,
        records: &mut Vec<Sent>,
    ) {
        let sample = intervals.sample.max(1);
        let phase =
            i64::from(Random::for_numbers(self.seed, &[self.number, SAMPLES]).between(0, 899))
                .rem_euclid(sample);
        let first = (span.start - phase).div_euclid(sample);
        let last = (span.end - phase).div_euclid(sample);
        let is_always_on = self.is_always_on();
        for number in first..=last {
            let time = number * sample + phase;
            let random = &mut Random::for_numbers(self.seed, &[self.number, time, SAMPLES]);
            let session = sessions
                .iter()
                .find(|session| (session.logon..session.end).contains(&time));
            let Some(session) = session else {
                if is_always_on && number % intervals.idle.max(1) == 0 {
                    let record = self.stats(time - self.booted(time), Use::None, random);
                    records.push(self.sent(time, Stream::Stats, "updatetime", record));
                }
                continue;
            };
            let booted = if is_always_on {
                self.booted(time)
            } else {
                session.logon - BOOT
            };
            let is_away = (session.lunch..session.back).contains(&time);
            let usage = if is_away { Use::Locked } else { Use::Work };
            let record = self.stats(time - booted, usage, random);
            records.push(self.sent(time, Stream::Stats, "updatetime", record));
            if number % intervals.processes.max(1) == 0 {
                let record = self.processes(random);
                records.push(self.sent(time, Stream::Processes, "createdDate", record));
            }
        }
    }

    /// When a desktop that is always on was started: it is restarted every three weeks.
    fn booted(&self, time: i64) -> i64 {
        let phase =
            i64::from(Random::for_numbers(self.seed, &[self.number, BOOTS]).between(0, 20)) * DAY;
        let cycle = 21 * DAY;
        time - (time - phase).rem_euclid(cycle)
    }

    /// A record with its names and its time; a member that is null stays so.
    fn sent(&self, time: i64, stream: Stream, time_name: &str, members: Value) -> Sent {
        let mut record = Map::new();
        record.insert("instanceId".to_owned(), self.id.as_str().into());
        record.insert("username".to_owned(), self.username.as_str().into());
        record.insert("computeTypeName".to_owned(), self.compute_type.into());
        record.insert(time_name.to_owned(), written_time(time).into());
        if let Value::Object(members) = members {
            record.extend(members);
        }
        Sent {
            time,
            stream,
            record,
        }
    }

    /// The timings of a logon; a few are slow, and most on an overloaded desktop.
    fn startup(&self, random: &mut Random) -> Value {
        let slow_percent = 3 + 67 * i32::from(self.habit == Habit::Overloaded);
        let times = 1 + 4 * i32::from(random.between(1, 100) <= slow_percent);
        let profile = random.around(900, 9_000) * times;
        let group_policy = random.around(1_500, 14_000) * times;
        let shell = random.around(1_200, 6_000);
        json!({
            "profileMs": profile,
            "groupPolicyMs": group_policy,
            "shellMs": shell,
            "totalMs": profile + group_policy + shell + random.between(100, 900),
        })
    }

    fn stats(&self, uptime: i64, usage: Use, random: &mut Random) -> Value {
        let (load, used_percent, traffic) = match usage {
            Use::None => (random.around(0, 4), random.around(22, 34), 4),
            // A large one of which half would do.
            Use::Locked | Use::Work if self.habit == Habit::Idle => {
                (random.around(1, 18), random.around(18, 36), 120)
            }
            Use::Locked => (random.around(0, 8), random.around(40, 55), 12),
            Use::Work if self.habit == Habit::Overloaded => {
                (random.around(82, 100), random.around(88, 98), 900)
            }
            Use::Work => (random.around(2, 58), random.around(42, 80), 400),
        };
        let physical = i64::from(self.memory_gib) * GIB;
        // Agents count memory by pages.
        let in_use = physical / 100 * i64::from(used_percent) / 4096 * 4096;
        let root_free = i64::from(random.around(28_000, 31_000)) * MIB;
        let mut record = json!({
            "processorCount": self.processors,
            "processorInUse": load,
            "physicalMemory": physical,
            "availablePhysicalMemory": physical - in_use,
            "virtualMemory": physical + 2 * GIB,
            "availableVirtualMemory": physical + 2 * GIB - in_use,
            "memoryInUse": in_use,
            "rootTotal": 80 * GIB,
            "rootAvailable": root_free,
            "userTotal": 50 * GIB,
            "userAvailable": root_free / 2 + 9 * GIB,
            "diskReads": rate(traffic, random),
            "diskWrites": rate(traffic, random),
            "networkReceived": rate(traffic, random) * 1024.0,
            "networkSent": rate(traffic, random) * 256.0,
            "uptime": uptime,
            "osVersion": "10.0.20348",
            "tenantId": TENANT,
        });
        if let (Use::None, Value::Object(members)) = (usage, &mut record) {
            members.insert("username".to_owned(), Value::Null);
        }
        record
    }

    /// What runs, the same programs on a desktop each time.
    fn processes(&self, random: &mut Random) -> Value {
        let installed = &mut Random::for_numbers(self.seed, &[self.number, PROGRAMS]);
        let runs = PROCESSES.map(|process| installed.between(1, 100) <= process.2);
        let items = PROCESSES.into_iter().zip(runs).filter(|(_, runs)| *runs);
        let items = items.map(|((name, count, _, load, memory), _)| {
            json!({
                "processName": name,
                "processorUsage": random.decimal(load) / f64::from(random.between(1, 6)),
                "memoryUsage": i64::from(random.around(memory * 6 / 10, memory * 14 / 10)) * MIB,
                "processCount": count,
                "username": self.username,
            })
        });
        json!({ "processes": items.collect::<Vec<_>>() })
    }
}

/// A rate of up to about `high` a second, in halves.
fn rate(high: i32, random: &mut Random) -> f32 {
    let halves = random.around(0, high.saturating_mul(2));
    f32::from(i16::try_from(halves).unwrap_or(i16::MAX)) / 2.0
}

fn written_time(seconds: i64) -> String {
    let time = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let (year, month, day) = time.to_calendar_date();
    let (hour, minute, second) = time.to_hms();
    let month = u8::from(month);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Friday, 20 November 2026, 14:30 UTC.
    const END: i64 = 1_795_185_000;

    #[test]
    fn records_of_a_span_are_those_of_its_parts() {
        for number in 0..40 {
            let desktop = Desktop::new(number, 7);
            let start = END - 2 * DAY;
            let whole = desktop.records(start..END, Intervals::AGENT);
            let parts: Vec<Sent> = (0..2 * 24 * 4)
                .flat_map(|quarter| {
                    let start = start + quarter * 900;
                    desktop.records(start..start + 900, Intervals::AGENT)
                })
                .collect();
            assert!(whole == parts, "desktop {number}");
        }
    }

    #[test]
    fn most_available_desktops_send_every_stream_in_a_week() {
        let desktops: Vec<_> = (0..320).map(|number| Desktop::new(number, 7)).collect();
        let available: Vec<_> = desktops
            .iter()
            .filter(|of| of.state == "AVAILABLE")
            .collect();
        assert!(available.len() > 160, "{}", available.len());
        let mut complete = 0;
        for desktop in &available {
            let records = desktop.records(END - 7 * DAY..END, Intervals::WEEK);
            let streams = [
                Stream::Stats,
                Stream::Activity,
                Stream::Startup,
                Stream::Processes,
            ];
            let has = |stream: &Stream| records.iter().any(|sent| sent.stream == *stream);
            complete += usize::from(streams.iter().all(has));
        }
        assert!(
            complete * 100 > available.len() * 90,
            "{complete} of {}",
            available.len()
        );
    }

    #[test]
    fn line_is_a_record_with_the_time_at_which_it_is_sent() {
        let desktop = (0..320)
            .map(|number| Desktop::new(number, 7))
            .find(|of| of.habit == Habit::Normal);
        let records = desktop.unwrap().records(END - DAY..END, Intervals::AGENT);
        let logon = records
            .iter()
            .find(|sent| sent.stream == Stream::Startup)
            .unwrap();
        let line: Value = serde_json::from_str(&logon.line()).unwrap();
        assert_eq!(line["startup"]["baselineUtc"], written_time(logon.time));
        assert_eq!(written_time(END), "2026-11-20T14:30:00Z");
    }
}
