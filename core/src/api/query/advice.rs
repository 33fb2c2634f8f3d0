//! `GET /query/advice`

use crate::api::{Call, Completion, Handled};
use crate::view::query::advice::{self, AdviceQuery, AdviceRow, WINDOW_SECONDS};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, AdviceRow::COLUMNS)?;
    let reader = call.core.rollup_reader()?;
    let range = call.query.range(WINDOW_SECONDS, reader.now)?;
    let query = AdviceQuery {
        filter: call.query.filter()?,
        from: Some(range.from),
        to: Some(range.to),
        paging: call.query.paging()?,
    };
    let rows = advice::advice(&reader, &call.core.config.cost, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
