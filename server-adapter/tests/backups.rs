//! Backups over HTTP.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use crate::client::{Answer, Client};
use crate::schema;
use crate::served::{Served, incompressible_day, served};
use deskfleet::{AuditAction, AuditResult, Engine, NewKey, Scope};
use deskfleet_server::{Backups, SentCopies, ServerOptions};
use serde_json::{Value, json};

const PATH: &str = "/operator/backups";

fn server(backups: Option<Backups>) -> Served {
    let options = ServerOptions {
        backups,
        ..ServerOptions::default()
    };
    served(options, |_| {})
}

fn into(folder: &Path) -> Backups {
    Backups::new(folder.to_owned(), |_| {}).unwrap()
}

fn ask(served: &Served, method: &str) -> Answer {
    let headers = format!("x-api-key: {}\r\ncontent-length: 0\r\n", served.key);
    served.client().ask(method, PATH, &headers)
}

/// The body, which is as the document has it.
fn documented(answer: &Answer, method: &str) -> Value {
    let document = schema::document();
    let response = &document["paths"][PATH][method]["responses"][answer.status.to_string()];
    let response = schema::resolved(&document, response);
    let body = answer.json();
    if answer.status >= 400 {
        assert!(schema::codes(response).contains(body["code"].as_str().unwrap()));
        return body;
    }
    let schema = &response["content"]["application/json"]["schema"];
    assert!(schema.is_object());
    assert_eq!(schema::mismatch(&document, schema, &body, "$"), None);
    body
}

#[test]
fn post_writes_a_whole_copy_that_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let served = server(Some(into(folder.path())));
    let empty = documented(&ask(&served, "GET"), "get");
    assert_eq!(empty, json!({"configured": true, "backups": []}));
    let written: Vec<Value> = (0..2)
        .map(|_| {
            let answer = ask(&served, "POST");
            assert_eq!(answer.status, 201, "{answer:?}");
            assert_eq!(answer.header("cache-control"), Some("no-store"));
            documented(&answer, "post")
        })
        .collect();
    for backup in &written {
        let file = folder.path().join(backup["file"].as_str().unwrap());
        let bytes = fs::metadata(&file).unwrap().len();
        assert_eq!(backup["bytes"], bytes);
        let report = Engine::check_file(&file).unwrap();
        assert!(report.problems.is_empty() && report.keys == 1);
    }
    let listed = documented(&ask(&served, "GET"), "get");
    assert_eq!(listed["backups"], json!([written[1], written[0]]));
    assert_eq!(ask(&served, "HEAD").body, "");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn post_without_a_folder_says_how_to_name_one() {
    let served = server(None);
    let refused = documented(&ask(&served, "POST"), "post");
    assert_eq!(refused["code"], "UnsupportedConfiguration");
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("--backups FOLDER")
    );
    let listed = documented(&ask(&served, "GET"), "get");
    assert_eq!(listed, json!({"configured": false, "backups": []}));
}

#[test]
fn second_backup_at_once_is_refused_and_the_first_is_written() {
    let folder = tempfile::tempdir().unwrap();
    // The first copy has not ended before its line is taken.
    let (message, lines) = channel();
    let (go_on, wait) = channel::<()>();
    let waiting = Mutex::new((message, wait));
    let backups = Backups::new(folder.path().to_owned(), move |line| {
        let (message, wait) = &*waiting.lock().unwrap();
        message.send(line.to_owned()).unwrap();
        wait.recv().unwrap();
    });
    let served = server(Some(backups.unwrap()));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask(&served, "POST"));
        assert!(lines.recv().unwrap().starts_with("Backup: "));
        let second = ask(&served, "POST");
        assert_eq!(second.status, 409);
        assert_eq!(documented(&second, "post")["code"], "OperationInProgress");
        go_on.send(()).unwrap();
        assert_eq!(first.join().unwrap().status, 201);
    });
}

#[test]
fn backup_that_cannot_be_written_is_503_and_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("backups");
    fs::create_dir(&folder).unwrap();
    let served = server(Some(into(&folder)));
    fs::remove_dir(&folder).unwrap();
    for (method, answer) in [("post", ask(&served, "POST")), ("get", ask(&served, "GET"))] {
        assert_eq!(answer.status, 503);
        assert_eq!(documented(&answer, method)["code"], "StorageUnavailable");
        assert!(!answer.body.contains(&*folder.to_string_lossy()), "no path");
    }
    fs::create_dir(&folder).unwrap();
    assert_eq!(ask(&served, "POST").status, 201);
}

#[cfg(unix)]
#[test]
fn backup_without_room_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions {
        backups: Some(into(folder.path())),
        ..ServerOptions::default()
    };
    // More than any disk has; the engine itself does not know how much is free.
    let served = served(options, |config| config.limits.free_bytes_min = 1 << 50);
    let answer = ask(&served, "POST");
    assert_eq!(answer.status, 503);
    assert_eq!(documented(&answer, "post")["code"], "LowDisk");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn backups_need_a_key_of_scope_admin() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions {
        backups: Some(into(folder.path())),
        bad_keys_per_minute: Some(2),
        ..ServerOptions::default()
    };
    let served = served(options, |_| {});
    let new = NewKey::new("reader", [Scope::Read, Scope::Act, Scope::Ingest]);
    let reader = served.engine.issue_key(new).unwrap().secret;
    let mut client = served.client();
    let mut ask = |method: &str, target: &str, headers: &str| {
        let headers = format!("{headers}content-length: 0\r\n");
        client.ask(method, target, &headers)
    };
    for method in ["GET", "POST"] {
        let with = |key: &str| format!("x-api-key: {key}\r\n");
        let answer = ask(method, PATH, "");
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("www-authenticate"), Some("bearer"));
        assert_eq!(ask(method, PATH, &with(&reader)).status, 403);
        assert_eq!(ask(method, PATH, &with("dfk_a")).status, 401);
    }
    let throttled = ask("POST", PATH, "x-api-key: dfk_a\r\n");
    assert_eq!(throttled.status, 429);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let bearer = format!("authorization: Bearer {}\r\n", served.key);
    assert_eq!(ask("POST", "/Operator/Backups/", &bearer).status, 201);
    let in_query = format!("{PATH}?apiKey={}&file=/etc/passwd", served.key);
    assert_eq!(ask("POST", &in_query, "").status, 201);
    let other = ask("DELETE", PATH, &bearer);
    assert_eq!(
        (other.status, other.header("allow")),
        (405, Some("get, head, post"))
    );
}

#[test]
fn body_of_a_backup_is_ignored_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let served = server(Some(into(folder.path())));
    let header = format!("x-api-key: {}\r\n", served.key);
    let post = |body: &str| {
        let mut client = Client::connect(served.server.addr());
        client.post(PATH, &header, body).status
    };
    assert_eq!(post(r#"{"file":"../../elsewhere"}"#), 201);
    assert_eq!(post(&" ".repeat(1025)), 413);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// What the audit says of accesses, each once: who asked for what, and how it ended.
fn accesses(engine: &Engine) -> BTreeSet<(String, &'static str, AuditResult)> {
    let rows = engine.admin_activity(100).unwrap().into_iter();
    let rows = rows.filter(|row| row.action != AuditAction::IssueKey);
    rows.map(|row| (row.requester, row.action.as_str(), row.result))
        .collect()
}

#[test]
fn backups_and_downloads_and_their_refusals_have_audit_rows() {
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions {
        backups: Some(into(folder.path())),
        sent_copies: Some(SentCopies::beside(&folder.path().join("store.redb"))),
        ..ServerOptions::default()
    };
    let served = served(options, |_| {});
    let new = NewKey::new("reader", [Scope::Read]);
    let reader = served.engine.issue_key(new).unwrap().secret;
    assert_eq!(ask(&served, "GET").status, 200);
    assert_eq!(ask(&served, "HEAD").status, 200);
    assert_eq!(accesses(&served.engine), BTreeSet::new());
    assert_eq!(ask(&served, "POST").status, 201);
    assert_eq!(download(&served).0, 200);
    let header = format!("x-api-key: {reader}\r\n");
    for path in [PATH, DOWNLOAD] {
        assert_eq!(served.client().post(path, &header, "").status, 403);
    }
    let row = |by: &str, action, result| (by.to_owned(), action, result);
    let expected = [
        row("admin", "BackUp", AuditResult::Completed),
        row("admin", "DownloadBackup", AuditResult::Completed),
        row("reader", "BackUp", AuditResult::Refused),
        row("reader", "DownloadBackup", AuditResult::Refused),
    ];
    assert_eq!(accesses(&served.engine), BTreeSet::from(expected));
    let rows = served.engine.admin_activity(100).unwrap().into_iter();
    let of_copies = rows.filter(|row| row.result == AuditResult::Completed);
    let details: Vec<_> = of_copies
        .filter(|row| row.action != AuditAction::IssueKey)
        .map(|row| row.detail)
        .collect();
    let file = fs::read_dir(folder.path()).unwrap().next().unwrap();
    let file = file.unwrap().file_name().into_string().unwrap();
    assert_eq!(details, [None, Some(file)], "a download has no file");
}

const DOWNLOAD: &str = "/operator/backups/download";

/// Status, head and body of a download.
fn download(served: &Served) -> (u16, String, Vec<u8>) {
    let mut client = served.client();
    client.send(format!(
        "POST {DOWNLOAD} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        served.key
    ));
    let head = client.head();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, client.read_to_end())
}

fn sending(file: &Path) -> Served {
    let options = ServerOptions {
        sent_copies: Some(SentCopies::beside(file)),
        ..ServerOptions::default()
    };
    served(options, |_| {})
}

#[test]
fn download_is_a_whole_copy_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let served = sending(&folder.path().join("store.redb"));
    // Of a process that was killed.
    fs::write(folder.path().join("store.redb.sent"), "half").unwrap();
    for round in 0..2 {
        let (status, head, copy) = download(&served);
        assert_eq!(status, 200, "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", copy.len())));
        assert!(head.contains("content-type: application/octet-stream\r\n"));
        let file = folder.path().join(format!("copy-{round}"));
        fs::write(&file, &copy).unwrap();
        let report = Engine::check_file(&file).unwrap();
        assert!(report.problems.is_empty() && report.keys == 1);
    }
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "the copies"
    );
}

#[test]
fn download_that_is_broken_off_makes_room_for_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let served = sending(&folder.path().join("store.redb"));
    let mut client = served.client();
    client.send(format!(
        "POST {DOWNLOAD} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\n\r\n",
        served.key
    ));
    client.head();
    drop(client);
    assert_eq!(download(&served).0, 200);
}

/// A copy that does not fit into the buffers of a connection.
fn sending_much(file: &Path) -> Served {
    let served = sending(file);
    incompressible_day(&served.engine);
    served
}

/// A connection that asks for a copy, and the head of the response.
fn ask_for_copy(served: &Served, key: &str, headers: &str) -> (Client, String) {
    let mut client = served.client();
    client.send(format!(
        "POST {DOWNLOAD} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\nconnection: close\r\n{headers}content-length: 0\r\n\r\n"
    ));
    let head = client.head();
    (client, head)
}

/// A header of a head.
fn named<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.find(|line| line.0 == name).map(|line| line.1)
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap()
}

/// Bytes from the first on of a copy that is cut off then, its length and its tag.
fn cut_off(served: &Served) -> (Vec<u8>, usize, String) {
    let (mut client, head) = ask_for_copy(served, &served.key, "");
    assert_eq!(status(&head), "200", "{head}");
    assert_eq!(named(&head, "accept-ranges"), Some("bytes"));
    let length = named(&head, "content-length").unwrap().parse().unwrap();
    let mut bytes = Vec::new();
    client.read_some(&mut bytes, 1_000_000);
    (bytes, length, named(&head, "etag").unwrap().to_owned())
}

#[test]
fn download_that_is_cut_off_several_times_is_the_same_copy_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let served = sending_much(&folder.path().join("store.redb"));
    let (mut copy, length, etag) = cut_off(&served);
    let mut parts = 1;
    while copy.len() < length {
        let from = copy.len();
        let range = format!("range: bytes={from}-\r\nif-range: {etag}\r\n");
        let (mut client, head) = ask_for_copy(&served, &served.key, &range);
        assert_eq!(status(&head), "206", "{head}");
        let sent = format!("bytes {from}-{}/{length}", length - 1);
        assert_eq!(named(&head, "content-range"), Some(&*sent));
        assert_eq!(named(&head, "etag"), Some(&*etag));
        let left = (length - from).to_string();
        assert_eq!(named(&head, "content-length"), Some(&*left));
        parts += 1;
        let most = if parts < 5 { 1_000_000 } else { length };
        client.read_some(&mut copy, most.min(length - from));
        // What was written since is of no copy that was begun before.
        served
            .engine
            .issue_key(NewKey::new(format!("key-{parts}"), [Scope::Read]))
            .unwrap();
    }
    assert_eq!(parts, 5);
    let file = folder.path().join("copy");
    fs::write(&file, &copy).unwrap();
    let report = Engine::check_file(&file).unwrap();
    assert!(report.problems.is_empty() && report.keys == 1, "{report:?}");
    // It was sent to its end, and is not kept.
    let range = format!("range: bytes=1000-\r\nif-range: {etag}\r\n");
    let (_, head) = ask_for_copy(&served, &served.key, &range);
    assert_eq!(status(&head), "200", "{head}");
    assert_ne!(named(&head, "etag"), Some(&*etag));
}

#[test]
fn range_of_another_copy_or_that_is_malformed_gets_a_whole_copy() {
    let folder = tempfile::tempdir().unwrap();
    let served = sending_much(&folder.path().join("store.redb"));
    let mut seen = BTreeSet::new();
    for headers in [
        "range: bytes=1000-\r\nif-range: \"0123\"\r\n",
        "range: bytes=1000-\r\n",
        "range: bytes=1000000000-\r\nif-range: ETAG\r\n",
        "range: bytes=1000-\r\nif-range: W/ETAG\r\n",
        "range: bytes=1000-\r\nif-range: Sun, 29 Nov 2026 12:00:00 GMT\r\n",
        "range: bytes=0-499\r\nif-range: ETAG\r\n",
        "range: bytes=-500\r\nif-range: ETAG\r\n",
        "range: bytes=1000-,2000-\r\nif-range: ETAG\r\n",
        "range: bytes=1000-\r\nrange: bytes=2000-\r\nif-range: ETAG\r\n",
        "range: \r\nif-range: ETAG\r\n",
        "if-range: ETAG\r\n",
    ] {
        let (_, length, etag) = cut_off(&served);
        let (_, head) = ask_for_copy(&served, &served.key, &headers.replace("ETAG", &etag));
        assert_eq!(status(&head), "200", "{headers} {head}");
        let whole: usize = named(&head, "content-length").unwrap().parse().unwrap();
        assert!(whole >= length, "{headers} {head}");
        assert!(seen.insert(etag) && seen.insert(named(&head, "etag").unwrap().to_owned()));
    }
}

#[test]
fn download_is_refused_without_a_place_room_or_the_scope_admin() {
    let answer = |served: &Served, key: &str| {
        let headers = format!("x-api-key: {key}\r\ncontent-length: 0\r\n");
        let answer = served.client().ask("POST", DOWNLOAD, &headers);
        let code = answer.json()["code"].as_str().unwrap().to_owned();
        (answer.status, code)
    };
    let nowhere = server(None);
    let refused = answer(&nowhere, &nowhere.key);
    assert_eq!(refused, (409, "UnsupportedConfiguration".to_owned()));
    assert_eq!(answer(&nowhere, "dfk_a").0, 401);
    let other = nowhere.client().ask("GET", DOWNLOAD, "");
    assert_eq!((other.status, other.header("allow")), (405, Some("post")));
    let folder = tempfile::tempdir().unwrap();
    let options = ServerOptions {
        sent_copies: Some(SentCopies::beside(&folder.path().join("store.redb"))),
        ..ServerOptions::default()
    };
    // More than any disk has; the engine itself does not know how much is free.
    let full = served(options, |config| config.limits.free_bytes_min = 1 << 50);
    assert_eq!(answer(&full, &full.key), (503, "LowDisk".to_owned()));
}
