//! A demo fleet with a day of telemetry, to look at before anything is connected.
//!
//! Everything follows from one seed and from the time of loading. The engine's clock is set back by a day and led forward
//! hour by hour while the day is played, so that times of receipt, holds and the audit are as believable as the records.

mod day;
mod desktop;
mod random;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use deskfleet::{Action, ActionRequest, Clock, Engine, ErrorKind, Result, State, Timestamp};

use self::desktop::Desktop;
use self::random::Random;

/// Desktops in the fleet.
const DESKTOPS: usize = 320;
/// Desktops on litigation hold.
const HOLDS: usize = 3;
/// Hours of history.
const HOURS: i64 = 24;
const HOUR: i64 = 3600;
/// Telemetry records in one commit.
const RECORDS_AT_ONCE: usize = 4096;

/// The real time, or earlier while a day is played. Clones share their time.
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

/// What was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Workspaces.
    pub workspaces: usize,
    /// Telemetry records.
    pub records: usize,
}

/// Loads the fleet of `seed` and its last 24 hours into an empty engine, which must have been given `clock`.
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
    let start = engine.now().plus_seconds(-HOURS * HOUR);
    clock.set_behind(HOURS * HOUR);
    let workspaces = desktops.iter().map(|desktop| desktop.workspace.clone());
    engine.put_workspaces(workspaces.collect())?;

    let mut records = day::records(desktops, start, random);
    records.sort_by_key(deskfleet::Record::sent_time);
    let count = records.len();
    let mut records = records.into_iter().peekable();
    for hour in 1..=HOURS {
        let behind = (HOURS - hour) * HOUR;
        clock.set_behind(behind);
        let end = start.plus_seconds(hour * HOUR);
        loop {
            let due = std::iter::from_fn(|| records.next_if(|r| r.sent_time() < Some(end)));
            let batch: Vec<_> = due.take(RECORDS_AT_ONCE).collect();
            if batch.is_empty() {
                break;
            }
            engine.record_all(&batch)?;
        }
        // Some time into the next hour, so that not everything happens at the same minute.
        let later = i64::from(random.between(0, 3000));
        clock.set_behind((behind - later).max(0));
        act(engine, desktops, hour, random)?;
        engine.maintain()?;
    }
    Ok(Loaded {
        workspaces: desktops.len(),
        records: count,
    })
}

/// What the desk did in one hour. The last hour's actions are still running when the day has been played.
fn act(engine: &Engine, desktops: &[Desktop], hour: i64, random: &mut Random) -> Result<()> {
    let mut next = |state: State, action: Action| {
        let mut matching = desktops.iter().filter(|desktop| desktop.is_in(state));
        let skip = usize::try_from(random.between(0, 7)).unwrap_or(0);
        match matching.nth(skip) {
            Some(desktop) => attempt(engine, desktop, action),
            None => Ok(()),
        }
    };
    match hour {
        2 => hold(engine, desktops)?,
        // Refused or accepted, each is a row of the audit.
        5 | 13 => next(State::Unhealthy, Action::Reboot)?,
        7..=9 => next(State::Stopped, Action::Start)?,
        11 => next(State::Error, Action::RecoveryReboot)?,
        15 => next(State::Impaired, Action::Restore)?,
        18 => next(State::Stopped, Action::Reboot)?,
        20 => next(State::Available, Action::ChangeComputeType)?,
        HOURS => {
            next(State::Error, Action::Rebuild)?;
            next(State::Available, Action::ChangeComputeType)?;
            next(State::Available, Action::Reboot)?;
            for desktop in desktops.iter().take(1) {
                attempt(engine, desktop, Action::Terminate)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn hold(engine: &Engine, desktops: &[Desktop]) -> Result<()> {
    for desktop in desktops.iter().take(HOLDS) {
        let reason = Some("Custodian of the 2026 supply contract");
        engine.place_hold(&desktop.workspace.id, "Matter 2026-017", reason)?;
    }
    Ok(())
}

/// Asks for an action; a refusal by the rules is part of the story.
fn attempt(engine: &Engine, desktop: &Desktop, action: Action) -> Result<()> {
    let asked = engine.act(ActionRequest {
        action,
        workspace_id: Some(desktop.workspace.id.clone()),
        sam_account: None,
        requester: Some("svc-desk".to_owned()),
        compute_type: (action == Action::ChangeComputeType).then(|| "POWER".to_owned()),
    });
    match asked {
        Err(error) if !is_rule(error.kind()) => Err(error),
        _ => Ok(()),
    }
}

fn is_rule(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidResourceState
            | ErrorKind::OperationInProgress
            | ErrorKind::LitigationHold
            | ErrorKind::UnsupportedConfiguration
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(seed: u64) -> Vec<Desktop> {
        let mut random = Random::new(seed);
        (0..DESKTOPS)
            .map(|number| Desktop::synthetic(number, &mut random))
            .collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_day() {
        let start: Timestamp = "2026-11-20T10:30:00Z".parse().unwrap();
        let day = |seed| {
            let desktops = fleet(seed);
            let records = day::records(&desktops, start, &mut Random::new(seed));
            (desktops, records)
        };
        assert!(day(1) == day(1));
        assert!(day(1) != day(2));
    }

    #[test]
    fn the_day_lies_within_24_hours_and_has_every_stream() {
        let start: Timestamp = "2026-11-20T10:30:00Z".parse().unwrap();
        let end = start.plus_seconds(HOURS * HOUR);
        let records = day::records(&fleet(7), start, &mut Random::new(7));
        for record in &records {
            let time = record.sent_time().unwrap();
            assert!(start <= time && time < end, "{time}");
        }
        for stream in deskfleet::Stream::ALL {
            let count = records.iter().filter(|r| r.stream() == stream).count();
            assert!(count > 100, "{} {count}", stream.name());
        }
    }

    #[test]
    fn ids_and_names_are_distinct() {
        let desktops = fleet(7);
        let ids: std::collections::BTreeSet<_> = desktops.iter().map(|d| &d.workspace.id).collect();
        let names: std::collections::BTreeSet<_> =
            desktops.iter().map(|d| &d.workspace.username).collect();
        assert_eq!((ids.len(), names.len()), (DESKTOPS, DESKTOPS));
    }
}
