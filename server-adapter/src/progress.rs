//! What the requests of a connection tell its stream.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What the requests of a connection tell its stream.
#[derive(Debug)]
pub(crate) struct Progress {
    /// The other end of the connection.
    pub(crate) peer: IpAddr,
    turn: AtomicU32,
    /// Whether input was left unread.
    cut: AtomicBool,
}

impl Progress {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Self {
            peer,
            turn: AtomicU32::new(0),
            cut: AtomicBool::new(false),
        }
    }

    /// A request head is complete; the answer is to be dropped when the request is answered.
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

    /// Odd while a request is being answered; two more for each request.
    pub(crate) fn turn(&self) -> u32 {
        self.turn.load(Ordering::Relaxed)
    }
}

/// One request being answered.
#[derive(Debug)]
pub(crate) struct Turn(Arc<Progress>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.turn.fetch_add(1, Ordering::Relaxed);
    }
}
