//! [`EventBytes`]: events as they happen, as server-sent events.

use std::fmt;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderValue, Response};

use crate::model::{EventType, FleetEvent};

use super::EventStream;

/// Time without an event after which a comment is sent, so that neither end takes the other for gone.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// Bytes of events that leave together; the last event may exceed it.
const CHUNK_BYTES: usize = 16 * 1024;
/// A comment: an empty line ends it.
const COMMENT: &[u8] = b":\n\n";
/// Keeps nginx from buffering events.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A pause of the host's runtime.
pub(super) type Pause = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Begins a pause.
pub(super) type Timer = dyn Fn(Duration) -> Pause + Send + Sync;

/// The bytes of a stream of events in the form of server-sent events, for a host that sends them itself.
///
/// Its first bytes are a comment, because some proxies hold the head back until the first byte of the body. The bytes after them
/// are made when they are asked for, so a slow reader costs nothing. It ends once the engine is closed, the key of the stream is no
/// longer accepted, or events cannot be read.
#[must_use = "nothing is sent before the bytes are asked for"]
pub struct EventBytes {
    events: EventStream,
    timer: Box<Timer>,
    pause: Option<Pause>,
    has_begun: bool,
}

impl EventBytes {
    /// The bytes of `events`. `timer` begins a pause of the host's runtime, such as `tokio::time::sleep`: after 15 seconds without
    /// an event a comment is sent, and the stream ends when its key expires.
    pub fn new<P>(
        events: EventStream,
        timer: impl Fn(Duration) -> P + Send + Sync + 'static,
    ) -> Self
    where
        P: Future<Output = ()> + Send + 'static,
    {
        Self {
            events,
            timer: Box::new(move |duration| Box::pin(timer(duration))),
            pause: None,
            has_begun: false,
        }
    }

    /// The head of a server-sent event response around `body`: 200, with the headers that keep proxies and caches from holding it.
    #[must_use]
    pub fn response<B>(body: B) -> Response<B> {
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-store"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (ACCEL_BUFFERING, "no"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// The next bytes; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Bytes> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// As [`Self::next`], but polled. It reads from the store within the call, 64 events at a time, until 16 KiB are full.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.has_begun {
            self.has_begun = true;
            return Poll::Ready(Some(Bytes::from_static(COMMENT)));
        }
        if let Poll::Ready(events) = self.poll_events(context) {
            self.pause = None;
            return Poll::Ready(events);
        }
        let length = self.pause_length();
        let pause = self.pause.get_or_insert_with(|| (self.timer)(length));
        if pause.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.pause = None;
        // The key may have expired meanwhile.
        match self.poll_events(context) {
            ready @ Poll::Ready(_) => ready,
            Poll::Pending => Poll::Ready(Some(Bytes::from_static(COMMENT))),
        }
    }

    /// The next events as bytes; `None` at the end of the stream, and when it cannot be read.
    fn poll_events(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.events.poll_recv(context).map(|event| match event {
            Some(Ok(first)) => Some(self.with_others(&first)),
            None | Some(Err(_)) => None,
        })
    }

    /// Until a comment, or until the key expires and a millisecond more, because the two clocks differ.
    fn pause_length(&self) -> Duration {
        let left = |expires| self.events.left_until(expires) + Duration::from_millis(1);
        let left = self.events.expires().map(left);
        left.map_or(COMMENT_EVERY, |left| left.min(COMMENT_EVERY))
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

impl fmt::Debug for EventBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBytes")
            .field("events", &self.events)
            .finish_non_exhaustive()
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
