//! What the bytes of a connection go through.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(feature = "tls")]
use tokio_rustls::server::TlsStream;

/// What the bytes of a connection go through. An enumeration, so that hyper and all that is around it exist once.
#[derive(Debug)]
pub(crate) enum Transport {
    /// In clear text.
    Tcp(TcpStream),
    /// TLS after its handshake, in a box: it is twenty times as large.
    #[cfg(feature = "tls")]
    Tls(Box<TlsStream<TcpStream>>),
}

/// Calls a method of the stream.
macro_rules! call {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        match $self {
            Self::Tcp(stream) => Pin::new(stream).$method($($argument),*),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream).$method($($argument),*),
        }
    };
}

impl Transport {
    /// Has the system drop what was not sent yet when the connection is closed, which resets it.
    pub(super) fn forget_unsent(&self) {
        let stream = match self {
            Self::Tcp(stream) => stream,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().0,
        };
        // The other end may be gone.
        let _ = stream.set_zero_linger();
    }

    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        call!(self, poll_read(cx, buffer))
    }

    /// Takes bytes to write. Those that TLS keeps are [`holds`](Self::holds).
    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        call!(self, poll_write_vectored(cx, slices))
    }

    /// Whether it has bytes that were taken and not sent yet.
    pub(super) fn holds(&self) -> bool {
        match self {
            Self::Tcp(_) => false,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_ref().1.wants_write(),
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        call!(self, poll_flush(cx))
    }

    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        call!(self, poll_shutdown(cx))
    }
}
