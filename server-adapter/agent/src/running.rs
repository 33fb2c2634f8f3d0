//! The agent: it measures at its moments, keeps what it has measured, and sends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use super::delivery::{Attempt, Delivery};
use super::log_line;
use super::machine::{self, Machine, ProcessTable};
use super::records::{
    ActivityRecord, INSTANCE_MAX, Names, Record, StartupRecord, shortened, written_time,
};
use super::schedule;
use super::server::Target;
use super::sessions::{self, Sessions, Source};
use super::settings::Settings;
use super::spool::Spool;

/// The longest time between two lists of the sessions, and the least accuracy of activities.
const SESSIONS_EVERY: Duration = Duration::from_secs(15);
/// Within this time of its start an agent sends its first record of the load.
pub(crate) const FIRST_WITHIN: Duration = Duration::from_secs(30);
/// The time that the first figures of a single run cover.
const ONCE_COVERS: Duration = Duration::from_secs(1);
/// An agent that starts later after the boot was not started by it.
const BOOT_MAX: Duration = Duration::from_secs(15 * 60);
/// By how many seconds the time of a boot may change when the clock is corrected after it.
const BOOT_TOLERANCE: u64 = 60;
/// What is known of the sessions, and the boot that was reported.
const SESSIONS: &str = "sessions";
const BOOT: &str = "boot";

/// Who sends, and what is common to all records.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    names: Names,
    tenant: Option<String>,
}

impl Identity {
    /// # Errors
    /// One sentence, where the machine has no name.
    pub(crate) fn new(settings: &Settings) -> Result<Self, String> {
        let computer = || machine::computer_name().map(|name| shortened(&name, INSTANCE_MAX));
        let instance = settings.instance.clone().or_else(computer);
        let instance_id =
            instance.ok_or("this computer has no name: name the desktop with --instance")?;
        Ok(Self {
            names: Names {
                instance_id,
                compute_type_name: settings.compute_type.clone(),
                username: None,
            },
            tenant: settings.tenant.clone(),
        })
    }

    pub(crate) fn activity(&self, user: Option<&str>, activity: &str, time: SystemTime) -> Record {
        Record::Activity(ActivityRecord {
            names: self.names.with_user(user),
            activity: activity.to_owned(),
            activity_time: written_time(time),
            tenant_id: self.tenant.clone(),
        })
    }

    pub(crate) fn startup(
        &self,
        user: Option<&str>,
        begun: SystemTime,
        durations: &StartupRecord,
    ) -> Record {
        Record::Startup(StartupRecord {
            names: self.names.with_user(user),
            baseline_utc: written_time(begun),
            ..durations.clone()
        })
    }
}

/// The folder of the spool.
pub(crate) fn spool_folder(settings: &Settings) -> PathBuf {
    let of_systemd = || std::env::var_os("STATE_DIRECTORY").map(PathBuf::from);
    let folder = settings.spool.clone().or_else(of_systemd);
    folder.unwrap_or_else(|| PathBuf::from("deskfleet-agent.spool"))
}

/// Everything that is measured.
struct Collector {
    identity: Identity,
    machine: Machine,
    processes: ProcessTable,
    source: Source,
    sessions: Sessions,
}

impl Collector {
    fn new(identity: Identity) -> Self {
        Self {
            identity,
            machine: Machine::new(),
            processes: ProcessTable::new(),
            source: Source::of_this_machine(),
            sessions: Sessions::new(),
        }
    }

    /// Lists the sessions; returns what has changed about them.
    fn changes(&mut self, now: SystemTime) -> Vec<Record> {
        let Some(sessions) = self.source.list() else {
            return Vec::new();
        };
        let changes = sessions::changes(&self.sessions, &sessions, now);
        self.sessions = sessions;
        let record = |change: &sessions::Change| {
            self.identity
                .activity(Some(&change.user), change.activity, change.time)
        };
        changes.iter().map(record).collect()
    }

    fn stats(&mut self, now: SystemTime) -> Record {
        let names = self
            .identity
            .names
            .with_user(sessions::user(&self.sessions));
        let tenant = self.identity.tenant.as_deref();
        Record::Stats(Box::new(self.machine.measure(names, now, tenant)))
    }

    fn processes(&mut self, now: SystemTime) -> Record {
        let names = self
            .identity
            .names
            .with_user(sessions::user(&self.sessions));
        Record::Processes(self.processes.measure(names, now))
    }
}

/// Runs until the process is killed, which it may be at any moment.
///
/// # Errors
/// One sentence: it cannot start.
pub(crate) fn run(settings: &Settings, target: Target) -> Result<(), String> {
    let folder = spool_folder(settings);
    let mut spool =
        Spool::open(&folder, settings.spool_bytes).map_err(|error| error.to_string())?;
    let mut collector = Collector::new(Identity::new(settings)?);
    let url = target.url.clone();
    let mut delivery = Delivery::new(target).map_err(|error| error.to_string())?;
    let instance = collector.identity.names.instance_id.clone();
    log_line::say(&format!(
        "deskfleet-agent {}: sending to {url} as {instance}; {} in the spool {}; sessions from {}",
        env!("CARGO_PKG_VERSION"),
        log_line::records(spool.count()),
        folder.display(),
        collector.source.name()
    ));
    collector.sessions = kept_sessions(&folder);
    let start = SystemTime::now();
    if let Some(record) = boot(&folder, &collector.identity, start) {
        spool.push(record.line());
    }
    let moment = |every| schedule::phase(&instance, every);
    let (stats_every, processes_every) = (settings.stats_every, settings.processes_every);
    // The first figures cover two seconds at least.
    let first = start + Duration::from_secs(2) + moment(FIRST_WITHIN);
    let (mut stats_due, mut processes_due) = (first, first);
    let mut is_first_sent = false;
    loop {
        let now = SystemTime::now();
        let changed = collector.changes(now);
        if !changed.is_empty() {
            for record in &changed {
                spool.push(record.line());
            }
            keep_sessions(&folder, &collector.sessions);
        }
        if is_due(now, stats_due, stats_every) {
            spool.push(collector.stats(now).line());
            stats_due = schedule::next(now, stats_every, moment(stats_every));
        }
        if is_due(now, processes_due, processes_every) {
            spool.push(collector.processes(now).line());
            processes_due = schedule::next(now, processes_every, moment(processes_every));
        }
        if let Attempt::Sent(count) = delivery.attempt(&mut spool, SystemTime::now)
            && !is_first_sent
        {
            is_first_sent = true;
            log_line::say(&format!(
                "the server has the first {}",
                log_line::records(count)
            ));
        }
        let now = SystemTime::now();
        let until = |due: SystemTime| due.duration_since(now).unwrap_or_default();
        let send = delivery.next().saturating_duration_since(Instant::now());
        let wait = SESSIONS_EVERY
            .min(until(stats_due))
            .min(until(processes_due));
        let wait = if spool.is_empty() {
            wait
        } else {
            wait.min(send)
        };
        sleep(wait.max(Duration::from_millis(50)));
    }
}

/// Whether a moment has come, or is so far away that the clock was set back.
fn is_due(now: SystemTime, due: SystemTime, every: Duration) -> bool {
    due.duration_since(now)
        .is_ok_and(|wait| wait > every + FIRST_WITHIN)
        || now >= due
}

/// The record of a boot that was not reported yet: the time until this agent was started.
fn boot(folder: &Path, identity: &Identity, now: SystemTime) -> Option<Record> {
    let booted = machine::boot_time();
    let total = now
        .duration_since(booted)
        .ok()
        .filter(|total| *total < BOOT_MAX)?;
    let file = folder.join(BOOT);
    let seconds = booted
        .duration_since(SystemTime::UNIX_EPOCH)
        .ok()?
        .as_secs();
    let reported = fs::read_to_string(&file)
        .ok()
        .and_then(|text| text.parse().ok());
    if reported.is_some_and(|reported: u64| reported.abs_diff(seconds) <= BOOT_TOLERANCE) {
        return None;
    }
    // If that fails, the next start within the bound reports it again.
    let _ = fs::write(file, seconds.to_string());
    let durations = StartupRecord {
        total_ms: i32::try_from(total.as_millis()).ok(),
        ..StartupRecord::default()
    };
    Some(identity.startup(None, booted, &durations))
}

/// Keeps the sessions for the next start, which otherwise reports their logons again.
fn keep_sessions(folder: &Path, sessions: &Sessions) {
    let (file, part) = (folder.join(SESSIONS), folder.join("sessions.part"));
    // If that fails, the server ignores a logon that is reported again with the same time.
    let _ = fs::write(&part, sessions::to_text(sessions)).and_then(|()| fs::rename(part, file));
}

fn kept_sessions(folder: &Path) -> Sessions {
    sessions::from_text(&fs::read_to_string(folder.join(SESSIONS)).unwrap_or_default())
}

/// The records of one moment.
///
/// # Errors
/// One sentence, where the machine has no name.
pub(crate) fn measure_once(settings: &Settings) -> Result<Vec<Record>, String> {
    let mut collector = Collector::new(Identity::new(settings)?);
    collector.sessions = kept_sessions(&spool_folder(settings));
    sleep(ONCE_COVERS);
    let now = SystemTime::now();
    let mut records = collector.changes(now);
    records.push(collector.stats(now));
    records.push(collector.processes(now));
    Ok(records)
}

/// Measures once, and sends that and all pending records.
///
/// # Errors
/// One sentence: it cannot start, or not everything was sent.
pub(crate) fn run_once(settings: &Settings, target: Target) -> Result<(), String> {
    let folder = spool_folder(settings);
    let mut spool =
        Spool::open(&folder, settings.spool_bytes).map_err(|error| error.to_string())?;
    let mut delivery = Delivery::new(target).map_err(|error| error.to_string())?;
    for record in measure_once(settings)? {
        spool.push(record.line());
    }
    let mut sent = 0;
    loop {
        match delivery.attempt(&mut spool, SystemTime::now) {
            Attempt::Sent(count) => sent += count,
            Attempt::Early => sleep(delivery.next().saturating_duration_since(Instant::now())),
            Attempt::Idle => {
                log_line::say(&format!("the server has {}", log_line::records(sent)));
                return Ok(());
            }
            Attempt::Failed => {
                return Err("not everything was sent; the next run sends the rest".to_owned());
            }
        }
    }
}
