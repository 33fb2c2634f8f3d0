//! Query strings and page tokens.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderValue, Request};
use serde_json::Value;

use super::{Subject, exchange, subject};

/// Every run is read-only.
static SUBJECT: LazyLock<Subject> = LazyLock::new(subject);

/// Most pages before a walk of two workspaces counts as endless.
const PAGES_MAX: usize = 4;

/// `input` as the query of the paged endpoints: 200 or 400, and the tokens returned lead to the end of the list.
///
/// # Panics
/// When the engine breaks a promise.
pub fn query(input: &[u8]) {
    let Ok(query) = str::from_utf8(input) else {
        return;
    };
    for path in [
        "/api/Information/GetAllWorkSpaces",
        "/api/Information/GetWorkSpacesOnLitigationHold",
        "/operator/workspaces",
    ] {
        let Some(page) = get(&format!("{path}?{query}")) else {
            continue;
        };
        let mut token = check_page(&page);
        let mut pages = 1;
        while let Some(next) = token {
            assert!(pages < PAGES_MAX, "{path}?{query} never ends");
            pages += 1;
            let page = get(&format!("{path}?limit=1&nextToken={next}"));
            token = page.and_then(|page| check_page(&page));
        }
    }
}

/// The body of a 200; `None` when the target cannot be sent or the answer is a refusal.
fn get(target: &str) -> Option<Value> {
    let mut request = Request::get(target).body(Bytes::new()).ok()?;
    let key = HeaderValue::from_str(&SUBJECT.key).ok()?;
    request.headers_mut().insert("x-api-key", key);
    let response = exchange(&SUBJECT.engine, request);
    let status = response.status().as_u16();
    assert!(
        status == 200 || status == 400 || status == 414,
        "{target}: {status}"
    );
    (status == 200).then(|| serde_json::from_slice(response.body()).expect("a page is JSON"))
}

/// The members of a page agree with each other; returns the token of the next.
fn check_page(page: &Value) -> Option<String> {
    assert!(page["workSpaces"].is_array(), "{page}");
    let token = page["nextToken"].as_str().map(str::to_owned);
    assert_eq!(page["hasMore"], token.is_some(), "{page}");
    assert!(
        token
            .as_ref()
            .is_none_or(|token| token.len() <= deskfleet::limits::PAGE_TOKEN_MAX)
    );
    token
}
