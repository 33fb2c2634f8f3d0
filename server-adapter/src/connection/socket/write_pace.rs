//! How fast a client takes what is written.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// Bytes that a client must take in each write timeout, unless it takes all.
const BYTES_PER_TIMEOUT: usize = 64 * 1024;

/// Whether a client keeps up with what is written: one that takes a little now and then does not.
#[derive(Debug, Default)]
pub(super) struct WritePace {
    /// Set while the socket does not take all that is written.
    timer: Option<Pin<Box<Sleep>>>,
    /// Bytes that it took meanwhile.
    taken: usize,
}

impl WritePace {
    /// The socket took nothing; returns whether it took all before.
    pub(super) fn block(&mut self, timeout: Duration) -> bool {
        let began = self.timer.is_none();
        if began {
            self.taken = 0;
            self.timer = Some(Box::pin(sleep(timeout)));
        }
        began
    }

    /// The socket took some of `length` bytes; returns whether it was blocked before.
    pub(super) fn take(&mut self, taken: usize, length: usize) -> bool {
        let was_blocked = self.is_blocked();
        self.taken = self.taken.saturating_add(taken);
        if taken >= length || self.taken >= BYTES_PER_TIMEOUT {
            self.timer = None;
        }
        was_blocked
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.timer.is_some()
    }

    /// Ready when too little was taken for too long.
    pub(super) fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn client_that_takes_a_little_now_and_then_stays_blocked() {
        let timeout = Duration::from_secs(3600);
        let mut pace = WritePace::default();
        assert!(!pace.take(100, 1000), "it was never blocked");
        assert!(pace.block(timeout) && !pace.block(timeout));
        for _ in 0..63 {
            assert!(pace.take(1024, 100_000));
            assert!(!pace.block(timeout), "the timer goes on");
        }
        assert!(pace.take(1024, 100_000));
        assert!(!pace.is_blocked(), "64 KiB in one timeout");
        assert!(pace.block(timeout));
        assert!(pace.take(10, 10));
        assert!(!pace.is_blocked(), "all was taken");
    }
}
