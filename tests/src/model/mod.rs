//! The model suite: one reference of the engine in plain maps, and the operations that drive both.
//!
//! [`run`] applies each operation to an engine on a disk in memory and to the reference, and compares the results; at
//! the end it compares all that can be read, files and reopens, and compares again. A failing run is a list of [`Op`]s
//! that can be pasted into a test.

pub(crate) mod audit;
mod compare;
mod counts;
mod edits;
pub(crate) mod fleet;
mod keys;
pub mod op;
mod outbox;
pub(crate) mod rules;
pub mod strategy;
mod telemetry;

use deskfleet::{
    Action, ActionDriver, ActionRequest, Config, Engine, ErrorKind, KeyInfo, ManualClock, Result,
    Timestamp, Workspace,
};

use crate::disk::Disk;
use crate::files::Queue;
use edits::How;
use fleet::Fleet;
use op::{NewDesk, Op, Post, START};
use rules::{Asked, HOSTED};
use telemetry::Telemetry;

/// Runs the operations twice and compares throughout: on a queue in the table, where the clock ends all actions, and on one in
/// segments, where the host ends some. Panics where engine and reference differ.
pub fn run(ops: &[Op]) {
    run_on(Queue::Table, &[], ops);
    run_on(Queue::Folder, &HOSTED, ops);
}

fn run_on(queue: Queue, hosted: &'static [Action], ops: &[Op]) {
    let mut world = World::new(queue, hosted);
    for op in ops {
        world.apply(op);
    }
    world.compare();
    world.file();
    world.compare();
    world.reopen();
    world.compare();
}

/// Opens the engine under test, for the n-th time.
type Open = dyn Fn(&ManualClock, u64) -> Engine;

/// An engine and its reference.
pub(crate) struct World {
    open: Box<Open>,
    pub(crate) clock: ManualClock,
    pub(crate) engine: Engine,
    opened: u64,
    pub(crate) now: Timestamp,
    fleet: Fleet,
    telemetry: Telemetry,
    /// When records were last filed, since the engine was opened.
    filed_at: Option<Timestamp>,
    keys: Vec<KeyInfo>,
    /// The actions that were accepted, with their rows in the reference's audit.
    accepted: Vec<(u64, usize)>,
}

fn start() -> Timestamp {
    START.parse().expect("a date-time")
}

/// The default configuration, but that the host ends these actions.
pub(crate) fn hosting(hosted: &[Action]) -> Config {
    let mut config = Config::default();
    let drivers = &mut config.actions.drivers;
    for action in hosted {
        let driver = match action {
            Action::Reboot => &mut drivers.reboot,
            Action::RecoveryReboot => &mut drivers.recovery_reboot,
            Action::Rebuild => &mut drivers.rebuild,
            Action::Restore => &mut drivers.restore,
            Action::Terminate => &mut drivers.terminate,
            Action::Start => &mut drivers.start,
            Action::ChangeComputeType => &mut drivers.change_compute_type,
        };
        *driver = Some(ActionDriver::Host);
    }
    config
}

/// The results of engine and reference must be the same, except for the text of a refusal.
fn same<T>(found: Result<T>, expected: Result<(), ErrorKind>) -> Option<T> {
    match (found, expected) {
        (Ok(value), Ok(())) => Some(value),
        (Err(found), Err(expected)) => {
            assert_eq!(found.kind(), expected, "{found}");
            None
        }
        (Ok(_), Err(expected)) => panic!("accepted, but {expected:?} was expected"),
        (Err(found), Ok(())) => panic!("refused as {:?}, but it is good: {found}", found.kind()),
    }
}

fn workspace(new: NewDesk) -> Workspace {
    let id = new.desk.value();
    Workspace {
        id: id.to_owned(),
        computer_name: Some(id.replace("ws-", "PC-WS-")),
        running_mode: new.mode.value().map(Into::into),
        compute_type_name: new.kind.value().map(Into::into),
        username: new.person.map(|person| person.value().to_owned()),
        state: new.state.value().map(Into::into),
        ..Workspace::default()
    }
}

impl World {
    fn new(queue: Queue, hosted: &'static [Action]) -> Self {
        let (disk, config) = (Disk::new(), hosting(hosted));
        let mut world = Self::on(move |clock, seed| {
            let builder = Engine::builder().clock(clock.clone()).seed(seed);
            let opened = queue.open(builder, &config, &disk);
            opened.expect("a good disk")
        });
        world.fleet.hosted = hosted;
        world
    }

    /// A run, without actions for the host, on the engine that `open` opens, again and again on the same medium.
    pub(crate) fn on(open: impl Fn(&ManualClock, u64) -> Engine + 'static) -> Self {
        let clock = ManualClock::new(start());
        let engine = open(&clock, 1);
        Self {
            open: Box::new(open),
            clock,
            engine,
            opened: 1,
            now: start(),
            fleet: Fleet::default(),
            telemetry: Telemetry::since(start()),
            filed_at: None,
            keys: Vec::new(),
            accepted: Vec::new(),
        }
    }

    /// Applies it to both.
    pub(crate) fn apply(&mut self, op: &Op) {
        self.fleet.settle(self.now);
        self.compare_counts();
        match op {
            Op::Put(new) => self.put(std::slice::from_ref(new), &How::One),
            Op::Override(new) => self.put(std::slice::from_ref(new), &How::Override),
            Op::PutMany(many) => self.put(many, &How::Many),
            Op::Import(many) => self.put(many, &How::Import),
            Op::Remove(desk) => drop(same(
                self.engine.remove_workspace(desk.value()),
                self.fleet.remove(desk.value(), self.now),
            )),
            Op::Hold(desk) => drop(same(
                self.engine.place_hold(desk.value(), "Doe v. Roe", None),
                self.fleet.hold(desk.value(), self.now),
            )),
            Op::Release(desk) => drop(same(
                self.engine.release_hold(desk.value()),
                self.fleet.release(desk.value(), self.now),
            )),
            Op::Act(doing, desk, person, kind) => {
                let (desk, person) = (desk.map(op::Desk::value), person.map(op::Person::value));
                self.act(&Asked {
                    action: doing.value(),
                    desk,
                    person,
                    kind: kind.value(),
                });
            }
            Op::Complete(nth) => self.complete(*nth),
            Op::Fail(nth, why) => self.fail(*nth, *why),
            Op::Dispatch(nth, process, which) => self.dispatch(*nth, *process, *which),
            Op::Note(nth, late) => self.note_attempt(*nth, *late),
            Op::CompleteUnknown => drop(same(
                self.engine.complete_action(u64::MAX),
                Err(ErrorKind::NotFound),
            )),
            Op::Clock(jump) => self.move_clock(jump.value()),
            Op::Record(post) => self.record(std::slice::from_ref(post), true),
            Op::RecordAll(posts) => self.record(posts, false),
            Op::File => self.file(),
            Op::Maintain => self.maintain(),
            Op::Reopen => self.reopen(),
            Op::Walk(limit) => self.compare_lists(limit.value()),
            Op::Find(state, person) => self.compare_found(*state, *person),
            Op::User(person) => self.compare_user(person.value()),
            Op::Day => self.compare_day(),
            Op::Audit(rows) => self.compare_newest(rows.value()),
            Op::History(stream, instance, from, to, limit) => {
                self.compare_history(
                    stream.value(),
                    instance.value(),
                    [from.time(), to.time()],
                    limit.value(),
                );
            }
            Op::IssueKey(rights, expires) => self.issue_key(rights.value(), *expires),
            Op::RevokeKey(nth, force) => self.revoke_key(*nth, *force),
        }
    }

    fn act(&mut self, asked: &Asked<'_>) {
        let changes = asked.action == Action::ChangeComputeType;
        let asked = Asked {
            person: asked.person.filter(|_| !changes),
            ..*asked
        };
        let request = ActionRequest {
            action: asked.action,
            workspace_id: asked.desk.map(str::to_owned),
            sam_account: asked.person.map(str::to_owned),
            requester: None,
            compute_type: asked.kind.filter(|_| changes).map(str::to_owned),
        };
        let expected = self.fleet.act(&asked, self.now);
        if let Some(Some(id)) = same(self.engine.act(request), expected) {
            self.accepted.push((id, self.fleet.audit.len() - 1));
        }
    }

    /// Forward at most 25 days from the start, so that nothing falls out of retention; back at most 2 days, after due
    /// actions have ended for good: the contract does not define reads by a clock set back before a due time.
    fn move_clock(&mut self, seconds: i64) {
        let target = self.now.plus_seconds(seconds);
        if target > start().plus_seconds(25 * 86_400) || target < start().plus_seconds(-2 * 86_400)
        {
            return;
        }
        if seconds < 0 {
            self.maintain();
        }
        self.now = target;
        self.clock.set(target);
        if seconds < 0 {
            // An action accepted later than now restarts now, for good.
            self.maintain();
            let engine = &self.engine;
            let holds = |id: &str| engine.workspace(id).expect("a good disk").is_some();
            self.fleet.set_back(target, holds);
        }
    }

    fn record(&mut self, posts: &[Post], alone: bool) {
        let records: Vec<_> = posts.iter().copied().map(telemetry::record).collect();
        for record in &records {
            self.telemetry.accept(record.clone(), self.now);
        }
        if !alone {
            return self.engine.record_all(&records).expect("good records");
        }
        for record in &records {
            self.engine.record(record.clone()).expect("a good record");
        }
    }

    fn file(&mut self) {
        let mut filed = 0;
        loop {
            match self.engine.file_pending().expect("a good disk") {
                0 => break,
                records => filed += records,
            }
        }
        assert_eq!(filed, self.telemetry.queued, "records filed");
        self.filed();
    }

    fn maintain(&mut self) {
        self.engine.maintain().expect("a good disk");
        self.fleet.settle(self.now);
        let last = self.filed_at;
        if last.is_none_or(|last| self.now < last || self.now >= last.plus_seconds(10)) {
            self.filed();
        }
        let sweeps = &mut self.telemetry.sweeps;
        if let Some(time) = sweeps.due_sweep(self.now) {
            sweeps.swept(time);
        }
    }

    /// Notes that all pending records are filed.
    fn filed(&mut self) {
        if std::mem::take(&mut self.telemetry.queued) > 0 {
            self.filed_at = Some(self.now);
        }
    }

    fn reopen(&mut self) {
        self.engine.close().expect("a good disk");
        self.opened += 1;
        self.filed_at = None;
        let sweeps = &mut self.telemetry.sweeps;
        *sweeps = crate::sweeps::Sweeps::since(sweeps.last);
        self.engine = (self.open)(&self.clock, self.opened);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use op::{Desk, Kind, Mode, Person, StateName};

    #[test]
    fn reference_refuses_an_action_on_an_unknown_workspace() {
        let mut fleet = Fleet::default();
        let asked = Asked {
            action: Action::ChangeComputeType,
            desk: None,
            person: None,
            kind: Kind(5).value(),
        };
        assert_eq!(fleet.act(&asked, start()), Err(ErrorKind::InvalidParameter));
    }

    #[test]
    fn reference_ends_a_reboot_at_its_due_time() {
        let new = NewDesk {
            desk: Desk(0),
            person: Some(Person(1)),
            state: StateName(0),
            mode: Mode(0),
            kind: Kind(0),
        };
        let mut fleet = Fleet::default();
        fleet
            .put(workspace(new), false, start())
            .expect("a new one");
        let asked = Asked {
            action: Action::Reboot,
            desk: None,
            person: Some("ann"),
            kind: None,
        };
        assert_eq!(fleet.act(&asked, start()), Ok(()));
        fleet.settle(start().plus_seconds(119));
        assert_eq!(
            fleet.desks["ws-0"].workspace.state.as_deref(),
            Some("REBOOTING")
        );
        fleet.settle(start().plus_seconds(120));
        assert_eq!(
            fleet.desks["ws-0"].workspace.state.as_deref(),
            Some("AVAILABLE")
        );
    }
}
