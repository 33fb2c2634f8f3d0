//! Groups of desktops, added up step by step.

use crate::domain::steps::Steps;
use crate::domain::term::{Term, Wanted};
use crate::error::Result;
use crate::model::Stream;
use crate::store::rollup::hourly::{self, Group, HourTotals};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::Reader;

use super::coverage::Coverage;

/// Which desktops are counted in a question about groups: by what their workspace was when their records were filed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupFilter {
    /// Cloud region. Default all.
    pub region: Option<Term>,
    /// Running mode. Default all.
    pub running_mode: Option<Term>,
    /// Compute type. Default all.
    pub compute_type_name: Option<Term>,
}

impl GroupFilter {
    /// Whether it leaves nothing out.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A filter made ready for many groups.
struct Matcher([Option<Wanted>; 3]);

impl Matcher {
    fn new(filter: &GroupFilter) -> Self {
        Self([
            filter.region.as_ref().map(Wanted::new),
            filter.running_mode.as_ref().map(Wanted::names),
            filter.compute_type_name.as_ref().map(Wanted::names),
        ])
    }

    fn accepts(&self, group: Group<&str>) -> bool {
        let texts = [group.region, group.running_mode, group.compute_type];
        let mut wanted = self.0.iter().zip(texts);
        wanted.all(|(wanted, text)| {
            let known = Some(text).filter(|text| !text.is_empty());
            wanted.as_ref().is_none_or(|wanted| wanted.accepts(known))
        })
    }
}

/// Calls `visit` with the index of each step that has rollups of wanted groups, and their totals, newest step first. If there are
/// too many rollups, the oldest are left out.
pub(crate) fn each_step(
    reader: &Reader,
    stream: Stream,
    filter: &GroupFilter,
    coverage: &mut Coverage,
    steps: Steps,
    visit: &mut dyn FnMut(usize, &HourTotals),
) -> Result<()> {
    let matcher = Matcher::new(filter);
    let mut totals = HourTotals::default();
    let mut current = None;
    let (mut examined, max) = (0, coverage.hour_rows_max);
    let mut left_out = None;
    let mut last_hour = u32::MAX;
    let range = coverage.range();
    let hours = (hourly::hour(range.from), hourly::hour(range.to));
    hourly::scan_back(&reader.snapshot, stream, hours, |hour, group, rollup| {
        examined += 1;
        if examined > max && hour != last_hour {
            left_out = Some(hourly::hour_start(last_hour));
            return Ok(Step::Break(()));
        }
        last_hour = hour;
        if !matcher.accepts(group) {
            return Ok(Step::Continue(()));
        }
        let place = steps.index_at(hourly::hour_start(hour));
        if place != current {
            end_step(current, &mut totals, visit);
            current = place;
        }
        totals.add(rollup)?;
        Ok(Step::Continue(()))
    })?;
    end_step(current, &mut totals, visit);
    if let Some(at) = left_out {
        coverage.leave_out_before(at);
    }
    Ok(())
}

fn end_step(
    place: Option<usize>,
    totals: &mut HourTotals,
    visit: &mut dyn FnMut(usize, &HourTotals),
) {
    if let Some(place) = place {
        visit(place, totals);
    }
    totals.clear();
}

/// The first step that is covered, after [`each_step`].
pub(crate) fn first_covered(coverage: &Coverage, steps: Steps) -> usize {
    let from: Timestamp = coverage.range().from;
    steps.index_at(from).unwrap_or_default()
}
