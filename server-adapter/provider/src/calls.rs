//! Calls, on threads of their own: one that takes minutes delays no other.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use deskfleet::Timestamp;
use deskfleet::locks::lock;
use serde_json::Value;

use super::fleet::{Fleet, REFUSED, Refusal};
use super::kind::{Answer, Kind, Order, Stage};
use super::log_line;
use super::trace::Trace;

/// What is noted of an action that has happened, before the running mode of its desktop is switched back.
const SWITCHED_BACK: &str = "switching the running mode back";
/// How often the note of an attempt is sent again when there is no answer.
const NOTES: u32 = 3;
/// A process that did not begin its calls within this time of their notes was frozen: another one may have its lease by now.
const SENT_WITHIN: Duration = Duration::from_secs(5);
/// Where noting the attempts of a call took longer, what was noted first may be forbidden by now.
const NOTED_WITHIN: Duration = Duration::from_secs(1);

/// An order, and the trace of its action.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) order: Order,
    pub(super) trace: Trace,
    /// When it was counted as one that destroys, if it is one.
    pub(super) counted: Option<Timestamp>,
}

/// How a call went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Called {
    /// The action has happened.
    Done,
    /// It is under way.
    Begun,
    /// It was refused for now.
    Later {
        after: Option<Duration>,
        why: String,
    },
    /// It was refused.
    Failed(String),
    /// Nothing can be begun before a person has done something.
    Denied(String),
    /// Whether it was begun is unknown, for this reason.
    Lost(String),
    /// Whether the attempt is noted is unknown, for this reason: it was not begun.
    NotNoted(String),
    /// It was given back before anything was noted: this process ends, or the cloud refuses the credentials.
    NotTried,
    /// The action has ended, or somebody else has begun an attempt.
    Overtaken,
    /// It must not be carried out.
    Forbidden(String),
}

impl Called {
    /// Whether it may have destroyed something, where the action does. Who shows the desktops refuses before anything is done; a program may
    /// fail in the middle.
    pub(super) fn may_have_happened(&self, shows: bool) -> bool {
        match self {
            Self::Done | Self::Begun | Self::Lost(_) => true,
            Self::Failed(_) => !shows,
            Self::Later { .. }
            | Self::Denied(_)
            | Self::NotNoted(_)
            | Self::NotTried
            | Self::Overtaken
            | Self::Forbidden(_) => false,
        }
    }

    /// Whether the attempt is noted at the server.
    pub(super) fn is_noted(&self) -> bool {
        match self {
            Self::Done
            | Self::Begun
            | Self::Later { .. }
            | Self::Failed(_)
            | Self::Denied(_)
            | Self::Lost(_) => true,
            Self::NotNoted(_) | Self::NotTried | Self::Overtaken | Self::Forbidden(_) => false,
        }
    }

    /// Whether the cloud denied it; `None` where that does not show.
    pub(super) fn is_denied(&self) -> Option<bool> {
        match self {
            Self::Denied(_) => Some(true),
            Self::Done | Self::Begun | Self::Failed(_) => Some(false),
            Self::Later { .. }
            | Self::Lost(_)
            | Self::NotNoted(_)
            | Self::NotTried
            | Self::Overtaken
            | Self::Forbidden(_) => None,
        }
    }
}

/// The calls that ended together.
pub(super) type Ended = Vec<(Call, Called)>;

/// The threads.
#[derive(Debug)]
pub(super) struct Calls {
    /// `None` once there will be no more.
    queue: Option<Sender<Vec<Call>>>,
    /// Whether what is queued is given back unbegun.
    is_over: Arc<AtomicBool>,
    /// The same until [`Self::go_on`], as the cloud refuses the credentials.
    is_denied: Arc<AtomicBool>,
}

impl Calls {
    /// Starts the threads; what they did comes out of the receiver.
    pub(super) fn start(
        fleet: &Fleet,
        kind: &Arc<dyn Kind>,
        name: &str,
        threads: usize,
    ) -> io::Result<(Self, Receiver<Ended>)> {
        let (queue, orders) = channel::<Vec<Call>>();
        let (results, ended) = channel();
        let orders = Arc::new(Mutex::new(orders));
        let (is_over, is_denied) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        for _ in 0..threads.max(1) {
            let (orders, results) = (Arc::clone(&orders), results.clone());
            let (is_over, is_denied) = (Arc::clone(&is_over), Arc::clone(&is_denied));
            let (fleet, kind, name) = (fleet.clone(), Arc::clone(kind), name.to_owned());
            let thread = Builder::new().name("deskfleet-calls".into());
            thread.spawn(move || {
                loop {
                    // The lock is held while it waits: the others wait for the lock.
                    let next = lock(&orders).recv();
                    let Ok(calls) = next else {
                        return;
                    };
                    let stops = [&is_over, &is_denied];
                    let ended = if stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
                        let untried = |call| (call, Called::NotTried);
                        calls.into_iter().map(untried).collect()
                    } else {
                        carry_out_or_lose(&fleet, &*kind, &name, calls)
                    };
                    let is_denied_now =
                        |(_, called): &(_, Called)| matches!(called, Called::Denied(_));
                    if ended.iter().any(is_denied_now) {
                        is_denied.store(true, Ordering::Relaxed);
                    }
                    if results.send(ended).is_err() {
                        return;
                    }
                }
            })?;
        }
        let queue = Some(queue);
        let calls = Self {
            queue,
            is_over,
            is_denied,
        };
        Ok((calls, ended))
    }

    /// Queues calls that the cloud takes at once.
    pub(super) fn begin(&self, calls: Vec<Call>) {
        if let Some(queue) = &self.queue {
            // The threads live as long as the queue.
            let _ = queue.send(calls);
        }
    }

    /// Begins calls again after the cloud refused the credentials.
    pub(super) fn go_on(&self) {
        self.is_denied.store(false, Ordering::Relaxed);
    }

    /// Begins no others. The receiver ends once those that are under way have.
    pub(super) fn close(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.queue = None;
    }
}

/// The same where a panic ends it: what was begun is not known, and this thread goes on.
fn carry_out_or_lose(fleet: &Fleet, kind: &dyn Kind, name: &str, calls: Vec<Call>) -> Ended {
    let carried_out = std::panic::catch_unwind(AssertUnwindSafe(|| {
        carry_out(fleet, kind, name, calls.clone())
    }));
    carried_out.unwrap_or_else(|_| {
        let lost = |call| {
            (
                call,
                Called::Lost("there is a bug in the provider.".to_owned()),
            )
        };
        calls.into_iter().map(lost).collect()
    })
}

/// Notes the attempts, and begins those that are noted.
fn carry_out(fleet: &Fleet, kind: &dyn Kind, name: &str, calls: Vec<Call>) -> Ended {
    let mut ended = Vec::with_capacity(calls.len());
    if let Some(call) = calls.first() {
        kind.wait(call.order.action);
    }
    let noted = note_attempts(fleet, name, calls, &mut ended);
    if noted.is_empty() {
        return ended;
    }
    let noted_at = Instant::now();
    for call in &noted {
        if let Some(note) = standing(&call.order) {
            // Without it another process reboots the desktop once more.
            let _ = fleet.note_request_id(call.order.id, call.order.attempt, note, &call.trace);
        }
    }
    if !kind.shows() {
        // It may run for long, and nothing else says that it does.
        for Call { order, trace, .. } in &noted {
            log_line::say(&format!(
                "{order}, attempt {}: begun (trace {trace})",
                order.attempt
            ));
        }
    }
    let orders: Vec<Order> = noted.iter().map(|call| call.order.clone()).collect();
    let keep = |record: &Value| fleet.import(&[record.to_string()]) == Ok(1);
    if noted_at.elapsed() > SENT_WITHIN {
        let why = "this process was frozen after it noted the attempt";
        let not_begun = noted
            .into_iter()
            .map(|call| (call, Called::NotNoted(why.to_owned())));
        ended.extend(not_begun);
        return ended;
    }
    let answers = kind.send(&orders, &keep);
    let mut answers = answers.into_iter();
    for call in noted {
        let answer = answers.next();
        let answer = answer.unwrap_or_else(|| Answer::Lost("There is no answer.".to_owned()));
        let called = match answer {
            Answer::Done => Called::Done,
            Answer::Accepted(request_id) => {
                if let Some(id) = request_id.filter(|_| standing(&call.order).is_none()) {
                    // Without it the attempt is one of which nothing is known, should this process end: no more than that.
                    let _ =
                        fleet.note_request_id(call.order.id, call.order.attempt, &id, &call.trace);
                }
                Called::Begun
            }
            Answer::Later { after, why } => {
                note_refusal(fleet, &call);
                Called::Later { after, why }
            }
            Answer::Failed(why) => Called::Failed(why),
            Answer::Denied(why) => {
                note_refusal(fleet, &call);
                Called::Denied(why)
            }
            Answer::Lost(why) => Called::Lost(why),
        };
        ended.push((call, called));
    }
    ended
}

/// Notes the attempts; returns the calls whose attempt is noted.
fn note_attempts(fleet: &Fleet, name: &str, calls: Vec<Call>, ended: &mut Ended) -> Vec<Call> {
    let mut noted = calls;
    // What takes long is done again, which changes nothing but that a hold or a cancellation meanwhile is noticed.
    for _ in 0..2 {
        let begun = Instant::now();
        let mut accepted = Vec::with_capacity(noted.len());
        for call in noted {
            match note_attempt(fleet, name, &call) {
                Ok(()) => accepted.push(call),
                Err(called) => ended.push((call, called)),
            }
        }
        noted = accepted;
        if begun.elapsed() < NOTED_WITHIN {
            break;
        }
    }
    noted
}

/// What is noted of an attempt whatever its answer is: the action has happened before it, or was refused.
fn standing(order: &Order) -> Option<&'static str> {
    match order.stage {
        Stage::First | Stage::Start => None,
        Stage::AlwaysOn { is_failed: true } => Some(REFUSED),
        Stage::AlwaysOn { is_failed: false } => Some(SWITCHED_BACK),
    }
}

/// Notes that the attempt was refused: otherwise another process would not know whether it was begun.
fn note_refusal(fleet: &Fleet, call: &Call) {
    if standing(&call.order).is_some() {
        return;
    }
    // Without it what cannot be repeated is left to a person, should this process end: no harm, but a nuisance.
    let _ = fleet.note_request_id(call.order.id, call.order.attempt, REFUSED, &call.trace);
}

fn note_attempt(fleet: &Fleet, name: &str, call: &Call) -> Result<(), Called> {
    let Order { id, attempt, .. } = call.order;
    let mut sent = 0;
    loop {
        match fleet.dispatch(id, name, attempt, &call.trace) {
            Ok(()) => return Ok(()),
            Err(Refusal::Unreachable(_)) if sent + 1 < NOTES => sent += 1,
            Err(Refusal::Unreachable(why)) => return Err(Called::NotNoted(why)),
            Err(Refusal::Problem { code, message, .. }) if code == "LitigationHold" => {
                return Err(Called::Forbidden(message));
            }
            Err(Refusal::Problem {
                status: 404 | 409, ..
            }) => return Err(Called::Overtaken),
            Err(refusal) => return Err(Called::NotNoted(refusal.to_string())),
        }
    }
}
