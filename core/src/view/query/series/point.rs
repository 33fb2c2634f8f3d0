//! A step of a series as a row: its columns are those of the metrics that are asked for.

use crate::model::row::column;
use crate::model::{Cell, Column, Metric, Row};
use crate::timestamp::Timestamp;

/// One step of a series.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SeriesPoint {
    /// When the step begins, a multiple of its length since 1970.
    pub at: Timestamp,
    /// Stats records in it. 0 where there are none; then all values are `None`.
    pub count: u64,
    /// The metrics that were asked for, in that order.
    pub metrics: Vec<MetricValues>,
}

/// What the values of one metric in a step were; `None` where no record says it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MetricValues {
    /// The metric, which says the unit.
    pub metric: Metric,
    /// The least value.
    pub min: Option<f64>,
    /// The mean.
    pub avg: Option<f64>,
    /// The median by nearest rank, at most 1.6 % off; `None` in a series of one instance.
    pub p50: Option<f64>,
    /// The 95th percentile by nearest rank, at most 1.6 % off; `None` in a series of one instance.
    pub p95: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
}

/// A statistic of the values of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    Min,
    Avg,
    P50,
    P95,
    Max,
}

impl MetricValues {
    fn value(&self, statistic: Statistic) -> Option<f64> {
        match statistic {
            Statistic::Min => self.min,
            Statistic::Avg => self.avg,
            Statistic::P50 => self.p50,
            Statistic::P95 => self.p95,
            Statistic::Max => self.max,
        }
    }
}

/// Declares the columns after `at` and `count`, and what each says.
macro_rules! columns {
    ($($metric:ident $name:literal $what:literal: $($statistic:ident $label:literal),+;)+) => {
        impl SeriesPoint {
            /// The columns of all metrics; a series has those of the metrics that it was asked for.
            pub const COLUMNS: &'static [Column] = &[
                column!("at", Time, false, "When the step begins, a multiple of its length since 1970."),
                column!("count", Int, false, "Stats records in the step; 0 where there are none, and all values are null."),
                $($(column!(concat!($name, stringify!($statistic)), Number, true, concat!($label, " ", $what, ".")),)+)+
            ];
        }

        const VALUES: &[(Metric, Statistic)] = &[$($((Metric::$metric, Statistic::$statistic),)+)+];
    };
}

columns! {
    Cpu "cpu" "processor load, in percent":
        Min "Least", Avg "Mean", P50 "Median of the", P95 "95th percentile of the", Max "Greatest";
    Memory "memory" "memory in use, in percent":
        Min "Least", Avg "Mean", P50 "Median of the", P95 "95th percentile of the", Max "Greatest";
    RootVolume "rootVolume" "used part of the root volume, in percent": Min "Least", Avg "Mean", Max "Greatest";
    UserVolume "userVolume" "used part of the user volume, in percent": Min "Least", Avg "Mean", Max "Greatest";
    DiskReads "diskReads" "disk reads, in operations per second": Min "Least", Avg "Mean", Max "Greatest";
    DiskWrites "diskWrites" "disk writes, in operations per second": Min "Least", Avg "Mean", Max "Greatest";
    NetworkReceived "networkReceived" "traffic received, in bytes per second": Min "Least", Avg "Mean", Max "Greatest";
    NetworkSent "networkSent" "traffic sent, in bytes per second": Min "Least", Avg "Mean", Max "Greatest";
    Uptime "uptime" "time since the instance started, in seconds": Min "Least", Avg "Mean", Max "Greatest";
}

/// The columns before those of the metrics.
const FIRST: usize = 2;

impl SeriesPoint {
    /// The columns of a series of `metrics`, in their order, with or without the quantiles.
    pub(crate) fn columns_of(metrics: &[Metric], with_quantiles: bool) -> Vec<usize> {
        let is_quantile = |statistic| matches!(statistic, Statistic::P50 | Statistic::P95);
        let mut columns: Vec<usize> = (0..FIRST).collect();
        for metric in metrics {
            let values = VALUES.iter().zip(FIRST..);
            let values = values.filter(|((of, statistic), _)| {
                of == metric && (with_quantiles || !is_quantile(*statistic))
            });
            columns.extend(values.map(|(_, column)| column));
        }
        columns
    }
}

impl Row for SeriesPoint {
    fn columns(&self) -> &'static [Column] {
        Self::COLUMNS
    }

    fn cell(&self, index: usize) -> Cell<'_> {
        let Some(place) = index.checked_sub(FIRST) else {
            return match index {
                0 => Cell::Time(self.at),
                _ => Cell::Int(i64::try_from(self.count).unwrap_or(i64::MAX)),
            };
        };
        let value = VALUES.get(place).and_then(|(metric, statistic)| {
            let mut metrics = self.metrics.iter();
            let values = metrics.find(|values| values.metric == *metric)?;
            values.value(*statistic)
        });
        value.map_or(Cell::Null, Cell::Number)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SeriesPoint {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SeriesPoint".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let message = "One step of a series: `at`, `count`, and for each metric that was asked for its values.";
        let mut schema = crate::model::row::schema(message, Self::COLUMNS);
        schema.insert("required".to_owned(), ["at", "count"].as_slice().into());
        schema
    }
}
