//! `GET /query/timeline`

use crate::api::{Call, Completion, Handled};
use crate::error::EngineError;
use crate::view::query::timeline::{self, TimelineQuery, TimelineRow, WINDOW_SECONDS};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, TimelineRow::COLUMNS)?;
    let id = call.query.text("workSpaceId");
    let id = id.filter(|id| !id.is_empty()).ok_or_else(|| {
        let said = "The workSpaceId field is required, such as workSpaceId=ws-1.";
        EngineError::invalid("workSpaceId", said)
    })?;
    let reader = call.core.reader()?;
    let range = call.query.range(WINDOW_SECONDS, reader.now)?;
    let query = TimelineQuery {
        from: Some(range.from),
        to: Some(range.to),
        paging: call.query.paging()?,
        ..TimelineQuery::of(id)
    };
    let rows = timeline::timeline(&reader, &query, |wanted| call.core.telemetry_reader(wanted))?;
    Ok(Completion::Response(shape.response(&rows)))
}
