//! The operations of the server's own, which have no row in the route table.

use deskfleet::Code;
use serde_json::{Value, json};

use super::layout::Json;
use super::operations::{PAGES, Page, SESSION};
use super::problems::Problems;

/// Path, method and operation object of each.
pub(super) fn operations(problems: &mut Problems) -> Vec<(&'static str, &'static str, Json)> {
    let pages = PAGES.iter().map(|each| (each.path, "get", page(each)));
    pages
        .chain([("/console/session", "post", session(problems))])
        .collect()
}

/// The schemas of their bodies.
pub(super) fn schemas() -> [(&'static str, Value); 1] {
    let code = json!({
        "type": "string",
        "description": "The code: what is after `#code=` in the link, 43 characters of base64url.",
    });
    let sign_in = json!({
        "type": "object",
        "description": "The code of a link to the console.",
        "required": ["code"],
        "properties": {"code": code},
    });
    [("SignIn", sign_in)]
}

fn page(page: &Page) -> Json {
    let responses = page.responses.iter().map(|(status, description, example)| {
        let media = if page.media_type == "text/plain" {
            json!({"schema": {"type": "string"}, "example": example})
        } else {
            json!({"schema": {}})
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

fn session(problems: &mut Problems) -> Json {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let body = json!({
        "required": true,
        "content": {"application/json": {"schema": reference("SignIn"), "example": {"code": SESSION.code}}},
    });
    let issued = Json::object([
        ("description", json!(SESSION.done).into()),
        (
            "content",
            Json::object([(
                "application/json",
                Json::object([
                    ("schema", reference("IssuedKey").into()),
                    ("example", Json::parse(SESSION.issued)),
                ]),
            )]),
        ),
    ]);
    let refused = problems.of(&[
        Code::InvalidBody,
        Code::InvalidRequest,
        Code::InvalidApiKey,
        Code::RequestTimeout,
        Code::PayloadTooLarge,
        Code::UnsupportedMediaType,
        Code::MisdirectedRequest,
        Code::Throttled,
        Code::HeadersTooLarge,
        Code::Internal,
        Code::StorageUnavailable,
        Code::Indeterminate,
        Code::LowDisk,
        Code::ServerBusy,
    ]);
    let refused = refused
        .into_iter()
        .map(|(status, response)| (status, response.into()));
    let responses = [("201".to_owned(), issued)].into_iter().chain(refused);
    Json::object([
        ("operationId", json!("consoleSession").into()),
        ("tags", json!(["service"]).into()),
        ("summary", json!(SESSION.summary).into()),
        ("description", json!(SESSION.description).into()),
        ("security", json!([]).into()),
        ("requestBody", body.into()),
        ("responses", Json::object(responses)),
    ])
}
