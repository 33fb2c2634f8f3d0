//! The order of rows, and the selection of a page.
//!
//! A sort key is a sequence of bytes that compare as the rows do. For each column of the sort it has 0 and the value, or 1 for
//! null, so nulls come last in both directions; then the id, so the order is total. The bytes of a value are inverted if the
//! greatest come first. A text counts with its first bytes, without ASCII case, so that a page token can hold a sort key.

use std::collections::BinaryHeap;

use crate::error::{EngineError, Result};
use crate::limits::{SORT_COLUMNS_MAX, SORT_TEXT_BYTES};
use crate::model::{Cell, Column, Paging, Question};
use crate::nearest::nearest;

use super::paging::{self, List};

/// One column of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SortBy {
    column: usize,
    descending: bool,
}

/// A total order of the rows of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order(Vec<SortBy>);

impl Order {
    /// Reads a sort such as `-cpuP95,workSpId`.
    pub(crate) fn parse(text: &str, columns: &[Column]) -> Result<Self> {
        let names: Vec<&str> = text.split(',').collect();
        if names.len() > SORT_COLUMNS_MAX {
            let message = format!("At most {SORT_COLUMNS_MAX} columns can be sorted by.");
            return Err(EngineError::invalid("sort", message));
        }
        let by = names.into_iter().map(|name| {
            let (name, descending) = name
                .strip_prefix('-')
                .map_or((name, false), |name| (name, true));
            let column = column("sort", name, columns)?;
            Ok(SortBy { column, descending })
        });
        by.collect::<Result<_>>().map(Self)
    }

    /// The order of a sort; without one the order of the ids, byte by byte.
    pub(crate) fn wanted(sort: Option<&str>, columns: &[Column]) -> Result<Self> {
        sort.map_or_else(|| Ok(Self(Vec::new())), |sort| Self::parse(sort, columns))
    }

    /// Whether rows are sorted by the column at `index`.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.0.iter().any(|by| by.column == index)
    }

    /// Writes the sort key of a row; `cell` reads its value in a column.
    fn write_place<'c>(&self, place: &mut Vec<u8>, id: &str, cell: &dyn Fn(usize) -> Cell<'c>) {
        place.clear();
        for by in &self.0 {
            let cell = cell(by.column);
            place.push(u8::from(cell == Cell::Null));
            let start = place.len();
            push_value(place, cell, SORT_TEXT_BYTES / self.0.len());
            if by.descending {
                let value = place.iter_mut().skip(start);
                value.for_each(|byte| *byte = !*byte);
            }
        }
        place.extend_from_slice(id.as_bytes());
    }

    /// The name of the order in a token.
    fn name(&self) -> Vec<u8> {
        let by = self.0.iter().map(|by| {
            let column = u8::try_from(by.column).unwrap_or(u8::MAX);
            column << 1 | u8::from(by.descending)
        });
        let count = u8::try_from(self.0.len()).unwrap_or(u8::MAX);
        std::iter::once(count).chain(by).collect()
    }
}

/// The index of the column `name`, compared without case, which `parameter` asks for.
pub(crate) fn column(parameter: &'static str, name: &str, columns: &[Column]) -> Result<usize> {
    let mut known = columns.iter();
    if let Some(found) = known.position(|known| known.name.eq_ignore_ascii_case(name)) {
        return Ok(found);
    }
    let names = || columns.iter().map(|column| column.name);
    let message = if let Some(nearest) = nearest(name, names()) {
        format!("There is no column '{name}'. Did you mean '{nearest}'?")
    } else {
        let names: Vec<&str> = names().collect();
        let names = names.join(", ");
        format!("There is no column '{name}'. The columns are {names}.")
    };
    Err(EngineError::invalid(parameter, message))
}

/// Writes bytes that compare as the values do.
fn push_value(place: &mut Vec<u8>, cell: Cell<'_>, text_bytes: usize) {
    const SIGN: u64 = 1 << 63;
    match cell {
        // No list is sorted by.
        Cell::Null | Cell::Texts(_) => {}
        Cell::Text(text) => {
            let start = text.bytes().take(text_bytes);
            // 0 ends the text.
            place.extend(start.map(|byte| byte.to_ascii_lowercase().max(1)));
            place.push(0);
        }
        Cell::Int(value) => place.extend((value.cast_unsigned() ^ SIGN).to_be_bytes()),
        Cell::Time(value) => place.extend(value.ordered_ticks().to_be_bytes()),
        Cell::Number(value) => {
            let bits = value.to_bits();
            let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
            place.extend(ordered.to_be_bytes());
        }
        Cell::Bool(value) => place.push(u8::from(value)),
    }
}

/// Selects a page of rows after a sort key: takes any number of candidates and keeps a page of them.
#[derive(Debug)]
pub(crate) struct Picked<T> {
    places: Places,
    /// The kept rows, in the slots that the sort keys name.
    rows: Vec<Option<T>>,
}

/// The sort keys of the kept rows, in code that all row types share.
#[derive(Debug)]
struct Places {
    question: Question,
    order: Order,
    limit: usize,
    /// The sort key after which the page begins.
    after: Option<Vec<u8>>,
    /// A heap of the sort keys with their slots, the last one first: up to one more than a page has.
    kept: BinaryHeap<(Vec<u8>, usize)>,
    /// The sort key of the candidate; its memory is reused.
    candidate: Vec<u8>,
}

impl Places {
    #[inline(never)]
    fn new(question: Question, order: Order, paging: &Paging) -> Result<Self> {
        let refused = || {
            let message = "The value is not a token of this endpoint and sort.";
            EngineError::invalid("nextToken", message)
        };
        let name = order.name();
        let after = paging::position::<Vec<u8>>(List::Rows(question), paging.next_token.as_deref());
        let after = after.map_err(|_| refused())?.map(|bytes| {
            let place = bytes.strip_prefix(name.as_slice());
            place.map(<[u8]>::to_vec).ok_or_else(refused)
        });
        Ok(Self {
            question,
            after: after.transpose()?,
            order,
            limit: usize::try_from(paging.limit.max(1)).unwrap_or(usize::MAX),
            kept: BinaryHeap::new(),
            candidate: Vec::new(),
        })
    }

    /// The slot of a candidate that is kept: a new one, or that of a dropped row.
    #[inline(never)]
    fn admit<'c>(&mut self, id: &str, cell: &dyn Fn(usize) -> Cell<'c>) -> Option<usize> {
        self.order.write_place(&mut self.candidate, id, cell);
        let place = &self.candidate;
        if self.after.as_ref().is_some_and(|after| place <= after) {
            return None;
        }
        if self.kept.len() <= self.limit {
            let slot = self.kept.len();
            self.kept.push((place.clone(), slot));
            return Some(slot);
        }
        let mut last = self.kept.peek_mut()?;
        if *place >= last.0 {
            return None;
        }
        last.0.clone_from(place);
        Some(last.1)
    }

    #[inline(never)]
    fn begins_after(&self) -> Option<String> {
        let after = self.after.clone().filter(|_| self.is_by_id());
        String::from_utf8(after?).ok()
    }

    fn is_by_id(&self) -> bool {
        self.order.0.is_empty()
    }

    /// The slots in order, and the token of the next page.
    fn finish(self) -> (Vec<usize>, Option<String>) {
        let mut kept = self.kept.into_sorted_vec();
        let more = kept.len() > self.limit;
        kept.truncate(self.limit);
        let last = kept.last().filter(|_| more);
        let token = last.map(|(place, _)| {
            let position = [&self.order.name(), place.as_slice()].concat();
            paging::token(List::Rows(self.question), &position)
        });
        (kept.into_iter().map(|(_, slot)| slot).collect(), token)
    }
}

impl<T> Picked<T> {
    /// The page that `paging` names.
    ///
    /// # Errors
    /// A token of another question or of another order.
    pub(crate) fn new(question: Question, order: Order, paging: &Paging) -> Result<Self> {
        Ok(Self {
            places: Places::new(question, order, paging)?,
            rows: Vec::new(),
        })
    }

    /// Offers a candidate: `id` is unique among them and has at most 256 bytes, `cell` reads its value in a column of the sort, and `row` makes the row if
    /// it is kept.
    pub(crate) fn offer<'c>(
        &mut self,
        id: &str,
        cell: impl Fn(usize) -> Cell<'c>,
        row: impl FnOnce() -> T,
    ) {
        let Some(slot) = self.places.admit(id, &cell) else {
            return;
        };
        match self.rows.get_mut(slot) {
            Some(kept) => *kept = Some(row()),
            None => self.rows.push(Some(row())),
        }
    }

    /// The id after which the page begins, in the order of the ids: candidates up to it can be skipped.
    pub(crate) fn begins_after(&self) -> Option<String> {
        self.places.begins_after()
    }

    /// Ends the page with the candidates so far, if they are offered in the order of the ids.
    pub(crate) fn end_page(&mut self) {
        if self.places.is_by_id() {
            let rows = self.places.kept.len().max(1);
            self.places.limit = self.places.limit.min(rows);
        }
    }

    /// Whether the page is complete, for candidates that are offered in the order of the ids.
    pub(crate) fn is_complete(&self) -> bool {
        self.places.is_by_id() && self.places.kept.len() > self.places.limit
    }

    /// The rows in order, and the token of the next page if there is one.
    pub(crate) fn finish(mut self) -> (Vec<T>, Option<String>) {
        let (slots, token) = self.places.finish();
        let mut take = |slot| self.rows.get_mut(slot).and_then(Option::take);
        (slots.into_iter().filter_map(&mut take).collect(), token)
    }
}

#[cfg(test)]
mod tests;
