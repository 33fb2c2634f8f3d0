//! Exchanges: what was asked and what was returned, without keys. A journal of them has assertions, and can be replayed.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use serde::{Deserialize, Serialize};

use crate::domain::query::{API_KEY, decode_segment};

/// The headers of a request that an exchange has.
const REQUEST_HEADERS: [&str; 4] = ["accept", "content-type", "last-event-id", "traceparent"];
/// The headers of a response that an exchange does not have.
const RESPONSE_HEADERS_LEFT_OUT: [&str; 5] = [
    "set-cookie",
    "content-length",
    // They are of the connection, or of the bytes on it: a recorded body is the text.
    "content-encoding",
    "transfer-encoding",
    "connection",
];
/// What begins every key of an engine.
const KEY_PREFIX: &str = "dfk_";
/// What stands in the place of a key.
const REMOVED: &str = "removed";
/// Shorter values of a key header are not looked for in bodies, where they could be anything.
const KEY_BYTES_MIN: usize = 8;
/// The texts that a double keeps, in bytes; above it the oldest exchanges go.
const KEPT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What an exchange takes beside its texts.
const EXCHANGE_BYTES: usize = 512;

/// One request and its response. No member has a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exchange {
    /// Operation id; absent where no operation has that path and method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The method.
    pub method: String,
    /// Path and query, without `apiKey`.
    pub url: String,
    /// `accept`, `content-type`, `last-event-id` and `traceparent` of the request, by their names in lower case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body of the request, as UTF-8.
    #[serde(default)]
    pub body: String,
    /// The status.
    pub status: u16,
    /// The headers of the response, by their names in lower case.
    #[serde(default)]
    pub response_headers: BTreeMap<String, String>,
    /// The body of the response, as UTF-8.
    #[serde(default)]
    pub response_body: String,
}

/// The request of an exchange before its response is known.
#[derive(Debug)]
pub(super) struct Asked {
    keys: Vec<String>,
    exchange: Exchange,
}

impl Asked {
    pub(super) fn new(operation: Option<&str>, request: &Request<Bytes>) -> Self {
        let keys = keys_of(request);
        let headers = request.headers();
        let kept = |name: &str| REQUEST_HEADERS.contains(&name);
        let exchange = Exchange {
            operation: operation.map(str::to_owned),
            method: request.method().to_string(),
            url: without_keys(&without_key_parameter(request.uri()), &keys),
            headers: texts(headers, kept, &keys),
            body: without_keys(&String::from_utf8_lossy(request.body()), &keys),
            status: 0,
            response_headers: BTreeMap::new(),
            response_body: String::new(),
        };
        Self { keys, exchange }
    }

    pub(super) fn answered(self, response: &Response<Bytes>) -> Exchange {
        let kept = |name: &str| !RESPONSE_HEADERS_LEFT_OUT.contains(&name);
        Exchange {
            status: response.status().as_u16(),
            response_headers: texts(response.headers(), kept, &self.keys),
            response_body: without_keys(&String::from_utf8_lossy(response.body()), &self.keys),
            ..self.exchange
        }
    }
}

impl Exchange {
    fn is_same_request(&self, other: &Self) -> bool {
        self.method == other.method && self.url == other.url && self.body == other.body
    }

    fn bytes(&self) -> usize {
        let headers = self.headers.iter().chain(&self.response_headers);
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        EXCHANGE_BYTES + headers + self.url.len() + self.body.len() + self.response_body.len()
    }

    /// The response as it was recorded.
    fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.response_body.clone()));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        for (name, value) in &self.response_headers {
            let name = http::HeaderName::try_from(name);
            if let (Ok(name), Ok(value)) = (name, value.parse()) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

fn texts(
    headers: &HeaderMap,
    kept: impl Fn(&str) -> bool,
    keys: &[String],
) -> BTreeMap<String, String> {
    let named = headers.iter().filter(|(name, _)| kept(name.as_str()));
    named
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            (name.to_string(), without_keys(&value, keys))
        })
        .collect()
}

/// Splits a query into its parameters, each with its decoded name.
fn parameters(query: &str) -> impl Iterator<Item = (&str, Option<String>)> {
    query.split('&').map(|parameter| {
        let name = parameter.split('=').next().unwrap_or_default();
        (parameter, decode_segment(name))
    })
}

fn is_key(name: Option<&str>) -> bool {
    name.is_none_or(|name| name.eq_ignore_ascii_case(API_KEY))
}

/// Path and query. A parameter whose name cannot be decoded goes as well: it could be a key.
fn without_key_parameter(uri: &Uri) -> String {
    let mut url = uri.path().to_owned();
    let query = uri.query().unwrap_or_default();
    let kept = parameters(query).filter(|(_, name)| !is_key(name.as_deref()));
    for (index, (parameter, _)) in kept
        .filter(|(parameter, _)| !parameter.is_empty())
        .enumerate()
    {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(parameter);
    }
    url
}

/// The keys that a request carries, which a service may repeat in a body.
fn keys_of(request: &Request<Bytes>) -> Vec<String> {
    let headers = request.headers();
    let header = headers
        .get("x-api-key")
        .into_iter()
        .chain(headers.get(AUTHORIZATION));
    let texts = header.filter_map(|value| value.to_str().ok());
    let of_headers = texts.map(|text| text.rsplit(' ').next().unwrap_or_default().to_owned());
    let query = request.uri().query().unwrap_or_default();
    let of_query = parameters(query)
        .filter(|(_, name)| is_key(name.as_deref()))
        .filter_map(|(parameter, _)| decode_segment(parameter.split_once('=')?.1));
    let mut keys: Vec<String> = of_headers.chain(of_query).collect();
    keys.retain(|key| key.len() >= KEY_BYTES_MIN);
    keys
}

/// The text with [`REMOVED`] in the place of each key: of these, and of all that look like a key of an engine.
fn without_keys(text: &str, keys: &[String]) -> String {
    let mut text = text.to_owned();
    for key in keys {
        text = text.replace(key.as_str(), REMOVED);
    }
    let mut parts = text.split(KEY_PREFIX);
    let mut cleaned = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_key = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        cleaned.push_str(REMOVED);
        cleaned.push_str(part.trim_start_matches(is_of_key));
    }
    cleaned
}

/// Exchanges in the order of their responses: of a double, or of a real service, to be replayed. As JSON it is a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Journal {
    /// The exchanges.
    pub exchanges: Vec<Exchange>,
}

impl Journal {
    /// Adds an exchange with a real service. Keys are removed. The bodies are texts without a content coding: ask the service with
    /// `Accept-Encoding: identity`, or decode first.
    pub fn record(&mut self, request: &Request<Bytes>, response: &Response<Bytes>) {
        let exchange = Asked::new(None, request).answered(response);
        self.exchanges.push(exchange);
    }

    /// The exchanges of an operation.
    pub fn exchanges_of<'j, 'o>(
        &'j self,
        operation: &'o str,
    ) -> impl Iterator<Item = &'j Exchange> + use<'j, 'o> {
        let is_its = move |of: &&Exchange| of.operation.as_deref() == Some(operation);
        self.exchanges.iter().filter(is_its)
    }

    /// The bodies of the requests of an operation, in order.
    #[must_use]
    pub fn bodies(&self, operation: &str) -> Vec<&str> {
        let exchanges = self.exchanges_of(operation);
        exchanges.map(|exchange| exchange.body.as_str()).collect()
    }

    /// The operation ids of all exchanges, in order; those without an operation are left out.
    #[must_use]
    pub fn operations(&self) -> Vec<&str> {
        let ids = self.exchanges.iter();
        ids.filter_map(|of| of.operation.as_deref()).collect()
    }

    /// Asserts that an operation was requested exactly `count` times.
    ///
    /// # Panics
    /// When it was not; the message has the operations that were.
    #[track_caller]
    pub fn assert_count(&self, operation: &str, count: usize) {
        let found = self.exchanges_of(operation).count();
        let all = self.operations();
        assert!(
            found == count,
            "{operation} was requested {found} times and not {count}; requested were {all:?}"
        );
    }

    /// Asserts that these operations were requested in this order. Others may stand between them.
    ///
    /// # Panics
    /// When they were not; the message has the operations that were.
    #[track_caller]
    pub fn assert_order(&self, operations: &[&str]) {
        let all = self.operations();
        let mut rest = all.iter();
        let missing = operations.iter().find(|id| !rest.any(|found| found == *id));
        assert!(
            missing.is_none(),
            "{missing:?} is not in its place of {operations:?}; requested were {all:?}"
        );
    }
}

/// The journal of a double while it runs: the newest exchanges, bounded in bytes.
#[derive(Debug, Default)]
pub(super) struct Kept {
    exchanges: VecDeque<Exchange>,
    bytes: usize,
}

impl Kept {
    pub(super) fn push(&mut self, exchange: Exchange) {
        self.bytes += exchange.bytes();
        self.exchanges.push_back(exchange);
        while self.bytes > KEPT_BYTES_MAX {
            let Some(oldest) = self.exchanges.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    pub(super) fn journal(&self) -> Journal {
        Journal {
            exchanges: self.exchanges.iter().cloned().collect(),
        }
    }
}

/// Exchanges to replay, each with whether it was used.
#[derive(Debug, Default)]
pub(super) struct Replay(Vec<(Exchange, bool)>);

impl Replay {
    pub(super) fn new(journal: Journal) -> Self {
        let exchanges = journal.exchanges.into_iter();
        Self(exchanges.map(|exchange| (exchange, false)).collect())
    }

    /// The response of the first exchange with this request that was not used yet, else of the last one with it.
    pub(super) fn response(&mut self, asked: &Asked) -> Option<Response<Bytes>> {
        let is_same = |(exchange, _): &(Exchange, bool)| exchange.is_same_request(&asked.exchange);
        let unused = self.0.iter().position(|of| is_same(of) && !of.1);
        let index = unused.or_else(|| self.0.iter().rposition(is_same))?;
        let (exchange, used) = self.0.get_mut(index)?;
        *used = true;
        Some(exchange.response())
    }
}
