//! Imports from Rust: memory, cuts, storage that fails, and what is durable then.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{
    AuditAction, AuditResult, CommitDriver, Config, Engine, ErrorKind, Exchange, ManualClock,
    NewKey, Nullable, Scope, Timestamp, Upkeep, WorkspacePatch,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::{Disk, Fault};
use http::request::Parts;
use http::{Request, Response};

fn engine(disk: &Disk, driver: CommitDriver) -> Engine {
    let mut config = Config::default();
    config.commit_driver = driver;
    let builder = Engine::builder()
        .clock(ManualClock::new(NOW.parse().unwrap()))
        .seed(7)
        .config(config)
        .upkeep(Upkeep::Host);
    builder.open_backend(disk.backend()).unwrap()
}

/// The head of an import over HTTP.
fn head(engine: &Engine, expires_seconds: Option<i64>) -> Parts {
    let key = NewKey::new("admin", [Scope::Admin]).expiring(
        expires_seconds.map(|seconds| NOW.parse::<Timestamp>().unwrap().plus_seconds(seconds)),
    );
    let secret = engine.issue_key(key).unwrap().secret;
    let request = Request::post("/operator/workspaces").header("x-api-key", secret);
    request.body(()).unwrap().into_parts().0
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = Box::pin(future);
    loop {
        if let Poll::Ready(output) = poll(&mut future) {
            return output;
        }
    }
}

fn finish(exchange: Exchange) -> Response<Bytes> {
    block_on(exchange.finish()).map(|body| body.into_bytes().unwrap())
}

fn lines(count: usize) -> Vec<u8> {
    let line = |id| format!("{{\"workSpId\":\"ws-{id:06}\",\"username\":\"user{id}\"}}\n");
    (0..count).map(line).collect::<String>().into_bytes()
}

/// Lines as the elements of an array that does not end.
fn elements(count: usize) -> Vec<u8> {
    let text = lines(count);
    text.into_iter()
        .map(|byte| if byte == b'\n' { b',' } else { byte })
        .collect()
}

fn desks(engine: &Engine) -> usize {
    engine.all_workspaces(deskfleet::WorkspaceList::All).count()
}

fn newest(engine: &Engine) -> (AuditAction, AuditResult, Option<String>) {
    let row = engine.admin_activity(1).unwrap().remove(0);
    (row.action, row.result, row.detail)
}

#[test]
fn import_in_pieces_takes_bounded_memory_and_any_cut_gives_the_same_report() {
    let body = [
        lines(20_000),
        b"x\n{\"workSpId\":\"ws-1\",\"usr\":1}".to_vec(),
    ]
    .concat();
    let mut reports = Vec::new();
    for size in [100, 4096, 65_536] {
        let engine = engine(&Disk::new(), CommitDriver::Caller);
        let mut exchange = engine.begin(head(&engine, None));
        let mut most = 0;
        for piece in body.chunks(size) {
            exchange.push(piece);
            most = most.max(exchange.bytes());
            block_on(exchange.ready());
        }
        assert!(most < 3 * 1024 * 1024, "{most} bytes with pieces of {size}");
        assert!(exchange.has_begun() && desks(&engine) >= 19_000);
        let response = finish(exchange);
        assert_eq!(response.status(), 200);
        assert_eq!(desks(&engine), 20_001);
        reports.push(response.into_body());
    }
    let whole = engine(&Disk::new(), CommitDriver::Caller);
    let request = Request::from_parts(head(&whole, None), Bytes::from(body));
    reports.push(whole.handle(request).into_body());
    assert!(
        reports.iter().all(|report| *report == reports[0]),
        "{reports:?}"
    );
    let report = std::str::from_utf8(&reports[0]).unwrap();
    assert!(report.starts_with(r#"{"upserted":20001,"rejected":1,"committed":20001,"errors":[{"line":20001,"column":1,"#), "{report}");
}

#[test]
fn body_that_breaks_off_leaves_the_same_however_it_is_cut() {
    let body = [b"[".to_vec(), elements(2500)].concat();
    let mut left = Vec::new();
    for size in [100, 10_000, body.len()] {
        let engine = engine(&Disk::new(), CommitDriver::Caller);
        let mut exchange = engine.begin(head(&engine, None));
        for piece in body.chunks(size) {
            exchange.push(piece);
            if size < body.len() {
                block_on(exchange.ready());
            }
        }
        let response = finish(exchange);
        assert_eq!(response.status(), 400);
        let text = String::from_utf8(response.body().to_vec()).unwrap();
        assert!(
            text.contains("The first 2000 workspaces are committed."),
            "{text}"
        );
        left.push((desks(&engine), newest(&engine)));
    }
    let detail = Some("2000 created, 0 updated, 0 rejected".to_owned());
    let row = (AuditAction::ImportWorkspaces, AuditResult::Failed, detail);
    assert!(
        left.iter().all(|left| *left == (2000, row.clone())),
        "{left:?}"
    );
}

#[test]
fn storage_that_fails_ends_the_import_and_it_says_how_far() {
    let disk = Disk::new();
    let engine = engine(&disk, CommitDriver::Caller);
    let mut import = engine.import();
    import.push(&lines(1000)).unwrap();
    import.push(&lines(1)).unwrap();
    // Each part is submitted once it has gathered, and committed when the next one has.
    import.push(&lines(1999)).unwrap();
    let committed = import.report().committed;
    assert!(committed >= 1000, "{import:?}");
    disk.fail(Fault::Writes);
    let error = [(); 3]
        .into_iter()
        .find_map(|()| import.push(&lines(1000)).err())
        .unwrap();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::StorageUnavailable | ErrorKind::Indeterminate
        ),
        "{error:?}"
    );
    let message = format!("The first {committed} workspaces are committed.");
    assert!(error.context().ends_with(&message), "{error}");
    assert_eq!(import.push(b"\n").unwrap_err().kind(), error.kind());
    assert_eq!(import.finish().unwrap_err().kind(), error.kind());
}

#[test]
fn refusal_of_the_store_after_a_part_does_not_say_that_nothing_was_written() {
    for (committed, code) in [(true, "Indeterminate"), (false, "StorageUnavailable")] {
        let disk = Disk::new();
        let engine = engine(&disk, CommitDriver::Caller);
        let mut exchange = engine.begin(head(&engine, None));
        if committed {
            exchange.push(&lines(1000));
            block_on(exchange.ready());
            exchange.push(&lines(1000));
            block_on(exchange.ready());
        }
        let durable = desks(&engine);
        assert_eq!(durable > 0, committed);
        exchange.push(&lines(1));
        disk.fail(Fault::Writes);
        let response = finish(exchange);
        let text = String::from_utf8(response.body().to_vec()).unwrap();
        assert_eq!(response.status(), 503, "{text}");
        assert!(text.contains(&format!("\"code\":\"{code}\"")), "{text}");
        let message = format!("The first {durable} workspaces are committed.");
        assert_eq!(text.contains(&message), committed, "{text}");
    }
}

#[test]
fn key_that_is_revoked_or_expires_ends_its_import() {
    for (parts, expires) in [(0, false), (1, false), (3, false), (3, true)] {
        let clock = ManualClock::new(NOW.parse().unwrap());
        let builder = Engine::builder().clock(clock.clone()).seed(7);
        let engine = builder.open_in_memory().unwrap();
        let head = head(&engine, expires.then_some(60));
        let mut exchange = engine.begin(head);
        for _ in 0..parts {
            exchange.push(&lines(1000));
            block_on(exchange.ready());
        }
        if expires {
            clock.advance_seconds(60);
        } else {
            engine.force_revoke_key(1).unwrap();
        }
        exchange.push(&lines(1500));
        block_on(exchange.ready());
        let response = finish(exchange);
        let text = String::from_utf8(response.body().to_vec()).unwrap();
        assert_eq!(response.status(), 401, "{text}");
        assert!(text.contains("\"code\":\"InvalidApiKey\""), "{text}");
        // The last part that was pushed before had yet to be committed when the key expired.
        let done = if expires { 2000 } else { parts * 1000 };
        let message = format!("The first {done} workspaces are committed.");
        assert_eq!(text.contains(&message), parts > 0, "{text}");
        assert_eq!(desks(&engine), done.min(1000));
        let rows = engine.admin_activity(10).unwrap();
        let rows: Vec<_> = rows
            .iter()
            .filter(|row| row.action == AuditAction::ImportWorkspaces)
            .collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].result, AuditResult::Failed);
        let created = format!("{} created", done.min(1000));
        assert!(rows[0].detail.as_ref().unwrap().starts_with(&created));
    }
}

#[test]
fn host_commits_a_whole_import_at_once() {
    let engine = engine(&Disk::new(), CommitDriver::Host);
    let head = head(&engine, None);
    let request = Request::from_parts(head, Bytes::from(lines(2500)));
    let mut future = engine.call(request);
    assert!(poll(&mut future).is_pending());
    assert_eq!(engine.commit_pending(), 1);
    let Poll::Ready(response) = poll(&mut future) else {
        panic!("it is committed");
    };
    assert_eq!(response.status(), 200);
    assert_eq!(desks(&engine), 2500);
}

#[test]
fn import_that_is_dropped_keeps_what_was_committed() {
    let engine = engine(&Disk::new(), CommitDriver::Caller);
    let mut import = engine.import();
    import.push(&lines(3500)).unwrap();
    drop(import);
    engine.put_workspaces(Vec::new()).unwrap();
    let found = desks(&engine);
    assert!(found >= 2000 && found.is_multiple_of(1000), "{found}");
    assert_eq!(newest(&engine).1, AuditResult::Accepted, "it never ended");
}

#[test]
fn values_are_imported_by_the_rules_of_texts() {
    let engine = engine(&Disk::new(), CommitDriver::Caller);
    let patch = |id: &str, region: Nullable<String>| WorkspacePatch {
        id: id.into(),
        region,
        ..WorkspacePatch::default()
    };
    let patches = [
        patch("ws-1", "eu-west-1".into()),
        patch("", Nullable::Absent),
        patch("ws-2", "x".repeat(300).into()),
        patch("ws-1", Nullable::Absent),
    ];
    let report = engine.import_workspaces(patches).unwrap();
    assert_eq!(
        (report.upserted, report.rejected, report.committed),
        (2, 2, 2)
    );
    let lines: Vec<_> = report.errors.iter().map(|error| error.line).collect();
    assert_eq!(lines, [2, 3]);
    let view = engine.workspace("ws-1").unwrap().unwrap();
    assert_eq!(view.workspace.region.as_deref(), Some("eu-west-1"));
    engine
        .import_workspaces([patch("ws-1", Nullable::Null)])
        .unwrap();
    let view = engine.workspace("ws-1").unwrap().unwrap();
    assert_eq!(view.workspace.region, None);
    let error = engine.import().finish();
    assert_eq!(error.unwrap().upserted, 0);
}

/// In one piece, as a host that has read the whole body hands it over.
#[test]
fn dry_run_of_a_text_that_becomes_unreadable_is_refused_as_the_import_is() {
    let engine = engine(&Disk::new(), CommitDriver::Caller);
    let key = engine.issue_key(NewKey::new("admin", [Scope::Admin]));
    let secret = key.unwrap().secret;
    for count in [900, 1500] {
        // An array that does not end.
        let text = [b"[".to_vec(), elements(count)].concat();
        for target in ["/operator/workspaces?dryRun=true", "/operator/workspaces"] {
            let request = Request::post(target)
                .header("x-api-key", &secret)
                .header("content-type", "application/json");
            let response = engine.handle(request.body(text.clone().into()).unwrap());
            assert_eq!(response.status(), 400, "{count} {target}: {response:?}");
        }
    }
}
