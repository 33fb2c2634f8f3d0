//! Threads on one workspace: some order of their calls, one after another, must give the same results.
//!
//! Each thread notes when each of its calls began and ended. An order is valid when no call precedes one that had ended
//! before it began, and when the reference of the model suite, running them in that order, returns the same. The search
//! is that of Wing and Gong, with memoization (Lowe).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use deskfleet::{
    Action, ActionRequest, CommitDriver, Config, Engine, ErrorKind, ManualClock, StorageBackend,
    Timestamp, Upkeep, Workspace,
};
use fastrand::Rng;

use crate::disk::Disk;
use crate::model::fleet::Fleet;
use crate::model::rules::Asked;

/// The workspace.
const DESK: &str = "ws-0";

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// An action.
    Act(Action),
    /// Places a hold.
    Hold,
    /// Releases it.
    Release,
    /// Removes the workspace.
    Remove,
    /// Stores it again, in a state.
    Put(&'static str),
    /// Reads its state and whether it is held.
    Read,
}

/// The result of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It was done.
    Done,
    /// It was refused.
    Refused(ErrorKind),
    /// The state read, and whether it was held; `None` when there was no workspace.
    State(Option<(Option<String>, bool)>),
}

/// A call of a thread, with the moments between which it took effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What was done.
    pub deed: Deed,
    /// What was returned.
    pub message: Said,
    /// When it began, in steps of one counter for all threads.
    pub began: u64,
    /// When it had ended.
    pub ended: u64,
}

const DEEDS: [Deed; 14] = [
    Deed::Act(Action::Reboot),
    Deed::Act(Action::Rebuild),
    Deed::Act(Action::Terminate),
    Deed::Act(Action::Start),
    Deed::Act(Action::RecoveryReboot),
    Deed::Hold,
    Deed::Release,
    Deed::Remove,
    Deed::Put("AVAILABLE"),
    Deed::Put("STOPPED"),
    Deed::Read,
    Deed::Read,
    Deed::Act(Action::Restore),
    Deed::Hold,
];

fn now() -> Timestamp {
    Timestamp::from_unix_seconds(1_795_161_600)
}

fn workspace(state: &str) -> Workspace {
    Workspace {
        id: DESK.to_owned(),
        state: Some(state.into()),
        running_mode: Some("AUTO_STOP".into()),
        ..Workspace::default()
    }
}

/// The engine on whose workspace the threads act.
fn engine(driver: CommitDriver, backend: impl StorageBackend) -> Engine {
    let mut config = Config::default();
    config.commit_driver = driver;
    let builder = Engine::builder()
        .clock(ManualClock::new(now()))
        .seed(1)
        .upkeep(Upkeep::Host);
    let engine = builder.config(config).open_backend(backend);
    let engine = engine.expect("a good disk");
    engine
        .put_workspace(workspace("AVAILABLE"))
        .expect("a good workspace");
    engine
}

/// Does it to the engine.
fn message<T>(result: deskfleet::Result<T>) -> Said {
    match result {
        Ok(_) => Said::Done,
        Err(error) => Said::Refused(error.kind()),
    }
}

fn to_engine(engine: &Engine, deed: Deed) -> Said {
    match deed {
        Deed::Act(action) => message(engine.act(ActionRequest::new(action, DESK))),
        Deed::Hold => message(engine.place_hold(DESK, "Doe v. Roe", None)),
        Deed::Release => message(engine.release_hold(DESK)),
        Deed::Remove => message(engine.remove_workspace(DESK)),
        Deed::Put(state) => message(engine.override_workspace(workspace(state))),
        Deed::Read => {
            let view = engine.workspace(DESK).expect("a good disk");
            Said::State(view.map(|view| {
                (
                    view.workspace.state.map(Into::into),
                    view.litigation_hold.is_some(),
                )
            }))
        }
    }
}

/// Does it to the reference.
fn to_reference(fleet: &mut Fleet, deed: Deed) -> Said {
    let message = |result: Result<(), ErrorKind>| match result {
        Ok(()) => Said::Done,
        Err(kind) => Said::Refused(kind),
    };
    match deed {
        Deed::Act(action) => message(fleet.act(
            &Asked {
                action,
                desk: Some(DESK),
                person: None,
                kind: None,
            },
            now(),
        )),
        Deed::Hold => message(fleet.hold(DESK, now())),
        Deed::Release => message(fleet.release(DESK, now())),
        Deed::Remove => message(fleet.remove(DESK, now())),
        Deed::Put(state) => message(fleet.put(workspace(state), true, now())),
        Deed::Read => Said::State(fleet.desks.get(DESK).map(|entry| {
            let state = entry.workspace.state.as_deref().map(str::to_owned);
            (state, entry.held)
        })),
    }
}

/// Runs threads on a workspace; returns their calls.
pub fn history(seed: u64, driver: CommitDriver, threads: usize, each: usize) -> Vec<Done> {
    let engine = engine(driver, Disk::new().backend());
    let clock = Arc::new(AtomicU64::new(0));
    let mut chance = Rng::with_seed(seed);
    let plans: Vec<Vec<Deed>> = (0..threads)
        .map(|_| (0..each).filter_map(|_| chance.choice(DEEDS)).collect())
        .collect();
    thread::scope(|scope| {
        let run = |plan: Vec<Deed>| {
            let (engine, clock) = (engine.clone(), Arc::clone(&clock));
            scope.spawn(move || {
                let live = |deed| {
                    let began = clock.fetch_add(1, Ordering::SeqCst);
                    let message = to_engine(&engine, deed);
                    let ended = clock.fetch_add(1, Ordering::SeqCst);
                    Done {
                        deed,
                        message,
                        began,
                        ended,
                    }
                };
                plan.into_iter().map(live).collect::<Vec<_>>()
            })
        };
        let running: Vec<_> = plans.into_iter().map(run).collect();
        let lived = running.into_iter().map(thread::ScopedJoinHandle::join);
        lived.flat_map(|done| done.expect("no panic")).collect()
    })
}

/// An order of these calls, as indexes, that the reference agrees with; `None` when there is none.
pub fn order(history: &[Done]) -> Option<Vec<usize>> {
    let mut fleet = Fleet::default();
    let new = fleet.put(workspace("AVAILABLE"), true, now());
    new.expect("a new one");
    let mut search = Search {
        history,
        tried: BTreeSet::new(),
        order: Vec::new(),
    };
    search.extend(0, &fleet).then_some(search.order)
}

struct Search<'h> {
    history: &'h [Done],
    /// Calls done, as bits, with the state of the reference after them, from which no order was found.
    tried: BTreeSet<(u64, String)>,
    order: Vec<usize>,
}

impl Search<'_> {
    fn extend(&mut self, done: u64, fleet: &Fleet) -> bool {
        if self.order.len() == self.history.len() {
            return true;
        }
        let state = format!("{:?}", fleet.desks);
        if !self.tried.insert((done, state)) {
            return false;
        }
        let open = |index: &usize| done & (1 << index) == 0;
        let first_end = (0..self.history.len()).filter(open);
        let first_end = first_end.map(|index| self.history[index].ended).min();
        for index in (0..self.history.len()).filter(open) {
            let next = &self.history[index];
            if first_end.is_some_and(|ended| ended < next.began) {
                continue;
            }
            let mut after = fleet.clone();
            if to_reference(&mut after, next.deed) == next.message {
                self.order.push(index);
                if self.extend(done | (1 << index), &after) {
                    return true;
                }
                self.order.pop();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(deed: Deed, message: Said, began: u64, ended: u64) -> Done {
        Done {
            deed,
            message,
            began,
            ended,
        }
    }

    fn state(state: &str) -> Said {
        Said::State(Some((Some(state.to_owned()), false)))
    }

    #[test]
    fn overlapping_calls_in_either_order_are_accepted() {
        let reboot = done(Deed::Act(Action::Reboot), Said::Done, 0, 3);
        let before = done(Deed::Read, state("AVAILABLE"), 1, 2);
        let after = done(Deed::Read, state("REBOOTING"), 1, 2);
        assert_eq!(order(&[reboot.clone(), before]), Some(vec![1, 0]));
        assert_eq!(order(&[reboot, after]), Some(vec![0, 1]));
    }

    #[test]
    fn stale_read_is_reported() {
        let reboot = done(Deed::Act(Action::Reboot), Said::Done, 0, 1);
        let stale = done(Deed::Read, state("AVAILABLE"), 2, 3);
        assert_eq!(order(&[reboot, stale]), None);
    }

    #[test]
    fn two_accepted_reboots_are_reported() {
        let reboot = |began, ended| done(Deed::Act(Action::Reboot), Said::Done, began, ended);
        assert_eq!(order(&[reboot(0, 2), reboot(1, 3)]), None);
    }

    #[test]
    fn termination_under_a_hold_is_reported() {
        let history = [
            done(Deed::Hold, Said::Done, 0, 1),
            done(Deed::Act(Action::Terminate), Said::Done, 2, 4),
            done(Deed::Release, Said::Done, 5, 6),
        ];
        assert_eq!(order(&history), None);
    }
}
