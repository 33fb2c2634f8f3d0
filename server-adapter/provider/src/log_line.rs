//! The log of a provider.

use deskfleet_server::{LogQueue, visible};

/// Writes a line into the log. What others said in it is shown with its control characters as `\u{1b}`: a terminal would obey them.
pub(super) fn say(line: &str) {
    LogQueue::stderr().line(&visible(line));
}
