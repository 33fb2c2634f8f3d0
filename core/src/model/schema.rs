//! JSON Schemas that several types have in common.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::timestamp::Timestamp;

/// Makes a derived enum an open one: more values may be added, and a client must not fail on them.
pub(crate) fn open_enum(schema: &mut Schema) {
    list_values(schema, "x-extensible-enum");
}

/// Makes a derived enum one of these values alone, for a request.
pub(crate) fn closed_enum(schema: &mut Schema) {
    list_values(schema, "enum");
}

/// Lists the values of a derived enum below `keyword`, and what they mean after the description.
fn list_values(schema: &mut Schema, keyword: &str) {
    let values = schema.remove("oneOf").unwrap_or_default();
    let doc = schema.get("description").and_then(|doc| doc.as_str());
    let mut lines = vec![doc.unwrap_or_default().to_owned(), String::new()];
    let mut names = Vec::new();
    for value in values.as_array().into_iter().flatten() {
        let text = |member: &str| value.get(member).and_then(|text| text.as_str());
        let name = text("const").unwrap_or_default();
        let meaning = text("description").unwrap_or_default().replace('\n', " ");
        lines.push(format!("- `{name}`: {meaning}"));
        names.push(name.to_owned());
    }
    schema.insert("description".into(), lines.join("\n").into());
    schema.insert("type".into(), "string".into());
    schema.insert(keyword.into(), names.into());
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}
