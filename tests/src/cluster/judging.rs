//! Whether the nodes of a run hold what the log says.

use std::time::Duration;

use deskfleet::limits::TAKEOVER_SECONDS;
use deskfleet::{Engine, ErrorKind, ManualClock, cluster::Log as _};

use super::digest;
use super::log::{Delivery, FaultyLog, NextAppend};
use super::steps::{Ending, write};
use super::world::{Marked, NODES, Step, World, message};

impl World {
    /// An engine that applies the log alone, up to a position.
    pub(super) fn witness(&self, through: u64, clock: &ManualClock) -> Result<Engine, String> {
        let log = FaultyLog::new(self.log.clone());
        log.show_through(through);
        let builder = Engine::builder().clock(clock.clone()).seed(!self.seed);
        let engine = builder
            .log(log, "witness")
            .open_in_memory()
            .map_err(message)?;
        while engine.position() < Some(through) {
            engine.follow(Duration::ZERO).map_err(message)?;
        }
        self.log.forget("witness").map_err(message)?;
        Ok(engine)
    }

    /// Reads a node where it stands.
    pub(super) fn compare(&mut self, index: usize) -> Step {
        let Some(engine) = self.engine(index) else {
            return Ok(());
        };
        let Some(position) = engine.position().filter(|position| *position > 0) else {
            return Ok(());
        };
        let witness = self.witness(position, &self.nodes[index].clock)?;
        let [found, expected] = [&engine, &witness].map(digest::shared);
        let (found, expected) = (found.map_err(message)?, expected.map_err(message)?);
        self.tally.readings += 1;
        if let Some(difference) = digest::difference(&found, &expected) {
            return Err(format!("node {index} at {position} has {difference}"));
        }
        self.log_line(&format!("{index} reads as the log has it, at {position}"));
        Ok(())
    }

    /// Delivers something else to a node in place of an entry that it has not applied yet. `None` where no node lacks two.
    pub fn deliver_wrongly(&mut self, delivery: impl Fn(u64) -> Delivery) -> Option<u64> {
        let last = self.log.bounds(0).ok()?.last;
        let bodies: Vec<_> = self
            .entries()
            .ok()?
            .into_iter()
            .map(|entry| entry.body)
            .collect();
        let body = |position: u64| bodies.get(usize::try_from(position).ok()?.checked_sub(1)?);
        let mut nodes = self.nodes.iter();
        nodes.find_map(|node| {
            let position = node.engine.as_ref()?.position()?;
            if position == 0 || position + 2 > last {
                return None;
            }
            let wrong = delivery(position + 1);
            // Nothing is wrong with a body that is the same.
            if let Delivery::BodyOf(other) = wrong
                && body(other) == body(position + 1)
            {
                return None;
            }
            node.log.keep_no_chain();
            node.log.deliver(position + 1, wrong);
            Some(position + 1)
        })
    }

    /// Lets the log lose its last entries, noticed or unnoticed, and perhaps get others in their place. Each node that had applied one of
    /// them must give them back or stop, and no other may stop. Returns how many stopped, and how many went on with what was lost.
    ///
    /// # Errors
    /// One did not, or did.
    pub fn lose_tail(&mut self) -> Result<(u64, u64), String> {
        let (mut halted, mut restored) = (0, 0);
        self.repair()?;
        let all = self.entries()?;
        let last = self.log.bounds(0).map_err(message)?.last;
        let kept = last.saturating_sub(self.chance.u64(1..4)).max(1);
        self.log.lose_after(kept);
        let late = Engine::builder().clock(self.log_clock.clone()).seed(1);
        let late = late.log(self.log.clone(), "late").open_in_memory();
        let late = late.map_err(message)?;
        while late.follow(Duration::ZERO).map_err(message)? > 0 {}
        for number in 0..self.chance.u64(0..6) {
            let _ = write(&late, &mut self.chance, &format!("late{number}"));
        }
        for node in &self.nodes {
            let engine = node.engine.as_ref().ok_or("a node is stopped")?;
            let had = engine.position().unwrap_or_default();
            match self.chance.u32(..3) {
                0 => {
                    node.log.partition(true);
                    let _ = engine.follow(Duration::ZERO);
                    node.log.partition(false);
                }
                1 => {
                    let _ = write(engine, &mut self.chance, "own");
                }
                _ => {}
            }
            let ended = engine.follow(Duration::ZERO).map_err(|error| error.kind());
            let entries = self.entries()?;
            let applied = usize::try_from(had).unwrap_or(usize::MAX);
            let has_all = entries.get(..applied) == all.get(..applied);
            let is_right = match ended {
                Err(ErrorKind::Corrupted) => !has_all,
                Ok(_) => has_all,
                Err(_) => false,
            };
            if !is_right {
                return Err(format!("at {had} of a log cut after {kept}: {ended:?}"));
            }
            halted += u64::from(ended.is_err());
            restored += u64::from(ended.is_ok() && had > kept);
        }
        Ok((halted, restored))
    }

    /// All is well again; all follow, file, and hold the same.
    pub(super) fn check_converged(&mut self) -> Step {
        self.repair()?;
        self.follow_all()?;
        // A node whose clock was set right says so within a second.
        self.now = self.now.plus_seconds(2);
        self.set_clocks();
        self.follow_all()?;
        for index in 0..NODES {
            let engine = self.engine(index).ok_or("a node is stopped")?;
            let ended = engine.maintain();
            ended.map_err(|error| format!("node {index} cannot maintain: {error:?}"))?;
            let (what, ending) = write(&engine, &mut self.chance, "the last");
            self.log_line(&format!("the last {what} of {index}: {ending:?}"));
        }
        self.follow_all()?;
        self.compare_all()?;
        self.check_writes()
    }

    /// The log, the clocks and all nodes work.
    pub(super) fn repair(&mut self) -> Step {
        for index in 0..NODES {
            self.nodes[index].skew = 0;
            self.nodes[index].log.partition(false);
            self.nodes[index].log.fail_next(NextAppend::Done);
            if self.nodes[index].engine.is_none() {
                self.open(index)?;
            }
        }
        self.now = self.now.plus_seconds(10);
        self.set_clocks();
        // Nodes that met a takeover wait for the others, or for some time.
        for _ in 0..=TAKEOVER_SECONDS / 2 {
            for engine in self.nodes.iter().filter_map(|node| node.engine.as_ref()) {
                let _ = engine.follow(Duration::ZERO);
            }
            self.now = self.now.plus_seconds(2);
            self.set_clocks();
        }
        Ok(())
    }

    pub(super) fn follow_all(&self) -> Step {
        for (index, node) in self.nodes.iter().enumerate() {
            let engine = node.engine.as_ref().ok_or("a node is stopped")?;
            while engine
                .follow(Duration::ZERO)
                .map_err(|error| format!("node {index} stopped: {error:?}"))?
                > 0
            {}
        }
        Ok(())
    }

    pub(super) fn compare_all(&mut self) -> Step {
        let last = self.log.bounds(0).map_err(message)?.last;
        self.tally.entries = last;
        self.tally.faults = self.nodes.iter().map(|node| node.log.met()).sum();
        let clock = ManualClock::new(self.now);
        let witness = self.witness(last, &clock)?;
        let expected = digest::whole(&witness).map_err(message)?;
        for index in 0..NODES {
            let engine = self.engine(index).ok_or("a node is stopped")?;
            let found = digest::whole(&engine).map_err(message)?;
            if let Some(difference) = digest::difference(&found, &expected) {
                return Err(format!("in the end node {index} has {difference}"));
            }
        }
        self.log_line(&expected);
        if !expected.contains("problems: []") {
            return Err("the check finds problems".to_owned());
        }
        self.compare_chains()
    }

    /// The nodes say that they applied the same entries.
    pub(super) fn compare_chains(&mut self) -> Step {
        self.now = self.now.plus_seconds(2);
        self.set_clocks();
        self.follow_all()?;
        let engine = self.engine(0).ok_or("a node is stopped")?;
        let status = engine.cluster_status().map_err(message)?.ok_or("no node")?;
        let nodes = status
            .nodes
            .iter()
            .filter(|node| node.node.starts_with("node-"));
        let chains: Vec<_> = nodes.map(|node| (node.position, &node.chain)).collect();
        let all_same = chains.windows(2).all(|pair| pair[0] == pair[1]);
        if chains.len() == NODES && all_same {
            return Ok(());
        }
        Err(format!("the chains differ: {chains:?}"))
    }

    /// What was acknowledged is in the log once; what was refused without an audit row is not.
    pub(super) fn check_writes(&self) -> Step {
        for Marked { mark, what, ending } in &self.writes {
            let (_, count) = self.found(mark)?;
            let good = match ending {
                Ending::Done => count == 1,
                Ending::Refused(ErrorKind::StorageUnavailable) => count == 0,
                Ending::Refused(_) | Ending::Nothing => true,
                Ending::Unknown => count <= 1,
            };
            if !good {
                return Err(format!(
                    "{what} {mark} ended as {ending:?}, and is in {count} entries"
                ));
            }
        }
        Ok(())
    }
}
