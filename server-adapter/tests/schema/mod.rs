//! The OpenAPI document, and JSON against its schemas, as far as it uses JSON Schema.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::collections::BTreeSet;

use serde_json::Value;

/// The document that the server serves; a unit test compares the two.
pub(crate) fn document() -> Value {
    serde_json::from_str(include_str!("../../openapi.json")).unwrap()
}

/// Method, path and operation object of everything in the document.
pub(crate) fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((method.to_uppercase(), path.clone(), operation));
        }
    }
    all
}

/// The codes of a problem response: each has its example.
pub(crate) fn codes(response: &Value) -> BTreeSet<&str> {
    let examples = response.pointer("/content/application~1problem+json/examples");
    let examples = examples.and_then(Value::as_object).unwrap();
    examples.keys().map(String::as_str).collect()
}

/// Where `value` is not what `schema` says; `None` where it is. A member that the schema does not name is a mismatch too.
pub(crate) fn mismatch(
    document: &Value,
    schema: &Value,
    value: &Value,
    path: &str,
) -> Option<String> {
    let schema = resolved(document, schema);
    if let Some(any) = schema["anyOf"].as_array() {
        let fits = |one: &Value| mismatch(document, one, value, path).is_none();
        return (!any.iter().any(fits)).then(|| format!("{path}: fits none of {any:?}"));
    }
    if let Some(word) = ["type", "enum", "x-extensible-enum", "const", "maxLength"]
        .into_iter()
        .find(|word| !schema[word].is_null() && !holds(word, &schema[word], value))
    {
        return Some(format!("{path}: {word} is {}", schema[word]));
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        let mut items = items.iter().enumerate();
        return items
            .find_map(|(i, item)| mismatch(document, schema, item, &format!("{path}[{i}]")));
    }
    let (Some(members), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    else {
        return None;
    };
    let mut required = schema["required"].as_array().into_iter().flatten();
    if let Some(name) = required.find(|name| !members.contains_key(name.as_str().unwrap())) {
        return Some(format!("{path}: {name} is missing"));
    }
    members
        .iter()
        .find_map(|(name, member)| match properties.get(name) {
            None => Some(format!("{path}: {name} is not in the schema")),
            Some(schema) => mismatch(document, schema, member, &format!("{path}.{name}")),
        })
}

/// What a reference names, or the object itself.
pub(crate) fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    schema["$ref"].as_str().map_or(schema, |target| {
        document.pointer(target.strip_prefix('#').unwrap()).unwrap()
    })
}

/// Whether `value` keeps to one word of a schema.
fn holds(word: &str, expected: &Value, value: &Value) -> bool {
    match (word, expected) {
        ("type", Value::Array(names)) => names.iter().any(|name| holds(word, name, value)),
        ("type", name) => match name.as_str().unwrap() {
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "array" => value.is_array(),
            name => name == "object" && value.is_object(),
        },
        ("enum" | "x-extensible-enum", values) => values.as_array().unwrap().contains(value),
        ("maxLength", max) => value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 <= max.as_u64().unwrap()),
        (_, only) => only == value,
    }
}
