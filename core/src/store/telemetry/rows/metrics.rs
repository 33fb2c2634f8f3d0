//! The figures that records contain.

use crate::model::metric::{SOURCES, Source, percentage, used_percent};
use crate::model::{Metric, SessionChange};
use crate::store::telemetry::texts::Texts;

use super::{Rows, single};

impl Rows {
    /// [`Metric::OF_STATS`] of a Stats record; `None` for those that it does not say, or says outside of 0 to 100 percent.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a metric is no more exact than a double"
    )]
    pub(crate) fn metrics(&self, row: usize) -> [Option<f64>; Metric::OF_STATS.len()] {
        let cells = self.cells(row);
        let integer = |index| cells.value(index).map(u64::cast_signed);
        SOURCES.map(|source| match source {
            Source::Percent(index) => percentage(integer(index)? as f64),
            Source::Float(index) => cells.value(index).map(|bits| single(bits).into()),
            Source::Double(index) => cells.value(index).map(f64::from_bits),
            Source::Used { total, available } => used_percent(integer(total)?, integer(available)?),
            Source::UsedOrDifference {
                total,
                available,
                used,
            } => match (integer(total), integer(available)) {
                (Some(total), Some(available)) => used_percent(total, available),
                (Some(total), None) => used_percent(total, total.checked_sub(integer(used)?)?),
                (None, Some(available)) => {
                    used_percent(available.checked_add(integer(used)?)?, available)
                }
                (None, None) => None,
            },
        })
    }

    /// The integer in a field of a record.
    pub(crate) fn integer(&self, row: usize, index: usize) -> Option<i64> {
        self.cells(row).value(index).map(u64::cast_signed)
    }

    /// The compute type that a record names; empty where it names none.
    pub(crate) fn compute_type(&self, row: usize) -> &str {
        self.text(row, "computeTypeName")
    }

    /// What the change of an Activity record is to the session of its user, if it is one.
    pub(crate) fn session_change(&self, row: usize) -> Option<SessionChange> {
        SessionChange::named(self.text(row, "activity"))
    }

    fn text(&self, row: usize, field: &str) -> &str {
        let mut fields = self.stream(row).fields().iter();
        let index = fields.position(|spec| spec.name == field);
        let bits = index.and_then(|index| self.cells(row).value(index));
        bits.map_or("", |bits| self.texts.text(Texts::number(bits)))
    }
}
