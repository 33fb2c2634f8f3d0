//! The schemas: those of the posted records from their own tables, the others from `schemas.json`.

use deskfleet::fields::{FieldKind, FieldSpec};
use deskfleet::limits::{PROCESS_ITEMS_MAX, WORKSPACE_FIELD_MAX, WORKSPACE_ID_MAX};
use deskfleet::{ProcessItem, Stream, Workspace};
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

/// The schemas that have no table in the engine; a test compares their names and bounds with the engine's.
const FIXED: &str = include_str!("schemas.json");

/// Every schema by name.
pub(super) fn all() -> Map<String, Value> {
    let mut schemas: Map<String, Value> = serde_json::from_str(FIXED).unwrap_or_default();
    let mut put = |name: &str, schema: Value| schemas.insert(name.to_owned(), schema);
    for stream in Stream::ALL {
        put(record_name(stream), record(stream.fields()));
        put(history_name(stream), history(stream));
    }
    put("ProcessItem", record(ProcessItem::FIELDS));
    put("TelemetryLine", telemetry_line());
    put("WorkSpaceDetails", workspace_details());
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

/// The schema of a page of one stream's history.
pub(super) const fn history_name(stream: Stream) -> &'static str {
    match stream {
        Stream::Stats => "StatsHistory",
        Stream::Activity => "ActivityHistory",
        Stream::Startup => "StartupHistory",
        Stream::Processes => "ProcessHistory",
    }
}
