//! What is known of one user.

use std::cmp::Reverse;

use crate::error::Result;
use crate::model::{Received, Stream, Workspace, user_key};
use crate::sorting::sorted_by_key;
use crate::store::fleet::workspaces::EntryRef;
use crate::store::table::Step;
use crate::store::telemetry::history;
use crate::store::telemetry::pending_block::PendingBlock;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::users::{self, UserLatest};
use crate::timestamp::Timestamp;

use super::workspaces::{Listing, Workspaces};
use super::{Reader, workspaces};

/// Bytes of the pending records filed at their receipt that are compared with each other to find the newest of a user. Only a
/// flood has more; then those that came last count, and of them one that repeats an older one shows until it is filed.
const MISDATED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A user: the workspaces, and the newest telemetry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UserView {
    /// The name as the workspaces have it, else as telemetry had it.
    pub username: String,
    /// The workspaces, in the order of their ids.
    pub workspaces: Vec<Workspace>,
    /// Whether one of them is on litigation hold.
    pub litigation_hold: bool,
    /// The newest activity.
    pub last_activity: Option<Received>,
    /// The newest time of any record.
    pub last_seen: Option<Timestamp>,
    /// The newest statistics.
    pub last_stats: Option<Received>,
    /// The newest startup timings.
    pub last_startup: Option<Received>,
}

/// The user of that name; `None` when neither a workspace nor telemetry knows one. Wants the queue of the user.
pub(crate) fn one(reader: &Reader, username: &str) -> Result<Option<UserView>> {
    let Some(mut view) = without_workspaces(reader, username)? else {
        return Ok(None);
    };
    let (workspaces, litigation_hold) = workspaces::of_user(reader, &user_key(username))?;
    view.workspaces = workspaces;
    view.litigation_hold = litigation_hold;
    Ok(Some(view))
}

/// The same, of which the workspaces and their holds are to be added: a user may have any number of them.
pub(crate) fn without_workspaces(reader: &Reader, username: &str) -> Result<Option<UserView>> {
    let user = user_key(username);
    if user.is_empty() {
        return Ok(None);
    }
    let mut named = None;
    let mut name = |entry: &EntryRef<'_>| {
        named = entry.username().map(str::to_owned);
        if named.is_some() {
            Step::Break(())
        } else {
            Step::Continue(())
        }
    };
    Workspaces::all(Listing::of_user(username), None).step(reader, &mut name)?;
    let latest = latest(reader, &user)?;
    let Some(username) = named.or_else(|| latest.as_ref().map(|latest| latest.username.clone()))
    else {
        return Ok(None);
    };
    let mut view = UserView {
        username,
        workspaces: Vec::new(),
        litigation_hold: false,
        last_activity: None,
        last_seen: None,
        last_stats: None,
        last_startup: None,
    };
    if let Some(latest) = latest {
        view.last_seen = Some(latest.last_seen);
        view.last_activity = latest.activity;
        view.last_stats = latest.stats;
        view.last_startup = latest.startup;
    }
    Ok(Some(view))
}

/// The newest telemetry of a user, filed and pending.
fn latest(reader: &Reader, user: &str) -> Result<Option<UserLatest>> {
    let known = users::get(&reader.snapshot, user)?;
    let mut rows = Rows::default();
    for stream in Stream::ALL {
        let newest = known.as_ref().and_then(|known| known.newest(stream));
        PendingRecords::read(reader, stream, user, newest)?.add_newest(reader, &mut rows)?;
    }
    if rows.len() == 0 {
        return Ok(known);
    }
    users::get_with(&reader.snapshot, user, &mut rows)
}

/// Where a pending record is: its block, and its row there. In the order in which they were accepted.
type Arrival = (u64, usize);

/// The pending records of a user and a stream of which one is the newest.
#[derive(Default)]
struct PendingRecords {
    /// The newest of those that stand at the time they carry, or carry none, by [`users::age`]. A repetition of
    /// such a record stands at the same time and came later, so this is none.
    dated: Option<(Timestamp, Reverse<Arrival>)>,
    dated_row: Rows,
    /// Those that are filed at their receipt instead: each may repeat any other.
    misdated: Rows,
    arrivals: Vec<Arrival>,
    misdated_bytes: usize,
}

impl PendingRecords {
    /// Reads the blocks back from the newest, as far as there may be something newer than what is `known` and what was found.
    fn read(reader: &Reader, stream: Stream, user: &str, known: Option<Timestamp>) -> Result<Self> {
        let newest = |block| Some((PendingBlock::newest(block, stream)?, block));
        let blocks: Vec<_> = reader.blocks.iter().filter_map(newest).collect();
        let order = sorted_by_key(blocks.len(), |row| {
            blocks.get(row).map(|(time, block)| (*time, block.number))
        });
        let mut pending = Self::default();
        let mut rows = Rows::default();
        for block in order.into_iter().rev() {
            let Some(&(time, block)) = blocks.get(block as usize) else {
                continue;
            };
            let found = pending.dated.map(|(filed_at, _)| filed_at).max(known);
            let older = found.is_some_and(|found| time < found);
            if (older && pending.arrivals.is_empty()) || pending.misdated_bytes > MISDATED_BYTES_MAX
            {
                break;
            }
            rows.clear();
            block.add_to(&reader.snapshot, &mut rows)?;
            pending.see(&rows, block.number, |row| {
                rows.stream(row) == stream && user_key(rows.username(row)) == user
            });
        }
        Ok(pending)
    }

    fn see(&mut self, rows: &Rows, block: u64, is_wanted: impl Fn(usize) -> bool) {
        for row in (0..rows.len()).filter(|row| is_wanted(*row)) {
            if rows.is_misdated(row) {
                self.misdated.adopt(rows, row);
                self.misdated_bytes += rows.weight(row);
                self.arrivals.push((block, row));
                continue;
            }
            let found = (rows.filed_at(row), Reverse((block, row)));
            let is_newer = self.dated.is_none_or(|(_, arrival)| {
                (users::age(rows, row), found.1) > (users::age(&self.dated_row, 0), arrival)
            });
            if is_newer {
                self.dated = Some(found);
                self.dated_row = Rows::default();
                self.dated_row.adopt(rows, row);
            }
        }
    }

    /// Adds the newest to `rows`, if there is one.
    fn add_newest(&self, reader: &Reader, rows: &mut Rows) -> Result<()> {
        if self.dated.is_some() {
            rows.adopt(&self.dated_row, 0);
        }
        let order = sorted_by_key(self.arrivals.len(), |row| self.arrivals.get(row));
        let mut misdated = Rows::default();
        for row in order {
            misdated.adopt(&self.misdated, row as usize);
        }
        let fresh = history::fresh(&reader.snapshot, &mut misdated)?;
        let age = |row: &u32| (users::age(&misdated, *row as usize), Reverse(*row));
        if let Some(newest) = fresh.into_iter().max_by(|a, b| age(a).cmp(&age(b))) {
            rows.adopt(&misdated, newest as usize);
        }
        Ok(())
    }
}
