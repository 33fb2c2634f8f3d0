//! The operations on the engine while its disk is recorded: some of every kind.

use deskfleet::{Engine, Timestamp};

use crate::model::World;
use crate::model::op::{
    Desk, Doing, Instance, Jump, Kind, Mode, NewDesk, Nth, Op, Person, Post, Rights, Sent,
    StateName, Telemetry,
};

use super::Setup;
use super::facts::Facts;
use super::image::Platter;
use super::recording::{Io, Recorder};

/// One step of a run.
#[derive(Debug, Clone)]
pub enum Step {
    /// An operation of the model suite.
    Op(Op),
    /// Compacts the file.
    Compact,
    /// `n` days pass, and data that is too old is removed.
    Retention(i64),
}

impl Step {
    /// Whether it is one mutation, all of it or nothing. The others are several mutations.
    fn is_whole(&self) -> bool {
        !matches!(
            self,
            Self::Op(Op::Maintain | Op::Reopen) | Self::Compact | Self::Retention(_)
        )
    }
}

/// A completed step, and what an engine may return that opens the disk as it was during the step.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The step, for messages.
    pub step: String,
    /// Operations of the disk before it, and until it was acknowledged.
    pub start: usize,
    /// See [`Self::start`].
    pub end: usize,
    /// The time.
    pub now: Timestamp,
    /// All that could be read before.
    pub before: Facts,
    /// And afterwards.
    pub after: Facts,
    /// What may be read besides, of writes at once.
    pub others: Vec<Facts>,
    /// Whether the store may only be in one of the two states, not between them.
    pub whole: bool,
    /// The last numbers of a key and of an audit row that were issued before.
    pub taken: (u64, u64),
}

/// A run: the operations of the disk, and the scenes.
#[derive(Debug)]
pub struct Recording {
    /// The disk at its beginning.
    pub base: Platter,
    /// Every operation of the disk.
    pub log: Vec<Io>,
    /// In the order in which they came.
    pub scenes: Vec<Scene>,
}

impl Recording {
    /// The scene during which the disk had `n` operations.
    pub fn scene(&self, cut: usize) -> &Scene {
        let found = self.scenes.iter().find(|scene| cut < scene.end);
        found.or_else(|| self.scenes.last()).expect("a scene")
    }
}

/// Applies `steps` to a new engine. After each step of the model the engine is compared with the reference; after steps
/// that the model does not cover, the engine is its own reference.
pub fn record(steps: &[Step], setup: &Setup) -> Recording {
    let disk = Recorder::default();
    let (recorder, setup) = (disk.clone(), setup.clone());
    let mut world = World::on(move |clock, opened| {
        let builder = Engine::builder().clock(clock.clone()).seed(opened);
        let opened = setup.queue.open(builder, &setup.config, &recorder);
        opened.expect("a good disk")
    });
    let empty = facts(&world.engine);
    let mut scenes = vec![Scene {
        step: "a new file".to_owned(),
        start: 0,
        end: disk.len(),
        now: world.now,
        before: empty.clone(),
        after: empty,
        others: Vec::new(),
        whole: true,
        taken: (0, 0),
    }];
    let mut modelled = true;
    let mut taken = (0, 0);
    for step in steps {
        let is_clock = matches!(step, Step::Op(Op::Clock(_)));
        if let Step::Retention(days) = step {
            modelled = false;
            world.now = world.now.plus_seconds(days * 86_400);
            world.clock.set(world.now);
        }
        let (start, before) = (disk.len(), facts(&world.engine));
        match step {
            Step::Op(op) => world.apply(op),
            Step::Compact => drop(world.engine.compact().expect("a good disk")),
            Step::Retention(_) => world.engine.apply_retention().expect("a good disk"),
        }
        let end = disk.len();
        if !is_clock {
            scenes.push(Scene {
                step: format!("{step:?}"),
                start,
                end,
                now: world.now,
                before,
                after: facts(&world.engine),
                others: Vec::new(),
                whole: step.is_whole(),
                taken,
            });
        }
        taken = numbers(&world.engine, taken);
        if modelled {
            world.compare();
        }
    }
    Recording {
        base: Platter::default(),
        log: disk.log(),
        scenes,
    }
}

fn facts(engine: &Engine) -> Facts {
    Facts::read(engine).expect("a good disk")
}

/// The last numbers of a key and of an audit row that were issued.
fn numbers(engine: &Engine, before: (u64, u64)) -> (u64, u64) {
    let keys = engine.keys().iter().map(|key| key.id).max();
    let rows = engine.admin_activity(10_000).expect("a good disk");
    let rows = rows.iter().map(|row| row.id).max();
    (
        before.0.max(keys.unwrap_or(0)),
        before.1.max(rows.unwrap_or(0)),
    )
}

fn desk(desk: u8, person: u8, state: u8) -> NewDesk {
    NewDesk {
        desk: Desk(desk),
        person: Some(Person(person)),
        state: StateName(state),
        mode: Mode(0),
        kind: Kind(0),
    }
}

fn post(stream: u8, instance: u8, sent: u8) -> Post {
    Post {
        stream: Telemetry(stream),
        instance: Instance(instance),
        person: Some(Person(instance % 4)),
        sent: Sent(sent),
        number: sent.is_multiple_of(2),
    }
}

fn posts(sent: u8) -> Op {
    let streams = (0..4).flat_map(|stream| (0..4).map(move |instance| (stream, instance)));
    Op::RecordAll(
        streams
            .map(|(stream, instance)| post(stream, instance, sent))
            .collect(),
    )
}

/// The run of the suite for a queue in the folder: that of [`steps`], with enough telemetry between its steps that
/// segments are filled, filed and used again.
pub fn long_steps() -> Vec<Step> {
    let mut long = Vec::new();
    let mut compacted = false;
    for step in steps() {
        let reopens = matches!(step, Step::Op(Op::Reopen));
        let compacts = matches!(step, Step::Compact) && !std::mem::replace(&mut compacted, true);
        let filled = if reopens || compacts {
            telemetry()
        } else {
            vec![]
        };
        if compacts {
            long.extend(filled);
            long.push(step);
        } else {
            long.push(step);
            long.extend(filled);
        }
    }
    long
}

/// Telemetry for several segments, with writes to the store between.
fn telemetry() -> Vec<Step> {
    let round = |round: u8| {
        let between = match round % 4 {
            0 => Some(Op::Hold(Desk(3))),
            1 => Some(Op::File),
            2 => Some(Op::Release(Desk(3))),
            _ => None,
        };
        let lone = Op::Record(post(round % 4, round % 3, round % 9));
        [Some(posts(round % 9)), between, Some(lone)]
    };
    let ops = (0..12).flat_map(round).flatten();
    ops.map(Step::Op).collect()
}

/// The run of the suite: every kind of write, each at least once before and once after records were filed.
pub fn steps() -> Vec<Step> {
    let act = |doing, on| Op::Act(Doing(doing), Some(Desk(on)), None, Kind(1));
    let ops = vec![
        Op::Put(desk(0, 0, 0)),
        Op::PutMany(vec![desk(1, 2, 0), desk(2, 3, 1), desk(3, 3, 2)]),
        Op::IssueKey(Rights(2), Sent(9)),
        Op::Record(post(0, 0, 1)),
        Op::Record(post(1, 0, 0)),
        posts(1),
        Op::Hold(Desk(0)),
        act(0, 0),
        act(4, 0),
        Op::File,
        act(5, 2),
        Op::Record(post(3, 2, 0)),
        Op::Put(desk(3, 1, 1)),
        posts(2),
        // A retry of a filed record, and a record without a time.
        Op::Record(post(0, 0, 1)),
        Op::Record(post(0, 1, 0)),
        Op::File,
        Op::IssueKey(Rights(0), Sent(0)),
        Op::RevokeKey(Nth(0), false),
        Op::RevokeKey(Nth(0), true),
        act(4, 3),
        Op::Fail(Nth(0), true),
        Op::Clock(Jump(3)),
        act(1, 1),
        Op::Complete(Nth(0)),
        Op::Maintain,
        Op::Reopen,
        Op::Hold(Desk(1)),
        Op::Release(Desk(1)),
        act(6, 1),
        posts(5),
        Op::Clock(Jump(9)),
        Op::Clock(Jump(8)),
        Op::Maintain,
        posts(9),
        Op::Remove(Desk(2)),
        act(3, 2),
        Op::File,
        Op::Record(post(2, 5, 3)),
        Op::Clock(Jump(11)),
        Op::Maintain,
        Op::Put(desk(2, 2, 0)),
        Op::Reopen,
        act(0, 2),
        Op::Record(post(1, 1, 4)),
    ];
    let mut steps: Vec<_> = ops.into_iter().map(Step::Op).collect();
    steps.extend([
        Step::Compact,
        Step::Op(act(0, 2)),
        Step::Retention(40),
        Step::Retention(70),
        Step::Compact,
    ]);
    steps
}
