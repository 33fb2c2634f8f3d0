//! The operations of the server's own, which have no row in the route table.

use deskfleet::Code;
use deskfleet::limits::{LEASE_SECONDS_MAX, TEXT_MAX};
use serde_json::{Value, json};

use super::layout::Json;
use super::operations::{Done, PAGES, Page, SERVICES, Service};
use super::problems::Problems;

/// Refusals of each operation that is no page.
const ALWAYS: [Code; 9] = [
    Code::InvalidRequest,
    Code::InvalidApiKey,
    Code::RequestTimeout,
    Code::PayloadTooLarge,
    Code::MisdirectedRequest,
    Code::Throttled,
    Code::HeadersTooLarge,
    Code::Internal,
    Code::ServerBusy,
];

/// Path, method and operation object of each.
pub(super) fn operations(problems: &mut Problems) -> Vec<(&'static str, &'static str, Json)> {
    let pages = PAGES.iter().map(|each| (each.path, "get", page(each)));
    let services = SERVICES.iter();
    let services = services.map(|each| (each.path, each.method, service(each, problems)));
    pages.chain(services).collect()
}

/// The schemas of their bodies.
pub(super) fn schemas() -> [(&'static str, Value); 5] {
    let object = |description: &str, properties: Value| {
        let names = properties.as_object().expect("an object").keys();
        json!({
            "type": "object",
            "description": description,
            "required": names.collect::<Vec<_>>(),
            "properties": properties,
        })
    };
    let code = json!({
        "type": "string",
        "description": "The code: what is after `#code=` in the link, 43 characters of base64url.",
    });
    let mut sign_in = object(
        "The code of a link to the console, and who signs in.",
        json!({"code": code, "who": {
            "type": ["string", "null"],
            "description": "Who signs in, and in which browser; of more than 200 characters the first are taken.",
        }}),
    );
    sign_in["required"] = json!(["code"]);
    let backup = json!({
        "file": {"type": "string", "description": "The name of the file in the folder for backups."},
        "bytes": {"type": "integer", "format": "int64", "description": "The length of the file, in bytes."},
        "at": {"type": "string", "format": "date-time", "description": "When the copy was begun, to the millisecond."},
    });
    let list = json!({
        "configured": {"type": "boolean", "description": "Whether the server was started with a folder for backups."},
        "backups": {
            "type": "array",
            "description": "The complete copies in the folder, newest first.",
            "items": {"$ref": "#/components/schemas/Backup"},
            "maxItems": 100,
        },
    });
    let settings = json!({
        "type": "object",
        "description": "Settings by their names.",
        "additionalProperties": {"type": ["string", "integer"], "description": "A number, or text such as `1h30m`."},
    });
    let lease = json!({
        "provider": {"type": "string", "minLength": 1, "maxLength": TEXT_MAX, "description": "The name of the provider, as in its attempts."},
        "instance": {"type": "string", "minLength": 1, "maxLength": TEXT_MAX, "description": "The process, as in its attempts: a text that it chooses at random."},
        "seconds": {"type": "integer", "minimum": 0, "maximum": LEASE_SECONDS_MAX, "description": "How long the lease lasts from now on; 0 ends it."},
    });
    [
        ("LeaseRequest", object("The lease to take.", lease)),
        ("FleetSettings", settings),
        ("SignIn", sign_in),
        ("Backup", object("A complete copy of the store.", backup)),
        ("BackupList", object("The copies of the store.", list)),
    ]
}

/// Adds to the schema of a fleet what the server says beside the engine.
pub(super) fn add_problems(status: &mut Value) {
    status["properties"]["problems"] = json!({
        "type": "array",
        "description": "A sentence for each thing that is wrong, with what to do. None while all is well.",
        "items": {"type": "string"},
    });
    let required = status["required"].as_array_mut().expect("an array");
    required.push(json!("problems"));
}

fn page(page: &Page) -> Json {
    let responses = page.responses.iter().map(|(status, description, example)| {
        let media = match page.media_type {
            "text/plain" => json!({"schema": {"type": "string"}, "example": example}),
            "application/json" => json!({"schema": {"type": "object"}}),
            _ => json!({"schema": {"type": "string"}}),
        };
        let response = json!({"description": description, "content": {page.media_type: media}});
        (*status, response.into())
    });
    let misdirected = json!({"$ref": "#/components/responses/MisdirectedRequest"});
    let responses = responses.chain([("421", misdirected.into())]);
    Json::object([
        ("operationId", json!(page.id).into()),
        ("tags", json!(["service"]).into()),
        ("summary", json!(page.summary).into()),
        ("description", json!(page.description).into()),
        ("security", json!([]).into()),
        ("responses", Json::object(responses)),
    ])
}

fn service(service: &Service, problems: &mut Problems) -> Json {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let media = |schema: &str, example: &str| {
        let media = Json::object([
            ("schema", reference(schema).into()),
            ("example", Json::parse(example)),
        ]);
        Json::object([("application/json", media)])
    };
    let security = if service.keyed {
        json!([{"apiKeyHeader": []}, {"bearer": []}, {"apiKey": []}])
    } else {
        json!([])
    };
    let mut operation = vec![
        ("operationId", json!(service.id).into()),
        ("tags", json!(["service"]).into()),
        ("summary", json!(service.summary).into()),
        ("description", json!(service.description).into()),
        ("security", security.into()),
    ];
    if let Some((schema, example)) = service.body {
        let body = Json::object([
            ("required", json!(true).into()),
            ("content", media(schema, example)),
        ]);
        operation.push(("requestBody", body));
    }
    if let Some((name, description, example)) = service.parameter {
        let parameter = json!({
            "name": name, "in": "path", "required": true, "description": description,
            "schema": {"type": "string", "minLength": 1}, "example": example,
        });
        operation.push(("parameters", json!([parameter]).into()));
    }
    let (status, meaning, body) = &service.response;
    let mut done = vec![("description", json!(meaning).into())];
    let mut rest = None;
    match body {
        Done::Json(schema, example) => done.push(("content", media(schema, example))),
        Done::File => {
            let content = json!({"application/octet-stream": {"schema": {}}});
            done.push(("content", content.clone().into()));
            let description = "The bytes that `Range` asks for.";
            let partial = json!({"description": description, "content": content});
            rest = Some(("206".to_owned(), partial.into()));
        }
        Done::Empty => {}
    }
    let done = Json::object(done);
    let codes: Vec<Code> = ALWAYS.iter().chain(service.problems).copied().collect();
    let refused = problems.responses_for_codes(&codes).into_iter();
    let refused = refused.map(|(status, response)| (status, response.into()));
    let done = [((*status).to_owned(), done)];
    let responses = done.into_iter().chain(rest).chain(refused);
    operation.push(("responses", Json::object(responses)));
    Json::object(operation)
}
