//! The demo fleet goes on while it is served: its agents send, people come and go, and every twenty minutes something breaks and is
//! repaired.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use deskfleet::{Action, ActionRequest, Engine, Result, State};
use deskfleet_demo_fleet::{Desktop, Intervals, Random, Sent, Stream};

use super::{fleet, follow_users, in_state, record, sent, unix_seconds};

/// Between two moments at which records are stored.
const STEP: Duration = Duration::from_secs(5);
/// From one incident to the next, and when one begins and is acted on, in seconds.
const CYCLE: i64 = 20 * 60;
const BEGINS: i64 = 60;
const REPAIRED: i64 = 6 * 60;
/// Desktops from which the one that breaks is taken; the first ones are on hold.
const CANDIDATES: std::ops::RangeInclusive<i32> = 10..=60;

/// A thread that goes on with a demo fleet; it ends when this is dropped.
#[derive(Debug)]
pub struct LiveDemo {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LiveDemo {
    /// Goes on with the fleet of `seed` in an engine that has it.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn start(engine: Engine, seed: u64) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let mut feed = Feed::new(engine, seed);
        let thread = Builder::new().name("deskfleet-demo".into());
        let thread = thread.spawn(move || {
            while stopped.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                // A full disk passes; a store that is closed ends the process soon.
                let _ = feed.step();
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for LiveDemo {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // If it has panicked, the hook of the process has logged that.
            let _ = thread.join();
        }
    }
}

/// What goes on.
#[derive(Debug)]
struct Feed {
    engine: Engine,
    seed: u64,
    desktops: Vec<Desktop>,
    /// In seconds since 1970: when it began, and until when records are stored.
    start: i64,
    until: i64,
    /// When the desktops were last as their users want them; `None` before the first step, because the store may be of an earlier start.
    followed: Option<i64>,
    incident: Option<Incident>,
}

/// A desktop that is broken.
#[derive(Debug)]
struct Incident {
    cycle: i64,
    workspace_id: String,
    is_acted_on: bool,
}

impl Feed {
    fn new(engine: Engine, seed: u64) -> Self {
        let now = unix_seconds(engine.now());
        Self {
            engine,
            seed,
            desktops: fleet(seed),
            start: now,
            until: now,
            followed: None,
            incident: None,
        }
    }

    /// Stores what has happened since the last step.
    fn step(&mut self) -> Result<()> {
        let now = unix_seconds(self.engine.now());
        let mut records = sent(&self.desktops, &(self.until..now), Intervals::AGENT);
        if let Some(incident) = &self.incident {
            for sent in &mut records {
                overload(sent, &incident.workspace_id);
            }
        }
        record(&self.engine, &records)?;
        follow_users(&self.engine, &self.desktops, self.followed, now)?;
        self.until = self.until.max(now);
        self.followed = Some(self.until);
        self.play_incident(now - self.start)
    }

    /// Begins an incident, has it acted on, and forgets it, by the seconds since the start.
    fn play_incident(&mut self, elapsed: i64) -> Result<()> {
        let (cycle, into) = (elapsed.div_euclid(CYCLE), elapsed.rem_euclid(CYCLE));
        if let Some(incident) = &mut self.incident {
            if into >= REPAIRED && !incident.is_acted_on {
                incident.is_acted_on = true;
                let id = incident.workspace_id.as_str();
                let reboot = ActionRequest {
                    requester: Some("svc-desk".to_owned()),
                    ..ActionRequest::new(Action::Reboot, id)
                };
                self.engine.act(reboot)?;
            }
            if incident.cycle != cycle || incident.is_acted_on {
                self.incident = None;
            }
        } else if (BEGINS..REPAIRED).contains(&into) {
            self.incident = self.break_desktop(cycle)?;
        }
        Ok(())
    }

    /// Makes one of the available desktops unhealthy.
    fn break_desktop(&self, cycle: i64) -> Result<Option<Incident>> {
        let mut random = Random::for_numbers(self.seed, &[cycle]);
        let place =
            usize::try_from(random.between(*CANDIDATES.start(), *CANDIDATES.end())).unwrap_or(0);
        let mut running = in_state(&self.desktops, State::Available)
            .filter(|desktop| desktop.state_at(self.until) == desktop.state);
        let Some(desktop) = running.nth(place) else {
            return Ok(None);
        };
        let Some(mut workspace) = self
            .engine
            .workspace(&desktop.id)?
            .map(|found| found.workspace)
        else {
            return Ok(None);
        };
        // Somebody who tries the demo may have stopped or rebuilt it.
        if workspace.state.as_deref() != Some(State::Available.as_str()) {
            return Ok(None);
        }
        workspace.state = Some(State::Unhealthy.into());
        self.engine.put_workspace(workspace)?;
        Ok(Some(Incident {
            cycle,
            workspace_id: desktop.id.clone(),
            is_acted_on: false,
        }))
    }
}

/// Makes a record of the load of that desktop one of a desktop that responds to nobody.
fn overload(sent: &mut Sent, workspace_id: &str) {
    let is_its = sent
        .record
        .get("instanceId")
        .is_some_and(|id| id == workspace_id);
    if is_its && sent.stream == Stream::Stats {
        sent.record.insert("processorInUse".to_owned(), 100.into());
    }
}

#[cfg(test)]
mod tests {
    use deskfleet::ManualClock;

    use super::super::workspace;
    use super::*;

    const SEED: u64 = 20_261_120;

    #[test]
    fn incident_begins_and_is_resolved_within_twenty_minutes() {
        let (clock, engine, mut feed) = served("2026-11-20T14:30:00Z");
        let unhealthy = || in_state_now(&engine, State::Unhealthy);
        let before = unhealthy();
        let mut most = before;
        let mut records = 0;
        for _ in 0..CYCLE / 5 {
            clock.advance_seconds(5);
            feed.step().unwrap();
            most = most.max(unhealthy());
            records = records.max(engine.queue_count());
        }
        assert_eq!((most, unhealthy()), (before + 1, before));
        assert_eq!(in_state_now(&engine, State::Rebooting), 0);
        // A few hundred desktops run, and send every five minutes.
        assert!(records > 200, "{records}");
        let audit = engine.admin_activity(10).unwrap();
        assert!(format!("{audit:?}").contains("svc-desk"), "{audit:?}");
        engine.close().unwrap();
    }

    #[test]
    fn desktops_stop_when_their_users_have_gone_and_none_is_silent() {
        let (clock, engine, mut feed) = served("2026-11-20T15:00:00Z");
        let mut stopped = Vec::new();
        for _ in 0..10 {
            for _ in 0..12 {
                clock.advance_seconds(300);
                feed.step().unwrap();
            }
            engine.maintain().unwrap();
            stopped.push(in_state_now(&engine, State::Stopped));
            for condition in engine.conditions() {
                assert!(!condition.code.ends_with("Silent"), "{condition:?}");
            }
        }
        assert!(stopped[9] > stopped[0] + 50, "{stopped:?}");
        // One that somebody starts at night runs until the demo is started again.
        let stopped = |id: &str| engine.workspace(id).unwrap().unwrap().workspace.state;
        let desktop = fleet(SEED).into_iter().find(|desktop| {
            desktop.reports() && stopped(&desktop.id).as_deref() == Some("STOPPED")
        });
        let id = desktop.unwrap().id;
        engine
            .act(ActionRequest::new(Action::Start, id.as_str()))
            .unwrap();
        clock.advance_seconds(600);
        engine.maintain().unwrap();
        feed.step().unwrap();
        assert_eq!(stopped(&id).as_deref(), Some("AVAILABLE"));
        Feed::new(engine.clone(), SEED).step().unwrap();
        assert_eq!(stopped(&id).as_deref(), Some("STOPPED"));
        engine.close().unwrap();
    }

    /// The fleet as it is at a time, and what goes on with it.
    fn served(time: &str) -> (ManualClock, Engine, Feed) {
        let clock = ManualClock::new(time.parse().unwrap());
        let engine = Engine::builder().clock(clock.clone()).seed(1);
        let engine = engine.open_in_memory().unwrap();
        let now = unix_seconds(engine.now());
        let workspaces = fleet(SEED);
        let workspaces = workspaces.iter().map(|desktop| workspace(desktop, now));
        engine.put_workspaces(workspaces.collect()).unwrap();
        let feed = Feed::new(engine.clone(), SEED);
        (clock, engine, feed)
    }

    fn in_state_now(engine: &Engine, state: State) -> usize {
        let ids = fleet(SEED).into_iter().map(|desktop| desktop.id);
        let views = ids.filter_map(|id| engine.workspace(&id).unwrap());
        views
            .filter(|view| view.workspace.state.as_deref() == Some(state.as_str()))
            .count()
    }
}
