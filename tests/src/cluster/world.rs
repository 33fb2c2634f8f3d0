//! The fleet of a run: its nodes, their disks, their clocks and the log.

use std::fmt::Write as _;
use std::time::Duration;

use deskfleet::{
    Engine, ErrorKind, ManualClock, Timestamp,
    cluster::{Log as _, LogEntry, MemoryLog},
};
use fastrand::Rng;

use super::log::FaultyLog;
use super::steps::{Ending, plain_write, write};
use crate::files::Files as _;
use crate::simulation::disk::Disk;

pub(super) const NODES: usize = 3;

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What happened, a line each, and what all nodes hold in the end.
    pub transcript: String,
    /// Counts of what happened.
    pub tally: Tally,
}

/// Counts of what happened in runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Writes that succeeded.
    pub done: u64,
    /// Writes refused because of what is stored.
    pub refused: u64,
    /// Writes refused because the log or the clock was wrong.
    pub unavailable: u64,
    /// Writes whose end is unknown.
    pub unknown: u64,
    /// Faults of the log that nodes met.
    pub faults: u64,
    /// Power cuts.
    pub cuts: u64,
    /// Power cuts after which a node applied entries again.
    pub again: u64,
    /// Nodes that stopped and returned.
    pub restarts: u64,
    /// Nodes that joined with the backup of another.
    pub joined: u64,
    /// Takeovers of the log.
    pub takeovers: u64,
    /// Entries that were restored after one.
    pub restored: u64,
    /// Jumps of a clock.
    pub jumps: u64,
    /// Readings of a node at its position, compared with the witness.
    pub readings: u64,
    /// Entries of the log.
    pub entries: u64,
    /// Requests with a key that may have been used on another node.
    pub asked: u64,
}

impl Tally {
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.done += other.done;
        self.refused += other.refused;
        self.unavailable += other.unavailable;
        self.unknown += other.unknown;
        self.faults += other.faults;
        self.cuts += other.cuts;
        self.again += other.again;
        self.restarts += other.restarts;
        self.joined += other.joined;
        self.takeovers += other.takeovers;
        self.restored += other.restored;
        self.jumps += other.jumps;
        self.readings += other.readings;
        self.entries += other.entries;
        self.asked += other.asked;
    }
}

/// A node of the fleet.
#[derive(Debug)]
pub(super) struct Node {
    /// `None` while it is stopped.
    pub(super) engine: Option<Engine>,
    /// Where it stood when it was opened: it can restore what it applied since.
    pub(super) opened_at: u64,
    pub(super) disk: Disk,
    pub(super) clock: ManualClock,
    /// Ticks by which its clock is wrong.
    pub(super) skew: i64,
    pub(super) log: FaultyLog,
}

/// A write with a text of its own, and how it ended.
#[derive(Debug)]
pub(super) struct Marked {
    pub(super) mark: String,
    pub(super) what: &'static str,
    pub(super) ending: Ending,
}

/// A run.
#[derive(Debug)]
pub struct World {
    pub(super) seed: u64,
    pub(super) chance: Rng,
    pub(super) now: Timestamp,
    pub(super) log_clock: ManualClock,
    pub(super) log: MemoryLog,
    pub(super) nodes: Vec<Node>,
    pub(super) opened: u64,
    pub(super) writes: Vec<Marked>,
    /// The secrets of keys.
    pub(super) keys: Vec<String>,
    pub(super) transcript: String,
    pub(super) tally: Tally,
}

pub(super) type Step = Result<(), String>;

pub(super) fn message(error: impl std::fmt::Debug) -> String {
    format!("{error:?}")
}

impl World {
    /// Three nodes that share an empty log.
    ///
    /// # Errors
    /// Those of a run.
    pub fn new(seed: u64) -> Result<Self, String> {
        let now: Timestamp = "2026-11-20T08:00:00Z".parse().map_err(message)?;
        let log_clock = ManualClock::new(now);
        let log = MemoryLog::new(log_clock.clone());
        let node = |_| Node {
            engine: None,
            opened_at: 0,
            disk: Disk::default(),
            clock: ManualClock::new(now),
            skew: 0,
            log: FaultyLog::new(log.clone()),
        };
        let mut world = Self {
            seed,
            chance: Rng::with_seed(seed),
            now,
            log_clock,
            nodes: (0..NODES).map(node).collect(),
            log,
            opened: 0,
            writes: Vec::new(),
            keys: Vec::new(),
            transcript: String::new(),
            tally: Tally::default(),
        };
        for index in 0..NODES {
            if seed % 2 == 1 {
                world.nodes[index].log.keep_no_chain();
            }
            world.open(index)?;
        }
        Ok(world)
    }

    pub(super) fn log_line(&mut self, text: &str) {
        let _ = writeln!(self.transcript, "{text}");
    }

    pub(super) fn open(&mut self, index: usize) -> Step {
        self.opened += 1;
        let node = &mut self.nodes[index];
        let builder = Engine::builder()
            .clock(node.clock.clone())
            .seed(self.seed ^ (self.opened << 32))
            .log(node.log.clone(), format!("node-{index}"));
        let engine = builder.open_backend(node.disk.backend());
        let engine = engine.map_err(|error| format!("node {index} does not open: {error:?}"))?;
        node.opened_at = engine.position().unwrap_or_default();
        node.engine = Some(engine);
        Ok(())
    }

    /// Lives through the steps.
    ///
    /// # Errors
    /// Which promise was broken and how.
    pub fn act(&mut self) -> Step {
        let steps = self.chance.u32(40..80);
        for _ in 0..steps {
            self.step().map_err(|broken| self.broken(&broken))?;
        }
        Ok(())
    }

    /// Compares all nodes.
    ///
    /// # Errors
    /// Which promise was broken and how.
    pub fn finish(mut self) -> Result<Outcome, String> {
        self.check_converged()
            .map_err(|broken| self.broken(&broken))?;
        Ok(Outcome {
            transcript: self.transcript,
            tally: self.tally,
        })
    }

    fn broken(&self, broken: &str) -> String {
        let lines: Vec<_> = self.transcript.lines().collect();
        let last = lines[lines.len().saturating_sub(30)..].join("\n");
        format!("{broken}\nafter:\n{last}")
    }

    fn step(&mut self) -> Step {
        let index = self.chance.usize(..NODES);
        match self.chance.u32(..100) {
            0..45 => self.write(index),
            45..51 => {
                self.plain_write(index);
                Ok(())
            }
            51..53 => self.use_key(index),
            53..70 => self.follow(index),
            70..76 => {
                self.upkeep(index);
                Ok(())
            }
            76..82 => {
                self.advance();
                Ok(())
            }
            82..89 => {
                self.disturb(index);
                Ok(())
            }
            89..92 => self.compare(index),
            92..95 => self.stop_or_start(index),
            95..97 => self.cut_power(index),
            97 => self.take_over(),
            _ => self.join(index),
        }
    }

    pub(super) fn engine(&self, index: usize) -> Option<Engine> {
        self.nodes[index].engine.clone()
    }

    pub(super) fn write(&mut self, index: usize) -> Step {
        let Some(engine) = self.engine(index) else {
            return Ok(());
        };
        let mark = format!("mark{:06}", self.writes.len());
        let (what, ending) = write(&engine, &mut self.chance, &mark);
        self.log_line(&format!("{mark} {what} through {index}: {ending:?}"));
        self.count(ending);
        if ending == Ending::Done {
            let position = engine.position().unwrap_or_default();
            let last = self.log.bounds(0).map_err(message)?.last;
            let (found, _) = self.found(&mark)?;
            if found.is_none_or(|found| found > position) {
                return Err(format!(
                    "{mark} was acknowledged at {position} of {last}, and is at {found:?}"
                ));
            }
        }
        self.writes.push(Marked { mark, what, ending });
        Ok(())
    }

    fn plain_write(&mut self, index: usize) {
        let Some(engine) = self.engine(index) else {
            return;
        };
        let (what, ending) = plain_write(&engine, &mut self.chance);
        self.count(ending);
        self.log_line(&format!("{what} through {index}: {ending:?}"));
    }

    fn count(&mut self, ending: Ending) {
        let count = match ending {
            Ending::Done => &mut self.tally.done,
            Ending::Refused(ErrorKind::StorageUnavailable) => &mut self.tally.unavailable,
            Ending::Refused(_) => &mut self.tally.refused,
            Ending::Unknown => &mut self.tally.unknown,
            Ending::Nothing => return,
        };
        *count += 1;
    }

    /// All entries of the log.
    pub(super) fn entries(&self) -> Result<Vec<LogEntry>, String> {
        self.log
            .read(1, usize::MAX, Duration::ZERO)
            .map_err(message)
    }

    /// The first entry that holds a text, and how many do.
    pub(super) fn found(&self, mark: &str) -> Result<(Option<u64>, usize), String> {
        let entries = self.entries()?;
        let holds = |entry: &&LogEntry| {
            let mut windows = entry.body.windows(mark.len());
            windows.any(|window| window == mark.as_bytes())
        };
        let holding: Vec<_> = entries.iter().filter(holds).collect();
        Ok((holding.first().map(|entry| entry.position), holding.len()))
    }
}
