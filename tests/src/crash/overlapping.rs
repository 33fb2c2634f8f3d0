//! Runs beside the long one: writes during the sync of another, and writes after a crash.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use deskfleet::{ActivityRecord, Engine, ManualClock, Nullable, Record, Timestamp, Workspace};

use crate::disk::Disk;
use crate::files::Part;
use crate::model::op::{Instance, START};

use super::Setup;
use super::facts::Facts;
use super::image::{Fate, Platter};
use super::recording::Recorder;
use super::workload::{Recording, Scene};

/// How long a write may take while another waits for its sync: for ever, if it waits for that as well.
const STUCK: Duration = Duration::from_secs(60);

/// A write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Write {
    /// One record.
    Post,
    /// A batch that fills half a segment.
    PostMany,
    /// A workspace.
    Put,
    /// Filing.
    File,
}

impl Write {
    /// The part whose syncs it waits for.
    fn part(self) -> Part {
        match self {
            Self::Post | Self::PostMany | Self::Put => Part::Queue,
            Self::File => Part::Store,
        }
    }

    fn make(self, engine: &Engine, number: usize) -> deskfleet::Result<()> {
        match self {
            Self::Post => engine.record(activity(number, "Lock")),
            Self::PostMany => {
                let records = (0..12).map(|nth| activity(number, &format!("{nth}").repeat(200)));
                engine.record_all(&records.collect::<Vec<_>>())
            }
            Self::Put => engine.put_workspace(Workspace {
                id: "ws-lane".to_owned(),
                computer_name: Some(format!("PC-{number}")),
                ..Workspace::default()
            }),
            Self::File => engine.file_pending().map(drop),
        }
    }
}

fn activity(number: usize, text: &str) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        activity: Nullable::from(format!("{number} {text}").as_str()),
        instance_id: Nullable::from(Instance(0).value()),
        ..ActivityRecord::default()
    }))
}

fn facts(engine: &Engine) -> Facts {
    Facts::read(engine).expect("a good disk")
}

/// A run on one disk.
struct Run {
    disk: Recorder,
    engine: Engine,
    now: Timestamp,
    scenes: Vec<Scene>,
}

impl Run {
    /// Opens an engine on a disk, which is the first scene.
    fn on(base: &Platter, now: Timestamp, setup: &Setup) -> Self {
        let disk = Recorder::holding(base.image(Fate::Kept));
        let builder = Engine::builder().clock(ManualClock::new(now)).seed(11);
        let opened = setup.queue.open(builder, &setup.config, &disk);
        let engine = opened.expect("a good disk");
        let mut run = Self {
            disk,
            engine,
            now,
            scenes: Vec::new(),
        };
        let opened = facts(&run.engine);
        run.add("opening".to_owned(), 0, opened.clone(), opened);
        run
    }

    fn add(&mut self, step: String, start: usize, before: Facts, after: Facts) {
        let end = self.disk.len();
        self.scenes.push(Scene {
            step,
            start,
            end,
            now: self.now,
            before,
            after,
            others: Vec::new(),
            whole: true,
            taken: (0, 0),
        });
    }

    fn write(&mut self, write: Write) {
        let (start, before) = (self.disk.len(), facts(&self.engine));
        write.make(&self.engine, start).expect("a good disk");
        self.add(format!("{write:?}"), start, before, facts(&self.engine));
    }

    /// What is there after a write that nothing interrupts, to a copy of the disk.
    fn alone(&self, write: Write, number: usize, setup: &Setup) -> Facts {
        let builder = Engine::builder().clock(ManualClock::new(self.now)).seed(11);
        let copy = Disk::holding(self.disk.contents());
        let engine = setup.queue.open(builder, &setup.config, &copy);
        let engine = engine.expect("a good disk");
        write.make(&engine, number).expect("a good disk");
        facts(&engine)
    }

    /// Makes `inner` before the `nth` sync of `outer`. Returns whether `outer` has as many.
    fn interrupt(&mut self, outer: Write, nth: u64, inner: Write, setup: &Setup) -> bool {
        let (start, before) = (self.disk.len(), facts(&self.engine));
        let alone = self.alone(outer, start, setup);
        let inner_alone = self.alone(inner, start + 1, setup);
        let between: Arc<Mutex<Option<(usize, Facts)>>> = Arc::default();
        let applied: Arc<Mutex<Option<thread::JoinHandle<()>>>> = Arc::default();
        let (note, later) = (Arc::clone(&between), Arc::clone(&applied));
        let (disk, engine) = (self.disk.clone(), self.engine.clone());
        self.disk.before_sync(outer.part(), nth, move || {
            let (done, wait) = mpsc::channel();
            let syncs_before = disk.syncs(Part::Queue);
            let recorder = disk.clone();
            let making = thread::spawn(move || {
                inner.make(&engine, start + 1).expect("a good disk");
                let _ = done.send((recorder.len(), facts(&engine)));
            });
            if outer == Write::File && inner == Write::Put {
                // It is applied after the filing; here its entry is in the log.
                while disk.syncs(Part::Queue) == syncs_before {
                    thread::yield_now();
                }
                *later.lock().unwrap_or_else(PoisonError::into_inner) = Some(making);
                return;
            }
            let made = wait.recv_timeout(STUCK);
            *note.lock().unwrap_or_else(PoisonError::into_inner) = made.ok();
        });
        outer.make(&self.engine, start).expect("a good disk");
        let interrupted = !self.disk.forget_call();
        if let Some(applying) = applied
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
        {
            applying.join().expect("a good disk");
            let end = facts(&self.engine);
            self.add(
                format!("{inner:?} during sync {nth} of {outer:?}"),
                start,
                before,
                end,
            );
            let both = self.scenes.last_mut().expect("it was added");
            both.others = vec![alone, inner_alone];
            return true;
        }
        let what = format!("{inner:?} before sync {nth} of {outer:?}");
        let end = facts(&self.engine);
        let between = between
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if interrupted {
            let (acknowledged, between) =
                between.unwrap_or_else(|| panic!("{what}: the one waits for the other"));
            self.add(what.clone(), start, before, end.clone());
            let both = self.scenes.last_mut().expect("it was added");
            both.end = acknowledged;
            both.others = vec![alone, between.clone()];
            self.add(what, acknowledged, between, end);
        } else {
            self.add(what, start, before, end);
        }
        interrupted
    }

    fn into_recording(self, base: Platter) -> Recording {
        Recording {
            base,
            log: self.disk.log(),
            scenes: self.scenes,
        }
    }
}

/// Pairs of writes, each during a sync of the other.
pub fn record_pairs(setup: &Setup) -> Recording {
    let now = START.parse().expect("a date-time");
    let base = Platter::default();
    let mut run = Run::on(&base, now, setup);
    run.write(Write::Put);
    for (outer, inner) in [
        (Write::File, Write::Post),
        (Write::Post, Write::File),
        (Write::File, Write::Put),
        (Write::Put, Write::File),
        (Write::File, Write::PostMany),
        (Write::PostMany, Write::File),
    ] {
        let mut pairs = (0..4).take_while(|nth| {
            run.write(Write::Post);
            // It is applied without a sync before the pair.
            run.write(Write::Put);
            run.interrupt(outer, *nth, inner, setup)
        });
        assert!(pairs.by_ref().count() > 0, "{outer:?} never syncs");
    }
    run.into_recording(base)
}

/// Writes of every kind to what is left of `scene`, and a clean close.
pub fn record_after(base: Platter, scene: &Scene, setup: &Setup) -> Recording {
    let mut run = Run::on(&base, scene.now, setup);
    let opening = &mut run.scenes[0];
    opening.before = scene.before.clone();
    opening.others = vec![scene.after.clone()];
    opening.whole = scene.whole;
    for write in [
        Write::Post,
        Write::Put,
        Write::PostMany,
        Write::File,
        Write::Post,
        Write::PostMany,
    ] {
        run.write(write);
    }
    let (start, before) = (run.disk.len(), facts(&run.engine));
    run.engine.close().expect("a good disk");
    run.add("closing".to_owned(), start, before.clone(), before);
    run.into_recording(base)
}
