//! A question by the host, by its name.

use http::HeaderMap;

use crate::domain::query::Query;
use crate::engine_core::EngineCore;
use crate::error::{EngineError, ErrorKind, Result};

use super::endpoint::{Answer, Route};
use super::parameters::FORMAT;
use super::routes::ROUTES;
use super::{Call, Completion, Failure, collect};

/// The body of the response to a question by the host, which needs no key; `name` is the last segment of its path.
pub(crate) fn ask(core: &EngineCore, name: &str, query: &str, body: &[u8]) -> Result<Vec<u8>> {
    let is_asked = |path: &str| path.strip_prefix("/query/") == Some(name);
    let route = ROUTES.iter().find(|route| is_asked(route.path));
    let is_question = |route: &&Route| matches!(route.answer, Answer::Rows(_));
    let Some(route) = route.filter(is_question) else {
        let message = "There is no such question.";
        return Err(EngineError::invalid("question", message));
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
    match route.handler.run(&call) {
        Ok(Completion::Response(response)) => Ok(response.into_body().into()),
        Ok(Completion::Chunked(response, chunks)) => {
            let made = (response, Some(chunks));
            Ok(collect(core, None, made).into_body().into())
        }
        Ok(Completion::Pending(..) | Completion::Import(_)) => {
            let message = "a question about the fleet writes";
            Err(EngineError::new(ErrorKind::Internal, message))
        }
        Err(Failure::Engine(error)) => Err(error),
        Err(Failure::Problem(problem)) => Err(problem.into_error()),
    }
}
