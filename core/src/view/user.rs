//! What is known of one user.

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

/// Bytes of the pending records of a user and a stream that are compared with each other to find the newest. Only a flood of
/// records of one time, or by clocks that are ahead, has more. Then the last ones count, and one of them that repeats an older
/// record shows until it is filed.
const COMPARED_BYTES_MAX: usize = 16 * 1024 * 1024;

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

/// The same without workspaces and holds, which the caller adds: a user may have any number of them.
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

/// The block and the row of a pending record, in the order of acceptance.
type Arrival = (u64, usize);

/// The pending records of a user and a stream that may be the newest. Each may repeat another one or a filed one, which then
/// counts.
#[derive(Default)]
struct PendingRecords {
    rows: Rows,
    arrivals: Vec<Arrival>,
    bytes: usize,
    /// The newest filed time, without records of a clock that is ahead.
    newest: Option<Timestamp>,
    /// Whether there are records of a clock that is ahead; these may repeat any earlier one.
    any_ahead: bool,
}

impl PendingRecords {
    /// Reads the blocks from the newest back, while they may have a newer record than `known` and those found.
    fn read(reader: &Reader, stream: Stream, user: &str, known: Option<Timestamp>) -> Result<Self> {
        let newest = |block| Some((PendingBlock::newest(block, stream)?, block));
        let blocks: Vec<_> = reader.blocks.iter().filter_map(newest).collect();
        let order = sorted_by_key(blocks.len(), |row| {
            blocks.get(row).map(|(time, block)| (*time, block.number))
        });
        let mut pending = Self {
            newest: known,
            ..Self::default()
        };
        let mut rows = Rows::default();
        for block in order.into_iter().rev() {
            let Some(&(time, block)) = blocks.get(block as usize) else {
                continue;
            };
            let is_older = Some(time) < pending.newest;
            if (is_older && !pending.any_ahead) || pending.bytes > COMPARED_BYTES_MAX {
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
        let wanted: Vec<usize> = (0..rows.len()).filter(|row| is_wanted(*row)).collect();
        let is_ahead = |row: &usize| rows.is_ahead(*row);
        let dated = wanted.iter().filter(|row| !is_ahead(row));
        let newest = dated.map(|row| rows.filed_at(*row)).max();
        self.newest = self.newest.max(newest);
        for row in wanted {
            let is_ahead = is_ahead(&row);
            self.any_ahead |= is_ahead;
            if is_ahead || Some(rows.filed_at(row)) == self.newest {
                self.rows.adopt(rows, row);
                self.bytes += rows.weight(row);
                self.arrivals.push((block, row));
            }
        }
    }

    /// Adds the newest to `rows`, if there is one.
    fn add_newest(&self, reader: &Reader, rows: &mut Rows) -> Result<()> {
        let order = sorted_by_key(self.arrivals.len(), |row| self.arrivals.get(row));
        let mut arrived = Rows::default();
        for row in order {
            arrived.adopt(&self.rows, row as usize);
        }
        let fresh = history::fresh(&reader.snapshot, &mut arrived)?;
        let age = |row: &u32| (users::age(&arrived, *row as usize), *row);
        if let Some(newest) = fresh.into_iter().max_by(|a, b| age(a).cmp(&age(b))) {
            rows.adopt(&arrived, newest as usize);
        }
        Ok(())
    }
}
