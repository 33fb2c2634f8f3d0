//! Keys and page tokens from outside: every refusal of a key is the same to the byte, and a token has the form of the
//! contract.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use deskfleet::{
    Engine, Event, IssuedKey, ManualClock, NewKey, Scope, Workspace, WorkspaceList, WorkspaceQuery,
};
use deskfleet_tests::conformance::case::{NOW, TRACE};
use deskfleet_tests::conformance::fixtures::fleet;
use deskfleet_tests::disk::Disk;
use http::Request;

fn engine() -> (Engine, ManualClock) {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let builder = Engine::builder().clock(clock.clone()).seed(7);
    (builder.open_backend(Disk::new().backend()).unwrap(), clock)
}

fn key(engine: &Engine, name: &str, expires: Option<&str>) -> IssuedKey {
    let expires = expires.map(|time| time.parse().unwrap());
    engine
        .issue_key(NewKey::new(name, [Scope::Read]).expiring(expires))
        .unwrap()
}

#[test]
fn missing_empty_unknown_revoked_and_expired_keys_are_refused_in_the_same_bytes() {
    let (engine, clock) = engine();
    let revoked = key(&engine, "reader", None);
    engine.revoke_key(revoked.info.id).unwrap();
    let expired = key(&engine, "expired", Some("2026-11-20T12:00:30Z"));
    let good = key(&engine, "good", None);
    clock.advance_seconds(60);
    let answer = |query: &str| {
        let uri = format!("/api/Information/GetAllWorkSpaces{query}");
        let request = Request::get(uri)
            .header("traceparent", TRACE)
            .body(Bytes::new())
            .unwrap();
        format!("{:?}", engine.handle(request))
    };
    let with = |secret: &str| answer(&format!("?apiKey={secret}"));
    let answers: BTreeSet<_> = [
        answer(""),
        answer("?apiKey"),
        with(""),
        with("x"),
        with("%ZZ"),
        with(&format!("{}A", good.secret)),
        with(&revoked.secret),
        with(&expired.secret),
    ]
    .into();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert!(answers.iter().all(|answer| answer.contains("401")));
    assert!(with(&good.secret).contains("200"));
}

#[test]
fn key_is_32_bytes_in_base64url_and_printed_nowhere() {
    let (engine, _) = engine();
    let keys = ["a", "b"].map(|name| key(&engine, name, None));
    assert_ne!(keys[0].secret, keys[1].secret);
    for key in &keys {
        let secret = key.secret.strip_prefix("dfk_").unwrap();
        assert_eq!(secret.len(), 43);
        assert!(secret.bytes().all(is_base64url), "{secret}");
        assert!(!format!("{key:?} {:?} {engine:?}", engine.keys()).contains(secret));
    }
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Injected code may panic during a request, and its message goes to a log.
#[test]
fn panic_message_holds_no_key_and_no_query() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let armed = Arc::new(AtomicBool::new(false));
    let trap = Arc::clone(&armed);
    let engine = Engine::builder()
        .clock(clock)
        .seed(7)
        .observer(move |event: &Event<'_>| {
            assert!(!trap.load(Ordering::SeqCst), "a trap: {event:?}");
        })
        .open_backend(Disk::new().backend())
        .unwrap();
    let admin = engine
        .issue_key(NewKey::new("admin", [Scope::Admin]))
        .unwrap();
    let message: Arc<Mutex<String>> = Arc::default();
    let heard = Arc::clone(&message);
    let here = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() != here {
            return before(panic);
        }
        let mut heard = heard.lock().unwrap();
        heard.push_str(&panic.to_string());
        heard.push_str(&std::backtrace::Backtrace::force_capture().to_string());
    }));
    armed.store(true, Ordering::SeqCst);
    let target = format!(
        "/api/Actions/RebootWorkSpace?workSpaceId=ws-1&x=canary-query&apiKey={}",
        admin.secret
    );
    let handled = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        engine.handle(Request::post(target).body(Bytes::new()).unwrap())
    }));
    armed.store(false, Ordering::SeqCst);
    drop(std::panic::take_hook());
    let message = message.lock().unwrap().clone() + &format!("{handled:?}");
    assert!(message.contains("a trap"), "{message}");
    for canary in [&admin.secret[4..], "canary-query"] {
        assert!(!message.contains(canary), "{message}");
    }
}

/// The longest possible id still fits.
#[test]
fn page_token_is_base64url_of_at_most_512_characters() {
    let (engine, _) = engine();
    for letter in ["a", "🖥", "\u{10ffff}"] {
        engine
            .put_workspace(Workspace {
                id: letter.repeat(64),
                ..Workspace::default()
            })
            .unwrap();
        engine.place_hold(&letter.repeat(64), "m", None).unwrap();
    }
    engine
        .put_workspace(Workspace {
            id: "\u{10ffff}z".to_owned(),
            ..Workspace::default()
        })
        .unwrap();
    let mut tokens = Vec::new();
    let mut token = None;
    loop {
        token = engine
            .workspaces(&WorkspaceQuery {
                limit: 1,
                next_token: token.clone(),
                ..WorkspaceQuery::default()
            })
            .unwrap()
            .next_token;
        tokens.extend(token.clone());
        if token.is_none() {
            break;
        }
    }
    tokens.extend(
        engine
            .workspaces(&WorkspaceQuery {
                list: WorkspaceList::OnHold,
                limit: 1,
                ..WorkspaceQuery::default()
            })
            .unwrap()
            .next_token,
    );
    assert_eq!(tokens.len(), 4);
    for token in tokens {
        assert!(token.len() <= 512, "{} characters", token.len());
        assert!(token.bytes().all(is_base64url), "{token}");
    }
}

/// A walk with limits of 1, 7, 100 and 500 over a fleet of several pages returns every workspace once, in order.
#[test]
fn page_walks_with_any_limit_return_every_workspace_once() {
    let (engine, _) = engine();
    let all: Vec<_> = fleet(1203).collect();
    assert_eq!(engine.put_workspaces(all.clone()).unwrap(), 1203);
    for limit in [1, 7, 100, 500] {
        let mut walked = Vec::new();
        let mut token = None;
        loop {
            let page = engine
                .workspaces(&WorkspaceQuery {
                    limit,
                    next_token: token.clone(),
                    ..WorkspaceQuery::default()
                })
                .unwrap();
            walked.extend(page.workspaces);
            token = page.next_token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(walked, all, "limit {limit}");
    }
}
