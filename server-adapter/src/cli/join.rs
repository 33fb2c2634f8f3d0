//! A node begins with a copy of another node's store.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use deskfleet::EngineError;
use deskfleet_server::cluster::FleetStatus;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, IF_RANGE, RANGE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::client::{Client, Download, KEY_VARIABLE, NoFile};
use super::client_files::ClientFiles;
use super::configuration::ClusterSettings;
use super::failure::Failure;
use super::output::log;
use super::progress_line::ProgressLine;
use super::server_url::ServerUrl;

const DOWNLOAD: &str = "/operator/backups/download";
const MB: u64 = 1_000_000;
/// The time within which a node must say whether it can be copied. It may be asking the log, or starting: it may even be this
/// node.
const STATUS_MAX: Duration = Duration::from_secs(15);
/// The interval of progress lines if standard error is no terminal.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// The node to copy.
pub(crate) struct Peer {
    url: ServerUrl,
    files: ClientFiles,
}

impl Peer {
    /// The node that the settings name.
    pub(crate) fn named_in(settings: &ClusterSettings) -> Option<Self> {
        Some(Self {
            url: settings.join.as_deref()?.parse().ok()?,
            files: ClientFiles {
                key_file: settings.join_key_file.clone(),
                ca: settings.join_ca.clone(),
                client_cert: settings.join_cert.clone(),
                client_key: settings.join_key.clone(),
            },
        })
    }

    fn client(&self) -> Result<Client, Failure> {
        if self.files.key_file.is_none() && std::env::var_os(KEY_VARIABLE).is_none() {
            return Err(Failure(format!(
                "--join needs an admin key of the fleet: name its file with --join-key-file, or put it into the variable {KEY_VARIABLE}"
            )));
        }
        Client::new(self.url.clone(), &self.files)
    }

    /// Refuses a node that cannot be copied now.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        require_running(&self.client()?.within(STATUS_MAX))
    }

    /// Copies its store to `file`, which `part` keeps from other processes. Calls `begins` before each attempt.
    pub(crate) fn copy_to(
        &self,
        file: &Path,
        mut part: Part,
        begins: &dyn Fn(),
    ) -> Result<(), Failure> {
        begins();
        let copied = self.check().and_then(|()| {
            log!("Copying the store of {}.", self.url);
            let again = || {
                begins();
                self.check()
            };
            part.write(&self.client()?, &again)?;
            part.finish(file)
        });
        if copied.is_err() {
            part.remove();
        }
        copied
    }
}

/// Refuses a node that has halted, or may be about to, before its whole store is copied.
fn require_running(client: &Client) -> Result<(), Failure> {
    let fleet = client.fleet().map_err(|failure| {
        let url = client.url();
        Failure(format!(
            "this node cannot begin with a copy of {url}, the node of --join: {failure}. Start that node, or give --join the address of another, \
             with a key that it takes"
        ))
    })?;
    let (_, FleetStatus { status, .. }) = fleet;
    let own = status.nodes.into_iter().find(|own| own.node == status.node);
    // A node that cannot reach the log does not know whether the log still has the entries that it applied.
    let is_cut_off = status.log.is_none() || own.is_none();
    let halted = own.and_then(|own| own.halted);
    let why = halted.or_else(|| status.problem.filter(|_| is_cut_off));
    why.map_or(Ok(()), |why| {
        Err(Failure(format!(
            "this node cannot begin with a copy of {}, which has halted or cannot reach the log ({why}); give --join the address of a node \
             whose state is ok in `deskfleet cluster status`",
            client.url()
        )))
    })
}

/// How long a copy that was cut off is asked for before another byte comes; the other node keeps it as long.
const NO_PROGRESS_MAX: Duration = Duration::from_secs(10 * 60);
/// The first and the longest pause before a copy is asked for again.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(15);
/// How many copies are begun: the other node has another one once it was restarted.
const COPIES_MAX: u32 = 10;

/// The copy until it is whole, which one process at a time writes.
pub(crate) struct Part {
    path: PathBuf,
    /// Locked until it is the store, or removed.
    file: File,
    begun: Instant,
    bytes: u64,
    /// The copy that those are of, if the other node names it, and its length.
    etag: Option<HeaderValue>,
    length: u64,
    /// How many copies were begun.
    copies: u32,
}

impl Part {
    /// An empty file beside the store that `store` will be, for the owner alone, as a store is.
    pub(crate) fn create(store: &Path) -> Result<Self, Failure> {
        let path = beside(store, ".joining");
        let failed = |error: &io::Error| Failure::cannot_write(path.display(), error);
        let mut options = OpenOptions::new();
        // The remains of a killed process are overwritten, but only under the lock.
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(|error| failed(&error))?;
        let is_locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        };
        if !is_locked || store.exists() || !is_at(&file, &path) {
            return Err(taken(&path));
        }
        file.set_len(0).map_err(|error| failed(&error))?;
        Ok(Self {
            path,
            file,
            begun: Instant::now(),
            bytes: 0,
            etag: None,
            length: 0,
            copies: 0,
        })
    }

    /// Writes the store of a peer, and goes on when that is cut off as long as more of it comes.
    fn write(
        &mut self,
        client: &Client,
        again: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut failing_since = None;
        let mut pause = PAUSE_MIN;
        loop {
            let before = (self.copies, self.bytes);
            let checked = if self.copies == 0 { Ok(()) } else { again() };
            let checked = checked.map_err(NoFile::for_now);
            let written = checked.and_then(|()| self.write_rest(client));
            let Err(NoFile { failure, is_final }) = written else {
                return Ok(());
            };
            if is_final || self.copies == 0 {
                return Err(failure);
            }
            if (self.copies, self.bytes) != before {
                (failing_since, pause) = (None, PAUSE_MIN);
                let mb = self.bytes / MB;
                log!("The copy was cut off after {mb} MB, and is asked for again: {failure}");
            }
            let since = failing_since.get_or_insert_with(Instant::now);
            if since.elapsed() + pause > NO_PROGRESS_MAX {
                let minutes = NO_PROGRESS_MAX.as_secs() / 60;
                return Err(Failure(format!(
                    "{failure}; no more came for {minutes} minutes"
                )));
            }
            sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Writes the bytes that are missing.
    fn write_rest(&mut self, client: &Client) -> Result<(), NoFile> {
        let download = client.post_for_file(DOWNLOAD, self.range())?;
        if download.status() == StatusCode::PARTIAL_CONTENT {
            self.go_on(client, &download)?;
        } else {
            self.begin(client, &download)?;
        }
        let mut progress = ProgressLine::new(None);
        progress.advance(usize::try_from(self.bytes).unwrap_or(usize::MAX));
        let mut said_at = Instant::now();
        for piece in download {
            let piece = piece.map_err(NoFile::for_now)?;
            let written = self.file.write_all(&piece);
            written.map_err(|error| self.not_written(&error))?;
            progress.advance(piece.len());
            self.bytes += piece.len() as u64;
            if said_at.elapsed() > PROGRESS_EVERY && !io::stderr().is_terminal() {
                said_at = Instant::now();
                log!("Copied {} MB so far.", self.bytes / MB);
            }
        }
        if self.bytes == self.length {
            return Ok(());
        }
        let (bytes, length) = (self.bytes, self.length);
        let message = format!("{} sent {bytes} bytes of a copy of {length}", client.url());
        Err(NoFile::for_good(Failure(message)))
    }

    /// The headers that ask for the bytes that are missing, if the copy is still the same.
    fn range(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.bytes > 0
            && let Some(etag) = &self.etag
            && let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", self.bytes))
        {
            headers.insert(RANGE, range);
            headers.insert(IF_RANGE, etag.clone());
        }
        headers
    }

    /// Refuses other bytes than those that are missing.
    fn go_on(&self, client: &Client, download: &Download<'_>) -> Result<(), NoFile> {
        let (bytes, length) = (self.bytes, self.length);
        let range = format!("bytes {bytes}-{}/{length}", length.saturating_sub(1));
        let is_asked_for = self.etag.is_some()
            && download.header(ETAG) == self.etag.as_ref()
            && download
                .header(CONTENT_RANGE)
                .is_some_and(|sent| *sent == *range);
        if is_asked_for {
            log!("Going on with the copy after {} MB.", bytes / MB);
            return Ok(());
        }
        let message = format!(
            "{} sent another part of a copy than was asked for",
            client.url()
        );
        Err(NoFile::for_good(Failure(message)))
    }

    /// Begins with another copy.
    fn begin(&mut self, client: &Client, download: &Download<'_>) -> Result<(), NoFile> {
        let url = client.url();
        let length = download
            .header(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok());
        let Some(length) = length.and_then(|length| length.parse().ok()) else {
            let message = format!("{url} does not say how long its copy is; is that a node?");
            return Err(NoFile::for_good(Failure(message)));
        };
        if self.copies == COPIES_MAX {
            let message =
                format!("{url} began another copy {COPIES_MAX} times, and none was whole");
            return Err(NoFile::for_good(Failure(message)));
        }
        if self.copies > 0 {
            log!("{url} has no longer the copy that was cut off. Beginning with another one.");
        }
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(|error| self.not_written(&error))?;
        self.bytes = 0;
        self.copies += 1;
        self.length = length;
        // Another tag than such a one does not mean that each byte is the same.
        self.etag = download
            .header(ETAG)
            .filter(|etag| etag.as_bytes().starts_with(b"\""))
            .cloned();
        Ok(())
    }

    fn not_written(&self, error: &io::Error) -> NoFile {
        NoFile::for_good(Failure::cannot_write(self.path.display(), error))
    }

    /// Makes it the store in `store`.
    fn finish(&self, store: &Path) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::cannot_write(store.display(), &error);
        self.file.sync_all().map_err(failed)?;
        if store.exists() {
            return Err(taken(store));
        }
        let renamed = std::fs::rename(&self.path, store);
        let renamed = renamed.and_then(|()| sync_folder(store));
        renamed.map_err(failed)?;
        let (mb, seconds) = (self.bytes / MB, self.begun.elapsed().as_secs());
        log!("Copied {mb} MB in {seconds} s.");
        Ok(())
    }

    /// Removes the partial copy, while it is locked.
    pub(crate) fn remove(self) {
        // Remains would be overwritten next time.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether the file that was opened is still the one at its path: the process that had locked it may have removed it.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |about: std::fs::Metadata| (about.dev(), about.ino());
    let opened = file.metadata().map(place).ok();
    opened.is_some() && opened == std::fs::metadata(path).map(place).ok()
}

/// On that system an open file cannot be removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn taken(path: &Path) -> Failure {
    let path = path.display();
    Failure(format!(
        "cannot write {path}: another process copies a store to it"
    ))
}

/// Makes the new name durable.
fn sync_folder(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Moves the store of a node that cannot go on out of the way; one that holds nothing is removed.
pub(crate) fn set_aside(file: &Path, position: u64, why: &EngineError) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::cannot_write(file.display(), &error);
    if position == 0 {
        return std::fs::remove_file(file).map_err(failed);
    }
    let mut kept = beside(file, &format!(".at-{position}"));
    let mut number = 1;
    while kept.exists() {
        number += 1;
        kept = beside(file, &format!(".at-{position}-{number}"));
    }
    std::fs::rename(file, &kept).map_err(failed)?;
    log!(
        "deskfleet: {why}. The old file is kept as {}.",
        kept.display()
    );
    Ok(())
}

pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut path: OsString = file.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
