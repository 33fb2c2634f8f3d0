//! What the requests of a connection report to its socket and to the listener.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::limits::counted::Counted;
use crate::limits::sources::Source;

/// Time that a connection has for its first request before another of its source may take its place.
const FRESH: std::time::Duration = std::time::Duration::from_secs(1);

/// Time that the client has for a part of a request or of a response before another connection may get its place.
const SLOW_AFTER: std::time::Duration = std::time::Duration::from_millis(500);
/// Bytes that must move each second after that: slow networks bring more.
const SLOW_BYTES_PER_SECOND: u64 = 16 * 1024;

/// What the requests of a connection report to its socket and to the listener.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The other end of the connection.
    pub(crate) peer: IpAddr,
    /// The source that the other end is.
    pub(crate) source: Arc<Source>,
    turn: AtomicU32,
    /// Whether input was left unread.
    cut: AtomicBool,
    /// Whether the response of HTTP/1.1 in progress has begun and is not whole yet.
    responding: AtomicBool,
    began: Instant,
    /// When bytes last moved, in milliseconds after `began`.
    moved: AtomicU64,
    /// Since when the server waits for the client to send a head or a body or to read a response: milliseconds after `began`,
    /// plus one; 0 while it rests.
    awaited: AtomicU64,
    /// Bytes that moved since.
    awaited_bytes: AtomicU64,
    /// Whether it has a place to be served at.
    served: AtomicBool,
    /// Whether its request waits for such a place.
    waiting: AtomicBool,
    /// Requests in progress, and how many of them are still being received.
    requests: Arc<AtomicU32>,
    receiving: Arc<AtomicU32>,
    /// Whether it has one of the places that are kept for `/livez`.
    reserve: AtomicBool,
    evicted: Notify,
    is_evicted: AtomicBool,
    /// Whether it has to end at once.
    cut_off: AtomicBool,
}

/// The idleness of a connection; the greatest is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Idleness {
    /// Whether no request is in progress.
    rests: bool,
    /// The time since its last byte; among equals the oldest connection is closed first.
    since: std::cmp::Reverse<Instant>,
}

impl Progress {
    pub(crate) fn new(peer: IpAddr, source: Arc<Source>) -> Self {
        Self {
            peer,
            source,
            turn: AtomicU32::new(0),
            cut: AtomicBool::new(false),
            responding: AtomicBool::new(false),
            began: Instant::now(),
            moved: AtomicU64::new(0),
            awaited: AtomicU64::new(0),
            awaited_bytes: AtomicU64::new(0),
            served: AtomicBool::new(false),
            waiting: AtomicBool::new(false),
            requests: Arc::default(),
            receiving: Arc::default(),
            reserve: AtomicBool::new(false),
            evicted: Notify::new(),
            is_evicted: AtomicBool::new(false),
            cut_off: AtomicBool::new(false),
        }
    }

    /// A request head is complete; drop the result when its response is complete.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        self.turn.fetch_add(1, Ordering::Relaxed);
        // hyper has found the begin of this request: the previous one is read to its end.
        self.cut.store(false, Ordering::Relaxed);
        self.responding.store(false, Ordering::Relaxed);
        self.await_peer();
        Turn(Arc::clone(self))
    }

    /// Records that input was left unread.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether input was left unread.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Records that a response in chunks has begun.
    pub(crate) fn respond_in_chunks(&self) {
        self.responding.store(true, Ordering::Relaxed);
    }

    /// Whether a response in chunks has begun and the next request has not.
    pub(crate) fn is_responding(&self) -> bool {
        self.responding.load(Ordering::Relaxed)
    }

    /// Odd while a request is being handled; two more for each request.
    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Records that bytes have moved.
    pub(crate) fn moved(&self, now: Instant, bytes: usize) {
        self.moved.store(self.ms(now), Ordering::Relaxed);
        self.awaited_bytes
            .fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn ms(&self, now: Instant) -> u64 {
        let ms = now.saturating_duration_since(self.began).as_millis();
        u64::try_from(ms).unwrap_or(u64::MAX)
    }

    /// From now on the server waits for the client.
    pub(crate) fn await_peer(&self) {
        self.await_peer_since(Instant::now());
    }

    /// From `now` on the server waits for the client.
    pub(crate) fn await_peer_since(&self, now: Instant) {
        self.awaited.store(self.ms(now) + 1, Ordering::Relaxed);
        self.awaited_bytes.store(0, Ordering::Relaxed);
    }

    /// Records that no request is in progress.
    pub(crate) fn set_idle(&self) {
        self.awaited.store(0, Ordering::Relaxed);
    }

    /// Whether the server waits for a client that sends or reads too slowly: never while it handles a request.
    pub(crate) fn is_slow(&self, now: Instant) -> bool {
        let awaited = self.awaited.load(Ordering::Relaxed);
        if awaited == 0 || self.is_handling() {
            return false;
        }
        let ms = self.ms(now).saturating_sub(awaited - 1);
        let bytes = self.awaited_bytes.load(Ordering::Relaxed);
        u128::from(ms) > SLOW_AFTER.as_millis() && bytes * 1000 < ms * SLOW_BYTES_PER_SECOND
    }

    fn is_handling(&self) -> bool {
        let requests = self.requests.load(Ordering::Relaxed);
        requests > self.receiving.load(Ordering::Relaxed)
    }

    /// Records that it gets or gives back a place.
    pub(crate) fn set_served(&self, served: bool) {
        self.served.store(served, Ordering::Relaxed);
    }

    /// Whether it has a place to be served at.
    pub(crate) fn is_served(&self) -> bool {
        self.served.load(Ordering::Relaxed)
    }

    /// Records whether its request waits for a place.
    pub(crate) fn set_waiting(&self, waiting: bool) {
        self.waiting.store(waiting, Ordering::Relaxed);
    }

    /// A request is being handled, or its response made while it is sent, as long as the result lives.
    pub(crate) fn handling(&self) -> Counted {
        Counted::new(&self.requests)
    }

    /// A request's body is being received, as long as the result lives.
    pub(crate) fn receiving(&self) -> Counted {
        Counted::new(&self.receiving)
    }

    /// Whether a request's body is being received.
    pub(crate) fn is_receiving(&self) -> bool {
        self.receiving.load(Ordering::Relaxed) > 0
    }

    /// Its idleness; `None` while the server handles a request on it.
    pub(crate) fn idleness(&self) -> Option<Idleness> {
        if self.is_handling() {
            return None;
        }
        let requests = self.requests.load(Ordering::Relaxed);
        let ms = self.moved.load(Ordering::Relaxed);
        Some(Idleness {
            rests: requests == 0 && !self.waiting.load(Ordering::Relaxed),
            since: std::cmp::Reverse(self.began + std::time::Duration::from_millis(ms)),
        })
    }

    /// Whether it was begun just now and has not had a request yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.turn() == 0 && self.began.elapsed() < FRESH
    }

    /// Makes the connection end.
    pub(crate) fn evict(&self) {
        self.is_evicted.store(true, Ordering::Release);
        self.evicted.notify_one();
    }

    /// Whether it is to end.
    pub(crate) fn is_evicted(&self) -> bool {
        self.is_evicted.load(Ordering::Acquire)
    }

    /// Makes the connection end at once, whatever it is sending.
    pub(crate) fn cut_off(&self) {
        self.cut_off.store(true, Ordering::Relaxed);
        self.evict();
    }

    /// Whether it is to end at once.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Relaxed)
    }

    /// Ready when the connection is to end.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// Records that it gets one of the places for `/livez`.
    pub(crate) fn keep_for_livez(&self) {
        self.reserve.store(true, Ordering::Relaxed);
    }

    /// Whether it gets no response but that of `/livez`.
    pub(crate) fn is_kept_for_livez(&self) -> bool {
        self.reserve.load(Ordering::Relaxed)
    }
}

/// One request being handled.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Progress>);

impl Drop for Turn {
    fn drop(&mut self) {
        // The time to make the response does not count.
        self.0.await_peer();
        self.0.turn.fetch_add(1, Ordering::Relaxed);
    }
}
