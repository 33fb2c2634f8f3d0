//! The console as the server sends it: every file, its headers and its codings.
#![cfg(feature = "console")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::SystemTime;

use crate::client::Client;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use flate2::read::GzDecoder;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/console/dist");
const BROWSER: &str = "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";
const GZIP: &str = "accept-encoding: gzip, deflate, br\r\n";
/// All files together; the first page is half of it.
const GZIP_BYTES_MAX: usize = 102_000;
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types deskfleet";

fn server() -> RunningServer {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = builder.open_in_memory().unwrap();
    spawn(engine, ServerOptions::default()).unwrap()
}

/// The content of every file that a browser loads by the path that it is sent at, but for the page.
fn files() -> BTreeMap<String, Vec<u8>> {
    fn find(folder: &Path, address: &str, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap().path();
            let address = format!("{address}/{}", entry.file_name().unwrap().to_str().unwrap());
            if entry.is_dir() {
                find(&entry, &address, found);
            } else {
                found.insert(address, fs::read(entry).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    find(&Path::new(FOLDER).join("app"), "/app", &mut found);
    found
}

fn page() -> Vec<u8> {
    fs::read(Path::new(FOLDER).join("index.html")).unwrap()
}

/// The path of the script that the page loads, whose name has a hash.
fn script() -> String {
    let files = files();
    let mut paths = files.keys();
    let is_script = |path: &&String| path.starts_with("/app/server-");
    paths.find(is_script).unwrap().clone()
}

/// A response whose body may be of any bytes.
struct Sent {
    head: String,
    body: Vec<u8>,
}

impl Sent {
    fn send_request(server: &RunningServer, method: &str, target: &str, headers: &str) -> Self {
        let mut client = Client::connect(server.addr());
        client.send(format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n"
        ));
        let bytes = client.read_to_end();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.unwrap() + 4);
        Self {
            head: String::from_utf8(head.to_vec()).unwrap().to_lowercase(),
            body: body.to_vec(),
        }
    }

    fn get(server: &RunningServer, target: &str, headers: &str) -> Self {
        Self::send_request(server, "GET", target, headers)
    }

    fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// All of them but the time.
    fn headers(&self) -> BTreeSet<&str> {
        let lines = self.head.lines().skip(1);
        lines.filter(|line| !line.starts_with("date: ")).collect()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    fn decoded(&self) -> Vec<u8> {
        match self.header("content-encoding") {
            Some("gzip") => {
                let mut content = Vec::new();
                let mut decoder = GzDecoder::new(&self.body[..]);
                decoder.read_to_end(&mut content).unwrap();
                content
            }
            None => self.body.clone(),
            other => panic!("{other:?}"),
        }
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap() {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        other => panic!("{other}: name its type here"),
    }
}

#[test]
fn every_file_of_the_console_is_sent_with_its_type_and_safe_headers() {
    let server = server();
    let mut all = files();
    all.insert("/".to_owned(), page());
    let mut gzip_bytes = 0;
    for (path, content) in &all {
        let is_page = path == "/";
        let accept = if is_page { BROWSER } else { "accept: */*\r\n" };
        let plain = Sent::get(&server, path, accept);
        let coded = Sent::get(&server, path, &format!("{accept}{GZIP}"));
        let file = if is_page { "index.html" } else { path };
        // The others have a hash of their content in their names.
        let is_same_for_ever = !matches!(&**path, "/" | "/app/icon.svg");
        let cached = if is_same_for_ever {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        for (sent, coding) in [(&plain, None), (&coded, Some("gzip"))] {
            assert_eq!(sent.status(), 200, "{path}");
            assert_eq!(sent.header("content-encoding"), coding, "{path}");
            assert!(sent.decoded() == *content, "{path}");
            let length = sent.body.len().to_string();
            for (name, value) in [
                ("content-type", content_type(file)),
                ("content-length", &length),
                ("cache-control", cached),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
            ] {
                assert_eq!(sent.header(name), Some(value), "{path}");
            }
            assert!(sent.header("vary").unwrap().contains("accept-encoding"));
            assert_eq!(sent.header("set-cookie"), None);
        }
        assert_eq!(plain.header("etag"), coded.header("etag"), "{path}");
        let head = Sent::send_request(&server, "HEAD", path, &format!("{accept}{GZIP}"));
        assert_eq!(head.headers(), coded.headers(), "{path}");
        assert_eq!(head.body, b"", "{path}");
        gzip_bytes += coded.body.len();
    }
    // What the first page loads of it has a bound of its own, in the tests in browsers.
    assert!(gzip_bytes <= GZIP_BYTES_MAX, "{gzip_bytes} bytes in gzip");
}

#[test]
fn file_that_the_client_has_is_not_sent_again() {
    let server = server();
    for (path, accept) in [("/", BROWSER), ("/app/icon.svg", "")] {
        let tag = Sent::get(&server, path, accept);
        let tag = tag.header("etag").unwrap();
        for (known, status) in [
            (tag, 304),
            (tag.strip_prefix("w/").unwrap(), 304),
            ("*", 304),
            (&format!("\"other\", {tag}"), 304),
            ("\"other\"", 200),
            ("", 200),
        ] {
            // The tag in its own case.
            let known = known.replace("w/", "W/");
            let headers = format!("{accept}{GZIP}if-none-match: {known}\r\n");
            let sent = Sent::get(&server, path, &headers);
            assert_eq!(sent.status(), status, "{known}");
            assert_eq!(sent.header("etag"), Some(tag));
            assert_eq!(sent.header("cache-control"), Some("no-cache"));
            assert_eq!(sent.body.is_empty(), status == 304);
        }
    }
}

#[test]
fn coding_is_the_one_that_the_client_accepts() {
    let server = server();
    let script = script();
    for (accepted, gzip) in [
        ("gzip", true),
        ("br, GZIP;q=0.1", true),
        ("*", true),
        ("identity;q=0.5, *;q=0.1", true),
        ("br", false),
        ("gzip;q=0", false),
        ("gzip;q=0.000, *", false),
        ("*;q=0", false),
        ("", false),
    ] {
        let headers = format!("accept-encoding: {accepted}\r\n");
        let sent = Sent::get(&server, &script, &headers);
        let coding = sent.header("content-encoding");
        assert_eq!(coding, gzip.then_some("gzip"), "{accepted}");
        assert!(sent.decoded() == files()[&script], "{accepted}");
    }
}

#[test]
fn page_allows_only_its_own_scripts_and_styles_and_no_frame_around_it() {
    let server = server();
    let page = Sent::get(&server, "/", BROWSER);
    let policy = page.header("content-security-policy");
    assert_eq!(policy, Some(&*POLICY.to_lowercase()));
    assert_eq!(page.header("vary"), Some("accept, accept-encoding"));
    let text = String::from_utf8(page.decoded()).unwrap();
    for forbidden in ["<style", " style=", " onclick", " onload", "<script>"] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    let json = Sent::get(&server, "/", "accept: application/json\r\n");
    assert_eq!(
        json.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(json.header("etag"), None);
}

#[test]
fn path_of_no_file_is_refused_as_any_other() {
    let server = server();
    for path in [
        "/app",
        "/app/",
        "/app//",
        "/app/missing.js",
        "/app/ICON.svg",
        "/app/icon.svg/",
        "/app/%69con.svg",
        "/app/../app/icon.svg",
        "/app/main.js",
        "/index.html",
        "/engine.html",
        "/console/index.html",
        "/console/README.md",
    ] {
        let sent = Sent::get(&server, path, GZIP);
        assert_eq!(sent.status(), 404, "{path}");
        let problem: serde_json::Value = serde_json::from_slice(&sent.body).unwrap();
        assert_eq!(problem["code"], "NotFound");
    }
    let sent = Sent::send_request(&server, "POST", "/app/icon.svg", "content-length: 0\r\n");
    assert_eq!(
        (sent.status(), sent.header("allow")),
        (405, Some("get, head"))
    );
    let other_host =
        "GET /app/icon.svg HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    let mut client = Client::connect(server.addr());
    client.send(other_host);
    assert!(client.head().contains(" 421 "));
}

#[test]
fn files_are_one_operation_in_log_and_metrics() {
    use std::sync::{Arc, Mutex};
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let options = ServerOptions {
        access_log: Some(Arc::new(move |line: &str| {
            log.lock().unwrap().push(line.to_owned());
        })),
        ..ServerOptions::default()
    };
    let server = spawn(builder.open_in_memory().unwrap(), options).unwrap();
    for path in files().keys() {
        assert_eq!(Sent::get(&server, path, "").status(), 200);
    }
    let metrics = Sent::get(&server, "/metrics", "");
    let text = String::from_utf8(metrics.body).unwrap();
    let count = files().len();
    assert!(
        text.contains(&format!("operation=\"console\",status=\"200\"}} {count}\n")),
        "{text}"
    );
    let lines = lines.lock().unwrap();
    assert!(
        lines
            .iter()
            .take(count)
            .all(|line| line.contains(" console 200 "))
    );
}
