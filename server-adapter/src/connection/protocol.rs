//! The settings of hyper for both versions of HTTP.

#[cfg(feature = "http2")]
use deskfleet::Limits;
use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper::server::conn::http2;
#[cfg(feature = "http2")]
use hyper_util::rt::TokioExecutor;

/// hyper's buffer for one connection, in bytes. It must hold a whole head: one within it that is beyond the engine's own
/// limits is refused by the engine with a problem body, one beyond it by hyper with a bare 431.
const BUFFER_BYTES: usize = 32 * 1024;
/// Requests at once on one connection: enough to fill a commit of a slow disk, and what most clients and proxies expect.
#[cfg(feature = "http2")]
const STREAMS_MAX: u32 = 128;
/// Bytes of a body that may come before it is read: a whole record.
#[cfg(feature = "http2")]
const STREAM_WINDOW: u32 = 64 * 1024;
/// The same for all bodies of a connection: what a client can make the server hold beside the budget of bodies.
#[cfg(feature = "http2")]
const CONNECTION_WINDOW: u32 = 256 * 1024;
/// Bytes of one response that are handed to the connection at a time.
#[cfg(feature = "http2")]
const SEND_BUFFER: usize = 64 * 1024;
/// Room in a header list beyond the engine's limits of target and headers: 32 bytes count for each field beside its text,
/// and a list that is a little too long is to be refused by the engine, with a problem body.
#[cfg(feature = "http2")]
const HEADER_LIST_MORE: usize = 8 * 1024;

/// The settings of every connection of HTTP/1.1.
pub(crate) fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // The deadlines are the socket's. So is the gathering of responses: hyper's `pipeline_flush` loses them when the
    // connection closes while input is left unread.
    builder.header_read_timeout(None).max_buf_size(BUFFER_BYTES);
    // So is the look for the end of the input while a request is being handled.
    builder.half_close(true);
    builder
}

/// The settings of every connection of HTTP/2.
///
/// Left at what hyper and h2 set: a connection on which 20 streams were reset before they were looked at, or 1024 in error, is
/// closed (rapid reset), and a head may not take endless continuation frames. There are no keep-alive pings: whatever a
/// connection can wait for has a deadline already.
#[cfg(feature = "http2")]
pub(crate) fn http2(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let list = limits.uri_bytes + limits.headers_bytes + HEADER_LIST_MORE;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .max_concurrent_streams(STREAMS_MAX)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .max_header_list_size(u32::try_from(list).unwrap_or(u32::MAX));
    builder
}
