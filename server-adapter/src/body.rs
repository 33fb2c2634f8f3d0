//! Reading a request body within bounds of size, memory and time.

use bytes::{Bytes, BytesMut};
use deskfleet::BrokenBody;
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
pub(crate) struct Budget(Semaphore);

impl Budget {
    /// A budget of about `bytes`, and of what the largest body of `largest` needs at least.
    pub(crate) fn new(bytes: usize, largest: usize) -> Self {
        let permits = permits(bytes.max(largest.saturating_add(STATE_BYTES)));
        Self(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)))
    }

    /// Waits until a body of `bytes` has room. One that a single permit would hold needs none: its request's head takes more.
    async fn room(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        if bytes <= PERMIT_BYTES {
            return None;
        }
        let permits = u32::try_from(permits(bytes)).unwrap_or(u32::MAX);
        // An error would mean that the semaphore was closed; nobody closes it.
        self.0.acquire_many(permits).await.ok()
    }
}

fn permits(bytes: usize) -> usize {
    bytes.div_ceil(PERMIT_BYTES)
}

/// A body with its share of the budget.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pub(crate) bytes: Bytes,
    /// Whether bytes of the body were left unread on the connection.
    pub(crate) cut: bool,
    /// What was wrong with it, where its coding could not be undone; `bytes` are none then.
    pub(crate) broken: Option<BrokenBody>,
    share: Option<SemaphorePermit<'a>>,
}

/// Reads `body`, at most one frame beyond `bytes_max`, and undoes gzip where `headers` tell of it; they then no longer do.
/// What has another coding is left to the engine to refuse.
///
/// A body longer than `bytes_max`, as sent or decoded, is answered as one of `bytes_max + 1` bytes, whatever they are: the
/// engine refuses it by its length, after the checks that come before that. One that declares such a length is not read at
/// all.
pub(crate) async fn read<'b>(
    body: Incoming,
    headers: &mut HeaderMap,
    bytes_max: usize,
    budget: &'b Budget,
) -> hyper::Result<Held<'b>> {
    let gzip = is_gzip(headers);
    if gzip {
        // What is handed on is as if it had been sent so.
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
    }
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
    if gzip {
        let share = budget.room(bytes_max.saturating_add(STATE_BYTES)).await;
        return read_gzip(body, bytes_max, share).await;
    }
    let share = budget.room(expected).await;
    read_plain(body, expected, bytes_max, share).await
}

async fn read_plain(
    mut body: Incoming,
    expected: usize,
    bytes_max: usize,
    share: Option<SemaphorePermit<'_>>,
) -> hyper::Result<Held<'_>> {
    let Some(first) = next(&mut body).await? else {
        return Ok(held(Bytes::new(), false, share));
    };
    if body.is_end_stream() && first.len() <= bytes_max {
        return Ok(held(first, false, share));
    }
    let mut whole = BytesMut::with_capacity(expected.min(bytes_max));
    whole.extend_from_slice(&first);
    drop(first);
    while whole.len() <= bytes_max {
        let Some(more) = next(&mut body).await? else {
            return Ok(held(whole.freeze(), false, share));
        };
        if whole.len() + more.len() > bytes_max {
            break;
        }
        whole.extend_from_slice(&more);
    }
    Ok(held(too_long(bytes_max), true, share))
}

/// Decodes while it reads, so that the body as sent is never held. `share` is for the largest body; what the decoded one
/// does not need of it is given back.
async fn read_gzip(
    mut body: Incoming,
    bytes_max: usize,
    share: Option<SemaphorePermit<'_>>,
) -> hyper::Result<Held<'_>> {
    let mut gunzip = Gunzip::new(bytes_max);
    let mut sent = 0_usize;
    let decoded = loop {
        let Some(piece) = next(&mut body).await? else {
            break gunzip.finish();
        };
        sent = sent.saturating_add(piece.len());
        let pushed = gunzip.push(&piece);
        if sent > bytes_max {
            break Err(Fault::TooLong);
        }
        if let Err(fault) = pushed {
            break Err(fault);
        }
    };
    let cut = decoded.is_err() && !body.is_end_stream();
    let mut whole = match decoded {
        Ok(decoded) => held(decoded.into(), cut, share),
        Err(Fault::TooLong) => held(too_long(bytes_max), cut, share),
        Err(Fault::Broken(said)) => Held {
            broken: Some(BrokenBody(said)),
            ..held(Bytes::new(), cut, share)
        },
    };
    let kept = if whole.bytes.len() > bytes_max {
        0
    } else {
        permits(whole.bytes.len())
    };
    if let Some(share) = &mut whole.share {
        drop(share.split(share.num_permits().saturating_sub(kept)));
    }
    Ok(whole)
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
        share,
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
}
