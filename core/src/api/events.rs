//! The event log: a page, or where a stream begins.

use http::HeaderMap;

use crate::domain::paging::{self, bad_token};
use crate::domain::query::Query;
use crate::error::{EngineError, Result};
use crate::wire::accept;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::information::page_limit;
use super::{Call, Handled, chunks};

/// The header by which a client goes on where a stream ended.
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn get_events(call: &Call<'_>) -> Handled {
    // Refused as the stream is that a server would send.
    stream_start(call.headers, call.query)?;
    let after = match call.query.get("nextToken") {
        Some(token) => Some(paging::event_of(&token).ok_or_else(bad_token)?),
        None => call.query.number("after")?,
    };
    let rows = chunks::Events::new(call.core, after, page_limit(call)?);
    call.list(reply::JSON, ListBody::page(r#"{"rows":["#), Box::new(rows))
}

/// Where a stream of events begins: after the event of that number, or now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamStart {
    pub(crate) after: Option<u64>,
}

/// Where the stream begins that is asked for; `None` where a page is.
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
            let said = "The value is not valid: it is the number of an event, such as 4412.";
            return Err(EngineError::invalid("Last-Event-ID", said));
        }
        None => query.number("after")?,
    };
    Ok(Some(StreamStart { after }))
}
