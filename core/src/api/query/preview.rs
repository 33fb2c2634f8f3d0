//! `POST /query/preview`

use crate::api::{Call, Completion, Handled};
use crate::view::query::preview::{self, PreviewRow};
use crate::wire::body;
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, PreviewRow::COLUMNS)?;
    let query = body::preview_body(call.body)?;
    let rows = preview::preview(&call.core.reader()?, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
