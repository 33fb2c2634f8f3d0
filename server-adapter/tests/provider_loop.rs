//! `deskfleet-provider` over a real server whose actions no clock ends: programs, web services, and a fake of Amazon WorkSpaces.
#![cfg(all(unix, feature = "providers"))]
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod client;
#[allow(
    clippy::expect_used,
    dead_code,
    reason = "servers for several suites, each of which needs a part"
)]
mod provider;
mod served;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use deskfleet::{
    Action, ActionDriver, ActionRequest, AuditQuery, AuditResult, PendingAction, Workspace,
};
use deskfleet_server::ServerOptions;
use serde_json::{Value, json};
use served::{Served, served};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet-provider");
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, a folder with its key, and what providers said.
struct Fleet {
    server: Served,
    folder: tempfile::TempDir,
}

/// A provider that runs. Dropping it kills it.
struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Fleet {
    fn new(desktops: &[&str]) -> Self {
        let server = served(ServerOptions::default(), |config| {
            config.actions.driver = ActionDriver::Host;
        });
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), &server.key).unwrap();
        for id in desktops {
            let workspace = Workspace {
                id: (*id).to_owned(),
                state: Some("AVAILABLE".into()),
                region: Some("us-east-1".to_owned()),
                running_mode: Some("AUTO_STOP".into()),
                compute_type_name: Some("STANDARD".into()),
                ..Workspace::default()
            };
            server.engine.put_workspace(workspace).unwrap();
        }
        Self { server, folder }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    }

    fn act(&self, request: ActionRequest) -> u64 {
        self.server.engine.act(request).unwrap().unwrap()
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .current_dir(self.folder.path())
            .args(&line[..1])
            .args(["--url", &format!("http://{}", self.server.server.addr())])
            .args(["--key-file", "key", "--every", "50ms"])
            .args(&line[1..]);
        command
    }

    fn start(&self, line: &[&str]) -> Provider {
        Provider(self.command(line).spawn().unwrap())
    }

    fn ended(&self, line: &[&str]) -> Output {
        self.command(line).output().unwrap()
    }

    fn pending(&self) -> Vec<PendingAction> {
        self.server.engine.pending_actions().unwrap()
    }

    /// Waits until no action is pending.
    fn wait(&self) {
        let begun = Instant::now();
        while !self.pending().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", self.pending());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// How an action ended: its result, the state after it and the detail.
    fn end_of(&self, id: u64) -> (AuditResult, String, String) {
        let page = self.server.engine.audit(&AuditQuery::default()).unwrap();
        let row = page.rows.into_iter().find(|row| row.id == id).unwrap();
        let state = row.new_state.unwrap_or_default();
        (row.result, state, row.detail.unwrap_or_default())
    }
}

#[test]
fn program_makes_actions_happen_and_its_exit_codes_say_how() {
    let fleet = Fleet::new(&["ws-done", "ws-broken", "ws-later"]);
    let script = r#"read -r line; echo "$line" >> seen
        case "$line" in
            *ws-broken*) echo "no such disk" >&2; exit 1;;
            *ws-later*) [ -e later ] || { touch later; exit 75; };;
        esac"#;
    let script = fleet.file("script.sh", script);
    let ids = ["ws-done", "ws-broken", "ws-later"].map(|id| fleet.act(ActionRequest::reboot(id)));
    let _provider = fleet.start(&["command", "--apply", "--", "sh", script.to_str().unwrap()]);
    fleet.wait();
    let [done, broken, later] = ids.map(|id| fleet.end_of(id));
    let text = |text: &str| text.to_owned();
    assert_eq!(
        done,
        (
            AuditResult::Completed,
            text("AVAILABLE"),
            text("command, 1 attempt")
        )
    );
    let detail = text("no such disk (command, 1 attempt)");
    assert_eq!(broken, (AuditResult::Failed, text("ERROR"), detail));
    assert_eq!(
        later,
        (
            AuditResult::Completed,
            text("AVAILABLE"),
            text("command, 2 attempts")
        )
    );
    let seen = std::fs::read_to_string(fleet.folder.path().join("seen")).unwrap();
    let first: Value = serde_json::from_str(seen.lines().next().unwrap()).unwrap();
    assert_eq!(first["action"], "RebootWorkSpace");
    assert_eq!(seen.lines().count(), 4);
}

#[test]
fn without_apply_nothing_is_begun() {
    let fleet = Fleet::new(&["ws-1", "ws-2"]);
    fleet.act(ActionRequest::reboot("ws-1"));
    fleet.act(ActionRequest::terminate("ws-2"));
    let output = fleet.ended(&["command", "--", "touch", "begun"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("2 actions that no clock ends\n"), "{text}");
    assert!(text.contains("TerminateWorkSpace: 1\n  ws-2 "), "{text}");
    assert!(!fleet.folder.path().join("begun").exists());
    assert!(fleet.pending().iter().all(|action| action.attempts == 0));
}

/// A provider that is killed while a program runs: what does no harm twice is done again, what destroys is not.
#[test]
fn attempt_of_a_provider_that_died_is_repeated_only_where_that_does_no_harm() {
    let fleet = Fleet::new(&["ws-1", "ws-2"]);
    let reboot = fleet.act(ActionRequest::reboot("ws-1"));
    let rebuild = fleet.act(ActionRequest::rebuild("ws-2"));
    let script = fleet.file("script.sh", "cat >> seen; [ -e quick ] || sleep 100");
    let line = ["command", "--apply", "--", "sh", script.to_str().unwrap()];
    let provider = fleet.start(&line);
    let seen = fleet.folder.path().join("seen");
    let begun = Instant::now();
    let lines = || {
        std::fs::read_to_string(&seen)
            .unwrap_or_default()
            .lines()
            .count()
    };
    while lines() < 2 {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(provider);
    fleet.file("quick", "");
    let _provider = fleet.start(&line);
    fleet.wait();
    assert_eq!(lines(), 3);
    assert_eq!(fleet.end_of(reboot).2, "command, 2 attempts");
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.starts_with("Unknown: "), "{detail}");
}

#[test]
fn hold_that_was_placed_since_is_kept() {
    let fleet = Fleet::new(&["ws-1"]);
    let rebuild = fleet.act(ActionRequest::rebuild("ws-1"));
    fleet.server.engine.place_hold("ws-1", "m-1", None).unwrap();
    let _provider = fleet.start(&["command", "--apply", "--", "touch", "begun"]);
    fleet.wait();
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.contains("litigation hold"), "{detail}");
    assert!(!fleet.folder.path().join("begun").exists());
}

#[test]
fn bound_of_what_destroys_outlives_a_restart() {
    let fleet = Fleet::new(&["ws-1", "ws-2", "ws-3"]);
    for id in ["ws-1", "ws-2", "ws-3"] {
        fleet.act(ActionRequest::terminate(id));
    }
    let line = ["command", "--apply", "--max-destructive", "2", "--", "true"];
    for _ in 0..2 {
        let provider = fleet.start(&line);
        let begun = Instant::now();
        while fleet.pending().len() > 1 {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
        drop(provider);
        assert_eq!(fleet.pending().len(), 1);
        assert_eq!(fleet.pending()[0].attempts, 0);
    }
}

#[test]
fn provider_stops_at_a_signal_after_what_it_has_begun() {
    let fleet = Fleet::new(&["ws-1"]);
    let reboot = fleet.act(ActionRequest::reboot("ws-1"));
    let script = fleet.file("script.sh", "touch begun; sleep 1");
    let mut provider = fleet.start(&["command", "--apply", "--", "sh", script.to_str().unwrap()]);
    let begun = Instant::now();
    while !fleet.folder.path().join("begun").exists() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&provider.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(provider.0.wait().unwrap().success());
    assert_eq!(fleet.end_of(reboot).0, AuditResult::Completed);
}

#[test]
fn metrics_and_livez_are_served() {
    let fleet = Fleet::new(&["ws-1"]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let listen = address.to_string();
    fleet.act(ActionRequest::reboot("ws-1"));
    let _provider = fleet.start(&[
        "command",
        "--apply",
        "--listen",
        &listen,
        "--",
        "/nowhere/program",
    ]);
    let get = |path: &str| -> Option<String> {
        let mut stream = TcpStream::connect(address).ok()?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        .ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        Some(text)
    };
    let begun = Instant::now();
    loop {
        let text = get("/livez").unwrap_or_default();
        if text.contains("paused: cannot start /nowhere/program") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
    let metrics = get("/metrics").unwrap();
    assert!(
        metrics.contains("\ndeskfleet_provider_paused 1\n"),
        "{metrics}"
    );
    let denied = "deskfleet_provider_calls_total{action=\"RebootWorkSpace\",result=\"denied\"} 1";
    assert!(metrics.contains(denied), "{metrics}");
    assert!(get("/").unwrap().starts_with("HTTP/1.1 404 "));
    assert_eq!(fleet.pending().len(), 1, "nothing fails");
}

#[test]
fn wrong_key_address_and_option_are_said() {
    let fleet = Fleet::new(&[]);
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    fleet.file("wrong", "dfk_wrong");
    let output = fleet.ended(&["command", "--key-file", "wrong", "--apply", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("401 InvalidApiKey"),
        "{}",
        said(&output)
    );
    assert!(!said(&output).contains("dfk_"), "{}", said(&output));
    let output = fleet.ended(&["command", "--key-file", "nowhere", "--", "true"]);
    assert!(
        said(&output).contains("cannot read nowhere"),
        "{}",
        said(&output)
    );
    let output = fleet.ended(&["command", "--url", "fleet", "--", "true"]);
    assert!(
        said(&output).contains("--url is fleet"),
        "{}",
        said(&output)
    );
    let output = fleet.ended(&["command", "--every", "fast", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
}

/// A web service that answers with what it is told to, in turn, and hands out what it got.
fn service(answers: &'static [&'static str]) -> (SocketAddr, Receiver<(Vec<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (got, requests) = channel();
    std::thread::spawn(move || {
        let mut turn = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(request) = request(&mut stream) {
                let answer = answers[turn.min(answers.len() - 1)];
                turn += 1;
                if got.send(request).is_err() {
                    return;
                }
                if answer.is_empty() {
                    break;
                }
                write!(
                    stream.get_mut(),
                    "HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n"
                )
                .unwrap();
            }
        }
    });
    (address, requests)
}

fn request(stream: &mut BufReader<TcpStream>) -> Option<(Vec<String>, String)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = header(&head, "content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

fn header<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let line = head
        .iter()
        .find_map(|line| line.split_once(": ").filter(|(found, _)| *found == name));
    line.map(|(_, value)| value)
}

#[test]
fn web_service_makes_actions_happen_at_once_or_later() {
    let fleet = Fleet::new(&["ws-1"]);
    fleet.file("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (address, requests) =
        service(&["503 Service Unavailable", "202 Accepted", "204 No Content"]);
    let target = format!("http://{address}/hook");
    let line = [
        "webhook",
        "--apply",
        "--secret-file",
        "secret",
        "--fleet",
        "f",
        "--target",
        &target,
    ];
    let first = fleet.act(ActionRequest::rebuild("ws-1"));
    let provider = fleet.start(&line);
    let (head, body) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(head[0], "POST /hook HTTP/1.1");
    let id = format!("f-{first}");
    assert_eq!(header(&head, "webhook-id"), Some(&*id));
    assert!(
        header(&head, "webhook-signature")
            .unwrap()
            .starts_with("v1,")
    );
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["data"]["workSpaceId"], "ws-1");
    assert_eq!(body["data"]["action"], "RebuildWorkSpace");
    // 503, then 202: under way, also for a provider that starts anew.
    let (head, _) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(header(&head, "webhook-id"), Some(&*id));
    let begun = Instant::now();
    while fleet.pending()[0].note.is_none() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(provider);
    let _provider = fleet.start(&line);
    assert!(requests.recv_timeout(Duration::from_millis(500)).is_err());
    assert_eq!(fleet.pending()[0].attempts, 2);
    fleet.server.engine.complete_action(first).unwrap();
    assert_eq!(
        fleet.end_of(first).2,
        format!("webhook, 2 attempts, request {id}")
    );
    let second = fleet.act(ActionRequest::reboot("ws-1"));
    fleet.wait();
    assert_eq!(fleet.end_of(second).0, AuditResult::Completed);
}

/// The connection breaks off after the request: whether it was carried out is unknown.
#[test]
fn lost_answer_of_a_web_service_is_repeated_only_where_that_does_no_harm() {
    let fleet = Fleet::new(&["ws-1", "ws-2"]);
    fleet.file("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (address, _requests) = service(&["", "200 OK"]);
    let target = format!("http://{address}/");
    let line = [
        "webhook",
        "--apply",
        "--secret-file",
        "secret",
        "--target",
        &target,
    ];
    let rebuild = fleet.act(ActionRequest::rebuild("ws-1"));
    let _provider = fleet.start(&line);
    fleet.wait();
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.starts_with("Unknown: "), "{detail}");
    let reboot = fleet.act(ActionRequest::reboot("ws-2"));
    fleet.wait();
    assert_eq!(fleet.end_of(reboot).0, AuditResult::Completed);
}

/// Each action, through the fake of Amazon WorkSpaces, and the inventory with it.
#[test]
fn amazon_carries_out_each_action_and_the_inventory_follows() {
    let Some(aws) = provider::Aws::fake() else {
        return;
    };
    let fleet = Fleet::new(&["ws-gone00000"]);
    let ids: Vec<String> = (0..7).map(|number| format!("ws-{number:09}")).collect();
    let desktop = |id: &String| {
        let state = if id.ends_with('5') {
            "STOPPED"
        } else {
            "AVAILABLE"
        };
        (id.clone(), json!({"state": state}))
    };
    let desktops: serde_json::Map<_, _> = ids.iter().map(desktop).collect();
    aws.control(&json!({"desktops": desktops, "seconds": 0.5}));
    let (id, secret) = aws.key("all");
    let url = aws.url();
    let line = [
        "aws",
        "--apply",
        "--region",
        "us-east-1",
        "--endpoint",
        &url,
        "--rate",
        "100",
        "--burst",
        "100",
        "--scan-every",
        "500ms",
        "--settle",
        "1s",
    ];
    let mut command = fleet.command(&line);
    command
        .env("AWS_ACCESS_KEY_ID", id)
        .env("AWS_SECRET_ACCESS_KEY", secret);
    let _provider = Provider(command.stderr(Stdio::inherit()).spawn().unwrap());
    let begun = Instant::now();
    let known = |id: &str| fleet.server.engine.workspace(id).unwrap();
    while ids.iter().any(|id| known(id).is_none()) {
        assert!(begun.elapsed() < PATIENCE, "the first scan");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut numbers = Vec::new();
    for (id, action) in ids.iter().zip(Action::ALL) {
        let mut request = ActionRequest::new(*action, id.as_str());
        if *action == Action::ChangeComputeType {
            request.compute_type = Some("POWER".to_owned());
        }
        numbers.push(fleet.act(request));
    }
    fleet.wait();
    for (number, action) in numbers.iter().zip(Action::ALL) {
        let (result, _, detail) = fleet.end_of(*number);
        assert_eq!(result, AuditResult::Completed, "{action}: {detail}");
        assert!(detail.starts_with("aws, 1 attempt"), "{action}: {detail}");
    }
    while known("ws-gone00000").unwrap().workspace.state.as_deref() != Some("TERMINATED") {
        assert!(begun.elapsed() < PATIENCE, "what is missing in two scans");
        std::thread::sleep(Duration::from_millis(50));
    }
}
