//! The Stats area.

use crate::model::Stream;
use crate::mutation::Mutation;
use crate::wire::{body, reply};

use super::{Call, Handled, Step, Then};

pub(super) fn post(call: &Call<'_>, stream: Stream) -> Handled {
    let record = body::record_body(call.body, stream)?;
    Ok(Step::Write(
        vec![Mutation::Telemetry(vec![record])],
        Then::Empty,
    ))
}

pub(super) fn queue_count(call: &Call<'_>) -> Step {
    Step::Done(reply::ok(
        reply::JSON,
        reply::count(call.machine.store.queued()),
    ))
}
