//! The Stats area.

use crate::engine_core::Outcomes;
use crate::error::ErrorKind;
use crate::model::{RecordRef, Rejection, Stream};
use crate::wire::{body, reply};

use super::{Call, Completion, Handled};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let mut record = RecordRef::empty(stream);
    body::record_body(call.body, &mut record)
        .inspect_err(|_| call.core.count_rejected(body::rejection(call.body), 1))?;
    let claim = call.core.accept(&record).inspect_err(|error| {
        if error.kind() == ErrorKind::QueueFull {
            call.core.count_rejected(Rejection::QueueFull, 1);
        }
    })?;
    Ok(match claim {
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
