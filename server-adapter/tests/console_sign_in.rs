//! Signing in to the console with a code for one use.
#![cfg(feature = "console")]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use crate::client::{Answer, Client};
use crate::schema;
use deskfleet::{AuditQuery, Clock, Engine, NewKey, Scope, Timestamp};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use serde_json::{Value, json};

const PATH: &str = "/console/session";
const START: i64 = 1_795_000_000;

/// A clock that a test moves.
#[derive(Clone)]
struct Seconds(Arc<AtomicI64>);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_seconds(self.0.load(Ordering::SeqCst))
    }
}

struct Served {
    engine: Engine,
    server: RunningServer,
    clock: Seconds,
    free_bytes: Arc<AtomicU64>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Served {
    fn new(options: ServerOptions) -> Self {
        let clock = Seconds(Arc::new(AtomicI64::new(START)));
        let free_bytes = Arc::new(AtomicU64::new(u64::MAX));
        let probed = Arc::clone(&free_bytes);
        let engine = Engine::builder()
            .clock(clock.clone())
            .seed(1)
            .free_space(move || Some(probed.load(Ordering::SeqCst)))
            .open_in_memory()
            .unwrap();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let options = ServerOptions {
            access_log: Some(Arc::new(move |line: &str| {
                lines.lock().unwrap().push(line.to_owned());
            })),
            ..options
        };
        let server = spawn(engine.clone(), options).unwrap();
        Self {
            engine,
            server,
            clock,
            free_bytes,
            log,
        }
    }

    fn code(&self) -> String {
        self.server.handle().console_code().unwrap()
    }

    fn client(&self) -> Client {
        Client::connect(self.server.addr())
    }

    fn send(&self, code: &str) -> Answer {
        self.client().post(PATH, "", &body(code))
    }

    fn after(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

fn body(code: &str) -> String {
    json!({ "code": code }).to_string()
}

fn refusal(answer: &Answer) -> (u16, String) {
    let problem = answer.json();
    (answer.status, problem["code"].as_str().unwrap().to_owned())
}

fn unknown() -> (u16, String) {
    (401, "InvalidApiKey".to_owned())
}

#[test]
fn code_is_exchanged_once_for_an_admin_key_of_twelve_hours() {
    let served = Served::new(ServerOptions::default());
    assert_eq!(refusal(&served.send("")), unknown(), "there is no code yet");
    let code = served.code();
    let answer = served.send(&code);
    assert_eq!(answer.status, 201);
    for (name, value) in [
        ("content-type", "application/json; charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    let issued = answer.json();
    let document = schema::document();
    let post = &document["paths"][PATH]["post"];
    let schema = &post["responses"]["201"]["content"]["application/json"]["schema"];
    assert!(schema.is_object());
    assert_eq!(schema::mismatch(&document, schema, &issued, "$"), None);
    let name = format!("console {}", served.clock.now());
    assert_eq!(issued["name"], *name);
    assert_eq!(issued["scopes"], json!(["admin"]));
    let expires = served.clock.now().plus_seconds(12 * 60 * 60);
    assert_eq!(issued["expires"], expires.to_string());

    let key = format!("x-api-key: {}\r\n", issued["key"].as_str().unwrap());
    let mut client = served.client();
    assert_eq!(client.ask("GET", "/operator/keys", &key).status, 200);
    assert_eq!(refusal(&served.send(&code)), unknown(), "once");
    let rows = served.engine.audit(&AuditQuery::default()).unwrap().rows;
    let row = serde_json::to_value(&rows[1]).unwrap();
    assert_eq!(row["action"], "IssueKey");
    assert_eq!(row["detail"], *name);
    served.after(12 * 60 * 60);
    assert_eq!(client.ask("GET", "/operator/keys", &key).status, 401);
}

#[test]
fn name_of_the_key_says_who_signed_in() {
    for (who, prefix) in [
        (
            json!("Ada, Firefox on Linux"),
            "Ada, Firefox on Linux, ".to_owned(),
        ),
        (json!("  "), String::new()),
        (Value::Null, String::new()),
        (json!("é".repeat(300)), format!("{}, ", "é".repeat(200))),
    ] {
        let served = Served::new(ServerOptions::default());
        let body = json!({ "code": served.code(), "who": who }).to_string();
        let answer = served.client().post(PATH, "", &body);
        assert_eq!(answer.status, 201, "{who}");
        let name = format!("{prefix}console {}", served.clock.now());
        assert_eq!(answer.json()["name"], *name);
    }
}

#[test]
fn code_is_valid_for_30_minutes() {
    for (seconds, status) in [(0, 201), (30 * 60 - 1, 201), (30 * 60, 401), (-1, 401)] {
        let served = Served::new(ServerOptions::default());
        let code = served.code();
        served.after(seconds);
        assert_eq!(served.send(&code).status, status, "{seconds}");
    }
}

#[test]
fn of_many_who_send_the_code_at_once_one_gets_a_key() {
    let served = Served::new(ServerOptions::default());
    let code = served.code();
    let barrier = Barrier::new(8);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || {
            let mut client = served.client();
            barrier.wait();
            client.post(PATH, "", &body(&code)).status
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(201), count(401)), (1, 7), "{statuses:?}");
    assert_eq!(served.engine.keys().len(), 1);
}

#[test]
fn keys_of_one_second_have_different_names() {
    let served = Served::new(ServerOptions::default());
    let names: Vec<String> = (0..3)
        .map(|_| {
            served.send(&served.code()).json()["name"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let first = format!("console {}", served.clock.now());
    assert_eq!(
        names,
        [first.clone(), format!("{first} 2"), format!("{first} 3")]
    );
}

#[test]
fn code_is_not_used_up_when_no_key_can_be_issued() {
    let served = Served::new(ServerOptions::default());
    let code = served.code();
    served.free_bytes.store(0, Ordering::SeqCst);
    let refused = served.send(&code);
    assert_eq!(refusal(&refused), (503, "LowDisk".to_owned()));
    assert!(refused.header("retry-after").is_some());
    served.free_bytes.store(u64::MAX, Ordering::SeqCst);
    assert_eq!(served.send(&code).status, 201);
    assert_eq!(served.send(&code).status, 401);
}

#[test]
fn wrong_codes_count_as_bad_keys_and_a_good_one_passes() {
    let served = Served::new(ServerOptions {
        bad_keys_per_minute: Some(3),
        ..ServerOptions::default()
    });
    let code = served.code();
    let guess = "A".repeat(43);
    for _ in 0..2 {
        assert_eq!(refusal(&served.send(&guess)), unknown());
    }
    let bad_key = "x-api-key: dfk_a\r\n";
    let mut client = served.client();
    assert_eq!(client.ask("GET", "/operator/keys", bad_key).status, 401);
    let throttled = served.send(&guess);
    assert_eq!(refusal(&throttled), (429, "Throttled".to_owned()));
    assert!(throttled.header("retry-after").is_some());
    assert_eq!(client.ask("GET", "/operator/keys", bad_key).status, 429);
    assert_eq!(served.send(&code).status, 201);
}

/// A page of another origin makes a browser send these without asking the server first; none is read.
#[test]
fn post_that_a_page_of_another_site_can_cause_is_refused_and_uses_nothing_up() {
    let served = Served::new(ServerOptions::default());
    let code = served.code();
    let mut client = served.client();
    let origin = "origin: https://evil.example\r\nsec-fetch-site: cross-site\r\n";
    let length = body(&code).len();
    for content_type in [
        "content-type: text/plain\r\n",
        "content-type: text/plain; application/json\r\n",
        "content-type: application/x-www-form-urlencoded\r\n",
        "content-type: multipart/form-data; boundary=x\r\n",
        "",
    ] {
        client.send(format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\n{origin}{content_type}content-length: {length}\r\n\r\n{}",
            body(&code)
        ));
        let answer = client.answer_to("POST");
        assert_eq!(
            refusal(&answer),
            (415, "UnsupportedMediaType".to_owned()),
            "{content_type}"
        );
        assert!(!answer.head.contains("access-control-"));
    }
    let preflight = format!("{origin}access-control-request-method: POST\r\n");
    let asked = client.ask("OPTIONS", PATH, &preflight);
    assert_eq!(asked.status, 405);
    assert!(!asked.head.contains("access-control-"));
    assert_eq!(served.send(&code).status, 201);
}

#[test]
fn malformed_request_is_refused_and_uses_nothing_up() {
    let served = Served::new(ServerOptions::default());
    let code = served.code();
    for method in ["GET", "PUT", "DELETE"] {
        let answer = served.client().ask(method, PATH, "content-length: 0\r\n");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("post")));
    }
    assert_eq!(served.client().ask("HEAD", PATH, "").body, "");
    let twice = format!("{{\"code\":\"{code}\",\"code\":\"{code}\"}}");
    for bad in [
        "",
        "{",
        "{}",
        "[]",
        "7",
        r#"{"code":7}"#,
        r#"{"code":null}"#,
        &twice,
    ] {
        let answer = served.client().post(PATH, "", bad);
        assert_eq!(refusal(&answer), (400, "InvalidBody".to_owned()), "{bad}");
    }
    let coded = served.client().post_coded(PATH, "", "gzip", b"x");
    assert_eq!(coded.status, 400);
    let padded = |bytes: usize| format!("{}{}", body(&code), " ".repeat(bytes - body(&code).len()));
    let large = served.client().post(PATH, "", &padded(1025));
    assert_eq!(refusal(&large), (413, "PayloadTooLarge".to_owned()));
    assert_eq!(large.header("connection"), Some("close"));
    let answer = served.client().post("/Console/Session/", "", &padded(1024));
    assert_eq!(answer.status, 201);
}

#[test]
fn neither_code_nor_key_is_logged_and_the_name_of_the_key_is() {
    let served = Served::new(ServerOptions::default());
    let code = served.code();
    let wrong = served
        .client()
        .post(&format!("{PATH}?code={code}"), "", "{}");
    assert_eq!(wrong.status, 400);
    let issued = served.send(&code).json();
    served.send(&code);
    let metrics = served.client().ask("GET", "/metrics", "").body;
    let key = issued["key"].as_str().unwrap();
    let log = served.log.lock().unwrap().join("\n");
    for text in [&log, &metrics] {
        assert!(!text.contains(&code) && !text.contains(key), "{text}");
    }
    let name = issued["name"].as_str().unwrap().replace(' ', "\\x20");
    assert!(
        log.contains(&format!(" POST {PATH} consoleSession 201 ")),
        "{log}"
    );
    assert!(log.contains(&name), "{log}");
    assert!(metrics.contains("operation=\"consoleSession\",status=\"201\"} 1\n"));
}

#[test]
fn new_code_ends_the_one_before_and_no_key() {
    let served = Served::new(ServerOptions::default());
    let new = NewKey::new("admin", [Scope::Admin]);
    let key = served.engine.issue_key(new).unwrap().secret;
    let (first, second) = (served.code(), served.code());
    assert_eq!(served.send(&first).status, 401);
    assert_eq!(served.send(&second).status, 201);
    let header = format!("x-api-key: {key}\r\n");
    let keys = served.client().ask("GET", "/operator/keys", &header);
    assert_eq!(keys.json()["keys"].as_array().unwrap().len(), 2);
}
