//! The questions about the fleet: one handler for those that are a `FleetQuery`, and the others.

pub(crate) mod export;
pub(crate) mod metrics;

use bytes::Bytes;
use http::Response;

use crate::error::EngineError;
use crate::limits::PAGE_TEXT_BYTES_MAX;
use crate::model::{Action, Condition, RequestKey, Row, Rows};
use crate::view::query::preview::PreviewRow;
use crate::view::query::series::Series;
use crate::view::query::startup::{SlowStartup, StartupReport};
use crate::view::query::{Ask, Fleet};
use crate::wire::body;
use crate::wire::problem::{Code, Problem};
use crate::wire::reply;
use crate::wire::rows::Shape;

use super::{Call, Completion, Handled};

pub(super) use export::export;
pub(super) use metrics::metrics;

/// How the result of a question becomes a response.
pub(super) trait Page {
    fn response(&self, shape: &Shape) -> Response<Bytes>;
}

impl<T: Row> Page for Rows<T> {
    fn response(&self, shape: &Shape) -> Response<Bytes> {
        shape.response(self)
    }
}

impl Page for Series {
    fn response(&self, shape: &Shape) -> Response<Bytes> {
        shape.response_with(&self.points, |body| {
            body.value("stepSeconds", &self.step_seconds);
        })
    }
}

impl Page for StartupReport {
    fn response(&self, shape: &Shape) -> Response<Bytes> {
        shape.response_with(&self.points, |body| {
            body.value("stepSeconds", &self.step_seconds);
            body.member("slowest", |json| {
                Shape::whole_rows(json, SlowStartup::COLUMNS, &self.slowest);
            });
        })
    }
}

/// Any question whose parameters are in the query.
pub(super) fn rows<Q>(call: &Call<'_>) -> Handled
where
    Q: Ask,
    Q::Answer: Page,
{
    let question = Q::parse(call.query, call.core.now())?;
    let columns = question.columns();
    let shape = Shape::of_some(call.headers, call.query, Q::COLUMNS, columns)?;
    let answer = question.answer(&Fleet::new(call.core, PAGE_TEXT_BYTES_MAX))?;
    Ok(Completion::Response(answer.response(&shape)))
}

/// `POST /query/preview`
pub(super) fn preview(call: &Call<'_>) -> Handled {
    let shape = Shape::read(call.headers, call.query, PreviewRow::COLUMNS)?;
    let query = body::preview_body(call.body)?;
    let compute_type = query.compute_type.as_deref().unwrap_or_default();
    if query.action == Action::ChangeComputeType && compute_type.is_empty() {
        let message = "The computeType field is required, such as PERFORMANCE.";
        return Err(EngineError::invalid("computeType", message).into());
    }
    let fleet = Fleet::new(call.core, PAGE_TEXT_BYTES_MAX);
    let answer = query.answer_for(&fleet, call.key.map(|key| &key.info))?;
    Ok(Completion::Response(shape.response(&answer)))
}

/// `GET /query/conditions`
pub(super) fn conditions(call: &Call<'_>) -> Handled {
    let shape = Shape::read(call.headers, call.query, Condition::COLUMNS)?;
    let answer = Rows::whole(call.core.conditions(), call.core.now());
    Ok(Completion::Response(shape.response(&answer)))
}

/// `GET /query/fleet`
pub(super) fn fleet(call: &Call<'_>) -> Handled {
    let summary = reply::view(&call.core.question_of_fleet()?);
    Ok(Completion::Response(reply::ok(reply::JSON, summary)))
}

/// `GET /query/key`
pub(super) fn key(call: &Call<'_>) -> Handled {
    // The route requires a scope, so there is a key.
    let key = call.key.ok_or_else(|| Problem::new(Code::InvalidApiKey))?;
    let key = reply::view(&RequestKey::from(&key.info));
    Ok(Completion::Response(reply::ok(reply::JSON, key)))
}
