//! The query grammar of the questions about the fleet.

use std::sync::LazyLock;

use bytes::Bytes;
use deskfleet::routes::{Answer, Method, ROUTES};
use deskfleet::{Record, StartupRecord, StatsRecord};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response};
use serde_json::Value;

use super::{Subject, exchange, subject};

/// Every run is read-only.
static SUBJECT: LazyLock<Subject> = LazyLock::new(|| {
    let subject = subject();
    for instance in ["ws-1", "i"] {
        let stats = StatsRecord {
            instance_id: instance.into(),
            username: "jdoe".into(),
            processor_in_use: Some(90),
            ..StatsRecord::default()
        };
        let startup = StartupRecord {
            instance_id: instance.into(),
            total_ms: Some(9000),
            ..StartupRecord::default()
        };
        for record in [
            Record::Stats(Box::new(stats)),
            Record::Startup(Box::new(startup)),
        ] {
            subject.engine.record(record).expect("a good record");
        }
    }
    subject.engine.file_pending().expect("filing");
    subject
});

/// Most pages before a walk of two desktops counts as endless; one of each row at least.
const PAGES_MAX: usize = 200;

/// `input` as the query of every question, in each format: 200, or 400 with the parameter that is wrong; the formats have the same rows, and the
/// tokens lead to the end.
///
/// # Panics
/// When the engine breaks a promise.
pub fn question(input: &[u8]) {
    let Ok(query) = str::from_utf8(input) else {
        return;
    };
    let questions = ROUTES
        .iter()
        .filter(|route| route.method == Method::Get && matches!(route.answer, Answer::Rows(_)));
    for path in questions.map(|route| route.path) {
        let Some(response) = get(&format!("{path}?{query}"), "application/json") else {
            continue;
        };
        if response.headers()[CONTENT_TYPE] != "application/json; charset=utf-8" {
            continue;
        }
        let page: Value = serde_json::from_slice(response.body()).expect("JSON");
        if page["rows"].is_array() {
            check_formats(path, query, &page);
            walk(path, query, &page);
        }
    }
}

/// NDJSON has the rows of JSON, and CSV as many lines, unless a text has a line break.
fn check_formats(path: &str, query: &str, page: &Value) {
    let target = format!("{path}?{query}");
    let rows = page["rows"].as_array().expect("rows");
    let lines = get(&target, "application/x-ndjson").expect("as JSON");
    let text = str::from_utf8(lines.body()).expect("UTF-8");
    let parsed: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row a line"))
        .collect();
    assert_eq!(&parsed, rows, "{target}");
    let csv = get(&target, "text/csv").expect("as JSON");
    let text = str::from_utf8(csv.body()).expect("UTF-8");
    assert_eq!(
        text.matches("\r\n").count(),
        rows.len() + 1,
        "{target}: {text}"
    );
    for response in [&lines, &csv] {
        let token = response.headers().get("x-next-token");
        let token = token.map(|token| token.to_str().expect("visible ASCII"));
        assert_eq!(page["nextToken"].as_str(), token, "{target}");
    }
}

/// The tokens lead to the end, under the same query.
fn walk(path: &str, query: &str, first: &Value) {
    let mut token = check_page(first);
    let mut pages = 1;
    while let Some(next) = token {
        assert!(pages < PAGES_MAX, "{path}?{query} never ends");
        pages += 1;
        // The first value of a name counts.
        let target = format!("{path}?nextToken={next}&{query}");
        let response = get(&target, "*/*").expect("its own token");
        token = check_page(&serde_json::from_slice(response.body()).expect("a page is JSON"));
    }
}

/// The answer, if it is 200.
fn get(target: &str, accept: &str) -> Option<Response<Bytes>> {
    let mut request = Request::get(target).body(Bytes::new()).ok()?;
    let headers = request.headers_mut();
    headers.insert("x-api-key", HeaderValue::from_str(&SUBJECT.key).ok()?);
    headers.insert("accept", HeaderValue::from_str(accept).ok()?);
    let response = exchange(&SUBJECT.engine, request);
    let status = response.status().as_u16();
    assert!(matches!(status, 200 | 400 | 414), "{target}: {status}");
    if status == 400 {
        let problem: Value = serde_json::from_slice(response.body()).expect("a problem");
        assert!(problem["errors"].is_object(), "{target}: {problem}");
    }
    (status == 200).then_some(response)
}

/// The members of a page agree with each other; returns the token of the next.
fn check_page(page: &Value) -> Option<String> {
    let token = page["nextToken"].as_str().map(str::to_owned);
    assert_eq!(page["hasMore"], token.is_some(), "{page}");
    assert!(
        page["at"].is_string() && page["warnings"].is_array(),
        "{page}"
    );
    assert!(
        token
            .as_ref()
            .is_none_or(|token| token.len() <= deskfleet::limits::PAGE_TOKEN_MAX)
    );
    token
}
