//! The outbox, for a provider that makes actions happen.

use crate::model::{ActionState, PendingAction};
use crate::mutation::{
    CompleteAction, DispatchAction, FailAction, NoteAction, StartActionBatch, StopActionBatch,
};
use crate::view::actions::{ActionQuery, Actions, batch_of, batches};
use crate::wire::body;
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::chunks::Page;
use super::{Call, Completion, Handled};

pub(super) fn list(call: &Call<'_>) -> Handled {
    let query = call.query;
    let state = query.one_of("state", &ActionState::ALL, ActionState::as_str)?;
    let wanted = ActionQuery {
        state: state.unwrap_or_default(),
        workspace_id: query.text("workSpaceId"),
        limit: query.limit()?,
        next_token: query.text("nextToken"),
    };
    let item = |json: &mut Json, action: PendingAction| json.value(&action);
    let actions = Page::new(call.core, Actions::page(&wanted)?, item, reply::page_end).durable();
    let body = ListBody::page(r#"{"actions":["#);
    call.list(reply::JSON, body, Box::new(actions))
}

pub(super) fn dispatch(call: &Call<'_>) -> Handled {
    let attempt = body::dispatch_body(call.body)?;
    let id = call.number()?;
    let dispatch = DispatchAction { id, attempt };
    Ok(call.write(dispatch, |action| {
        reply::ok(reply::JSON, reply::view(&action))
    }))
}

pub(super) fn note_action(call: &Call<'_>) -> Handled {
    let (attempt, note) = body::note_body(call.body)?;
    let id = call.number()?;
    let note = NoteAction { id, attempt, note };
    Ok(call.write(note, |()| reply::empty()))
}

pub(super) fn complete(call: &Call<'_>) -> Handled {
    let id = call.number()?;
    Ok(call.write(CompleteAction(id), |()| reply::empty()))
}

pub(super) fn fail(call: &Call<'_>) -> Handled {
    let (state, detail) = body::failure_body(call.body)?;
    let id = call.number()?;
    Ok(call.write(FailAction { id, state, detail }, |()| reply::empty()))
}

pub(super) fn start_batch(call: &Call<'_>) -> Handled {
    let request = body::batch_body(call.body)?;
    let by = call.caller();
    Ok(call.write(StartActionBatch { request, by }, |batch| {
        reply::ok(reply::JSON, reply::view(&batch))
    }))
}

pub(super) fn list_batches(call: &Call<'_>) -> Handled {
    let batches = batches(&call.core.reader()?)?;
    let mut json = Json::with_capacity(256);
    json.object(|body| body.value("batches", &batches));
    Ok(Completion::Response(reply::ok(reply::JSON, json.finish())))
}

pub(super) fn batch(call: &Call<'_>) -> Handled {
    let batch = batch_of(&call.core.reader()?, call.number()?)?;
    let body = reply::view(&batch);
    Ok(Completion::Response(reply::ok(reply::JSON, body)))
}

pub(super) fn stop_batch(call: &Call<'_>) -> Handled {
    let (id, by) = (call.number()?, call.caller());
    Ok(call.write(StopActionBatch { id, by }, |batch| {
        reply::ok(reply::JSON, reply::view(&batch))
    }))
}
