//! One operation object for each row of the route table, and one for each page.

use deskfleet::Config;
use deskfleet::limits::WORKSPACE_ID_MAX;
use deskfleet::routes::{Access, Answer, Param, ParamKind, RequestBody, Route};
use serde_json::{Map, Value, json};

use super::{problems, schemas};
use crate::failed_keys::needs_key;
use crate::page::Page;

/// The operation object of a route.
pub(super) fn operation(route: &Route, config: &Config) -> Value {
    let mut operation = Map::new();
    let mut put = |name: &str, value: Value| operation.insert(name.to_owned(), value);
    put("operationId", json!(route.operation_id));
    put("tags", json!([tag(route.path)]));
    put("parameters", json!(parameters(route)));
    if let Some(body) = request_body(route.body) {
        put("requestBody", body);
    }
    put("responses", responses(route, config));
    put("security", security(route.access, config));
    if let Access::Key(scope) = route.access {
        put(
            "description",
            json!(format!("Needs a key with scope {}.", scope.as_str())),
        );
    }
    Value::Object(operation)
}

/// The operation object of a page.
pub(super) fn page(page: Page) -> Value {
    let (media, schema, description) = match page {
        Page::Livez => (
            "text/plain",
            json!({"type": "string"}),
            "The process answers.",
        ),
        Page::Readyz => (
            "text/plain",
            json!({"type": "string"}),
            "The store can be read.",
        ),
        Page::Metrics => (
            "text/plain",
            json!({"type": "string"}),
            "Prometheus exposition format.",
        ),
        Page::OpenApi => (
            "application/json",
            json!({"type": "object"}),
            "This document.",
        ),
        Page::Index => (
            "application/json",
            json!({"type": "object"}),
            "What runs here, and where to look; HTML where it is accepted.",
        ),
        Page::Icon => ("image/svg+xml", json!({"type": "string"}), "An icon."),
    };
    let mut responses = json!({
        "200": {"description": description, "content": {media: {"schema": schema}}},
    });
    if page == Page::Readyz
        && let Some(responses) = responses.as_object_mut()
    {
        let unready = json!({"description": "The store cannot be read.", "content": {media: {"schema": schema}}});
        responses.insert("503".to_owned(), unready);
    }
    json!({
        "operationId": page.name(),
        "tags": ["service"],
        "responses": responses,
        "security": [],
    })
}

/// The area a path belongs to.
fn tag(path: &str) -> &'static str {
    if path.starts_with("/api/Information/") {
        "information"
    } else if path.starts_with("/api/Actions/") {
        "actions"
    } else if path.starts_with("/api/Stats/") {
        "stats"
    } else {
        "operator"
    }
}

/// Any one of the three ways to send the key, or none at all.
fn security(access: Access, config: &Config) -> Value {
    if needs_key(access, config) {
        json!([{"apiKeyHeader": []}, {"bearer": []}, {"apiKey": []}])
    } else {
        json!([])
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let mut parameters: Vec<Value> = path_names(route.path).map(path_parameter).collect();
    let documented = route.path.starts_with("/api/");
    if documented && matches!(route.access, Access::Key(_)) {
        parameters.push(json!({
            "name": "apiKey",
            "in": "query",
            "description": "The caller's key, where it is not sent as a header.",
            "schema": {"type": "string"},
        }));
    }
    parameters.extend(route.query.iter().map(query_parameter));
    if route.body != RequestBody::None {
        parameters.push(json!({
            "name": "Content-Encoding",
            "in": "header",
            "description": "The body may be compressed; the limit is that of the decoded body, and the sent one may not be larger either.",
            "schema": {"type": "string", "enum": ["gzip", "identity"], "default": "identity"},
        }));
    }
    parameters
}

/// The names in braces, in order.
fn path_names(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn path_parameter(name: &str) -> Value {
    let schema = if name == "id" {
        json!({"type": "integer", "format": "int64", "minimum": 0})
    } else {
        json!({"type": "string", "minLength": 1, "maxLength": WORKSPACE_ID_MAX})
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

fn query_parameter(param: &Param) -> Value {
    let schema = match param.kind {
        ParamKind::Text => json!({"type": "string"}),
        ParamKind::Time => json!({"type": "string", "format": "date-time"}),
        ParamKind::Flag => json!({"type": "boolean", "default": false}),
        ParamKind::Int32 { min, max, default } => {
            let mut schema = json!({"type": "integer", "format": "int32", "default": default});
            if let Some(schema) = schema.as_object_mut() {
                // The bounds of the type itself are no constraint.
                if min != i32::MIN {
                    schema.insert("minimum".to_owned(), json!(min));
                }
                if max != i32::MAX {
                    schema.insert("maximum".to_owned(), json!(max));
                }
            }
            schema
        }
    };
    json!({"name": param.name, "in": "query", "required": param.required, "schema": schema})
}

fn request_body(body: RequestBody) -> Option<Value> {
    let schema = match body {
        RequestBody::None => return None,
        RequestBody::Record(stream) => schemas::reference(schemas::record_name(stream)),
        RequestBody::Workspace => schemas::reference("WorkSpaceDetails"),
        RequestBody::Hold => schemas::reference("NewHold"),
        RequestBody::NewKey => schemas::reference("NewKey"),
        RequestBody::ActionFailure => schemas::reference("ActionFailure"),
        RequestBody::Batch => {
            return Some(
                json!({"required": true, "content": {"application/x-ndjson": lines("TelemetryLine")}}),
            );
        }
        RequestBody::Workspaces => {
            let array = json!({"type": "array", "items": schemas::reference("WorkSpaceDetails")});
            let document = json!({"oneOf": [array, schemas::reference("WorkSpaceApiResponse")]});
            let csv = "The first line names the fields; an empty cell leaves its field unchanged.";
            return Some(json!({"required": true, "content": {
                "application/json": {"schema": document},
                "application/x-ndjson": lines("WorkSpaceDetails"),
                "text/csv": {"schema": {"type": "string", "description": csv}},
            }}));
        }
    };
    let required = body != RequestBody::ActionFailure;
    Some(json!({"required": required, "content": {
        "application/json": {"schema": schema},
        "text/json": {"schema": schema},
        "application/*+json": {"schema": schema},
    }}))
}

/// A media type object for NDJSON: a text whose every line is of the schema.
fn lines(schema: &str) -> Value {
    json!({"schema": {
        "type": "string",
        "description": "One JSON object a line.",
        "contentMediaType": "application/json",
        "contentSchema": schemas::reference(schema),
    }})
}

fn responses(route: &Route, config: &Config) -> Value {
    let mut responses = Map::new();
    let (status, success) = success(route.answer);
    responses.insert(status.to_owned(), success);
    for (status, codes) in problems::by_status(route, config) {
        responses.insert(status.to_string(), problems::response(status, &codes));
    }
    Value::Object(responses)
}

fn success(answer: Answer) -> (&'static str, Value) {
    let schema = match answer {
        Answer::Empty => {
            return (
                "200",
                json!({"description": "Done, or accepted; no content."}),
            );
        }
        Answer::NegotiatedPage => {
            let media = json!({"schema": schemas::reference("WorkSpaceApiResponse")});
            let content =
                json!({"application/json": media, "text/json": media, "text/plain": media});
            return (
                "200",
                json!({"description": "One page.", "content": content}),
            );
        }
        Answer::Page => schemas::reference("WorkSpaceApiResponse"),
        Answer::User => schemas::reference("UserInformation"),
        Answer::Activities => schemas::array_of("ActivityEntry"),
        Answer::AuditRows => schemas::array_of("AdminActivity"),
        Answer::Removed => schemas::reference("Removed"),
        Answer::Count => json!({"type": "integer", "format": "int64", "minimum": 0}),
        Answer::Imported => schemas::reference("ImportReport"),
        Answer::Accepted => schemas::reference("Accepted"),
        Answer::History(stream) => schemas::reference(schemas::history_name(stream)),
        Answer::WorkspaceView => schemas::reference("WorkspaceView"),
        Answer::Actions => schemas::reference("Actions"),
        Answer::Audit => schemas::reference("AuditPage"),
        Answer::Keys => schemas::reference("Keys"),
        Answer::IssuedKey => schemas::reference("IssuedKey"),
    };
    let status = if answer == Answer::IssuedKey {
        "201"
    } else {
        "200"
    };
    let content = json!({"application/json": {"schema": schema}});
    (status, json!({"description": "Done.", "content": content}))
}
