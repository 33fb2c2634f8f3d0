//! Building the rollups of a file that has history but no rollups, as its format is older.
//!
//! It goes through history bucket by bucket. `meta` says how far it has come: filing adds what it files up to there to the rollups, and
//! leaves the rest to this.

use crate::error::Result;
use crate::store::meta;
use crate::store::table::{Read, Tables};
use crate::store::telemetry::history;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::work::Work;

use super::changes::{Changes, RollupRows};

/// A step, ready to be written.
#[derive(Debug, Clone)]
pub(crate) struct Built {
    before: Vec<u8>,
    after: Option<Vec<u8>>,
    rows: RollupRows,
}

/// Prepares the next step, of no more than `max` and a bucket; `None` when all is built.
pub(crate) fn prepare(read: &impl Read, max: Work) -> Result<Option<Built>> {
    let Some(before) = meta::rolled_up(read)? else {
        return Ok(None);
    };
    let mut changes = Changes::default();
    let mut after = Some(before.clone());
    let mut work = Work::default();
    let mut rows = Rows::default();
    while let Some(last) = &after
        && !work.with_rows(changes.len()).is_all(max)
    {
        after = history::bucket_after(read, last)?;
        let Some(bucket) = &after else { break };
        history::scan_prefix(read, bucket, &mut |part| {
            rows.clear();
            part.add_to(&mut rows)?;
            work.add(part.bytes());
            changes.add(read, &rows, &rows.all())
        })?;
    }
    Ok(Some(Built {
        before,
        after,
        rows: changes.finish(),
    }))
}

impl Built {
    /// Writes the step. Does nothing when another was written since this was prepared.
    pub(crate) fn apply(self, tables: &Tables<'_>) -> Result<()> {
        if meta::rolled_up(tables)?.as_ref() != Some(&self.before) {
            return Ok(());
        }
        self.rows.put(tables)?;
        meta::set_rolled_up(tables, self.after.as_deref())
    }
}
