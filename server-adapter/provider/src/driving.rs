//! The loop: it looks at the whole outbox again and again and does what is missing, so that nothing is forgotten whatever was lost
//! (level-triggered, as the controllers of Kubernetes are).

mod look;
mod mode;
mod results;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use deskfleet::{Action, Timestamp};

use super::calls::{Call, Calls, Ended};
use super::cap::Cap;
use super::fleet::{Fleet, Pending, Refusal, desktops};
use super::kind::{Kind, Stage, Trouble};
use super::log_line;
use super::memory::Memory;
use super::sleep::LOOK;
use super::status::{Asker, Status};
use deskfleet_client::backoff::{pause, random};

/// How long nothing is begun after a cloud refused the credentials.
const DENIED_PAUSE: Duration = Duration::from_secs(60);
/// Desktops in one question.
const SHOWN_AT_ONCE: usize = 25;

/// How the loop goes.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    /// Time between two looks at the outbox.
    pub(super) every: Duration,
    /// The least time between a call and the end of its action, where the state that it goes through was not seen.
    pub(super) least: Duration,
}

/// The loop.
#[derive(Debug)]
pub(super) struct Driving {
    pub(super) fleet: Fleet,
    pub(super) kind: Arc<dyn Kind>,
    /// Name of the provider in the outbox.
    pub(super) name: String,
    pub(super) pace: Pace,
    pub(super) cap: Cap,
    pub(super) status: Arc<Status>,
    calls: Calls,
    results: Receiver<Ended>,
    memories: HashMap<u64, Memory>,
    /// Desktops with a call under way.
    busy: HashSet<String>,
    /// Desktops of actions that were refused: the server has them in the state ERROR.
    untrue: BTreeSet<String>,
    /// Until then the cloud is not asked for anything.
    paused_until: Option<Instant>,
    /// Until then nothing is begun.
    begins_at: Option<Instant>,
    /// Whether the cloud refused the last call for want of permission.
    is_denied: bool,
}

impl Driving {
    /// `threads` calls at once.
    pub(super) fn new(
        fleet: Fleet,
        kind: Arc<dyn Kind>,
        name: String,
        pace: Pace,
        (cap, threads): (Cap, usize),
        status: Arc<Status>,
    ) -> std::io::Result<Self> {
        let (calls, results) = Calls::start(&fleet, &kind, &name, threads)?;
        Ok(Self {
            fleet,
            kind,
            name,
            pace,
            cap,
            status,
            calls,
            results,
            memories: HashMap::new(),
            busy: HashSet::new(),
            untrue: BTreeSet::new(),
            paused_until: None,
            begins_at: None,
            is_denied: false,
        })
    }

    /// Leaves what another process of this name has begun alone for as long as its calls may take, counted to `now`, the time of the server.
    pub(super) fn leave_to_the_other(&mut self, pending: &[Pending], now: Timestamp) {
        let longest = self.kind.answers_within();
        let mut left = Vec::new();
        for action in pending {
            let begun = action.last_attempt_at.filter(|_| self.is_ours(action));
            // The note says what came of it.
            if let Some(at) = begun.filter(|_| action.note.is_none()) {
                let wait = longest.saturating_sub(now.duration_since(at));
                let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
                memory.not_before = Some(Instant::now() + wait);
                left.push(wait);
            }
        }
        if let Some(wait) = left.iter().max().filter(|wait| !wait.is_zero()) {
            log_line::say(&format!(
                "{} actions that another process of this name began are left alone for up to {} s: what it called may be under way",
                left.len(),
                wait.as_secs()
            ));
        }
    }

    /// Looks and acts until `stop`; then waits for the calls that are under way.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let mut failures = 0;
        while !stop.load(Ordering::Relaxed) {
            let next = match self.round(stop) {
                Ok(()) => {
                    failures = 0;
                    self.pace.every
                }
                Err(refusal) => {
                    failures += 1;
                    self.status.fleet_lost(&refusal);
                    self.pace.every.max(pause(failures, None, random()))
                }
            };
            self.wait_for_results(next, stop);
        }
        self.calls.close();
        while let Ok(ended) = self.results.recv() {
            self.ended(ended);
        }
    }

    /// Waits that long, and does what the results of calls need at once.
    fn wait_for_results(&mut self, time: Duration, stop: &AtomicBool) {
        let until = Instant::now() + time;
        while !stop.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            match self.results.recv_timeout(left.min(LOOK)) {
                Ok(ended) => self.ended(ended),
                Err(RecvTimeoutError::Timeout) if left > LOOK => {}
                Err(_) => return,
            }
        }
    }

    /// One look at everything, or at as much as there is until `stop`.
    fn round(&mut self, stop: &AtomicBool) -> Result<(), Refusal> {
        let pending = self.fleet.pending()?;
        self.status.fleet_found();
        let numbers: HashSet<u64> = pending.iter().map(|action| action.id).collect();
        self.memories.retain(|id, memory| {
            let is_pending = numbers.contains(id);
            if !is_pending && memory.ends.is_some() {
                log_line::say(&format!(
                    "action {id} was ended by another; its desktop may be stopped, or in the running mode AUTO_STOP in place of ALWAYS_ON"
                ));
            }
            is_pending
        });
        self.status.pending(pending.len());
        let now = Instant::now();
        if self.untrue.is_empty() && !pending.iter().any(|of| self.may_call(of)) {
            self.nothing_to_ask();
        }
        if self.paused_until.is_some_and(|until| now < until) {
            return Ok(());
        }
        let mut ours: Vec<&Pending> = pending.iter().filter(|of| self.is_due(of, now)).collect();
        let may_begin = self.begins_at.is_none_or(|at| at <= now);
        // While permission is wanting, one call at a time shows whether it is there again.
        let room = match (may_begin, self.is_denied) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => usize::MAX,
        };
        if may_begin {
            self.calls.go_on();
        }
        if self.is_denied {
            // Those that were not tried for the longest time come first: none takes the turn of another.
            ours.sort_by_key(|of| self.memories.get(&of.id).and_then(|of| of.not_before));
        }
        let ours = self.within_cap(ours);
        if let Err(trouble) = self
            .look_at_all(&ours, room, stop)
            .and_then(|()| self.refresh(&pending))
        {
            self.trouble(trouble);
        }
        Ok(())
    }

    /// Looks at these, some at a time: of many the first are begun before the last are described, and where the cloud fails to show some the
    /// others are not lost.
    fn look_at_all(
        &mut self,
        ours: &[&Pending],
        mut room: usize,
        stop: &AtomicBool,
    ) -> Result<(), Trouble> {
        let mut gathered: BTreeMap<Action, Vec<Call>> = BTreeMap::new();
        let mut result = Ok(());
        for actions in ours.chunks(SHOWN_AT_ONCE) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            while let Ok(ended) = self.results.try_recv() {
                self.ended(ended);
            }
            if self.begins_at.is_some_and(|at| Instant::now() < at) {
                room = 0;
            }
            let shown = match self.shown(&desktops(actions.iter().copied())) {
                Ok(shown) => shown,
                Err(trouble) => {
                    result = Err(trouble);
                    break;
                }
            };
            if shown.is_some() {
                self.status.cloud_found(Asker::Actions);
            }
            for action in actions {
                // A server that does not answer takes seconds for each.
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let Some(call) = self.advance_action(action, shown.as_ref(), room > 0) else {
                    continue;
                };
                room -= 1;
                let kind = call.order.action;
                let calls = gathered.entry(kind).or_default();
                calls.push(call);
                if calls.len() >= self.kind.orders_max(kind) {
                    let calls = std::mem::take(calls);
                    self.begin(calls);
                }
            }
        }
        for calls in gathered.into_values() {
            self.begin(calls);
        }
        result
    }

    /// Nothing is left that could show that the cloud answers again.
    fn nothing_to_ask(&mut self) {
        self.status.cloud_found(Asker::Actions);
        if std::mem::take(&mut self.is_denied) {
            self.status.resumed();
        }
    }

    /// Whether no other provider has begun an action.
    fn is_ours(&self, action: &Pending) -> bool {
        action.provider.as_ref().is_none_or(|by| *by == self.name)
    }

    /// Whether a call of this provider for an action can be expected: it is not held back, and its desktop is one of this cloud.
    fn may_call(&self, action: &Pending) -> bool {
        let memory = self.memories.get(&action.id);
        self.is_ours(action) && memory.is_none_or(|memory| memory.message.is_none())
    }

    /// Whether this provider does something about an action now.
    fn is_due(&self, action: &Pending, now: Instant) -> bool {
        let memory = self.memories.get(&action.id);
        let waits = memory.is_some_and(|memory| memory.not_before.is_some_and(|at| now < at));
        self.is_ours(action) && !waits && !self.busy.contains(&action.workspace_id)
    }

    /// Begins the calls, all of one action, as many at once as the cloud takes.
    fn begin(&mut self, calls: Vec<Call>) {
        if self.is_denied {
            // The next is tried then, however long this one takes.
            self.begins_at = Some(Instant::now() + DENIED_PAUSE);
        }
        let Some(action) = calls.first().map(|call| call.order.action) else {
            return;
        };
        let (first, second): (Vec<Call>, Vec<Call>) = calls
            .into_iter()
            .partition(|call| call.order.stage == Stage::First);
        let at_once = self.kind.orders_max(action).max(1);
        for mut calls in [first, second] {
            while !calls.is_empty() {
                let rest = calls.split_off(calls.len().min(at_once));
                let ids = calls.iter().map(|call| call.order.workspace_id.clone());
                self.busy.extend(ids);
                self.calls.begin(calls);
                calls = rest;
            }
        }
    }
}
