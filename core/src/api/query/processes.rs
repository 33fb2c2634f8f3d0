//! `GET /query/processes`

use crate::api::{Call, Completion, Handled};
use crate::view::query::processes::{self, ProcessRow, ProcessesQuery, WINDOW_SECONDS};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, ProcessRow::COLUMNS)?;
    let instance_id = call.query.text("instanceId");
    let instance_id = instance_id.filter(|instance| !instance.is_empty());
    let wanted = processes::wanted(instance_id.as_deref());
    let reader = call.core.telemetry_reader(wanted)?;
    let range = call.query.range(WINDOW_SECONDS, reader.now)?;
    let query = ProcessesQuery {
        instance_id,
        from: Some(range.from),
        to: Some(range.to),
        paging: call.query.paging()?,
    };
    let rows = processes::processes(&reader, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
