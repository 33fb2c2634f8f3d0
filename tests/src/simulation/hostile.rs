//! Long steps: floods by hostile agents, episodes of a wrong clock, and seasons in which records grow old.

use deskfleet::Stream;
use http::Method;

use super::fact::{Intent, Mark};
use super::fleet::{ABSURD, json, post_path, request};
use super::world::World;

type Step = Result<(), String>;

/// Seconds between two rounds of upkeep in an episode.
const ROUNDS: [i64; 4] = [60, 1200, 3600, 7200];
/// Rounds of an episode after which a clock that is behind is believed.
const LONG_ROUNDS: u32 = 36;
/// Days by which the clock is off in such an episode.
const LONG_DAYS: [i64; 4] = [-60, -400, 25, 60];
/// Items of a large process report.
const ITEMS: [u16; 3] = [40, 200, 700];

impl World {
    /// Records as a hostile agent sends them: nearly alike, all alike, with absurd times, large.
    pub(super) fn flood(&mut self) -> Step {
        self.tally.floods += 1;
        let like = self.mark();
        let count = self.chance.usize(5..30);
        let marks: Vec<Mark> = match self.chance.u32(..4) {
            0 => (0..count).map(|_| self.like(&like)).collect(),
            1 => vec![like; count],
            2 => {
                let absurd = self.chance.choice(ABSURD);
                let sent = absurd.and_then(|time| time.parse().ok());
                let like = Mark { sent, ..like };
                (0..count).map(|_| self.like(&like)).collect()
            }
            _ => {
                let like = Mark {
                    stream: Stream::Processes,
                    items: self.chance.choice(ITEMS).unwrap_or(1),
                    ..like
                };
                (0..3).map(|_| self.like(&like)).collect()
            }
        };
        if self.chance.bool() {
            return self.batch(marks);
        }
        for mark in marks {
            let post = request(Method::POST, post_path(mark.stream), &self.key, json(&mark));
            self.send(Intent::Telemetry(vec![mark]), post)?;
        }
        Ok(())
    }

    /// An episode: the clock is wrong for minutes to days, while agents with correct clocks report, upkeep runs, and
    /// the engine restarts now and then. Then the clock is right again, and the agents send the same records again.
    pub(super) fn episode(&mut self) -> Step {
        self.tally.episodes += 1;
        self.maintain()?;
        let before = self.sent.len();
        let rounds = if self.chance.u32(..6) == 0 {
            let days = self.chance.choice(LONG_DAYS).unwrap_or(LONG_DAYS[0]);
            self.time.go_off(days * 86_400);
            LONG_ROUNDS
        } else {
            self.time.go_wrong(&mut self.chance);
            self.chance.u32(1..8)
        };
        self.clock_moved()?;
        let reopens = self.chance.u32(..3 * rounds);
        for round in 0..rounds {
            if round == reopens {
                if self.chance.bool() {
                    self.crash()?;
                } else {
                    self.restart()?;
                }
            }
            let seconds = self.chance.choice(ROUNDS).unwrap_or(60);
            self.time.elapse(seconds);
            self.clock_moved()?;
            self.telemetry()?;
            if self.chance.u32(..12) == 0 {
                self.retry(before)?;
            }
            self.maintain()?;
        }
        self.time.set_right();
        self.clock_moved()?;
        self.maintain()?;
        self.retry(before)
    }

    /// Sends records again, from number `n` on.
    fn retry(&mut self, from: usize) -> Step {
        let marks = self.sent.iter().skip(from).take(20);
        let marks: Vec<_> = marks.map(|mark| self.again(mark)).collect();
        if marks.is_empty() {
            return Ok(());
        }
        self.batch(marks)
    }

    /// Months pass, with retention; holds are placed and released.
    pub(super) fn season(&mut self) -> Step {
        for _ in 0..self.chance.u32(1..4) {
            self.telemetry()?;
            self.time.set_right();
            let days = self.chance.i64(10..130);
            self.time.elapse(days * 86_400);
            self.clock_moved()?;
            if self.chance.bool() {
                self.hold()?;
            }
            if self.chance.u32(..4) == 0 {
                self.store()?;
            }
            self.retain()?;
        }
        self.repair_and_read()
    }
}
