//! The desktops with the worst values of a metric.

use crate::domain::order::{Order, Picked};
use crate::domain::query::Query;
use crate::domain::range::Range;
use crate::error::{EngineError, Result};
use crate::model::row::{rounded, row};
use crate::model::{Cell, Column, Metric, Paging, Question, Rows, Statistic};
use crate::store::rollup::{DayRef, LatestRef, scan_window, unstored};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::{Reader, activity};

use super::coverage::Coverage;
use super::desktops::{health_score, quantile, summary};
use super::{Ask, Fleet, FleetQuery};

row! {
    /// A desktop and its value of a metric.
    pub struct TopRow {
        /// Id of the workspace that the instance is; null where none is known by its name.
        workspace_id: Option<String> = "workSpId",
        /// The instance as its agent names it.
        instance_id: String = "instanceId",
        /// User in its newest statistics; null where they name none.
        username: Option<String> = "username",
        /// The metric that was asked for.
        metric: String = "metric",
        /// The statistic of it; null for `healthScore`.
        statistic: Option<String> = "statistic",
        /// The value, in the unit of the metric.
        value: f64 = "value",
        /// Samples that it is made of; null for `healthScore`.
        samples: Option<u64> = "samples",
    }
}

/// Which metric, of what time.
///
/// ```
/// use deskfleet::{Engine, query::{Metric, TopQuery}};
///
/// let engine = Engine::in_memory()?;
/// let worst = engine.query(&TopQuery::new(Metric::Cpu))?;
/// assert!(worst.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopQuery {
    /// The metric.
    pub metric: Metric,
    /// The statistic. Default the 95th percentile where the metric has one, else the newest value, else the greatest.
    pub statistic: Option<Statistic>,
    /// The first moment, widened to a whole day (UTC). Default 24 hours before `to`.
    pub from: Option<Timestamp>,
    /// The exclusive end, widened likewise. Default now.
    pub to: Option<Timestamp>,
    /// The page; `sort` is not read.
    pub paging: Paging,
}

impl TopQuery {
    /// The desktops that were worst in the last 24 hours.
    #[must_use]
    pub fn new(metric: Metric) -> Self {
        Self {
            metric,
            statistic: None,
            from: None,
            to: None,
            paging: Paging::default(),
        }
    }
}

/// The place of `value` among the columns.
const VALUE: usize = 5;
/// The seconds of the default window.
const WINDOW_SECONDS: i64 = 24 * 60 * 60;

impl FleetQuery for TopQuery {
    type Answer = Rows<TopRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        top(&fleet.readers.rollups()?, self)
    }
}

impl Ask for TopQuery {
    const QUESTION: Question = Question::Top;
    const COLUMNS: &'static [Column] = TopRow::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let metric = query.one_of("metric", &Metric::ALL, Metric::as_str)?;
        let (from, to) = query.range(now)?;
        Ok(Self {
            statistic: query.one_of("statistic", &Statistic::ALL, Statistic::as_str)?,
            from,
            to,
            paging: query.paging()?,
            ..Self::new(metric.ok_or_else(|| {
                let message = "The metric field is required, such as metric=cpu.";
                EngineError::invalid("metric", message)
            })?)
        })
    }
}

/// A page of desktops, the worst first: the greatest values, and the least health scores.
fn top(reader: &Reader, query: &TopQuery) -> Result<Rows<TopRow>> {
    let statistic = statistic(query.metric, query.statistic)?;
    let range = Range::between(query.from, query.to, WINDOW_SECONDS, reader.now)?;
    let covered = Coverage::days(reader, range)?;
    let is_score = query.metric == Metric::HealthScore;
    let sort = if is_score { "value" } else { "-value" };
    let order = Order::parse(sort, TopRow::COLUMNS)?;
    let mut picked = Picked::new(Question::Top, order, &query.paging)?;
    let mut offer = |_: &[u8], row: &LatestRef<'_>, days: &[DayRef<'_>]| {
        if let Some((value, samples)) = value(query.metric, statistic, row, days)? {
            picked.offer(
                row.name,
                |column| {
                    if column == VALUE {
                        Cell::Number(value)
                    } else {
                        Cell::Null
                    }
                },
                || TopRow {
                    workspace_id: None,
                    instance_id: row.name.to_owned(),
                    username: row
                        .stats
                        .map(|newest| newest.username.to_owned())
                        .filter(|name| !name.is_empty()),
                    metric: query.metric.as_str().to_owned(),
                    statistic: statistic.map(|statistic| statistic.as_str().to_owned()),
                    value,
                    samples,
                },
            );
        }
        Ok(Step::Continue(()))
    };
    scan_window(&reader.snapshot, covered.days_covered(), &mut offer)?;
    let (mut rows, next_token) = picked.finish();
    for row in &mut rows {
        row.workspace_id = activity::workspace_of(reader, &row.instance_id)?;
    }
    Ok(Rows {
        next_token,
        warnings: covered.into_warnings(),
        ..Rows::whole(rows, reader.now)
    })
}

/// The statistic of a metric that is returned, if it has any.
fn statistic(metric: Metric, asked: Option<Statistic>) -> Result<Option<Statistic>> {
    let possible = Statistic::for_metric(metric);
    let Some(asked) = asked else {
        return Ok(possible.first().copied());
    };
    if possible.contains(&asked) {
        return Ok(Some(asked));
    }
    let metric = metric.as_str();
    let message = if possible.is_empty() {
        format!("{metric} has no statistics; leave it out.")
    } else {
        let possible: Vec<_> = possible.iter().map(|each| each.as_str()).collect();
        format!("Of {metric} there is {}.", possible.join(", "))
    };
    Err(EngineError::invalid("statistic", message))
}

/// The value of a desktop and its number of samples; `None` without a sample.
fn value(
    metric: Metric,
    statistic: Option<Statistic>,
    row: &LatestRef<'_>,
    days: &[DayRef<'_>],
) -> Result<Option<(f64, Option<u64>)>> {
    let Some(statistic) = statistic else {
        return Ok(health_score(days, row.session)?.map(|score| (score, None)));
    };
    if statistic == Statistic::Last {
        let newest = row.stats.map(|newest| newest.order.0.day());
        // Of days before that of the newest record no value is known to be the last.
        let is_covered = newest.is_some_and(|newest| days.iter().any(|day| day.day == newest));
        let newest = row.value(metric).filter(|_| is_covered);
        return Ok(newest.map(|value| (unstored(value), Some(1))));
    }
    let summary = summary(days, metric)?;
    let value = match statistic {
        Statistic::P95 => quantile(days, metric, 95)?.map(unstored),
        Statistic::P50 => quantile(days, metric, 50)?.map(unstored),
        Statistic::Avg => summary.mean().and_then(|mean| rounded(mean / 100.0)),
        Statistic::Max => (summary.count > 0).then(|| unstored(summary.max)),
        Statistic::Min => (summary.count > 0).then(|| unstored(summary.min)),
        Statistic::Last => None,
    };
    Ok(value.map(|value| (value, Some(summary.count))))
}

#[cfg(test)]
mod tests {
    use crate::store::rollup::SUMMARISED;

    use super::*;

    #[test]
    fn every_metric_has_the_statistics_that_are_stored_of_it() {
        for metric in Metric::ALL {
            let possible = Statistic::for_metric(metric);
            let summarised = SUMMARISED.contains(&metric);
            assert_eq!(possible.contains(&Statistic::Max), summarised, "{metric:?}");
            let newest = Metric::OF_STATS.contains(&metric);
            assert_eq!(possible.contains(&Statistic::Last), newest, "{metric:?}");
            assert_eq!(statistic(metric, None).unwrap(), possible.first().copied());
        }
        assert_eq!(
            TopRow::COLUMNS.get(VALUE).map(|column| column.name),
            Some("value")
        );
    }
}
