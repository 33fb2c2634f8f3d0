//! The service: bodies in frames, slow work elsewhere, events, principals.

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use http_body_util::Full;

use crate::config::Config;
use crate::engine::WorkspaceList;
use crate::model::{NewKey, Principal, Scope, Workspace};
use crate::view::audit::AuditQuery;

use super::*;

/// The service with slow work within the call.
fn inline(engine: &Engine) -> EngineService {
    engine.service(|work| work())
}

fn whole(mut body: ServiceBody) -> String {
    let mut context = Context::from_waker(std::task::Waker::noop());
    let mut bytes = Vec::new();
    while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(&mut context) {
        bytes.extend(frame.unwrap().into_data().unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

/// Polls to the end; none of the bodies here is pending.
fn respond<B: Body>(engine: &Engine, body: B) -> (u16, String) {
    let request = Request::post("/api/Stats/Post")
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    let mut future = inline(engine).call(request);
    let mut context = Context::from_waker(std::task::Waker::noop());
    loop {
        if let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) {
            let status = response.status().as_u16();
            return (status, whole(response.into_body()));
        }
    }
}

/// A body of these frames.
struct Frames<I>(I);

impl<I: Iterator<Item = io::Result<Frame<Bytes>>> + Unpin> Body for Frames<I> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(self.0.next())
    }
}

#[test]
fn service_commits_an_import_while_its_body_arrives() {
    let engine = Engine::builder()
        .clock(crate::clock::ManualClock::new(
            "2026-11-20".parse().unwrap(),
        ))
        .seed(1)
        .config(Config::default())
        .open_in_memory()
        .unwrap();
    let new = NewKey::new("admin", [Scope::Admin]);
    let secret = engine.issue_key(new).unwrap().secret;
    let (watched, stored) = (engine.clone(), Rc::new(Cell::new(0)));
    let seen = Rc::clone(&stored);
    let frames = (0..5).map(move |part| {
        let all = watched.all_workspaces(WorkspaceList::All);
        seen.set(all.count());
        let line = |id| format!("{{\"workSpId\":\"ws-{id}\"}}\n");
        let lines: String = (part * 1000..part * 1000 + 1000).map(line).collect();
        Ok(Frame::data(Bytes::from(lines)))
    });
    let request = Request::post("/operator/workspaces")
        .header("x-api-key", secret)
        .body(Frames(frames))
        .unwrap();
    let mut future = inline(&engine).call(request);
    let mut context = Context::from_waker(std::task::Waker::noop());
    let response = loop {
        if let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) {
            break response;
        }
    };
    assert_eq!(response.status(), 200);
    let durable = stored.get();
    assert!(durable >= 3000, "{durable} before the last frame");
    let all = engine.all_workspaces(WorkspaceList::All);
    assert_eq!(all.count(), 5000);
}

/// The work that was handed over and not run yet.
type Kept = Arc<std::sync::Mutex<Vec<SlowWork>>>;

fn run_next(kept: &Kept) {
    let work = kept.lock().unwrap().pop();
    work.expect("work that was handed over")();
}

#[test]
fn slow_reads_and_chunks_run_only_where_the_host_runs_them() {
    let engine = Engine::in_memory().unwrap();
    let key = engine
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    for number in 0..600 {
        let id = format!("ws-{number}");
        let workspace = Workspace {
            id,
            ..Workspace::default()
        };
        engine.put_workspace(workspace).unwrap();
    }
    let kept = Kept::default();
    let keep = Kept::clone(&kept);
    let mut service = engine.service(move |work| keep.lock().unwrap().push(work));
    let request = || {
        let request = Request::get("/query/workspaces?format=ndjson&limit=500");
        let request = request.header("x-api-key", &key.secret);
        request.body(Full::new(Bytes::new())).unwrap()
    };
    let expected = engine.handle(request().map(|_| Bytes::new()));
    let mut context = Context::from_waker(std::task::Waker::noop());
    let mut future = service.call(request());
    assert!(Pin::new(&mut future).poll(&mut context).is_pending());
    run_next(&kept);
    let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) else {
        panic!("the work was done");
    };
    assert_eq!(response.status(), 200);
    let (mut body, mut bytes) = (response.into_body(), Vec::new());
    loop {
        match Pin::new(&mut body).poll_frame(&mut context) {
            Poll::Pending => run_next(&kept),
            Poll::Ready(None) => break,
            Poll::Ready(Some(frame)) => bytes.extend(frame.unwrap().into_data().unwrap()),
        }
    }
    assert_eq!(bytes, expected.into_body());

    let mut future = service.call(request());
    assert!(Pin::new(&mut future).poll(&mut context).is_pending());
    kept.lock().unwrap().clear();
    let Poll::Ready(Ok(refused)) = Pin::new(&mut future).poll(&mut context) else {
        panic!("the work is gone");
    };
    assert_eq!(refused.status(), 503);
}

#[test]
fn service_streams_events_with_comments_until_the_key_is_revoked() {
    let engine = Engine::in_memory().unwrap();
    let key = engine
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    let mut service = engine
        .service(|work| work())
        .with_events(|_| std::future::ready(()));
    let request = Request::get("/query/events")
        .header("x-api-key", &key.secret)
        .header("accept", "text/event-stream");
    let request = request.body(Full::new(Bytes::new())).unwrap();
    let mut context = Context::from_waker(std::task::Waker::noop());
    let Poll::Ready(Ok(response)) = Pin::new(&mut service.call(request)).poll(&mut context) else {
        panic!("a stream begins at once");
    };
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    let mut next = || match Pin::new(&mut body).poll_frame(&mut context) {
        Poll::Ready(frame) => frame.map(|frame| frame.unwrap().into_data().unwrap()),
        Poll::Pending => panic!("the timer ends each pause at once"),
    };
    assert_eq!(next().unwrap(), ":\n\n");
    let id = "ws-1".to_owned();
    engine
        .put_workspace(Workspace {
            id,
            ..Workspace::default()
        })
        .unwrap();
    let event = next().unwrap();
    assert!(event.starts_with(b"id: "), "{event:?}");
    assert_eq!(next().unwrap(), ":\n\n");
    engine.revoke_key(key.info.id).unwrap();
    assert_eq!(next(), None);
}

#[test]
fn page_of_events_is_made_where_slow_work_runs_also_for_a_client_that_wants_a_stream() {
    let engine = Engine::in_memory().unwrap();
    for accept in ["application/json", "text/event-stream"] {
        let kept: Arc<std::sync::Mutex<Vec<SlowWork>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let mut service = engine.service(move |work| keep.lock().unwrap().push(work));
        let request = Request::get("/query/events").header("accept", accept);
        let request = request.extension(Principal::new("jdoe", [Scope::Read]));
        let request = request.body(Full::new(Bytes::new())).unwrap();
        let mut future = service.call(request);
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut future).poll(&mut context).is_pending());
        kept.lock().unwrap().remove(0)();
        let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) else {
            panic!("{accept}: its work is done");
        };
        assert_eq!(
            response.headers()["content-type"],
            "application/json; charset=utf-8"
        );
    }
}

#[test]
fn principal_of_the_host_needs_no_key_and_is_the_name_in_the_audit() {
    let engine = Engine::in_memory().unwrap();
    let request = |scopes: &[Scope], method, target: &str, body: &'static str| {
        let principal = Principal::new("jdoe@example.com", scopes.iter().copied());
        let request = Request::builder().method(method).uri(target);
        let request = request.extension(principal);
        let request = request.header("content-type", "application/json");
        request.body(Bytes::from_static(body.as_bytes())).unwrap()
    };
    let admin = [Scope::Admin, Scope::Act, Scope::Read];
    let workspaces = "{\"workSpId\":\"ws-1\",\"state\":\"AVAILABLE\"}";
    let calls = [
        ("POST", "/operator/workspaces", workspaces, 200),
        (
            "POST",
            "/api/Actions/RebootWorkSpace?workSpaceId=ws-1",
            "",
            200,
        ),
        (
            "POST",
            "/operator/actions",
            "{\"action\":\"RebootWorkSpace\",\"workSpaceIds\":[\"ws-1\"]}",
            200,
        ),
        ("GET", "/query/key", "", 200),
    ];
    for (method, target, body, status) in calls {
        let response = engine.handle(request(&admin, method, target, body));
        assert_eq!(response.status(), status, "{target}: {response:?}");
    }
    engine.maintain().unwrap();
    let refused = request(&[Scope::Read], "GET", "/operator/keys", "");
    assert_eq!(engine.handle(refused).status(), 403);
    let mut nameless = request(&admin, "GET", "/operator/keys", "");
    nameless
        .extensions_mut()
        .insert(Principal::new(" ", [Scope::Admin]));
    assert_eq!(engine.handle(nameless).status(), 401);
    let rows = engine.audit(&AuditQuery::default()).unwrap().rows;
    assert!(rows.len() >= 4, "{rows:?}");
    for row in rows {
        assert_eq!(
            row.api_key_name.as_deref(),
            Some("jdoe@example.com"),
            "{row:?}"
        );
        assert_eq!(row.api_key_id, None);
    }
}

#[test]
fn service_reads_a_body_in_frames_up_to_its_limit() {
    let engine = Engine::builder()
        .clock(crate::clock::ManualClock::new(
            "2026-11-20".parse().unwrap(),
        ))
        .seed(1)
        .limits(|limits| limits.record_body_bytes = 20)
        .open_in_memory()
        .unwrap();
    let frames = |frames: Vec<io::Result<Frame<Bytes>>>| Frames(frames.into_iter());
    let data = |text: &'static str| Ok(Frame::data(Bytes::from_static(text.as_bytes())));

    let whole = frames(vec![data(r#"{"username""#), data(r#":"jd"}"#)]);
    assert_eq!(respond(&engine, whole), (200, String::new()));
    assert_eq!(engine.queue_count(), 1);

    let endless = (0..).map(|_| data("        "));
    let endless = frames(endless.take(1000).collect());
    for (status, refused) in [
        (
            413,
            respond(&engine, Full::new(Bytes::from(vec![b' '; 21]))),
        ),
        (413, respond(&engine, endless)),
        (
            400,
            respond(
                &engine,
                frames(vec![data("{"), Err(io::ErrorKind::ConnectionReset.into())]),
            ),
        ),
    ] {
        assert_eq!(refused.0, status, "{}", refused.1);
    }
    assert_eq!(engine.queue_count(), 1);
}
