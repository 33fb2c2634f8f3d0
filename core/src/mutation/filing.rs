//! Filing: moving queued telemetry into per-instance history.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::limits::{FILE_BLOCKS_MAX, FILE_RECORDS_MAX};
use crate::model::{Received, user_key};
use crate::store::telemetry::history::{self, Bucket};
use crate::store::telemetry::users::{self, UserLatest};

use super::{Context, Done, Outcome};

impl Context<'_, '_> {
    /// Files the oldest blocks and removes them, in one transaction; answers how many records they held.
    pub(super) fn file(&mut self) -> Result<Outcome> {
        let records = self.tables.take_oldest(FILE_BLOCKS_MAX, FILE_RECORDS_MAX)?;
        let handled = records.len() as u64;
        let mut buckets: BTreeMap<Bucket, Vec<Received>> = BTreeMap::new();
        for (user, latest) in newest_of_each_user(&records) {
            self.merge_user(&user, latest)?;
        }
        for record in records {
            buckets.entry(Bucket::of(&record)).or_default().push(record);
        }
        for (bucket, records) in buckets {
            history::file(self.tables, &bucket, records)?;
        }
        Ok(Ok(Done::Handled(handled)))
    }

    fn merge_user(&mut self, user: &str, new: UserLatest) -> Result<()> {
        let latest = match users::get(self.tables, user)? {
            Some(mut known) => {
                known.merge_all(&new);
                known
            }
            None => new,
        };
        users::put(self.tables, user, &latest)
    }
}

/// The newest records of each user among `records`; those without a username belong to nobody.
fn newest_of_each_user(records: &[Received]) -> BTreeMap<String, UserLatest> {
    let mut newest: BTreeMap<String, UserLatest> = BTreeMap::new();
    for record in records {
        let user = user_key(record.record.username());
        if user.is_empty() {
            continue;
        }
        newest
            .entry(user)
            .and_modify(|latest| latest.merge(record))
            .or_insert_with(|| UserLatest::of(record));
    }
    newest
}
