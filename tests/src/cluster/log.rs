//! A log that fails as the harness wants it, over one in memory. Each node has its own handle.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskfleet::cluster::{
    Appended, Chain, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, MemoryLog,
    NodeReport,
};

/// What happens to the next append of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NextAppend {
    /// It is done.
    #[default]
    Done,
    /// It is refused.
    Refused,
    /// It is done, and the answer is lost.
    AnswerLost,
    /// It is done, and the answer and the whole connection are lost.
    ConnectionLost,
    /// It is lost on its way.
    RequestLost,
}

/// What a node is given in place of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The one after it, under its position.
    Next,
    /// This entry with the mutations of the other, under its own id.
    BodyOf(u64),
}

#[derive(Debug, Default)]
struct Faults {
    next: NextAppend,
    /// Whether this node cannot reach the log.
    partitioned: bool,
    /// Whether the log takes no reports.
    mute: bool,
    /// Of an entry, what is delivered in place of it.
    delivered: Option<(u64, Delivery)>,
    /// The last position that is shown.
    shown: Option<u64>,
    /// Whether it is a log that keeps no chain.
    unchained: bool,
    /// Of the next append that is done: where that is said, and what its answer waits for.
    slow_answer: Option<(Sender<()>, Receiver<()>)>,
    met: u64,
}

/// The log as one node reaches it. Clones are the same connection.
#[derive(Debug, Clone)]
pub struct FaultyLog {
    log: MemoryLog,
    faults: Arc<Mutex<Faults>>,
}

impl FaultyLog {
    /// A connection that works.
    pub fn new(log: MemoryLog) -> Self {
        Self {
            log,
            faults: Arc::default(),
        }
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets what happens to the next append.
    pub fn fail_next(&self, next: NextAppend) {
        self.faults().next = next;
    }

    /// Cuts the connection, or restores it.
    pub fn partition(&self, is_cut: bool) {
        self.faults().partitioned = is_cut;
    }

    /// Takes no reports, or takes them again.
    pub fn mute(&self, is_mute: bool) {
        self.faults().mute = is_mute;
    }

    /// Delivers something else in place of an entry.
    pub fn deliver(&self, position: u64, delivery: Delivery) {
        self.faults().delivered = Some((position, delivery));
    }

    /// Shows no entry after this position, as if they came later.
    pub fn show_through(&self, position: u64) {
        self.faults().shown = Some(position);
    }

    /// Keeps no chain from here on, and returns the entry before those that are read.
    pub fn keep_no_chain(&self) {
        self.faults().unchained = true;
    }

    /// Holds back the answer of the next append. The first end returned hears when it is done, the other releases the answer.
    pub fn hold_next_answer(&self) -> (Receiver<()>, Sender<()>) {
        let (done, hears) = mpsc::channel();
        let (releases, released) = mpsc::channel();
        self.faults().slow_answer = Some((done, released));
        (hears, releases)
    }

    /// The number of faults that the node met.
    pub fn met(&self) -> u64 {
        self.faults().met
    }

    fn reach(&self) -> Result<(), LogError> {
        let mut faults = self.faults();
        if faults.partitioned {
            faults.met += 1;
            return Err(unavailable());
        }
        Ok(())
    }

    /// Adds an entry, with what happens to the next one that is added.
    fn with_next<T>(&self, add: impl Fn() -> Result<T, LogError>) -> Result<T, LogError> {
        self.reach()?;
        let next = std::mem::take(&mut self.faults().next);
        if next != NextAppend::Done {
            self.faults().met += 1;
        }
        match next {
            NextAppend::Done => {
                let added = add();
                let slow_answer = self.faults().slow_answer.take();
                if let Some((done, released)) = slow_answer {
                    let _ = done.send(());
                    let _ = released.recv();
                }
                added
            }
            NextAppend::Refused => Err(unavailable()),
            NextAppend::AnswerLost => {
                add()?;
                Err(unknown())
            }
            NextAppend::ConnectionLost => {
                add()?;
                self.partition(true);
                Err(unknown())
            }
            NextAppend::RequestLost => {
                self.partition(true);
                Err(unknown())
            }
        }
    }

    fn reach_reports(&self) -> Result<(), LogError> {
        self.reach()?;
        if self.faults().mute {
            self.faults().met += 1;
            return Err(unavailable());
        }
        Ok(())
    }

    fn delivered(&self, entry: &mut LogEntry) -> Result<(), LogError> {
        let Some((position, delivery)) = self.faults().delivered else {
            return Ok(());
        };
        if entry.position != position {
            return Ok(());
        }
        let of = match delivery {
            Delivery::Next => position + 1,
            Delivery::BodyOf(other) => other,
        };
        let other = self.log.read(of, 1, Duration::ZERO)?;
        if let Some(other) = other.into_iter().next() {
            entry.body = other.body;
            if delivery == Delivery::Next {
                entry.id = other.id;
            }
            self.faults().met += 1;
        }
        Ok(())
    }
}

fn unavailable() -> LogError {
    LogError::new(
        LogErrorKind::Unavailable,
        "the log is away, as the seed wants it",
    )
}

fn unknown() -> LogError {
    LogError::new(
        LogErrorKind::Unknown,
        "the answer is lost, as the seed wants it",
    )
}

impl Log for FaultyLog {
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        let appended = self.with_next(|| self.log.append(id, body))?;
        if self.faults().unchained {
            return Ok(Appended {
                at: None,
                chain: None,
                ..appended
            });
        }
        Ok(appended)
    }

    fn body_max(&self) -> usize {
        self.log.body_max()
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.reach()?;
        let mut entries = self.log.read(from, bytes_max, patience)?;
        if let Some(shown) = self.faults().shown {
            entries.retain(|entry| entry.position <= shown);
        }
        if self.faults().unchained && !entries.is_empty() {
            if from > self.log.bounds(0)?.first {
                let before = self.log.read(from - 1, 1, Duration::ZERO)?;
                entries.splice(..0, before.into_iter().take(1));
            }
            for entry in &mut entries {
                entry.chain = None;
            }
        }
        for entry in &mut entries {
            self.delivered(entry)?;
        }
        Ok(entries)
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.reach()?;
        let bounds = self.log.bounds(seen)?;
        // Who sees a part of the log only reads.
        let takeover = bounds.takeover.filter(|_| self.faults().shown.is_none());
        Ok(LogBounds { takeover, ..bounds })
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.reach()?;
        self.log.trim(below)
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        self.reach_reports()?;
        self.log.report(node, report)
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.reach_reports()?;
        self.log.reports()
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        self.reach()?;
        self.log.forget(node)
    }

    fn restore(&self, before: &Chain, entry: &LogEntry) -> Result<bool, LogError> {
        self.with_next(|| {
            if !self.faults().unchained {
                return self.log.restore(before, entry);
            }
            // A log without chains compares the position alone.
            let last = self.log.bounds(0)?.last;
            let entries = self.log.read(last, 1, Duration::ZERO)?;
            let chain = entries.last().and_then(|last| last.chain);
            self.log.restore(&chain.unwrap_or_default(), entry)
        })
    }

    fn resume(&self, takeover: u64) -> Result<(), LogError> {
        self.reach()?;
        self.log.resume(takeover)
    }
}
