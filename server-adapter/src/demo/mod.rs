//! A demo fleet with a working week of telemetry, to look at before anything is connected, which goes on while it is served.
//!
//! Everything depends on one seed and the time. The engine's clock is set back by a week and advanced hour by hour, so
//! that times of receipt, holds and the audit match the records.

mod live;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use deskfleet::{
    Action, ActionRequest, Clock, Engine, EngineError, ErrorKind, FailedState, Result, State,
    Stream, Timestamp, Workspace,
};
use deskfleet_demo_fleet::{Desktop, Intervals, Random, Sent, is_workday};

pub use self::live::LiveDemo;

/// Desktops in the fleet.
const DESKTOPS: usize = 320;
/// Desktops on litigation hold.
const HOLDS: usize = 3;
/// In seconds.
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// Of a timestamp, in a second.
const TICKS: i64 = 10_000_000;
/// The length of the history.
const WEEK: i64 = 7 * DAY;
/// Hours from one filing of records to the next.
const UPKEEP_HOURS: i64 = 12;

/// The real time, or earlier while a week is played. Clones share their time.
#[derive(Debug, Clone, Default)]
pub struct DemoClock {
    behind_seconds: Arc<AtomicI64>,
}

impl DemoClock {
    fn set_behind(&self, seconds: i64) {
        self.behind_seconds.store(seconds, Ordering::SeqCst);
    }
}

impl Clock for DemoClock {
    fn now(&self) -> Timestamp {
        let behind = self.behind_seconds.load(Ordering::SeqCst);
        Timestamp::from(SystemTime::now()).plus_seconds(-behind)
    }
}

/// The counts of what was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Workspaces.
    pub workspaces: usize,
    /// Telemetry records.
    pub records: usize,
}

/// Loads the fleet of `seed` and its last seven days into an empty engine, which must have been given `clock`.
///
/// # Errors
///
/// When the store cannot be written.
pub fn load(engine: &Engine, clock: &DemoClock, seed: u64) -> Result<Loaded> {
    let desktops = fleet(seed);
    let loaded = play(engine, clock, &desktops, &mut Random::new(seed));
    clock.set_behind(0);
    loaded
}

/// Whether the store has the fleet of `seed`, as an earlier start has loaded it.
///
/// # Errors
///
/// When the store cannot be read.
pub fn has_fleet(engine: &Engine, seed: u64) -> Result<bool> {
    let desktop = Desktop::new(0, seed);
    let found = engine.workspace(&desktop.id)?;
    Ok(found.is_some_and(|found| found.workspace.computer_name == Some(desktop.computer_name)))
}

fn fleet(seed: u64) -> Vec<Desktop> {
    (0..DESKTOPS)
        .map(|number| Desktop::new(number, seed))
        .collect()
}

/// As the inventory has it at a moment, in seconds since 1970.
fn workspace(desktop: &Desktop, time: i64) -> Workspace {
    Workspace {
        id: desktop.id.clone(),
        computer_name: Some(desktop.computer_name.clone()),
        account: Some(desktop.account.to_owned()),
        region: Some(desktop.region.to_owned()),
        directory_id: Some(desktop.directory_id.to_owned()),
        running_mode: Some(desktop.running_mode.into()),
        compute_type_name: Some(desktop.compute_type.into()),
        protocol: Some(desktop.protocol.into()),
        username: Some(desktop.username.clone()),
        state: Some(desktop.state_at(time).into()),
    }
}

fn unix_seconds(time: Timestamp) -> i64 {
    (time.ticks() - Timestamp::from_unix_seconds(0).ticks()).div_euclid(TICKS)
}

/// What the agents of `desktops` send of a span of seconds since 1970, oldest first.
fn sent(desktops: &[Desktop], span: &std::ops::Range<i64>, intervals: Intervals) -> Vec<Sent> {
    let reporting = desktops.iter().filter(|desktop| desktop.reports());
    let mut records: Vec<_> = reporting
        .flat_map(|desktop| desktop.records(span.clone(), intervals))
        .collect();
    records.sort_by_key(|sent| sent.time);
    records
}

fn play(
    engine: &Engine,
    clock: &DemoClock,
    desktops: &[Desktop],
    random: &mut Random,
) -> Result<Loaded> {
    let end = engine.now();
    let start = end.plus_seconds(-WEEK);
    clock.set_behind(WEEK);
    let first = unix_seconds(start);
    let workspaces = desktops.iter().map(|desktop| workspace(desktop, first));
    engine.put_workspaces(workspaces.collect())?;
    for desktop in in_state(desktops, State::Available).take(HOLDS) {
        let reason = Some("Custodian of the 2026 supply contract");
        engine.place_hold(&desktop.id, "Matter 2026-017", reason)?;
    }

    let mut count = 0;
    for hour in 1..=WEEK / HOUR {
        let behind = WEEK - hour * HOUR;
        clock.set_behind(behind);
        let seconds = first + hour * HOUR;
        // Whether a desktop is silent is seen by its last quarter of an hour.
        let intervals = if hour == WEEK / HOUR {
            Intervals::AGENT
        } else {
            Intervals::WEEK
        };
        let records = sent(desktops, &(seconds - HOUR..seconds), intervals);
        count += records.len();
        record(engine, &records)?;
        follow_users(engine, desktops, Some(seconds - HOUR), seconds)?;
        // Some time into the next hour, so that not everything happens at the same minute.
        let later = i64::from(random.between(0, 3000));
        clock.set_behind((behind - later).max(0));
        let hour_of_day = seconds.div_euclid(HOUR).rem_euclid(24);
        if is_workday(seconds.div_euclid(DAY)) && (7..18).contains(&hour_of_day) {
            act(engine, desktops, random)?;
        }
        if hour % UPKEEP_HOURS == 0 {
            engine.maintain()?;
        }
    }
    // Those that an action kept from it when their users came or went.
    follow_users(engine, desktops, None, unix_seconds(end))?;
    // These are still running when the week has been played.
    for action in [
        (State::Available, Action::ChangeComputeType, 40),
        (State::Available, Action::Reboot, 40),
        (State::Error, Action::Rebuild, 4),
    ] {
        attempt(engine, desktops, action, random)?;
    }
    Ok(Loaded {
        workspaces: desktops.len(),
        records: count,
    })
}

/// Starts the desktops whose users have come since `before`, or are there if that is not known, and stops those whose users have gone. One
/// in another state stays: somebody has acted on it.
fn follow_users(
    engine: &Engine,
    desktops: &[Desktop],
    before: Option<i64>,
    now: i64,
) -> Result<()> {
    let mut changed = Vec::new();
    for desktop in desktops.iter().filter(|desktop| desktop.reports()) {
        let is_on = desktop.is_on(now);
        if before.is_some_and(|before| desktop.is_on(before) == is_on) {
            continue;
        }
        let Some(found) = engine.workspace(&desktop.id)? else {
            continue;
        };
        let (from, to) = if is_on {
            (State::Stopped, State::Available)
        } else {
            (State::Available, State::Stopped)
        };
        if found.workspace.state.as_deref() == Some(from.as_str()) {
            changed.push(Workspace {
                state: Some(to.into()),
                ..found.workspace
            });
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    engine.put_workspaces(changed).map(drop)
}

/// Stores what was sent.
fn record(engine: &Engine, records: &[Sent]) -> Result<()> {
    let bodies: Vec<_> = records
        .iter()
        .map(|sent| (stream(sent), sent.body()))
        .collect();
    record_bodies(engine, &bodies)
}

fn stream(sent: &Sent) -> Stream {
    match sent.stream {
        deskfleet_demo_fleet::Stream::Stats => Stream::Stats,
        deskfleet_demo_fleet::Stream::Activity => Stream::Activity,
        deskfleet_demo_fleet::Stream::Startup => Stream::Startup,
        deskfleet_demo_fleet::Stream::Processes => Stream::Processes,
    }
}

/// Stores records in parts, and files between them if the queue is too short for all.
fn record_bodies(engine: &Engine, bodies: &[(Stream, String)]) -> Result<()> {
    let mut batch = engine.batch();
    for (stream, body) in bodies {
        batch.push_json(*stream, body.as_bytes())?;
    }
    match engine.record_batch(batch).map_err(EngineError::from) {
        Err(error) if error.kind() == ErrorKind::QueueFull => {
            if engine.file_pending()? > 0 {
                return record_bodies(engine, bodies);
            }
            let (first, second) = bodies.split_at(bodies.len() / 2);
            if first.is_empty() {
                return Err(error);
            }
            record_bodies(engine, first)?;
            record_bodies(engine, second)
        }
        done => done,
    }
}

/// Those that begin in a state.
fn in_state(desktops: &[Desktop], state: State) -> impl Iterator<Item = &Desktop> {
    desktops
        .iter()
        .filter(move |desktop| desktop.state == state.as_str())
}

/// The calls of the help desk in one hour; one in twelve fails.
fn act(engine: &Engine, desktops: &[Desktop], random: &mut Random) -> Result<()> {
    // The last number: how many desktops it may be. They are few, so that the others stay as they are.
    let action = random.pick(&[
        (State::Available, Action::Reboot, 40),
        (State::Available, Action::Reboot, 40),
        (State::Available, Action::ChangeComputeType, 40),
        (State::Error, Action::RecoveryReboot, 3),
        (State::Impaired, Action::Restore, 1),
        (State::Stopped, Action::Start, 4),
        (State::Stopped, Action::Start, 4),
        (State::Unhealthy, Action::Reboot, 3),
        // Refused: not from this state, and under a hold.
        (State::Suspended, Action::Reboot, 1),
        (State::Available, Action::Terminate, 1),
    ]);
    let running = attempt(engine, desktops, action, random)?;
    if let Some(id) = running.filter(|_| random.between(1, 12) == 1) {
        let detail = Some("The host did not respond.");
        engine.fail_action(id, FailedState::Unhealthy, detail)?;
    }
    Ok(())
}

/// Requests an action; the rules may refuse it. Returns the number of a running action.
fn attempt(
    engine: &Engine,
    desktops: &[Desktop],
    (state, action, few): (State, Action, usize),
    random: &mut Random,
) -> Result<Option<u64>> {
    let now = unix_seconds(engine.now());
    let few: Vec<_> = in_state(desktops, state)
        .take(few)
        .filter(|desktop| desktop.state_at(now) == desktop.state)
        .collect();
    let last = i32::try_from(few.len()).unwrap_or(i32::MAX) - 1;
    let place = usize::try_from(random.between(0, last)).unwrap_or(0);
    let Some(desktop) = few.get(place) else {
        return Ok(None);
    };
    let requester = random.pick(&["svc-desk", "svc-desk", "m.keller", "night-ops"]);
    let asked = engine.act(ActionRequest {
        requester: Some(requester.to_owned()),
        compute_type: (action == Action::ChangeComputeType).then(|| "POWER".to_owned()),
        ..ActionRequest::new(action, desktop.id.as_str())
    });
    match asked {
        Err(error) if error.kind() == ErrorKind::StorageUnavailable => Err(error),
        asked => Ok(asked.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use deskfleet::Config;

    use super::*;

    #[test]
    fn short_queue_takes_the_week_too() {
        let mut config = Config::default();
        config.limits.queue_records = 100;
        let clock = DemoClock::default();
        let builder = Engine::builder().config(config).random(getrandom::fill);
        let engine = builder.clock(clock.clone()).open_in_memory().unwrap();
        let loaded = load(&engine, &clock, 7).unwrap();
        assert_eq!(loaded.workspaces, DESKTOPS);
        assert!(loaded.records > 100);
        engine.close().unwrap();
    }
}
