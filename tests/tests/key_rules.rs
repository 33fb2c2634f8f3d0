//! The rules about keys hold between requests that are pending together: each is judged by what the ones before it left.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{CommitDriver, Config, Engine, ManualClock, NewKey, Scope, Timestamp};
use deskfleet_tests::conformance::case::NOW;
use http::{Request, StatusCode};

fn engine() -> Engine {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    with_clock(config, ManualClock::new(NOW.parse().unwrap()))
}

fn with_clock(config: Config, clock: ManualClock) -> Engine {
    let builder = Engine::builder().clock(clock).seed(7).config(config);
    builder.open_in_memory().unwrap()
}

fn admin_key(engine: &Engine, name: &str) -> String {
    let key = NewKey::new(name, [Scope::Admin]);
    engine.issue_key(key).unwrap().secret
}

/// Sends the requests, commits them together, and returns their statuses.
fn together<const N: usize>(engine: &Engine, requests: [Request<Bytes>; N]) -> [StatusCode; N] {
    let context = &mut Context::from_waker(Waker::noop());
    let mut pending = requests.map(|request| engine.call(request));
    for future in &mut pending {
        assert!(Pin::new(future).poll(context).is_pending());
    }
    engine.commit_pending();
    pending.map(|mut future| match Pin::new(&mut future).poll(context) {
        Poll::Ready(response) => response.status(),
        Poll::Pending => panic!("committed"),
    })
}

#[test]
fn concurrent_keys_of_one_name_are_issued_once() {
    let engine = engine();
    let key = admin_key(&engine, "admin");
    let issue = |name: &str| {
        let request = Request::post("/operator/keys")
            .header("x-api-key", &key)
            .header("content-type", "application/json");
        let body = format!(r#"{{"name":"{name}","scopes":["read"]}}"#);
        request.body(Bytes::from(body)).unwrap()
    };
    let statuses = together(&engine, [issue("desk"), issue("Desk"), issue("other")]);
    assert_eq!(statuses.map(|status| status.as_u16()), [201, 409, 201]);
    assert_eq!(engine.keys().len(), 3);
}

#[test]
fn concurrent_revocations_leave_an_admin_key() {
    let engine = engine();
    let keys = ["first", "second"].map(|name| admin_key(&engine, name));
    let revoke = |id: u64| {
        let request = Request::delete(format!("/operator/keys/{id}"));
        let request = request.header("x-api-key", &keys[0]);
        request.body(Bytes::new()).unwrap()
    };
    let statuses = together(&engine, [revoke(1), revoke(2)]);
    assert_eq!(statuses.map(|status| status.as_u16()), [200, 409]);
    let live = engine.keys();
    assert_eq!(live.iter().filter(|key| key.revoked.is_none()).count(), 1);
}

#[test]
fn key_that_ended_longer_ago_than_the_audit_is_kept_is_deleted() {
    let start: Timestamp = NOW.parse().unwrap();
    let clock = ManualClock::new(start);
    let engine = with_clock(Config::default(), clock.clone());
    let issue = |name: &str, days: Option<i64>| {
        let key = NewKey::new(name, [Scope::Read])
            .expiring(days.map(|days| start.plus_seconds(days * 86_400)));
        engine.issue_key(key).unwrap().info.id
    };
    let (kept, revoked) = (issue("kept", None), issue("revoked", None));
    let (expires, later) = (issue("expires", Some(1)), issue("later", Some(300)));
    let newest = issue("newest", None);
    engine.revoke_key(revoked).unwrap();
    engine.revoke_key(newest).unwrap();
    let left_after = |days: i64| {
        clock.set(start.plus_seconds(days * 86_400));
        engine.apply_retention().unwrap();
        engine.keys().iter().map(|key| key.id).collect::<Vec<_>>()
    };
    assert_eq!(left_after(365), [kept, revoked, expires, later, newest]);
    assert_eq!(left_after(367), [kept, later, newest]);
    // The newest stays, so that no start takes the store for one that never had a key.
    assert_eq!(left_after(700), [kept, newest]);
}
