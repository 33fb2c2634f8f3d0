//! The operator surface.

use bytes::Bytes;
use http::Response;

use crate::domain::validation;
use crate::engine_core::Outcomes;
use crate::error::EngineError;
use crate::model::{
    AuditAction, AuditEntry, AuditResult, IssuedKey, Stream, TelemetrySelection, WorkspaceView,
};
use crate::mutation::{IssueKey, PlaceHold, PutWorkspace, ReleaseHold, RevokeKey};
use crate::store::telemetry::queue::Wanted;
use crate::view::audit::{AuditQuery, AuditRows};
use crate::view::history::{self as views, HistoryQuery};
use crate::view::workspaces::{self, Listing, Matcher};
use crate::wire::body;
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::batch::{BatchReader, bare_stream};
use super::chunks::Page;
use super::import::Import;
use super::information::page;
use super::{Call, Completion, Handled, chunks};

pub(super) fn list_workspaces(call: &Call<'_>) -> Handled {
    let listing = Listing::Filtered(Box::new(Matcher::new(&call.query.filter_of_values()?)));
    page(call, listing, reply::JSON)
}

pub(super) fn import_workspaces(call: &Call<'_>) -> Handled {
    let mut import = Import::of_body(call.core, call.headers, call.query, call.caller());
    import.push(call.body);
    Ok(Completion::import(import.finish(call.core)?))
}

fn workspace_response(view: &WorkspaceView) -> Response<Bytes> {
    reply::ok(reply::JSON, reply::view(view))
}

pub(super) fn get_workspace(call: &Call<'_>) -> Handled {
    let view = workspaces::one(&call.core.reader()?, call.segment())?
        .ok_or_else(EngineError::no_workspace)?;
    Ok(Completion::Response(workspace_response(&view)))
}

pub(super) fn put_workspace(call: &Call<'_>) -> Handled {
    let put = PutWorkspace {
        workspace: body::workspace_body(call.body, call.segment())?,
        cancels_action: call.query.flag("override")?,
        by: call.caller(),
    };
    Ok(call.write(put, |view| workspace_response(&view)))
}

pub(super) fn place_hold(call: &Call<'_>) -> Handled {
    let (matter, reason) = body::hold_body(call.body)?;
    let place = PlaceHold {
        id: call.segment().to_owned(),
        matter,
        reason,
        by: call.caller(),
    };
    Ok(call.write(place, |view| workspace_response(&view)))
}

pub(super) fn release_hold(call: &Call<'_>) -> Handled {
    let (id, by) = (call.segment().to_owned(), call.caller());
    Ok(call.write(ReleaseHold { id, by }, |view| workspace_response(&view)))
}

pub(super) fn post_batch(call: &Call<'_>) -> Handled {
    let mut batch = BatchReader::new(&call.core.config.limits, bare_stream(call.query)?);
    batch.push(call.core, call.body);
    batch.finish(call.core)
}

pub(super) fn remove_telemetry(call: &Call<'_>) -> Handled {
    let query = call.query;
    let selection = TelemetrySelection {
        instance_id: query.text("instance"),
        stream: query.one_of("stream", &Stream::ALL, Stream::name)?,
        before: query.moment_of_removal("before", call.core.now())?,
    };
    validation::selection(&selection).map_err(EngineError::from)?;
    let removed = call.core.remove_telemetry(&selection, call.caller());
    // The removal writes its own row, also if it is refused.
    let respond = move || Ok(reply::ok(reply::JSON, reply::view(&removed?)));
    Ok(Completion::after(Outcomes::all(Vec::new()), respond))
}

pub(super) fn history(call: &Call<'_>, stream: Stream) -> Handled {
    let instance_id = call
        .query
        .get_or_empty("instanceId")
        .ok_or_else(|| EngineError::invalid("instanceId", "The instanceId field is required."))?;
    let query = HistoryQuery {
        stream,
        instance_id: instance_id.into_owned(),
        from: call.query.time("from")?,
        to: call.query.time("to")?,
        limit: call.query.limit()?,
        next_token: call.query.text("nextToken"),
    };
    let wanted = Wanted::Instance(stream, &query.instance_id);
    let page = views::page(&call.core.telemetry_reader(wanted)?, &query)?;
    Ok(Completion::Response(reply::ok(
        reply::JSON,
        reply::history(&page),
    )))
}

pub(super) fn list_audit(call: &Call<'_>) -> Handled {
    let query = call.query;
    let wanted = AuditQuery {
        from: query.time("from")?,
        to: query.time("to")?,
        workspace_id: query.text("workSpaceId"),
        requester: query.text("requester"),
        action: query.one_of("action", &AuditAction::ALL, AuditAction::as_str)?,
        result: query.one_of("result", &AuditResult::ALL, AuditResult::as_str)?,
        batch_id: query.number("batchId")?,
        limit: query.limit()?,
        next_token: query.text("nextToken"),
    };
    let item = |json: &mut Json, row: AuditEntry| reply::audit_item(json, &row);
    let rows = Page::new(call.core, AuditRows::page(wanted)?, item, reply::page_end);
    let body = ListBody::page(r#"{"activities":["#);
    call.list(reply::JSON, body, Box::new(rows))
}

pub(super) fn store(call: &Call<'_>) -> Handled {
    let status = reply::view(&call.core.store_status()?);
    Ok(Completion::Response(reply::ok(reply::JSON, status)))
}

pub(super) fn list_keys(call: &Call<'_>) -> Handled {
    let body = ListBody::array(r#"{"keys":["#);
    call.list(reply::JSON, body, Box::new(chunks::Keys::default()))
}

pub(super) fn issue_key(call: &Call<'_>) -> Handled {
    let key = body::key_body(call.body, call.core.now())?;
    let (secret, hash) = call.core.new_secret()?;
    let by = call.caller();
    Ok(call.write(IssueKey { key, hash, by }, |info| {
        reply::created(reply::view(&IssuedKey { info, secret }))
    }))
}

pub(super) fn revoke_key(call: &Call<'_>) -> Handled {
    let (id, by) = (call.number()?, call.caller());
    let force = call.query.flag("force")?;
    Ok(call.write(RevokeKey { id, force, by }, |()| reply::empty()))
}
