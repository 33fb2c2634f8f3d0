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
use tokio::time::{Instant, timeout_at};

use crate::budget::{NoRoom, Share};
use crate::gzip::{Fault, Gunzip};

/// The content codings that are decoded, as in `Accept-Encoding`.
pub(crate) const CODINGS: &str = "gzip, identity";
/// Time that a body has for its first bytes, and for pauses.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes that a body must bring each second after [`GRACE`].
const BYTES_PER_SECOND: u64 = 1024;

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
/// and may pause for `pause_max`.
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
    let mut pace = Pace::new(pause_max);
    let decoded = pieces(&mut body, gzip, exchange, share, &mut pace).await?;
    match decoded {
        Ok(()) => {}
        Err(Fault::TooLong) => exchange.too_large(),
        Err(Fault::Broken(said)) => exchange.broken(said),
    }
    share.shrink(exchange.bytes());
    Ok(decoded.is_err() && !body.is_end_stream())
}

/// Reads and decodes to the end of the body, or to a fault.
async fn pieces(
    body: &mut Incoming,
    gzip: bool,
    exchange: &mut Exchange,
    share: &mut Share<'_>,
    pace: &mut Pace,
) -> Result<Result<(), Fault>, Unread> {
    let bytes_max = exchange.body_bytes_max();
    let mut gunzip = None;
    let mut sent = 0_usize;
    while let Some(piece) = pace.next(body).await? {
        sent = sent.saturating_add(piece.len());
        if sent > bytes_max {
            return Ok(Err(Fault::TooLong));
        }
        let began = Instant::now();
        if gzip {
            if gunzip.is_none() && !body.is_end_stream() {
                share.grow_by_state().await?;
            }
            let gunzip = gunzip.get_or_insert_with(|| Gunzip::new(bytes_max));
            let mut input = &piece[..];
            loop {
                match gunzip.next(&mut input) {
                    Ok(Some(decoded)) => keep(decoded, exchange, share).await?,
                    Ok(None) => break,
                    Err(fault) => return Ok(Err(fault)),
                }
            }
        } else {
            keep(&piece, exchange, share).await?;
        }
        pace.pause(began);
        if bytes_max == usize::MAX && exchange.is_refused() {
            // The exchange knows why; the rest could be of any length.
            return Ok(Err(Fault::Broken("The rest of the body is not read.")));
        }
    }
    Ok(gunzip.as_ref().map_or(Ok(()), Gunzip::finish))
}

/// Hands decoded bytes to the exchange, and waits for what it commits of them.
async fn keep(bytes: &[u8], exchange: &mut Exchange, share: &mut Share<'_>) -> Result<(), Unread> {
    exchange.push(bytes);
    share.grow(exchange.bytes()).await?;
    exchange.ready().await;
    Ok(())
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
    use http::HeaderValue;

    use super::*;

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
