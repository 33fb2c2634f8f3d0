//! The progress of a command: a bar that is redrawn on the terminal, if standard error is one.

use std::io::{IsTerminal as _, Write as _};

const MB: u64 = 1_000_000;
/// Characters of a full bar.
const BAR: u64 = 30;

/// The bytes that a command has processed, and their total.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    /// `None` where the end is not known.
    total: Option<u64>,
    done: u64,
    /// Something is written at each multiple of this.
    step: u64,
    on_terminal: bool,
    /// Whether the line has text to clear.
    is_drawn: bool,
}

impl ProgressLine {
    pub(crate) fn new(total: Option<u64>) -> Self {
        Self::on(std::io::stderr().is_terminal(), total)
    }

    fn on(on_terminal: bool, total: Option<u64>) -> Self {
        let step = total.map_or(MB, |total| (total / 100).max(1));
        Self {
            total,
            done: 0,
            step,
            on_terminal,
            is_drawn: false,
        }
    }

    /// `bytes` more are done.
    pub(crate) fn advance(&mut self, bytes: usize) {
        if let Some(text) = self.next(bytes as u64) {
            self.is_drawn = true;
            // Nobody may be reading.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    /// The text to write now, if any.
    fn next(&mut self, bytes: u64) -> Option<String> {
        let before = self.done / self.step;
        self.done += bytes;
        if !self.on_terminal || self.done / self.step == before {
            return None;
        }
        let done = megabytes(self.done);
        let text = self.total.map_or_else(
            || format!("{done} MB"),
            |total| {
                let percent = (self.done.saturating_mul(100) / total.max(1)).min(100);
                let bar = bar(percent);
                format!("{bar}{percent:3} %, {done} of {} MB", megabytes(total))
            },
        );
        Some(format!("\r{text}"))
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{}", bytes / MB, bytes % MB / (MB / 10))
}

fn bar(percent: u64) -> String {
    let filled = percent * BAR / 100;
    let part = |at| if at < filled { '#' } else { ' ' };
    let inside: String = (0..BAR).map(part).collect();
    format!("[{inside}] ")
}

impl Drop for ProgressLine {
    /// Clears the line of the terminal for the next text.
    fn drop(&mut self) {
        if self.is_drawn {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(mut line: ProgressLine, pieces: &[u64]) -> Vec<String> {
        pieces
            .iter()
            .filter_map(|piece| line.next(*piece))
            .collect()
    }

    #[test]
    fn terminal_gets_a_bar_for_each_percent() {
        let line = ProgressLine::on(true, Some(26_200_000));
        assert_eq!(
            drawn(line, &[1, 13_099_999, 1, 13_099_999]),
            [
                "\r[###############               ]  50 %, 13.1 of 26.2 MB",
                "\r[##############################] 100 %, 26.2 of 26.2 MB",
            ]
        );
        let line = ProgressLine::on(true, None);
        assert_eq!(drawn(line, &[900_000, 600_000]), ["\r1.5 MB"]);
    }

    #[test]
    fn anything_else_gets_nothing() {
        for total in [None, Some(26 * MB)] {
            let none: [&str; 0] = [];
            assert_eq!(drawn(ProgressLine::on(false, total), &[MB; 26]), none);
        }
    }
}
