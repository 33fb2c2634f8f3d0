//! The OpenAPI document against the engine's tables and responses, both ways.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod schema;

use std::collections::BTreeSet;

use bytes::Bytes;
use deskfleet::fields::FieldValue;
use deskfleet::limits::{LINE_ERRORS_MAX, TEXT_MAX};
use deskfleet::routes::{Access, Answer, ROUTES, RequestBody, Route};
use deskfleet::{
    Action, ActionRequest, AuditAction, AuditResult, Config, Engine, NewKey, Scope, Scopes, State,
    Stream, Workspace,
};
use http::header::CONTENT_TYPE;
use schema::{document, mismatch, operations, resolved};
use serde_json::Value;

const SERVICE: [&str; 6] = ["livez", "readyz", "metrics", "openapi", "index", "icon"];

#[test]
fn openapi_operations_equal_the_routes() {
    let document = document();
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
    let document = document();
    for route in ROUTES {
        let id = route.operation_id;
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameters: Vec<_> = parameters.map(|each| resolved(&document, each)).collect();
        let named = |place: &str| {
            let placed = parameters.iter().filter(|each| each["in"] == place);
            let names = placed.map(|each| each["name"].as_str().unwrap());
            names.collect::<BTreeSet<_>>()
        };
        let mut expected: BTreeSet<&str> = route.query.iter().map(|param| param.name).collect();
        let keyed = matches!(route.access, Access::Key(_));
        if keyed && route.path.starts_with("/api/") {
            expected.insert("apiKey");
        }
        assert_eq!(named("query"), expected, "{id}");
        let segments = route
            .path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{'));
        let segments = segments.map(|name| name.strip_suffix('}').unwrap());
        assert_eq!(named("path"), segments.collect(), "{id}");
        let reads = route.body != RequestBody::None;
        let headers = if reads {
            vec!["Content-Encoding"]
        } else {
            Vec::new()
        };
        assert_eq!(named("header"), headers.into_iter().collect(), "{id}");
        assert_eq!(!operation["requestBody"].is_null(), reads, "{id}");
        let required = parameters.iter().filter(|each| each["required"] == true);
        let required = required.map(|each| each["name"].as_str().unwrap());
        let always = route.query.iter().filter(|param| param.required);
        let mut always: BTreeSet<_> = always.map(|param| param.name).collect();
        always.extend(named("path"));
        assert_eq!(required.collect::<BTreeSet<_>>(), always, "{id}");

        let ways = operation["security"].as_array().unwrap();
        let open = ways.iter().any(|way| way.as_object().unwrap().is_empty());
        assert_eq!(
            (ways.len(), open),
            if keyed { (3, false) } else { (4, true) },
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
            let response = resolved(&document, &responses[&status]);
            assert!(codes(response).contains(code.as_str()), "{id} {status}");
        }
        let told = responses
            .get("415")
            .map(|response| resolved(&document, response));
        let told =
            told.map(|response| resolved(&document, &response["headers"]["Accept-Encoding"]));
        assert_eq!(
            told.is_some_and(|header| header["schema"]["const"] == "gzip, identity"),
            reads,
            "{id}"
        );
        assert!(responses.contains_key("401"), "{id}");
        let bounded = route.body_bytes_max(&Config::default().limits) < usize::MAX;
        assert_eq!(responses.contains_key("413"), reads && bounded, "{id}");
    }
}

/// The codes of a problem response: each has its example.
fn codes(response: &Value) -> BTreeSet<&str> {
    let examples = response.pointer("/content/application~1problem+json/examples");
    let examples = examples.and_then(Value::as_object).unwrap();
    examples.keys().map(String::as_str).collect()
}

#[test]
fn openapi_records_have_every_field_with_its_bounds() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for (stream, name) in Stream::ALL.into_iter().zip([
        "StatsRecord",
        "ActivityRecord",
        "StartupRecord",
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
        &document["paths"]["/api/Information/GetAllWorkSpaces"]["get"]["parameters"][0]["schema"];
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
    let document = document();
    let mut found = BTreeSet::new();
    walk(&document, &mut found);
    for target in &found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    let components = document["components"].as_object().unwrap();
    for (kind, members) in components
        .iter()
        .filter(|(kind, _)| *kind != "securitySchemes")
    {
        for name in members.as_object().unwrap().keys() {
            let used = found.contains(&format!("#/components/{kind}/{name}"));
            assert!(used, "{kind} {name} is used nowhere");
        }
    }
}

/// Requests that go wrong in every way a client can cause, and some that succeed.
fn attempts(route: &Route, keys: &[String]) -> Vec<http::Request<Bytes>> {
    // On the other one an action runs and a hold is placed, so that it cannot be replaced.
    let replaced = route.operation_id == "putWorkspace";
    let workspace = if replaced { "ws-2" } else { "ws-1" };
    let path = route
        .path
        .replace("{workSpId}", workspace)
        .replace("{id}", "7");
    let mut attempts = Vec::new();
    for key in keys {
        for query in [
            "",
            "?username=x&workSpaceId=ws-2&instanceId=ws-1&metric=cpu&stream=activity",
            "?limit=abc&from=x&numberOfActivities=x",
            "?%zz",
            "?instanceId=ws-1&workSpaceId=ws-1",
        ] {
            for content_type in ["", "application/json", "text/html"] {
                let good = r#"{"matter":"m","name":"k","scopes":["read"],"username":"x","action":"RebootWorkSpace","workSpaceIds":["ws-1"]}"#;
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
    config.require_ingest_key = true;
    let document = document();
    let mut checked = BTreeSet::new();
    for route in ROUTES {
        let (engine, admin, ingest) = populated(&config);
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        for request in attempts(route, &["unknown".to_owned(), ingest, admin]) {
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

#[test]
fn openapi_schemas_have_the_names_and_bounds_of_the_engine() {
    let document = document();
    let property = |schema: &str, name: &str| {
        let schema = &document["components"]["schemas"][schema];
        resolved(&document, &schema["properties"][name]).clone()
    };
    let values = |schema: &str| &document["components"]["schemas"][schema]["x-extensible-enum"];
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
    let states: Vec<_> = State::ALL.iter().map(|state| state.as_str()).collect();
    assert_eq!(values("WorkSpaceAction"), &names(&actions));
    assert_eq!(values("AuditAction"), &names(&audited));
    assert_eq!(values("AuditResult"), &names(&results));
    assert_eq!(values("Scope"), &names(&scopes));
    let known = &document["components"]["schemas"]["WorkSpaceState"]["examples"];
    assert_eq!(known, &names(&states));
    for (schema, name) in [
        ("NewKey", "name"),
        ("KeyInfo", "name"),
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
    for schema in ["BatchResult", "ImportReport"] {
        assert_eq!(property(schema, "errors")["maxItems"], LINE_ERRORS_MAX);
    }
}
