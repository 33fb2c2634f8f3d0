//! Copies of the store that are sent to a client and not kept.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use deskfleet::{Engine, ErrorKind, error_chain};
use tokio::sync::{mpsc, oneshot};

use super::has_room;
use crate::locks::{lock, try_lock};
use crate::log::LogQueue;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 * 1024;
/// Pieces that are buffered for a client.
const PIECES_MAX: usize = 2;
/// The path of a copy of the store while it is sent. Clones share it: one copy is sent at a time, one more request waits, and
/// further ones are refused.
#[derive(Debug, Clone)]
pub struct SentCopies(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    path: PathBuf,
    /// Locked while a copy is written and sent.
    sending: Mutex<()>,
    /// Locked by the request that waits; each request has a thread.
    waiting: Mutex<()>,
}

/// Receives the copy, or why there is none; `None` if another request waits already.
pub(crate) type Begun = oneshot::Sender<Option<Result<FileBody, ErrorKind>>>;

impl SentCopies {
    /// Writes copies beside the file of a store, over any file of that name.
    #[must_use]
    pub fn beside(file: &Path) -> Self {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut path = file.as_os_str().to_owned();
        path.push(".sent");
        Self(Arc::new(Inner {
            folder,
            path: path.into(),
            sending: Mutex::new(()),
            waiting: Mutex::new(()),
        }))
    }

    /// Writes a copy and sends it, until the end or until the client is gone. Blocks.
    pub(crate) fn send(&self, engine: &Engine, begun: Begun) {
        let Some(waiting) = try_lock(&self.0.waiting) else {
            // The client may be gone.
            let _ = begun.send(None);
            return;
        };
        let _one_at_a_time = lock(&self.0.sending);
        drop(waiting);
        if begun.is_closed() {
            return;
        }
        let (mut file, length) = match self.0.write(engine) {
            Ok(written) => written,
            Err(kind) => {
                // The client may be gone.
                let _ = begun.send(Some(Err(kind)));
                return;
            }
        };
        let (pieces, received) = mpsc::channel(PIECES_MAX);
        let body = FileBody {
            pieces: received,
            left: length,
        };
        if begun.send(Some(Ok(body))).is_ok() {
            send_pieces(&mut file, length, &pieces);
        }
        self.0.remove();
    }
}

impl Inner {
    /// An open copy and its length in bytes.
    fn write(&self, engine: &Engine) -> Result<(File, u64), ErrorKind> {
        // A killed process may have left a copy.
        self.remove();
        let needed = engine.query_fleet().map_or(0, |fleet| fleet.store_bytes)
            + engine.config().limits.free_bytes_min;
        if !has_room(&self.folder, needed) {
            return Err(ErrorKind::LowDisk);
        }
        engine.backup(&self.path).map_err(|error| {
            let message = format!("deskfleet: no copy to send: {}", error_chain(&error));
            LogQueue::stderr().line_about("copies", &message);
            error.kind()
        })?;
        let opened = File::open(&self.path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok((file, length))
        });
        // If an open file can be removed, no copy is left however this process ends.
        #[cfg(unix)]
        self.remove();
        opened.map_err(|_| ErrorKind::StorageUnavailable)
    }

    /// The file may not exist.
    fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn send_pieces(file: &mut File, length: u64, pieces: &mpsc::Sender<io::Result<Bytes>>) {
    let mut left = length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let mut piece = vec![0; most];
        let read = file.read_exact(&mut piece).map(|()| Bytes::from(piece));
        left -= most as u64;
        let is_last = read.is_err();
        if pieces.blocking_send(read).is_err() || is_last {
            return;
        }
    }
}

/// A file of known length that a thread reads, piece by piece.
#[derive(Debug)]
pub(crate) struct FileBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    /// Bytes that are not read yet.
    left: u64,
}

impl FileBody {
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let piece = match ready!(self.pieces.poll_recv(cx)) {
            None if self.left > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            None => return Poll::Ready(None),
            Some(piece) => piece,
        };
        if let Ok(piece) = &piece {
            self.left = self.left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(Some(piece))
    }
}
