//! `/operator/backups`: copies of the store, for a key of scope `admin`.

use std::thread::Builder;

use deskfleet::{Code, ErrorKind};
use http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use crate::backups::Backup;
use crate::backups::sent_copies::{CopyPart, NotSent, Resumption};
use crate::options::ServerOptions;
use crate::request::refusal::{self, Refused};
use crate::state::ServerState;

const NO_FOLDER: Refused = (
    Code::UnsupportedConfiguration,
    "There is no folder for backups; start the server with --backups FOLDER.",
);
const RUNNING: Refused = (
    Code::OperationInProgress,
    "A backup is being written; try again when it is done.",
);
const NO_ROOM: Refused = (
    Code::LowDisk,
    "There is too little free space for another copy of the store; remove older copies.",
);
const NO_LIST: Refused = (
    Code::StorageUnavailable,
    "The folder for backups cannot be read.",
);
/// The message about a copy that failed.
const NOT_WRITTEN: &str = "No backup was written; the log of the server says why.";

const NO_PLACE: Refused = (
    Code::UnsupportedConfiguration,
    "There is no place for a copy: the store is in memory, or its host gives none.",
);

/// The copies in the folder.
#[derive(Debug, Serialize)]
pub(crate) struct BackupList {
    /// Whether there is a folder.
    configured: bool,
    backups: Vec<Backup>,
}

/// The complete copies, newest first.
pub(crate) async fn list(options: &ServerOptions) -> Result<BackupList, Refused> {
    let Some(backups) = options.backups.clone() else {
        return Ok(BackupList {
            configured: false,
            backups: Vec::new(),
        });
    };
    let listed = spawn_blocking(move || backups.list()).await;
    let backups = listed.map_err(|_| refusal::ENDED)?.map_err(|_| NO_LIST)?;
    Ok(BackupList {
        configured: true,
        backups,
    })
}

/// Writes a copy on a thread of its own, because it takes long and continues when the client is gone.
pub(crate) async fn write(
    shared: &ServerState,
    options: &ServerOptions,
) -> Result<Backup, Refused> {
    let backups = options.backups.clone().ok_or(NO_FOLDER)?;
    let engine = shared.engine.clone();
    let (send, written) = oneshot::channel();
    let thread = Builder::new().name("deskfleet-backup".into());
    let begun = thread.spawn(move || {
        // The client may be gone.
        let _ = send.send(backups.try_write(&engine));
    });
    begun.map_err(|_| refusal::BUSY)?;
    let written = written.await.map_err(|_| refusal::ENDED)?;
    let written = written.ok_or(RUNNING)?;
    written.map_err(|error| not_written(error.kind()))
}

/// Streams a copy: the one that a client has a part of, if it was kept, else a new one, once the previous one is sent.
pub(crate) async fn download(
    shared: &ServerState,
    options: &ServerOptions,
    headers: &HeaderMap,
) -> Result<CopyPart, Refused> {
    let copies = options.sent_copies.clone().ok_or(NO_PLACE)?;
    let engine = shared.engine.clone();
    let resumption = Resumption::from_headers(headers);
    let (send, begun) = oneshot::channel();
    let thread = Builder::new().name("deskfleet-backup".into());
    let started = thread.spawn(move || copies.send(engine, resumption.as_ref(), send));
    started.map_err(|_| refusal::BUSY)?;
    let begun = begun.await.map_err(|_| refusal::ENDED)?;
    begun.map_err(|not_sent| match not_sent {
        NotSent::Busy => refusal::BUSY,
        NotSent::Failed(kind) => not_written(kind),
    })
}

/// Says which bytes of a copy a response has, and how to ask for the rest.
pub(crate) fn describe_part<B>(response: &mut Response<B>, part: &CopyPart) {
    if let Some(from) = part.from {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let range = format!(
            "bytes {from}-{}/{}",
            part.length.saturating_sub(1),
            part.length
        );
        if let Ok(range) = HeaderValue::from_str(&range) {
            response.headers_mut().insert(CONTENT_RANGE, range);
        }
    }
    let headers = response.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(ETAG, part.etag.clone());
}

fn not_written(kind: ErrorKind) -> Refused {
    if kind == ErrorKind::LowDisk {
        NO_ROOM
    } else {
        (kind.into(), NOT_WRITTEN)
    }
}
