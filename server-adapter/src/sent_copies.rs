//! Copies of the store that are sent to a client and not kept.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use deskfleet::{Code, Engine};
use tokio::sync::{mpsc, oneshot};

use crate::backups::has_room;
use crate::locks::lock;
use crate::refusal::Refused;
use crate::response_body::Unfinished;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 * 1024;
/// Pieces that wait for a client.
const PIECES_MAX: usize = 2;
/// Of every failure to write one.
const NOT_WRITTEN: &str = "No copy was written; the log of the server says why.";
const NO_ROOM: Refused = (
    Code::LowDisk,
    "There is too little free space for a copy of the store.",
);

/// Where a copy of the store is while it is sent. Clones share it: one is sent at a time, and further ones wait.
#[derive(Debug, Clone)]
pub struct SentCopies(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    path: PathBuf,
    /// Held while a copy is written and sent.
    sending: Mutex<()>,
}

/// What a client receives, or why not.
pub(crate) type Begun = oneshot::Sender<Result<FileBody, Refused>>;

impl SentCopies {
    /// Copies beside the file of a store. Nothing of that name may be kept there.
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
        }))
    }

    /// Writes a copy and sends it, to the end or until nobody receives it. Blocks.
    pub(crate) fn send(&self, engine: &Engine, begun: Begun) {
        let _one_at_a_time = lock(&self.0.sending);
        if begun.is_closed() {
            return;
        }
        let (mut file, length) = match self.0.write(engine) {
            Ok(written) => written,
            Err(refused) => {
                // The client may be gone.
                let _ = begun.send(Err(refused));
                return;
            }
        };
        let (pieces, received) = mpsc::channel(PIECES_MAX);
        let body = FileBody {
            pieces: received,
            left: length,
        };
        if begun.send(Ok(body)).is_ok() {
            send_pieces(&mut file, length, &pieces);
        }
        self.0.remove();
    }
}

impl Inner {
    /// An open copy and its length in bytes.
    fn write(&self, engine: &Engine) -> Result<(File, u64), Refused> {
        // Of a process that was killed.
        self.remove();
        let needed = engine.query_fleet().map_or(0, |fleet| fleet.store_bytes)
            + engine.config().limits.free_bytes_min;
        if !has_room(&self.folder, needed) {
            return Err(NO_ROOM);
        }
        engine
            .backup(&self.path)
            .map_err(|error| (error.kind().into(), NOT_WRITTEN))?;
        let opened = File::open(&self.path).and_then(|file| {
            let length = file.metadata()?.len();
            Ok((file, length))
        });
        // Where an open file can be removed, none is left however this process ends.
        #[cfg(unix)]
        self.remove();
        opened.map_err(|_| (Code::StorageUnavailable, NOT_WRITTEN))
    }

    /// There may be none.
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
    /// Bytes that are still to come.
    left: u64,
}

impl FileBody {
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Unfinished>>> {
        let piece = match ready!(self.pieces.poll_recv(cx)) {
            Some(Ok(piece)) => piece,
            None if self.left == 0 => return Poll::Ready(None),
            Some(Err(_)) | None => return Poll::Ready(Some(Err(Unfinished))),
        };
        self.left = self.left.saturating_sub(piece.len() as u64);
        Poll::Ready(Some(Ok(piece)))
    }
}
