//! A record in the form that the rollups take.

use crate::limits::OVERLOADED_PERCENT;
use crate::model::Metric;
use crate::store::telemetry::rows::Rows;
use crate::timestamp::{TICKS_PER_DAY, Timestamp};

use super::slots::SLOT_TICKS;
use super::stored;

/// The values of a Stats record that the rollups need.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) at: Timestamp,
    /// [`Metric::OF_STATS`], in hundredths.
    pub(super) values: [Option<i64>; Metric::OF_STATS.len()],
}

impl Sample {
    pub(super) fn from_row(rows: &Rows, row: usize) -> Self {
        Self {
            at: rows.filed_at(row),
            values: rows.metrics(row).map(|value| value.map(stored)),
        }
    }

    /// Cpu and memory.
    fn load(&self) -> [Option<i64>; 2] {
        let [cpu, memory, ..] = self.values;
        [cpu, memory]
    }

    /// Whether cpu or memory is above [`OVERLOADED_PERCENT`]; `None` when neither is known.
    pub(super) fn is_over(&self) -> Option<bool> {
        let load = self.load().into_iter().flatten().max()?;
        Some(load > stored(OVERLOADED_PERCENT))
    }
}

/// The five-minute slot of a time in its day.
pub(super) fn slot(time: Timestamp) -> usize {
    let ticks = time.ticks().rem_euclid(TICKS_PER_DAY);
    usize::try_from(ticks / SLOT_TICKS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_of_a_time_is_its_five_minutes_of_the_day() {
        for (time, place) in [
            ("2026-11-20T00:00:00Z", 0),
            ("2026-11-20T00:04:59.9999999Z", 0),
            ("2026-11-20T08:05:00Z", 97),
            ("2026-11-20T23:59:59Z", 287),
            ("0001-01-01T00:05:00Z", 1),
        ] {
            assert_eq!(slot(time.parse().unwrap()), place, "{time}");
        }
    }
}
