//! The bodies of responses, as hyper takes them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use deskfleet::ResponseBody;
use hyper::body::{Body, Frame, SizeHint};

use super::compression::Compressor;
use super::event_body::EventBody;
use super::keyed_responses::KeyedResponse;
use super::slow_reads::{SlowReads, SourcePlace};
use crate::backups::sent_copies::FileBody;
#[cfg(feature = "http2")]
use crate::connection::http2_requests::Http2Request;
use crate::connection::progress::{Progress, Turn};
use crate::connection::request_turn::RequestTurn;
use crate::limits::budget::ResponseShare;
use crate::limits::counted::Counted;
use crate::limits::sources::{RequestPlace, Source};

/// Why a body ended early: the store could not be read. hyper ends the connection, or the stream of HTTP/2, without the end of
/// the body.
#[derive(Debug)]
pub(crate) struct Unfinished;

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rest of the response could not be read from the store")
    }
}

impl std::error::Error for Unfinished {}

/// Bytes of a whole body that are handed to a connection of HTTP/2 at a time; each piece has a write timeout to leave.
#[cfg(feature = "http2")]
const HTTP2_PIECE: usize = 32 * 1024;

/// The guards that a response keeps until its last byte is sent.
#[derive(Debug)]
pub(crate) struct ResponseGuards {
    _share: Option<ResponseShare>,
    _keyed: Option<KeyedResponse>,
}

impl ResponseGuards {
    /// Its room, unless its bytes need none, and its end with its key, if the request had one.
    pub(crate) fn new(share: Option<ResponseShare>, keyed: Option<KeyedResponse>) -> Self {
        Self {
            _share: share,
            _keyed: keyed,
        }
    }
}

/// Bytes that are being sent. hyper drops them when they are sent, or not needed any more.
struct GuardedBytes {
    bytes: Bytes,
    _guards: Arc<ResponseGuards>,
}

impl AsRef<[u8]> for GuardedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Called at the end of a body, however it ends, with the bytes that were handed to hyper.
type AtEnd = Box<dyn FnOnce(usize) + Send>;

/// The body of a response: bytes, events as they happen, a file, or chunks that are made one after another when hyper asks for
/// the next. hyper asks when its buffer has taken the one before, so at most one chunk is made in vain for a client that does not
/// read.
pub(crate) struct OutgoingBody {
    state: State,
    sent: usize,
    at_end: Option<AtEnd>,
    /// The request is being handled, and counts as one of its source, until this is dropped.
    turn: Option<Box<(Turn, RequestPlace)>>,
    /// The connection that a body in chunks is sent on.
    streaming: Option<Counted>,
    guards: Option<Arc<ResponseGuards>>,
    #[cfg(feature = "http2")]
    request: Option<Arc<Http2Request>>,
}

enum State {
    Whole(Bytes),
    Chunks(Box<Chunks>),
    Events(EventBody),
    File(FileBody),
    Over,
}

/// The result of making the next chunk, and what makes the one after it.
type Made = (ChunkMaker, Result<Option<Bytes>, Unfinished>);

/// Makes the chunks of a body, in gzip where it has a compressor.
struct ChunkMaker {
    body: ResponseBody,
    compressor: Option<Compressor>,
}

impl ChunkMaker {
    /// The next chunk, which may be empty; `None` at the end.
    fn next_chunk(&mut self) -> Result<Option<Bytes>, Unfinished> {
        let chunk = self.body.next_chunk().map_err(|_| Unfinished)?;
        let coded = match (&mut self.compressor, chunk) {
            (None, chunk) => return Ok(chunk),
            (Some(compressor), Some(chunk)) => compressor.chunk(&chunk),
            // After its last bytes the body is over.
            (compressor, None) => match compressor.take() {
                Some(compressor) => compressor.finish(),
                None => return Ok(None),
            },
        };
        coded.map(Some).map_err(|_| Unfinished)
    }
}

struct Chunks {
    /// `None` while a chunk is made.
    maker: Option<ChunkMaker>,
    making: Option<Pin<Box<dyn Future<Output = Option<Made>> + Send>>>,
    slow_reads: Arc<SlowReads>,
    source: Arc<Source>,
    _room: SourcePlace,
}

impl OutgoingBody {
    /// Whether it sends events as they happen.
    pub(crate) fn is_events(&self) -> bool {
        matches!(self.state, State::Events(_))
    }

    /// A body that is made chunk by chunk for `source`, which was given `room` for it, in gzip by `compressor` if there is one.
    pub(crate) fn streamed(
        body: ResponseBody,
        compressor: Option<Compressor>,
        slow_reads: Arc<SlowReads>,
        source: Arc<Source>,
        room: SourcePlace,
    ) -> Self {
        let chunks = Chunks {
            maker: Some(ChunkMaker { body, compressor }),
            making: None,
            slow_reads,
            source,
            _room: room,
        };
        Self::from_state(State::Chunks(Box::new(chunks)))
    }

    /// A body of events as they happen.
    pub(crate) fn events(body: EventBody) -> Self {
        Self::from_state(State::Events(body))
    }

    /// The bytes of a file.
    pub(crate) fn file(body: FileBody) -> Self {
        Self::from_state(State::File(body))
    }

    fn from_state(state: State) -> Self {
        Self {
            state,
            sent: 0,
            at_end: None,
            turn: None,
            streaming: None,
            guards: None,
            #[cfg(feature = "http2")]
            request: None,
        }
    }

    /// Its length, if it is whole.
    pub(crate) fn len(&self) -> Option<usize> {
        match &self.state {
            State::Whole(bytes) => Some(bytes.len()),
            State::Chunks(_) | State::Events(_) | State::File(_) => None,
            State::Over => Some(0),
        }
    }

    /// Calls `at_end` when the body is over or dropped.
    pub(crate) fn when_over(&mut self, at_end: AtEnd) {
        self.at_end = Some(at_end);
    }

    /// Ends the request with this body: over HTTP/1.1 a whole body ends it now; over HTTP/2 each chunk counts as in progress until it
    /// is sent. A connection with a response in chunks is not taken for an idle one.
    pub(crate) fn ending(mut self, turn: RequestTurn, progress: &Progress) -> Self {
        let in_chunks = self.len().is_none();
        self.streaming = in_chunks.then(|| progress.handling());
        match turn {
            RequestTurn::Http1(turn, place) => {
                if in_chunks {
                    progress.respond_in_chunks();
                    self.turn = Some(Box::new((turn, place)));
                }
            }
            #[cfg(feature = "http2")]
            RequestTurn::Http2(request) => self.request = Some(request),
        }
        self
    }

    /// Keeps `guards` until all of it is sent.
    pub(crate) fn holding(mut self, guards: ResponseGuards) -> Self {
        self.guards = Some(Arc::new(guards));
        self
    }

    /// A chunk for hyper.
    fn frame(&mut self, bytes: Bytes) -> Frame<Bytes> {
        self.sent += bytes.len();
        let bytes = match &self.guards {
            Some(guards) => Bytes::from_owner(GuardedBytes {
                bytes,
                _guards: Arc::clone(guards),
            }),
            None => bytes,
        };
        #[cfg(feature = "http2")]
        let bytes = match &self.request {
            Some(request) => Http2Request::sending(request, bytes),
            None => bytes,
        };
        Frame::data(bytes)
    }
}

impl From<Bytes> for OutgoingBody {
    fn from(bytes: Bytes) -> Self {
        Self::from_state(if bytes.is_empty() {
            State::Over
        } else {
            State::Whole(bytes)
        })
    }
}

impl Chunks {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Unfinished>>> {
        if let Some(mut maker) = self.maker.take() {
            let (slow_reads, source) = (Arc::clone(&self.slow_reads), Arc::clone(&self.source));
            self.making = Some(Box::pin(async move {
                let place = slow_reads.resume(&source.slow_reads).await?;
                let made = slow_reads.run(move || {
                    let chunk = maker.next_chunk();
                    drop((place, source));
                    (maker, chunk)
                });
                made.await.ok()
            }));
        }
        let Some(making) = &mut self.making else {
            return Poll::Ready(None);
        };
        let made = ready!(making.as_mut().poll(cx));
        self.making = None;
        let Some((maker, chunk)) = made else {
            // It panicked, or the runtime ends: the body is not whole.
            return Poll::Ready(Some(Err(Unfinished)));
        };
        self.maker = Some(maker);
        Poll::Ready(chunk.transpose())
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = Unfinished;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Unfinished>>> {
        #[cfg(feature = "http2")]
        let is_http2 = self.request.is_some();
        let next = match &mut self.state {
            State::Whole(bytes) => {
                #[cfg(feature = "http2")]
                if is_http2 && bytes.len() > HTTP2_PIECE {
                    let piece = bytes.split_to(HTTP2_PIECE);
                    return Poll::Ready(Some(Ok(self.frame(piece))));
                }
                let bytes = std::mem::take(bytes);
                self.state = State::Over;
                return Poll::Ready(Some(Ok(self.frame(bytes))));
            }
            State::Chunks(chunks) => loop {
                match ready!(chunks.poll_next(cx)) {
                    Some(Ok(chunk)) if chunk.is_empty() => {}
                    next => break next,
                }
            },
            State::Events(events) => ready!(events.poll_next(cx)).map(Ok),
            State::File(file) => {
                ready!(file.poll_next(cx)).map(|read| read.map_err(|_| Unfinished))
            }
            State::Over => None,
        };
        if !matches!(next, Some(Ok(_))) {
            self.state = State::Over;
        }
        Poll::Ready(next.map(|next| next.map(|bytes| self.frame(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Over)
    }

    fn size_hint(&self) -> SizeHint {
        let length = if let State::File(file) = &self.state {
            Some(file.left())
        } else {
            self.len().map(|length| length as u64)
        };
        length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl Drop for OutgoingBody {
    fn drop(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end(self.sent);
        }
    }
}
