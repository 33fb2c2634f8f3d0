//! The socket of one connection: its deadlines, which hyper does not keep, and responses that leave together.

mod closing;
mod io_traits;
mod transport;
mod write_pace;

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::{self, MaybeUninit};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::ReadBuf;
use tokio::time::{Instant, Sleep, sleep_until};

use super::progress::Progress;
use crate::locks::lock;
use crate::options::ServerOptions;

pub(crate) use self::transport::Transport;
use self::write_pace::WritePace;

/// Rest after which a connection of HTTP/1.1 is parked: hyper keeps 8 KiB and more for each connection, and most agents rest for
/// most of the time. Where others wait to be served it is parked at once.
const PARK_AFTER: Duration = Duration::from_millis(100);
/// What is read ahead of hyper at once, in bytes; also what a connection without a place may keep of a head.
const AHEAD_MAX: usize = 1024;
/// Bytes of responses that wait for the end of the connection's turn; more are written at once.
const GATHERED_MAX: usize = 16 * 1024;
/// What a resting connection may keep of the memory of its gathered responses, in bytes.
const GATHERED_KEPT: usize = 2 * 1024;

/// How long a client that closed its side before its response began is still served, counted from the last move of a response. Most such
/// clients are gone; some close their side after their last request, as `nc -N` does.
const HALF_CLOSED_MAX: Duration = Duration::from_secs(2);

/// What hyper is to do no more on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Anything: it is over, by itself or by a deadline.
    Over,
    /// To wait for the next request: nothing of it has come for a while.
    Rest,
}

/// The socket of a connection, for hyper and for the task that drives hyper. Clones are the same socket; both are used in that
/// task, so the lock is always free.
#[derive(Debug, Clone)]
pub(crate) struct Socket(Arc<Mutex<Guarded>>);

impl Socket {
    pub(crate) fn new(socket: Transport, progress: Arc<Progress>, options: &ServerOptions) -> Self {
        Self(Arc::new(Mutex::new(Guarded {
            socket,
            progress,
            ahead: Vec::new(),
            head_timeout: options.head_timeout,
            idle_timeout: options.idle_timeout,
            write_timeout: options.write_timeout,
            head: None,
            moved_at: Instant::now(),
            parked: true,
            hyper_waits: false,
            input_ended: None,
            read_timer: None,
            gathered: Vec::new(),
            write_pace: WritePace::default(),
            linger_timer: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        lock(&self.0)
    }

    /// Drives hyper's connection; what it writes is let go at the end of each turn. Returns when hyper is needed no more, for good
    /// or for now.
    pub(crate) async fn drive<F: Future>(&self, mut connection: Pin<&mut F>) -> End {
        poll_fn(|cx| self.poll_with(connection.as_mut(), cx)).await
    }

    fn poll_with<F: Future>(&self, connection: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<End> {
        let over = connection.poll(cx).is_ready();
        let mut guarded = self.lock();
        let sent = guarded.poll_send(cx);
        if over || matches!(sent, Poll::Ready(Err(_))) || guarded.watch_input(cx).is_err() {
            return Poll::Ready(End::Over);
        }
        guarded.poll_overdue(cx)
    }

    /// hyper takes over.
    pub(crate) fn unpark(&self) {
        self.lock().parked = false;
    }

    /// hyper has let go, and had read `ahead`.
    pub(crate) fn park(&self, ahead: &[u8]) {
        let mut guarded = self.lock();
        guarded.parked = true;
        guarded.gathered = Vec::new();
        if !ahead.is_empty() {
            guarded.ahead.splice(..0, ahead.iter().copied());
            guarded.bytes_arrived(Instant::now());
        }
    }

    /// Reads ahead until there is something of the next request; false when there will be nothing.
    pub(crate) async fn next(&self) -> bool {
        poll_fn(|cx| {
            let mut guarded = self.lock();
            if guarded.ahead.is_empty() {
                let read = ready!(guarded.poll_ahead(cx));
                return Poll::Ready(matches!(read, Ok(1..)));
            }
            Poll::Ready(true)
        })
        .await
    }

    /// Whether more was read ahead than a connection without a place may keep.
    pub(crate) fn holds_much(&self) -> bool {
        self.lock().ahead.len() > AHEAD_MAX
    }

    /// Whether what was read ahead asks for `/livez`.
    pub(crate) fn asks_livez(&self) -> bool {
        const TARGET: &[u8] = b"/livez";
        let guarded = self.lock();
        let target = [&b"GET "[..], b"HEAD "]
            .iter()
            .find_map(|method| guarded.ahead.strip_prefix(*method));
        let Some((path, rest)) = target.and_then(|target| target.split_at_checked(TARGET.len()))
        else {
            return false;
        };
        let ends = rest.first().is_some_and(|byte| b" ?/".contains(byte));
        ends && path.eq_ignore_ascii_case(TARGET)
    }

    /// Reads ahead until it is clear whether the connection begins with these bytes, which are read again afterwards. An error
    /// when there is nothing to serve.
    #[cfg(feature = "http2")]
    pub(crate) async fn begins_with(&self, beginning: &[u8]) -> io::Result<bool> {
        poll_fn(|cx| {
            let mut guarded = self.lock();
            loop {
                if guarded.ahead.starts_with(beginning) {
                    return Poll::Ready(Ok(true));
                }
                if !beginning.starts_with(&guarded.ahead) {
                    return Poll::Ready(Ok(false));
                }
                if ready!(guarded.poll_ahead(cx))? == 0 {
                    return Poll::Ready(Ok(false));
                }
            }
        })
        .await
    }
}

/// A connection with its deadlines.
///
/// Those for reading are of HTTP/1.1, where heads come one after another. A head that is pipelined behind
/// another request and is incomplete when its turn comes is in hyper's buffer, out of sight: until its next byte arrives
/// the connection counts as resting, for the time until it is parked.
#[derive(Debug)]
struct Guarded {
    socket: Transport,
    progress: Arc<Progress>,
    /// Read from the socket and not yet handed on.
    ahead: Vec<u8>,
    head_timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    head: Option<Head>,
    /// Whether hyper does not wait for requests here; of HTTP/2 it always is.
    parked: bool,
    /// Whether hyper waits for bytes since its last turn, and so sees the end of the input itself.
    hyper_waits: bool,
    /// When the end of the input was seen while a request was being handled.
    input_ended: Option<Instant>,
    /// When a response last moved on; rest is counted from here.
    moved_at: Instant,
    /// Set to a deadline for reading or to an earlier moment, so that it need not be set for each request.
    read_timer: Option<Pin<Box<Sleep>>>,
    /// Responses that hyper has written and the socket has not.
    gathered: Vec<u8>,
    write_pace: WritePace,
    linger_timer: Option<Pin<Box<Sleep>>>,
}

/// A request head of which some bytes have arrived.
#[derive(Debug)]
struct Head {
    turn: u32,
    /// Set only once bytes are missing: most heads arrive whole.
    deadline: Option<Instant>,
}

impl Guarded {
    /// Bytes arrived: if no request is being handled, they are of the next head.
    fn bytes_arrived(&mut self, now: Instant) {
        let turn = self.progress.turn();
        let is_handling = turn % 2 == 1;
        if is_handling || self.head.as_ref().is_some_and(|head| head.turn == turn) {
            return;
        }
        self.progress.await_peer_since(now);
        self.head = Some(Head {
            turn,
            deadline: None,
        });
    }

    /// When it is too late for the next byte, and what follows then. None while a request is being handled or its response read, unless
    /// the client has closed its side.
    fn read_deadline(&mut self) -> Option<(Instant, End)> {
        // A response that the client reads too slowly has its own deadline.
        if let Some(ended) = self.input_ended
            && !self.write_pace.is_blocked()
        {
            return Some((self.moved_at.max(ended) + HALF_CLOSED_MAX, End::Over));
        }
        let turn = self.progress.turn();
        if turn % 2 == 1 || self.write_pace.is_blocked() || self.linger_timer.is_some() {
            return None;
        }
        let timeout = self.head_timeout;
        if let Some(head) = self.head.as_mut().filter(|head| head.turn == turn) {
            let deadline = head
                .deadline
                .get_or_insert_with(|| Instant::now() + timeout);
            return Some((*deadline, End::Over));
        }
        if self.progress.is_cut() {
            // hyper alone knows where the body ends that was left unread. So it is not put away, and the connection keeps its place, which
            // others may get.
            return Some((self.moved_at + self.idle_timeout, End::Over));
        }
        self.progress.set_idle();
        let park_after = if self.progress.source.is_crowded() {
            Duration::ZERO
        } else {
            PARK_AFTER
        };
        Some(if self.parked || self.idle_timeout <= park_after {
            (self.moved_at + self.idle_timeout, End::Over)
        } else {
            (self.moved_at + park_after, End::Rest)
        })
    }

    /// Ready when the next byte is overdue. Called when everything that can be read is read and handled.
    fn poll_overdue(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let Some((deadline, end)) = self.read_deadline() else {
            return Poll::Pending;
        };
        let timer = self
            .read_timer
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() > deadline {
            timer.as_mut().reset(deadline);
        }
        loop {
            ready!(timer.as_mut().poll(cx));
            if timer.deadline() >= deadline {
                return Poll::Ready(end);
            }
            timer.as_mut().reset(deadline);
        }
    }

    /// Reads from the socket.
    fn poll_socket(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(self.socket.poll_read(cx, buffer))?;
        let read = buffer.filled().len() - before;
        if read > 0 {
            let now = Instant::now();
            self.bytes_arrived(now);
            self.progress.moved(now, read);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            let read = self.poll_socket(cx, buffer);
            self.hyper_waits = read.is_pending();
            return read;
        }
        self.bytes_arrived(Instant::now());
        let length = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(self.ahead.get(..length).unwrap_or_default());
        self.ahead.drain(..length);
        if self.ahead.is_empty() {
            self.ahead = Vec::new();
            // hyper discards no more of an unread body than what one read brings. An end comes again, and an error as one or with the next write.
            let _ = self.poll_socket(cx, buffer);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads some bytes ahead within the deadlines; returns how many, none at the end.
    fn poll_ahead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let read = self.read_ahead(cx);
        if read.is_pending() {
            ready!(self.poll_overdue(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }

    fn read_ahead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // Room for a whole head, so that most are read by one system call.
        let mut room = [MaybeUninit::uninit(); AHEAD_MAX];
        let mut buffer = ReadBuf::uninit(&mut room);
        ready!(self.poll_socket(cx, &mut buffer))?;
        self.ahead.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(buffer.filled().len()))
    }

    /// Looks for the end of the input while a request of HTTP/1.1 waits for its response. hyper would look with 8 KiB of memory for each
    /// request, because the bytes of the request are still in its buffer. An error when the client is gone.
    fn watch_input(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        let hyper_waits = mem::take(&mut self.hyper_waits);
        let is_handling = !self.parked && self.progress.turn() % 2 == 1;
        let knows = hyper_waits || self.input_ended.is_some() || !self.ahead.is_empty();
        // A body is hyper's to read.
        if !is_handling || knows || self.progress.is_receiving() {
            return Ok(());
        }
        let Poll::Ready(read) = self.read_ahead(cx) else {
            return Ok(());
        };
        if read? == 0 {
            if self.progress.is_responding() {
                // It closes in the middle of a response, such as a stream of events.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.input_ended = Some(Instant::now());
        }
        Ok(())
    }

    /// Takes what hyper writes. Responses that are ready in one turn of the connection leave in one write at its end: a client
    /// that pipelines sees several at once.
    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length: usize = slices.iter().map(|slice| slice.len()).sum();
        if self.gathered.len() + length > GATHERED_MAX {
            ready!(self.poll_send(cx))?;
        }
        if length <= GATHERED_MAX {
            for slice in slices {
                self.gathered.extend_from_slice(slice);
            }
            self.moved_at = Instant::now();
            return Poll::Ready(Ok(length));
        }
        let written = self.socket.poll_write(cx, slices);
        if written.is_ready() {
            self.moved_at = Instant::now();
        }
        self.guard_write(cx, written, length)
    }

    /// Writes what is gathered.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.gathered.is_empty() {
            let slices = [IoSlice::new(&self.gathered)];
            let written = self.socket.poll_write(cx, &slices);
            let length = self.gathered.len();
            let written = ready!(self.guard_write(cx, written, length))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.gathered.drain(..written);
        }
        if self.gathered.capacity() > GATHERED_KEPT {
            self.gathered = Vec::new();
        }
        if self.socket.holds() {
            let flushed = self.socket.poll_flush(cx).map_ok(|()| 0);
            ready!(self.guard_write(cx, flushed, 0))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Holds a write of `length` bytes to its time: a client that reads a little now and then does not keep a connection.
    fn guard_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
        length: usize,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            let taken = *written.as_ref().unwrap_or(&0);
            if self.write_pace.take(taken, length) {
                self.moved_at = Instant::now();
            }
            self.progress.moved(self.moved_at, taken);
            return Poll::Ready(written);
        }
        if self.write_pace.block(self.write_timeout) {
            self.progress.await_peer();
        }
        ready!(self.write_pace.poll_overdue(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}
