//! The thread that archives the log.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::park_timeout;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Condition, Engine, ErrorKind, Severity, error_chain};

use super::file::ArchiveError;
use super::writing::ArchiveWriter;
use crate::log::LogQueue;
use crate::metrics::Metrics;
use crate::server::background::Background;

/// How often the archive gets what was applied meanwhile: as often as a node syncs its file.
const EVERY: Duration = Duration::from_secs(1);
/// The longest pause after an error; the first is [`EVERY`], and each further one twice as long.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// How long a gap is a condition: an operator has to see it, and it does not end.
const GAP_SHOWN: Duration = Duration::from_secs(60 * 60);

/// An archive of the log in a folder, which one process writes.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// `None` before the first attempt, and after an error.
    writer: Option<ArchiveWriter>,
    failing: Option<Condition>,
    gap: Option<(Instant, Condition)>,
}

/// The thread that archives; it ends when this is dropped.
#[derive(Debug)]
pub struct ArchiveThread(#[expect(dead_code, reason = "it is kept to be dropped")] Background);

/// What one round did.
enum Round {
    /// There may be more than what was archived.
    More,
    /// All is archived that is durable here.
    Whole,
    /// The log cannot be read, which the thread that follows it reports.
    Unread,
}

fn say(line: &str) {
    LogQueue::stderr().line(&format!("deskfleet: {line}"));
}

fn condition(code: &str, text: impl Into<String>) -> Condition {
    Condition::new(code, Severity::Warning, text, SystemTime::now().into())
}

impl Archive {
    /// Opens the archive in `folder`. What is wrong with it the thread tries again and reports.
    ///
    /// # Errors
    /// Where another process archives into that folder.
    pub fn open(folder: PathBuf) -> Result<Self, ArchiveError> {
        let opened = ArchiveWriter::open(&folder);
        if let Err(error) = &opened
            && error.is_locked
        {
            return Err(error.clone());
        }
        Ok(Self {
            folder,
            writer: opened.ok(),
            failing: None,
            gap: None,
        })
    }

    /// Starts the thread that archives what `engine` has applied and has on disk. Until that is archived the log keeps it; before
    /// [`Engine::follow`] is called call [`Engine::set_archived`].
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(mut self, engine: Engine, metrics: Metrics) -> io::Result<ArchiveThread> {
        let thread = Background::start("deskfleet-archive", move |is_stopping| {
            let mut pause = EVERY;
            while !is_stopping() {
                let round = catch_unwind(AssertUnwindSafe(|| self.round(&engine)));
                // The panic hook has logged where.
                let bug = |_| Err("a bug in the archive".to_owned());
                match round.unwrap_or_else(bug) {
                    Ok(Round::More) => continue,
                    Ok(round) => {
                        self.note_success(&round);
                        pause = EVERY;
                    }
                    Err(reason) => {
                        self.note_failure(&reason);
                        pause = (pause * 2).min(PAUSE_MAX);
                    }
                }
                metrics.set_archive(self.conditions());
                park_timeout(pause);
            }
        })?;
        Ok(ArchiveThread(thread))
    }

    /// Archives what comes next.
    fn round(&mut self, engine: &Engine) -> Result<Round, String> {
        let opened = match self.writer.take() {
            Some(writer) => Ok(writer),
            None => ArchiveWriter::open(&self.folder),
        };
        // It is kept only after a success: opening it again cuts off what was half written.
        let mut writer = opened.map_err(|error| error.to_string())?;
        let applied = match engine.entries_after(writer.position, writer.chain) {
            Ok(Some(applied)) => applied,
            Err(error) if error.kind() == ErrorKind::Corrupted && engine.halted().is_none() => {
                let (folder, error) = (self.folder.display(), error_chain(&error));
                return Err(format!(
                    "{error}. Move the files out of {folder}: a new archive then begins; and write a backup, as it does not go on from older ones"
                ));
            }
            Ok(None) | Err(_) => {
                self.writer = Some(writer);
                return Ok(Round::Unread);
            }
        };
        let appended = writer.append(&applied);
        if let Some((first, last)) = appended.map_err(|error| error.to_string())? {
            self.note_gap(first, last);
        }
        engine.set_archived(writer.position);
        self.writer = Some(writer);
        let last = applied.entries.last();
        let is_more = last.is_some_and(|last| last.position < applied.durable);
        Ok(if is_more { Round::More } else { Round::Whole })
    }

    fn note_success(&mut self, round: &Round) {
        if matches!(round, Round::Whole) && self.failing.take().is_some() {
            say("the archive of the log goes on");
        }
    }

    fn note_failure(&mut self, reason: &str) {
        if self.failing.is_some() {
            return;
        }
        say(&format!(
            "the log of the fleet is not archived, and grows until it is; this is tried again: {reason}"
        ));
        // Who may read the fleet may not learn the paths of an error.
        let text = "The log of the fleet is not archived: the server's own log says why. Nothing is lost, as the log of the fleet keeps what is not \
                    archived yet; it grows until that is put right.";
        self.failing = Some(condition("ArchiveFailing", text));
    }

    fn note_gap(&mut self, first: u64, last: u64) {
        let text = format!(
            "The archive lacks entries {first} to {last}, which the log no longer has: this node was away for too long. Write a backup: an older one can only \
             be restored up to entry {}.",
            first.saturating_sub(1)
        );
        say(&text);
        self.gap = Some((Instant::now(), condition("ArchiveGap", text)));
    }

    fn conditions(&mut self) -> Vec<Condition> {
        self.gap.take_if(|(since, _)| since.elapsed() > GAP_SHOWN);
        let gap = self.gap.iter().map(|(_, gap)| gap);
        self.failing.iter().chain(gap).cloned().collect()
    }
}
