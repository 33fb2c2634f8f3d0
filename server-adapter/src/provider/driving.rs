//! The loop: it looks at the whole outbox again and again and does what is missing, so that nothing is forgotten whatever was lost
//! (level-triggered, as the controllers of Kubernetes are).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Action, Timestamp};

use super::aws::desktop::MergeRecord;
use super::backoff::{pause, random};
use super::calls::{self, Call, Called, Calls, Ended};
use super::cap::Cap;
use super::fleet::{Fleet, Pending, Refusal, desktops};
use super::kind::{Kind, Order, Shown, Trouble};
use super::memory::{Memory, Standing, begun_at};
use super::status::{self, Status};
use super::step::{self, Facts, Seen, Step, decide};
use super::trace::Trace;

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
    paused_until: Option<Instant>,
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
            paused_until: None,
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
        let pending: Vec<&Pending> = pending.iter().filter(|of| self.is_ours(of, now)).collect();
        let asked = pending.iter().copied().filter(|of| of.attempts > 0);
        let shown = match self.shown(&desktops(asked)) {
            Ok(shown) => shown,
            Err(trouble) => {
                self.trouble(trouble);
                return Ok(());
            }
        };
        let mut calls: BTreeMap<&str, Vec<Call>> = BTreeMap::new();
        for action in pending {
            if let Some(call) = self.look(action, shown.as_ref()) {
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

    /// The desktops of these ids that there are; `None` where nobody can show them.
    fn shown(&self, ids: &[String]) -> Result<Option<HashMap<String, Shown>>, Trouble> {
        if !self.kind.shows() {
            return Ok(None);
        }
        let mut all = HashMap::new();
        for ids in ids.chunks(SHOWN_AT_ONCE) {
            all.extend(self.kind.show(ids)?);
        }
        Ok(Some(all))
    }

    /// Does what an action needs, but for a call.
    fn look(&mut self, action: &Pending, shown: Option<&HashMap<String, Shown>>) -> Option<Call> {
        // One that a newer server knows: another provider does.
        let kind = action.action()?;
        let memory = self.memories.entry(action.id).or_insert_with(Memory::new);
        if let Some(ended) = memory.ended.clone() {
            let trace = memory.trace.clone();
            self.report(action.id, ended, None, &trace);
            return None;
        }
        if memory.attempt == Standing::Unknown
            && let Some(note) = &action.note
        {
            memory.attempt = if note == calls::REFUSED {
                Standing::Refused
            } else {
                Standing::Begun(begun_at(action.last_attempt_at))
            };
        }
        let desktop = shown.map(|all| all.get(&action.workspace_id));
        let step = decide(Facts {
            action: kind,
            attempts: action.attempts,
            is_noted: action.note.is_some(),
            compute_type: action.compute_type.as_deref(),
            attempt: memory.last_attempt(),
            seen: match desktop {
                None => Seen::Nothing,
                Some(None) => Seen::Gone,
                Some(Some(desktop)) => Seen::Desktop(desktop),
            },
            least: self.pace.least,
        });
        let trace = memory.trace.clone();
        match step {
            Step::Begin { attempt } => return self.call(action, kind, attempt, false),
            Step::BeginSecondHalf => return self.call(action, kind, action.attempts, true),
            Step::Wait { passed } => {
                memory.passed = passed;
                if memory.attempt == Standing::Unknown {
                    memory.attempt = Standing::Begun(begun_at(action.last_attempt_at));
                }
            }
            Step::Complete => self.report(action.id, Ok(()), None, &trace),
            Step::Fail(why) => {
                let record = desktop.flatten().map(|shown| shown.record.clone());
                self.report(action.id, Err(why), record, &trace);
            }
        }
        None
    }

    fn call(
        &mut self,
        action: &Pending,
        kind: Action,
        attempt: u32,
        is_second_half: bool,
    ) -> Option<Call> {
        // Counted once: a refused attempt has destroyed nothing.
        let destroys = step::is_destructive(kind) && action.attempts == 0;
        let now = Timestamp::from(SystemTime::now());
        let may = !destroys || self.cap.take(now);
        let memory = self.memories.get_mut(&action.id)?;
        let order = Order {
            id: action.id,
            action: kind,
            workspace_id: action.workspace_id.clone(),
            compute_type: action.compute_type.clone(),
            attempt,
            is_second_half,
        };
        if !may {
            if !std::mem::replace(&mut memory.is_held_back, true) {
                status::say(&format!(
                    "{order}: held back, as --max-destructive were begun within an hour"
                ));
            }
            return None;
        }
        memory.is_held_back = false;
        Some(Call {
            order,
            trace: memory.trace.clone(),
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

    /// Takes the results of calls into account.
    fn ended(&mut self, ended: Ended) {
        for (call, result) in ended {
            let Call { order, trace } = call;
            self.busy.remove(&order.workspace_id);
            self.status.called(&order, &result, &trace);
            let Some(memory) = self.memories.get_mut(&order.id) else {
                continue;
            };
            match result {
                Called::Done => self.report(order.id, Ok(()), None, &trace),
                Called::Begun => {
                    if !matches!(memory.attempt, Standing::Begun(_)) {
                        memory.attempt = Standing::Begun(Instant::now());
                    }
                    memory.refused = None;
                }
                Called::Later { after, why } => {
                    memory.attempt = Standing::Refused;
                    self.later(&order, after, &why, &trace);
                }
                // The next look at the desktop shows what has become of it.
                Called::Lost => {
                    memory.attempt = Standing::Unknown;
                    if step::is_repeatable(order.action) {
                        self.later(&order, None, "There is no answer.", &trace);
                    }
                }
                Called::Failed(why) | Called::Forbidden(why) => {
                    self.report(order.id, Err(why), None, &trace);
                }
                Called::Denied(why) => {
                    memory.attempt = Standing::Refused;
                    self.trouble(Trouble::Denied(why));
                }
                Called::NotNoted => memory.attempt = Standing::NotBegun(order.attempt),
                // The next look at the outbox shows what has become of it.
                Called::Overtaken => memory.attempt = Standing::Unknown,
            }
        }
    }

    /// Waits before the next attempt, or gives up.
    fn later(&mut self, order: &Order, after: Option<Duration>, why: &str, trace: &Trace) {
        let Some(memory) = self.memories.get_mut(&order.id) else {
            return;
        };
        let now = Instant::now();
        let (since, before) = memory.refused.unwrap_or((now, 0));
        let failures = before + 1;
        memory.refused = Some((since, failures));
        memory.not_before = Some(now + pause(failures, after, random()));
        if since.elapsed() >= step::longest(order.action) {
            let why = format!("{why} ({failures} attempts)");
            self.report(order.id, Err(why), None, trace);
        }
    }

    /// Ends an action at the server. A failure leaves the desktop in the state ERROR; what the cloud shows is true.
    fn report(
        &mut self,
        id: u64,
        ended: Result<(), String>,
        record: Option<MergeRecord>,
        trace: &Trace,
    ) {
        let (result, said) = match &ended {
            Ok(()) => (self.fleet.complete(id, trace), "completed".to_owned()),
            Err(why) => (self.fleet.fail(id, why, trace), format!("failed: {why}")),
        };
        status::ended(id, &said, result.as_ref().err(), trace);
        match result {
            Ok(()) => {
                // Without it the next scan puts the state right.
                let record = record.and_then(|record| serde_json::to_string(&record).ok());
                let _ = self.fleet.import(record.as_slice());
            }
            // One that has ended leaves the outbox; one that is not answered is reported again.
            Err(_) => {
                if let Some(memory) = self.memories.get_mut(&id) {
                    memory.ended = Some(ended);
                }
            }
        }
    }

    fn trouble(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Denied(why) => {
                self.paused_until = Some(Instant::now() + DENIED_PAUSE);
                self.status.paused(&why);
            }
            Trouble::Later { after, why } => {
                let pause = after.unwrap_or(self.pace.every).min(DENIED_PAUSE);
                self.paused_until = Some(Instant::now() + pause);
                status::cloud_lost(&why);
            }
        }
    }
}
