//! `GET /query/key`

use crate::api::{Call, Completion, Handled};
use crate::model::RequestKey;
use crate::wire::problem::{Code, Problem};
use crate::wire::reply;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    // The route asks for a scope, so there is a key.
    let key = call.key.ok_or_else(|| Problem::new(Code::InvalidApiKey))?;
    let key = RequestKey::from(&key.info);
    Ok(Completion::Response(reply::ok(
        reply::JSON,
        reply::view(&key),
    )))
}
