//! The steps of a series.

use crate::timestamp::{TICKS_PER_SECOND, Timestamp};

use super::range::Range;

/// The steps that overlap a range; each begins at a multiple of its length since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    ticks: i64,
    /// Its begin is this many steps after 1970.
    first: i64,
    count: usize,
}

impl Steps {
    /// Steps of `seconds`.
    pub(crate) fn new(range: Range, seconds: i64) -> Self {
        let ticks = seconds.saturating_mul(TICKS_PER_SECOND).max(1);
        Self {
            ticks,
            first: range.from.ticks().div_euclid(ticks),
            count: usize::try_from(range.points(seconds)).unwrap_or_default(),
        }
    }

    pub(crate) fn len(self) -> usize {
        self.count
    }

    /// The index of the step that contains `at`.
    pub(crate) fn index_at(self, at: Timestamp) -> Option<usize> {
        let place = usize::try_from(at.ticks().div_euclid(self.ticks) - self.first).ok()?;
        (place < self.count).then_some(place)
    }

    /// The begin of the step at `place`.
    pub(crate) fn start(self, place: usize) -> Timestamp {
        let number = self.first.saturating_add_unsigned(place as u64);
        Timestamp::from_ticks(number.saturating_mul(self.ticks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_cover_their_range_and_begin_at_multiples() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let range = Range {
            from: at("2026-11-20T08:07:00Z"),
            to: at("2026-11-20T09:00:00Z"),
        };
        let steps = Steps::new(range, 15 * 60);
        assert_eq!(steps.len(), 4);
        for (place, start) in ["08:00", "08:15", "08:30", "08:45"].iter().enumerate() {
            let start = at(&format!("2026-11-20T{start}:00Z"));
            assert_eq!(steps.start(place), start);
            assert_eq!(steps.index_at(start), Some(place));
            assert_eq!(steps.index_at(start.plus_seconds(899)), Some(place));
        }
        for outside in ["2026-11-20T07:59:59Z", "2026-11-20T09:00:00Z"] {
            assert_eq!(steps.index_at(at(outside)), None, "{outside}");
        }
        let all = Range {
            from: Timestamp::MIN,
            to: Timestamp::MAX,
        };
        let steps = Steps::new(all, all.step(None, 300));
        assert_eq!(steps.index_at(Timestamp::MIN), Some(0));
        assert_eq!(steps.index_at(Timestamp::MAX), Some(steps.len() - 1));
        assert_eq!(steps.start(0), Timestamp::MIN);
    }
}
