//! `GET /query/holds`

use crate::api::{Call, Completion, Handled};
use crate::view::query::holds::{self, HoldRow, HoldsQuery};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, HoldRow::COLUMNS)?;
    let query = HoldsQuery {
        filter: call.query.filter()?,
        paging: call.query.paging()?,
    };
    let rows = holds::holds(&call.core.reader()?, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
