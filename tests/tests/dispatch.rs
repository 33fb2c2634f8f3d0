//! Providers that crash anywhere: whatever is lost, repeated or placed between two calls, the outbox has the attempts that were
//! accepted, and none begins that must not.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{
    Action, ActionDriver, ActionQuery, ActionRequest, ActionState, Attempt, Config, Engine,
    ErrorKind, FailedState, ManualClock, Timestamp, Workspace,
};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::Queue;
use proptest::collection::vec;
use proptest::prelude::*;

const DESKS: [&str; 3] = ["ws-0", "ws-1", "ws-2"];
const PROVIDERS: [&str; 2] = ["aws", "command"];

#[derive(Debug, Clone)]
enum Op {
    Act(usize, Action),
    /// Of the n-th action there ever was, by a process: the attempt after the last one, plus this number.
    Dispatch(usize, usize, i64),
    /// By a process, for this many seconds.
    Lease(usize, u32),
    /// Of its last attempt, or of the one before.
    Note(usize, bool),
    Complete(usize),
    Fail(usize),
    Hold(usize),
    Release(usize),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    let desk = 0..DESKS.len();
    let actions = vec![
        Action::Reboot,
        Action::Rebuild,
        Action::Restore,
        Action::Terminate,
    ];
    let attempt = prop_oneof![4 => Just(0_i64), 3 => Just(-1), 1 => Just(1)];
    prop_oneof![
        4 => (desk.clone(), prop::sample::select(actions)).prop_map(|(desk, action)| Op::Act(desk, action)),
        8 => (0..16_usize, 0..2 * PROVIDERS.len(), attempt).prop_map(|(nth, by, attempt)| Op::Dispatch(nth, by, attempt)),
        3 => (0..2 * PROVIDERS.len(), prop::sample::select(vec![0_u32, 1, 3, 10])).prop_map(|(by, seconds)| Op::Lease(by, seconds)),
        2 => (0..16_usize, any::<bool>()).prop_map(|(nth, late)| Op::Note(nth, late)),
        1 => (0..16_usize).prop_map(Op::Complete),
        1 => (0..16_usize).prop_map(Op::Fail),
        1 => desk.clone().prop_map(Op::Hold),
        1 => desk.prop_map(Op::Release),
        1 => Just(Op::Reopen),
    ]
}

/// What is known of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    desk: &'static str,
    action: Action,
    attempts: u32,
    provider: Option<&'static str>,
    instance: Option<String>,
    note: Option<String>,
    /// `None` while it runs; then what a dispatch is refused with.
    ended: Option<ErrorKind>,
}

struct World {
    disk: Disk,
    clock: ManualClock,
    engine: Engine,
    opened: u64,
    actions: BTreeMap<u64, Known>,
    held: BTreeSet<&'static str>,
    /// The process that has the lease of each provider, and until when.
    leases: BTreeMap<&'static str, (String, Timestamp)>,
}

/// The name and the instance of a process.
fn process(by: usize) -> (&'static str, Option<String>) {
    let instance = (by >= PROVIDERS.len()).then(|| "4f".to_owned());
    (PROVIDERS[by % PROVIDERS.len()], instance)
}

fn open(disk: &Disk, clock: &ManualClock, seed: u64) -> Engine {
    let mut config = Config::default();
    config.actions.driver = ActionDriver::Host;
    let builder = Engine::builder().clock(clock.clone()).seed(seed);
    Queue::Table.open(builder, &config, disk).unwrap()
}

impl World {
    fn new() -> Self {
        let (disk, clock) = (
            Disk::new(),
            ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap()),
        );
        let engine = open(&disk, &clock, 1);
        for id in DESKS {
            let workspace = Workspace {
                id: id.into(),
                state: Some("AVAILABLE".into()),
                ..Workspace::default()
            };
            engine.put_workspace(workspace).unwrap();
        }
        Self {
            disk,
            clock,
            engine,
            opened: 1,
            actions: BTreeMap::new(),
            held: BTreeSet::new(),
            leases: BTreeMap::new(),
        }
    }

    fn nth(&self, nth: usize) -> Option<u64> {
        let place = nth.checked_rem(self.actions.len())?;
        self.actions.keys().nth(place).copied()
    }

    fn apply(&mut self, op: &Op) {
        self.clock.advance_seconds(1);
        match *op {
            Op::Act(desk, action) => self.act(DESKS[desk], action),
            Op::Dispatch(nth, by, attempt) => {
                if let Some(id) = self.nth(nth) {
                    let (provider, instance) = process(by);
                    self.dispatch(id, provider, instance, attempt);
                }
            }
            Op::Lease(by, seconds) => {
                let (provider, instance) = process(by);
                self.lease(provider, instance.as_deref().unwrap_or("one"), seconds);
            }
            Op::Note(nth, late) => {
                if let Some(id) = self.nth(nth) {
                    self.note_attempt(id, late);
                }
            }
            Op::Complete(nth) => self.end_action(nth, Engine::complete_action),
            Op::Fail(nth) => self.end_action(nth, |engine, id| {
                engine.fail_action(id, FailedState::Unhealthy, Some("no capacity"))
            }),
            Op::Hold(desk) => {
                self.engine.place_hold(DESKS[desk], "matter", None).unwrap();
                self.held.insert(DESKS[desk]);
            }
            Op::Release(desk) => {
                let was = self.held.remove(DESKS[desk]);
                assert_eq!(self.engine.release_hold(DESKS[desk]).is_ok(), was);
            }
            Op::Reopen => {
                self.engine.close().unwrap();
                self.opened += 1;
                self.engine = open(&self.disk, &self.clock, self.opened);
            }
        }
        self.compare();
    }

    fn act(&mut self, desk: &'static str, action: Action) {
        let mut request = ActionRequest::reboot(desk);
        request.action = action;
        let Ok(Some(id)) = self.engine.act(request) else {
            return;
        };
        assert!(!self.is_forbidden(desk, action), "{action} of a held one");
        let running = |known: &&mut Known| known.desk == desk && known.ended.is_none();
        if let Some(old) = self.actions.values_mut().find(running) {
            old.ended = Some(ErrorKind::Cancelled);
        }
        let known = Known {
            desk,
            action,
            attempts: 0,
            provider: None,
            instance: None,
            note: None,
            ended: None,
        };
        self.actions.insert(id, known);
    }

    fn is_forbidden(&self, desk: &str, action: Action) -> bool {
        self.held.contains(desk) && action != Action::Reboot
    }

    fn dispatch(&mut self, id: u64, provider: &'static str, instance: Option<String>, off: i64) {
        let known = self.actions[&id].clone();
        let next = known.attempts + 1;
        let attempt = u32::try_from(i64::from(next) + off).unwrap();
        let repeats = attempt == known.attempts
            && known.provider == Some(provider)
            && known.instance == instance;
        let expected = if let Some(kind) = known.ended {
            Err(kind)
        } else if self.is_forbidden(known.desk, known.action) {
            Err(ErrorKind::LitigationHold)
        } else if self.is_leased(provider, instance.as_deref()) {
            Err(ErrorKind::InvalidResourceState)
        } else if repeats || attempt == next {
            Ok(())
        } else {
            Err(ErrorKind::InvalidResourceState)
        };
        let mut by = Attempt::new(attempt, provider);
        by.instance.clone_from(&instance);
        let found = self.engine.dispatch_action(id, by);
        let found = found.map(drop).map_err(|error| error.kind());
        assert_eq!(found, expected, "attempt {attempt} of {known:?}");
        if expected.is_ok() && !repeats {
            let known = self.actions.get_mut(&id).unwrap();
            known.attempts = attempt;
            (known.provider, known.instance, known.note) = (Some(provider), instance, None);
        }
    }

    /// Whether another process has the lease of the provider.
    fn is_leased(&self, provider: &str, instance: Option<&str>) -> bool {
        let lease = self.leases.get(provider);
        let lease = lease.filter(|(_, until)| *until > self.engine.now());
        lease.is_some_and(|(holder, _)| instance != Some(holder))
    }

    fn lease(&mut self, provider: &'static str, instance: &str, seconds: u32) {
        let is_refused = self.is_leased(provider, Some(instance));
        let taken = self.engine.take_lease(provider, instance, seconds);
        if is_refused {
            assert_eq!(taken.unwrap_err().kind(), ErrorKind::InvalidResourceState);
        } else {
            let until = taken.unwrap().until;
            self.leases.insert(provider, (instance.to_owned(), until));
        }
    }

    fn note_attempt(&mut self, id: u64, late: bool) {
        let known = self.actions.get_mut(&id).unwrap();
        let attempt = known.attempts.saturating_sub(u32::from(late));
        let note = format!("request {id}");
        let expected = match known.ended {
            Some(kind) => Err(kind),
            None if known.attempts == 0 || late => Err(ErrorKind::InvalidResourceState),
            None => Ok(()),
        };
        let found = self.engine.note_action(id, attempt, &note);
        assert_eq!(found.map_err(|error| error.kind()), expected, "{known:?}");
        if expected.is_ok() {
            known.note = Some(note);
        }
    }

    fn end_action(&mut self, nth: usize, end: impl Fn(&Engine, u64) -> deskfleet::Result<()>) {
        let Some(id) = self.nth(nth) else { return };
        let known = self.actions.get_mut(&id).unwrap();
        let ended = end(&self.engine, id).map_err(|error| error.kind());
        let expected = match known.ended {
            Some(_) => Err(ErrorKind::InvalidResourceState),
            None => Ok(()),
        };
        assert_eq!(ended, expected, "{known:?}");
        known.ended.get_or_insert(ErrorKind::InvalidResourceState);
    }

    fn compare(&self) {
        let mut expected = Vec::new();
        for (id, known) in &self.actions {
            if known.ended.is_none() {
                let provider = known.provider.map(str::to_owned);
                expected.push((*id, known.attempts, provider, known.note.clone()));
            }
        }
        let found = self.engine.pending_actions().unwrap().into_iter();
        let found = found.map(|found| (found.id, found.attempts, found.provider, found.note));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        for (state, wanted) in [
            (ActionState::Waiting, false),
            (ActionState::Dispatched, true),
        ] {
            let query = ActionQuery {
                state,
                ..ActionQuery::default()
            };
            let page = self.engine.actions(&query).unwrap().actions.into_iter();
            let found: Vec<_> = page.map(|action| action.id).collect();
            let expected = expected.iter().filter(|each| (each.1 > 0) == wanted);
            assert_eq!(found, expected.map(|each| each.0).collect::<Vec<_>>());
        }
    }

    /// The audit names the last attempt of each action that ended.
    fn compare_audit(&self) {
        for row in self.engine.admin_activity(10_000).unwrap() {
            let detail = row.detail.unwrap_or_default();
            for (id, known) in self.actions.iter().filter(|(id, _)| **id == row.id) {
                let named = |text: &str| detail.contains(text);
                let is_named = known.provider.is_some_and(named);
                assert_eq!(
                    is_named,
                    known.ended.is_some() && known.attempts > 0,
                    "{id}: {detail}"
                );
                let note = known.note.as_deref();
                assert!(
                    known.ended.is_none() || note.is_none_or(named),
                    "{id}: {detail}"
                );
            }
        }
        assert_eq!(self.engine.check().unwrap().problems, Vec::<String>::new());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn outbox_has_the_attempts_that_were_accepted(ops in vec(op(), 1..40)) {
        let mut world = World::new();
        for op in &ops {
            world.apply(op);
        }
        world.apply(&Op::Reopen);
        world.compare_audit();
    }
}

/// A clock that was set ahead for a moment leaves no lease that lasts for years, and one that is set back a little takes none away.
#[test]
fn lease_that_a_wrong_clock_made_long_is_none() {
    let start: Timestamp = "2026-11-20T08:00:00Z".parse().unwrap();
    let (disk, clock) = (Disk::new(), ManualClock::new(start));
    let engine = open(&disk, &clock, 1);
    clock.advance_seconds(400 * 24 * 3600);
    engine.take_lease("aws", "one", 3600).unwrap();
    let refused = engine.take_lease("aws", "two", 20).unwrap_err();
    let message = refused.to_string();
    assert!(
        message.contains("process one of the provider has its lease."),
        "{message}"
    );
    clock.set(start);
    let lease = engine.take_lease("aws", "two", 20).unwrap();
    assert_eq!(lease.until, start.plus_seconds(20));
    clock.set(start.plus_seconds(-9));
    assert!(engine.take_lease("aws", "one", 20).is_err());
    clock.set(start.plus_seconds(20));
    engine.take_lease("aws", "one", 20).unwrap();
    for (provider, instance, seconds) in [("", "one", 1), ("aws", "", 1), ("aws", "one", 3601)] {
        let refused = engine.take_lease(provider, instance, seconds).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidParameter, "{refused}");
    }
}
