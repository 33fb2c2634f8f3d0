//! The engine's responses against the OpenAPI document.

use std::collections::BTreeSet;

use crate::schema::{codes, document, mismatch, resolved};
use bytes::Bytes;
use deskfleet::fields::FieldValue;
use deskfleet::routes::{Answer, ROUTES, Route};
use deskfleet::{
    Action, ActionBatchRequest, ActionDriver, ActionRequest, Config, Engine, NewKey, Scope, Scopes,
    Stream, Workspace,
};
use http::header::CONTENT_TYPE;
use serde_json::Value;

/// A query with good values of the parameters that a question must have; other endpoints ignore those that they do not know.
fn known(route: &Route, workspace: &str) -> String {
    let good = [
        ("username", "x"),
        ("workSpaceId", workspace),
        ("instanceId", "ws-1"),
        ("metric", "cpu"),
        ("stream", "activity"),
    ];
    let takes = |name: &str| {
        // Others ignore what they do not know.
        let is_strict =
            route.path.starts_with("/query/") || route.operation_id == "removeTelemetry";
        !is_strict || route.parameters().any(|param| param.name == name)
    };
    let good = good.into_iter().filter(|(name, _)| takes(name));
    let good: Vec<_> = good
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("?{}", good.join("&"))
}

/// Requests that go wrong in every way a client can cause, and some that succeed.
fn attempts(route: &Route, action: u64, keys: &[String]) -> Vec<http::Request<Bytes>> {
    // On the other one an action runs and a hold is placed, so that it cannot be replaced.
    let replaced = route.operation_id == "putWorkspace";
    let workspace = if replaced { "ws-2" } else { "ws-1" };
    let path = route
        .path
        .replace("{workSpId}", workspace)
        .replace("actions/{id}", &format!("actions/{action}"))
        .replace("batches/{id}", "batches/1")
        .replace("{id}", "7");
    let mut attempts = Vec::new();
    for key in keys {
        for query in [
            "",
            &known(route, "ws-2"),
            &known(route, "ws-1"),
            "?limit=abc&from=x&numberOfActivities=x",
            "?%zz",
        ] {
            for content_type in ["", "application/json", "text/html"] {
                // The first two have no unknown members.
                let good = match route.operation_id {
                    "issueKey" => r#"{"name":"k","scopes":["read"]}"#,
                    "startActions" => r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-1"]}"#,
                    _ => {
                        r#"{"matter":"m","username":"x","action":"RebootWorkSpace","workSpaceIds":["ws-1"],"provider":"p","attempt":1,"requestId":"r"}"#
                    }
                };
                for body in [
                    "",
                    "{",
                    "{}",
                    "7",
                    good,
                    r#"{"id":"x"}"#,
                    &" ".repeat(9_000_000),
                ] {
                    let coding = if body == "{" { "br" } else { "identity" };
                    attempts.push(
                        http::Request::builder()
                            .method(route.method.as_str())
                            .uri(format!("{path}{query}"))
                            .header("x-api-key", key)
                            .header("content-encoding", coding)
                            .header("content-type", content_type)
                            .body(Bytes::copy_from_slice(body.as_bytes()))
                            .unwrap(),
                    );
                }
            }
        }
    }
    attempts
}

/// An engine with something of everything, a key with scope `admin` and one with scope `ingest`.
fn populated(config: &Config) -> (Engine, String, String) {
    let engine = Engine::builder()
        .clock(std::time::SystemTime::now)
        .seed(1)
        .config(config.clone())
        .open_in_memory()
        .unwrap();
    let issue = |name: &str, scopes: Scopes| {
        let name = name.to_owned();
        let key = NewKey::new(name, scopes.iter());
        engine.issue_key(key).unwrap().secret
    };
    let admin = issue("admin", [Scope::Admin].into_iter().collect());
    let ingest = issue("ingest", [Scope::Ingest].into_iter().collect());
    let workspace = Workspace {
        id: "ws-1".to_owned(),
        username: Some("x".to_owned()),
        state: Some("UNHEALTHY".into()),
        ..Workspace::default()
    };
    let removable = Workspace {
        id: "ws-2".to_owned(),
        ..Workspace::default()
    };
    engine.put_workspaces(vec![workspace, removable]).unwrap();
    engine.place_hold("ws-1", "matter", None).unwrap();
    engine.act(ActionRequest::reboot("ws-1")).unwrap();
    let batch = ActionBatchRequest::new(Action::Reboot, ["ws-1"]);
    engine.start_actions(batch).unwrap();
    for stream in Stream::ALL {
        let mut record = stream.empty_record();
        let ids = record.fields().specs().iter().enumerate();
        let ids = ids.filter(|(_, spec)| ["instanceId", "username"].contains(&spec.name));
        for (index, spec) in ids.collect::<Vec<_>>() {
            let text = if spec.name == "username" { "x" } else { "ws-1" };
            let set = record
                .fields_mut()
                .set(index, FieldValue::Text(text.into()));
            assert!(set, "{}", spec.name);
        }
        engine.record(record).unwrap();
    }
    (engine, admin, ingest)
}

#[test]
fn engine_responses_all_match_the_openapi_document() {
    let mut config = Config::default();
    config.limits.key_requests_per_minute = Some(60);
    config.require_ingest_key = true;
    config.actions.drivers.reboot = Some(ActionDriver::Host);
    let document = document();
    let mut checked = BTreeSet::new();
    for route in ROUTES {
        let (engine, admin, ingest) = populated(&config);
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let action = engine.pending_actions().unwrap()[0].id;
        for request in attempts(route, action, &["unknown".to_owned(), ingest, admin]) {
            let what = format!("{} {}", request.method(), request.uri());
            let answer = engine.handle(request);
            let documented = resolved(&document, &operation["responses"][answer.status().as_str()]);
            assert!(documented.is_object(), "{what} {}", answer.status());
            if answer.status().is_success() {
                if !answer.body().is_empty() {
                    let media_type = answer.headers()[CONTENT_TYPE].to_str().unwrap();
                    let media_type = media_type.split(';').next().unwrap();
                    let schema = &documented["content"][media_type]["schema"];
                    if media_type == "application/x-ndjson" {
                        let schema = &schema["contentSchema"];
                        for line in str::from_utf8(answer.body()).unwrap().lines() {
                            let line = serde_json::from_str(line).unwrap();
                            assert_eq!(mismatch(&document, schema, &line, "$"), None, "{what}");
                            checked.insert(route.operation_id);
                        }
                        continue;
                    }
                    let body = match media_type {
                        "text/plain" => str::from_utf8(answer.body()).unwrap().into(),
                        _ => serde_json::from_slice(answer.body()).unwrap(),
                    };
                    assert_eq!(
                        mismatch(&document, schema, &body, "$"),
                        None,
                        "{what} {body}"
                    );
                    checked.insert(route.operation_id);
                }
                continue;
            }
            let problem: Value = serde_json::from_slice(answer.body()).unwrap();
            assert!(
                codes(documented).contains(problem["code"].as_str().unwrap()),
                "{what} {problem}"
            );
            let schema = &documented["content"]["application/problem+json"]["schema"];
            assert_eq!(
                mismatch(&document, schema, &problem, "$"),
                None,
                "{what} {problem}"
            );
        }
    }
    let bodies = ROUTES.iter().filter(|route| route.answer != Answer::Empty);
    let expected: BTreeSet<_> = bodies.map(|route| route.operation_id).collect();
    assert_eq!(
        checked, expected,
        "a body of each was compared with its schema"
    );
}
