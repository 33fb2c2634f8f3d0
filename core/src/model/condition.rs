//! What is wrong now.

use serde::{Serialize, Serializer};

use crate::timestamp::Timestamp;

use super::row::{CellType, row};
use super::{Cell, ColumnKind};

/// How much a condition matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Somebody has to look at it, in working hours.
    Warning,
    /// Somebody has to act now.
    Critical,
}

impl Severity {
    /// Every severity, in the order of their numbers in the file.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// The severity as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl CellType for Severity {
    const KIND: ColumnKind = ColumnKind::Text;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.as_str())
    }
}

row! {
    /// Something that is wrong now.
    pub struct Condition {
        /// What it is, for programs: one word, such as `FleetSilent`. There is at most one condition of each code.
        code: String = "code",
        /// `info`, `warning` or `critical`.
        severity: Severity = "severity",
        /// Since when it lasts, as far as that was observed.
        since: Timestamp = "since",
        /// What is wrong and what to do, in a sentence or two.
        text: String = "text",
        /// How many desktops, actions or keys it is about; null where it is about none.
        count: Option<u64> = "count",
        /// The first ten of them: ids of workspaces, numbers of actions. Keys are not named.
        subjects: Vec<String> = "subjects",
    }
}

impl Condition {
    /// A condition that was not observed before `now`, about nothing that is counted.
    #[must_use]
    pub fn new(
        code: impl Into<String>,
        severity: Severity,
        text: impl Into<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            code: code.into(),
            severity,
            since: now,
            text: text.into(),
            count: None,
            subjects: Vec::new(),
        }
    }

    /// The same about `count` subjects, of which `subjects` are the first.
    #[must_use]
    pub fn about(mut self, count: u64, subjects: Vec<String>) -> Self {
        self.count = Some(count);
        self.subjects = subjects;
        self
    }
}
