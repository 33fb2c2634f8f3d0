//! A demo fleet with a working week of telemetry, to look at before anything is connected.
//!
//! Everything depends on one seed and the time of loading. The engine's clock is set back by a week and advanced hour by hour, so
//! that times of receipt, holds and the audit match the records.

mod desktop;
mod random;
mod week;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use deskfleet::{
    Action, ActionRequest, Clock, Engine, ErrorKind, FailedState, Record, Result, State, Timestamp,
};

use self::desktop::Desktop;
use self::random::Random;

/// Desktops in the fleet.
const DESKTOPS: usize = 320;
/// Desktops on litigation hold.
const HOLDS: usize = 3;
/// In seconds.
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
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
    let mut random = Random::new(seed);
    let desktops: Vec<Desktop> = (0..DESKTOPS)
        .map(|number| Desktop::synthetic(number, &mut random))
        .collect();
    let loaded = play(engine, clock, &desktops, &mut random);
    clock.set_behind(0);
    loaded
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
    let workspaces = desktops.iter().map(|desktop| desktop.workspace.clone());
    engine.put_workspaces(workspaces.collect())?;
    for desktop in in_state(desktops, State::Available).take(HOLDS) {
        let reason = Some("Custodian of the 2026 supply contract");
        engine.place_hold(&desktop.workspace.id, "Matter 2026-017", reason)?;
    }

    let mut records = week::records(desktops, end, random);
    records.sort_by_key(Record::sent_time);
    let count = records.len();
    let mut records = records.into_iter().peekable();
    for hour in 1..=WEEK / HOUR {
        let now = start.plus_seconds(hour * HOUR);
        let behind = WEEK - hour * HOUR;
        clock.set_behind(behind);
        let due = std::iter::from_fn(|| records.next_if(|record| record.sent_time() < Some(now)));
        record(engine, &due.collect::<Vec<_>>())?;
        // Some time into the next hour, so that not everything happens at the same minute.
        let later = i64::from(random.between(0, 3000));
        clock.set_behind((behind - later).max(0));
        let hour_of_day = (now.ticks() / (HOUR * 10_000_000)).rem_euclid(24);
        if week::is_workday(now.day()) && (7..18).contains(&hour_of_day) {
            act(engine, desktops, random)?;
        }
        if hour % UPKEEP_HOURS == 0 {
            engine.maintain()?;
        }
    }
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

/// Stores `records` in parts, and files between them if the queue is too short for all.
fn record(engine: &Engine, records: &[Record]) -> Result<()> {
    match engine.record_all(records) {
        Err(error) if error.kind() == ErrorKind::QueueFull => {
            if engine.file_pending()? > 0 {
                return record(engine, records);
            }
            let (first, second) = records.split_at(records.len() / 2);
            if first.is_empty() {
                return Err(error);
            }
            record(engine, first)?;
            record(engine, second)
        }
        done => done.map(drop),
    }
}

fn in_state(desktops: &[Desktop], state: State) -> impl Iterator<Item = &Desktop> {
    desktops.iter().filter(move |desktop| desktop.is_in(state))
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
    (state, action, few): (State, Action, i32),
    random: &mut Random,
) -> Result<Option<u64>> {
    let skip = usize::try_from(random.between(0, few - 1)).unwrap_or(0);
    let Some(desktop) = in_state(desktops, state).nth(skip) else {
        return Ok(None);
    };
    let requester = random.pick(&["svc-desk", "svc-desk", "m.keller", "night-ops"]);
    let asked = engine.act(ActionRequest {
        requester: Some(requester.to_owned()),
        compute_type: (action == Action::ChangeComputeType).then(|| "POWER".to_owned()),
        ..ActionRequest::new(action, desktop.workspace.id.as_str())
    });
    match asked {
        Err(error) if error.kind() == ErrorKind::StorageUnavailable => Err(error),
        asked => Ok(asked.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use deskfleet::{Config, Stream};

    use super::*;

    fn fleet(seed: u64) -> Vec<Desktop> {
        let mut random = Random::new(seed);
        (0..DESKTOPS)
            .map(|number| Desktop::synthetic(number, &mut random))
            .collect()
    }

    /// A Friday afternoon in Europe.
    fn week_end() -> Timestamp {
        "2026-11-20T14:30:00Z".parse().unwrap()
    }

    fn week_of(seed: u64) -> (Vec<Desktop>, Vec<Record>) {
        let desktops = fleet(seed);
        let records = week::records(&desktops, week_end(), &mut Random::new(seed));
        (desktops, records)
    }

    #[test]
    fn the_same_seed_makes_the_same_week() {
        assert!(week_of(1) == week_of(1));
        assert!(week_of(1) != week_of(2));
    }

    #[test]
    fn most_available_desktops_have_every_stream_within_the_week() {
        let (desktops, records) = week_of(7);
        let mut seen = BTreeSet::new();
        for record in &records {
            let time = record.sent_time().unwrap();
            assert!(
                week_end().plus_seconds(-WEEK) <= time && time < week_end(),
                "{time}"
            );
            seen.insert((record.stream(), record.instance_id()));
        }
        let available = in_state(&desktops, State::Available);
        let available: Vec<_> = available.map(|d| d.workspace.id.as_str()).collect();
        for stream in Stream::ALL {
            let has = |id: &&&str| seen.contains(&(stream, **id));
            let count = available.iter().filter(has).count();
            assert!(
                count * 100 > available.len() * 90,
                "{} {count}",
                stream.name()
            );
        }
        assert!(available.len() > DESKTOPS / 2, "{}", available.len());
    }

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

    #[test]
    fn weekend_is_quiet() {
        let (_, records) = week_of(7);
        let on = |day: &str| {
            let day = day.parse::<Timestamp>().unwrap().day();
            let logons = records.iter().filter(|r| r.stream() == Stream::Startup);
            logons
                .filter(|r| r.sent_time().unwrap().day() == day)
                .count()
        };
        let (sunday, tuesday) = (on("2026-11-15"), on("2026-11-17"));
        assert!(0 < sunday && sunday * 5 < tuesday, "{sunday} {tuesday}");
    }

    #[test]
    fn ids_and_names_are_distinct() {
        let desktops = fleet(7);
        let ids: BTreeSet<_> = desktops.iter().map(|d| &d.workspace.id).collect();
        let names: BTreeSet<_> = desktops.iter().map(|d| &d.workspace.username).collect();
        assert_eq!((ids.len(), names.len()), (DESKTOPS, DESKTOPS));
    }
}
