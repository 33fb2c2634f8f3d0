//! Makes the OpenAPI document and the TypeScript types: from the route table and the schemas of the engine, whose texts are the
//! documentation of the Rust types, and from the texts and examples of the operations in `operations/`.
//!
//! `cargo openapi` writes both files; a test compares them with what is made here.

mod double_table;
mod fleet;
mod layout;
mod operations;
mod parameters;
mod problems;
mod schemas;
mod service;
mod typescript;

use deskfleet::routes::{Access, Answer, Audited, BodyForm, ROUTES, Route};
use deskfleet::schema::Schemas;
use deskfleet::{Scope, query::Question};
use serde_json::{Value, json};

use fleet::Fleet;
use layout::Json;
use operations::{AREAS, Operation};
use problems::Problems;

/// The files that are made here, from the root of the repository, with what makes them.
pub const FILES: [(&str, Text); 4] = [
    ("server-adapter/openapi.json", document),
    ("wasm/js/types.d.ts", types),
    ("wasm/js/testing/table.js", double_table::script),
    ("wasm/js/testing/table.d.ts", double_table::types),
];

/// Makes the text of a file.
pub type Text = fn() -> String;

const DESCRIPTION: &str = "Inventory, lifecycle actions and telemetry of virtual desktop workspaces.\n\n\
Paths and query names are matched without regard to case; unknown query names and unknown members of a body are ignored. Every GET \
answers HEAD too. JSON is read as `application/json`, `text/json` and `application/*+json`. Times are UTC.\n\n\
Send the key as `X-Api-Key`, as a bearer token, or as the query parameter `apiKey`.\n\n\
A refused request returns problem details with a `code`, which does not change; its texts may. Values listed as \
`x-extensible-enum` may become more: a client must accept others.";

/// The OpenAPI document.
#[must_use]
pub fn document() -> String {
    let mut schemas = Schemas::default();
    schemas.problems();
    schemas.cluster_status();
    schemas.provider_lease();
    let bodies: Vec<_> = ROUTES
        .iter()
        .map(|route| (schemas.body(route.body), schemas.answer(route.answer)))
        .collect();
    let mut components = schemas::cleaned(schemas.components().to_value());
    for (name, schema) in service::schemas() {
        components[name] = schema;
    }
    service::add_problems(&mut components["ClusterStatus"]);
    let mut problems = Problems::new(&components["ProblemCode"]);
    let texts = AREAS.iter().map(|area| area.operations.len());
    assert_eq!(
        texts.sum::<usize>(),
        ROUTES.len(),
        "an endpoint for each text"
    );
    let mut paths = Json::object::<String>([]);
    for (route, (body, answer)) in ROUTES.iter().zip(bodies) {
        let body = body.map(|schema| schemas::cleaned(schema.to_value()));
        let answer = answer.map(|schema| schemas::cleaned(schema.to_value()));
        let method = route.method.as_str().to_ascii_lowercase();
        let operation = operation(route, body.as_ref(), answer.as_ref(), &mut problems);
        insert(&mut paths, route.path, &method, operation);
    }
    for (path, method, operation) in service::operations(&mut problems) {
        insert(&mut paths, path, method, operation);
    }
    let fleet = Fleet::new();
    let examples = problems.codes.iter().map(|code| {
        let value = Json::parse(&fleet.problem(*code));
        (code.as_str(), Json::object([("value", value)]))
    });
    let components = [
        ("schemas", Json::from(components)),
        ("parameters", parameters::shared().into()),
        ("headers", problems::headers().into()),
        ("responses", problems.shared().into()),
        ("examples", Json::object(examples)),
        ("securitySchemes", security_schemes().into()),
    ];
    let tags = AREAS
        .iter()
        .map(|area| json!({"name": area.tag, "description": area.description}))
        .chain([json!({"name": "service", "description": "What the server adds to the engine."})]);
    Json::object([
        ("openapi", json!("3.1.0").into()),
        ("info", info()),
        (
            "servers",
            json!([{"url": "/", "description": "The server that this document comes from."}])
                .into(),
        ),
        ("tags", tags.collect::<Value>().into()),
        ("paths", paths),
        ("components", Json::object(components)),
    ])
    .pretty()
}

/// The TypeScript types of all bodies.
#[must_use]
pub fn types() -> String {
    let mut schemas = Schemas::default();
    schemas.problems();
    for route in ROUTES {
        schemas.body(route.body);
        schemas.answer(route.answer);
    }
    typescript::declarations(&Json::from(schemas::cleaned(
        schemas.components().to_value(),
    )))
}

fn info() -> Json {
    Json::object([
        ("title", json!("deskfleet").into()),
        ("summary", json!("Workspace Management Service").into()),
        ("description", json!(DESCRIPTION).into()),
        ("version", json!("1.0.0").into()),
        (
            "license",
            json!({"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"}).into(),
        ),
    ])
}

fn security_schemes() -> Value {
    json!({
        "apiKeyHeader": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "The key, `dfk_…`."},
        "bearer": {"type": "http", "scheme": "bearer", "description": "The key as a bearer token."},
        "apiKey": {"type": "apiKey", "in": "query", "name": "apiKey", "description": "The key in the address, for clients that cannot set headers."},
    })
}

fn insert(paths: &mut Json, path: &str, method: &str, operation: Json) {
    let methods = paths.members_mut().entry(path.to_owned());
    let methods = methods.or_insert_with(|| Json::object::<String>([]));
    methods.members_mut().insert(method.to_owned(), operation);
}

fn operation(
    route: &Route,
    body: Option<&Value>,
    answer: Option<&Value>,
    problems: &mut Problems,
) -> Json {
    let (tag, text) = operations::find(route.path, route.operation_id);
    let mut operation = vec![
        ("operationId", json!(route.operation_id).into()),
        ("tags", json!([tag]).into()),
        ("summary", json!(text.summary).into()),
        ("description", json!(description(route, text)).into()),
        ("security", security(route.access).into()),
    ];
    let fleet = Fleet::new();
    let parameters = parameters::of_route(route, &fleet.target(text));
    if !parameters.is_empty() {
        operation.push(("parameters", json!(parameters).into()));
    }
    if let Some(schema) = body {
        operation.push(("requestBody", request_body(route, schema, text.body)));
    }
    let example = |accept: &str| fleet.example(route.method, text, accept);
    let success = match (route.answer, answer) {
        (Answer::Rows(Question::Metrics), Some(schema)) => {
            let media = [
                ("schema", schema.clone()),
                ("example", json!(example("*/*"))),
            ];
            let content = [(
                "text/plain",
                Json::object(media.map(|(name, value)| (name, value.into()))),
            )];
            Json::object([
                ("description", json!(text.done).into()),
                ("content", Json::object(content)),
            ])
        }
        (Answer::Rows(question), Some(schema)) if question != Question::Fleet => {
            rows(text.done, schema, example)
        }
        (Answer::Export, Some(schema)) => export(text.done, schema, example),
        (_, schema) => success(route.answer, text.done, schema, &example("*/*")),
    };
    let status = if route.answer == Answer::IssuedKey {
        "201"
    } else {
        "200"
    };
    let refused = problems.responses(route).into_iter();
    let refused = refused.map(|(status, response)| (status, response.into()));
    let responses = [(status.to_owned(), success)].into_iter().chain(refused);
    operation.push(("responses", Json::object(responses)));
    Json::object(operation)
}

fn description(route: &Route, text: &Operation) -> String {
    let key = match route.access {
        Access::Key(Scope::Ingest) => "\n\nNeeds a key with scope `ingest`, or `admin`.".to_owned(),
        Access::Key(scope) => format!("\n\nNeeds a key with scope `{}`.", scope.as_str()),
        Access::KeyOrAudit(scope) => {
            format!(
                "\n\nNeeds a key with scope `{}` or `audit`.",
                scope.as_str()
            )
        }
        Access::Telemetry => {
            "\n\nNeeds no key, unless the server requires one with scope `ingest`.".to_owned()
        }
    };
    let audited = match route.audited {
        Audited::Always(action) => {
            format!(" Each call is a row `{}` of the audit.", action.as_str())
        }
        Audited::Never | Audited::Export => String::new(),
    };
    format!("{}{key}{audited}", text.description)
}

/// Any one of the three ways to send the key; of telemetry also none.
fn security(access: Access) -> Value {
    match access {
        Access::Key(_) | Access::KeyOrAudit(_) => {
            json!([{"apiKeyHeader": []}, {"bearer": []}, {"apiKey": []}])
        }
        Access::Telemetry => json!([{}, {"apiKeyHeader": []}, {"bearer": []}, {"apiKey": []}]),
    }
}

fn request_body(route: &Route, schema: &Value, example: &str) -> Json {
    let media = |schema: &Value, example: Json| {
        Json::object([("schema", schema.clone().into()), ("example", example)])
    };
    let lines = json!({
        "description": "One JSON object a line.",
        "type": "string",
        "contentMediaType": "application/x-ndjson",
        "contentSchema": schema,
    });
    let text = || Json::from(json!(example));
    // JSON comes first: generators take the type of the first one, and send it as JSON where they can.
    let content = match route.body.form() {
        BodyForm::Batch => {
            let array = json!({"type": "array", "items": schema});
            let first = example.lines().next().expect("an example with a line");
            let records = Json::Array(vec![Json::parse(first)]);
            vec![
                ("application/json", media(&array, records)),
                ("application/x-ndjson", media(&lines, text())),
            ]
        }
        BodyForm::Import => {
            let array = json!({"type": "array", "items": schema});
            let first = example.lines().next().expect("an example with a line");
            let items = Json::Array(vec![Json::parse(first)]);
            let csv = json!({"type": "string", "description": "The first line names the fields. An empty cell leaves its field unchanged."});
            let table = json!("workSpId,username,state\nws-5n7p9q2r4,kchan,AVAILABLE\n");
            vec![
                ("application/json", media(&array, items)),
                ("application/x-ndjson", media(&lines, text())),
                ("text/csv", media(&csv, table.into())),
            ]
        }
        BodyForm::None | BodyForm::Json | BodyForm::OptionalJson => {
            vec![("application/json", media(schema, Json::parse(example)))]
        }
    };
    let required = route.body.form() != BodyForm::OptionalJson;
    Json::object([
        ("required", json!(required).into()),
        ("content", Json::object(content)),
    ])
}

fn success(answer: Answer, done: &str, schema: Option<&Value>, example: &str) -> Json {
    let mut response = Json::from(json!({"description": done}));
    let Some(schema) = schema else {
        assert!(example.is_empty(), "{answer:?} has no schema");
        return response;
    };
    if answer == Answer::Events {
        return events(response, schema, example);
    }
    let media_types = if answer == Answer::NegotiatedPage {
        // As the interface document has them.
        &["application/json", "text/json", "text/plain"][..]
    } else {
        &["application/json"]
    };
    let content = media_types.iter().map(|media_type| {
        let schema = ("schema", Json::from(schema.clone()));
        (
            *media_type,
            Json::object([schema, ("example", Json::parse(example))]),
        )
    });
    let content = Json::object(content);
    response.members_mut().insert("content".to_owned(), content);
    response
}

/// A page of rows in three formats; `example` makes one as the media type.
fn rows(done: &str, schema: &Value, example: impl Fn(&str) -> String) -> Json {
    let csv = "The same rows as CSV (RFC 4180), the names of the columns in the first line. A text that a spreadsheet would take for a formula \
        has an apostrophe before it.";
    let text = |media_type, message: &str| {
        let schema = json!({"type": "string", "description": message});
        let example = Json::from(json!(example(media_type)));
        (
            media_type,
            [("schema", schema.into()), ("example", example)],
        )
    };
    let json = [
        ("schema", Json::from(schema.clone())),
        ("example", Json::parse(&example("application/json"))),
    ];
    let content = [
        ("application/json", json),
        text("text/csv", csv),
        text(
            "application/x-ndjson",
            "The same rows, one JSON object a line.",
        ),
    ];
    let headers = ["X-Next-Token", "X-Warning"].map(|name| {
        let reference = json!({"$ref": format!("#/components/headers/{name}")});
        (name, reference.into())
    });
    let content = content.map(|(media_type, media)| (media_type, Json::object(media)));
    Json::object([
        ("description", json!(done).into()),
        ("headers", Json::object(headers)),
        ("content", Json::object(content)),
    ])
}

/// Records line by line in two formats; `example` makes one as the media type.
fn export(done: &str, schema: &Value, example: impl Fn(&str) -> String) -> Json {
    let ndjson = json!({
        "schema": {
            "description": "A record a line.",
            "type": "string",
            "contentMediaType": "application/x-ndjson",
            "contentSchema": schema,
        },
        "example": example("application/x-ndjson"),
    });
    let csv = json!({
        "schema": {
            "type": "string",
            "description": "CSV (RFC 4180), the names of the columns in the first line. A text that a spreadsheet would take for a formula has an \
                apostrophe before it.",
        },
        "example": example("text/csv"),
    });
    let content = [
        ("application/x-ndjson", ndjson.into()),
        ("text/csv", csv.into()),
    ];
    Json::object([
        ("description", json!(done).into()),
        ("content", Json::object(content)),
    ])
}

/// A page of events, or a stream of them.
fn events(mut response: Json, schema: &Value, example: &str) -> Json {
    let json = Json::object([
        ("schema", schema.clone().into()),
        ("example", Json::parse(example)),
    ]);
    let stream = json!({
        "schema": {"type": "string", "description": "Server-sent events; the `data` of each is one of the `rows` of a page."},
        "example": "id: 4412\nevent: hold.released\ndata: {\"id\":4412,\"at\":\"2026-11-20T09:16:03Z\",\"type\":\"hold.released\",\"workSpaceId\":\"ws-8k2m4n6p1\",\"username\":\"jdoe\",\"detail\":{\"by\":\"console\"}}\n\n",
    });
    let content = Json::object([
        ("application/json", json),
        ("text/event-stream", stream.into()),
    ]);
    response.members_mut().insert("content".to_owned(), content);
    response
}
