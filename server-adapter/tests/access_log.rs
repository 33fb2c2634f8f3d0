//! The access log: who asked for what with which key, under the trace id of the response.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::{Config, Engine, NewKey, Scope};
use deskfleet_server::{LogFormat, Metrics, RunningServer, ServerOptions, spawn};
use serde_json::Value;

const LIST: &str = "/api/Information/GetAllWorkSpaces";
const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

struct Logged {
    server: RunningServer,
    engine: Engine,
    lines: Arc<Mutex<Vec<String>>>,
    metrics: Metrics,
}

impl Logged {
    fn new(format: LogFormat, config: Config) -> Self {
        let engine = Engine::builder()
            .clock(SystemTime::now)
            .seed(1)
            .config(config)
            .open_in_memory()
            .unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&lines);
        let metrics = Metrics::default();
        let options = ServerOptions {
            access_log: Some(Arc::new(move |line: &str| {
                log.lock().unwrap().push(line.to_owned());
            })),
            log_format: format,
            proxied: true,
            drain_timeout: Duration::ZERO,
            metrics: metrics.clone(),
            ..Default::default()
        };
        let server = spawn(engine.clone(), options).unwrap();
        Self {
            server,
            engine,
            lines,
            metrics,
        }
    }

    fn key(&self, name: &str, scope: Scope) -> String {
        let new = NewKey::new(name, [scope]);
        self.engine.issue_key(new).unwrap().secret
    }

    fn client(&self) -> Client {
        Client::connect(self.server.addr())
    }

    /// The last line, of JSON.
    fn last(&self) -> Value {
        serde_json::from_str(self.lines.lock().unwrap().last().unwrap()).unwrap()
    }
}

#[test]
fn every_request_is_logged_under_the_trace_id_of_its_response() {
    let logged = Logged::new(LogFormat::Json, Config::default());
    let mut client = logged.client();
    let key = logged.key("reports", Scope::Read);
    let sent = format!("traceparent: {}01\r\n", &TRACE[..53]);
    for (method, target, status) in [
        ("GET", LIST, 401),
        ("GET", "/nowhere", 404),
        ("DELETE", "/livez", 405),
        ("DELETE", LIST, 405),
    ] {
        let refused = client.ask(method, target, "");
        assert_eq!(refused.status, status, "{target}");
        let line = logged.last();
        assert_eq!(line["traceId"], refused.json()["traceId"], "{target}");
        let refused = client.ask(method, target, &sent);
        assert_eq!(refused.json()["traceId"], TRACE, "{target}");
        assert_eq!(logged.last()["traceId"], TRACE, "{target}");
    }
    client.send(format!(
        "GET /livez HTTP/1.1\r\nhost: evil.example\r\n{sent}\r\n"
    ));
    assert_eq!(client.answer_to("GET").status, 421);
    assert_eq!(logged.last()["traceId"], TRACE);

    let headers = format!("x-api-key: {key}\r\n{sent}");
    assert_eq!(client.ask("GET", LIST, &headers).status, 200);
    assert_eq!(logged.last()["traceId"], TRACE);
    let ids: Vec<String> = (0..2)
        .map(|_| {
            assert_eq!(client.ask("GET", "/livez", "").status, 200);
            logged.last()["traceId"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(ids[0] != ids[1] && ids.iter().all(|id| id.len() == TRACE.len()));
}

#[test]
fn log_line_names_client_operation_and_key() {
    let logged = Logged::new(LogFormat::Json, Config::default());
    let mut client = logged.client();
    let key = logged.key("reports", Scope::Read);
    let headers = format!("x-api-key: {key}\r\nx-forwarded-for: 10.0.0.1, 192.0.2.7\r\n");
    let answer = client.ask("GET", &format!("{LIST}?limit=7"), &headers);
    let line = logged.last();
    let names: Vec<&str> = line
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = [
        "time",
        "client",
        "method",
        "path",
        "operation",
        "status",
        "bytes",
        "durationMs",
        "key",
        "traceId",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    for (member, value) in [
        ("client", "192.0.2.7"),
        ("method", "GET"),
        ("path", LIST),
        ("operation", "getAllWorkSpaces"),
        ("key", "reports"),
    ] {
        assert_eq!(line[member], value, "{line}");
    }
    assert_eq!(
        (&line["status"], &line["bytes"]),
        (&200.into(), &answer.body.len().into())
    );
    assert!(line["durationMs"].is_f64(), "{line}");

    // A key that was accepted is named, whatever is refused; one that was not is not.
    assert_eq!(client.ask("GET", "/operator/keys", &headers).status, 403);
    assert_eq!(logged.last()["key"], "reports");
    assert_eq!(
        client.ask("GET", LIST, "x-api-key: dfk_bad\r\n").status,
        401
    );
    assert_eq!(logged.last()["key"], Value::Null);
    assert_eq!(client.post("/api/Stats/Post", &headers, "{}").status, 200);
    assert_eq!(logged.last()["key"], Value::Null, "none is needed");
}

#[test]
fn request_whose_connection_ends_before_its_response_is_logged_and_counted_as_499() {
    let mut logged = Logged::new(LogFormat::Json, Config::default());
    let key = logged.key("agents", Scope::Admin);
    let mut client = logged.client();
    client.send(format!(
        "POST /operator/telemetry HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n"
    ));
    // It is sent once the server wants the body.
    let head = client.head();
    assert!(head.starts_with("http/1.1 100 "), "{head}");
    let options = ServerOptions {
        metrics: logged.metrics.clone(),
        ..Default::default()
    };
    let other = spawn(logged.engine.clone(), options).unwrap();
    let cut = std::mem::replace(&mut logged.server, other);
    assert_eq!(cut.stop().unwrap().cut_off, 1);

    let line = logged.last();
    for (member, value) in [
        ("path", "/operator/telemetry"),
        ("operation", "postTelemetryBatch"),
        ("key", "agents"),
    ] {
        assert_eq!(line[member], value, "{line}");
    }
    assert_eq!(line["status"], 499, "{line}");
    assert_eq!(logged.lines.lock().unwrap().len(), 1);
    let counted = "deskfleet_requests_total{operation=\"postTelemetryBatch\",status=\"499\"} 1\n";
    let metrics = logged.client().ask("GET", "/metrics", "").body;
    assert!(metrics.contains(counted), "{metrics}");
}

#[test]
fn throttled_key_is_named_in_the_log() {
    let mut config = Config::default();
    config.limits.key_requests_per_minute = Some(1);
    let logged = Logged::new(LogFormat::Json, config);
    let headers = format!("x-api-key: {}\r\n", logged.key("busy", Scope::Read));
    let mut client = logged.client();
    // Over three requests there are two of the same minute.
    let statuses = [(); 3].map(|()| client.ask("GET", LIST, &headers).status);
    assert!(statuses.contains(&429), "{statuses:?}");
    for line in logged.lines.lock().unwrap().iter() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["key"], "busy", "{line}");
    }
}

#[test]
fn name_of_a_key_begins_no_line_and_reaches_no_terminal() {
    let name = "a b 中é 200 0B";
    for format in [LogFormat::Text, LogFormat::Json] {
        let logged = Logged::new(format, Config::default());
        let headers = format!("x-api-key: {}\r\n", logged.key(name, Scope::Read));
        assert_eq!(logged.client().ask("GET", LIST, &headers).status, 200);
        let line = logged.lines.lock().unwrap().concat();
        assert!(
            line.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
            "{line}"
        );
        if format == LogFormat::Json {
            assert_eq!(logged.last()["key"], name);
        } else {
            assert_eq!(line.split(' ').count(), 10, "{line}");
        }
    }
}

#[test]
fn log_that_is_off_gets_no_line() {
    let logged = Logged::new(LogFormat::Off, Config::default());
    assert_eq!(logged.client().ask("GET", "/livez", "").status, 200);
    assert!(logged.lines.lock().unwrap().is_empty());
}
