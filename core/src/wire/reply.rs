//! Response bodies, and the only functions that build responses.

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::error::Result;
use crate::model::{AuditEntry, FieldValue, Received, Record, Workspace};
use crate::store::fleet::workspaces::EntryRef;
use crate::timestamp::Timestamp;
use crate::view::activity::ActivityRef;
use crate::view::history::HistoryPage;
use crate::view::user::UserView;

use super::body::{LineErrors, LineWarnings};
use super::json::{Json, Object};
use super::problem::{Code, Problem};

/// `application/json`
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json; charset=utf-8");
// Constants, so that they are checked at compile time and not per response.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// 200 with no content.
pub(crate) fn empty() -> Response<Bytes> {
    Response::new(Bytes::new())
}

/// 200 with a body.
pub(crate) fn ok(content_type: HeaderValue, body: Vec<u8>) -> Response<Bytes> {
    with_body(StatusCode::OK, content_type, body)
}

/// 201 with a body.
pub(crate) fn created(body: Vec<u8>) -> Response<Bytes> {
    with_body(StatusCode::CREATED, JSON, body)
}

/// The response of a failure.
pub(crate) fn problem(problem: &Problem, trace_id: &str) -> Response<Bytes> {
    let status =
        StatusCode::from_u16(problem.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = with_body(status, PROBLEM, problem.body(trace_id));
    let headers = response.headers_mut();
    if let Some(allow) = problem
        .allow
        .as_deref()
        .and_then(|allow| HeaderValue::from_str(allow).ok())
    {
        headers.insert(ALLOW, allow);
    }
    if let Some(seconds) = problem.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(codings) = problem.accept_encoding {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(codings));
    }
    if problem.code == Code::InvalidApiKey {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The response to HEAD: that to GET without its body, but with its length.
pub(crate) fn head(mut response: Response<Bytes>) -> Response<Bytes> {
    let length = std::mem::take(response.body_mut()).len();
    response
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

fn with_body(status: StatusCode, content_type: HeaderValue, body: Vec<u8>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    response
}

fn object(members: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut json = Json::with_capacity(256);
    json.object(members);
    json.finish()
}

/// Writes what follows the last item of a page.
pub(crate) fn page_end(json: &mut Json, next_token: Option<&str>, _: Timestamp) {
    json.raw(br#"],"nextToken":"#);
    json.value(&next_token);
    json.raw(br#","hasMore":"#);
    json.value(&next_token.is_some());
    json.raw(b"}");
}

/// Writes what follows the last row of a page of rows.
pub(crate) fn rows_end(json: &mut Json, next_token: Option<&str>, at: Timestamp) {
    json.raw(br#"],"nextToken":"#);
    json.value(&next_token);
    json.raw(br#","hasMore":"#);
    json.value(&next_token.is_some());
    json.raw(br#","at":"#);
    json.time(at);
    json.raw(br#","warnings":[]}"#);
}

/// Writes a workspace of a list.
pub(crate) fn workspace_item(json: &mut Json, entry: &EntryRef<'_>) {
    let write = if entry.plain {
        Json::plain_text
    } else {
        Json::text
    };
    workspace(json, entry.values, write);
}

/// Every member is written, null ones too.
fn workspace(
    json: &mut Json,
    values: [Option<&str>; Workspace::FIELDS.len()],
    write: impl Fn(&mut Json, &str),
) {
    /// The names as written, each with the comma or brace before it.
    const NAMES: [&[u8]; Workspace::FIELDS.len()] = [
        br#"{"workSpId":"#,
        br#","computerName":"#,
        br#","account":"#,
        br#","region":"#,
        br#","directoryId":"#,
        br#","runningMode":"#,
        br#","computeTypeName":"#,
        br#","protocol":"#,
        br#","username":"#,
        br#","state":"#,
    ];
    for (name, value) in NAMES.into_iter().zip(values) {
        json.raw(name);
        json.option(value, &write);
    }
    json.raw(b"}");
}

/// `GetUserInformation`, up to its workspaces.
pub(crate) fn user_start(view: &UserView) -> Json {
    let mut json = Json::default();
    json.raw(br#"{"username":"#);
    json.text(&view.username);
    json.raw(br#","workSpaces":["#);
    json
}

/// What follows the workspaces and whether one of them is held.
pub(crate) fn user_end(view: &UserView) -> Vec<u8> {
    let mut members = object(|object| {
        let activity = view.last_activity.as_ref();
        let named = activity.and_then(|received| match &received.record {
            Record::Activity(record) => record.activity.value(),
            Record::Stats(_) | Record::Startup(_) | Record::Processes(_) => None,
        });
        object.value("lastActivity", &named);
        let filed_at = activity.map(|received| received.filed_at);
        object.value("lastActivityTime", &filed_at);
        object.value("lastSeen", &view.last_seen);
        object.member("lastStats", |json| posted(json, view.last_stats.as_ref()));
        object.member("lastStartup", |json| {
            posted(json, view.last_startup.as_ref());
        });
    });
    // They go on an object.
    if let Some(brace) = members.first_mut() {
        *brace = b',';
    }
    members
}

/// A record as posted, or null.
fn posted(json: &mut Json, received: Option<&Received>) {
    json.option(received, |json, received| {
        json.object(|object| object.fields(received.record.fields()));
    });
}

/// An item of `Get24HourActivity`.
pub(crate) fn activity(json: &mut Json, view: &ActivityRef<'_>) -> Result<()> {
    let mut written = Ok(());
    json.object(|object| {
        let mut sent = false;
        written = view.record.fields(|_, spec, value| {
            sent |= matches!(value, FieldValue::Time(_));
            object.field(spec, &value);
            Ok(())
        });
        if !sent {
            object.time("activityTime", view.record.filed_at);
        }
        if let Some(id) = view.workspace_id {
            object.text("workSpId", id);
        }
        if let Some(name) = view.computer_name {
            object.text("computerName", name);
        }
    });
    written
}

/// A row of a page of the audit.
pub(crate) fn audit_item(json: &mut Json, row: &AuditEntry) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Item<'a> {
        #[serde(flatten)]
        row: &'a AuditEntry,
        api_key_id: Option<u64>,
    }
    let api_key_id = row.api_key_id;
    json.value(&Item { row, api_key_id });
}

/// `RemoveWorkSpaceDbEntry`
pub(crate) fn removed(id: &str) -> Vec<u8> {
    object(|object| {
        object.text("workSpaceId", id);
        object.value("removed", &true);
    })
}

/// `queue/count`
pub(crate) fn count(count: u64) -> Vec<u8> {
    count.to_string().into_bytes()
}

/// One page of a history.
pub(crate) fn history(page: &HistoryPage) -> Vec<u8> {
    object(|object| {
        object.member("records", |json| {
            json.array(&page.records, |json, received| {
                json.object(|object| {
                    object.fields(received.record.fields());
                    object.time("receivedAt", received.received_at);
                });
            });
        });
        object.value("nextToken", &page.next_token);
        object.value("hasMore", &page.next_token.is_some());
    })
}

/// The JSON of a view.
pub(crate) fn view(view: &impl Serialize) -> Vec<u8> {
    let mut json = Json::with_capacity(256);
    json.value(view);
    json.finish()
}

/// The result of a telemetry batch: the number of accepted records, the errors of the others, and warnings.
pub(crate) fn accepted(count: u64, errors: &LineErrors, warnings: &LineWarnings) -> Vec<u8> {
    object(|object| {
        object.value("accepted", &count);
        object.value("rejected", &errors.count());
        object.value("errors", errors.first());
        object.value("warnings", warnings.all());
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_without_values_has_the_names_of_the_model() {
        let mut json = Json::default();
        workspace(&mut json, [None; Workspace::FIELDS.len()], Json::text);
        let expected: Vec<String> = Workspace::FIELDS
            .iter()
            .map(|name| format!("\"{name}\":null"))
            .collect();
        assert_eq!(
            String::from_utf8(json.finish()).unwrap(),
            format!("{{{}}}", expected.join(","))
        );
    }
}
