//! The litigation holds as rows.

use crate::domain::order::{Order, Picked};
use crate::domain::query::Query;
use crate::error::Result;
use crate::model::row::row;
use crate::model::{Cell, Column, Paging, Question, Rows};
use crate::store::fleet::holds::{self, HoldRef};
use crate::store::fleet::workspaces::{self, EntryRef};
use crate::store::table::{Step, after_key};
use crate::timestamp::Timestamp;
use crate::view::Reader;
use crate::view::workspaces::{Matcher, WorkspaceFilter};

use super::{Ask, Fleet, FleetQuery};

row! {
    /// A litigation hold with its workspace.
    pub struct HoldRow {
        /// Id of the workspace.
        workspace_id: String = "workSpId",
        /// Name of its computer.
        computer_name: Option<String> = "computerName",
        /// User that it belongs to.
        username: Option<String> = "username",
        /// The legal matter.
        matter: String = "matter",
        /// The reason, if one was given.
        reason: Option<String> = "reason",
        /// Who placed it: the name of the key, or `host`.
        placed_by: String = "placedBy",
        /// When it was placed.
        placed_at: Timestamp = "placedAt",
    }
}

/// Which holds, in which order.
///
/// ```
/// use deskfleet::{Engine, query::HoldsQuery};
///
/// let engine = Engine::in_memory()?;
/// assert!(engine.query(&HoldsQuery::default())?.rows.is_empty());
/// # Ok::<(), deskfleet::EngineError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HoldsQuery {
    /// The workspaces whose holds are wanted. Default all.
    pub filter: WorkspaceFilter,
    /// The order, by default that of the ids, byte by byte, and the page.
    pub paging: Paging,
}

impl FleetQuery for HoldsQuery {
    type Answer = Rows<HoldRow>;

    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer> {
        holds(&fleet.readers.tables()?, self)
    }
}

impl Ask for HoldsQuery {
    const QUESTION: Question = Question::Holds;
    const COLUMNS: &'static [Column] = HoldRow::COLUMNS;

    fn parse(query: Query<'_>, _: Timestamp) -> Result<Self> {
        Ok(Self {
            filter: query.filter()?,
            paging: query.paging()?,
        })
    }
}

/// A page of the holds; reads no workspace that is not held.
fn holds(reader: &Reader, query: &HoldsQuery) -> Result<Rows<HoldRow>> {
    let order = Order::wanted(query.paging.sort.as_deref(), HoldRow::COLUMNS)?;
    let mut picked = Picked::new(Question::Holds, order, &query.paging)?;
    let matcher = Matcher::new(&query.filter);
    let after = picked.begins_after();
    let read = &reader.snapshot;
    let mut visit = |id: &str, hold: HoldRef<'_>| {
        workspaces::with_entry(read, id, |entry| {
            let entry = reader.listed(entry);
            if let Some(entry) = entry.filter(|entry| matcher.accepts(entry)) {
                let entry = HoldEntry { entry, hold };
                picked.offer(id, |column| entry.cell(column), || entry.row());
            }
            Ok(())
        })?;
        Ok(if picked.is_complete() {
            Step::Break(())
        } else {
            Step::Continue(())
        })
    };
    match matcher.ids() {
        Some(ids) => {
            for id in ids.iter().filter(|id| Some(id.as_str()) > after.as_deref()) {
                holds::scan(read, holds::only(id), &mut visit)?;
            }
        }
        None => holds::scan(read, after_key(after.as_deref()), &mut visit)?,
    }
    let (rows, next_token) = picked.finish();
    Ok(Rows {
        next_token,
        ..Rows::whole(rows, reader.now)
    })
}

/// A hold that may become a row.
struct HoldEntry<'a, 'v> {
    entry: EntryRef<'a>,
    hold: HoldRef<'v>,
}

impl HoldEntry<'_, '_> {
    /// The value of a column, without making the row.
    fn cell(&self, column: usize) -> Cell<'_> {
        let (entry, hold) = (&self.entry, &self.hold);
        let text = match column {
            0 => Some(entry.id()),
            1 => entry.computer_name(),
            2 => entry.username(),
            3 => Some(hold.matter),
            4 => hold.reason,
            5 => Some(hold.placed_by),
            _ => return Cell::Time(hold.placed_at),
        };
        text.map_or(Cell::Null, Cell::Text)
    }

    fn row(&self) -> HoldRow {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        HoldRow {
            workspace_id: self.entry.id().to_owned(),
            computer_name: owned(self.entry.computer_name()),
            username: owned(self.entry.username()),
            matter: self.hold.matter.to_owned(),
            reason: owned(self.hold.reason),
            placed_by: self.hold.placed_by.to_owned(),
            placed_at: self.hold.placed_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Row as _;

    use super::*;

    #[test]
    fn held_has_the_cells_of_its_row() {
        let mut values = [None; 10];
        for (value, text) in values.iter_mut().zip("abcdefghij".split("").skip(1)) {
            *value = Some(text);
        }
        for reason in [None, Some("z")] {
            let entry = HoldEntry {
                entry: EntryRef {
                    values,
                    state_since: Timestamp::UNIX_EPOCH,
                    known_since: Timestamp::MIN,
                    held: true,
                    plain: true,
                    transition: None,
                },
                hold: HoldRef {
                    matter: "x",
                    reason,
                    placed_by: "y",
                    placed_at: Timestamp::UNIX_EPOCH,
                },
            };
            let row = entry.row();
            for column in 0..HoldRow::COLUMNS.len() {
                assert_eq!(entry.cell(column), row.cell(column), "{column}");
            }
            assert_eq!(row.username.as_deref(), Some("i"));
        }
    }
}
