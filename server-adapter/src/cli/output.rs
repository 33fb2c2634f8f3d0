//! The ways out: text for people on standard error, data on standard output.

use std::io::Write as _;

use super::failure::Failure;

/// Queues a line for people, for a server: it never waits for who reads standard error.
macro_rules! log {
    ($($format:tt)*) => {
        deskfleet_server::LogQueue::stderr().line(&format!($($format)*))
    };
}
pub(crate) use log;

/// Writes a line for people. Nobody may be reading; that is no failure.
macro_rules! say {
    ($($format:tt)*) => {{
        use std::io::Write as _;
        let _ = std::io::stderr().write_all(format!("{}\n", format_args!($($format)*)).as_bytes());
    }};
}
pub(crate) use say;

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
