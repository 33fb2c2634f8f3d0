//! Rollups: sums of the fleet's telemetry by instance and day, and by group and hour, so that a question about all desktops does
//! not read their history.
//!
//! Counts, sums, extremes, histograms and sets of slots only add up. So a rollup does not depend on the order in which records
//! were filed, and a late record is simply added.

mod changes;
pub(crate) mod daily;
mod day;
mod distribution;
pub(crate) mod folding;
mod histogram;
pub(crate) mod hourly;
pub(crate) mod latest;
mod sample;
mod slots;
mod summary;
mod verify;
mod window;

pub(crate) use changes::{Changes, RollupRows};
#[cfg(test)]
pub(crate) use day::SUMMARISED;
pub(crate) use day::{DayRef, DaySlots};
pub(crate) use histogram::Histogram;
pub(crate) use latest::LatestRef;
pub(crate) use slots::{SLOT_MINUTES, Slots};
pub(crate) use summary::Summary;
pub(crate) use verify::verify;
pub(crate) use window::scan_window;

/// Version of the values of the three tables.
const VERSION: u8 = 1;

/// Metrics are stored as whole hundredths.
pub(crate) const SCALE: f64 = 100.0;

/// The largest stored value, so that sums stay far below the limit of their integer.
const VALUE_MAX: f64 = 1_099_511_627_776.0; // 2^40

/// A metric in hundredths, as it is stored.
#[expect(clippy::cast_possible_truncation, reason = "it is within the bounds")]
pub(crate) fn stored(value: f64) -> i64 {
    // A cast is rounding towards zero, without a call.
    let value = (value * SCALE).clamp(-VALUE_MAX, VALUE_MAX);
    (value + 0.5_f64.copysign(value)) as i64
}

/// The metric that is stored as these hundredths.
#[expect(clippy::cast_precision_loss, reason = "stored values have 41 bits")]
pub(crate) fn unstored(value: i64) -> f64 {
    value as f64 / SCALE
}
