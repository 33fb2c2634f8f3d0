//! `deskfleet-agent swarm`: many synthetic agents in one process, which send to a server as real ones do, for sizing it.
//!
//! They differ from real ones in three ways: what they measure is synthetic, their spools are in memory, and at most `--connections` of them
//! send at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};

use deskfleet_demo_fleet::{Desktop, Intervals};

use super::delivery::{Attempt, Delivery};
use super::log_line;
use super::running::FIRST_WITHIN;
use super::schedule;
use super::server::{Connection, Target};
use super::settings::Settings;
use super::spool::Spool;

/// All swarms are of the fleet that the demo of the server shows.
const SEED: u64 = 20_261_120;
/// Between two looks of an agent at its clock.
const STEP: Duration = Duration::from_secs(15);
/// After the end, until everything is sent.
const DRAIN_MAX: Duration = Duration::from_secs(600);
const DAY: i64 = 86_400;
/// The stack of a thread that sends, with TLS.
const STACK_BYTES: usize = 512 << 10;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Swarm {
    pub(crate) agents: usize,
    pub(crate) minutes: u32,
    /// Days that the agents were offline before.
    pub(crate) backlog_days: u32,
    pub(crate) connections: usize,
}

/// The desktops of a swarm. Each runs all the time, so the load does not depend on the time of the day.
fn desktops(count: usize) -> impl Iterator<Item = Desktop> {
    let all = (0..).map(|number| Desktop::new(number, SEED));
    let running = all.filter(Desktop::reports).map(|mut desktop| {
        desktop.running_mode = "ALWAYS_ON";
        desktop
    });
    running.take(count)
}

/// Writes the inventory of a swarm to standard output, as an import reads it.
///
/// # Errors
/// One sentence, where nobody reads it.
pub(crate) fn print_inventory(agents: usize) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    let mut write = |desktop: Desktop| writeln!(out, "{}", desktop.inventory());
    let written = desktops(agents).try_for_each(&mut write);
    written.map_err(|error| format!("cannot write to standard output: {error}"))
}

/// One agent.
struct Member {
    desktop: Desktop,
    spool: Spool,
    delivery: Delivery,
    /// In seconds since 1970: what was measured before is in the spool, or was sent.
    measured: i64,
    is_new: bool,
}

#[derive(Default)]
struct Counts {
    collected: AtomicUsize,
    accepted: AtomicUsize,
    failed: AtomicUsize,
    finished: AtomicUsize,
}

impl Counts {
    fn text(&self) -> String {
        let [collected, accepted, failed] = [&self.collected, &self.accepted, &self.failed]
            .map(|count| count.load(Ordering::Relaxed));
        format!(
            "{collected} records measured, {accepted} accepted by the server, {failed} requests failed"
        )
    }
}

/// The agents, by the moment at which each is due.
struct Running {
    members: Vec<Mutex<Member>>,
    due: Mutex<BinaryHeap<Reverse<(Instant, usize)>>>,
    counts: Counts,
    end: Instant,
}

/// Runs a swarm.
///
/// # Errors
/// One sentence: it cannot start, or not everything was accepted in the end.
pub(crate) fn run(settings: &Settings, target: &Target, swarm: Swarm) -> Result<(), String> {
    let connection = Connection::new(target).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let running = Running::new(settings, &connection, swarm, start);
    log_line::say(&format!(
        "{} agents send to {} for {} minutes, at most {} at once",
        swarm.agents, target.url, swarm.minutes, swarm.connections
    ));
    thread::scope(|scope| {
        for _ in 0..swarm.connections.min(swarm.agents) {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder
                .spawn_scoped(scope, || running.work())
                .map_err(|error| {
                    format!("cannot start a thread: {error}; ask for fewer --connections")
                })?;
        }
        let mut minute = 0;
        while running.counts.finished.load(Ordering::Relaxed) < swarm.agents {
            sleep(Duration::from_millis(200));
            if start.elapsed().as_secs() / 60 > minute {
                minute += 1;
                log_line::say(&format!("{minute} min: {}", running.counts.text()));
            }
        }
        Ok::<(), String>(())
    })?;
    log_line::say(&running.counts.text());
    let counts = &running.counts;
    if counts.accepted.load(Ordering::Relaxed) == counts.collected.load(Ordering::Relaxed) {
        Ok(())
    } else {
        Err("the server has not accepted every record".to_owned())
    }
}

impl Running {
    fn new(settings: &Settings, connection: &Connection, swarm: Swarm, start: Instant) -> Self {
        let backlog = DAY * i64::from(swarm.backlog_days);
        // A real agent sends its first record soon after its start, whatever its phase is.
        let measured = unix_now() - backlog.max(Intervals::AGENT.sample);
        let member = |desktop| Member {
            desktop,
            spool: Spool::in_memory(settings.spool_bytes),
            delivery: Delivery::of_swarm(connection.clone()),
            measured,
            is_new: true,
        };
        let members: Vec<_> = desktops(swarm.agents)
            .map(|desktop| Mutex::new(member(desktop)))
            .collect();
        let due = members.iter().enumerate().map(|(index, member)| {
            let phase = schedule::phase(&locked(member).desktop.id, FIRST_WITHIN);
            Reverse((start + phase, index))
        });
        Self {
            due: Mutex::new(due.collect()),
            members,
            counts: Counts::default(),
            end: start + Duration::from_secs(60 * u64::from(swarm.minutes)),
        }
    }

    /// Runs one agent after the other, each when it is due.
    fn work(&self) {
        while let Some((due, index)) = self.next() {
            sleep(due.saturating_duration_since(Instant::now()));
            let next = self
                .members
                .get(index)
                .and_then(|member| self.step(&mut locked(member)));
            match next {
                Some(next) => locked(&self.due).push(Reverse((next, index))),
                None => {
                    self.counts.finished.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    fn next(&self) -> Option<(Instant, usize)> {
        locked(&self.due).pop().map(|Reverse(next)| next)
    }

    /// Measures and sends; returns when this agent is due again.
    fn step(&self, member: &mut Member) -> Option<Instant> {
        let begun = Instant::now();
        // A swarm of no minutes sends its backlog alone.
        if begun < self.end || member.is_new {
            member.is_new = false;
            let now = unix_now();
            for sent in member
                .desktop
                .records(member.measured..now, Intervals::AGENT)
            {
                member.spool.push(sent.line());
                self.counts.collected.fetch_add(1, Ordering::Relaxed);
            }
            member.measured = now;
        }
        match member.delivery.attempt(&mut member.spool, SystemTime::now) {
            Attempt::Sent(count) => {
                self.counts.accepted.fetch_add(count, Ordering::Relaxed);
            }
            Attempt::Failed => {
                self.counts.failed.fetch_add(1, Ordering::Relaxed);
            }
            Attempt::Idle | Attempt::Early => {}
        }
        let is_empty = member.spool.is_empty();
        if begun >= self.end && (is_empty || begun > self.end + DRAIN_MAX) {
            return None;
        }
        let next = begun + STEP;
        Some(if is_empty {
            next
        } else {
            next.min(member.delivery.next())
        })
    }
}

fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_secs()).unwrap_or(i64::MAX)
}

/// What a thread that has panicked leaves is used on: the counts then say that records are missing.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
