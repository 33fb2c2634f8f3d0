//! The schemas. The posted records come from their own tables; those of responses are defined here.

use deskfleet::fields::{FieldKind, FieldSpec};
use deskfleet::limits::{
    LINE_ERRORS_MAX, PROCESS_ITEMS_MAX, TEXT_MAX, WORKSPACE_FIELD_MAX, WORKSPACE_ID_MAX,
};
use deskfleet::{Action, AuditAction, AuditResult, ProcessItem, Scope, Stream, Workspace};
use serde_json::{Map, Value, json};

/// A reference to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// An array of a schema of the document.
pub(super) fn array_of(name: &str) -> Value {
    json!({"type": "array", "items": reference(name)})
}

/// The schema of one stream's posted record.
pub(super) const fn record_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stats => "StatsRecord",
        Stream::Activity => "ActivityRecord",
        Stream::Startup => "StartupMetricsRecord",
        Stream::Processes => "ProcessReport",
    }
}

/// Every schema by name.
pub(super) fn all() -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut put = |name: &str, schema: Value| schemas.insert(name.to_owned(), schema);
    for stream in Stream::ALL {
        put(record_name(stream), record(stream.fields()));
        put(history_name(stream), history(stream));
    }
    put("ProcessItem", record(ProcessItem::FIELDS));
    put("TelemetryLine", telemetry_line());
    put("WorkSpaceDetails", workspace_details());
    put("Problem", problem());
    for (name, schema) in [information(), operator(), keys()].concat() {
        put(name, schema);
    }
    schemas
}

/// An object all of whose members are always written.
fn closed(members: &Value) -> Value {
    let names: Vec<&String> = members
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .collect();
    json!({"type": "object", "required": names, "properties": members})
}

fn nullable_text() -> Value {
    json!({"type": ["string", "null"]})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn nullable_time() -> Value {
    json!({"type": ["string", "null"], "format": "date-time"})
}

fn nullable(name: &str) -> Value {
    json!({"anyOf": [reference(name), {"type": "null"}]})
}

fn count() -> Value {
    json!({"type": "integer", "format": "int64", "minimum": 0})
}

/// A posted record: every field optional, unknown ones ignored.
fn record(fields: &[FieldSpec]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|spec| (spec.name.to_owned(), field(spec)))
        .collect();
    json!({"type": "object", "properties": properties})
}

fn field(spec: &FieldSpec) -> Value {
    let (kind, format) = match spec.kind {
        FieldKind::Int32 => ("integer", Some("int32")),
        FieldKind::Int64 => ("integer", Some("int64")),
        FieldKind::Float => ("number", Some("float")),
        FieldKind::Double => ("number", Some("double")),
        FieldKind::Text => ("string", None),
        FieldKind::Time => ("string", Some("date-time")),
        FieldKind::Items => {
            let mut items = array_of("ProcessItem");
            set(&mut items, "maxItems", json!(PROCESS_ITEMS_MAX));
            return items;
        }
    };
    let mut schema =
        json!({"type": if spec.nullable { json!([kind, "null"]) } else { json!(kind) }});
    if let Some(format) = format {
        set(&mut schema, "format", json!(format));
    }
    if let Some(length_max) = spec.length_max {
        set(&mut schema, "maxLength", json!(length_max));
    }
    schema
}

fn set(schema: &mut Value, name: &str, value: Value) {
    if let Some(members) = schema.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

fn history(stream: Stream) -> Value {
    let record = json!({"allOf": [
        reference(record_name(stream)),
        {"type": "object", "required": ["receivedAt"], "properties": {"receivedAt": time()}},
    ]});
    closed(&json!({
        "records": {"type": "array", "items": record},
        "nextToken": nullable_text(),
        "hasMore": {"type": "boolean"},
    }))
}

fn telemetry_line() -> Value {
    let lines: Vec<Value> = Stream::ALL
        .into_iter()
        .map(|stream| {
            let record = reference(record_name(stream));
            json!({"type": "object", "required": [stream.name()], "properties": {stream.name(): record}})
        })
        .collect();
    json!({"oneOf": lines})
}

fn workspace_details() -> Value {
    let properties: Map<String, Value> = Workspace::FIELDS
        .into_iter()
        .map(|name| {
            let length_max = if name == "workSpId" {
                WORKSPACE_ID_MAX
            } else {
                WORKSPACE_FIELD_MAX
            };
            (
                name.to_owned(),
                json!({"type": ["string", "null"], "maxLength": length_max}),
            )
        })
        .collect();
    json!({"type": "object", "properties": properties})
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457 problem details. The codes are contract, the texts are not.",
        "required": ["type", "title", "status", "traceId", "code"],
        "properties": {
            "type": {"type": "string", "format": "uri"},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "errors": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
            },
            "traceId": {"type": "string", "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-00$"},
            "code": {"type": "string"},
        },
    })
}

/// The responses of the Information endpoints.
fn information() -> Vec<(&'static str, Value)> {
    let actions: Vec<&str> = AuditAction::ALL
        .iter()
        .map(|action| action.as_str())
        .collect();
    let results: Vec<&str> = AuditResult::ALL
        .iter()
        .map(|result| result.as_str())
        .collect();
    vec![
        (
            "WorkSpaceApiResponse",
            closed(&json!({
                "workSpaces": {"type": ["array", "null"], "items": reference("WorkSpaceDetails")},
                "nextToken": nullable_text(),
                "hasMore": {"type": "boolean"},
            })),
        ),
        (
            "UserInformation",
            closed(&json!({
                "username": {"type": "string"},
                "workSpaces": array_of("WorkSpaceDetails"),
                "litigationHold": {"type": "boolean"},
                "lastActivity": nullable_text(),
                "lastActivityTime": nullable_time(),
                "lastSeen": nullable_time(),
                "lastStats": nullable("StatsRecord"),
                "lastStartup": nullable("StartupMetricsRecord"),
            })),
        ),
        (
            "ActivityEntry",
            json!({"allOf": [
                reference("ActivityRecord"),
                {"type": "object", "properties": {"workSpId": {"type": "string"}, "computerName": {"type": "string"}}},
            ]}),
        ),
        (
            "AdminActivity",
            closed(&json!({
                "id": count(),
                "activityTime": time(),
                "requester": {"type": "string"},
                "action": {"enum": actions},
                "workSpaceId": nullable_text(),
                "username": nullable_text(),
                "computerName": nullable_text(),
                "result": {"enum": results},
                "previousState": nullable_text(),
                "newState": nullable_text(),
                "completedTime": nullable_time(),
                "detail": nullable_text(),
                "apiKeyName": nullable_text(),
            })),
        ),
        (
            "Removed",
            closed(&json!({
                "workSpaceId": {"type": "string"},
                "removed": {"const": true},
            })),
        ),
    ]
}

/// The requests and responses of the operator endpoints, except keys.
fn operator() -> Vec<(&'static str, Value)> {
    let actions: Vec<&str> = Action::ALL.iter().map(|action| action.as_str()).collect();
    let line = json!({"type": "integer", "minimum": 1});
    let errors = json!({
        "type": "array",
        "maxItems": LINE_ERRORS_MAX,
        "items": closed(&json!({"line": line, "message": {"type": "string"}})),
    });
    vec![
        (
            "Upserted",
            closed(&json!({"upserted": count(), "rejected": count(), "errors": errors})),
        ),
        (
            "Accepted",
            closed(&json!({"accepted": count(), "rejected": count(), "errors": errors})),
        ),
        (
            "LitigationHold",
            closed(&json!({
                "matter": {"type": "string"},
                "reason": nullable_text(),
                "placedBy": {"type": "string"},
                "placedAt": time(),
            })),
        ),
        (
            "NewHold",
            json!({
                "type": "object",
                "required": ["matter"],
                "properties": {"matter": name(), "reason": remark()},
            }),
        ),
        (
            "PendingAction",
            closed(&json!({
                "id": count(),
                "action": {"enum": actions},
                "workSpaceId": {"type": "string"},
                "requestedAt": time(),
                "dueAt": nullable_time(),
                "computeType": nullable_text(),
            })),
        ),
        (
            "Actions",
            closed(&json!({"actions": array_of("PendingAction")})),
        ),
        (
            "ActionFailure",
            json!({
                "type": "object",
                "properties": {
                    "state": {"enum": ["ERROR", "UNHEALTHY"], "default": "ERROR"},
                    "detail": remark(),
                },
            }),
        ),
        (
            "WorkspaceView",
            closed(&json!({
                "workSpace": reference("WorkSpaceDetails"),
                "transition": nullable("PendingAction"),
                "litigationHold": nullable("LitigationHold"),
            })),
        ),
    ]
}

/// Keys, asked for, listed and issued.
fn keys() -> Vec<(&'static str, Value)> {
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let scopes = json!({"type": "array", "items": {"enum": scopes}, "minItems": 1});
    let key = json!({
        "id": count(),
        "name": name(),
        "scopes": scopes,
        "created": time(),
        "expires": nullable_time(),
        "lastUsed": nullable_time(),
        "revoked": nullable_time(),
    });
    let mut issued = key.clone();
    set(
        &mut issued,
        "key",
        json!({"type": "string", "description": "Shown only here."}),
    );
    vec![
        (
            "NewKey",
            json!({
                "type": "object",
                "required": ["name", "scopes"],
                "properties": {"name": name(), "scopes": scopes, "expires": nullable_time()},
            }),
        ),
        ("Key", closed(&key)),
        ("Keys", closed(&json!({"keys": array_of("Key")}))),
        ("IssuedKey", closed(&issued)),
    ]
}

/// A required short text.
fn name() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": TEXT_MAX})
}

/// An optional short text.
fn remark() -> Value {
    json!({"type": ["string", "null"], "maxLength": TEXT_MAX})
}

/// The schema of a page of one stream's history.
pub(super) const fn history_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stats => "StatsHistory",
        Stream::Activity => "ActivityHistory",
        Stream::Startup => "StartupHistory",
        Stream::Processes => "ProcessHistory",
    }
}
