//! What happens to the nodes of a run, and to the log.

use std::time::Duration;

use bytes::Bytes;
use deskfleet::cluster::Log as _;
use deskfleet::{ErrorKind, NewKey, Scope, Timestamp};
use http::Request;

use super::log::NextAppend;
use super::world::{NODES, Step, World, message};
use crate::files::Files as _;
use crate::simulation::disk::Disk;
use crate::simulation::fault::Fault;
use crate::simulation::fault_schedule::cut;

impl World {
    /// A client uses its key, or gets one.
    pub(super) fn use_key(&mut self, index: usize) -> Step {
        let Some(engine) = self.engine(index) else {
            return Ok(());
        };
        let Some(key) = self.chance.choice(&self.keys).cloned() else {
            let issued = engine.issue_key(NewKey::new("a client", [Scope::Read, Scope::Admin]));
            self.keys.extend(issued.map(|issued| issued.secret));
            return Ok(());
        };
        let request = Request::get("/operator/keys")
            .header("x-api-key", key)
            .body(Bytes::new());
        let status = engine.handle(request.map_err(message)?).status();
        self.tally.asked += 1;
        self.log_line(&format!("a key is used on {index}: {status}"));
        Ok(())
    }

    pub(super) fn follow(&mut self, index: usize) -> Step {
        let Some(engine) = self.engine(index) else {
            return Ok(());
        };
        let ended = engine.follow(Duration::ZERO);
        self.log_line(&format!(
            "{index} follows: {:?}",
            ended.as_ref().map_err(deskfleet::EngineError::kind)
        ));
        match ended {
            Err(error) if error.kind() != ErrorKind::StorageUnavailable => {
                Err(format!("node {index} stopped: {error:?}"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn upkeep(&mut self, index: usize) {
        let Some(engine) = self.engine(index) else {
            return;
        };
        let ended = match self.chance.u32(..5) {
            0 | 1 => engine.maintain(),
            2 | 3 => engine.file_pending().map(drop),
            _ => engine.apply_retention(),
        };
        self.log_line(&format!(
            "upkeep of {index}: {:?}",
            ended.map_err(|error| error.kind())
        ));
    }

    /// Time passes.
    pub(super) fn advance(&mut self) {
        let seconds = match self.chance.u32(..12) {
            0..6 => self.chance.i64(1..4),
            6..10 => self.chance.i64(4..900),
            10 => self.chance.i64(900..90_000),
            _ => self.chance.i64(1..40) * 86_400,
        };
        self.now = self.now.plus_seconds(seconds);
        self.set_clocks();
        self.log_line(&format!("{seconds} s pass"));
    }

    pub(super) fn set_clocks(&self) {
        self.log_clock.set(self.now);
        for node in &self.nodes {
            let ticks = self.now.ticks() + node.skew;
            node.clock.set(Timestamp::from_ticks(ticks));
        }
    }

    /// Something goes wrong with the log, or with a clock.
    pub(super) fn disturb(&mut self, index: usize) {
        let way = self.chance.u32(..9);
        let log = &self.nodes[index].log;
        match way {
            0 => log.fail_next(NextAppend::Refused),
            1 => log.fail_next(NextAppend::AnswerLost),
            2 => log.fail_next(NextAppend::ConnectionLost),
            3 => log.fail_next(NextAppend::RequestLost),
            4 => log.partition(true),
            5 | 6 => self.nodes.iter().for_each(|node| node.log.partition(false)),
            7 => {
                // Until time passes.
                let back = self.now.plus_seconds(-self.chance.i64(1..6));
                self.log_clock.set(back);
                self.tally.jumps += 1;
            }
            _ => {
                let second = 10_000_000;
                let wrong = self.chance.u32(..3) == 0;
                let most = if wrong { 20 * second } else { second };
                self.nodes[index].skew = self.chance.i64(-most..=most);
                self.set_clocks();
                self.tally.jumps += 1;
            }
        }
        self.log_line(&format!("disturbance {way} of {index}"));
    }

    /// Another server of the log takes over, which may lack entries that a node can restore. Others may meet it first.
    pub(super) fn take_over(&mut self) -> Step {
        let position = |index: &usize| self.engine(*index)?.position();
        let Some(most) = (0..NODES).max_by_key(position) else {
            return Ok(());
        };
        let Some(engine) = self.engine(most) else {
            return Ok(());
        };
        let last = self.log.bounds(0).map_err(message)?.last;
        // What no node restores is lost, acknowledged or not.
        let first = if engine.position() == Some(last) {
            self.nodes[most].opened_at.max(last.saturating_sub(5))
        } else {
            last
        };
        let kept = self.chance.u64(first.max(1)..=last.max(1)).min(last);
        let before = self.entries()?;
        self.log.take_over_after(kept);
        self.tally.takeovers += 1;
        self.log_line(&format!(
            "another server has the log up to {kept} of {last}"
        ));
        for index in 0..NODES {
            match self.chance.u32(..3) {
                0 if index != most => self.follow(index)?,
                1 if index != most => self.write(index)?,
                _ => {}
            }
        }
        // The first of its calls may fail.
        for _ in 0..4 {
            self.nodes[most].log.partition(false);
            self.now = self.now.plus_seconds(2);
            self.set_clocks();
            self.follow(most)?;
        }
        let after = self.entries()?;
        if !after.starts_with(&before) {
            let ends = self.log.bounds(0).map_err(message)?.last;
            return Err(format!(
                "node {most} had applied {last}, and the log, cut after {kept}, ends at {ends} or has others"
            ));
        }
        self.tally.restored += last - kept;
        Ok(())
    }

    pub(super) fn stop_or_start(&mut self, index: usize) -> Step {
        let Some(engine) = self.nodes[index].engine.take() else {
            self.log_line(&format!("{index} returns"));
            self.tally.restarts += 1;
            return self.open(index);
        };
        let closed = engine.close().map_err(|error| error.kind());
        self.log_line(&format!("{index} stops: {closed:?}"));
        Ok(())
    }

    pub(super) fn cut_power(&mut self, index: usize) -> Step {
        let Some(engine) = self.nodes[index].engine.take() else {
            return Ok(());
        };
        let before = engine.position();
        let how = cut(&mut self.chance);
        // What the engine does while it is dropped does not reach the disk.
        self.nodes[index].disk.fail(None, Fault::All, true);
        drop(engine);
        self.nodes[index].disk.cut(|_| how);
        self.tally.cuts += 1;
        self.open(index)?;
        let after = self.engine(index).and_then(|engine| engine.position());
        if after < before {
            self.tally.again += 1;
        }
        self.log_line(&format!(
            "power cut of {index}, {how:?}: {before:?} {after:?}"
        ));
        Ok(())
    }

    /// A node begins again with the backup of another.
    pub(super) fn join(&mut self, index: usize) -> Step {
        let Some(peer) = self.engine((index + 1) % NODES) else {
            return Ok(());
        };
        let disk = Disk::default();
        if let Err(error) = peer.backup_to(disk.backend()) {
            self.log_line(&format!("no backup: {:?}", error.kind()));
            return Ok(());
        }
        self.nodes[index].engine = None;
        self.nodes[index].disk = disk;
        self.tally.joined += 1;
        self.log_line(&format!("{index} joins"));
        self.open(index)
    }
}
