//! The event log: the events after a position, and those that are too old.

use crate::domain::paging::{self, List};
use crate::domain::retention::days_before;
use crate::error::Result;
use crate::model::{EventDetail, EventType, FleetEvent};
use crate::store::fleet::events;
use crate::store::table::Step;
use crate::timestamp::Timestamp;

use super::Reader;
use super::pages::{Listed, PageEnd};

/// Shows the events after the number `after`, oldest first, until `show` breaks; all kept events without it. If events after
/// `after` are no longer kept, or `after` was never issued, it shows one `resync` instead, with the number of the newest event.
pub(crate) fn after(
    reader: &Reader,
    after: Option<u64>,
    mut show: impl FnMut(FleetEvent) -> Step,
) -> Result<()> {
    let last = events::last(&reader.snapshot)?;
    let following = last.saturating_add(1);
    if let Some(after) = after {
        let oldest = events::oldest(&reader.snapshot)?.unwrap_or(following);
        if after > last || after.saturating_add(1) < oldest {
            // The `resync` is the only event shown.
            let _ = show(resync(last, oldest, reader.now));
            return Ok(());
        }
    }
    events::scan_after(&reader.snapshot, after.unwrap_or(0), &mut |event| {
        Ok(show(event))
    })
}

/// A page of the event log.
#[derive(Debug)]
pub(crate) struct Events {
    /// The event that was shown last.
    after: Option<u64>,
    left: usize,
}

impl Events {
    /// At most `limit` events after the number `after`.
    pub(crate) fn new(after: Option<u64>, limit: u32) -> Self {
        let left = usize::try_from(limit.max(1)).unwrap_or(usize::MAX);
        Self { after, left }
    }
}

impl Listed for Events {
    type Item = FleetEvent;

    fn step(
        &mut self,
        reader: &Reader,
        show: &mut dyn FnMut(FleetEvent) -> Step,
    ) -> Result<PageEnd> {
        let mut end = PageEnd::Over;
        after(reader, self.after, |event| {
            if self.left == 0 {
                let last = self.after.unwrap_or_default();
                end = PageEnd::More(paging::token(List::Events, &last));
                return Step::Break(());
            }
            self.left -= 1;
            self.after = Some(event.id);
            let step = show(event);
            if step.is_break() {
                end = PageEnd::Stopped;
            }
            step
        })?;
        Ok(end)
    }
}

fn resync(last: u64, oldest: u64, now: Timestamp) -> FleetEvent {
    let detail = EventDetail {
        oldest: Some(oldest),
        ..EventDetail::default()
    };
    FleetEvent {
        id: last,
        at: now,
        kind: EventType::Resync,
        workspace_id: None,
        username: None,
        detail: detail.to_json(),
    }
}

/// The number below which events are removed: those older than `days` and all before them, and those beyond the newest `count`.
pub(crate) fn first_kept(reader: &Reader, days: u16, count: u64) -> Result<u64> {
    let following = events::last(&reader.snapshot)?.saturating_add(1);
    let mut first = following.saturating_sub(count);
    let oldest_kept = days_before(reader.now, days);
    events::scan_after(&reader.snapshot, 0, &mut |event| {
        // An event written while the clock was ahead must not hide the old ones after it.
        if event.at < oldest_kept {
            first = first.max(event.id.saturating_add(1));
        } else if event.at <= reader.now {
            return Ok(Step::Break(()));
        }
        Ok(Step::Continue(()))
    })?;
    Ok(first)
}
