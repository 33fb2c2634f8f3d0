//! Reading a request body within bounds of size, memory and time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{BrokenBody, Upload};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};

use crate::budget::{NoRoom, Share};
use crate::gzip::{Fault, Gunzip};

/// The content codings that are undone, as `Accept-Encoding` tells them.
pub(crate) const CODINGS: &str = "gzip, identity";
/// Time that a body has for its first bytes, and for pauses.
const GRACE: Duration = Duration::from_secs(5);
/// Beyond [`GRACE`] a body must bring so many bytes a second.
const BYTES_PER_SECOND: u64 = 1024;

/// A body as it was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) bytes: Bytes,
    /// Whether bytes of the body were left unread on the connection.
    pub(crate) cut: bool,
    /// What was wrong with it, where its coding could not be undone; `bytes` are none then.
    pub(crate) broken: Option<BrokenBody>,
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

/// Whether a body is in gzip, which is undone here; its headers then no longer tell of it, as if it had been sent so. What has
/// another coding is left to the engine to refuse.
pub(crate) fn undo_gzip(headers: &mut HeaderMap) -> bool {
    let gzip = is_gzip(headers);
    if gzip {
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
    gzip
}

/// Reads `body`, at most one frame beyond `bytes_max`, and undoes `gzip`. `share` grows with what is kept.
///
/// A body longer than `bytes_max`, as sent or decoded, is answered as one of `bytes_max + 1` bytes, whatever they are: the
/// engine refuses it by its length, after the checks that come before that. One that declares such a length is not read at
/// all.
pub(crate) async fn read(
    mut body: Incoming,
    gzip: bool,
    bytes_max: usize,
    share: &mut Share<'_>,
) -> Result<Read, Unread> {
    let declared = body.size_hint();
    if declared.lower() > bytes_max as u64 {
        return Ok(whole(too_long(bytes_max), true));
    }
    let expected = declared
        .upper()
        .and_then(|bytes| usize::try_from(bytes).ok())
        .unwrap_or(bytes_max);
    if expected == 0 {
        let cut = !body.is_end_stream();
        return Ok(whole(Bytes::new(), cut));
    }
    let mut pace = Pace::new();
    let mut kept = Whole {
        bytes: Vec::new(),
        bytes_max: if gzip {
            bytes_max
        } else {
            expected.min(bytes_max)
        },
        share,
    };
    if !gzip {
        match pace.next(&mut body).await? {
            None => return Ok(whole(Bytes::new(), false)),
            Some(first) if body.is_end_stream() && first.len() <= bytes_max => {
                share.grow(first.len()).await?;
                return Ok(whole(first, false));
            }
            Some(first) => kept.take(&first).await?,
        }
    }
    let decoded = pieces(&mut body, gzip, bytes_max, &mut pace, &mut kept).await?;
    let cut = decoded.is_err() && !body.is_end_stream();
    let (bytes, broken) = match decoded {
        Ok(()) => (Bytes::from(kept.bytes), None),
        Err(Fault::TooLong) => (too_long(bytes_max), None),
        Err(Fault::Broken(said)) => (Bytes::new(), Some(BrokenBody(said))),
    };
    share.shrink(if bytes.len() > bytes_max {
        0
    } else {
        bytes.len()
    });
    Ok(Read { bytes, cut, broken })
}

/// Hands `body` to `upload` as it comes and undoes `gzip`, at most one frame beyond `bytes_max`, as sent or decoded. `share`
/// grows with what the upload has become. Answers whether bytes of it were left unread.
pub(crate) async fn hand_over(
    mut body: Incoming,
    gzip: bool,
    bytes_max: usize,
    share: &mut Share<'_>,
    upload: &mut Upload,
) -> Result<bool, Unread> {
    if body.size_hint().lower() > bytes_max as u64 {
        upload.too_large();
        return Ok(true);
    }
    let mut sink = Uploading { upload, share };
    let decoded = pieces(&mut body, gzip, bytes_max, &mut Pace::new(), &mut sink).await?;
    match decoded {
        Ok(()) => {}
        Err(Fault::TooLong) => upload.too_large(),
        Err(Fault::Broken(said)) => upload.broken(BrokenBody(said)),
    }
    share.shrink(upload.bytes());
    Ok(decoded.is_err() && !body.is_end_stream())
}

/// What becomes of a body, piece by piece.
trait Sink {
    /// How many bytes it has already.
    fn taken(&self) -> usize {
        0
    }

    /// Waits until there is room for what decoding takes.
    async fn room_to_decode(&mut self) -> Result<(), NoRoom>;

    /// Takes the next bytes; no more than are wanted in all.
    async fn take(&mut self, piece: &[u8]) -> Result<(), NoRoom>;
}

/// Reads and decodes to the end of the body, or to a fault.
async fn pieces(
    body: &mut Incoming,
    gzip: bool,
    bytes_max: usize,
    pace: &mut Pace,
    sink: &mut impl Sink,
) -> Result<Result<(), Fault>, Unread> {
    let mut gunzip = None;
    let mut sent = sink.taken();
    while sent <= bytes_max {
        let Some(piece) = pace.next(body).await? else {
            let end = gunzip.as_ref().map_or(Ok(()), Gunzip::finish);
            return Ok(end);
        };
        sent = sent.saturating_add(piece.len());
        if sent > bytes_max {
            break;
        }
        let began = Instant::now();
        if !gzip {
            sink.take(&piece).await?;
            pace.pause(began);
            continue;
        }
        if gunzip.is_none() && !body.is_end_stream() {
            sink.room_to_decode().await?;
        }
        let gunzip = gunzip.get_or_insert_with(|| Gunzip::new(bytes_max));
        let mut input = &piece[..];
        loop {
            match gunzip.next(&mut input) {
                Ok(Some(decoded)) => sink.take(decoded).await?,
                Ok(None) => break,
                Err(fault) => return Ok(Err(fault)),
            }
        }
        pace.pause(began);
    }
    Ok(Err(Fault::TooLong))
}

/// How a body keeps up with what is demanded of it: what holds room must not hold it for nothing.
#[derive(Debug)]
struct Pace {
    /// When the body must have brought all it has to bring, but for the bytes that came.
    deadline: Instant,
}

impl Pace {
    fn new() -> Self {
        Self {
            deadline: Instant::now() + GRACE,
        }
    }

    /// The next bytes of the body; trailers are passed over.
    async fn next(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Unread> {
        loop {
            let mut frame = pin!(body.frame());
            // No timer is made for what is there already: most bodies are.
            let frame = match poll_fn(|cx| Poll::Ready(frame.as_mut().poll(cx))).await {
                Poll::Ready(frame) => frame,
                Poll::Pending => match timeout_at(self.deadline, frame).await {
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

    /// Since `began` the body waited for the server, not the server for the body.
    fn pause(&mut self, began: Instant) {
        self.deadline += began.elapsed();
    }
}

/// A body that is kept as it is.
struct Whole<'s, 'r> {
    bytes: Vec<u8>,
    bytes_max: usize,
    share: &'s mut Share<'r>,
}

impl Sink for Whole<'_, '_> {
    fn taken(&self) -> usize {
        self.bytes.len()
    }

    async fn room_to_decode(&mut self) -> Result<(), NoRoom> {
        self.share.grow_by_state().await
    }

    /// The room doubles, and never beyond what is wanted.
    async fn take(&mut self, piece: &[u8]) -> Result<(), NoRoom> {
        let length = self.bytes.len().saturating_add(piece.len());
        if length > self.bytes.capacity() {
            let doubled = length.max(self.bytes.capacity().saturating_mul(2));
            let room = doubled.min(self.bytes_max.max(length));
            self.share.grow(room).await?;
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

/// A body of which only what the engine makes of it is kept.
struct Uploading<'u, 'r> {
    upload: &'u mut Upload,
    share: &'u mut Share<'r>,
}

impl Sink for Uploading<'_, '_> {
    async fn room_to_decode(&mut self) -> Result<(), NoRoom> {
        self.share.grow_by_state().await
    }

    async fn take(&mut self, piece: &[u8]) -> Result<(), NoRoom> {
        self.upload.push(piece);
        self.share.grow(self.upload.bytes()).await
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

fn whole(bytes: Bytes, cut: bool) -> Read {
    Read {
        bytes,
        cut,
        broken: None,
    }
}

/// Stands for a body that was not kept. The pages of a zeroed allocation are never touched, so it costs no memory.
fn too_long(bytes_max: usize) -> Bytes {
    Bytes::from(vec![0; bytes_max.saturating_add(1)])
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
