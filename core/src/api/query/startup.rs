//! `GET /query/startup`

use crate::api::{Call, Completion, Handled};
use crate::view::query::startup::{self, SlowStartup, StartupPoint, StartupQuery};
use crate::wire::rows::Shape;

use super::series::group_filter;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let shape = Shape::of(call.headers, call.query, StartupPoint::COLUMNS)?;
    let reader = call.core.rollup_reader()?;
    let range = call.query.range(startup::RANGE_DEFAULT, reader.now)?;
    let query = StartupQuery {
        from: Some(range.from),
        to: Some(range.to),
        step: call.query.step()?,
        filter: group_filter(call.query)?,
    };
    let report = startup::startups(&reader, &query)?;
    let response = shape.response_with(&report.points, |body| {
        body.value("stepSeconds", &report.step_seconds);
        body.member("slowest", |json| {
            Shape::whole_rows(json, SlowStartup::COLUMNS, &report.slowest);
        });
    });
    Ok(Completion::Response(response))
}
