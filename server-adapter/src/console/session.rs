//! `POST /console/session`: a key of twelve hours for the code of a link.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{Code, Engine, EngineError, ErrorKind, IssuedKey, NewKey, Scope, Timestamp};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::task::spawn_blocking;

use super::codes::{IssuedCode, SignInCodes};
use crate::body::in_time;
use crate::options::ServerOptions;
use crate::progress::Progress;
use crate::refusal::{self, KeyAttempt, Refused};
use crate::state::ServerState;

/// Most bytes of a body, which has a code of 43 characters.
const BODY_BYTES_MAX: usize = 1024;
/// The longest that a body takes to arrive.
const BODY_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a key of the console is accepted.
const KEY_SECONDS: i64 = 12 * 60 * 60;
/// Names that are tried for a key, of which others may have been taken by hand.
const NAMES_MAX: usize = 9;

const NO_JSON: Refused = (
    Code::UnsupportedMediaType,
    "The body is JSON: Content-Type is application/json.",
);
const TOO_LARGE: Refused = (Code::PayloadTooLarge, "The body has at most 1024 bytes.");
const NO_CODE: Refused = (Code::InvalidBody, "The body is {\"code\":\"…\"}.");
const UNKNOWN: Refused = (
    Code::InvalidApiKey,
    "The code is not valid: it was used, it is older than 30 minutes, or there is none like it.",
);
/// Of every failure to issue a key.
const NOT_ISSUED: &str = "No key was issued; the code can be sent again.";

/// The body of the request.
#[derive(Deserialize)]
struct SignIn {
    code: String,
}

/// The response to a request for a session; with the name of its key, if one was issued.
pub(crate) async fn respond(
    shared: &ServerState,
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
) -> (Response<Bytes>, Option<String>) {
    let attempt = KeyAttempt::from(shared, progress, &request);
    let traceparent = refusal::traceparent(&request).cloned();
    let (method, version) = (request.method().clone(), request.version());
    let refuse = |refused| refusal::respond(&shared.engine, refused, traceparent.as_ref());
    if method != Method::POST {
        let mut refused = refuse((Code::MethodNotAllowed, ""));
        let allow = HeaderValue::from_static("POST");
        refused.headers_mut().insert(ALLOW, allow);
        return (refusal::to(&method, refused), None);
    }
    let read = match code(options, progress, request).await {
        Ok(code) => code,
        Err(refused) => {
            let mut refused = refuse(refused);
            if progress.is_cut() {
                refusal::close(&mut refused, version);
            }
            return (refused, None);
        }
    };
    match key(shared, &read).await {
        Ok(key) => (created(&key), Some(key.info.name)),
        Err(refused) => (attempt.after(shared, options, refuse(refused)), None),
    }
}

/// The code in the body of a request. A page of another origin makes no browser send JSON without asking first.
async fn code(
    options: &ServerOptions,
    progress: &Progress,
    request: Request<Incoming>,
) -> Result<String, Refused> {
    let (head, body) = request.into_parts();
    let time_max = options.body_timeout.min(BODY_TIME_MAX);
    let _receiving = progress.receiving();
    let collected = match in_time(time_max, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
        Ok(Err(_)) => Err(refusal::BROKEN),
        Err(_) => Err(refusal::LATE),
    };
    let bytes = collected.inspect_err(|_| progress.cut())?;
    if !is_json(&head.headers) {
        return Err(NO_JSON);
    }
    let sign_in: SignIn = serde_json::from_slice(&bytes).map_err(|_| NO_CODE)?;
    Ok(sign_in.code)
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next());
    media_type.is_some_and(|media_type| media_type.trim().eq_ignore_ascii_case("application/json"))
}

/// Exchanges a code for a key. Where no key can be issued the code stays valid.
async fn key(shared: &ServerState, code: &str) -> Result<IssuedKey, Refused> {
    let engine = shared.engine.clone();
    let codes = Arc::clone(&shared.sign_in_codes);
    let taken = codes.take(code, engine.now()).ok_or(UNKNOWN)?;
    // It waits for a commit. A client that is gone does not end it.
    let issuing = spawn_blocking(move || exchange(&engine, &codes, taken));
    let issued = issuing.await.map_err(|_| refusal::ENDED)?;
    issued.map_err(|error| (error.kind().into(), NOT_ISSUED))
}

fn exchange(
    engine: &Engine,
    codes: &SignInCodes,
    code: IssuedCode,
) -> Result<IssuedKey, EngineError> {
    issue(engine, engine.now()).inspect_err(|_| codes.give_back(code))
}

/// Issues an admin key that is named after the time.
fn issue(engine: &Engine, now: Timestamp) -> Result<IssuedKey, EngineError> {
    let mut time = now.to_string();
    if let Some(fraction) = time.find('.') {
        time.replace_range(fraction.., "Z");
    }
    let mut number = 1;
    loop {
        let name = match number {
            1 => format!("console {time}"),
            number => format!("console {time} {number}"),
        };
        let issued = engine.issue_key(NewKey {
            name,
            scopes: [Scope::Admin].into_iter().collect(),
            expires: Some(now.plus_seconds(KEY_SECONDS)),
        });
        match issued {
            Err(error) if error.kind() == ErrorKind::DuplicateKeyName && number < NAMES_MAX => {
                number += 1;
            }
            issued => return issued,
        }
    }
}

/// 201 with the key, as `POST /operator/keys` returns it.
fn created(key: &IssuedKey) -> Response<Bytes> {
    let json = serde_json::to_vec(key).unwrap_or_default();
    let mut response = Response::new(json.into());
    *response.status_mut() = StatusCode::CREATED;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, "application/json; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
