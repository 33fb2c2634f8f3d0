//! Copies of the store that are sent to a client. One that was cut off is kept for a while, so that the client can go on.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::{Engine, ErrorKind, error_chain};
use http::header::{IF_RANGE, RANGE};
use http::{HeaderMap, HeaderValue};
use tokio::sync::{mpsc, oneshot};

use super::has_room;
use crate::locks::{lock, try_lock};
use crate::log::LogQueue;

/// Bytes that are read at once.
const PIECE_BYTES: usize = 256 * 1024;
/// Pieces that are buffered for a client.
const PIECES_MAX: usize = 2;
/// How long a copy is kept whose download was cut off.
const KEPT_FOR: Duration = Duration::from_secs(10 * 60);

/// The path of a copy of the store while it is sent. Clones share it: one copy is sent at a time, one more request waits, and
/// further ones are refused. A copy whose download was cut off is kept for ten minutes, or until another copy is asked for.
#[derive(Debug, Clone)]
pub struct SentCopies(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    path: PathBuf,
    kept_for: Duration,
    /// The copy that was cut off. Locked while a copy is written and sent.
    kept: Mutex<Option<KeptCopy>>,
    /// Locked by the request that waits; each request has a thread.
    waiting: Mutex<()>,
}

#[derive(Debug)]
struct StoredCopy {
    file: File,
    length: u64,
    etag: HeaderValue,
}

#[derive(Debug)]
struct KeptCopy {
    copy: StoredCopy,
    until: Instant,
    /// Its end ends the thread that waits for `until`.
    _in_use: Sender<()>,
}

/// What a client has of a copy.
#[derive(Debug)]
pub(crate) struct Resumption {
    /// The first byte that it lacks.
    from: u64,
    /// The copy that it has the bytes of.
    etag: HeaderValue,
}

impl Resumption {
    /// From `Range: bytes=N-` and `If-Range`. `None` for any other range: the client gets the whole copy. Without the tag of a copy its bytes may be
    /// those of another one.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut ranges = headers.get_all(RANGE).iter();
        let (range, None) = (ranges.next()?.to_str().ok()?, ranges.next()) else {
            return None;
        };
        let (unit, set) = range.split_once('=')?;
        let from = set.trim().strip_suffix('-')?;
        let is_number = from.bytes().all(|byte| byte.is_ascii_digit());
        if !unit.trim().eq_ignore_ascii_case("bytes") || !is_number {
            return None;
        }
        Some(Self {
            from: from.parse().ok()?,
            etag: headers.get(IF_RANGE)?.clone(),
        })
    }
}

/// The part of a copy that is sent.
#[derive(Debug)]
pub(crate) struct CopyPart {
    pub(crate) body: FileBody,
    pub(crate) etag: HeaderValue,
    /// Its first byte, if the client has those before it.
    pub(crate) from: Option<u64>,
    /// The length of the whole copy.
    pub(crate) length: u64,
}

/// Why no copy is sent.
#[derive(Debug)]
pub(crate) enum NotSent {
    /// Another request waits already.
    Busy,
    Failed(ErrorKind),
}

/// Receives the copy, or why there is none.
pub(crate) type Begun = oneshot::Sender<Result<CopyPart, NotSent>>;

impl SentCopies {
    /// Writes copies beside the file of a store, over any file of that name.
    #[must_use]
    pub fn beside(file: &Path) -> Self {
        Self::keeping(file, KEPT_FOR)
    }

    fn keeping(file: &Path, kept_for: Duration) -> Self {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let mut path = file.as_os_str().to_owned();
        path.push(".sent");
        Self(Arc::new(Inner {
            folder,
            path: path.into(),
            kept_for,
            kept: Mutex::default(),
            waiting: Mutex::new(()),
        }))
    }

    /// Sends a copy, until the end or until the client is gone; goes on with the kept one if that is the copy of `resumption`. A copy
    /// that is cut off is kept, and this returns when it is needed no more. Blocks.
    pub(crate) fn send(self, engine: Engine, resumption: Option<&Resumption>, begun: Begun) {
        let Some(in_use) = self.0.send(engine, resumption, begun) else {
            return;
        };
        let kept_for = self.0.kept_for;
        // Once the server is gone, nothing but this thread would keep the copy.
        let inner = Arc::downgrade(&self.0);
        drop(self);
        if in_use.recv_timeout(kept_for) == Err(RecvTimeoutError::Timeout)
            && let Some(inner) = inner.upgrade()
        {
            let mut kept = lock(&inner.kept);
            if kept.take_if(|kept| kept.until <= Instant::now()).is_some() {
                inner.remove();
            }
        }
    }
}

impl Inner {
    /// Returns what ends when a copy that was cut off is needed no more.
    fn send(
        &self,
        engine: Engine,
        resumption: Option<&Resumption>,
        begun: Begun,
    ) -> Option<Receiver<()>> {
        // Where sending fails, the client is gone.
        let Some(waiting) = try_lock(&self.waiting) else {
            let _ = begun.send(Err(NotSent::Busy));
            return None;
        };
        let mut kept = lock(&self.kept);
        drop(waiting);
        if begun.is_closed() {
            return None;
        }
        let found = self.copy(&engine, resumption, &mut kept);
        drop(engine);
        let (mut copy, from) = match found {
            Ok(found) => found,
            Err(not_sent) => {
                let _ = begun.send(Err(not_sent));
                return None;
            }
        };
        let first = from.unwrap_or_default();
        let (pieces, received) = mpsc::channel(PIECES_MAX);
        let (over, ended) = channel();
        let part = CopyPart {
            body: FileBody {
                pieces: received,
                left: copy.length - first,
                over,
            },
            etag: copy.etag.clone(),
            from,
            length: copy.length,
        };
        let is_readable = begun.send(Ok(part)).is_err()
            || send_pieces(&mut copy.file, copy.length - first, &pieces);
        drop(pieces);
        let left = ended.recv().unwrap_or_default();
        if left == 0 || left == copy.length || !is_readable {
            drop(copy);
            self.remove();
            return None;
        }
        let (sender, in_use) = channel();
        *kept = Some(KeptCopy {
            copy,
            until: Instant::now() + self.kept_for,
            _in_use: sender,
        });
        Some(in_use)
    }

    /// The kept copy, read from the first byte that is missing, or another one; and that byte.
    fn copy(
        &self,
        engine: &Engine,
        resumption: Option<&Resumption>,
        kept: &mut Option<KeptCopy>,
    ) -> Result<(StoredCopy, Option<u64>), NotSent> {
        // Without a use for it its room is needed for the next one.
        if let Some(KeptCopy { mut copy, .. }) = kept.take()
            && let Some(resumption) = resumption
            && resumption.etag == copy.etag
            && resumption.from < copy.length
        {
            let sought = copy.file.seek(SeekFrom::Start(resumption.from));
            sought.map_err(|_| NotSent::Failed(ErrorKind::StorageUnavailable))?;
            return Ok((copy, Some(resumption.from)));
        }
        let copy = self.write(engine).map_err(NotSent::Failed)?;
        Ok((copy, None))
    }

    fn write(&self, engine: &Engine) -> Result<StoredCopy, ErrorKind> {
        let mut etag = [0; 16];
        getrandom::fill(&mut etag).map_err(|_| ErrorKind::Internal)?;
        let etag = format!("\"{:032x}\"", u128::from_le_bytes(etag));
        let etag = HeaderValue::from_str(&etag).map_err(|_| ErrorKind::Internal)?;
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
            Ok(StoredCopy {
                length: file.metadata()?.len(),
                file,
                etag,
            })
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

/// Returns whether the file could be read, also if the client is gone.
fn send_pieces(file: &mut File, length: u64, pieces: &mpsc::Sender<io::Result<Bytes>>) -> bool {
    let mut left = length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let mut piece = vec![0; most];
        let read = file.read_exact(&mut piece).map(|()| Bytes::from(piece));
        left -= most as u64;
        let is_read = read.is_ok();
        if pieces.blocking_send(read).is_err() || !is_read {
            return is_read;
        }
    }
    true
}

/// A file of known length that a thread reads, piece by piece.
#[derive(Debug)]
pub(crate) struct FileBody {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    /// Bytes that are not read yet.
    left: u64,
    /// Receives those at the end.
    over: Sender<u64>,
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

impl Drop for FileBody {
    fn drop(&mut self) {
        // The thread that reads the file waits for it.
        let _ = self.over.send(self.left);
    }
}

#[cfg(test)]
mod tests {
    use std::thread::{JoinHandle, spawn};
    use std::time::SystemTime;

    use super::*;

    fn engine() -> Engine {
        let builder = Engine::builder().clock(SystemTime::now).seed(1);
        builder.open_in_memory().unwrap()
    }

    /// Asks for a copy of which the client takes a byte more, and no more; returns its tag and the thread that sent it.
    fn cut_off(
        copies: &SentCopies,
        engine: &Engine,
        etag: Option<&HeaderValue>,
    ) -> (HeaderValue, JoinHandle<()>) {
        let (copies, engine) = (copies.clone(), engine.clone());
        let resumption = etag.map(|etag| Resumption {
            from: 1,
            etag: etag.clone(),
        });
        let (send, begun) = oneshot::channel();
        let thread = spawn(move || copies.send(engine, resumption.as_ref(), send));
        let mut part = begun.blocking_recv().unwrap().unwrap();
        assert_eq!(
            part.from.is_some(),
            etag.is_some_and(|etag| *etag == part.etag)
        );
        let piece = part.body.pieces.blocking_recv().unwrap().unwrap();
        assert!(!piece.is_empty());
        part.body.left = part.length - 2;
        (part.etag, thread)
    }

    #[test]
    fn copy_that_was_cut_off_is_kept_for_its_time_by_one_thread() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let copies = SentCopies::keeping(&folder.path().join("store"), Duration::from_millis(300));
        let (etag, first) = cut_off(&copies, &engine, None);
        let (same, second) = cut_off(&copies, &engine, Some(&etag));
        assert_eq!(same, etag);
        first.join().unwrap();
        assert!(lock(&copies.0.kept).is_some());
        second.join().unwrap();
        assert!(lock(&copies.0.kept).is_none());
        let (other, _) = cut_off(&copies, &engine, Some(&etag));
        assert_ne!(other, etag);
    }

    #[test]
    fn kept_copy_ends_with_a_new_request_or_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine();
        let copies = SentCopies::beside(&folder.path().join("store"));
        let (etag, first) = cut_off(&copies, &engine, None);
        let (other, second) = cut_off(&copies, &engine, None);
        assert_ne!(other, etag);
        first.join().unwrap();
        // The copy is kept once its thread no longer holds the lock.
        while lock(&copies.0.kept).is_none() {
            std::thread::yield_now();
        }
        drop(copies);
        second.join().unwrap();
        #[cfg(unix)]
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_a_range_without_an_end_goes_on() {
        let from = |range: &'static str| {
            let headers = [(RANGE, range), (IF_RANGE, "\"0\"")];
            let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
            let headers = HeaderMap::from_iter(headers);
            Resumption::from_headers(&headers).map(|resumption| resumption.from)
        };
        assert_eq!(from("bytes=0-"), Some(0));
        assert_eq!(from("Bytes= 12- "), Some(12));
        for range in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=-1",
            "bytes=1-2",
            "bytes=1-,2-",
            "bytes=1--",
            "items=1-",
            "bytes 1-",
            "bytes=+1-",
            "bytes=99999999999999999999-",
        ] {
            assert_eq!(from(range), None, "{range}");
        }
    }
}
