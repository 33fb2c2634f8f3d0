//! `POST /console/session`: a key of twelve hours for the code of a link.

use std::sync::Arc;

use deskfleet::{Code, Engine, EngineError, ErrorKind, IssuedKey, NewKey, Scope, Timestamp};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::request::refusal::{self, Refused};
use crate::state::ServerState;

/// How long a key of the console is accepted.
const KEY_SECONDS: i64 = 12 * 60 * 60;
/// The longest name of a person and a browser, in characters.
const WHO_CHARS_MAX: usize = 200;
/// The number of names that are tried for a key, because others may be taken.
const NAMES_MAX: usize = 9;

const NO_JSON: Refused = (
    Code::UnsupportedMediaType,
    "The body is JSON: Content-Type is application/json.",
);
const NO_CODE: Refused = (
    Code::InvalidBody,
    "The body is {\"code\":\"…\"}, with `who` if it is known.",
);
const UNKNOWN: Refused = (
    Code::InvalidApiKey,
    "The code is not valid: it was used, it is older than 30 minutes, or there is none like it.",
);
/// The message about a key that cannot be issued.
const NOT_ISSUED: &str = "No key was issued; the code can be sent again.";

/// The body of the request.
#[derive(Deserialize)]
struct SignIn {
    code: String,
    /// Who signs in, and in which browser.
    who: Option<String>,
}

/// Exchanges the code in a body for a key. If no key can be issued, the code stays valid.
pub(crate) async fn exchange(
    shared: &ServerState,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<IssuedKey, Refused> {
    // A page of another origin cannot make a browser send JSON without a preflight.
    if !is_json(headers) {
        return Err(NO_JSON);
    }
    let SignIn { code, who } = serde_json::from_slice(body).map_err(|_| NO_CODE)?;
    let engine = shared.engine.clone();
    let codes = Arc::clone(&shared.sign_in_codes);
    let now = engine.now();
    let taken = codes.take(&code, now).ok_or(UNKNOWN)?;
    // It waits for a commit, also when the client is gone.
    let issuing = spawn_blocking(move || {
        issue(&engine, who.as_deref(), now).inspect_err(|_| codes.give_back(taken))
    });
    let issued = issuing.await.map_err(|_| refusal::ENDED)?;
    issued.map_err(|error| (error.kind().into(), NOT_ISSUED))
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// Issues an admin key that is named after who signs in, as far as that is known, and the time.
fn issue(engine: &Engine, who: Option<&str>, now: Timestamp) -> Result<IssuedKey, EngineError> {
    let who: String = who
        .unwrap_or_default()
        .trim()
        .chars()
        .take(WHO_CHARS_MAX)
        .collect();
    let prefix = if who.is_empty() {
        who
    } else {
        format!("{who}, ")
    };
    let mut time = now.to_string();
    if let Some(fraction) = time.find('.') {
        time.replace_range(fraction.., "Z");
    }
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("{prefix}console {time}"),
            number => format!("{prefix}console {time} {number}"),
        };
        let issued = engine.issue_key(
            NewKey::new(name, [Scope::Admin]).expiring(Some(now.plus_seconds(KEY_SECONDS))),
        );
        match issued {
            Err(error) if error.kind() == ErrorKind::DuplicateKeyName && number < NAMES_MAX => {
                number += 1;
            }
            issued => return issued,
        }
    }
}
