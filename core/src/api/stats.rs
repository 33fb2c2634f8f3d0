//! The Stats area.

use crate::model::{RecordRef, Stream};
use crate::wire::{body, reply};

use super::{Call, Handled, Step, Then, Tickets};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let mut record = RecordRef::empty(stream);
    body::record_body(call.body, &mut record)?;
    Ok(match call.core.accept(&record)? {
        Some(ticket) => Step::Wait(Tickets::one(ticket), Then::Empty),
        None => Step::Done(reply::empty()),
    })
}

pub(super) fn queue_count(call: &Call<'_>) -> Step {
    Step::Done(reply::ok(reply::JSON, reply::count(call.core.queued())))
}
