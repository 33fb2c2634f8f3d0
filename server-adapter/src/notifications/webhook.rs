//! A thread that posts the events of the fleet to one address, in order, each until it is taken.

use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park, park_timeout};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use deskfleet::{Engine, EventStream, EventType, FleetEvent, error_chain};
use deskfleet_client::backoff;
use deskfleet_client::webhook::Secret;
use http::{Method, Request};
use sha2::{Digest as _, Sha256};
use ureq::Agent;

use super::agent::{NotTaken, agent, send};
use super::message;
use super::options::{WebhookFormat, WebhookOptions, selects, shown_url};
use super::positions::Positions;
use super::state::Receiver;
use crate::log::LogQueue;
use crate::metrics::Metrics;

/// How often the position is written while one event follows another.
const SAVE_EVERY: Duration = Duration::from_secs(1);
/// How often it is written while there is nothing to send.
const SAVE_UNSENT_EVERY: Duration = Duration::from_secs(60);
/// How often a webhook of a node looks for conditions.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The pause after the store could not be read.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// A receiver of events.
#[derive(Debug)]
pub(super) struct Webhook {
    receiver: Receiver,
    /// Stands for its address in the file of positions.
    key: String,
    url: String,
    secret: Option<Secret>,
    events: Vec<String>,
    format: WebhookFormat,
    agent: Agent,
}

/// What a thread sends from, and how far.
struct Sender<'s> {
    /// What begins each id.
    source: String,
    engine: &'s Engine,
    metrics: &'s Metrics,
    #[cfg(feature = "cluster")]
    positions: &'s Positions,
    is_stopping: &'s dyn Fn() -> bool,
}

/// Wakes the thread that waits for events.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Webhook {
    /// # Errors
    ///
    /// One sentence about the secret.
    pub(super) fn read(number: usize, options: &WebhookOptions) -> io::Result<Self> {
        let url = options.url.clone().unwrap_or_default();
        let secret = options.secret_file.as_deref().map(Secret::read);
        let secret = secret.transpose().map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("webhooks.{number}.secret_file: {error}"),
            )
        })?;
        let key = URL_SAFE_NO_PAD.encode(Sha256::digest(&url));
        Ok(Self {
            receiver: Receiver {
                webhook: Some(number),
                host: shown_url(&url),
            },
            key,
            secret,
            events: options.events.clone(),
            format: options.format,
            agent: agent(options.timeout)?,
            url,
        })
    }

    pub(super) fn receiver(&self) -> Receiver {
        self.receiver.clone()
    }

    pub(super) fn key(&self) -> String {
        self.key.clone()
    }

    /// Sends until `is_stopping` or until the engine is closed.
    pub(super) fn run(
        &self,
        engine: &Engine,
        metrics: &Metrics,
        positions: &Positions,
        is_stopping: &dyn Fn() -> bool,
    ) {
        let sender = Sender {
            source: positions.source(),
            engine,
            metrics,
            #[cfg(feature = "cluster")]
            positions,
            is_stopping,
        };
        let mut events = engine.events(positions.position(&self.key));
        let waker = Waker::from(Arc::new(Unpark(current())));
        let mut has_sent = false;
        let mut saved = (events.position(), Instant::now());
        while !is_stopping() {
            match events.poll_recv(&mut Context::from_waker(&waker)) {
                Poll::Pending => {
                    // What it does not want needs no write of its own: it is looked at again after a restart.
                    if has_sent || saved.1.elapsed() > SAVE_UNSENT_EVERY {
                        save(&events, positions, &mut saved);
                        has_sent = false;
                    }
                    if !self.send_conditions(&sender) {
                        break;
                    }
                    if is_node(engine) {
                        park_timeout(LOOK_EVERY);
                    } else {
                        park();
                    }
                }
                Poll::Ready(None) => break,
                Poll::Ready(Some(Err(error))) => {
                    let reason = error_chain(&error);
                    let line = format!("deskfleet: events cannot be read for webhooks: {reason}");
                    LogQueue::stderr().line_about("webhooks", &line);
                    wait(READ_PAUSE, is_stopping);
                }
                Poll::Ready(Some(Ok(event))) => {
                    let is_wanted =
                        event.kind == EventType::Resync || selects(&self.events, event.kind);
                    if is_wanted && !self.deliver(&event, event.id, &sender) {
                        break;
                    }
                    has_sent |= is_wanted;
                    positions.set(&self.key, event.id);
                    if has_sent && saved.1.elapsed() > SAVE_EVERY {
                        save(&events, positions, &mut saved);
                    }
                }
            }
        }
        let taken = positions.position(&self.key);
        if taken != Some(saved.0) {
            report(positions.save());
        }
    }

    /// Sends what of the conditions of a node is news to this webhook; returns false if the thread has to stop before.
    #[cfg(feature = "cluster")]
    fn send_conditions(&self, sender: &Sender<'_>) -> bool {
        let Sender {
            engine, positions, ..
        } = sender;
        // What cannot be read is not known to be over.
        let (Some(node), Ok(all)) = (engine.node_name(), engine.noted_conditions()) else {
            return true;
        };
        let mut known = positions.conditions(&self.key);
        while let Some((number, event)) = known.next(node, &all, engine.now()) {
            if selects(&self.events, event.kind) {
                positions.set_conditions(&self.key, known.clone());
                report(positions.save());
                if !self.deliver(&event, format_args!("{node}-{number}"), sender) {
                    return false;
                }
            }
            known.taken();
            positions.set_conditions(&self.key, known.clone());
            report(positions.save());
        }
        true
    }

    #[cfg(not(feature = "cluster"))]
    #[expect(clippy::unused_self, reason = "a node does something")]
    fn send_conditions(&self, _: &Sender<'_>) -> bool {
        true
    }

    /// Sends one event until it is taken; returns false if the thread has to stop before. `number` is of this event alone, among those of the
    /// sender.
    fn deliver(&self, event: &FleetEvent, number: impl Display, sender: &Sender<'_>) -> bool {
        let Sender {
            source,
            engine,
            metrics,
            is_stopping,
            ..
        } = sender;
        let body = message::body(event, self.format);
        // The same at each attempt: a receiver that has seen it does nothing again.
        let id = format!("{source}-{number}");
        let mut failures: u32 = 0;
        while !is_stopping() {
            match self.post(&id, &body) {
                Ok(()) => {
                    metrics.receivers().taken(&self.receiver);
                    return true;
                }
                Err(NotTaken {
                    reason,
                    retry_after,
                }) => {
                    let what = "events are kept and sent again, in order";
                    let receivers = metrics.receivers();
                    receivers.failed(&self.receiver, engine.now(), &reason, what);
                    failures = failures.saturating_add(1);
                    let pause = backoff::pause(failures, retry_after, backoff::random());
                    wait(pause, is_stopping);
                }
            }
        }
        false
    }

    fn post(&self, id: &str, body: &str) -> Result<(), NotTaken> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH);
        let timestamp = seconds.unwrap_or_default().as_secs();
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(&self.url)
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp);
        if let Some(secret) = &self.secret {
            request = request.header(
                "webhook-signature",
                secret.sign(id, timestamp, body.as_bytes()),
            );
        }
        let request = request.body(body.to_owned().into_bytes());
        let request = request.map_err(|_| NotTaken::new("its address cannot be used"))?;
        send(&self.agent, request)
    }
}

/// Whether the engine is a node, which has no events of its conditions.
#[cfg(feature = "cluster")]
fn is_node(engine: &Engine) -> bool {
    engine.node_name().is_some()
}

#[cfg(not(feature = "cluster"))]
const fn is_node(_: &Engine) -> bool {
    false
}

/// Writes the position, if it has changed.
fn save(events: &EventStream, positions: &Positions, saved: &mut (u64, Instant)) {
    if events.position() != saved.0 {
        report(positions.save());
    }
    *saved = (events.position(), Instant::now());
}

/// Logs that positions could not be read or written. The server works on without the file, and after a restart events may come again.
pub(super) fn report(saved: io::Result<()>) {
    if let Err(error) = saved {
        LogQueue::stderr().line_about("positions", &format!("deskfleet: {error}"));
    }
}

/// Waits that long, or until `is_stopping`.
pub(super) fn wait(time: Duration, is_stopping: &dyn Fn() -> bool) {
    let begun = Instant::now();
    while !is_stopping() {
        // New events unpark the thread too.
        let Some(left) = time
            .checked_sub(begun.elapsed())
            .filter(|left| !left.is_zero())
        else {
            return;
        };
        park_timeout(left);
    }
}
