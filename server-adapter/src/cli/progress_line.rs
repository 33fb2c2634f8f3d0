//! How far a command has come, on standard error: a bar that is drawn again and again on a terminal, a line for each tenth elsewhere.

use std::io::{IsTerminal as _, Write as _};

const MB: u64 = 1_000_000;
/// Characters of a full bar.
const BAR: u64 = 30;

/// The bytes that a command has done, of those that it has to do.
#[derive(Debug)]
pub(crate) struct ProgressLine {
    /// `None` where the end is not known.
    total: Option<u64>,
    done: u64,
    on_terminal: bool,
    /// What was drawn last: a percentage, or megabytes where the total is not known.
    step: u64,
}

impl ProgressLine {
    pub(crate) fn new(total: Option<u64>) -> Self {
        Self {
            total,
            done: 0,
            on_terminal: std::io::stderr().is_terminal(),
            step: 0,
        }
    }

    /// `bytes` more are done.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if let Some(text) = self.next() {
            // Nobody may be reading.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    /// What is to be written now, if anything has changed.
    fn next(&mut self) -> Option<String> {
        let percent = self.total.map(|total| {
            let share = self.done.saturating_mul(100).checked_div(total);
            share.unwrap_or(100).min(100)
        });
        let step = percent.unwrap_or(self.done / MB);
        let step = if self.on_terminal {
            step
        } else {
            step / 10 * 10
        };
        if step == self.step {
            return None;
        }
        self.step = step;
        let done = self.done / MB;
        let text = match (self.total, percent) {
            (Some(total), Some(percent)) if self.on_terminal => {
                let filled = "#".repeat(usize::try_from(percent * BAR / 100).unwrap_or_default());
                let width = usize::try_from(BAR).unwrap_or_default();
                format!(
                    "[{filled:width$}] {percent:3} %  {done} of {} MB",
                    total / MB
                )
            }
            (Some(total), _) => format!("{step} %, {done} of {} MB", total / MB),
            (None, _) => format!("{done} MB"),
        };
        Some(if self.on_terminal {
            format!("\r{text}")
        } else {
            format!("{text}\n")
        })
    }
}

impl Drop for ProgressLine {
    /// Leaves the line of the terminal to what is written next.
    fn drop(&mut self) {
        if self.on_terminal && self.step > 0 {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(on_terminal: bool, total: Option<u64>, pieces: &[u64]) -> Vec<String> {
        let mut line = ProgressLine {
            total,
            done: 0,
            on_terminal: false,
            step: 0,
        };
        let mut drawn = Vec::new();
        for piece in pieces {
            line.done += piece;
            line.on_terminal = on_terminal;
            drawn.extend(line.next());
            // Its end is not to be drawn by a test.
            line.on_terminal = false;
        }
        drawn
    }

    #[test]
    fn terminal_gets_a_bar_for_each_percent() {
        assert_eq!(
            drawn(true, Some(26_000_000), &[1, 12_999_999, 1, 13_000_000]),
            [
                "\r[###############               ]  50 %  13 of 26 MB",
                "\r[##############################] 100 %  26 of 26 MB",
            ]
        );
    }

    #[test]
    fn anything_else_gets_a_line_for_each_tenth() {
        let pieces = [1_000_000; 26];
        let lines = drawn(false, Some(26_000_000), &pieces);
        assert_eq!(lines.len(), 10);
        assert_eq!(lines.first().unwrap(), "10 %, 3 of 26 MB\n");
        assert_eq!(lines.last().unwrap(), "100 %, 26 of 26 MB\n");
    }

    #[test]
    fn input_of_unknown_length_shows_megabytes() {
        let pieces = [4_000_000; 6];
        assert_eq!(drawn(false, None, &pieces), ["12 MB\n", "20 MB\n"]);
        assert_eq!(drawn(true, None, &[1_500_000]), ["\r1 MB"]);
    }
}
