//! Instructions counted by valgrind's callgrind: figures that repeat exactly, whatever the load of the host.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The first argument of a counted child process.
pub const RUN: &str = "--run";

/// Whether valgrind can be started.
#[must_use]
pub fn is_there() -> bool {
    let asked = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Whether this is a counted child process.
#[must_use]
pub fn is_child() -> bool {
    std::env::args().any(|argument| argument == RUN)
}

/// The cost and output of a child process.
#[derive(Debug)]
pub struct Counted {
    /// Instructions.
    pub total: u64,
    /// Its output, a number.
    pub printed: u64,
}

/// Runs this program again with [`RUN`] and `arguments`, and counts the instructions inside `function`.
///
/// # Panics
/// When it cannot be run or fails, or prints anything but a number.
#[must_use]
pub fn count(function: &str, arguments: &[&str]) -> Counted {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={function}"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().expect("this program"))
        .arg(RUN)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .expect("valgrind runs");
    assert!(ran.status.success(), "{arguments:?} fails under valgrind");
    let printed = String::from_utf8_lossy(&ran.stdout);
    Counted {
        total: total(&out),
        printed: printed.trim().parse().expect("a number"),
    }
}

fn total(out: &Path) -> u64 {
    let text = fs::read_to_string(out).expect("what callgrind counted");
    let total = text.lines().find_map(|line| {
        line.strip_prefix("totals:")
            .or_else(|| line.strip_prefix("summary:"))
    });
    let total = total.and_then(|total| total.trim().parse().ok());
    total.filter(|total| *total > 0).expect("a count")
}
