//! Reading a request body within bounds of size, memory and time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use deskfleet::Exchange;
use deskfleet::routes::{RequestBody, Route};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, Version};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::task::yield_now;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

use super::gzip::{Fault, Gunzip};
use crate::connection::progress::Progress;
use crate::limits::budget::{NoRoom, Share, needs_no_room};
use crate::state::ServerState;

/// The content codings that are decoded, as in `Accept-Encoding`.
pub(crate) const CODINGS: &str = "gzip, identity";
/// Time that a body has for its first bytes, and for pauses.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes that a body must bring each second after [`GRACE`].
const BYTES_PER_SECOND: u64 = 1024;
/// Wait for the server after which it is measured anew whether the client is slow.
const PATIENCE: Duration = Duration::from_millis(100);
/// Decoded bytes after which others have their turn: reading an import takes time for each of them.
const TURN_BYTES: usize = 16 * 1024;
/// What a byte of gzip may decode to in a body of any length; lists of desktops stay far below. Other bodies have their limit.
const RATIO_MAX: usize = 200;
/// Decoded bytes that are not held to [`RATIO_MAX`].
const RATIO_FREE_BYTES: usize = 1024 * 1024;
/// Gzip above [`RATIO_MAX`].
const BOMB: Fault = Fault::Broken("The gzip body decodes to more than 200 times its length.");

/// How long, and how many bytes, of a body that nobody needs are read.
const DISCARDED_TIME_MAX: Duration = Duration::from_secs(10);
const DISCARDED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Reads what a client still sends of a body that is not needed. Over HTTP/2 the stream is reset when its body is dropped, and clients that
/// still send, such as curl and httpx, then lose the response; over HTTP/1.1 the connection looks after that as it closes. Bodies beyond
/// the places for them are dropped, because a crowd could hold many streams otherwise.
pub(crate) fn discard(shared: &ServerState, version: Version, mut body: Incoming) {
    if version != Version::HTTP_2 || body.is_end_stream() {
        return;
    }
    let Ok(place) = Arc::clone(&shared.discarded_bodies).try_acquire_owned() else {
        return;
    };
    let mut draining = shared.draining.subscribe();
    tokio::spawn(async move {
        let _place = place;
        let rest = async {
            let mut bytes = 0;
            while bytes < DISCARDED_BYTES_MAX
                && let Some(Ok(frame)) = body.frame().await
            {
                bytes += frame.data_ref().map_or(0, Bytes::len);
            }
        };
        tokio::select! {
            _ = timeout(DISCARDED_TIME_MAX, rest) => {}
            _ = draining.wait_for(|draining| *draining) => {}
        }
    });
}

/// Why a body could not be read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Its framing is broken, or the client is gone.
    Broken,
    /// It comes too slowly.
    Late,
    /// There is no room for it.
    NoRoom,
}

impl From<NoRoom> for Unread {
    fn from(NoRoom: NoRoom) -> Self {
        Self::NoRoom
    }
}

/// Whether a body is in gzip, which is decoded here; removes the headers that say so. The engine refuses other codings.
pub(crate) fn undo_gzip(headers: &mut HeaderMap) -> bool {
    let gzip = is_gzip(headers);
    if gzip {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    gzip
}

/// Whether the client waits for 100 before it sends the body; reading that sends it.
pub(crate) fn expects_continue(headers: &HeaderMap) -> bool {
    headers.contains_key(EXPECT)
}

/// How much of a body there is when its head has arrived.
#[derive(Debug)]
pub(crate) enum Arrived {
    /// All that is read of it is handed on; whether bytes are left unread on the connection.
    Whole { cut: bool },
    /// The rest is read as it arrives; the first piece, if it is here.
    Part(Option<Bytes>),
}

/// Hands a small body to `exchange` if it is here already, as most reports are: it needs no room, no timer and no turn of others.
///
/// A body that declares a length above the limit is not read at all.
pub(crate) fn arrived(
    body: &mut Incoming,
    gzip: bool,
    exchange: &mut Exchange,
) -> impl Future<Output = Result<Arrived, Unread>> {
    poll_fn(move |cx| Poll::Ready(take_arrived(body, gzip, exchange, cx)))
}

fn take_arrived(
    body: &mut Incoming,
    gzip: bool,
    exchange: &mut Exchange,
    cx: &mut Context<'_>,
) -> Result<Arrived, Unread> {
    let bytes_max = exchange.body_bytes_max();
    let declared = body.size_hint();
    if declared.lower() > bytes_max as u64 {
        exchange.too_large();
        return Ok(Arrived::Whole { cut: true });
    }
    if bytes_max == 0 || declared.upper() == Some(0) {
        let cut = !body.is_end_stream();
        return Ok(Arrived::Whole { cut });
    }
    let first = match Pin::new(&mut *body).poll_frame(cx) {
        Poll::Ready(Some(Ok(frame))) => frame.into_data().ok(),
        Poll::Ready(Some(Err(_))) => return Err(Unread::Broken),
        Poll::Ready(None) => return Ok(Arrived::Whole { cut: false }),
        Poll::Pending => None,
    };
    let is_one_value = |route: &Route| {
        // A batch takes more memory than its text, and an import waits for commits.
        !matches!(route.body, RequestBody::Batch | RequestBody::Workspaces)
    };
    let is_plain = !gzip && exchange.route().is_some_and(is_one_value);
    match first {
        Some(piece) if is_plain && needs_no_room(piece.len()) && body.is_end_stream() => {
            exchange.push(&piece);
            Ok(Arrived::Whole { cut: false })
        }
        first => Ok(Arrived::Part(first)),
    }
}

/// Hands `first` and the rest of `body` to `exchange` as it arrives and undoes `gzip`, at most one frame beyond the exchange's limit,
/// as sent or decoded. `share` grows with what the exchange keeps. Returns whether bytes of the body were left unread on the connection.
///
/// A body without a limit, an import, waits for its own commits, may pause for `pause_max`, and waits for room no longer than that.
pub(crate) async fn receive(
    body: &mut Incoming,
    first: Option<Bytes>,
    gzip: bool,
    exchange: &mut Exchange,
    share: &mut Share<'_>,
    progress: &Progress,
    pause_max: Duration,
) -> Result<bool, Unread> {
    let any_length = exchange.body_bytes_max() == usize::MAX;
    let mut intake = Intake {
        exchange,
        share,
        progress,
        // Others have a time as a whole.
        room_wait_max: if any_length { pause_max } else { Duration::MAX },
        handed_on: 0,
    };
    let decoded = pieces(body, gzip, &mut intake, Pace::new(pause_max, first)).await?;
    match decoded {
        Ok(()) => {}
        Err(Fault::TooLong) => exchange.too_large(),
        Err(Fault::Broken(message)) => exchange.broken(message),
    }
    share.finish(exchange.bytes());
    Ok(decoded.is_err() && !body.is_end_stream())
}

/// Reads and decodes to the end of the body, or to a fault.
async fn pieces(
    body: &mut Incoming,
    gzip: bool,
    intake: &mut Intake<'_, '_>,
    mut pace: Pace,
) -> Result<Result<(), Fault>, Unread> {
    let bytes_max = intake.exchange.body_bytes_max();
    let mut gunzip = None;
    let (mut sent, mut decoded_bytes) = (0_usize, 0_usize);
    while let Some(frame) = pace.next(body).await? {
        sent = sent.saturating_add(frame.len());
        if sent > bytes_max {
            return Ok(Err(Fault::TooLong));
        }
        let began = Instant::now();
        if gzip {
            if gunzip.is_none() && !body.is_end_stream() {
                intake.share.grow_by_state().await?;
            }
            let gunzip = gunzip.get_or_insert_with(|| Gunzip::new(bytes_max));
            gunzip.push(frame);
            loop {
                match gunzip.next() {
                    Ok(Some(decoded)) => {
                        decoded_bytes = decoded_bytes.saturating_add(decoded.len());
                        if bytes_max == usize::MAX && is_bomb(sent, decoded_bytes) {
                            return Ok(Err(BOMB));
                        }
                        intake.hand_on(decoded).await?;
                    }
                    Ok(None) => break,
                    Err(fault) => return Ok(Err(fault)),
                }
            }
        } else {
            intake.hand_on(&frame).await?;
        }
        if body.is_end_stream() {
            break;
        }
        if pace.pause(began) >= PATIENCE {
            intake.progress.await_peer();
        }
        if bytes_max == usize::MAX && intake.exchange.is_refused() {
            // The exchange knows why; the rest could be of any length.
            return Ok(Err(Fault::Broken("The rest of the body is not read.")));
        }
    }
    Ok(gunzip.as_ref().map_or(Ok(()), Gunzip::finish))
}

/// Whether gzip of `sent` bytes decodes to more than text for people does: each byte would cost too much.
fn is_bomb(sent: usize, decoded: usize) -> bool {
    decoded.saturating_sub(RATIO_FREE_BYTES) > sent.saturating_mul(RATIO_MAX)
}

/// Where the bytes of a body go.
struct Intake<'i, 'r> {
    exchange: &'i mut Exchange,
    share: &'i mut Share<'r>,
    progress: &'i Progress,
    /// The longest wait for room.
    room_wait_max: Duration,
    /// Bytes handed on since others had their turn.
    handed_on: usize,
}

impl Intake<'_, '_> {
    /// Hands decoded bytes to the exchange, and waits for what it commits of them. Others have their turn after each [`TURN_BYTES`].
    async fn hand_on(&mut self, bytes: &[u8]) -> Result<(), Unread> {
        for piece in bytes.chunks(TURN_BYTES) {
            if self.handed_on >= TURN_BYTES {
                self.handed_on = 0;
                yield_now().await;
            }
            self.handed_on += piece.len();
            self.exchange.push(piece);
            // The client is not slow where it waits for the server.
            let handling = self.progress.handling();
            let room = self.share.grow(self.exchange.bytes());
            let room = in_time(self.room_wait_max, room).await;
            room.map_err(|_| Unread::NoRoom)??;
            self.exchange.ready().await;
            self.share.shrink(self.exchange.bytes());
            drop(handling);
        }
        Ok(())
    }
}

/// `future` with a timeout, for which no timer is made when it is ready at once: most bodies are there already.
pub(crate) async fn in_time<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    match poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => timeout(limit, future).await,
    }
}

/// How a body keeps up with what is demanded of it: what holds room must not hold it for nothing.
#[derive(Debug)]
struct Pace {
    /// When the body must have brought all it has to bring, but for the bytes that came.
    deadline: Instant,
    /// The longest time without a byte, whatever came before.
    pause_max: Duration,
    /// A piece that has come already.
    first: Option<Bytes>,
}

impl Pace {
    fn new(pause_max: Duration, first: Option<Bytes>) -> Self {
        Self {
            deadline: Instant::now() + GRACE,
            pause_max,
            first,
        }
    }

    /// The next bytes of the body; trailers are passed over.
    async fn next(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
        let data = loop {
            if let Some(first) = self.first.take() {
                break first;
            }
            let frame = in_time(self.time_left(), body.frame()).await;
            let Some(frame) = frame.map_err(|_| Unread::Late)? else {
                return Ok(None);
            };
            let frame = frame.map_err(|_| Unread::Broken)?;
            if let Ok(data) = frame.into_data() {
                break data;
            }
        };
        let micros = 1_000_000 * data.len() as u64 / BYTES_PER_SECOND;
        self.deadline += Duration::from_micros(micros);
        Ok(Some(data))
    }

    /// For the next byte.
    fn time_left(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.min(self.pause_max)
    }

    /// Since `began` the body waited for the server, not the server for the body; returns how long.
    fn pause(&mut self, began: Instant) -> Duration {
        let waited = began.elapsed();
        self.deadline += waited;
        waited
    }
}

/// Whether gzip is the only coding of the body. `x-gzip` is an old name of it (RFC 9110, section 8.4.1.3).
fn is_gzip(headers: &HeaderMap) -> bool {
    let mut gzip = 0;
    for value in headers.get_all(CONTENT_ENCODING) {
        for coding in value.to_str().unwrap_or("?").split(',').map(str::trim) {
            if ["gzip", "x-gzip"]
                .iter()
                .any(|name| coding.eq_ignore_ascii_case(name))
            {
                gzip += 1;
            } else if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
                return false;
            }
        }
    }
    gzip == 1
}

#[cfg(test)]
mod tests;
