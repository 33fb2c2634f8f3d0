//! TypeScript types from the schemas.

use std::fmt::Write as _;

use serde_json::Value;

use super::layout::Json;

const HEADER: &str =
    "// Written by `cargo openapi`; the texts are the documentation of the Rust types.\n";

/// A longer union takes a line for each of its types.
const LINE_MAX: usize = 130;

/// One declaration for each schema.
pub(super) fn declarations(components: &Json) -> String {
    let mut text = HEADER.to_owned();
    for (name, schema) in members(components) {
        text.push('\n');
        comment(&mut text, "", schema);
        if let Some(properties) = member(schema, "properties") {
            interface(&mut text, name, schema, properties);
        } else {
            let line = format!("export type {name} = {};", type_of(schema));
            if line.len() > LINE_MAX {
                text.push_str(&line.replace(" | ", "\n    | ").replace(" = ", " =\n    | "));
            } else {
                text.push_str(&line);
            }
            text.push('\n');
        }
    }
    text
}

fn interface(text: &mut String, name: &str, schema: &Json, properties: &Json) {
    let _ = writeln!(text, "export interface {name} {{");
    let required: Vec<&str> = items(schema, "required")
        .iter()
        .filter_map(string)
        .collect();
    for (property, schema) in members(properties) {
        comment(text, "    ", schema);
        let optional = if required.contains(&&**property) {
            ""
        } else {
            "?"
        };
        let _ = writeln!(text, "    {property}{optional}: {};", type_of(schema));
    }
    text.push_str("}\n");
}

/// The description as a comment, in one line where it has one.
fn comment(text: &mut String, indent: &str, schema: &Json) {
    let Some(description) = member(schema, "description").and_then(string) else {
        return;
    };
    let lines: Vec<&str> = description.lines().collect();
    if let [line] = lines[..] {
        let _ = writeln!(text, "{indent}/** {line} */");
        return;
    }
    let _ = writeln!(text, "{indent}/**");
    for line in lines {
        let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
    }
    let _ = writeln!(text, "{indent} */");
}

fn type_of(schema: &Json) -> String {
    if let Some(target) = member(schema, "$ref").and_then(string) {
        return target.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let any = items(schema, "anyOf");
    if !any.is_empty() {
        return any.iter().map(type_of).collect::<Vec<_>>().join(" | ");
    }
    let literals = |values: &[Json]| {
        values
            .iter()
            .filter_map(string)
            .map(|value| format!("\"{value}\""))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let open = items(schema, "examples");
    if !open.is_empty() {
        // Completion offers the known values, and others are allowed.
        return format!("{} | (string & {{}})", literals(open));
    }
    // The package has its own engine, which writes no others.
    for keyword in ["x-extensible-enum", "enum"] {
        let closed = items(schema, keyword);
        if !closed.is_empty() {
            return literals(closed);
        }
    }
    match member(schema, "type") {
        Some(Json::Array(types)) => {
            let types = types.iter().filter_map(string);
            types
                .map(|each| named(each, schema))
                .collect::<Vec<_>>()
                .join(" | ")
        }
        Some(one) => named(string(one).unwrap_or_default(), schema),
        None => panic!("no type: {schema:?}"),
    }
}

/// The type of a JSON Schema type.
fn named(name: &str, schema: &Json) -> String {
    match name {
        "integer" => "number".to_owned(),
        "array" => {
            let item = type_of(member(schema, "items").expect("an array of something"));
            if item.contains(' ') {
                format!("({item})[]")
            } else {
                format!("{item}[]")
            }
        }
        "object" => {
            let value = member(schema, "additionalProperties").expect("a map of something");
            format!("Record<string, {}>", type_of(value))
        }
        "string" | "number" | "boolean" | "null" => name.to_owned(),
        other => panic!("no type {other}"),
    }
}

fn members(json: &Json) -> impl Iterator<Item = (&String, &Json)> {
    match json {
        Json::Object(members) => members.iter(),
        Json::Array(_) | Json::Other(_) => panic!("not an object: {json:?}"),
    }
}

fn member<'j>(json: &'j Json, name: &str) -> Option<&'j Json> {
    match json {
        Json::Object(members) => members.get(name),
        Json::Array(_) | Json::Other(_) => None,
    }
}

fn items<'j>(json: &'j Json, name: &str) -> &'j [Json] {
    match member(json, name) {
        Some(Json::Array(items)) => items,
        _ => &[],
    }
}

fn string(json: &Json) -> Option<&str> {
    match json {
        Json::Other(Value::String(text)) => Some(text),
        Json::Other(_) | Json::Object(_) | Json::Array(_) => None,
    }
}
