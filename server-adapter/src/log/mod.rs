//! Log output that never blocks its callers: a bounded queue, and one thread that writes it to standard error.
//!
//! Standard error is often a pipe. When its reader stops, a write to it blocks, which would stop the whole server.

pub(crate) mod access_log;
pub(crate) mod logged_request;

use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::Timestamp;
use serde::Serialize;

use crate::locks::lock;

/// Bytes of queued lines; lines above it are dropped and counted.
const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes handed to one write.
const WRITE_BYTES_MAX: usize = 64 * 1024;
/// A message about one topic is written at most this often; those in between are counted.
const TOPIC_PAUSE: Duration = Duration::from_secs(60);

/// A bounded queue of log lines with a writer thread. Clones are the same queue.
#[derive(Debug, Clone, Default)]
pub struct LogQueue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when lines arrive, and when all are written.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    /// Bytes of `lines` and of what is being written.
    bytes: usize,
    writing: bool,
    /// Lines dropped since the last one that was written.
    dropped: u64,
    topics: BTreeMap<&'static str, Topic>,
    /// Whether messages are queued as JSON.
    json: bool,
}

/// A message as JSON.
#[derive(Serialize)]
struct JsonMessage<'a> {
    time: Timestamp,
    level: &'static str,
    message: &'a str,
}

/// The messages of a topic since the last one was written.
#[derive(Debug)]
struct Topic {
    written_at: Instant,
    left_out: u64,
}

impl LogQueue {
    /// The queue of standard error; its thread starts with the first call. Without a thread lines are dropped.
    pub fn stderr() -> &'static Self {
        static STDERR: OnceLock<LogQueue> = OnceLock::new();
        STDERR.get_or_init(|| {
            let queue = Self::default();
            // Without a thread the queue fills; nobody could have read its lines.
            let _ = queue.write_to(std::io::stderr());
            queue
        })
    }

    /// Starts the thread that writes the queue to `out`, for as long as the process lives.
    fn write_to(&self, mut out: impl Write + Send + 'static) -> std::io::Result<()> {
        let queue = self.clone();
        let thread = Builder::new().name("deskfleet-log".into());
        thread
            .spawn(move || {
                loop {
                    let text = queue.next_text();
                    // A failing log stops nothing.
                    let _ = out.write_all(text.as_bytes());
                    queue.written(text.len());
                }
            })
            .map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0.state)
    }

    /// Queues one line of the access log, given without its end. Returns at once; drops the line where the queue is full.
    pub(crate) fn access_line(&self, line: &str) {
        self.lock().push(line);
        self.0.changed.notify_all();
    }

    /// From now on messages are queued as the access log has its lines: in JSON as objects with `time`, `level` and `message`.
    pub fn set_json(&self, json: bool) {
        self.lock().json = json;
    }

    /// Queues one message, given without its end. Returns at once; drops the message where the queue is full.
    pub fn line(&self, line: &str) {
        self.lock().push_message("info", line);
        self.0.changed.notify_all();
    }

    /// The same for a message about what somebody has to look at.
    pub(crate) fn warning(&self, line: &str) {
        self.lock().push_message("warning", line);
        self.0.changed.notify_all();
    }

    /// The same for a message about what ends the program.
    pub fn error(&self, line: &str) {
        self.lock().push_message("error", line);
        self.0.changed.notify_all();
    }

    /// Queues a warning about `topic`, unless one was queued within the last minute: the next one after that says how many were
    /// left out.
    pub fn line_about(&self, topic: &'static str, line: &str) {
        self.line_about_at(topic, line, Instant::now());
    }

    fn line_about_at(&self, topic: &'static str, line: &str, now: Instant) {
        let mut state = self.lock();
        let left_out = match state.topics.get_mut(topic) {
            Some(before) if now.saturating_duration_since(before.written_at) < TOPIC_PAUSE => {
                before.left_out += 1;
                return;
            }
            Some(before) => before.left_out,
            None => 0,
        };
        let written = Topic {
            written_at: now,
            left_out: 0,
        };
        state.topics.insert(topic, written);
        match left_out {
            0 => state.push_message("warning", line),
            count => state.push_message(
                "warning",
                &format!("{line} ({count} more since the last of these)"),
            ),
        }
        drop(state);
        self.0.changed.notify_all();
    }

    /// Waits until all queued lines are written, for `limit` at most: a reader that has stopped must not keep a process alive.
    pub fn flush(&self, limit: Duration) {
        let state = self.lock();
        let pending = |state: &mut State| state.writing || !state.lines.is_empty();
        drop(self.0.changed.wait_timeout_while(state, limit, pending));
    }

    /// The next lines, each with its end, once there are some.
    fn next_text(&self) -> String {
        let state = self.lock();
        let empty = |state: &mut State| state.lines.is_empty();
        let waited = self.0.changed.wait_while(state, empty);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        while text.len() < WRITE_BYTES_MAX
            && let Some(line) = state.lines.pop_front()
        {
            text.push_str(&line);
            text.push('\n');
        }
        state.writing = true;
        text
    }

    /// `bytes` of text have been written, and so there is room to report how many were dropped.
    fn written(&self, bytes: usize) {
        let mut state = self.lock();
        state.writing = false;
        state.bytes = state.bytes.saturating_sub(bytes);
        if state.dropped > 0 {
            let dropped = std::mem::take(&mut state.dropped);
            state.push_message(
                "warning",
                &format!(
                    "deskfleet: {dropped} log lines were dropped: standard error was not read"
                ),
            );
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

impl State {
    fn push_message(&mut self, level: &'static str, message: &str) {
        if !self.json {
            return self.push(message);
        }
        let time = Timestamp::from(SystemTime::now());
        let object = JsonMessage {
            time,
            level,
            message,
        };
        self.push(&serde_json::to_string(&object).unwrap_or_default());
    }

    fn push(&mut self, line: &str) {
        let bytes = line.len() + 1;
        if self.bytes + bytes > QUEUE_BYTES_MAX {
            self.dropped += 1;
        } else {
            self.bytes += bytes;
            self.lines.push_back(line.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A reader that reads one write each time it is asked to.
    struct SlowReader {
        read: Receiver<()>,
        texts: Sender<String>,
    }

    impl Write for SlowReader {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let gone = |_| std::io::Error::from(std::io::ErrorKind::BrokenPipe);
            self.read.recv().map_err(gone)?;
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.texts.send(text).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn queue() -> (LogQueue, Sender<()>, Receiver<String>) {
        let (queue, (read, wait), (texts, written)) = (LogQueue::default(), channel(), channel());
        let reader = SlowReader { read: wait, texts };
        queue.write_to(reader).unwrap();
        (queue, read, written)
    }

    #[test]
    fn log_without_reader_drops_lines_and_says_how_many() {
        let (queue, read, written) = queue();
        let line = "x".repeat(1023);
        for _ in 0..5000 {
            queue.line(&line);
        }
        queue.flush(Duration::from_millis(1));
        assert!(queue.lock().bytes <= QUEUE_BYTES_MAX);
        let mut text = String::new();
        while !text.contains("dropped") {
            read.send(()).unwrap();
            text.push_str(&written.recv_timeout(PATIENCE).unwrap());
        }
        let kept = QUEUE_BYTES_MAX / 1024;
        assert_eq!(text.matches(&line).count(), kept);
        let dropped = format!("deskfleet: {} log lines were dropped", 5000 - kept);
        assert!(text.contains(&dropped), "{}", &text[text.len() - 200..]);
    }

    #[test]
    fn messages_beside_an_access_log_in_json_are_objects() {
        let queue = LogQueue::default();
        queue.line("as text");
        queue.set_json(true);
        queue.access_line("{}");
        queue.line("said:\n\"so\"");
        queue.line_about("disk", "low disk");
        let mut lines: Vec<String> = queue.lock().lines.drain(..).collect();
        let objects = lines.split_off(2);
        assert_eq!(lines, ["as text", "{}"]);
        for (line, level, message) in [
            (&objects[0], "info", "said:\n\"so\""),
            (&objects[1], "warning", "low disk"),
        ] {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object["level"], level, "{line}");
            assert_eq!(object["message"], message, "{line}");
            assert!(object["time"].is_string(), "{line}");
        }
    }

    #[test]
    fn flush_returns_once_all_lines_are_written() {
        let (queue, read, written) = queue();
        queue.line("one");
        queue.line("two");
        for _ in 0..2 {
            read.send(()).unwrap();
        }
        queue.flush(PATIENCE);
        let text: String = written.try_iter().collect();
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn messages_about_one_topic_are_summarised() {
        let queue = LogQueue::default();
        let start = Instant::now();
        for number in 0..700 {
            queue.line_about_at("disk", &format!("low disk: {number} bytes"), start);
        }
        queue.line_about_at("clock", "the clock is wrong", start);
        queue.line_about_at("disk", "low disk: 0 bytes", start + TOPIC_PAUSE);
        let lines: Vec<String> = queue.lock().lines.drain(..).collect();
        assert_eq!(
            lines,
            [
                "low disk: 0 bytes",
                "the clock is wrong",
                "low disk: 0 bytes (699 more since the last of these)"
            ]
        );
    }
}
