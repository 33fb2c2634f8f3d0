//! Every way each operation can refuse: problem responses, shared where several operations have the same.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::Code;
use deskfleet::routes::{Access, Method, ROUTES, RequestBody, Route};
use serde_json::{Map, Value, json};

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

type Codes = BTreeSet<Code>;

/// The codes of a route by status. Of the Stats endpoints also those of a server that requires a key.
pub(super) fn by_status(route: &Route) -> BTreeMap<u16, Codes> {
    let mut codes: Vec<Code> = ALWAYS.to_vec();
    codes.extend(route.problems);
    match route.access {
        Access::Telemetry | Access::Key(_) | Access::KeyOrAudit(_) => codes.extend([
            Code::InvalidApiKey,
            Code::InsufficientScope,
            Code::Throttled,
        ]),
    }
    // An import may have any length.
    if !matches!(route.body, RequestBody::None | RequestBody::Workspaces) {
        codes.push(Code::PayloadTooLarge);
    }
    if route.body != RequestBody::None {
        codes.extend([
            Code::InvalidBody,
            Code::UnsupportedMediaType,
            Code::RequestTimeout,
        ]);
    }
    if route.method != Method::Get {
        codes.extend([Code::LowDisk, Code::Indeterminate]);
    }
    grouped(codes)
}

fn grouped(codes: impl IntoIterator<Item = Code>) -> BTreeMap<u16, Codes> {
    let mut statuses: BTreeMap<u16, Codes> = BTreeMap::new();
    for code in codes {
        statuses.entry(code.status()).or_default().insert(code);
    }
    statuses
}

/// The problem responses of all routes, and the ones that are shared.
#[derive(Default)]
pub(super) struct Problems {
    /// What each code means, by the code.
    meanings: BTreeMap<String, String>,
    /// The codes that every route with that status has.
    base: BTreeMap<u16, Codes>,
    shared: BTreeMap<String, Value>,
    /// The codes that occur.
    pub(super) codes: Codes,
}

impl Problems {
    /// `code_schema` is that of the codes, whose description says what each means.
    pub(super) fn new(code_schema: &Value) -> Self {
        let description = code_schema["description"].as_str().expect("a description");
        let meaning = |line: &str| {
            let (code, meaning) = line.strip_prefix("- `")?.split_once("`: ")?;
            Some((code.to_owned(), meaning.to_owned()))
        };
        let mut base: BTreeMap<u16, Codes> = BTreeMap::new();
        for route in ROUTES {
            for (status, codes) in by_status(route) {
                let common = base.entry(status).or_insert_with(|| codes.clone());
                *common = common.intersection(&codes).copied().collect();
            }
        }
        Self {
            meanings: description.lines().filter_map(meaning).collect(),
            base,
            ..Self::default()
        }
    }

    /// The response objects of a route, by status.
    pub(super) fn responses(&mut self, route: &Route) -> Map<String, Value> {
        self.grouped(&by_status(route))
    }

    /// The response objects of these codes, by status.
    pub(super) fn responses_for_codes(&mut self, codes: &[Code]) -> Map<String, Value> {
        self.grouped(&grouped(codes.iter().copied()))
    }

    fn grouped(&mut self, all: &BTreeMap<u16, Codes>) -> Map<String, Value> {
        let responses = all.iter().map(|(status, codes)| {
            self.codes.extend(codes);
            let response = self.response(*status, codes);
            let Some(name) = self.name(*status, codes) else {
                return (status.to_string(), response);
            };
            let reference = json!({"$ref": format!("#/components/responses/{name}")});
            self.shared.insert(name, response);
            (status.to_string(), reference)
        });
        responses.collect()
    }

    /// The shared responses, by name.
    pub(super) fn shared(&self) -> Value {
        json!(self.shared)
    }

    /// The name of a response with these codes: the code where it is only one, else the reason phrase and the codes that not every
    /// operation has. `None` for those of a single operation or few.
    fn name(&self, status: u16, codes: &Codes) -> Option<String> {
        if let (Some(code), 1) = (codes.first(), codes.len()) {
            return Some(code.as_str().to_owned());
        }
        let is_more = |base: &&Codes| !base.is_empty() && base.is_subset(codes);
        let base = self.base.get(&status).filter(is_more)?;
        let status = http::StatusCode::from_u16(status).ok()?;
        let phrase: String = status.canonical_reason()?.split(' ').collect();
        let more = codes
            .difference(base)
            .map(|code| format!("Or{}", code.as_str()));
        Some([phrase].into_iter().chain(more).collect())
    }

    fn response(&self, status: u16, codes: &Codes) -> Value {
        let names = || codes.iter().map(|code| code.as_str());
        let lines = names().map(|code| format!("- `{code}`: {}", self.meanings[code]));
        let lines: Vec<String> = lines.collect();
        let description = match &lines[..] {
            [only] => only.trim_start_matches("- ").to_owned(),
            lines => lines.join("\n"),
        };
        let examples: Map<String, Value> = names()
            .map(|code| {
                (
                    code.to_owned(),
                    json!({"$ref": format!("#/components/examples/{code}")}),
                )
            })
            .collect();
        let schema = if status == 400 {
            "ValidationProblemDetails"
        } else {
            "ProblemDetails"
        };
        let mut response = json!({
            "description": description,
            "content": {"application/problem+json": {
                "schema": {"$ref": format!("#/components/schemas/{schema}")},
                "examples": examples,
            }},
        });
        let header = match status {
            401 => "WWW-Authenticate",
            415 => "Accept-Encoding",
            429 | 503 => "Retry-After",
            _ => return response,
        };
        response["headers"] = json!({header: {"$ref": format!("#/components/headers/{header}")}});
        response
    }
}

/// The headers of responses.
pub(super) fn headers() -> Value {
    json!({
        "X-Next-Token": {
            "description": "Beside CSV and NDJSON: the token of the next page; absent on the last page.",
            "schema": {"type": "string"},
        },
        "X-Warning": {
            "description": "Beside CSV and NDJSON: what the answer leaves out or widens, a sentence in a header each.",
            "schema": {"type": "string"},
        },
        "WWW-Authenticate": {
            "description": "How to send the key.",
            "schema": {"type": "string", "const": "Bearer"},
        },
        "Accept-Encoding": {
            "description": "The content codings that are read, where that of the body was not.",
            "schema": {"type": "string", "const": "gzip, identity"},
        },
        "Retry-After": {
            "description": "When to try again, in seconds.",
            "schema": {"type": "integer", "minimum": 0},
        },
    })
}
