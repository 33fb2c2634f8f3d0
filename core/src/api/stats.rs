//! The Stats area.

use crate::engine_core::Outcomes;
use crate::model::{RecordRef, Stream};
use crate::wire::{body, reply};

use super::{Call, Completion, Handled};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let mut record = RecordRef::empty(stream);
    body::record_body(call.body, &mut record)?;
    Ok(match call.core.accept(&record)? {
        Some(ticket) => Completion::after(Outcomes::one(ticket), || Ok(reply::empty())),
        None => Completion::Response(reply::empty()),
    })
}

pub(super) fn test(_: &Call<'_>) -> Handled {
    Ok(Completion::Response(reply::empty()))
}

pub(super) fn queue_count(call: &Call<'_>) -> Handled {
    let count = reply::count(call.core.queued());
    Ok(Completion::Response(reply::ok(reply::JSON, count)))
}
