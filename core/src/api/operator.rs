//! The operator surface.

use crate::error::EngineError;
use crate::limits::BULK_UPSERT_CHUNK;
use crate::model::Stream;
use crate::mutation::Mutation;
use crate::store::telemetry::queue::Wanted;
use crate::view::history::{self as views, HistoryQuery};
use crate::view::workspaces::{self, Listing, Matcher, WorkspaceFilter};
use crate::wire::list::ListBody;
use crate::wire::reply;
use crate::wire::{accept, body};

use super::information::{page, page_limit};
use super::upload::BatchLines;
use super::{Call, Handled, Step, Then, chunks};

pub(super) fn list_workspaces(call: &Call<'_>) -> Handled {
    let text = |name| call.query.text(name).filter(|text| !text.is_empty());
    let filter = WorkspaceFilter {
        state: text("state"),
        username: text("username"),
        region: text("region"),
        directory_id: text("directoryId"),
        running_mode: text("runningMode"),
        compute_type_name: text("computeTypeName"),
        q: text("q"),
    };
    let listing = Listing::Filtered(Box::new(Matcher::new(&filter)));
    page(call, listing, reply::JSON)
}

pub(super) fn put_workspaces(call: &Call<'_>) -> Handled {
    let (mut workspaces, errors) = body::workspace_lines(call.body, accept::is_json(call.headers))?;
    let count = workspaces.len() as u64;
    let mut mutations = Vec::new();
    while !workspaces.is_empty() {
        let rest = workspaces.split_off(workspaces.len().min(BULK_UPSERT_CHUNK));
        mutations.push(Mutation::PutWorkspaces(std::mem::replace(
            &mut workspaces,
            rest,
        )));
    }
    let then = Then::Lines {
        done: "upserted",
        count,
        errors,
    };
    Ok(Step::write(call.core, mutations, then))
}

pub(super) fn get_workspace(call: &Call<'_>) -> Handled {
    let view = workspaces::one(&call.core.reader()?, call.segment())?
        .ok_or_else(EngineError::no_workspace)?;
    Ok(Step::Done(reply::ok(reply::JSON, reply::view(&view))))
}

pub(super) fn put_workspace(call: &Call<'_>) -> Handled {
    let workspace = body::workspace_body(call.body, Some(call.segment()))?;
    Ok(Step::write(
        call.core,
        vec![Mutation::PutWorkspace(Box::new(workspace))],
        Then::Workspace,
    ))
}

pub(super) fn place_hold(call: &Call<'_>) -> Handled {
    let (matter, reason) = body::hold_body(call.body)?;
    let mutation = Mutation::PlaceHold {
        id: call.segment().to_owned(),
        matter,
        reason,
        by: call.caller(),
    };
    Ok(Step::write(call.core, vec![mutation], Then::Workspace))
}

pub(super) fn release_hold(call: &Call<'_>) -> Step {
    let mutation = Mutation::ReleaseHold {
        id: call.segment().to_owned(),
        by: call.caller(),
    };
    Step::write(call.core, vec![mutation], Then::Workspace)
}

pub(super) fn post_batch(call: &Call<'_>) -> Handled {
    let mut lines = BatchLines::new(&call.core.config.limits);
    lines.push(call.core, call.body);
    lines.finish(call.core)
}

pub(super) fn history(call: &Call<'_>, stream: Stream) -> Handled {
    let instance_id = call
        .query
        .text("instanceId")
        .ok_or_else(|| EngineError::invalid("instanceId", "The instanceId field is required."))?;
    let query = HistoryQuery {
        stream,
        instance_id,
        from: call.query.time("from")?,
        to: call.query.time("to")?,
        limit: u32::try_from(page_limit(call)?).unwrap_or(1),
        next_token: call.query.text("nextToken"),
    };
    let wanted = Wanted::Instance(stream, &query.instance_id);
    let page = views::page(&call.core.telemetry_reader(wanted)?, &query)?;
    Ok(Step::Done(reply::ok(reply::JSON, reply::history(&page))))
}

pub(super) fn list_actions(call: &Call<'_>) -> Handled {
    if let Some(state) = call
        .query
        .get("state")
        .filter(|state| !state.eq_ignore_ascii_case("pending"))
    {
        let said = format!("The value '{state}' is not valid.");
        return Err(EngineError::invalid("state", said).into());
    }
    let running = chunks::RunningActions::new(call.core);
    let body = ListBody::array(r#"{"actions":["#);
    chunks::respond(call.core, reply::JSON, body, running)
}

pub(super) fn complete_action(call: &Call<'_>) -> Handled {
    Ok(Step::write(
        call.core,
        vec![Mutation::CompleteAction(call.number()?)],
        Then::Empty,
    ))
}

pub(super) fn fail_action(call: &Call<'_>) -> Handled {
    let (state, detail) = body::failure_body(call.body)?;
    let id = call.number()?;
    Ok(Step::write(
        call.core,
        vec![Mutation::FailAction { id, state, detail }],
        Then::Empty,
    ))
}

pub(super) fn list_keys(call: &Call<'_>) -> Handled {
    let keys = chunks::Keys::default();
    let body = ListBody::array(r#"{"keys":["#);
    chunks::respond(call.core, reply::JSON, body, keys)
}

pub(super) fn issue_key(call: &Call<'_>) -> Handled {
    let key = body::key_body(call.body)?;
    let (secret, hash) = call.core.new_secret()?;
    let mutation = Mutation::IssueKey {
        key,
        hash,
        by: call.caller(),
    };
    Ok(Step::write(
        call.core,
        vec![mutation],
        Then::IssuedKey(secret),
    ))
}

pub(super) fn revoke_key(call: &Call<'_>) -> Handled {
    let mutation = Mutation::RevokeKey {
        id: call.number()?,
        by: call.caller(),
    };
    Ok(Step::write(call.core, vec![mutation], Then::Empty))
}
