//! The command `deskfleet`, run as users run it.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::client::Client;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet");

/// A folder of its own for one test; commands run in it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .env_clear()
            .args(line.split_whitespace())
            .current_dir(self.0.path());
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command that must succeed; returns its standard output.
    fn done(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", err(&output));
        out(&output)
    }

    /// Runs a command that must fail with this code; returns its standard error.
    fn fails(&self, line: &str, code: i32) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", err(&output));
        err(&output)
    }

    fn feed(&self, line: &str, input: &str) -> Output {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        child.wait_with_output().unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// `deskfleet serve` as a process of its own.
struct Served {
    child: Child,
    address: SocketAddr,
    message: String,
}

impl Served {
    fn start(place: &Place, line: &str) -> Self {
        let mut child = place
            .command(line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut message = String::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = lines.next().unwrap().unwrap();
            message.push_str(&line);
            message.push('\n');
            if let Some((_, address)) = line.split_once(" at http://") {
                break address.parse().unwrap();
            }
        };
        // Reads on, so that the log never blocks the server.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            address,
            message,
        }
    }

    /// Sends SIGTERM; returns its standard output.
    fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        let mut data = String::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut data)
            .unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        data
    }
}

fn count(place: &Place, what: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(&place.done("check")).unwrap();
    report[what].as_u64().unwrap()
}

#[test]
fn help_and_version_are_printed_on_stdout() {
    let place = Place::new();
    assert!(place.done("--help").contains("Usage: deskfleet"));
    assert!(place.done("keys --help").contains("Usage: deskfleet keys"));
    let issue = place.done("keys issue --help");
    assert!(issue.contains("--expires") && issue.contains("Examples:"));
    assert!(!issue.contains("--listen"));
    assert_eq!(
        place.done("--version"),
        format!("deskfleet {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_usage_exits_with_2_and_changes_no_file() {
    let place = Place::new();
    for line in [
        "surf",
        "--bogus",
        "import",
        "keys issue --name n",
        "serve --listen here",
    ] {
        assert!(place.fails(line, 2).contains("--help"), "{line}");
    }
    assert_eq!(std::fs::read_dir(place.0.path()).unwrap().count(), 0);
}

#[test]
fn maintenance_commands_create_no_store() {
    let place = Place::new();
    for line in [
        "check",
        "backup copy.redb",
        "compact",
        "keys list",
        "keys revoke 1",
        "keys issue --name n --scope read",
    ] {
        assert!(place.fails(line, 1).contains("no store"), "{line}");
    }
    let message = place.fails("keys issue --name n --scope read --data mistyped.redb", 1);
    assert!(message.contains("--create"), "{message}");
    assert!(
        place
            .fails("import missing.json", 1)
            .contains("missing.json")
    );
    assert_eq!(std::fs::read_dir(place.0.path()).unwrap().count(), 0);
}

#[test]
fn first_key_is_printed_once_and_accepted() {
    let place = Place::new();
    let served = Served::start(&place, "serve --listen 127.0.0.1:0");
    assert!(!served.message.contains("dfk_"));
    let mut client = Client::connect(served.address);
    assert_eq!(client.ask("GET", "/operator/keys", "").status, 401);
    let address = served.address;
    drop(client);
    let data = served.stop();
    let key = data.lines().next().unwrap();
    assert!(key.starts_with("dfk_"), "{data}");
    assert_eq!(
        data.lines().nth(1).unwrap(),
        format!("curl -H 'X-Api-Key: {key}' http://{address}/api/Information/GetAllWorkSpaces")
    );

    let served = Served::start(&place, "--listen 127.0.0.1:0 --quiet");
    let mut client = Client::connect(served.address);
    let keys = client.ask("GET", "/operator/keys", &format!("x-api-key: {key}\r\n"));
    assert_eq!(keys.status, 200, "{keys:?}");
    drop(client);
    assert_eq!(served.stop(), "", "the key is shown only once");
}

#[test]
fn serve_on_a_public_address_requires_a_key() {
    let place = Place::new();
    let message = place.fails("serve --listen 0.0.0.0:0", 1);
    assert!(
        message.contains("keys issue") && message.contains("--create"),
        "{message}"
    );
    assert!(!message.contains("dfk_"));
    assert!(
        place
            .fails("serve --memory --listen 0.0.0.0:0", 1)
            .contains("127.0.0.1")
    );
    let left = std::fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(left, 0, "no store and no first key was made");

    place.done("keys issue --name admin --scope admin --create");
    let refused = place.fails("keys revoke 1", 1);
    assert!(
        refused.contains("--force") && refused.contains("?force=true"),
        "{refused}"
    );
    let refused = place.fails("keys issue --name Admin --scope read", 1);
    assert!(refused.contains("key 1"), "{refused}");
    place.fails(
        "keys issue --name late --scope read --expires 2020-01-01",
        1,
    );
    place.done("keys revoke 1 --force");
    place.fails("serve --listen 0.0.0.0:0", 1);
    place.done("keys issue --name admin --scope admin");
    let served = Served::start(&place, "serve --listen 0.0.0.0:0");
    assert_eq!(served.stop(), "");
}

#[test]
fn keys_commands_issue_list_and_revoke() {
    let place = Place::new();
    let issued =
        place.run("keys issue --name desk --scope read --scope act --expires 2999-01-01 --create");
    let path = std::fs::canonicalize(place.file("deskfleet.redb")).unwrap();
    let made = format!("There was no store {}; it is made now.\n", path.display());
    assert!(err(&issued).starts_with(&made), "{}", err(&issued));
    let secret = out(&issued);
    assert!(
        secret.starts_with("dfk_") && secret.lines().count() == 1,
        "{secret}"
    );
    let listed = place.done("keys list");
    assert!(!listed.contains("dfk_"));
    let key: serde_json::Value = serde_json::from_str(listed.trim()).unwrap();
    assert_eq!(key["name"], "desk");
    assert_eq!(key["scopes"], serde_json::json!(["read", "act"]));
    assert_eq!(key["expires"], "2999-01-01T00:00:00Z");
    assert!(key["revoked"].is_null());
    let id = key["id"].as_u64().unwrap();
    place.done(&format!("keys revoke {id}"));
    place.done(&format!("keys revoke {id}"));
    place.fails("keys revoke 4711", 1);
    let key: serde_json::Value = serde_json::from_str(place.done("keys list").trim()).unwrap();
    assert!(key["revoked"].is_string());
}

#[test]
fn import_reads_lines_and_arrays() {
    let place = Place::new();
    let lines = "\u{feff}{\"workSpId\":\"ws-1\",\"state\":\"available\",\"future\":1}\n\n{\"workSpId\":\"ws-2\",\"region\":null}\r\n";
    std::fs::write(place.file("fleet.ndjson"), lines).unwrap();
    let report: serde_json::Value =
        serde_json::from_str(&place.done("import fleet.ndjson --create")).unwrap();
    assert_eq!(
        (
            &report["upserted"],
            &report["rejected"],
            &report["committed"]
        ),
        (&2.into(), &0.into(), &2.into())
    );
    assert_eq!(report["warnings"][0]["message"], "unknown member future");
    std::fs::write(
        place.file("fleet.json"),
        r#" [{"workSpId":"ws-2"},{"workSpId":"ws-3"}]"#,
    )
    .unwrap();
    place.done("import fleet.json");
    assert_eq!(count(&place, "workspaces"), 3);
}

#[test]
fn import_names_rejected_lines_and_imports_the_others() {
    let place = Place::new();
    let long = "x".repeat(300);
    let input = format!(
        "{{\"workSpId\":\"ws-1\"}}\n{{\"workSpId\":7}}\nnonsense\n{{\"region\":\"none\"}}\n\
         {{\"workSpId\":\"ws-2\",\"region\":\"{long}\"}}\n{{\"workSpId\":\"ws-3\"}}\n"
    );
    let output = place.feed("import - --create", &input);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(
        (&report["upserted"], &report["rejected"]),
        (&2.into(), &4.into())
    );
    let mut lines: Vec<u64> = report["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["line"].as_u64().unwrap())
        .collect();
    lines.sort_unstable();
    assert_eq!(lines, [2, 3, 4, 5]);
    assert!(err(&output).contains("line 3, column 2: "));
    assert_eq!(count(&place, "workspaces"), 2);
}

#[test]
fn control_characters_of_the_input_do_not_reach_the_terminal() {
    let place = Place::new();
    let input = "{\"workSpId\":\"ws-1\",\"\\u001b]0;x\\u0007\\n\":1}\n{\"workSpId\":\"ws\\u001b[2J\"}\n\u{1b}[31m\n";
    let output = place.feed("import - --create", input);
    let message = err(&output);
    assert!(message.contains("warning: line 1: "), "{message}");
    let plain = |char: char| char == '\n' || !char.is_control();
    assert!(message.chars().all(plain), "{message:?}");
    let missing = place.fails("import \u{1b}[31m", 1);
    assert!(
        missing.contains("\\u{1b}[31m") && missing.chars().all(plain),
        "{missing:?}"
    );
}

#[test]
fn command_on_a_store_in_use_fails_and_names_the_endpoint() {
    let place = Place::new();
    std::fs::write(place.file("fleet.json"), "[]").unwrap();
    let served = Served::start(&place, "serve --listen 127.0.0.1:0");
    let message = place.fails("import fleet.json", 1);
    assert!(message.contains("import fleet.json --url"), "{message}");
    assert!(place.fails("keys list", 1).contains("--url http://"));
    place.fails("serve --listen 127.0.0.1:0", 1);
    place.fails("check", 1);
    served.stop();
    place.done("import fleet.json");
}

#[test]
fn backup_opens_as_a_store() {
    let place = Place::new();
    place.feed("import - --create", r#"{"workSpId":"ws-1"}"#);
    place.done("backup copy.redb");
    place.done("compact");
    place.feed("import -", r#"{"workSpId":"ws-2"}"#);
    assert_eq!(count(&place, "workspaces"), 2);
    let report = place.done("check --data copy.redb");
    assert!(report.contains("\"workspaces\":1"), "{report}");
    place.fails("backup copy.redb", 1);
    let foreign: &Path = &place.file("foreign");
    std::fs::write(foreign, "not a store, whatever its name says").unwrap();
    place.fails("check --data foreign", 1);
}

#[test]
fn demo_fleet_is_served_at_start() {
    let place = Place::new();
    let served = Served::start(&place, "--memory --demo --listen 127.0.0.1:0 --quiet");
    let mut client = Client::connect(served.address);
    let metrics = client.ask("GET", "/metrics", "").body;
    assert!(
        metrics.contains("deskfleet_records_filed_total"),
        "{metrics}"
    );
    drop(client);
    assert!(
        served.message.contains("320 workspaces"),
        "{}",
        served.message
    );
    assert!(served.stop().starts_with("dfk_"));
    assert_eq!(std::fs::read_dir(place.0.path()).unwrap().count(), 0);
}
