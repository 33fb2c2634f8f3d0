//! The requests in progress on one connection of HTTP/2, for deadlines and bounds.
//!
//! hyper and h2 report neither when a connection rests nor when a response was sent; this derives both from the requests and from
//! the lifetime of the bytes of their responses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep_until};

use super::progress::Progress;
use crate::limits::sources::RequestPlace;
use crate::locks::lock;

/// Bytes of a response that must leave within each write timeout.
const BYTES_PER_TIMEOUT: usize = 64 * 1024;

/// The missed deadline of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The next request.
    Rest,
    /// Reading a response.
    Response,
}

/// The requests of one connection.
#[derive(Debug)]
pub(crate) struct Http2Requests {
    under_way: Mutex<UnderWay>,
    write_timeout: Duration,
    progress: Arc<Progress>,
}

#[derive(Debug)]
struct UnderWay {
    /// Requests without a sent response.
    in_progress: usize,
    /// Requests with a response that is being sent, by number, each with its deadline.
    responses: BTreeMap<u64, Instant>,
    next_number: u64,
    /// When a request was last in progress.
    rests_since: Instant,
}

impl Http2Requests {
    pub(crate) fn new(write_timeout: Duration, progress: &Arc<Progress>) -> Self {
        Self {
            under_way: Mutex::new(UnderWay {
                in_progress: 0,
                responses: BTreeMap::new(),
                next_number: 0,
                rests_since: Instant::now(),
            }),
            write_timeout,
            progress: Arc::clone(progress),
        }
    }

    /// Adds a request, which has been admitted.
    pub(crate) fn begin(self: &Arc<Self>, place: RequestPlace) -> Arc<Http2Request> {
        let mut under_way = lock(&self.under_way);
        if under_way.in_progress == 0 {
            self.progress.await_peer();
        }
        under_way.in_progress += 1;
        drop(under_way);
        Arc::new(Http2Request {
            requests: Arc::clone(self),
            place,
        })
    }

    /// Ready when a response has been left unread for too long, or when nothing has been in progress for `rest`, from this call at
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
        let under_way = lock(&self.under_way);
        if let Some(deadline) = under_way.responses.values().min() {
            return (*deadline, Overdue::Response);
        }
        let since = if under_way.in_progress == 0 {
            under_way.rests_since.max(called)
        } else {
            Instant::now()
        };
        (since + rest, Overdue::Rest)
    }
}

/// A request in progress; its drop ends it, with or without a response.
#[derive(Debug)]
pub(crate) struct Http2Request {
    requests: Arc<Http2Requests>,
    pub(crate) place: RequestPlace,
}

impl Http2Request {
    /// Bytes of the response, as they are to be sent: the request is in progress until the last of them is gone.
    pub(crate) fn sending(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
            // A head alone needs no window.
            return bytes;
        }
        let shares = u32::try_from(bytes.len() / BYTES_PER_TIMEOUT).unwrap_or(u32::MAX);
        let time = self
            .requests
            .write_timeout
            .saturating_mul(shares.saturating_add(1));
        let number = {
            let mut under_way = lock(&self.requests.under_way);
            let number = under_way.next_number;
            under_way.next_number += 1;
            under_way.responses.insert(number, Instant::now() + time);
            number
        };
        Bytes::from_owner(Leaving {
            bytes,
            number,
            request: Arc::clone(self),
        })
    }
}

impl Drop for Http2Request {
    fn drop(&mut self) {
        let mut under_way = lock(&self.requests.under_way);
        under_way.in_progress -= 1;
        if under_way.in_progress == 0 {
            under_way.rests_since = Instant::now();
            // While it rests others may get its place, whatever it brought and took before.
            self.requests.progress.await_peer();
        }
    }
}

/// Bytes of a response that is being sent. hyper drops them when they are sent, or not needed any more.
struct Leaving {
    bytes: Bytes,
    number: u64,
    request: Arc<Http2Request>,
}

impl AsRef<[u8]> for Leaving {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        lock(&self.request.requests.under_way)
            .responses
            .remove(&self.number);
    }
}
