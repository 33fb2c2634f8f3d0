//! The OpenAPI document against the tables it is built from, both ways.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod schema;

use std::collections::BTreeSet;

use bytes::Bytes;
use deskfleet::fields::FieldValue;
use deskfleet::limits::{LINE_ERRORS_MAX, TEXT_MAX};
use deskfleet::routes::{Access, Answer, ROUTES, RequestBody, Route};
use deskfleet::{
    Action, ActionRequest, AuditAction, AuditResult, Config, Engine, NewKey, Scope, Scopes, Stream,
    Workspace,
};
use deskfleet_server::openapi::document;
use schema::mismatch;
use serde_json::Value;

const SERVICE: [&str; 6] = ["livez", "readyz", "metrics", "openapi", "index", "icon"];

/// Method, path and operation object of everything in the document.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((method.to_uppercase(), path.clone(), operation));
        }
    }
    all
}

#[test]
fn openapi_operations_equal_the_routes() {
    let document = document(&Config::default());
    let documented: BTreeSet<_> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation["tags"][0] != "service")
        .map(|(method, path, operation)| {
            (
                method,
                path,
                operation["operationId"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let routed: BTreeSet<_> = ROUTES
        .iter()
        .map(|r| {
            (
                r.method.as_str().into(),
                r.path.into(),
                r.operation_id.into(),
            )
        })
        .collect();
    assert_eq!(documented, routed);

    let service: BTreeSet<_> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation["tags"][0] == "service")
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(service, SERVICE.into_iter().collect());
}

#[test]
fn openapi_parameters_bodies_statuses_and_security_equal_the_route_table() {
    let document = document(&Config::default());
    for route in &ROUTES {
        let id = route.operation_id;
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let names: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let mut expected: BTreeSet<&str> = route.query.iter().map(|param| param.name).collect();
        let keyed = matches!(route.access, Access::Key(_));
        if keyed && route.path.starts_with("/api/") {
            expected.insert("apiKey");
        }
        assert_eq!(names, expected, "{id}");

        let braces = route.path.matches('{').count();
        let in_path = operation["parameters"].as_array().unwrap().iter();
        assert_eq!(
            in_path
                .filter(|p| p["in"] == "path" && p["required"] == true)
                .count(),
            braces,
            "{id}"
        );
        assert_eq!(
            operation["requestBody"].is_null(),
            route.body == RequestBody::None,
            "{id}"
        );
        let coding = operation["parameters"].as_array().unwrap().iter();
        let coding = coding.filter(|p| p["in"] == "header" && p["name"] == "Content-Encoding");
        let reads = route.body != RequestBody::None;
        assert_eq!(coding.count(), usize::from(reads), "{id}");
        let told = &operation["responses"]["415"]["headers"]["Accept-Encoding"];
        assert_eq!(told["schema"]["const"] == "gzip, identity", reads, "{id}");
        assert_eq!(
            operation["security"].as_array().unwrap().len(),
            if keyed { 3 } else { 0 },
            "{id}"
        );

        let responses = operation["responses"].as_object().unwrap();
        let success = if route.answer == Answer::IssuedKey {
            "201"
        } else {
            "200"
        };
        assert!(responses.contains_key(success), "{id}");
        for code in route.problems {
            let status = code.status().to_string();
            let codes = &responses[&status]["content"]["application/problem+json"]["schema"]["allOf"]
                [1]["properties"]["code"]["enum"];
            assert!(
                codes.as_array().unwrap().iter().any(|c| c == code.as_str()),
                "{id} {status}"
            );
        }
        assert_eq!(responses.contains_key("401"), keyed, "{id}");
        assert_eq!(
            responses.contains_key("413"),
            ![RequestBody::None, RequestBody::Workspaces].contains(&route.body),
            "{id}"
        );
    }
}

#[test]
fn openapi_records_have_every_field_with_its_bounds() {
    let document = document(&Config::default());
    let schemas = &document["components"]["schemas"];
    for (stream, name) in Stream::ALL.into_iter().zip([
        "StatsRecord",
        "ActivityRecord",
        "StartupMetricsRecord",
        "ProcessReport",
    ]) {
        let properties = schemas[name]["properties"].as_object().unwrap();
        let specs = stream.empty_record();
        let specs = specs.fields().specs();
        assert_eq!(properties.len(), specs.len(), "{name}");
        for spec in specs {
            let property = &properties[spec.name];
            assert_eq!(
                property["maxLength"].as_u64(),
                spec.length_max.map(|max| max as u64)
            );
            let nullable = property["type"]
                .as_array()
                .is_some_and(|types| types.contains(&"null".into()));
            assert_eq!(nullable, spec.nullable, "{name}.{}", spec.name);
        }
    }
    let details = schemas["WorkSpaceDetails"]["properties"]
        .as_object()
        .unwrap();
    assert!(
        Workspace::FIELDS
            .iter()
            .all(|name| details.contains_key(*name))
    );
    let limit =
        &document["paths"]["/api/Information/GetAllWorkSpaces"]["get"]["parameters"][1]["schema"];
    assert_eq!(limit["minimum"], 1);
    assert_eq!(limit["maximum"], 500);
    assert_eq!(limit["default"], 50);
}

#[test]
fn openapi_references_all_resolve() {
    fn walk(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(target)) = members.get("$ref") {
                    found.insert(target.clone());
                }
                members.values().for_each(|member| walk(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = document(&Config::default());
    let mut found = BTreeSet::new();
    walk(&document, &mut found);
    for target in &found {
        let name = target.strip_prefix("#/components/schemas/").unwrap();
        assert!(
            document["components"]["schemas"][name].is_object(),
            "{target}"
        );
    }
    for name in document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
    {
        let used = found.contains(&format!("#/components/schemas/{name}"));
        assert!(used, "{name} is used nowhere");
    }
}

#[test]
fn openapi_telemetry_requires_a_key_where_configured() {
    let mut config = Config::default();
    config.require_ingest_key = true;
    let document = document(&config);
    let post = &document["paths"]["/api/Stats/Post"]["post"];
    assert_eq!(post["security"].as_array().unwrap().len(), 3);
    assert!(post["responses"]["401"].is_object());
}

/// Requests that go wrong in every way a client can cause, and some that succeed.
fn attempts(route: &Route, keys: &[String]) -> Vec<http::Request<Bytes>> {
    let path = route
        .path
        .replace("{workSpId}", "ws-1")
        .replace("{id}", "7");
    let mut attempts = Vec::new();
    for key in keys {
        for query in [
            "",
            "?username=x&workSpaceId=ws-2&instanceId=ws-1",
            "?limit=abc&from=x&numberOfActivities=x",
            "?%zz",
            "?instanceId=ws-1&workSpaceId=ws-1",
        ] {
            for content_type in ["", "application/json", "text/html"] {
                let good = r#"{"matter":"m","name":"k","scopes":["read"],"username":"x"}"#;
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
        let key = NewKey {
            name,
            scopes,
            expires: None,
        };
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
    let document = document(&config);
    let mut checked = BTreeSet::new();
    for route in &ROUTES {
        let (engine, admin, ingest) = populated(&config);
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        for request in attempts(route, &["unknown".to_owned(), ingest, admin]) {
            let what = format!("{} {}", request.method(), request.uri());
            let answer = engine.handle(request);
            let documented = &operation["responses"][answer.status().as_str()];
            assert!(documented.is_object(), "{what} {}", answer.status());
            if answer.status().is_success() {
                if !answer.body().is_empty() {
                    let schema = &documented["content"]["application/json"]["schema"];
                    let body: Value = serde_json::from_slice(answer.body()).unwrap();
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
            let codes = &documented["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]
                ["code"]["enum"];
            assert!(
                codes.as_array().unwrap().contains(&problem["code"]),
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

#[test]
fn openapi_schemas_have_the_names_and_bounds_of_the_engine() {
    let document = document(&Config::default());
    let property = |schema: &str, name: &str| {
        document["components"]["schemas"][schema]["properties"][name].clone()
    };
    let names = |names: &[&str]| serde_json::json!(names);
    let actions: Vec<_> = Action::ALL.iter().map(|action| action.as_str()).collect();
    let audited: Vec<_> = AuditAction::ALL
        .iter()
        .map(|action| action.as_str())
        .collect();
    let results: Vec<_> = AuditResult::ALL
        .iter()
        .map(|result| result.as_str())
        .collect();
    let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    assert_eq!(property("PendingAction", "action")["enum"], names(&actions));
    assert_eq!(property("AdminActivity", "action")["enum"], names(&audited));
    assert_eq!(property("AdminActivity", "result")["enum"], names(&results));
    assert_eq!(
        property("NewKey", "scopes")["items"]["enum"],
        names(&scopes)
    );
    for (schema, name) in [
        ("NewKey", "name"),
        ("Key", "name"),
        ("NewHold", "matter"),
        ("NewHold", "reason"),
        ("ActionFailure", "detail"),
    ] {
        assert_eq!(
            property(schema, name)["maxLength"],
            TEXT_MAX,
            "{schema}.{name}"
        );
    }
    for schema in ["Accepted", "ImportReport"] {
        assert_eq!(property(schema, "errors")["maxItems"], LINE_ERRORS_MAX);
    }
}
