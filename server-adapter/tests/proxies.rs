//! The proxy configurations of `docs/proxies.md`, in the real programs. Skipped, with one line, where it is not installed.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Write as _, stderr};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Engine, NewKey, Scope};
use deskfleet_server::{LogFormat, RunningServer, ServerOptions, spawn};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/proxies.md");
const HOST: &str = "fleet.example.com";
const LIST: &str = "/api/Information/GetAllWorkSpaces";
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

type Lines = Arc<Mutex<Vec<String>>>;

/// A server, and a proxy in front of it.
struct Stand {
    server: Option<RunningServer>,
    key: String,
    lines: Lines,
    proxy: Child,
    port: u16,
    folder: TempDir,
}

/// A program and how its configuration of the document is run.
struct Program {
    name: &'static str,
    /// The language of its block in the document.
    block: &'static str,
    /// The configuration with the addresses and files of the test, given the block, the folder, the port and the server.
    adapt: fn(String, &Path, u16, SocketAddr) -> String,
    arguments: &'static [&'static str],
}

const NGINX: Program = Program {
    name: "nginx",
    block: "nginx",
    adapt: |block, folder, port, server| {
        let folder = folder.display();
        let mut conf = replaced(&block, "listen 443", &format!("listen 127.0.0.1:{port}"));
        conf = replaced(&conf, "127.0.0.1:8080;", &format!("{server};"));
        conf = replaced(&conf, "/var/log/nginx/", &format!("{folder}/logs/"));
        conf = replaced(&conf, "/etc/nginx/", &format!("{folder}/"));
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = kinds.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n"));
        let conf = replaced(
            &conf,
            "http {\n",
            &format!("http {{\n{}", temporary.concat()),
        );
        format!("daemon off;\npid {folder}/pid;\n{conf}")
    },
    arguments: &["-e", "logs/start", "-c", "configuration", "-p"],
};

const CADDY: Program = Program {
    name: "caddy",
    block: "caddyfile",
    adapt: |block, folder, port, server| {
        let folder = folder.display();
        let site =
            format!("https://{HOST}:{port} {{\n\ttls {folder}/fleet.crt {folder}/fleet.key\n");
        let mut conf = replaced(&block, &format!("{HOST} {{\n"), &site);
        conf = replaced(
            &conf,
            "reverse_proxy 127.0.0.1:8080",
            &format!("reverse_proxy {server}"),
        );
        conf = replaced(&conf, "/var/log/caddy/", &format!("{folder}/logs/"));
        format!(
            "{{\n\tadmin off\n\tauto_https disable_redirects\n{}",
            conf.strip_prefix("{\n").unwrap()
        )
    },
    arguments: &["run", "--adapter", "caddyfile", "--config", "configuration"],
};

/// The text with all of `old`, of which there is some, replaced.
fn replaced(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}\n{text}");
    text.replace(old, new)
}

/// The block of that language in the document.
fn block(language: &str) -> String {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let begin = format!("```{language}\n");
    let block = document.split(&begin).nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

/// Says so where it is not.
pub(crate) fn is_installed(program: &str) -> bool {
    let version = Command::new(program)
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if version.is_err() {
        // Written past the capture of the test runner: a skipped test must not look like one that passed.
        let _ = writeln!(
            stderr(),
            "SKIPPED a test of proxies: {program} is not installed"
        );
    }
    version.is_ok()
}

fn certificate(folder: &Path) {
    let subject = format!("/CN={HOST}");
    let names = format!("subjectAltName=DNS:{HOST}");
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
        ])
        .args(["-days", "2", "-subj", &subject, "-addext", &names])
        .args(["-keyout", "fleet.key", "-out", "fleet.crt"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

impl Stand {
    /// `None` where something is not installed.
    fn new(program: &Program) -> Option<Self> {
        let needed = [program.name, "openssl", "curl"];
        if !needed.into_iter().all(is_installed) {
            return None;
        }
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        certificate(folder.path());
        let engine = Engine::builder().clock(SystemTime::now).seed(1);
        let engine = engine.open_in_memory().unwrap();
        let new = NewKey::new("admin", [Scope::Admin]);
        let key = engine.issue_key(new).unwrap().secret;
        let lines = Lines::default();
        let log = Arc::clone(&lines);
        let options = ServerOptions {
            proxied: true,
            hosts: vec![HOST.to_owned()],
            bad_keys_per_minute: Some(3),
            access_log: Some(Arc::new(move |line: &str| {
                log.lock().unwrap().push(line.to_owned());
            })),
            log_format: LogFormat::Json,
            ..Default::default()
        };
        let server = spawn(engine, options).unwrap();
        let (proxy, port) = start(program, folder.path(), server.addr());
        Some(Self {
            server: Some(server),
            key,
            lines,
            proxy,
            port,
            folder,
        })
    }

    /// Runs curl from that address; returns status, version of HTTP and body.
    fn ask(&self, source: &str, target: &str, arguments: &[&str]) -> (u16, String, String) {
        let port = self.port;
        let output = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--noproxy",
                "*",
                "--max-time",
                "60",
            ])
            .args(["--cacert", "fleet.crt", "--interface", source])
            .args(["--resolve", &format!("{HOST}:{port}:127.0.0.1")])
            .args(["--write-out", "\n%{http_code} %{http_version}"])
            .args(arguments)
            .arg(format!("https://{HOST}:{port}{target}"))
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let message = String::from_utf8(output.stdout).unwrap();
        let (body, written) = message.rsplit_once('\n').unwrap();
        let (status, version) = written.split_once(' ').unwrap();
        (status.parse().unwrap(), version.to_owned(), body.to_owned())
    }

    /// Ends the proxy with all of its processes.
    fn stop(&mut self) {
        if self.proxy.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&self.proxy), Signal::TERM).unwrap();
            self.proxy.wait().unwrap();
        }
    }

    /// The last line of the server's access log.
    fn last(&self) -> Value {
        serde_json::from_str(self.lines.lock().unwrap().last().unwrap()).unwrap()
    }
}

/// Starts the proxy on a port that was free; another process may take it meanwhile, so it tries again.
fn start(program: &Program, folder: &Path, server: SocketAddr) -> (Child, u16) {
    let patience = Instant::now() + PATIENCE;
    loop {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let configuration = (program.adapt)(block(program.block), folder, port, server);
        fs::write(folder.join("configuration"), &configuration).unwrap();
        let mut command = Command::new(program.name);
        command.args(program.arguments).current_dir(folder);
        if program.name == "nginx" {
            command.arg(folder);
        }
        let output = File::create(folder.join("logs/output")).unwrap();
        let mut child = command
            .env("HOME", folder)
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        while child.try_wait().unwrap().is_none() {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return (child, port);
            }
            assert!(
                Instant::now() < patience,
                "{} does not listen",
                program.name
            );
            sleep(Duration::from_millis(20));
        }
        let message = fs::read_to_string(folder.join("logs/output")).unwrap();
        assert!(
            Instant::now() < patience && message.contains("in use"),
            "{message}\n{configuration}"
        );
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Good keys, a batch larger than a proxy takes by default, other hosts, and what stays inside.
fn serves(stand: &Stand) {
    let header = format!("x-api-key: {}", stand.key);
    let (status, version, body) = stand.ask("127.0.0.1", LIST, &["-H", &header]);
    assert_eq!((status, version.as_str()), (200, "2"), "{body}");
    let line = stand.last();
    assert_eq!(
        (&line["client"], &line["key"]),
        (&"127.0.0.1".into(), &"admin".into())
    );
    let target = format!("{LIST}?apiKey={}", stand.key);
    assert_eq!(stand.ask("127.0.0.1", &target, &["--http1.1"]).0, 200);

    let record = r#"{"stats":{"instanceId":"ws-1","username":"jdoe"}}"#;
    let batch = format!("{record}\n").repeat(100_000);
    fs::write(stand.folder.path().join("batch"), batch).unwrap();
    let arguments = [
        "-H",
        &header,
        "-H",
        "content-type: application/x-ndjson",
        "--data-binary",
        "@batch",
    ];
    let (status, _, body) = stand.ask("127.0.0.1", "/operator/telemetry", &arguments);
    assert_eq!(status, 200, "{body}");
    assert!(body.starts_with(r#"{"accepted":100000,"#), "{body}");

    assert_eq!(stand.ask("127.0.0.1", "/livez", &[]).0, 200);
    for inside in ["/metrics", "/Metrics/", "/metrics?a=b", "/%6detrics"] {
        assert_eq!(stand.ask("127.0.0.1", inside, &[]).0, 404, "{inside}");
    }
}

/// Bad keys are counted by the address of the client, whatever it writes into the header itself.
fn throttles_by_client(stand: &Stand) {
    for number in 0..5 {
        let forged = format!("x-forwarded-for: 10.0.0.{number}");
        let arguments = ["-H", "x-api-key: dfk_bad", "-H", &forged];
        let (status, _, body) = stand.ask("127.0.0.2", LIST, &arguments);
        let expected = if number < 3 { 401 } else { 429 };
        assert_eq!(status, expected, "{number}: {body}");
        assert_eq!(stand.last()["client"], "127.0.0.2");
    }
    let bad = ["-H", "x-api-key: dfk_bad"];
    assert_eq!(stand.ask("127.0.0.3", LIST, &bad).0, 401);
    let good = format!("x-api-key: {}", stand.key);
    assert_eq!(stand.ask("127.0.0.2", LIST, &["-H", &good]).0, 200);
}

/// No log of the proxy holds a key, also when the server is gone.
fn logs_no_key(mut stand: Stand) {
    let header = format!("x-api-key: {}", stand.key);
    let escaped = format!("/nowhere%3FapiKey={}", stand.key);
    assert_eq!(stand.ask("127.0.0.1", &escaped, &[]).0, 404);
    stand.server.take().unwrap().stop().unwrap();
    let target = format!("{LIST}?apiKey={}", stand.key);
    assert_eq!(stand.ask("127.0.0.1", &target, &["-H", &header]).0, 502);
    stand.stop();
    let mut logs = String::new();
    for log in fs::read_dir(stand.folder.path().join("logs")).unwrap() {
        logs.push_str(&fs::read_to_string(log.unwrap().path()).unwrap());
    }
    for logged in [LIST, "/nowhere", "502", "127.0.0.2"] {
        assert!(logs.contains(logged), "{logged}\n{logs}");
    }
    for secret in ["dfk_", "apiKey", "a=b", "?"] {
        assert!(!logs.contains(secret), "{secret}\n{logs}");
    }
}

fn proves(program: &Program) {
    let Some(stand) = Stand::new(program) else {
        return;
    };
    serves(&stand);
    throttles_by_client(&stand);
    logs_no_key(stand);
}

#[test]
fn nginx_as_documented_serves_throttles_by_client_and_logs_no_key() {
    proves(&NGINX);
}

#[test]
fn caddy_as_documented_serves_throttles_by_client_and_logs_no_key() {
    proves(&CADDY);
}
