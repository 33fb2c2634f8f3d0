//! `POST /query/preview`

use crate::api::{Call, Completion, Handled};
use crate::error::EngineError;
use crate::model::Action;
use crate::view::query::preview::{self, PreviewRow};
use crate::wire::body;
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, PreviewRow::COLUMNS)?;
    let query = body::preview_body(call.body)?;
    let has_type = query
        .compute_type
        .as_deref()
        .is_some_and(|name| !name.is_empty());
    if query.action == Action::ChangeComputeType && !has_type {
        let said = "The computeType field is required, such as PERFORMANCE.";
        return Err(EngineError::invalid("computeType", said).into());
    }
    let rows = preview::preview(&call.core.reader()?, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
