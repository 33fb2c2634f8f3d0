//! [`ResponseBody`]: a body that may be made while it is sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::api::Chunks;
use crate::engine_core::EngineCore;
use crate::error::{EngineError, ErrorKind, Result};
use crate::observer::Event;

/// The body of a response of [`Engine::respond`](super::Engine::respond): all of its bytes, or a list of any length that is made
/// chunk by chunk, as fast as the caller takes it.
///
/// A chunk has about 64 KiB, and a body holds less than 1 MiB in all, whatever its length. Making a chunk reads one snapshot of
/// the store and blocks for that, typically 1 to 50 ms; between two chunks nothing of the store is held.
///
/// An error after the first chunk means that the response cannot be finished: a server must end the connection, so that the
/// client does not mistake a part for the whole.
#[must_use = "a body that nobody reads is lost"]
pub struct ResponseBody {
    ready: Option<Bytes>,
    rest: Option<(Arc<EngineCore>, Chunks)>,
    /// The id of the request's key.
    key: Option<u64>,
}

impl ResponseBody {
    pub(super) fn streamed(
        first: Bytes,
        core: Arc<EngineCore>,
        chunks: Chunks,
        key: Option<u64>,
    ) -> Self {
        Self {
            ready: Some(first),
            rest: Some((core, chunks)),
            key,
        }
    }

    /// The length in bytes; `None` while chunks follow.
    #[must_use]
    pub fn len(&self) -> Option<usize> {
        let ready = self.ready.as_ref().map_or(0, Bytes::len);
        self.rest.is_none().then_some(ready)
    }

    /// Whether all of it was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The next chunk; `None` at the end, and after an error. The first one is made already. A chunk of an export may be empty,
    /// after many instances without a record in the range.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidApiKey`] once the key of the request is no longer accepted; any other kind when the store cannot be read any
    /// longer, mostly [`ErrorKind::StorageUnavailable`].
    pub fn next_chunk(&mut self) -> Result<Option<Bytes>> {
        if let Some(ready) = self.take_ready() {
            return Ok(Some(ready));
        }
        let Some((core, mut chunks)) = self.rest.take() else {
            return Ok(None);
        };
        if self.key.is_some_and(|key| !core.is_accepted(key)) {
            let message = "The key of this response is no longer accepted.";
            return Err(EngineError::new(ErrorKind::InvalidApiKey, message));
        }
        let chunk = chunks.next_chunk(&core).inspect_err(|error| {
            if error.kind() != ErrorKind::StorageUnavailable {
                core.observe(&Event::Internal { error });
            }
        })?;
        if !chunks.is_over() {
            self.rest = Some((core, chunks));
        }
        Ok(chunk.map(Bytes::from))
    }

    /// The first chunk, which is made already; `None` after it.
    pub(super) fn take_ready(&mut self) -> Option<Bytes> {
        self.ready.take().filter(|ready| !ready.is_empty())
    }

    /// What is left of it, if no chunks follow: empty if it was taken already. `None` if chunks follow.
    pub fn take_whole(&mut self) -> Option<Bytes> {
        match self.rest {
            None => Some(self.ready.take().unwrap_or_default()),
            Some(_) => None,
        }
    }

    /// All of it at once, whatever its length.
    ///
    /// # Errors
    /// Those of [`Self::next_chunk`].
    pub fn into_bytes(mut self) -> Result<Bytes> {
        if let Some(whole) = self.take_whole() {
            return Ok(whole);
        }
        let mut whole = Vec::new();
        while let Some(chunk) = self.next_chunk()? {
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self {
            ready: Some(bytes),
            rest: None,
            key: None,
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
