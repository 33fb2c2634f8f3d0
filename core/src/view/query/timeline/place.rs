//! The position of a timeline after a page.

use crate::domain::paging::{Position, take_time};
use crate::timestamp::Timestamp;

/// The position of a timeline.
pub(super) struct PageStart {
    /// The rows of the audit before this number are examined.
    pub(super) audit: u64,
    /// The records before this time are examined.
    pub(super) records: Timestamp,
    /// The time of the last row and the token of the selection up to it, if the page ends before the examined rows do.
    pub(super) within: Option<(Timestamp, String)>,
    pub(super) is_over: bool,
}

impl PageStart {
    pub(super) fn begin(audit: u64, records: Timestamp) -> Self {
        Self {
            audit,
            records,
            within: None,
            is_over: false,
        }
    }

    /// Moves it to the end of a page whose last row was at `last`.
    pub(super) fn next(
        &mut self,
        last: Option<Timestamp>,
        more: Option<String>,
        stopped: Option<(u64, Timestamp)>,
        oldest: Timestamp,
    ) {
        self.within = last.zip(more);
        match stopped {
            _ if self.within.is_some() => {}
            Some((audit, _)) => {
                self.audit = audit;
                self.records = self.records.min(oldest);
            }
            None => self.is_over = true,
        }
    }
}

impl Position for PageStart {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.audit.to_le_bytes().to_vec();
        bytes.extend(self.records.ticks().to_le_bytes());
        if let Some((at, token)) = &self.within {
            bytes.extend(at.ticks().to_le_bytes());
            bytes.extend(token.as_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (audit, rest) = bytes.split_first_chunk()?;
        let (records, rest) = take_time(rest)?;
        let mut place = Self::begin(u64::from_le_bytes(*audit), records);
        if !rest.is_empty() {
            let (at, token) = take_time(rest)?;
            place.within = Some((at, String::from_utf8(token.to_vec()).ok()?));
        }
        Some(place)
    }
}
