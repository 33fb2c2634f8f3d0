//! The end of a connection: it waits for a client that is still sending, or resets it.

use std::io;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::ReadBuf;
use tokio::time::sleep;

use super::Guarded;

/// How long a connection closed with unread input goes on discarding it. Closing at once would make the kernel send a reset,
/// and a reset can take from the client the response that says why.
const LINGER: Duration = Duration::from_secs(2);
impl Drop for Guarded {
    fn drop(&mut self) {
        if self.progress.is_cut_off() {
            // What the system has of a response whose key was revoked does not leave either.
            self.socket.forget_unsent();
        }
    }
}

impl Guarded {
    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(cx))?;
        let closed = self.socket.poll_shutdown(cx).map_ok(|()| 0);
        ready!(self.guard_write(cx, closed, 0))?;
        let turn = self.progress.turn();
        let unfinished = self.head.as_ref().is_some_and(|head| head.turn == turn);
        if unfinished || self.progress.is_cut() {
            ready!(self.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }

    /// Reads and discards until the client closes; ready when it is time to close.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self
            .linger_timer
            .get_or_insert_with(|| Box::pin(sleep(LINGER)));
        if timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let mut scratch = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut scratch);
            let read = ready!(self.socket.poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    }
}
