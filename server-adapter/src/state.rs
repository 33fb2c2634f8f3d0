//! What all connections of a server have in common.

use std::sync::OnceLock;

use bytes::Bytes;
use deskfleet::Engine;
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;

use crate::body::Budget;
use crate::options::ServerOptions;

/// hyper's buffer for one connection, in bytes. It must hold a whole head: one within it that is beyond the engine's own
/// limits is refused by the engine with a problem body, one beyond it by hyper with a bare 431.
const BUFFER_BYTES: usize = 64 * 1024;

/// What every connection of a server shares.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) options: ServerOptions,
    pub(crate) openapi: OnceLock<Bytes>,
    pub(crate) budget: Budget,
    pub(crate) http: http1::Builder,
}

impl ServerState {
    pub(crate) fn new(engine: Engine, options: ServerOptions) -> Self {
        let limits = &engine.config().limits;
        let largest_body = limits
            .record_body_bytes
            .max(limits.processes_body_bytes)
            .max(limits.batch_body_bytes);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            // hyper's timer also runs while a connection rests; the deadline of a begun head is the stream's.
            .header_read_timeout(options.idle_timeout)
            .max_buf_size(BUFFER_BYTES);
        Self {
            budget: Budget::new(options.bodies_bytes_max, largest_body),
            openapi: OnceLock::new(),
            engine,
            options,
            http,
        }
    }
}
