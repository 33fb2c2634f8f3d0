//! Reading a request body within bounds of size, memory and time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::Exchange;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::task::yield_now;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

use crate::budget::{NoRoom, Share};
use crate::gzip::{Fault, Gunzip};

/// The content codings that are decoded, as in `Accept-Encoding`.
pub(crate) const CODINGS: &str = "gzip, identity";
/// Time that a body has for its first bytes, and for pauses.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes that a body must bring each second after [`GRACE`].
const BYTES_PER_SECOND: u64 = 1024;
/// Decoded bytes after which others have their turn: reading an import takes time for each of them.
const TURN_BYTES: usize = 16 * 1024;
/// What a byte of gzip may decode to in a body of any length; lists of desktops stay far below. Other bodies have their limit.
const RATIO_MAX: usize = 200;
/// Decoded bytes that are not held to [`RATIO_MAX`].
const RATIO_FREE_BYTES: usize = 1024 * 1024;
/// Gzip above [`RATIO_MAX`].
const BOMB: Fault = Fault::Broken("The gzip body decodes to more than 200 times its length.");

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

/// Hands `body` to `exchange` as it arrives and undoes `gzip`, at most one frame beyond the exchange's limit, as sent or decoded.
/// `share` grows with what the exchange keeps. Returns whether bytes of the body were left unread on the connection.
///
/// A body that declares a length above the limit is not read at all. One without a limit, an import, waits for its own commits,
/// may pause for `pause_max`, and waits for room no longer than that.
pub(crate) async fn receive(
    mut body: Incoming,
    gzip: bool,
    exchange: &mut Exchange,
    share: &mut Share<'_>,
    pause_max: Duration,
) -> Result<bool, Unread> {
    let bytes_max = exchange.body_bytes_max();
    let declared = body.size_hint();
    if declared.lower() > bytes_max as u64 {
        exchange.too_large();
        return Ok(true);
    }
    if bytes_max == 0 || declared.upper() == Some(0) {
        return Ok(!body.is_end_stream());
    }
    let any_length = bytes_max == usize::MAX;
    let mut intake = Intake {
        exchange,
        share,
        // Others have a time as a whole.
        room_wait_max: if any_length { pause_max } else { Duration::MAX },
        handed_on: 0,
    };
    let decoded = pieces(&mut body, gzip, &mut intake, Pace::new(pause_max)).await?;
    match decoded {
        Ok(()) => {}
        Err(Fault::TooLong) => exchange.too_large(),
        Err(Fault::Broken(said)) => exchange.broken(said),
    }
    share.end(exchange.bytes());
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
            let mut input = &frame[..];
            loop {
                match gunzip.next(&mut input) {
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
        pace.pause(began);
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
            let room = self.share.grow(self.exchange.bytes());
            let room = in_time(self.room_wait_max, room).await;
            room.map_err(|_| Unread::NoRoom)??;
            self.exchange.ready().await;
            self.share.shrink(self.exchange.bytes());
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
}

impl Pace {
    fn new(pause_max: Duration) -> Self {
        Self {
            deadline: Instant::now() + GRACE,
            pause_max,
        }
    }

    /// The next bytes of the body; trailers are passed over.
    async fn next(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
        loop {
            let mut frame = pin!(body.frame());
            // No timer is made for what is there already: most bodies are.
            let frame = match poll_fn(|cx| Poll::Ready(frame.as_mut().poll(cx))).await {
                Poll::Ready(frame) => frame,
                Poll::Pending => match timeout_at(self.next_deadline(), frame).await {
                    Ok(frame) => frame,
                    Err(_) => return Err(Unread::Late),
                },
            };
            let Some(frame) = frame else {
                return Ok(None);
            };
            let frame = frame.map_err(|_| Unread::Broken)?;
            if let Ok(data) = frame.into_data() {
                let micros = 1_000_000 * data.len() as u64 / BYTES_PER_SECOND;
                self.deadline += Duration::from_micros(micros);
                return Ok(Some(data));
            }
        }
    }

    fn next_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.pause_max)
    }

    /// Since `began` the body waited for the server, not the server for the body.
    fn pause(&mut self, began: Instant) {
        self.deadline += began.elapsed();
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
mod tests {
    use std::task::{Context, Waker};
    use std::time::SystemTime;

    use deskfleet::{Engine, NewKey, Scope};
    use http::{HeaderValue, Request};

    use crate::budget::Room;
    use crate::gzip::STATE_BYTES;

    use super::*;

    /// An import that has begun.
    fn import() -> Exchange {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        let engine = builder.open_in_memory().unwrap();
        let new = NewKey {
            name: "admin".to_owned(),
            scopes: [Scope::Admin].into_iter().collect(),
            expires: None,
        };
        let request = Request::post("/operator/workspaces")
            .header("content-type", "application/x-ndjson")
            .header("x-api-key", engine.issue_key(new).unwrap().secret);
        let exchange = engine.begin(request.body(()).unwrap().into_parts().0);
        assert!(!exchange.is_refused());
        exchange
    }

    fn intake<'i, 'r>(exchange: &'i mut Exchange, share: &'i mut Share<'r>) -> Intake<'i, 'r> {
        Intake {
            exchange,
            share,
            room_wait_max: Duration::ZERO,
            handed_on: 0,
        }
    }

    fn lines(count: usize) -> Vec<u8> {
        let line = |id| {
            format!(
                "{{\"workSpId\":\"ws-{id}\",\"username\":\"u{id}\",\"region\":\"eu-central-1\",\"state\":\"AVAILABLE\"}}\n"
            )
        };
        (0..count).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn import_of_which_nothing_is_accepted_gives_others_their_turn() {
        let room = Room::new(0, 1024 * 1024);
        let (mut exchange, mut share) = (import(), Share::none(&room, &room));
        let mut intake = intake(&mut exchange, &mut share);
        let mut turns = 0;
        // Half of them in one large frame, half as gzip is decoded.
        let large = b"x\n".repeat(4 * TURN_BYTES / 2);
        for frame in [&large[..]].into_iter().chain(large.chunks(TURN_BYTES)) {
            let mut handing = pin!(intake.hand_on(frame));
            let mut context = Context::from_waker(Waker::noop());
            while handing.as_mut().poll(&mut context).is_pending() {
                turns += 1;
            }
        }
        assert_eq!(turns, 7, "between eight pieces");
    }

    #[tokio::test]
    async fn import_gives_back_the_room_of_what_is_committed() {
        let (total, largest) = (1024 * 1024 + STATE_BYTES, 1024 * 1024);
        let (all, source) = (Room::new(0, largest), Room::new(0, largest));
        let (mut exchange, mut share) = (import(), Share::none(&source, &all));
        // A part gathers while the one before is committed, and is then itself committed.
        let lines = lines(2000);
        intake(&mut exchange, &mut share)
            .hand_on(&lines)
            .await
            .unwrap();
        let mut beyond = Share::none(&source, &all);
        beyond.grow(total + 1).await.unwrap();
        let rest = total - exchange.bytes().next_multiple_of(1024);
        let mut other = Share::none(&source, &all);
        let grown = in_time(Duration::ZERO, other.grow(rest)).await;
        assert_eq!(grown.unwrap(), Ok(()));
        // No room is left: another import waits for it no longer than it may.
        let mut late = Share::none(&source, &all);
        let handed_on = intake(&mut import(), &mut late).hand_on(&lines).await;
        assert_eq!(handed_on, Err(Unread::NoRoom));
    }

    #[test]
    fn gzip_of_any_length_decodes_to_200_times_its_length_after_the_first_mebibyte() {
        for (sent, decoded, refused) in [
            (1, RATIO_FREE_BYTES, false),
            (20, RATIO_FREE_BYTES + 4000, false),
            (20, RATIO_FREE_BYTES + 4001, true),
        ] {
            assert_eq!(is_bomb(sent, decoded), refused, "{sent} to {decoded}");
        }
    }

    #[test]
    fn only_a_lone_gzip_is_undone() {
        let undone = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
            }
            is_gzip(&headers)
        };
        for good in [
            &["gzip"][..],
            &["GZip"],
            &["X-GZIP"],
            &["identity , gzip", ""],
        ] {
            assert!(undone(good), "{good:?}");
        }
        for other in [
            &[][..],
            &["identity"],
            &["gzip, gzip"],
            &["gzip", "gzip"],
            &["gzip, br"],
            &["gzip;q=1"],
        ] {
            assert!(!undone(other), "{other:?}");
        }
    }
}
