//! Events as they happen, as server-sent events: the body of a stream of them.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{Engine, EventStream, EventType, FleetEvent};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::slow_reads::SourcePlace;
use crate::limits::sources::Source;

/// Time without an event after which a comment is sent, so that neither end takes the other for gone.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// Bytes of events that leave together; the last event may exceed it.
const CHUNK_BYTES: usize = 16 * 1024;
/// A comment: an empty line ends it.
const COMMENT: &[u8] = b":\n\n";

/// The source and its next bytes; `None` at the end.
type Made = (Box<Feed>, Option<Bytes>);

/// The body of a stream of events. Its next bytes are made when hyper's buffer has taken those before. A client that does not
/// read has the deadlines of any response.
pub(crate) struct EventBody(Pin<Box<dyn Future<Output = Made> + Send>>);

impl EventBody {
    /// The body of `events`, which ends once `draining` is true; `held` lives as long as the body.
    pub(crate) fn new(
        engine: Engine,
        events: EventStream,
        draining: watch::Receiver<bool>,
        held: (SourcePlace, Arc<Source>),
    ) -> Self {
        let feed = Feed {
            engine,
            events,
            draining,
            // The comment is sent at once, because some proxies hold the head back until the first byte of the body.
            comment_at: Instant::now(),
            _held: held,
        };
        Self(Box::pin(Box::new(feed).made()))
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let (feed, bytes) = ready!(self.0.as_mut().poll(cx));
        if bytes.is_some() {
            self.0 = Box::pin(feed.made());
        }
        Poll::Ready(bytes)
    }
}

/// The source of the bytes of one stream.
struct Feed {
    engine: Engine,
    events: EventStream,
    /// Whether the server stops.
    draining: watch::Receiver<bool>,
    comment_at: Instant,
    /// The source is the same as long as something of it runs.
    _held: (SourcePlace, Arc<Source>),
}

impl Feed {
    async fn made(mut self: Box<Self>) -> Made {
        let bytes = self.next().await;
        (self, bytes)
    }

    /// The next bytes; `None` once the server stops, the engine is closed, the key is no longer accepted, or events cannot be read.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let look_at = self.look_at();
            let event = tokio::select! {
                biased;
                _ = self.draining.wait_for(|draining| *draining) => return None,
                // This reads on the event loop: a few events that were just written, or at most 64.
                event = self.events.recv() => Some(event?.ok()?),
                () = sleep_until(look_at) => None,
            };
            if let Some(first) = event {
                self.comment_at = Instant::now() + COMMENT_EVERY;
                return Some(self.with_others(&first));
            }
            if self.comment_at <= Instant::now() {
                self.comment_at = Instant::now() + COMMENT_EVERY;
                return Some(Bytes::from_static(COMMENT));
            }
        }
    }

    /// When to wake without an event: for a comment, or when the key expires.
    fn look_at(&self) -> Instant {
        let Some(expires) = self.events.expires() else {
            return self.comment_at;
        };
        let left = expires.duration_since(self.engine.now());
        // A millisecond later, because the two clocks differ.
        let expires_at = Instant::now().checked_add(left + Duration::from_millis(1));
        expires_at.map_or(self.comment_at, |at| at.min(self.comment_at))
    }

    /// An event, and the existing ones after it.
    fn with_others(&mut self, first: &FleetEvent) -> Bytes {
        let mut text = String::new();
        write_event(&mut text, first);
        while text.len() < CHUNK_BYTES
            && let Some(Ok(event)) = self.events.next()
        {
            write_event(&mut text, &event);
        }
        text.into()
    }
}

/// An event in the form of the standard. Its JSON is one line.
fn write_event(text: &mut String, event: &FleetEvent) {
    // Only stored events have an id to resume after. Writing to a text cannot fail.
    if event.kind != EventType::Resync {
        let _ = writeln!(text, "id: {}", event.id);
    }
    let (kind, json) = (event.kind.as_str(), event.to_json());
    let _ = write!(text, "event: {kind}\ndata: {json}\n\n");
}
