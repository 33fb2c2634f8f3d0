//! Reading a request body within bounds of size, memory and time.

use bytes::Bytes;
use deskfleet::{BrokenBody, Upload};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::gzip::{Fault, Gunzip, STATE_BYTES};

/// One permit of the budget stands for so many bytes.
const PERMIT_BYTES: usize = 1024;
/// The content codings that are undone, as `Accept-Encoding` tells them.
pub(crate) const CODINGS: &str = "gzip, identity";

/// How much of all request bodies together may be in memory.
#[derive(Debug)]
pub(crate) struct Budget {
    room: Semaphore,
    /// Who has it may go on where there is no room: see [`Share::grow`].
    beyond: Semaphore,
}

impl Budget {
    /// A budget of about `bytes`, and of what the largest body of `largest` needs at least.
    pub(crate) fn new(bytes: usize, largest: usize) -> Self {
        let permits = permits(bytes.max(largest.saturating_add(STATE_BYTES)));
        Self {
            room: Semaphore::new(permits.min(Semaphore::MAX_PERMITS)),
            beyond: Semaphore::new(1),
        }
    }

    /// Waits until a body of `bytes` has room. One that a single permit would hold needs none: its request's head takes more.
    async fn room(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        if bytes <= PERMIT_BYTES {
            return None;
        }
        let permits = u32::try_from(permits(bytes)).unwrap_or(u32::MAX);
        // An error would mean that the semaphore was closed; nobody closes it.
        self.room.acquire_many(permits).await.ok()
    }
}

fn permits(bytes: usize) -> usize {
    bytes.div_ceil(PERMIT_BYTES)
}

/// What an upload has of the budget.
#[derive(Debug)]
pub(crate) struct Share<'b> {
    budget: &'b Budget,
    room: Option<SemaphorePermit<'b>>,
    beyond: Option<SemaphorePermit<'b>>,
}

impl<'b> Share<'b> {
    fn none(budget: &'b Budget) -> Self {
        Self {
            budget,
            room: None,
            beyond: None,
        }
    }

    /// Waits until there is room for `bytes` in all.
    ///
    /// Uploads that each have some and wait for more could wait for each other for ever. So one of them may go on beyond the
    /// budget, to its own limit at most; the others wait for it to end, if not for others.
    async fn grow(&mut self, bytes: usize) {
        let held = self.room.as_ref().map_or(0, SemaphorePermit::num_permits);
        let more = permits(bytes).saturating_sub(held);
        if more == 0 || bytes <= PERMIT_BYTES || self.beyond.is_some() {
            return;
        }
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        tokio::select! {
            biased;
            more = self.budget.room.acquire_many(more) => match (&mut self.room, more) {
                (Some(room), Ok(more)) => room.merge(more),
                (room, more) => *room = more.ok(),
            },
            beyond = self.budget.beyond.acquire() => self.beyond = beyond.ok(),
        }
    }
}

/// A body with its share of the budget.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pub(crate) bytes: Bytes,
    /// Whether bytes of the body were left unread on the connection.
    pub(crate) cut: bool,
    /// What was wrong with it, where its coding could not be undone; `bytes` are none then.
    pub(crate) broken: Option<BrokenBody>,
    /// Given back when this is dropped.
    _share: Option<SemaphorePermit<'a>>,
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

/// Reads `body`, at most one frame beyond `bytes_max`, and undoes `gzip`.
///
/// A body longer than `bytes_max`, as sent or decoded, is answered as one of `bytes_max + 1` bytes, whatever they are: the
/// engine refuses it by its length, after the checks that come before that. One that declares such a length is not read at
/// all.
pub(crate) async fn read(
    mut body: Incoming,
    gzip: bool,
    bytes_max: usize,
    budget: &Budget,
) -> hyper::Result<Held<'_>> {
    let declared = body.size_hint();
    if declared.lower() > bytes_max as u64 {
        return Ok(held(too_long(bytes_max), true, None));
    }
    let expected = declared
        .upper()
        .and_then(|bytes| usize::try_from(bytes).ok())
        .unwrap_or(bytes_max);
    if expected == 0 {
        let cut = !body.is_end_stream();
        return Ok(held(Bytes::new(), cut, None));
    }
    let mut whole = Whole {
        bytes: Vec::new(),
        bytes_max,
    };
    let mut share = if gzip {
        budget.room(bytes_max.saturating_add(STATE_BYTES)).await
    } else {
        let share = budget.room(expected).await;
        match next(&mut body).await? {
            None => return Ok(held(Bytes::new(), false, share)),
            Some(first) if body.is_end_stream() && first.len() <= bytes_max => {
                return Ok(held(first, false, share));
            }
            Some(first) => {
                whole.bytes.reserve_exact(expected.min(bytes_max));
                whole.bytes.extend_from_slice(&first);
            }
        }
        share
    };
    let decoded = pieces(&mut body, gzip, bytes_max, &mut whole).await?;
    let cut = decoded.is_err() && !body.is_end_stream();
    let (bytes, broken) = match decoded {
        Ok(()) => (whole.bytes.into(), None),
        Err(Fault::TooLong) => (too_long(bytes_max), None),
        Err(Fault::Broken(said)) => (Bytes::new(), Some(BrokenBody(said))),
    };
    if gzip && let Some(share) = &mut share {
        // What the decoded body does not need is given back.
        let kept = if bytes.len() > bytes_max {
            0
        } else {
            permits(bytes.len())
        };
        drop(share.split(share.num_permits().saturating_sub(kept)));
    }
    Ok(Held {
        broken,
        ..held(bytes, cut, share)
    })
}

/// Hands `body` to `upload` as it comes and undoes `gzip`, at most one frame beyond `bytes_max`, as sent or decoded. Answers
/// whether bytes of it were left unread, and the budget's share of what the upload has become.
pub(crate) async fn hand_over<'b>(
    mut body: Incoming,
    gzip: bool,
    bytes_max: usize,
    budget: &'b Budget,
    upload: &mut Upload,
) -> hyper::Result<(bool, Share<'b>)> {
    let mut share = Share::none(budget);
    if body.size_hint().lower() > bytes_max as u64 {
        upload.too_large();
        return Ok((true, share));
    }
    // Before anything else is held, so that nobody waits for what this one has.
    let _state = if gzip {
        budget.room(STATE_BYTES).await
    } else {
        None
    };
    let mut sink = Uploading {
        upload,
        share: &mut share,
    };
    let decoded = pieces(&mut body, gzip, bytes_max, &mut sink).await?;
    match decoded {
        Ok(()) => {}
        Err(Fault::TooLong) => upload.too_large(),
        Err(Fault::Broken(said)) => upload.broken(BrokenBody(said)),
    }
    Ok((decoded.is_err() && !body.is_end_stream(), share))
}

/// What becomes of a body, piece by piece.
trait Sink {
    /// How many bytes it has already.
    fn taken(&self) -> usize {
        0
    }

    /// Takes the next bytes; no more than are wanted in all.
    async fn take(&mut self, piece: &[u8]);
}

/// Reads and decodes to the end of the body, or to a fault.
async fn pieces(
    body: &mut Incoming,
    gzip: bool,
    bytes_max: usize,
    sink: &mut impl Sink,
) -> hyper::Result<Result<(), Fault>> {
    let mut gunzip = gzip.then(|| Gunzip::new(bytes_max));
    let mut sent = sink.taken();
    while sent <= bytes_max {
        let Some(piece) = next(body).await? else {
            return Ok(gunzip.map_or(Ok(()), |gunzip| gunzip.finish()));
        };
        sent = sent.saturating_add(piece.len());
        if sent > bytes_max {
            break;
        }
        let Some(gunzip) = &mut gunzip else {
            sink.take(&piece).await;
            continue;
        };
        let mut input = &piece[..];
        loop {
            match gunzip.next(&mut input) {
                Ok(Some(decoded)) => sink.take(decoded).await,
                Ok(None) => break,
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }
    Ok(Err(Fault::TooLong))
}

/// A body that is kept as it is.
struct Whole {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Sink for Whole {
    fn taken(&self) -> usize {
        self.bytes.len()
    }

    /// The room doubles, and never beyond what is wanted.
    async fn take(&mut self, piece: &[u8]) {
        let length = self.bytes.len().saturating_add(piece.len());
        if length > self.bytes.capacity() {
            let doubled = length.max(self.bytes.capacity().saturating_mul(2));
            let room = doubled.min(self.bytes_max.max(length));
            self.bytes.reserve_exact(room - self.bytes.len());
        }
        self.bytes.extend_from_slice(piece);
    }
}

/// A body of which only what the engine makes of it is kept.
struct Uploading<'u, 'b> {
    upload: &'u mut Upload,
    share: &'u mut Share<'b>,
}

impl Sink for Uploading<'_, '_> {
    async fn take(&mut self, piece: &[u8]) {
        self.upload.push(piece);
        self.share.grow(self.upload.bytes()).await;
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

fn held(bytes: Bytes, cut: bool, share: Option<SemaphorePermit<'_>>) -> Held<'_> {
    Held {
        bytes,
        cut,
        broken: None,
        _share: share,
    }
}

/// Stands for a body that was not kept. The pages of a zeroed allocation are never touched, so it costs no memory.
fn too_long(bytes_max: usize) -> Bytes {
    Bytes::from(vec![0; bytes_max.saturating_add(1)])
}

/// The next bytes of the body; trailers are passed over.
async fn next(body: &mut Incoming) -> hyper::Result<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
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

    #[tokio::test]
    async fn one_upload_goes_on_beyond_the_budget_and_the_others_wait() {
        let budget = Budget::new(0, 100 * PERMIT_BYTES);
        let mut first = Share::none(&budget);
        first.grow(PERMIT_BYTES).await;
        assert!(first.room.is_none(), "a head takes more");
        first.grow(100 * PERMIT_BYTES).await;
        first.grow(100 * PERMIT_BYTES + STATE_BYTES).await;
        let mut second = Share::none(&budget);
        for more in [10, 10_000] {
            second.grow(more * PERMIT_BYTES).await;
        }
        assert!(first.beyond.is_none() && second.beyond.is_some());
        let mut third = Share::none(&budget);
        {
            let mut waits = std::pin::pin!(third.grow(2 * PERMIT_BYTES));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            assert!(waits.as_mut().poll(&mut context).is_pending());
            drop(first);
            waits.await;
        }
        assert_eq!(third.room.map(|room| room.num_permits()), Some(2));
    }
}
