//! The Stats area.

use crate::engine_core::Outcomes;
use crate::model::{RecordRef, Stream};
use crate::wire::{body, reply};

use super::{Call, Completion, Handled};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let mut record = RecordRef::empty(stream);
    body::record_body(call.body, &mut record)
        .inspect_err(|_| call.core.count_rejected(body::rejection(call.body), 1))?;
    let accepted = call.core.accept(&record);
    let claim = accepted.inspect_err(|error| call.core.count_unaccepted(error, 1))?;
    Ok(match claim {
        Some(claim) => Completion::from_outcome(Outcomes::one(claim), |core, outcome| {
            outcome.inspect_err(|error| core.count_unaccepted(error, 1))?;
            Ok(reply::empty())
        }),
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
