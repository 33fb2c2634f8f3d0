//! The parts of a request that its response needs, and the room in memory that it takes until it is sent.

use std::sync::Arc;

use bytes::Bytes;
use deskfleet::Exchange;
use http::Response;

use super::refusal::{self, Asked, Refused};
use crate::connection::progress::Progress;
use crate::connection::request_turn::RequestTurn;
use crate::limits::budget::NoRoom;
use crate::limits::sources::Source;
use crate::log::logged_request::HandledRequest;
use crate::metrics::RefusedConnection;
use crate::options::ServerOptions;
use crate::response::body::{OutgoingBody, ResponseGuards};
use crate::state::ServerState;

/// The most bytes of a response that reports a write.
const REPORT_BYTES: usize = 16 * 1024;

/// A request in progress, with everything that its response needs.
#[derive(Clone, Copy)]
pub(crate) struct RequestContext<'r> {
    pub(crate) shared: &'r ServerState,
    pub(crate) options: &'r ServerOptions,
    pub(crate) progress: &'r Arc<Progress>,
    pub(crate) turn: &'r RequestTurn,
    pub(crate) asked: &'r Asked,
}

impl RequestContext<'_> {
    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.turn.request_place().source
    }

    /// The response of a refusal.
    pub(crate) fn refuse(&self, refused: Refused) -> Response<OutgoingBody> {
        let traceparent = self.asked.traceparent.as_ref();
        self.whole(refusal::respond(&self.shared.engine, refused, traceparent))
    }

    /// A response with a whole body; HEAD gets only its length.
    pub(crate) fn whole(&self, response: Response<Bytes>) -> Response<OutgoingBody> {
        refusal::to(&self.asked.method, response).map(OutgoingBody::from)
    }
}

/// Takes the room of a response until it is sent, and ends the response with its key. Without room the request is refused, unless
/// the response reports a write.
pub(crate) fn held_until_sent(
    context: RequestContext<'_>,
    handled: &mut HandledRequest<'_>,
    response: Response<OutgoingBody>,
) -> Response<OutgoingBody> {
    let shared = context.shared;
    let operation = handled.operation;
    let bytes = match response.body().len() {
        // All requests for one of those share its bytes.
        Some(_) if operation.is_static() => 0,
        Some(bytes) => bytes,
        None => 0,
    };
    let share = match handled.share.take().map(|share| *share) {
        None if bytes > 0 => {
            let source = &context.source().responses;
            let taken = shared
                .responses
                .try_take(source, operation.is_operators(), bytes);
            match taken {
                Err(NoRoom) if operation.is_read() => {
                    note_unread(context);
                    let mut refused = context.refuse(refusal::UNREAD);
                    refusal::close_as(&mut refused, &response);
                    return refused;
                }
                taken => taken.unwrap_or_default(),
            }
        }
        // The room was taken before the length was known; a response in chunks keeps it.
        taken if response.body().len().is_none() => taken,
        taken => taken.and_then(|share| share.shrunk(bytes)),
    };
    let is_short = share.is_none() && response.body().len().is_some();
    // A stream of events ends by itself with its key, with its last chunk.
    let ends_itself = is_short || response.body().is_events();
    let key = handled.key.filter(|_| !ends_itself);
    let keyed = key.map(|key| shared.keyed_responses.begin(key, context.progress));
    if share.is_none() && keyed.is_none() {
        return response;
    }
    response.map(|body| body.holding(ResponseGuards::new(share, keyed)))
}

/// Takes the room of a response that reports a write, before the write, because the response must not be lost.
pub(crate) fn make_room_for_report(
    context: RequestContext<'_>,
    handled: &mut HandledRequest<'_>,
    exchange: &Exchange,
) -> Result<(), NoRoom> {
    if !handled.operation.is_reported() || exchange.is_refused() {
        return Ok(());
    }
    let source = &context.source().responses;
    match context
        .shared
        .responses
        .try_take(source, true, REPORT_BYTES)
    {
        Ok(share) => handled.share = share.map(Box::new),
        // A part is written already.
        Err(NoRoom) if exchange.has_begun() => {}
        Err(NoRoom) => {
            note_unread(context);
            return Err(NoRoom);
        }
    }
    Ok(())
}

/// Counts and logs a response for which there was no room.
fn note_unread(context: RequestContext<'_>) {
    let source = context.source().network();
    context
        .shared
        .slots
        .record_refusal(RefusedConnection::Unread, source);
}
