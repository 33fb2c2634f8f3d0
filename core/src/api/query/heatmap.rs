//! `GET /query/heatmap`

use crate::api::{Call, Completion, Handled};
use crate::view::query::heatmap::{self, HeatmapCell, HeatmapOf, HeatmapQuery};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, HeatmapCell::COLUMNS)?;
    let reader = call.core.rollup_reader()?;
    let range = call.query.range(heatmap::RANGE_DEFAULT, reader.now)?;
    let of = call
        .query
        .one_of("of", &HeatmapOf::ALL, HeatmapOf::as_str)?;
    let query = HeatmapQuery {
        of: of.unwrap_or_default(),
        from: Some(range.from),
        to: Some(range.to),
        offset_minutes: call.query.offset()?,
    };
    let cells = heatmap::heatmap(&reader, &query)?;
    Ok(Completion::Response(shape.response(&cells)))
}
