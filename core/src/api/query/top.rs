//! `GET /query/top`

use crate::api::{Call, Completion, Handled};
use crate::error::EngineError;
use crate::model::{Metric, Statistic};
use crate::view::query::top::{self, TopQuery, TopRow, WINDOW_SECONDS};
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, TopRow::COLUMNS)?;
    let reader = call.core.rollup_reader()?;
    let metric = call.query.one_of("metric", &Metric::ALL, Metric::as_str)?;
    let range = call.query.range(WINDOW_SECONDS, reader.now)?;
    let query = TopQuery {
        statistic: call
            .query
            .one_of("statistic", &Statistic::ALL, Statistic::as_str)?,
        from: Some(range.from),
        to: Some(range.to),
        paging: call.query.paging()?,
        ..TopQuery::of(metric.ok_or_else(|| {
            EngineError::invalid(
                "metric",
                "The metric field is required, such as metric=cpu.",
            )
        })?)
    };
    let rows = top::top(&reader, &query)?;
    Ok(Completion::Response(shape.response(&rows)))
}
