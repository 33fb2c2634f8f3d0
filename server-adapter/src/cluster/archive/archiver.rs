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
/// How long the log cannot be read for the archive, while this node follows it, before that is a condition.
const UNREAD_MAX: Duration = Duration::from_secs(5 * 60);
/// How long a gap is a condition: an operator has to see it, and it does not end.
const GAP_SHOWN: Duration = Duration::from_secs(60 * 60);

/// An archive of the log in a folder, which one process writes.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// `None` before the first attempt, and after an error.
    writer: Option<ArchiveWriter>,
    /// The pause after the next error.
    pause: Duration,
    /// Since when the log cannot be read for the archive.
    unread_since: Option<Instant>,
    /// The reason that was logged last, and the condition.
    failing: Option<(String, Condition)>,
    gap: Option<(Instant, Condition)>,
}

/// The thread that archives; it ends when this is dropped.
#[derive(Debug)]
pub struct ArchiveThread(#[expect(dead_code, reason = "it is kept to be dropped")] Background);

/// What one round did.
#[derive(Debug, PartialEq, Eq)]
enum Round {
    /// There may be more than what was archived.
    More,
    /// All is archived that is durable here.
    Whole,
    /// The log cannot be read, which the thread that follows it reports, or not for long.
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
            pause: EVERY,
            unread_since: None,
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
            while !is_stopping() {
                let round = catch_unwind(AssertUnwindSafe(|| self.round(&engine, &metrics)));
                // The panic hook has logged where.
                let bug = |_| Err("a bug in the archive".to_owned());
                let pause = self.note_round(round.unwrap_or_else(bug));
                metrics.set_archive(self.conditions());
                park_timeout(pause);
            }
        })?;
        Ok(ArchiveThread(thread))
    }

    /// Archives what comes next.
    fn round(&mut self, engine: &Engine, metrics: &Metrics) -> Result<Round, String> {
        let opened = match self.writer.take() {
            Some(writer) => Ok(writer),
            None => ArchiveWriter::open(&self.folder),
        };
        // It is kept only after a success: opening it again cuts off what was half written.
        let mut writer = opened.map_err(|error| error.to_string())?;
        if let Some(fleet) = engine.fleet_id() {
            let required = writer.require(fleet);
            required.map_err(|error| error.to_string())?;
        }
        let applied = match engine.entries_after(writer.position, writer.chain) {
            Ok(Some(applied)) => applied,
            Err(error) if error.kind() == ErrorKind::Corrupted && engine.halted().is_none() => {
                let (folder, error) = (self.folder.display(), error_chain(&error));
                return Err(format!(
                    "{error}. Move the files out of {folder}: a new archive then begins; and write a backup, as it does not go on from older ones"
                ));
            }
            Ok(None) => {
                self.writer = Some(writer);
                return Ok(Round::Whole);
            }
            Err(error) => {
                self.writer = Some(writer);
                let is_reported = engine.halted().is_some() || metrics.log_condition().is_some();
                return self.unread(error_chain(&error), is_reported);
            }
        };
        let before = writer.position;
        let appended = writer.append(&applied);
        if let Some((first, last)) = appended.map_err(|error| error.to_string())? {
            self.note_gap(first, last);
        }
        engine.set_archived(writer.position);
        let is_more = writer.position != before && writer.position < applied.durable;
        self.writer = Some(writer);
        Ok(if is_more { Round::More } else { Round::Whole })
    }

    /// What a round is that could not read the log: an error where that lasts and nothing else reports it.
    fn unread(&mut self, reason: String, is_reported: bool) -> Result<Round, String> {
        if is_reported {
            self.unread_since = None;
            return Ok(Round::Unread);
        }
        let since = *self.unread_since.get_or_insert_with(Instant::now);
        if since.elapsed() < UNREAD_MAX {
            return Ok(Round::Unread);
        }
        Err(reason)
    }

    /// Notes how a round went; returns the pause after it.
    fn note_round(&mut self, round: Result<Round, String>) -> Duration {
        let round = match round {
            Ok(round) => round,
            Err(reason) => {
                self.note_failure(reason);
                let pause = self.pause;
                self.pause = (pause * 2).min(PAUSE_MAX);
                return pause;
            }
        };
        self.pause = EVERY;
        if round == Round::Unread {
            return EVERY;
        }
        self.unread_since = None;
        if self.failing.take().is_some() {
            say("the archive of the log goes on");
        }
        if round == Round::More {
            Duration::ZERO
        } else {
            EVERY
        }
    }

    fn note_failure(&mut self, reason: String) {
        let logged = self.failing.as_ref().map(|(logged, _)| logged);
        if logged == Some(&reason) {
            return;
        }
        say(&format!(
            "the log of the fleet is not archived, and grows until it is; this is tried again: {reason}"
        ));
        // Who may read the fleet may not learn the paths of an error.
        let text = "The log of the fleet is not archived: the server's own log says why. The log of the fleet keeps what is not archived yet, and grows \
                    until that is put right.";
        let condition = match self.failing.take() {
            Some((_, since)) => since,
            None => condition("ArchiveFailing", text),
        };
        self.failing = Some((reason, condition));
    }

    fn note_gap(&mut self, first: u64, last: u64) {
        let text = match first.saturating_sub(1) {
            0 => format!(
                "The archive begins after entry {last}. Write a backup, which a restoration needs. If the archive had files before, mount its disk again."
            ),
            end => format!(
                "The archive lacks entries {first} to {last}, which were not archived while the log had all of them. Write a backup: an older one can only be \
                 restored up to entry {end}."
            ),
        };
        let known = self.gap.as_ref().map(|(_, gap)| &gap.text);
        if known != Some(&text) {
            say(&text);
        }
        self.gap = Some((Instant::now(), condition("ArchiveGap", text)));
    }

    fn conditions(&mut self) -> Vec<Condition> {
        self.gap.take_if(|(since, _)| since.elapsed() > GAP_SHOWN);
        let gap = self.gap.iter().map(|(_, gap)| gap);
        let failing = self.failing.iter().map(|(_, failing)| failing);
        failing.chain(gap).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(folder: &tempfile::TempDir) -> Archive {
        Archive::open(folder.path().to_owned()).unwrap()
    }

    #[test]
    fn pause_after_an_error_is_a_second_and_doubles_to_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = archive(&folder);
        let seconds: Vec<_> = (0..8)
            .map(|_| archive.note_round(Err("full".to_owned())).as_secs())
            .collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(archive.conditions().len(), 1);
        assert_eq!(archive.note_round(Ok(Round::More)), Duration::ZERO);
        assert_eq!(archive.conditions(), []);
        assert_eq!(archive.note_round(Err("full".to_owned())).as_secs(), 1);
    }

    #[test]
    fn reason_of_a_failure_that_changes_is_logged_and_lasts_since_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = archive(&folder);
        archive.note_round(Err("full".to_owned()));
        let first = archive.conditions();
        archive.note_round(Err("gone".to_owned()));
        let (logged, _) = archive.failing.clone().unwrap();
        assert_eq!(logged, "gone");
        assert_eq!(archive.conditions(), first);
    }

    #[test]
    fn log_that_cannot_be_read_for_minutes_is_an_error_where_nothing_else_reports_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = archive(&folder);
        let reason = || "no response".to_owned();
        assert_eq!(archive.unread(reason(), false), Ok(Round::Unread));
        archive.unread_since = Instant::now().checked_sub(UNREAD_MAX);
        assert_eq!(archive.unread(reason(), false), Err(reason()));
        assert_eq!(archive.unread(reason(), true), Ok(Round::Unread));
        assert_eq!(archive.unread(reason(), false), Ok(Round::Unread));
    }

    #[test]
    fn archive_that_begins_after_the_first_entry_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = archive(&folder);
        archive.note_gap(1, 7);
        let conditions = archive.conditions();
        let [gap] = &conditions[..] else {
            panic!("{conditions:?}")
        };
        assert_eq!(gap.code, "ArchiveGap");
        assert!(
            gap.text
                .starts_with("The archive begins after entry 7. Write a backup")
        );
    }
}
