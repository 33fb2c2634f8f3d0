//! How long startups took.

use std::time::Duration;

use crate::domain::query::Query;
use crate::domain::range::{Range, whole_seconds};
use crate::domain::steps::Steps;
use crate::error::Result;
use crate::model::row::{column, row};
use crate::model::{Cell, Column, Question, Row, Rows, Stream};
use crate::store::rollup::hourly::{HourTotals, Total};
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::coverage::Coverage;
use super::groups::{self, GroupFilter};
use super::{Ask, Fleet, FleetQuery};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
/// The range when none is given.
const RANGE_DEFAULT: i64 = 7 * DAY;

/// The startups of which desktops, over which time.
///
/// ```
/// use deskfleet::{Engine, query::StartupQuery};
///
/// let engine = Engine::in_memory()?;
/// let report = engine.query(&StartupQuery::default())?;
/// assert!(report.points.rows.iter().all(|point| point.total.p95.is_none()));
/// assert!(report.slowest.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartupQuery {
    /// Records whose time in history is this or later. Default 7 days before `to`.
    pub from: Option<Timestamp>,
    /// Records filed before this time. Default now.
    pub to: Option<Timestamp>,
    /// The step; raised to whole hours, and so that there are at most 500. Default a day.
    pub step: Option<Duration>,
    /// The desktops that are counted. Default all.
    pub filter: GroupFilter,
}

/// How long startups took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StartupReport {
    /// The length of a step, in seconds.
    pub step_seconds: i64,
    /// Every step that has a part in the range, oldest first, also those without startups.
    pub points: Rows<StartupPoint>,
    /// The slowest startups of all steps, slowest first, at most ten.
    pub slowest: Vec<SlowStartup>,
}

row! {
    /// A startup that took long.
    pub struct SlowStartup {
        /// The instance.
        instance_id: String = "instanceId",
        /// Its user; empty for none.
        username: String = "username",
        /// When it was filed.
        at: Timestamp = "at",
        /// How long it took, in milliseconds.
        total_ms: i64 = "totalMs",
    }
}

/// Quantiles by nearest rank, in milliseconds, at most 1.6 % off; `None` where no record says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DurationQuantiles {
    /// The median.
    pub p50: Option<i64>,
    /// The 90th percentile.
    pub p90: Option<i64>,
    /// The 95th percentile.
    pub p95: Option<i64>,
    /// The 99th percentile.
    pub p99: Option<i64>,
}

impl DurationQuantiles {
    fn from_total(total: &Total) -> Self {
        let quantile = |percent| total.quantile(percent);
        Self {
            p50: quantile(50),
            p90: quantile(90),
            p95: quantile(95),
            p99: quantile(99),
        }
    }
}

/// Declares the phases of a startup and their columns.
macro_rules! phases {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal $what:literal,)+) => {
        /// The startups of one step.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct StartupPoint {
            /// When the step begins, a multiple of its length since 1970.
            pub at: Timestamp,
            /// Startups in it.
            pub count: u64,
            $($(#[doc = $doc])+ pub $field: DurationQuantiles,)+
        }

        impl StartupPoint {
            /// The columns, in the order in which they are written.
            pub const COLUMNS: &'static [Column] = &[
                column!("at", Time, false, "When the step begins, a multiple of its length since 1970."),
                column!("count", Int, false, "Startups in the step; 0 where there are none, and all other values are null."),
                $(
                    column!(concat!($name, "P50"), Int, true, concat!("Median of ", $what, ", in milliseconds.")),
                    column!(concat!($name, "P90"), Int, true, concat!("90th percentile of ", $what, ", in milliseconds.")),
                    column!(concat!($name, "P95"), Int, true, concat!("95th percentile of ", $what, ", in milliseconds.")),
                    column!(concat!($name, "P99"), Int, true, concat!("99th percentile of ", $what, ", in milliseconds.")),
                )+
            ];

            fn phases(&self) -> [&DurationQuantiles; PHASES] {
                [$(&self.$field),+]
            }

            fn new(at: Timestamp, count: u64, phases: [DurationQuantiles; PHASES]) -> Self {
                let [$($field),+] = phases;
                Self { at, count, $($field),+ }
            }
        }
    };
}

const PHASES: usize = crate::store::rollup::hourly::PHASES.len();

phases! {
    /// The whole startup.
    total "total" "the whole startup",
    /// Loading the profile.
    profile "profile" "loading the profile",
    /// Applying group policies.
    group_policy "groupPolicy" "applying group policies",
    /// Starting the shell.
    shell "shell" "starting the shell",
    /// The rest of the whole: what none of the three took.
    unattributed "unattributed" "the rest, which none of the three took",
}

impl Row for StartupPoint {
    fn columns(&self) -> &'static [Column] {
        Self::COLUMNS
    }

    fn cell(&self, index: usize) -> Cell<'_> {
        let Some(place) = index.checked_sub(2) else {
            return match index {
                0 => Cell::Time(self.at),
                _ => Cell::Int(i64::try_from(self.count).unwrap_or(i64::MAX)),
            };
        };
        let value = self.phases().get(place / 4).and_then(|phase| {
            let values = [phase.p50, phase.p90, phase.p95, phase.p99];
            values.get(place % 4).copied().flatten()
        });
        value.map_or(Cell::Null, Cell::Int)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for StartupPoint {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StartupPoint".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        crate::model::row::schema("The startups of one step.", Self::COLUMNS)
    }
}

impl FleetQuery for StartupQuery {
    type Answer = StartupReport;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        startups(&fleet.readers.rollups()?, self)
    }
}

impl Ask for StartupQuery {
    const QUESTION: Question = Question::Startup;
    const COLUMNS: &'static [Column] = StartupPoint::COLUMNS;

    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self> {
        let (from, to) = query.range(now)?;
        Ok(Self {
            from,
            to,
            step: query.step()?,
            filter: query.group_filter()?,
        })
    }
}

/// The startups that are asked for, as far as they are filed.
pub(super) fn startups(reader: &Reader, query: &StartupQuery) -> Result<StartupReport> {
    let range = Range::between(query.from, query.to, RANGE_DEFAULT, reader.now)?;
    let step = query.step.map_or(DAY, whole_seconds);
    let mut coverage = Coverage::hours(reader, range);
    let step_seconds = coverage.range().step(Some(step), HOUR);
    if let Some(raised) = Range::step_raised(query.step, step_seconds, HOUR) {
        coverage.warn(raised);
    }
    let steps = Steps::new(coverage.range(), step_seconds);
    let point = |place, totals: &HourTotals| {
        let mut phases = totals.distributions.iter();
        let phases = [(); PHASES].map(|()| {
            let total = phases.next();
            total.map_or_else(DurationQuantiles::default, DurationQuantiles::from_total)
        });
        StartupPoint::new(steps.start(place), totals.count, phases)
    };
    let mut slowest = HourTotals::default();
    let mut points: Vec<_> = (0..steps.len())
        .map(|place| point(place, &slowest))
        .collect();
    groups::each_step(
        reader,
        Stream::Startup,
        &query.filter,
        &mut coverage,
        steps,
        &mut |place, totals| {
            if let Some(empty) = points.get_mut(place) {
                *empty = point(place, totals);
            }
            slowest.add_slowest(totals.slowest.clone());
        },
    )?;
    points.drain(..groups::first_covered(&coverage, steps));
    let slowest = slowest.slowest.into_iter().map(|startup| SlowStartup {
        instance_id: startup.instance,
        username: startup.username,
        at: startup.at,
        total_ms: startup.total_ms,
    });
    Ok(StartupReport {
        step_seconds,
        points: Rows {
            warnings: coverage.into_warnings(),
            ..Rows::whole(points, reader.now)
        },
        slowest: slowest.collect(),
    })
}
