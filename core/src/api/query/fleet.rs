//! `GET /query/fleet`

use crate::api::{Call, Completion, Handled};
use crate::wire::reply;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let summary = call.core.question_of_fleet()?;
    Ok(Completion::Response(reply::ok(
        reply::JSON,
        reply::view(&summary),
    )))
}
