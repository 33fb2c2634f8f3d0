//! Every way each route can refuse, as status and codes.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::routes::{Method, RequestBody, Route};
use deskfleet::{Code, Config};
use serde_json::{Value, json};

use crate::body::CODINGS;
use crate::failed_keys::needs_key;

/// Refusals that any request can meet.
const ALWAYS: [Code; 8] = [
    Code::InvalidParameter,
    Code::InvalidRequest,
    Code::MisdirectedRequest,
    Code::ServerBusy,
    Code::UriTooLong,
    Code::HeadersTooLarge,
    Code::Internal,
    Code::StorageUnavailable,
];

/// The codes of a route by status.
pub(super) fn by_status(route: &Route, config: &Config) -> BTreeMap<u16, BTreeSet<Code>> {
    let mut codes: Vec<Code> = ALWAYS.to_vec();
    codes.extend(route.problems);
    if needs_key(route.access, config) {
        codes.extend([
            Code::InvalidApiKey,
            Code::InsufficientScope,
            Code::Throttled,
        ]);
    }
    match route.body {
        RequestBody::None => {}
        RequestBody::Workspaces => codes.extend([
            Code::InvalidBody,
            Code::UnsupportedMediaType,
            Code::RequestTimeout,
        ]),
        RequestBody::Batch
        | RequestBody::Record(_)
        | RequestBody::Workspace
        | RequestBody::Hold
        | RequestBody::NewKey
        | RequestBody::ActionFailure => codes.extend([
            Code::InvalidBody,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
            Code::RequestTimeout,
        ]),
    }
    if route.method != Method::Get {
        codes.extend([Code::LowDisk, Code::Indeterminate]);
    }
    let mut statuses: BTreeMap<u16, BTreeSet<Code>> = BTreeMap::new();
    for code in codes {
        statuses.entry(code.status()).or_default().insert(code);
    }
    statuses
}

/// The response object of one status.
pub(super) fn response(status: u16, codes: &BTreeSet<Code>) -> Value {
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let mut response = json!({
        "description": names.join(", "),
        "content": {
            "application/problem+json": {
                "schema": {
                    "allOf": [
                        {"$ref": "#/components/schemas/Problem"},
                        {"properties": {"status": {"const": status}, "code": {"enum": names}}},
                    ],
                },
            },
        },
    });
    let header = match status {
        401 => Some(("WWW-Authenticate", json!({"schema": {"const": "Bearer"}}))),
        415 => Some((
            "Accept-Encoding",
            json!({
                "description": "The content codings that are read, where the coding was not.",
                "schema": {"const": CODINGS},
            }),
        )),
        429 | 503 => Some((
            "Retry-After",
            json!({"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}}),
        )),
        _ => None,
    };
    if let (Some((name, header)), Some(response)) = (header, response.as_object_mut()) {
        response.insert("headers".to_owned(), json!({ name: header }));
    }
    response
}
