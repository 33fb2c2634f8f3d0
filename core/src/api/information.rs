//! The Information area.

use crate::engine_core::EngineCore;
use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{ADMIN_ACTIVITIES_DEFAULT, ADMIN_ACTIVITIES_MAX};
use crate::model::{AuditEntry, user_key};
use crate::mutation::RemoveWorkspace;
use crate::store::fleet::workspaces::EntryRef;
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;
use crate::view::audit::AuditRows;
use crate::view::pages::PageEnd;
use crate::view::user::{self, UserView};
use crate::view::workspaces::{Listing, Workspaces};
use crate::wire::accept;
use crate::wire::json::Json;
use crate::wire::list::ListBody;
use crate::wire::reply;

use super::chunks::{self, Items, Page, reader_at};
use super::{Call, Handled};

pub(super) fn get_user_information(call: &Call<'_>) -> Handled {
    let username = call.query.get("username").unwrap_or_default();
    let reader = call
        .core
        .telemetry_reader(Wanted::User(&user_key(&username)))?;
    let view = user::without_workspaces(&reader, &username)?
        .ok_or_else(|| EngineError::new(ErrorKind::UserNotFound, "No such user."))?;
    let workspaces = UserWorkspaces::new(reader.now, &username, &view);
    let body = ListBody::page_after(reply::user_start(&view));
    call.list(reply::JSON, body, Box::new(workspaces))
}

pub(super) fn get_24_hour_activity(call: &Call<'_>) -> Handled {
    let activities = chunks::Activities::new(call.core);
    let body = ListBody::array("[");
    call.list(reply::JSON, body, Box::new(activities))
}

pub(super) fn get_admin_activity(call: &Call<'_>) -> Handled {
    let asked = call
        .query
        .int32("numberOfActivities")?
        .unwrap_or(ADMIN_ACTIVITIES_DEFAULT);
    let count = usize::try_from(asked.clamp(0, ADMIN_ACTIVITIES_MAX)).unwrap_or(0);
    let rows = AuditRows::newest(count);
    let item = |json: &mut Json, row: AuditEntry| json.value(&row);
    let rows = Page::new(call.core, rows, item, chunks::array_end);
    call.list(reply::JSON, ListBody::array("["), Box::new(rows))
}

pub(super) fn remove_work_space_db_entry(call: &Call<'_>) -> Handled {
    let id = call.query.text("workSpaceId");
    let by = call.caller();
    let removed = id.clone().unwrap_or_default();
    Ok(call.write(RemoveWorkspace { id, by }, move |()| {
        reply::ok(reply::JSON, reply::removed(&removed))
    }))
}

pub(super) fn get_all_work_spaces(call: &Call<'_>) -> Handled {
    page(call, Listing::All, accept::negotiated(call.headers))
}

pub(super) fn get_work_spaces_on_litigation_hold(call: &Call<'_>) -> Handled {
    page(call, Listing::OnHold, accept::negotiated(call.headers))
}

/// One page of a list, by `limit` and `nextToken`.
pub(super) fn page(call: &Call<'_>, listing: Listing, content_type: http::HeaderValue) -> Handled {
    let limit = call.query.limit()?;
    let token = call.query.get("nextToken");
    let list = Workspaces::page(listing, limit, token.as_deref())?;
    let page = WorkspacesPage {
        list,
        now: call.core.now(),
    };
    let body = ListBody::page(r#"{"workSpaces":["#);
    call.list(content_type, body, Box::new(page))
}

/// A page of workspaces.
#[derive(Debug)]
struct WorkspacesPage {
    list: Workspaces,
    now: Timestamp,
}

impl Items for WorkspacesPage {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let reader = reader_at(core, self.now)?;
        let mut show = |entry: &EntryRef<'_>| body.item(|json| reply::workspace_item(json, entry));
        let end = self.list.step(&reader, &mut show)?;
        if end == PageEnd::Stopped {
            return Ok(true);
        }
        body.write_end(|json| reply::page_end(json, end.token().as_deref(), self.now));
        Ok(false)
    }
}

/// `GetUserInformation`: the workspaces, and the members after them.
#[derive(Debug)]
struct UserWorkspaces {
    list: Workspaces,
    held: bool,
    end: Vec<u8>,
    now: Timestamp,
}

impl UserWorkspaces {
    fn new(now: Timestamp, username: &str, view: &UserView) -> Self {
        Self {
            list: Workspaces::all(Listing::of_user(username), None),
            held: false,
            end: reply::user_end(view),
            now,
        }
    }
}

impl Items for UserWorkspaces {
    fn write(&mut self, core: &EngineCore, body: &mut ListBody) -> Result<bool> {
        let reader = reader_at(core, self.now)?;
        let mut show = |entry: &EntryRef<'_>| {
            self.held |= entry.held;
            body.item(|json| reply::workspace_item(json, entry))
        };
        if self.list.step(&reader, &mut show)? == PageEnd::Stopped {
            return Ok(true);
        }
        body.write_end(|json| {
            json.raw(br#"],"litigationHold":"#);
            json.value(&self.held);
            json.raw(&self.end);
        });
        Ok(false)
    }
}
