//! Reading a request body within bounds of size, memory and time.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{Semaphore, SemaphorePermit};

/// One permit of the budget stands for so many bytes.
const PERMIT_BYTES: usize = 1024;

/// How much of all request bodies together may be in memory.
#[derive(Debug)]
pub(crate) struct Budget(Semaphore);

impl Budget {
    /// A budget of about `bytes`.
    pub(crate) fn new(bytes: usize) -> Self {
        let permits = bytes.div_ceil(PERMIT_BYTES);
        Self(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)))
    }

    /// Waits until a body of `bytes` has room.
    async fn room(&self, bytes: usize) -> Option<SemaphorePermit<'_>> {
        let permits = u32::try_from(bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX);
        // An error would mean that the semaphore was closed; nobody closes it.
        self.0.acquire_many(permits).await.ok()
    }
}

/// A body with its share of the budget.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    pub(crate) bytes: Bytes,
    /// Whether bytes of the body were left unread on the connection.
    pub(crate) cut: bool,
    _share: Option<SemaphorePermit<'a>>,
}

/// Reads `body`, at most one frame beyond `bytes_max`.
///
/// A body longer than `bytes_max` is answered as one of `bytes_max + 1` bytes, whatever they are: the engine refuses it by its
/// length, after the checks that come before that. One that declares such a length is not read at all.
pub(crate) async fn read(
    mut body: Incoming,
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
    let share = budget.room(expected).await;
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

fn held(bytes: Bytes, cut: bool, share: Option<SemaphorePermit<'_>>) -> Held<'_> {
    Held {
        bytes,
        cut,
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
