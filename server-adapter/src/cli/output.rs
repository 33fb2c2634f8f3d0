//! The ways out: text for people on standard error, data on standard output.

use std::io::Write as _;
use std::time::Duration;

use deskfleet_server::visible;

use super::failure::Failure;

/// Queues a line for people, for a server: it never waits for the reader of standard error.
macro_rules! log {
    ($($format:tt)*) => {
        deskfleet_server::LogQueue::stderr().line(&format!($($format)*))
    };
}
pub(crate) use log;

/// Writes a line for people.
macro_rules! say {
    ($($format:tt)*) => {
        $crate::cli::output::say_lines(&format!($($format)*))
    };
}
pub(crate) use say;

/// Waits for the queued lines, so that a terminal shows them above the data that they introduce; not for long if nobody reads
/// them.
pub(crate) fn flush_log() {
    deskfleet_server::LogQueue::stderr().flush(Duration::from_millis(500));
}

/// Writes lines for people. Nobody may be reading; that is no failure.
pub(crate) fn say_lines(text: &str) {
    let mut lines: String = text.split('\n').map(visible).collect::<Vec<_>>().join("\n");
    lines.push('\n');
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// A number with the noun that it counts: `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Writes a line of data.
///
/// # Errors
///
/// When it could not be written.
pub(crate) fn data(line: impl std::fmt::Display) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::caused("cannot write to standard output", &error))
}

/// Writes a value as one line of JSON.
///
/// # Errors
///
/// When it could not be written.
pub(crate) fn data_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value)
        .map_err(|error| Failure::caused("cannot write JSON", &error))?;
    data(line)
}
