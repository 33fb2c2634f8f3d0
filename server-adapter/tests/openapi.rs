//! The OpenAPI document against the engine's tables, both ways.

use std::collections::BTreeSet;
use std::time::SystemTime;

use crate::schema::{codes, document, mismatch, operations, resolved};
use crate::served::served;
use deskfleet::limits::{LINE_ERRORS_MAX, TEXT_MAX};
use deskfleet::routes::{Access, Answer, ROUTES, RequestBody, Route};
use deskfleet::{
    Action, ActionBatchRequest, AuditAction, AuditResult, Config, Engine, NewKey, Scope, State,
    Stream, Workspace,
};
use deskfleet_server::ServerOptions;
use serde_json::Value;

const SERVICE: [&str; 16] = [
    "livez",
    "readyz",
    "metrics",
    "openapi",
    "index",
    "icon",
    "consoleSession",
    "listBackups",
    "backUp",
    "downloadBackup",
    "clusterStatus",
    "fleetSettings",
    "configureFleet",
    "finalizeCluster",
    "forgetNode",
    "takeLease",
];

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
        let mut expected: BTreeSet<&str> = route.parameters().map(|param| param.name).collect();
        let keyed = route.access != Access::Telemetry;
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
        assert_eq!(named("header"), headers(route), "{id}");
        assert_eq!(!operation["requestBody"].is_null(), reads, "{id}");
        let required = parameters.iter().filter(|each| each["required"] == true);
        let required = required.map(|each| each["name"].as_str().unwrap());
        let always = route.parameters().filter(|param| param.required);
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

/// The headers that a route reads, but for those of all routes.
fn headers(route: &Route) -> BTreeSet<&'static str> {
    let coding = (route.body != RequestBody::None).then_some("Content-Encoding");
    let event = (route.answer == Answer::Events).then_some("Last-Event-ID");
    coding.into_iter().chain(event).collect()
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

#[test]
fn documented_actions_of_a_batch_are_those_that_are_accepted() {
    let document = document();
    let request = &document["components"]["schemas"]["ActionBatchRequest"];
    let action = resolved(&document, &request["properties"]["action"]);
    let documented = action["x-extensible-enum"].as_array().unwrap();
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .open_in_memory();
    let engine = engine.unwrap();
    let is_accepted = |action: &&AuditAction| {
        let mut batch = ActionBatchRequest::new(**action, ["ws-1"]);
        batch.compute_type = Some("POWER".to_owned());
        engine.start_actions(batch).is_ok()
    };
    let accepted = AuditAction::ALL.iter().filter(is_accepted);
    let accepted: Vec<_> = accepted.map(|action| action.as_str()).collect();
    assert_eq!(documented, &accepted);
}

#[test]
fn accepted_lines_of_a_telemetry_batch_match_their_schema() {
    let document = document();
    let operation = &document["paths"]["/operator/telemetry"]["post"];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["items"];
    let served = served(ServerOptions::default(), |_| {});
    let ingest = NewKey::new("agents", [Scope::Ingest]);
    let key = served.engine.issue_key(ingest).unwrap().secret;
    let key = format!("x-api-key: {key}\r\n");
    for stream in Stream::ALL {
        let name = stream.name();
        let record = r#"{"instanceId":"ws-1"}"#;
        let named = format!(r#"{{"{name}":{record}}}"#);
        for (line, query) in [(named.as_str(), ""), (&named, name), (record, name)] {
            let target = format!("/operator/telemetry?stream={query}");
            let answer = served.client().post(&target, &key, line);
            assert_eq!(answer.json()["accepted"], 1, "{line} {answer:?}");
            let line = serde_json::from_str(line).unwrap();
            assert_eq!(mismatch(&document, schema, &line, "$"), None);
        }
    }
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
