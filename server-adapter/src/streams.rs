//! The requests that are under way on one connection of HTTP/2, as far as deadlines and bounds go.
//!
//! hyper and h2 tell neither when a connection rests nor when an answer has left; both are seen here from the requests and
//! from the lives of their answers' bytes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};

use crate::sources::RequestPlace;

/// Of an answer, so many bytes must leave within the write timeout.
const BYTES_PER_TIMEOUT: usize = 64 * 1024;

/// How many requests all connections together have under way, and may have.
///
/// A connection carries many, so the bound on connections alone is none on memory.
#[derive(Debug)]
pub(crate) struct Bound {
    taken: AtomicUsize,
    max: usize,
}

impl Bound {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        let taken = AtomicUsize::new(0);
        Arc::new(Self { taken, max })
    }
}

/// One place below the bound, or above it.
#[derive(Debug)]
struct Place {
    bound: Arc<Bound>,
    admitted: bool,
}

impl Place {
    fn take(bound: &Arc<Bound>) -> Self {
        let before = bound.taken.fetch_add(1, Ordering::Relaxed);
        Self {
            bound: Arc::clone(bound),
            admitted: before < bound.max,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.bound.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a connection is late with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The next request.
    Rest,
    /// Reading an answer.
    Answer,
}

/// The requests of one connection.
#[derive(Debug)]
pub(crate) struct Streams {
    under_way: Mutex<UnderWay>,
    write_timeout: Duration,
}

#[derive(Debug)]
struct UnderWay {
    /// Requests whose answer has not left.
    asked: usize,
    /// Those of them that have an answer, by number; each with its deadline.
    answers: BTreeMap<u64, Instant>,
    next_number: u64,
    /// When there was last something under way.
    rests_since: Instant,
}

impl Streams {
    pub(crate) fn new(write_timeout: Duration) -> Self {
        Self {
            under_way: Mutex::new(UnderWay {
                asked: 0,
                answers: BTreeMap::new(),
                next_number: 0,
                rests_since: Instant::now(),
            }),
            write_timeout,
        }
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A request has arrived.
    pub(crate) fn begin(
        self: &Arc<Self>,
        bound: &Arc<Bound>,
        of_source: RequestPlace,
    ) -> Arc<Asked> {
        self.lock().asked += 1;
        Arc::new(Asked {
            streams: Arc::clone(self),
            place: Place::take(bound),
            of_source,
        })
    }

    /// Ready when an answer has been left unread for too long, or when nothing has been under way for `rest`, from this call at
    /// the earliest.
    pub(crate) async fn overdue(&self, rest: Duration) -> Overdue {
        let called = Instant::now();
        loop {
            let now = Instant::now();
            let next = match self.next_deadline(called, rest) {
                (deadline, overdue) if deadline <= now => return overdue,
                (deadline, _) => deadline,
            };
            // No deadline that is set while this sleeps is before its end.
            sleep_until(next.min(now + self.write_timeout.min(rest))).await;
        }
    }

    fn next_deadline(&self, called: Instant, rest: Duration) -> (Instant, Overdue) {
        let under_way = self.lock();
        if let Some(deadline) = under_way.answers.values().min() {
            return (*deadline, Overdue::Answer);
        }
        let since = if under_way.asked == 0 {
            under_way.rests_since.max(called)
        } else {
            Instant::now()
        };
        (since + rest, Overdue::Rest)
    }
}

/// A request under way; its drop ends it, answered or not.
#[derive(Debug)]
pub(crate) struct Asked {
    streams: Arc<Streams>,
    place: Place,
    of_source: RequestPlace,
}

impl Asked {
    /// Its place among the requests of its source.
    pub(crate) fn place(&self) -> &RequestPlace {
        &self.of_source
    }

    /// Whether the server has room for it.
    pub(crate) fn is_admitted(&self) -> bool {
        self.place.admitted
    }

    /// Bytes of the answer, as they are to be sent: the request is under way until the last of them is gone.
    pub(crate) fn answered(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            // A head alone has no window to wait for.
            return bytes;
        }
        let shares = u32::try_from(bytes.len() / BYTES_PER_TIMEOUT).unwrap_or(u32::MAX);
        let time = self
            .streams
            .write_timeout
            .saturating_mul(shares.saturating_add(1));
        let number = {
            let mut under_way = self.streams.lock();
            let number = under_way.next_number;
            under_way.next_number += 1;
            under_way.answers.insert(number, Instant::now() + time);
            number
        };
        Bytes::from_owner(Leaving {
            bytes,
            number,
            asked: Arc::clone(self),
        })
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut under_way = self.streams.lock();
        under_way.asked -= 1;
        if under_way.asked == 0 {
            under_way.rests_since = Instant::now();
        }
    }
}

/// The bytes of an answer on their way out; whoever sends them drops them when they are gone, or when nobody wants them.
struct Leaving {
    bytes: Bytes,
    number: u64,
    asked: Arc<Asked>,
}

impl AsRef<[u8]> for Leaving {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.asked.streams.lock().answers.remove(&self.number);
    }
}
