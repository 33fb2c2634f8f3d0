//! The lines of the agent on standard error.

use std::io::{Write as _, stderr};

use deskfleet_client::visible;

/// Writes a line. Control characters, which may be of others, are shown as `\u{1b}`: a terminal would obey them.
pub(crate) fn say(line: &str) {
    // Nobody may be reading, which stops nothing.
    let _ = stderr().write_all(format!("{}\n", visible(line)).as_bytes());
}

/// `count` and its noun, such as `1 record` or `7 records`.
pub(crate) fn records(count: usize) -> String {
    if count == 1 {
        "1 record".to_owned()
    } else {
        format!("{count} records")
    }
}
