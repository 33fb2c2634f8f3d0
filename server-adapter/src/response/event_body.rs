//! Events as they happen: the body of a stream of them, which ends when the server stops.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use deskfleet::{EventBytes, EventStream};
use tokio::sync::watch;
use tokio::time::sleep;

use super::slow_reads::SourcePlace;
use crate::limits::sources::Source;

/// The source and its next bytes; `None` at the end.
type Made = (Box<Feed>, Option<Bytes>);

/// The body of a stream of events. Its next bytes are made when hyper's buffer has taken those before. A client that does not
/// read has the deadlines of any response.
pub(crate) struct EventBody(Pin<Box<dyn Future<Output = Made> + Send>>);

impl EventBody {
    /// The body of `events`, which ends once `draining` is true; `held` lives as long as the body.
    pub(crate) fn new(
        events: EventStream,
        draining: watch::Receiver<bool>,
        held: (SourcePlace, Arc<Source>),
    ) -> Self {
        let feed = Feed {
            events: EventBytes::new(events, sleep),
            draining,
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
    events: EventBytes,
    /// Whether the server stops.
    draining: watch::Receiver<bool>,
    /// The stream holds its source, because the server forgets the counts of a source that nothing holds.
    _held: (SourcePlace, Arc<Source>),
}

impl Feed {
    async fn made(mut self: Box<Self>) -> Made {
        let bytes = tokio::select! {
            biased;
            _ = self.draining.wait_for(|draining| *draining) => None,
            bytes = self.events.next() => bytes,
        };
        (self, bytes)
    }
}
