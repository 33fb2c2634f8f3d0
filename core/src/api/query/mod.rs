//! The questions about the fleet, a handler each.

mod advice;
pub(crate) mod export;
mod fleet;
mod heatmap;
mod holds;
mod key;
pub(crate) mod metrics;
mod preview;
mod processes;
mod series;
mod startup;
mod timeline;
mod top;
mod workspaces;

use http::HeaderMap;

use crate::engine_core::EngineCore;
use crate::error::{EngineError, ErrorKind, Result};
use crate::model::Question;
use crate::wire::query::Query;

use super::endpoint::Endpoint;
use super::parameters::FORMAT;
use super::routes::ROUTES;
use super::{Call, Completion, Failure, Handled, collect};

pub(super) fn export(call: &Call<'_>) -> Handled {
    export::answer(call)
}

pub(super) fn key(call: &Call<'_>) -> Handled {
    key::answer(call)
}

pub(super) fn answer(call: &Call<'_>, question: Question) -> Handled {
    match question {
        Question::Workspaces => workspaces::answer(call),
        Question::Top => top::answer(call),
        Question::Fleet => fleet::answer(call),
        Question::Preview => preview::answer(call),
        Question::Advice => advice::answer(call),
        Question::Processes => processes::answer(call),
        Question::Series => series::answer(call),
        Question::Startup => startup::answer(call),
        Question::Heatmap => heatmap::answer(call),
        Question::Metrics => Ok(metrics::answer(call)),
        Question::Timeline => timeline::answer(call),
        Question::Holds => holds::answer(call),
    }
}

/// The body of the answer to a question that the host asks, which needs no key; `name` is the last segment of its path.
pub(crate) fn ask(core: &EngineCore, name: &str, query: &str, body: &[u8]) -> Result<Vec<u8>> {
    let is_asked = |path: &str| path.strip_prefix("/query/") == Some(name);
    let route = ROUTES.iter().find(|route| is_asked(route.path));
    let Some((route, Endpoint::Query(question))) = route.map(|route| (route, route.endpoint))
    else {
        let said = "There is no such question.";
        return Err(EngineError::invalid("question", said));
    };
    let query = Query::new(Some(query));
    // The answer is JSON.
    route.check_query(query, |name| name != FORMAT.name)?;
    let call = Call {
        core,
        route,
        headers: &HeaderMap::new(),
        body,
        query,
        segments: &[],
        key: None,
    };
    match answer(&call, question) {
        Ok(Completion::Response(response)) => Ok(response.into_body().into()),
        Ok(Completion::Chunked(response, chunks)) => {
            let made = (response, Some(chunks));
            Ok(collect(core, None, made).into_body().into())
        }
        Ok(Completion::Pending(..) | Completion::Import(_)) => {
            let said = "a question about the fleet writes";
            Err(EngineError::new(ErrorKind::Internal, said))
        }
        Err(Failure::Engine(error)) => Err(error),
        Err(Failure::Problem(problem)) => Err(problem.into_error()),
    }
}
