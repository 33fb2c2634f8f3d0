//! What metrics were over time, of one instance or of the fleet.

mod point;

use std::time::Duration;

use crate::domain::query::Query;
use crate::domain::range::{Range, whole_seconds};
use crate::domain::steps::Steps;
use crate::error::{EngineError, Result};
use crate::limits::SERIES_RECORDS_EXAMINED_MAX;
use crate::model::row::rounded;
use crate::model::{Column, Metric, Question, Rows, Stream};
use crate::nearest::nearest;
use crate::store::rollup::hourly::{self, HourTotals, Total};
use crate::store::rollup::{SCALE, Summary, stored, unstored};
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::Reader;
use crate::view::history::{self, HistoryQuery};

use super::coverage::Coverage;
use super::groups::{self, GroupFilter};
use super::{Ask, Fleet, FleetQuery};

pub use point::{MetricValues, SeriesPoint};

const HOUR: i64 = 60 * 60;
/// The range when none is given.
const RANGE_DEFAULT: i64 = 24 * HOUR;
/// The step of a series of one instance when none is given.
const STEP_DEFAULT: i64 = 5 * 60;

/// Which metrics, of which desktops, over which time.
///
/// ```
/// use deskfleet::{Engine, query::SeriesQuery};
///
/// let engine = Engine::in_memory()?;
/// let series = engine.query(&SeriesQuery { instance_id: Some("ws-1".into()), ..SeriesQuery::default() })?;
/// assert_eq!(series.step_seconds, 300);
/// assert!(series.points.rows.iter().all(|point| point.count == 0));
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesQuery {
    /// One instance. Default none: the fleet, of which only cpu and memory are known.
    pub instance_id: Option<String>,
    /// Metrics of [`Metric::OF_STATS`]. Default cpu and memory.
    pub metrics: Vec<Metric>,
    /// Records whose time in history is this or later. Default 24 hours before `to`.
    pub from: Option<Timestamp>,
    /// Records filed before this time. Default now.
    pub to: Option<Timestamp>,
    /// The step, raised to whole seconds, so that there are at most 500, and for the fleet to whole hours. Default 5 minutes or an hour.
    pub step: Option<Duration>,
    /// The desktops of the fleet that are counted. Default all.
    pub filter: GroupFilter,
}

impl Default for SeriesQuery {
    fn default() -> Self {
        Self {
            instance_id: None,
            metrics: hourly::STATS.to_vec(),
            from: None,
            to: None,
            step: None,
            filter: GroupFilter::default(),
        }
    }
}

/// What metrics were over time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// The length of a step, in seconds.
    pub step_seconds: i64,
    /// Every step that has a part in the range, oldest first, also those without records.
    pub points: Rows<SeriesPoint>,
}

/// The sums of a step.
#[derive(Clone)]
struct Sums {
    count: u64,
    /// The sums of each metric, in hundredths.
    summaries: Vec<Summary>,
}

impl FleetQuery for SeriesQuery {
    type Answer = Series;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        let reader = match &self.instance_id {
            Some(instance) => fleet
                .readers
                .telemetry(Wanted::Instance(Stream::Stats, instance))?,
            None => fleet.readers.rollups()?,
        };
        series(&reader, self)
    }
}

impl Ask for SeriesQuery {
    const QUESTION: Question = Question::Series;
    const COLUMNS: &'static [Column] = SeriesPoint::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        let mut asked = Self {
            instance_id: query.text("instanceId"),
            from,
            to,
            step: query.step()?,
            filter: query.group_filter()?,
            ..Self::default()
        };
        if let Some(metrics) = query.text("metrics") {
            asked.metrics = metrics_of(&metrics)?;
        }
        Ok(asked)
    }

    fn columns(&self) -> Vec<usize> {
        SeriesPoint::columns_of(&self.metrics, self.instance_id.is_none())
    }
}

/// The metrics of a list, each once.
fn metrics_of(list: &str) -> Result<Vec<Metric>> {
    let mut metrics = Vec::new();
    for name in list.split(',') {
        let mut known = Metric::OF_STATS.into_iter();
        let metric = known.find(|metric| metric.as_str().eq_ignore_ascii_case(name));
        let metric = metric.ok_or_else(|| unknown(name))?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn unknown(name: &str) -> EngineError {
    let names = Metric::OF_STATS.map(Metric::as_str);
    let hint = nearest(name, names).map_or_else(
        || format!("Send a list of {}, such as cpu,memory.", names.join(", ")),
        |nearest| format!("Did you mean '{nearest}'?"),
    );
    EngineError::invalid("metrics", format!("There is no metric '{name}'. {hint}"))
}

/// The series that is asked for. The reader of a series of one instance must have been made for the queue of its Stats.
fn series(reader: &Reader, query: &SeriesQuery) -> Result<Series> {
    let range = Range::between(query.from, query.to, RANGE_DEFAULT, reader.now)?;
    let step = query.step.map(whole_seconds);
    match &query.instance_id {
        Some(instance) => of_instance(reader, query, instance, range, step),
        None => of_fleet(reader, query, range, step),
    }
}

fn of_instance(
    reader: &Reader,
    query: &SeriesQuery,
    instance: &str,
    range: Range,
    step: Option<i64>,
) -> Result<Series> {
    let step_seconds = range.step(step.or(Some(STEP_DEFAULT)), 1);
    let steps = Steps::new(range, step_seconds);
    let places = places_of(&query.metrics, &Metric::OF_STATS, "of an instance")?;
    let empty = Sums {
        count: 0,
        summaries: vec![Summary::default(); places.len()],
    };
    let mut sums = vec![empty; steps.len()];
    let history = HistoryQuery::new(Stream::Stats, instance);
    let max = SERIES_RECORDS_EXAMINED_MAX;
    let cut = history::scan(reader, &history, range, max, &mut |rows, row| {
        let place = steps.index_at(rows.filed_at(row));
        let Some(sums) = place.and_then(|place| sums.get_mut(place)) else {
            return;
        };
        sums.count += 1;
        let values = rows.metrics(row);
        for (summary, place) in sums.summaries.iter_mut().zip(&places) {
            if let Some(value) = values.get(*place).copied().flatten() {
                summary.add(stored(value));
            }
        }
    })?;
    let points = sums.iter().enumerate().map(|(place, sums)| SeriesPoint {
        at: steps.start(place),
        count: sums.count,
        metrics: query
            .metrics
            .iter()
            .zip(&sums.summaries)
            .map(|(metric, summary)| values(*metric, summary))
            .collect(),
    });
    let mut points = Rows::whole(points.collect(), reader.now);
    points
        .warnings
        .extend(Range::step_raised(query.step, step_seconds, 1));
    if let Some(at) = cut {
        let incomplete = at.plus_seconds(-24 * HOUR);
        let first = steps.index_at(incomplete).unwrap_or_default();
        points.rows.drain(..first);
        points.warnings.push(format!(
            "The instance has more records than one answer examines: what is before {at} is left out or incomplete. Ask for a shorter time."
        ));
    }
    if !query.filter.is_empty() {
        points.warnings.push(
            "The filters are not applied: they are those of a series of the fleet.".to_owned(),
        );
    }
    Ok(Series {
        step_seconds,
        points,
    })
}

fn of_fleet(
    reader: &Reader,
    query: &SeriesQuery,
    range: Range,
    step: Option<i64>,
) -> Result<Series> {
    let places = places_of(&query.metrics, &hourly::STATS, "of the fleet")?;
    let mut coverage = Coverage::hours(reader, range);
    let step_seconds = coverage.range().step(step, HOUR);
    if let Some(raised) = Range::step_raised(query.step, step_seconds, HOUR) {
        coverage.warn(raised);
    }
    let steps = Steps::new(coverage.range(), step_seconds);
    let none = HourTotals::default();
    let point = |place, totals: &HourTotals| SeriesPoint {
        at: steps.start(place),
        count: totals.count,
        metrics: query
            .metrics
            .iter()
            .zip(&places)
            .map(|(metric, place)| values_of_fleet(*metric, totals.distributions.get(*place)))
            .collect(),
    };
    let mut points: Vec<_> = (0..steps.len()).map(|place| point(place, &none)).collect();
    groups::each_step(
        reader,
        Stream::Stats,
        &query.filter,
        &mut coverage,
        steps,
        &mut |place, totals| {
            if let Some(empty) = points.get_mut(place) {
                *empty = point(place, totals);
            }
        },
    )?;
    points.drain(..groups::first_covered(&coverage, steps));
    Ok(Series {
        step_seconds,
        points: Rows {
            warnings: coverage.into_warnings(),
            ..Rows::whole(points, reader.now)
        },
    })
}

/// The places of metrics among those that are known.
fn places_of(metrics: &[Metric], known: &[Metric], of: &str) -> Result<Vec<usize>> {
    let places = metrics.iter().map(|metric| {
        let place = known.iter().position(|known| known == metric);
        place.ok_or_else(|| {
            let names: Vec<_> = known.iter().map(|metric| metric.as_str()).collect();
            let mut message = format!(
                "There is no series of {} {of}, only of {}.",
                metric.as_str(),
                names.join(", ")
            );
            if known.len() < Metric::OF_STATS.len() && Metric::OF_STATS.contains(metric) {
                message
                    .push_str(" With `instanceId` there is one of each metric of that instance.");
            }
            EngineError::invalid("metrics", message)
        })
    });
    places.collect()
}

fn values(metric: Metric, summary: &Summary) -> MetricValues {
    let known = |value: i64| (summary.count > 0).then(|| unstored(value));
    MetricValues {
        metric,
        min: known(summary.min),
        avg: summary.mean().and_then(|mean| rounded(mean / SCALE)),
        p50: None,
        p95: None,
        max: known(summary.max),
    }
}

fn values_of_fleet(metric: Metric, total: Option<&Total>) -> MetricValues {
    let quantile = |percent| total?.quantile(percent).map(unstored);
    let summary = total.map_or_else(Summary::default, |total| total.summary);
    MetricValues {
        p50: quantile(50),
        p95: quantile(95),
        ..values(metric, &summary)
    }
}
