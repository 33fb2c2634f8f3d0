//! The OpenAPI document as version 3.0 has it, for generators of clients that read no later one: the words of JSON Schema that 3.0 has
//! otherwise are written so, and those that it has not are left out.

use serde_json::{Map, Value, json};

/// The document in version 3.0, from that in 3.1.
pub(super) fn converted(document: &Value) -> Value {
    let mut converted = document.clone();
    if let Some(version) = converted.get_mut("openapi") {
        *version = json!("3.0.3");
    }
    if let Some(info) = converted.get_mut("info").and_then(Value::as_object_mut) {
        info.remove("summary");
        if let Some(license) = info.get_mut("license").and_then(Value::as_object_mut) {
            license.remove("identifier");
        }
    }
    let schemas = document.pointer("/components/schemas");
    visit(
        &mut converted,
        Place::Object,
        schemas.unwrap_or(&Value::Null),
    );
    converted
}

/// What a value of the document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// An object of the specification.
    Object,
    /// A schema.
    Schema,
    /// Schemas by their names.
    Schemas,
}

/// Converts what is in `value`; `schemas` are those that references name.
fn visit(value: &mut Value, place: Place, schemas: &Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if place == Place::Schemas {
                    visit(member, Place::Schema, schemas);
                } else if let Some(below) = below(place, name) {
                    visit(member, below, schemas);
                }
            }
            if place == Place::Schema {
                schema(members);
                add_type(members, schemas);
            }
            if place == Place::Object {
                describe_file(members);
                extend_for_autorest(members);
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| visit(item, place, schemas)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What the member of that name is; `None` where it is of no schema.
fn below(place: Place, name: &str) -> Option<Place> {
    match (place, name) {
        (Place::Object, "schemas") | (Place::Schema, "properties") => Some(Place::Schemas),
        (Place::Object, "schema")
        | (Place::Schema, "items" | "anyOf" | "oneOf" | "allOf" | "additionalProperties") => {
            Some(Place::Schema)
        }
        (Place::Object, "example" | "examples") | (Place::Schema, _) => None,
        (Place::Object, _) => Some(Place::Object),
        (Place::Schemas, _) => Some(Place::Schema),
    }
}

/// Converts a schema, those in it being converted.
fn schema(schema: &mut Map<String, Value>) {
    let is_null = |kind: &Value| *kind == "null";
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        let count = kinds.len();
        kinds.retain(|kind| !is_null(kind));
        let nullable = kinds.len() < count;
        // 3.0 has one type; of several, any is allowed.
        let kind = (kinds.len() == 1).then(|| kinds.remove(0));
        match kind {
            Some(kind) => schema.insert("type".to_owned(), kind),
            None => schema.remove("type"),
        };
        if nullable {
            schema.insert("nullable".to_owned(), json!(true));
            allow_null(schema);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        let count = choices.len();
        choices.retain(|choice| !choice.get("type").is_some_and(is_null));
        if choices.len() < count {
            schema.insert("nullable".to_owned(), json!(true));
        }
        if let Some(Value::Array(choices)) = schema.get("anyOf")
            && choices.len() == 1
            && let Some(only) = schema.remove("anyOf")
        {
            schema.insert("allOf".to_owned(), only);
        }
    }
    if let Some(only) = schema.remove("const") {
        schema.insert("enum".to_owned(), json!([only]));
    }
    if let Some(Value::Array(examples)) = schema.remove("examples")
        && let Some(first) = examples.into_iter().next()
    {
        schema.insert("example".to_owned(), first);
    }
    for unknown in ["contentMediaType", "contentSchema", "contentEncoding"] {
        schema.remove(unknown);
    }
    // Beside a reference nothing counts.
    if schema.len() > 1
        && let Some(reference) = schema.remove("$ref")
    {
        schema.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

/// Writes the type of the schema that a single reference in `allOf` names: 3.0 has `nullable` only beside a type, and `AutoRest` takes a
/// schema without one for an object.
fn add_type(schema: &mut Map<String, Value>, schemas: &Value) {
    if !schema.contains_key("type")
        && let Some(Value::Array(all)) = schema.get("allOf")
        && let [only] = all.as_slice()
        && let Some(Value::String(reference)) = only.get("$ref")
        && let Some(name) = reference.strip_prefix("#/components/schemas/")
        && let Some(kind) = schemas.get(name).and_then(|named| named.get("type"))
    {
        schema.insert("type".to_owned(), kind.clone());
    }
}

/// A body of bytes has no schema in 3.1, and a format in 3.0.
fn describe_file(content: &mut Map<String, Value>) {
    if let Some(media) = content.get_mut("application/octet-stream") {
        *media = json!({"schema": {"type": "string", "format": "binary"}});
    }
}

/// Extends what `AutoRest` takes for something else: it returns a refusal as a result, and makes the parameters that operations share those of
/// its client. The key alone is one.
fn extend_for_autorest(object: &mut Map<String, Value>) {
    let content = object.get("content");
    if content.is_some_and(|content| content.get("application/problem+json").is_some()) {
        object.insert("x-ms-error-response".to_owned(), json!(true));
    }
    if object.get("in").is_some_and(|place| *place == "header") {
        object.insert("x-ms-parameter-location".to_owned(), json!("method"));
    }
}

/// A value that may be null and is one of a list: null is in the list.
fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_written_as_3_0_has_them() {
        for (before, after) in [
            (
                json!({"type": ["string", "null"], "maxLength": 50}),
                json!({"type": "string", "nullable": true, "maxLength": 50}),
            ),
            (
                json!({"type": ["string", "null"], "enum": ["a"]}),
                json!({"type": "string", "nullable": true, "enum": ["a", null]}),
            ),
            (json!({"type": ["string", "integer"]}), json!({})),
            (
                json!({"anyOf": [{"$ref": "#/x"}, {"type": "null"}], "description": "d"}),
                json!({"allOf": [{"$ref": "#/x"}], "nullable": true, "description": "d"}),
            ),
            (
                json!({"anyOf": [{"$ref": "#/x"}, {"type": "string"}]}),
                json!({"anyOf": [{"$ref": "#/x"}, {"type": "string"}]}),
            ),
            (
                json!({"$ref": "#/x", "description": "d"}),
                json!({"allOf": [{"$ref": "#/x"}], "description": "d"}),
            ),
            (json!({"$ref": "#/x"}), json!({"$ref": "#/x"})),
            (json!({"const": "a"}), json!({"enum": ["a"]})),
            (
                json!({"properties": {"const": {"const": 1}, "type": {"type": ["null", "array"], "items": {"const": 2}}}}),
                json!({"properties": {"const": {"enum": [1]}, "type": {"type": "array", "nullable": true, "items": {"enum": [2]}}}}),
            ),
            (json!({"examples": ["a", "b"]}), json!({"example": "a"})),
            (
                json!({"type": "string", "contentMediaType": "x", "contentSchema": {}}),
                json!({"type": "string"}),
            ),
        ] {
            let document = json!({"components": {"schemas": {"examples": before}}});
            assert_eq!(
                converted(&document)["components"]["schemas"]["examples"],
                after
            );
        }
    }

    #[test]
    fn reference_has_the_type_of_its_schema() {
        let document = json!({"components": {"schemas": {
            "State": {"type": "string"},
            "Row": {"type": "object", "properties": {
                "state": {"anyOf": [{"$ref": "#/components/schemas/State"}, {"type": "null"}]},
                "row": {"$ref": "#/components/schemas/Row", "description": "d"},
            }},
        }}});
        let found = converted(&document);
        let properties = &found["components"]["schemas"]["Row"]["properties"];
        let state = json!({"allOf": [{"$ref": "#/components/schemas/State"}], "nullable": true, "type": "string"});
        assert_eq!(properties["state"], state);
        assert_eq!(properties["row"]["type"], "object");
    }

    #[test]
    fn refusals_are_errors_and_headers_are_of_their_operation() {
        let document = json!({"components": {
            "responses": {"NotFound": {"content": {"application/problem+json": {}}}, "Page": {"content": {"application/json": {}}}},
            "parameters": {"apiKey": {"in": "query"}, "id": {"in": "header"}},
        }});
        let found = converted(&document);
        let at = |path: &str| found.pointer(&format!("/components/{path}"));
        assert_eq!(
            at("responses/NotFound/x-ms-error-response"),
            Some(&json!(true))
        );
        assert_eq!(at("responses/Page/x-ms-error-response"), None);
        assert_eq!(
            at("parameters/id/x-ms-parameter-location"),
            Some(&json!("method"))
        );
        assert_eq!(at("parameters/apiKey/x-ms-parameter-location"), None);
    }

    #[test]
    fn file_is_binary() {
        let content = json!({"content": {"application/octet-stream": {"schema": {}}}});
        let found = converted(&json!({ "paths": content }));
        let media = &found["paths"]["content"]["application/octet-stream"];
        assert_eq!(
            media["schema"],
            json!({"type": "string", "format": "binary"})
        );
    }

    #[test]
    fn examples_stay_as_they_are() {
        let media =
            json!({"content": {"x": {"example": {"type": ["a", "null"]}, "schema": {"const": 1}}}});
        let found = converted(&json!({ "paths": media }));
        let media = &found["paths"]["content"]["x"];
        assert_eq!(media["example"], json!({"type": ["a", "null"]}));
        assert_eq!(media["schema"], json!({"enum": [1]}));
    }
}
