//! The texts and examples of the OpenAPI document: nothing is without them, and every example is valid.

use crate::schema::{document, mismatch, operations, resolved};
use deskfleet::{Config, Stream};
use serde_json::Value;

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() > 3)
}

#[test]
fn operations_have_summary_description_and_described_parameters_and_responses() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        let what = format!("{method} {path}");
        assert!(is_text(&operation["summary"]), "{what}");
        assert!(is_text(&operation["description"]), "{what}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolved(&document, parameter);
            assert!(is_text(&parameter["description"]), "{what} {parameter}");
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = resolved(&document, response);
            assert!(is_text(&response["description"]), "{what} {status}");
        }
    }
}

#[test]
fn schemas_and_their_properties_are_described() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        assert!(is_text(&schema["description"]), "{name}");
        for (property, schema) in schema["properties"].as_object().into_iter().flatten() {
            let described = is_text(&resolved(&document, schema)["description"]);
            assert!(described, "{name}.{property}");
        }
    }
}

#[test]
fn numbers_of_telemetry_records_have_a_unit() {
    let document = document();
    for (stream, name) in Stream::ALL.into_iter().zip([
        "StatsRecord",
        "ActivityRecord",
        "StartupRecord",
        "ProcessReport",
    ]) {
        for spec in stream.fields() {
            let schema = &document["components"]["schemas"][name]["properties"][spec.name];
            let types = schema["type"].to_string();
            let text = schema["description"].as_str().unwrap();
            let number = types.contains("integer") || types.contains("number");
            let unit = text.contains(", in ") || text.starts_with("Number ");
            assert!(!number || unit, "{name}.{}: {text}", spec.name);
        }
    }
}

#[test]
fn bodies_are_of_named_schemas() {
    let is_named = |schema: &Value| schema["$ref"].is_string();
    let document = document();
    for (method, path, operation) in operations(&document) {
        let responses = operation["responses"].as_object().unwrap().values();
        let bodies = responses.chain([&operation["requestBody"]]);
        for body in bodies.map(|body| resolved(&document, body)) {
            for media in body["content"].as_object().into_iter().flatten() {
                let schema = &media.1["schema"];
                let inner = [&schema["items"], &schema["contentSchema"]];
                let named = is_named(schema) || inner.into_iter().any(is_named);
                let has_members = !schema["properties"].is_null() || !schema["allOf"].is_null();
                let plain = ["string", "integer"]
                    .iter()
                    .any(|plain| schema["type"] == *plain);
                let any = operation["tags"] == serde_json::json!(["service"]);
                assert!((named || plain || any) && !has_members, "{method} {path}");
            }
        }
    }
}

/// The places of the document that hold an example of a schema.
fn examples(document: &Value) -> Vec<(String, Value, Value)> {
    let mut found = Vec::new();
    for (method, path, operation) in operations(document) {
        let what = format!("{method} {path}");
        let responses = operation["responses"].as_object().unwrap().values();
        for body in responses.chain([&operation["requestBody"]]) {
            let body = resolved(document, body);
            for (media_type, media) in body["content"].as_object().into_iter().flatten() {
                let mut add = |example: &Value| {
                    let what = format!("{what} {media_type}");
                    found.push((what, media["schema"].clone(), example.clone()));
                };
                for example in media["examples"].as_object().into_iter().flatten() {
                    add(&resolved(document, example.1)["value"]);
                }
                if let Some(example) = media.get("example") {
                    add(example);
                } else {
                    assert!(
                        media["examples"].is_object()
                            || operation["tags"] == serde_json::json!(["service"]),
                        "{what} has no example"
                    );
                }
            }
        }
    }
    found
}

#[test]
fn examples_match_their_schemas() {
    let document = document();
    let all = examples(&document);
    assert!(all.len() > 100);
    for (what, schema, example) in all {
        let found = mismatch(&document, &schema, &example, "$");
        assert_eq!(found, None, "{what}: {example}");
    }
}

#[test]
fn texts_of_configured_limits_have_their_defaults() {
    let limits = Config::default().limits;
    let text = document().to_string();
    for (bytes, message) in [
        (limits.record_body_bytes, "64 KiB"),
        (limits.processes_body_bytes, "1 MiB"),
        (limits.batch_body_bytes, "8 MiB"),
        (limits.uri_bytes, "8 KiB"),
        (limits.headers_bytes, "16 KiB"),
    ] {
        let (number, unit) = message.split_once(' ').unwrap();
        let unit = if unit == "KiB" { 1024 } else { 1024 * 1024 };
        assert_eq!(bytes, number.parse::<usize>().unwrap() * unit);
        assert!(text.contains(message), "{message}");
    }
}
