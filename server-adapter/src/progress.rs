//! What the requests of a connection report to its socket and to the listener.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::counted::Counted;
use crate::sources::Source;

/// Time that a connection has for its first request before another of its source may take its place.
const FRESH: std::time::Duration = std::time::Duration::from_secs(1);

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
    began: Instant,
    /// When bytes last moved, in milliseconds after `began`.
    moved: AtomicU64,
    /// Requests in progress, and how many of them are still being received.
    requests: Arc<AtomicU32>,
    receiving: Arc<AtomicU32>,
    /// Whether it has one of the places that are kept for `/livez`.
    reserve: AtomicBool,
    evicted: Notify,
}

/// How little a connection does; the greatest is the first to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Idleness {
    /// Whether no request is under way.
    rests: bool,
    /// Since its last byte; the one that began first goes first among equals.
    since: std::cmp::Reverse<Instant>,
}

impl Progress {
    pub(crate) fn new(peer: IpAddr, source: Arc<Source>) -> Self {
        Self {
            peer,
            source,
            turn: AtomicU32::new(0),
            cut: AtomicBool::new(false),
            began: Instant::now(),
            moved: AtomicU64::new(0),
            requests: Arc::default(),
            receiving: Arc::default(),
            reserve: AtomicBool::new(false),
            evicted: Notify::new(),
        }
    }

    /// A request head is complete; drop the result when its response is complete.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        self.turn.fetch_add(1, Ordering::Relaxed);
        Turn(Arc::clone(self))
    }

    /// Input is left unread.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether input was left unread.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// Odd while a request is being handled; two more for each request.
    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::Relaxed)
    }

    /// Bytes have moved.
    pub(crate) fn moved(&self, now: Instant) {
        let ms = now.saturating_duration_since(self.began).as_millis();
        let ms = u64::try_from(ms).unwrap_or(u64::MAX);
        self.moved.store(ms, Ordering::Relaxed);
    }

    /// A request is being handled, or its response made while it is sent, as long as the result lives.
    pub(crate) fn handling(&self) -> Counted {
        Counted::of(&self.requests)
    }

    /// A request's body is being received, as long as the result lives.
    pub(crate) fn receiving(&self) -> Counted {
        Counted::of(&self.receiving)
    }

    /// How little it does; `None` while the server handles a request on it.
    pub(crate) fn idleness(&self) -> Option<Idleness> {
        let requests = self.requests.load(Ordering::Relaxed);
        if requests > self.receiving.load(Ordering::Relaxed) {
            return None;
        }
        let ms = self.moved.load(Ordering::Relaxed);
        Some(Idleness {
            rests: requests == 0,
            since: std::cmp::Reverse(self.began + std::time::Duration::from_millis(ms)),
        })
    }

    /// Whether it was begun just now and has not had a request yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.turn() == 0 && self.began.elapsed() < FRESH
    }

    /// Has the connection end.
    pub(crate) fn evict(&self) {
        self.evicted.notify_one();
    }

    /// Ready when the connection is to end.
    pub(crate) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// It gets one of the places that are kept for `/livez`.
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
        self.0.turn.fetch_add(1, Ordering::Relaxed);
    }
}
