//! The body of a request of a command.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use serde_json::Value;
use tokio::sync::mpsc;

use super::progress_line::ProgressLine;

/// Bytes of the input that are read at once.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;

/// A body that another thread reads in pieces, so that an early response does not wait for the input. By default it is empty.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    reading: Option<Reading>,
    /// `None` where the server detects the format.
    content_type: Option<&'static str>,
}

#[derive(Debug)]
struct Reading {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    progress: ProgressLine,
}

impl Pieces {
    /// Reads `input` on a thread of its own; `length` is its length in bytes, if known.
    pub(crate) fn read(
        mut input: impl Read + Send + 'static,
        length: Option<u64>,
    ) -> io::Result<Self> {
        let (send, pieces) = mpsc::channel(1);
        let thread = std::thread::Builder::new().name("deskfleet-input".into());
        thread.spawn(move || {
            let mut done = 0;
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let read = match input.read(&mut piece) {
                    Ok(0) => return,
                    Ok(read) => {
                        piece.truncate(read);
                        done += read;
                        Ok(Bytes::from(piece))
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => {
                        let message = format!("cannot read the input after {done} bytes: {error}");
                        Err(io::Error::new(error.kind(), message))
                    }
                };
                let is_last = read.is_err();
                // The receiver is gone once the response has arrived.
                if send.blocking_send(read).is_err() || is_last {
                    return;
                }
            }
        })?;
        let progress = ProgressLine::new(length);
        Ok(Self {
            reading: Some(Reading { pieces, progress }),
            content_type: None,
        })
    }

    /// A JSON value.
    pub(crate) fn json(value: &Value) -> io::Result<Self> {
        let text = value.to_string();
        let length = text.len() as u64;
        Ok(Self {
            content_type: Some("application/json"),
            ..Self::read(io::Cursor::new(text), Some(length))?
        })
    }

    /// Its media type, if it says one.
    pub(crate) fn content_type(&self) -> Option<&'static str> {
        self.content_type
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(reading) = &mut self.reading else {
            return Poll::Ready(None);
        };
        let piece = ready!(reading.pieces.poll_recv(context));
        if let Some(Ok(piece)) = &piece {
            reading.progress.advance(piece.len());
        }
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.reading.is_none()
    }
}
