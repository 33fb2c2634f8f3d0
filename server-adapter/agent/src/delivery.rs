//! Sends the records of a spool, oldest first and at a bounded rate, and says what is wrong.

use std::io;
use std::time::{Duration, Instant, SystemTime};

use deskfleet_client::backoff::{pause, random};

use super::log_line;
use super::server::{Connection, Outcome, Refused, Target};
use super::spool::{BATCH_RECORDS, Batch, Spool};

/// The least time between two requests while many records are pending, and up to as much again.
const PACE: Duration = Duration::from_secs(1);
/// A trouble that lasts is named again after this time.
const REMINDER: Duration = Duration::from_secs(3600);
/// By how much clocks may differ without a word.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(120);

/// How a connection is made.
enum Connect {
    /// Anew, so that a key and CAs that were changed are read.
    To(Target),
    /// As a copy of one.
    Like(Connection),
}

impl Connect {
    fn connection(&self) -> io::Result<Connection> {
        match self {
            Self::To(target) => Connection::new(target),
            Self::Like(connection) => Ok(connection.clone()),
        }
    }
}

/// The state of sending.
pub(crate) struct Delivery {
    connect: Connect,
    /// Absent while nothing is pending.
    connection: Option<Connection>,
    say: fn(&str),
    failures: u32,
    next: Instant,
    /// Records that go into a request.
    records_max: usize,
    trouble: Reminder,
    clock: Reminder,
    warning: Reminder,
}

/// What one attempt has done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Nothing is pending.
    Idle,
    /// It is too early.
    Early,
    /// Records were sent; how many the server has now.
    Sent(usize),
    /// They wait, and the log says why.
    Failed,
}

impl Delivery {
    /// # Errors
    /// One sentence: the key or the CAs cannot be read.
    pub(crate) fn new(target: Target) -> io::Result<Self> {
        let connect = Connect::To(target);
        let connection = connect.connection()?;
        Ok(Self {
            connection: Some(connection),
            ..Self::from_parts(connect, log_line::say)
        })
    }

    /// One of many in a process: they share the key and the CAs, and each is silent.
    pub(crate) fn of_swarm(connection: Connection) -> Self {
        Self::from_parts(Connect::Like(connection), |_| {})
    }

    fn from_parts(connect: Connect, say: fn(&str)) -> Self {
        Self {
            connect,
            connection: None,
            say,
            failures: 0,
            next: Instant::now(),
            records_max: BATCH_RECORDS,
            trouble: Reminder::default(),
            clock: Reminder::default(),
            warning: Reminder::default(),
        }
    }

    /// When the next attempt is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Sends the oldest records, if it is time. `now` is the clock of the machine.
    pub(crate) fn attempt(&mut self, spool: &mut Spool, now: impl Fn() -> SystemTime) -> Attempt {
        if Instant::now() < self.next {
            return Attempt::Early;
        }
        let batch = spool.oldest();
        if batch.is_empty() {
            self.connection = None;
            return Attempt::Idle;
        }
        match self.send(spool, &batch, now) {
            Ok(sent) => {
                if batch.damaged() > 0 {
                    (self.say)(&format!(
                        "skipped {} lines of the spool that a crash has cut off",
                        batch.damaged()
                    ));
                }
                spool.remove(&batch);
                if self.trouble.is_set() {
                    (self.say)(&format!(
                        "sending again; {} still to send",
                        log_line::records(spool.count())
                    ));
                }
                self.trouble.clear();
                self.failures = 0;
                self.next = Instant::now() + PACE + jitter(PACE);
                Attempt::Sent(sent)
            }
            Err((message, after)) => {
                self.connection = None;
                self.failures = self.failures.saturating_add(1);
                self.next = Instant::now() + pause(self.failures, after, random()).max(PACE);
                if self.trouble.is_due(&message) {
                    (self.say)(&format!(
                        "{message}; {} in the spool",
                        log_line::records(spool.count())
                    ));
                }
                Attempt::Failed
            }
        }
    }

    /// Sends a batch, in parts if something takes smaller ones only. After an error all of it is sent again, and the server ignores what it
    /// has. Returns how many records the server took.
    fn send(
        &mut self,
        spool: &Spool,
        batch: &Batch,
        now: impl Fn() -> SystemTime,
    ) -> Result<usize, (String, Option<Duration>)> {
        let mut remaining = batch.lines();
        let mut sent = 0;
        while !remaining.is_empty() {
            let connection = match self.connection.take() {
                Some(connection) => connection,
                None => self
                    .connect
                    .connection()
                    .map_err(|error| (error.to_string(), None))?,
            };
            let (part, others) = remaining.split_at(self.records_max.min(remaining.len()));
            let (outcome, date) = connection.post(part);
            self.connection = Some(connection);
            if let Some(date) = date {
                self.compare_clocks(now(), date);
            }
            match outcome {
                Outcome::Accepted { refused, warnings } => {
                    sent += part.len() - refused.len();
                    self.set_aside(spool, part, &refused);
                    if let Some(warning) = warnings.first().filter(|text| self.warning.is_due(text))
                    {
                        (self.say)(&format!("the server says: {warning}"));
                    }
                    remaining = others;
                }
                Outcome::TooLarge if part.len() == 1 => {
                    let message = "the request is too large for the server, or for a proxy";
                    let refused = Refused {
                        index: 0,
                        message: message.to_owned(),
                    };
                    self.set_aside(spool, part, &[refused]);
                    remaining = others;
                }
                Outcome::TooLarge => self.records_max = (part.len() / 2).max(1),
                Outcome::Failed(failed) => return Err((failed.message, failed.after)),
            }
        }
        Ok(sent)
    }

    /// Keeps refused records where a person finds them.
    fn set_aside(&self, spool: &Spool, lines: &[String], refused: &[Refused]) {
        let Some(first) = refused.first() else {
            return;
        };
        let mut file = None;
        for Refused { index, message } in refused {
            if let Some(line) = lines.get(*index) {
                file = spool.set_aside(line, message);
            }
        }
        let place = file.map(|file| format!("; they are in {}", file.display()));
        (self.say)(&format!(
            "the server refuses {}: {}{}",
            log_line::records(refused.len()),
            first.message,
            place.unwrap_or_default()
        ));
    }

    /// Says by how much the clocks differ. The server's is exact to the second.
    fn compare_clocks(&mut self, ours: SystemTime, server: SystemTime) {
        let (difference, direction, effect) = match ours.duration_since(server) {
            Ok(ahead) => (
                ahead,
                "ahead of",
                "the server files records under the time at which it receives them",
            ),
            Err(behind) => (behind.duration(), "behind", "records look late by as much"),
        };
        if difference <= CLOCK_TOLERANCE {
            return self.clock.clear();
        }
        let minutes = difference.as_secs() / 60;
        if self.clock.is_due(direction) {
            (self.say)(&format!(
                "the clock of this machine is {minutes} minutes {direction} that of the server: set the wrong one; until then {effect}"
            ));
        }
    }
}

/// Any time up to `max`.
fn jitter(max: Duration) -> Duration {
    let millis = u64::try_from(max.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(random() % millis)
}

/// What was said last of a kind, so that it is not repeated all the time.
#[derive(Debug, Default)]
struct Reminder(Option<(String, Instant)>);

impl Reminder {
    fn is_set(&self) -> bool {
        self.0.is_some()
    }

    fn clear(&mut self) {
        self.0 = None;
    }

    /// Whether to say it now: it is new, or was said long ago.
    fn is_due(&mut self, text: &str) -> bool {
        let is_known = self
            .0
            .as_ref()
            .is_some_and(|(last, since)| last == text && since.elapsed() < REMINDER);
        if !is_known {
            self.0 = Some((text.to_owned(), Instant::now()));
        }
        !is_known
    }
}
