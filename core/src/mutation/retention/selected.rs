//! The selection of a step, and the rows that it reads.

use crate::config::RetentionDays;
use crate::error::Result;
use crate::model::TelemetrySelection;
use crate::store::rollup::{daily, latest};
use crate::store::table::{Read, Step, Table, after_prefix};
use crate::store::telemetry::history;
use crate::timestamp::Timestamp;

use super::{Derived, Span};

/// What a step removes within its keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Removing<'r> {
    /// Rows that are too old at this time.
    Old(Timestamp),
    /// Selected rows.
    Selected(&'r TelemetrySelection),
}

impl<'r> Removing<'r> {
    /// The first day that is kept.
    pub(super) fn first_day_kept(self, of: Derived, days: &RetentionDays) -> u32 {
        match self {
            Self::Old(now) => of.first_day_kept(days, now),
            Self::Selected(selection) => selection.first_day_kept(),
        }
    }

    /// The only instance, if one is selected.
    pub(super) fn instance(self) -> Option<&'r str> {
        match self {
            Self::Old(_) => None,
            Self::Selected(selection) => selection.instance_id.as_deref(),
        }
    }
}

/// Called with the key and the value of each row.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> Result<Step>;

/// Visits the rows with these keys. With an instance it seeks to the instance's rows and reads no others.
pub(super) fn scan(
    read: &impl Read,
    of: Derived,
    keys: &Span,
    instance: Option<&str>,
    visit: Visit<'_>,
) -> Result<()> {
    let Some(instance) = instance.filter(|_| of != Derived::Users) else {
        return read.scan(of.table(), keys.range(), visit);
    };
    let mut rows = None;
    while let Some(next) = next_rows(read, of, instance, rows.as_ref())? {
        if keys.before <= next.from && keys.before.is_some() {
            break;
        }
        let within = Span {
            from: next.from.clone().max(keys.from.clone()),
            before: [&next.before, &keys.before]
                .into_iter()
                .flatten()
                .min()
                .cloned(),
        };
        let mut ends = false;
        if within.from < within.before {
            read.scan(of.table(), within.range(), |key, value| {
                let step = visit(key, value)?;
                ends = step.is_break();
                Ok(step)
            })?;
        }
        if ends {
            break;
        }
        rows = Some(next);
    }
    Ok(())
}

/// The keys of an instance on the next day after those of `last`, or on the first.
fn next_rows(
    read: &impl Read,
    of: Derived,
    instance: &str,
    last: Option<&Span>,
) -> Result<Option<Span>> {
    let last = last.and_then(|rows| rows.from.as_deref());
    let from = match of {
        Derived::History(stream) => {
            history::next_bucket(read, stream, (0, u32::MAX), Some(instance), last)?
        }
        Derived::Daily => daily::next_key(read, instance, last)?,
        Derived::Latest => last.is_none().then(|| latest::key(instance)),
        Derived::Users | Derived::Hourly(_) => None,
    };
    Ok(from.map(|from| Span {
        before: if of.table() == Table::History {
            after_prefix(&from)
        } else {
            Some([from.as_slice(), &[0]].concat())
        },
        from: Some(from),
    }))
}
