//! The loop: it looks at the whole outbox again and again and does what is missing, so that nothing is forgotten whatever was lost
//! (level-triggered, as the controllers of Kubernetes are).

mod results;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Action, Timestamp};

use super::backoff::{pause, random};
use super::calls::{Call, Calls, Ended};
use super::cap::Cap;
use super::fleet::{Fleet, Pending, Refusal, desktops};
use super::kind::{Kind, Order, Shown, Trouble};
use super::log_line;
use super::memory::{Memory, NotBegun, Standing};
use super::status::Status;
use super::step::{self, Facts, Seen, Step, decide};

/// How long nothing is begun after a cloud refused the credentials.
const DENIED_PAUSE: Duration = Duration::from_secs(60);
/// How long an action is left alone whose desktop the cloud does not show.
const ELSEWHERE_PAUSE: Duration = Duration::from_secs(60);
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

/// What the cloud said of a desktop when it was asked at that time.
struct Described {
    at: Instant,
    /// `None` where there is no such desktop.
    desktop: Option<Shown>,
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

    /// Looks and acts until `stop`; then waits for the calls that are under way.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let mut failures = 0;
        while !stop.load(Ordering::Relaxed) {
            let next = match self.round() {
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
            self.rest(next, stop);
        }
        self.calls.end();
        while let Ok(ended) = self.results.recv() {
            self.ended(ended);
        }
    }

    /// Waits that long, and does what the results of calls need at once.
    fn rest(&mut self, time: Duration, stop: &AtomicBool) {
        /// The longest time in which a signal is not looked at.
        const LOOK: Duration = Duration::from_millis(200);
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

    /// One look at everything.
    fn round(&mut self) -> Result<(), Refusal> {
        let pending = self.fleet.pending()?;
        self.status.fleet_found();
        let numbers: HashSet<u64> = pending.iter().map(|action| action.id).collect();
        self.memories.retain(|id, _| numbers.contains(id));
        self.status.pending(pending.len());
        let now = Instant::now();
        if self.paused_until.is_some_and(|until| now < until) {
            return Ok(());
        }
        // While permission is wanting, one call at a time shows whether it is there again.
        let mut room = match (self.begins_at.is_some_and(|at| now < at), self.is_denied) {
            (true, _) => 0,
            (false, true) => usize::from(self.busy.is_empty()),
            (false, false) => usize::MAX,
        };
        if room > 0 {
            self.calls.go_on();
        }
        let mut ours: Vec<&Pending> = pending.iter().filter(|of| self.is_ours(of, now)).collect();
        if self.is_denied {
            // Those that were not tried for the longest time come first: none takes the turn of another.
            ours.sort_by_key(|of| self.memories.get(&of.id).and_then(|of| of.not_before));
        }
        let ours = self.within_cap(ours);
        let asked = desktops(ours.iter().copied());
        let shown = self.shown(&asked);
        let refreshed = shown.and_then(|shown| self.refresh(&pending).map(|()| shown));
        let shown = match refreshed {
            Ok(shown) => shown,
            Err(trouble) => {
                self.trouble(trouble);
                return Ok(());
            }
        };
        if shown.is_some() && !asked.is_empty() {
            self.status.cloud_found();
        }
        if self.is_denied && pending.is_empty() {
            self.is_denied = false;
            self.status.resumed();
        }
        let mut calls: BTreeMap<&str, Vec<Call>> = BTreeMap::new();
        for action in ours {
            if let Some(call) = self.look(action, shown.as_ref(), room > 0) {
                room -= 1;
                let kind = call.order.action.as_str();
                calls.entry(kind).or_default().push(call);
            }
        }
        for calls in calls.into_values() {
            self.begin(calls);
        }
        Ok(())
    }

    /// Whether this provider does something about an action now.
    fn is_ours(&self, action: &Pending, now: Instant) -> bool {
        let other = action
            .provider
            .as_ref()
            .is_some_and(|name| *name != self.name);
        let memory = self.memories.get(&action.id);
        let waits = memory.is_some_and(|memory| memory.not_before.is_some_and(|at| now < at));
        !other && !waits && !self.busy.contains(&action.workspace_id)
    }

    /// Without those that destroy for the first time and are more than may begin now: they need no look.
    fn within_cap<'p>(&mut self, actions: Vec<&'p Pending>) -> Vec<&'p Pending> {
        let mut room = self.cap.room(Timestamp::from(SystemTime::now()));
        let mut within = Vec::with_capacity(actions.len());
        for action in actions {
            let destructive = action.action().filter(|of| step::is_destructive(*of));
            if let Some(kind) = destructive.filter(|_| action.attempts == 0) {
                let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
                // A server that is behind may not know it; and what is another provider's takes no room.
                let is_first = memory.attempts == 0 && memory.attempt == Standing::Unknown;
                if is_first && memory.said != Some(NotBegun::Elsewhere) {
                    if room == 0 {
                        hold_back(memory, &order(action, kind, 1, false), self.cap.max);
                        continue;
                    }
                    room -= 1;
                }
            }
            within.push(action);
        }
        within
    }

    /// What the cloud says of the desktops with these ids; `None` where nobody can show them.
    fn shown(&self, ids: &[String]) -> Result<Option<HashMap<String, Described>>, Trouble> {
        if !self.kind.shows() {
            return Ok(None);
        }
        let mut all = HashMap::new();
        for ids in ids.chunks(SHOWN_AT_ONCE) {
            let at = Instant::now();
            let mut shown = self.kind.show(ids)?;
            let described = ids.iter().map(|id| {
                let desktop = shown.remove(id);
                (id.clone(), Described { at, desktop })
            });
            all.extend(described);
        }
        Ok(Some(all))
    }

    /// Does what an action needs, but for a call.
    fn look(
        &mut self,
        action: &Pending,
        shown: Option<&HashMap<String, Described>>,
        may_begin: bool,
    ) -> Option<Call> {
        // One that a newer server knows: another provider does.
        let kind = action.action()?;
        let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
        if let Some(ended) = memory.ended.clone() {
            let trace = memory.trace.clone();
            self.report(action.id, ended, None, &trace);
            return None;
        }
        let is_noted = memory.read(action.attempts, action.note.as_deref());
        let described = shown.and_then(|all| all.get(&action.workspace_id));
        // A description may be much older than this look, and shows nothing that was begun since.
        let at = described.map_or_else(Instant::now, |described| described.at);
        let desktop = described.and_then(|described| described.desktop.as_ref());
        let seen = match (described, desktop) {
            (None, _) => Seen::Nothing,
            (Some(_), None) => Seen::Gone,
            (Some(_), Some(desktop)) => Seen::Desktop(desktop),
        };
        memory.saw(seen, at);
        let since = |begun: Instant| at.saturating_duration_since(begun);
        let step = decide(Facts {
            action: kind,
            attempts: memory.attempts,
            starts: memory.starts,
            is_noted,
            compute_type: action.compute_type.as_deref(),
            attempt: memory.last_attempt(at),
            seen,
            was_shown: memory.was_shown,
            gone_for: memory.gone_since.map_or(Duration::ZERO, since),
            known_for: since(memory.known_since),
            least: self.pace.least,
        });
        let trace = memory.trace.clone();
        match step {
            Step::Begin { .. } | Step::BeginSecondHalf { .. } if !may_begin => {}
            Step::Begin { attempt } => return self.call(order(action, kind, attempt, false)),
            Step::BeginSecondHalf { attempt } => {
                return self.call(order(action, kind, attempt, true));
            }
            Step::Wait { passed } => {
                memory.passed = passed;
                if memory.attempt == Standing::Unknown && passed {
                    memory.attempt = Standing::Begun(memory.attempts, at);
                }
            }
            Step::LookAgain => {}
            Step::NotHere => {
                memory.not_before = Some(Instant::now() + ELSEWHERE_PAUSE);
                if memory.says(NotBegun::Elsewhere) {
                    let (id, desktop) = (action.id, &action.workspace_id);
                    log_line::say(&format!(
                        "action {id}, {kind} of {desktop}: left alone, as the cloud shows no such desktop to this account in this region; where it is nowhere, end the action with POST /operator/actions/{id}/fail"
                    ));
                }
            }
            Step::Complete => self.report(action.id, Ok(()), None, &trace),
            Step::Fail(mut why) => {
                if let Some(answer) = memory.lost_to.take() {
                    why = format!("{why} {answer}");
                }
                // Of an attempt of which nothing is known the state may be that from before.
                let is_known = memory.attempt != Standing::Unknown;
                let record = desktop.filter(|_| is_known);
                let record = record.map(|shown| shown.record.clone());
                self.report(action.id, Err(why), record, &trace);
            }
        }
        None
    }

    fn call(&mut self, order: Order) -> Option<Call> {
        let memory = self.memories.get_mut(&order.id)?;
        let mut counted = None;
        if step::is_destructive(order.action) {
            counted = self.cap.take(Timestamp::from(SystemTime::now()));
            if counted.is_none() {
                hold_back(memory, &order, self.cap.max);
                return None;
            }
        }
        memory.said = None;
        Some(Call {
            order,
            trace: memory.trace.clone(),
            counted,
        })
    }

    /// Begins the calls, all of one action, as many at once as the cloud takes.
    fn begin(&mut self, calls: Vec<Call>) {
        let Some(action) = calls.first().map(|call| call.order.action) else {
            return;
        };
        let (first, second): (Vec<Call>, Vec<Call>) = calls
            .into_iter()
            .partition(|call| !call.order.is_second_half);
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

fn order(action: &Pending, kind: Action, attempt: u32, is_second_half: bool) -> Order {
    Order {
        id: action.id,
        action: kind,
        workspace_id: action.workspace_id.clone(),
        compute_type: action.compute_type.clone(),
        attempt,
        is_second_half,
    }
}

/// Says it once.
fn hold_back(memory: &mut Memory, order: &Order, max: usize) {
    if memory.says(NotBegun::HeldBack) {
        log_line::say(&format!(
            "{order}: held back, as {max} were begun within an hour (--max-destructive)"
        ));
    }
}
