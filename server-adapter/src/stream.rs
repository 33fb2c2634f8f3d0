//! The deadlines of one connection that hyper does not keep: a head sent byte by byte, an answer never read, and the pause
//! before closing on a client that is still sending.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// How long a connection closed with unread input goes on discarding it. Closing at once would make the kernel send a reset,
/// and a reset can take from the client the answer that told why.
const LINGER: Duration = Duration::from_secs(2);

/// What the requests of a connection tell its stream.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Odd while a request is being answered; two more for each request.
    turn: AtomicU32,
    /// Whether input was left unread.
    cut: AtomicBool,
}

impl Progress {
    /// A request head is complete; the answer is to be dropped when the request is answered.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        self.turn.fetch_add(1, Ordering::Relaxed);
        Turn(Arc::clone(self))
    }

    /// Input is left unread.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
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

/// A TCP stream that fails with [`io::ErrorKind::TimedOut`] at its deadlines.
#[derive(Debug)]
pub(crate) struct GuardedStream {
    stream: TcpStream,
    progress: Arc<Progress>,
    head_timeout: Duration,
    write_timeout: Duration,
    head: Option<Head>,
    write_timer: Option<Pin<Box<Sleep>>>,
    linger_timer: Option<Pin<Box<Sleep>>>,
}

/// A request head of which some bytes have arrived.
#[derive(Debug)]
struct Head {
    turn: u32,
    deadline: Instant,
    /// Made only once bytes are missing: most heads arrive whole.
    timer: Option<Pin<Box<Sleep>>>,
}

impl GuardedStream {
    pub(crate) fn new(
        stream: TcpStream,
        progress: Arc<Progress>,
        head_timeout: Duration,
        write_timeout: Duration,
    ) -> Self {
        Self {
            stream,
            progress,
            head_timeout,
            write_timeout,
            head: None,
            write_timer: None,
            linger_timer: None,
        }
    }

    /// Bytes arrived: if no request is being answered, they are of the next head.
    fn bytes_arrived(&mut self) {
        let turn = self.progress.turn.load(Ordering::Relaxed);
        let answering = turn % 2 == 1;
        if answering || self.head.as_ref().is_some_and(|head| head.turn == turn) {
            return;
        }
        self.head = Some(Head {
            turn,
            deadline: Instant::now() + self.head_timeout,
            timer: None,
        });
    }

    /// The head that is incomplete now, if one is.
    fn unfinished_head(&mut self) -> Option<&mut Head> {
        let turn = self.progress.turn.load(Ordering::Relaxed);
        self.head.as_mut().filter(|head| head.turn == turn)
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
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    }

    fn guard_write<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let timeout = self.write_timeout;
        let timer = self
            .write_timer
            .get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        if read.is_ready() {
            if buffer.filled().len() > before {
                this.bytes_arrived();
            }
            return read;
        }
        let Some(head) = this.unfinished_head() else {
            return Poll::Pending;
        };
        let deadline = head.deadline;
        let timer = head
            .timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, bytes);
        this.guard_write(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, slices);
        this.guard_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
        let unread = this.progress.cut.load(Ordering::Relaxed) || this.unfinished_head().is_some();
        if unread {
            ready!(this.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}
