//! [`Upload`]: a request whose body arrives in pieces.

use std::fmt;
use std::sync::Arc;

use http::request::Parts;

use crate::api::endpoint::BrokenBody;
use crate::api::upload;
use crate::engine_core::EngineCore;

use super::{Engine, ResponseFuture};

/// A telemetry batch, `POST /operator/telemetry`, whose body arrives in pieces.
///
/// What can be checked by its head is checked when it begins. The lines are read as they come, and only what they become is
/// kept: the encoded records, the first 100 line errors, and the line that is cut. Nothing is accepted before
/// [`Self::finish`], which submits all of it at once; an upload that is dropped leaves nothing behind. The answer is that of
/// [`Engine::call`] to the whole request, byte for byte, however the body is cut.
///
/// ```
/// use bytes::Bytes;
/// use deskfleet::{Engine, NewKey, Scope};
/// use http::Request;
///
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = std::pin::pin!(future);
/// #     loop {
/// #         let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
/// #             return output;
/// #         }
/// #     }
/// # }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::in_memory()?;
/// let key = engine.issue_key(NewKey { name: "app".into(), scopes: [Scope::Admin].into_iter().collect(), expires: None })?;
/// let request = Request::post("/operator/telemetry").header("x-api-key", &key.secret);
/// let (head, ()) = request.body(())?.into_parts();
///
/// let mut upload = engine.upload(&head).ok_or("another request: use `call`")?;
/// for piece in [r#"{"stats":{"username":"jd"#, "oe\"}}\n{\"activity\":{}", "}"] {
///     upload.push(piece.as_bytes());
/// }
/// assert_eq!(engine.queue_count(), 0);
/// let response = block_on(upload.finish());
/// assert_eq!(response.body(), r#"{"accepted":2,"rejected":0,"errors":[]}"#);
/// assert_eq!(engine.queue_count(), 2);
/// # Ok(())
/// # }
/// ```
#[must_use = "an upload that is dropped accepts nothing"]
pub struct Upload {
    core: Arc<EngineCore>,
    upload: upload::Upload,
}

impl Upload {
    /// Takes the next bytes of the body, its content coding undone. Above
    /// [`Limits::batch_body_bytes`](crate::Limits::batch_body_bytes) in all the upload is refused.
    pub fn push(&mut self, piece: &[u8]) {
        self.upload.push(&self.core, piece);
    }

    /// The host knows otherwise that the body is too large, by the length that its head tells for one.
    pub fn too_large(&mut self) {
        self.upload.too_large(&self.core);
    }

    /// The content coding of the body cannot be undone any further.
    pub fn broken(&mut self, broken: BrokenBody) {
        self.upload.broken(broken);
    }

    /// Whether the answer is a refusal already, and what still comes of the body in vain.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.upload.is_refused()
    }

    /// The memory that it takes, in bytes, to the nearest few KiB: encoded records, line errors and the line that is cut,
    /// which is at most that of the largest record or a little more.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.upload.bytes()
    }

    /// Answers the request, at the end of the body. What was read is submitted at once, in this call; the future waits until
    /// it is durable, and dropping it takes nothing back.
    pub fn finish(self) -> ResponseFuture {
        let (step, traceparent) = self.upload.finish(&self.core);
        ResponseFuture::of(self.core, step, || traceparent)
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("bytes", &self.bytes())
            .field("is_refused", &self.is_refused())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// Begins a request whose body arrives in pieces, by its head. `None` when it is not of that kind: then the body is to be
    /// read whole, and the request to be given to [`Self::call`].
    #[must_use]
    pub fn upload(&self, head: &Parts) -> Option<Upload> {
        let core = &self.running.core;
        let upload = upload::Upload::begin(core, &self.running.router, head)?;
        Some(Upload {
            core: Arc::clone(core),
            upload,
        })
    }
}

#[cfg(test)]
mod tests;
