//! The event log: a page, or the position of a stream.

use http::HeaderMap;

use crate::domain::paging::{self, List};
use crate::domain::query::Query;
use crate::error::{EngineError, Result};
use crate::model::FleetEvent;
use crate::view::events::Events;
use crate::wire::accept;
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::chunks::Page;
use super::{Call, Handled};

/// The header with which a client resumes a stream.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn get_events(call: &Call<'_>) -> Handled {
    // It is refused like the stream that a server would send.
    stream_start(call.headers, call.query)?;
    let token = call.query.get("nextToken");
    let after = match paging::position(List::Events, token.as_deref())? {
        Some(after) => Some(after),
        None => call.query.number("after")?,
    };
    let list = Events::new(after, call.query.limit()?);
    let item = |json: &mut Json, event: FleetEvent| json.value(&event);
    let rows = Page::new(call.core, list, item, reply::rows_end).durable();
    call.list(reply::JSON, ListBody::page(r#"{"rows":["#), Box::new(rows))
}

/// The position at which a stream of events begins: after the event of that number, or now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamStart {
    pub(crate) after: Option<u64>,
}

/// The position of a requested stream; `None` for a page.
pub(super) fn stream_start(headers: &HeaderMap, query: Query<'_>) -> Result<Option<StreamStart>> {
    if !accept::is_event_stream(headers) {
        return Ok(None);
    }
    let resumed = headers
        .get(LAST_EVENT_ID)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_str().ok()?.parse().ok());
    let after = match resumed {
        Some(Some(id)) => Some(id),
        Some(None) => {
            let message = "The value is not valid: it is the number of an event, such as 4412.";
            return Err(EngineError::invalid("Last-Event-ID", message));
        }
        None => query.number("after")?,
    };
    Ok(Some(StreamStart { after }))
}
