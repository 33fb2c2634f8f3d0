//! The log of a provider.

use deskfleet_server::LogQueue;

/// Writes a line into the log. What others said in it is shown with its control characters as `\u{1b}`: a terminal would obey them.
pub(super) fn say(line: &str) {
    let mut shown = String::with_capacity(line.len());
    for char in line.chars() {
        if char.is_control() {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    LogQueue::stderr().line(&shown);
}
