//! The Stats area.

use crate::model::Stream;
use crate::wire::{body, reply};

use super::{Call, Handled, Step, Then, Tickets};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let accepted = body::record_body(call.body, stream, |record| call.machine.accept(record))?;
    Ok(Step::Wait(Tickets::one(accepted?), Then::Empty))
}

pub(super) fn queue_count(call: &Call<'_>) -> Step {
    Step::Done(reply::ok(
        reply::JSON,
        reply::count(call.machine.store.queued()),
    ))
}
