//! Instructions counted by valgrind's callgrind: figures that repeat exactly, whatever else the machine does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// The first argument of a child that is counted.
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

/// Whether this is a child that is counted.
#[must_use]
pub fn is_child() -> bool {
    std::env::args().any(|argument| argument == RUN)
}

/// What a child took and printed.
#[derive(Debug)]
pub struct Counted {
    /// Instructions of each call of the function, in order; one sum of all where they were not told apart.
    pub totals: Vec<u64>,
    /// What it printed.
    pub printed: String,
}

/// Runs this program again with [`RUN`] and `arguments`, and counts what it does in `function`: each call of it where `each`, else all
/// of them together.
///
/// # Panics
/// When it cannot be run or fails.
#[must_use]
pub fn count(function: &str, each: bool, arguments: &[&str]) -> Counted {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={function}"))
        .arg(format!("--callgrind-out-file={}", out.display()));
    if each {
        command.arg(format!("--dump-after={function}"));
    }
    let ran = command
        .arg(std::env::current_exe().expect("this program"))
        .arg(RUN)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .expect("valgrind runs");
    assert!(ran.status.success(), "{arguments:?} fails under valgrind");
    let totals = if each {
        let parts = (1..).map(|part| out.with_extension(part.to_string()));
        let parts = parts.take_while(|part| part.exists());
        parts.map(|part| total(&part)).collect()
    } else {
        vec![total(&out)]
    };
    Counted {
        totals,
        printed: String::from_utf8_lossy(&ran.stdout).into_owned(),
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
