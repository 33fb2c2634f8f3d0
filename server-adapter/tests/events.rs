//! `GET /query/events` as a stream: what it sends, how it resumes, and what ends it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::followed::Followed;
use crate::served::{Served, served};
use deskfleet::{ActionRequest, Engine, NewKey, Scope, Timestamp, Workspace};
use deskfleet_server::ServerOptions;

fn workspace(id: &str, region: usize) -> Workspace {
    Workspace {
        id: id.into(),
        username: Some("jdoe".into()),
        state: Some("AVAILABLE".into()),
        region: Some(region.to_string()),
        ..Workspace::default()
    }
}

/// Appends `count` events.
fn change(engine: &Engine, count: usize) {
    let begun = engine.events(None).position();
    for number in 0..count {
        let region = usize::try_from(begun).unwrap() + number;
        engine.put_workspace(workspace("ws-1", region)).unwrap();
    }
}

fn reader(name: &str, expires: Option<Timestamp>) -> NewKey {
    NewKey::new(name, [Scope::Read]).expiring(expires)
}

impl Served {
    fn follow(&self, query: &str, headers: &str) -> Followed {
        Followed::begin(self.server.addr(), &self.key, query, headers).unwrap()
    }
}

fn quiet() -> ServerOptions {
    ServerOptions {
        maintain_every: None,
        ..ServerOptions::default()
    }
}

#[test]
fn stream_sends_each_event_with_its_id_type_and_json() {
    let options = ServerOptions {
        cors_origins: vec!["https://console.example.com".to_owned()],
        ..quiet()
    };
    let served = served(options, |_| {});
    let origin = "origin: https://console.example.com\r\n";
    let mut events = served.follow("", origin);
    assert_eq!(events.status(), 200);
    for header in [
        "content-type: text/event-stream\r\n",
        "cache-control: no-store\r\n",
        "x-content-type-options: nosniff\r\n",
        "x-accel-buffering: no\r\n",
        "access-control-allow-origin: https://console.example.com\r\n",
        "transfer-encoding: chunked\r\n",
    ] {
        assert!(events.head.contains(header), "{header}: {}", events.head);
    }
    events.comment();

    change(&served.engine, 1);
    served.engine.act(ActionRequest::reboot("ws-1")).unwrap();
    served
        .engine
        .act(ActionRequest::reboot("ws-1"))
        .unwrap_err();
    for (id, kind) in [(2, "workspace.changed"), (3, "action.accepted")] {
        let sent = events.next().unwrap();
        assert_eq!((sent.id, &*sent.kind), (Some(id), kind));
        let mut client = served.client();
        let key = format!("x-api-key: {}\r\n", served.key);
        let target = format!("/query/events?after={}&limit=1", id - 1);
        let page = client.ask("GET", &target, &key).json();
        assert_eq!(page["rows"][0], sent.data, "as on a page");
    }
}

#[test]
fn stream_resumes_after_last_event_id_and_else_after_the_parameter() {
    let served = served(quiet(), |config| config.limits.events = 10);
    change(&served.engine, 9);
    let first = |query: &str, headers: &str| {
        let sent = served.follow(query, headers).next().unwrap();
        (sent.id, sent.kind)
    };
    let changed = |id| (Some(id), "workspace.changed".to_owned());
    assert_eq!(first("?after=4", ""), changed(5));
    assert_eq!(first("?after=4", "last-event-id: 7\r\n"), changed(8));
    assert_eq!(first("?after=4", "last-event-id: \r\n"), changed(5));
    change(&served.engine, 10);
    served.engine.apply_retention().unwrap();
    let resync = (None, "resync".to_owned());
    assert_eq!(first("", "last-event-id: 8\r\n"), resync);
    assert_eq!(first("?after=9", ""), resync);
    assert_eq!(first("?after=10", ""), changed(11));
    assert_eq!(first("?after=21", ""), resync, "never given out");
    let mut resumed = served.follow("?after=0", "");
    assert_eq!(resumed.next().unwrap().data["id"], 20);
    change(&served.engine, 1);
    assert_eq!(resumed.next().unwrap().id, Some(21), "it goes on");

    // What is not a stream, and what is refused.
    let mut client = served.client();
    let mut ask = |method: &str, query: &str, headers: &str| {
        let key = format!("x-api-key: {}\r\n{headers}", served.key);
        client.ask(method, &format!("/query/events{query}"), &key)
    };
    let stream = "accept: text/event-stream\r\n";
    for headers in ["", "accept: */*\r\n", "accept: text/event-stream;q=0\r\n"] {
        let page = ask("GET", "?after=19", headers).json();
        assert_eq!(page["rows"].as_array().unwrap().len(), 2, "{headers}");
    }
    assert_eq!(ask("HEAD", "", stream).status, 200);
    let wrong = format!("{stream}last-event-id: x\r\n");
    for (query, headers, name) in [
        ("", &*wrong, "Last-Event-ID"),
        ("?after=x", stream, "after"),
    ] {
        let refused = ask("GET", query, headers);
        assert_eq!(
            (refused.status, &refused.json()["code"]),
            (400, &"InvalidParameter".into())
        );
        assert!(
            refused.json()["errors"][name].is_array(),
            "{}",
            refused.body
        );
    }
    let refused = client.ask("GET", "/query/events", stream);
    assert_eq!(refused.status, 401);
}

#[test]
fn key_that_is_revoked_or_expires_ends_its_streams() {
    let served = served(quiet(), |_| {});
    let key = served.engine.issue_key(reader("revoked", None)).unwrap();
    let mut events = Followed::begin(served.server.addr(), &key.secret, "", "").unwrap();
    let mut others = served.follow("", "");
    change(&served.engine, 1);
    assert_eq!(events.next().unwrap().kind, "workspace.changed");
    let begun = Instant::now();
    served.engine.revoke_key(key.info.id).unwrap();
    assert!(events.next().is_none() && events.ended);
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    let kinds: Vec<_> = others.by_ref().take(2).map(|sent| sent.kind).collect();
    assert_eq!(kinds, ["workspace.changed", "key.revoked"]);

    let expires = served.engine.now().plus_seconds(1);
    let key = served
        .engine
        .issue_key(reader("expires", Some(expires)))
        .unwrap();
    let mut events = Followed::begin(served.server.addr(), &key.secret, "", "").unwrap();
    assert!(events.next().is_none() && events.ended);
    let late = served.engine.now().duration_since(expires);
    assert!(
        served.engine.now() >= expires && late < Duration::from_secs(2),
        "{late:?}"
    );
}

#[test]
fn shutdown_ends_streams_at_once() {
    let served = served(quiet(), |_| {});
    let mut all: Vec<_> = (0..5).map(|_| served.follow("", "")).collect();
    all.iter_mut().for_each(Followed::comment);
    let drained = served.server.stop().unwrap();
    assert_eq!(drained.cut_off, 0);
    for mut events in all {
        assert!(events.next().is_none() && events.ended);
    }
    change(&served.engine, 1);
}

#[test]
fn streams_above_their_bound_return_503_and_are_no_slow_reads() {
    let options = ServerOptions {
        event_streams_max: 4,
        slow_reads_max: 1,
        proxied: true,
        ..quiet()
    };
    let served = served(options, |_| {});
    let follow = |source: &str| served.follow("", &format!("x-forwarded-for: {source}\r\n"));
    let mut open = vec![follow("192.0.2.1"), follow("192.0.2.1")];
    let refused = follow("192.0.2.1");
    assert_eq!(refused.status(), 503, "its half is taken");
    assert!(
        refused.head.contains("retry-after: 1\r\n"),
        "{}",
        refused.head
    );
    let headers = format!(
        "x-api-key: {}\r\naccept: text/event-stream\r\nx-forwarded-for: 192.0.2.1\r\n",
        served.key
    );
    let refused = served.client().ask("GET", "/query/events", &headers).json();
    let message = refused["detail"].as_str().unwrap();
    assert!(message.contains("`event_streams_max`"), "{message}");
    open.extend([follow("192.0.2.2"), follow("192.0.2.2")]);
    assert_eq!(follow("192.0.2.3").status(), 503, "all are taken");
    for events in &mut open {
        assert_eq!(events.status(), 200);
        events.comment();
    }
    let key = format!("x-api-key: {}\r\n", served.key);
    let list = served.client().ask("GET", "/operator/workspaces", &key);
    assert_eq!(list.status, 200);

    // The place of one that is gone is free with the next thing it is sent, if not before.
    open.remove(0);
    let begun = Instant::now();
    while follow("192.0.2.3").status() == 503 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        change(&served.engine, 1);
    }
}

/// A client that does not read is cut off with what fits the buffers, and goes on where it was.
#[test]
fn slow_reader_is_cut_off_and_resumes() {
    let options = ServerOptions {
        write_timeout: Duration::from_millis(100),
        ..quiet()
    };
    let served = served(options, |_| {});
    let wide = "🖥".repeat(256);
    for number in 0..10_000 {
        let changed = Workspace {
            username: Some(wide.clone()),
            ..workspace("ws-1", number)
        };
        served.engine.put_workspace(changed).unwrap();
    }
    let last = served.engine.events(None).position();
    let (mut position, mut cut) = (0, 0);
    while position < last {
        let mut events = served.follow("", &format!("last-event-id: {position}\r\n"));
        // Long enough for the server to give up, if this is the first time.
        std::thread::sleep(Duration::from_millis(if cut == 0 { 1000 } else { 0 }));
        for sent in events.by_ref() {
            assert_eq!(sent.id, Some(position + 1), "no gap, no repetition");
            position += 1;
            if position == last {
                break;
            }
        }
        cut += usize::from(position < last);
    }
    assert!(cut > 0, "it was never cut off");
}

#[test]
fn stream_is_logged_when_it_ends() {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let options = ServerOptions {
        access_log: Some(Arc::new(move |line: &str| {
            log.lock().unwrap().push(line.to_owned());
        })),
        ..quiet()
    };
    let served = served(options, |_| {});
    let mut events = served.follow("?after=0", "");
    assert_eq!(events.next().unwrap().kind, "key.issued");
    assert!(lines.lock().unwrap().is_empty(), "it goes on");
    served.server.stop().unwrap();
    let lines = lines.lock().unwrap();
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert!(
        line.contains("getEvents") && line.contains(" 200 "),
        "{line}"
    );
    assert!(
        !line.contains("after=") && !line.contains(&served.key),
        "{line}"
    );
}

#[test]
fn connection_of_a_client_that_is_gone_is_given_back() {
    let options = ServerOptions {
        event_streams_max: 2,
        ..quiet()
    };
    let served = served(options, |_| {});
    for _ in 0..20 {
        let begun = Instant::now();
        let mut events = loop {
            let events = served.follow("?after=0", "");
            if events.status() == 200 {
                break events;
            }
            assert!(begun.elapsed() < Duration::from_secs(10));
        };
        assert!(events.next().is_some());
    }
    assert_eq!(
        Client::connect(served.server.addr())
            .ask("GET", "/livez", "")
            .status,
        200
    );
}

#[test]
fn stream_is_a_request_of_its_forwarded_source_until_it_ends() {
    let options = ServerOptions {
        proxied: true,
        // A quarter of them is one request.
        connections_served: 4,
        ..quiet()
    };
    let served = served(options, |_| {});
    let status = |from: &str| {
        let from = format!("x-forwarded-for: {from}\r\n");
        served.client().ask("GET", "/readyz", &from).status
    };
    let events = served.follow("", "x-forwarded-for: 192.0.2.1\r\n");
    assert_eq!(events.status(), 200);
    assert_eq!((status("192.0.2.1"), status("192.0.2.2")), (503, 200));
    drop(events);
    let begun = Instant::now();
    while status("192.0.2.1") != 200 {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it keeps its place"
        );
    }
}
