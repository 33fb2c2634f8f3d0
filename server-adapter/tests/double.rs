//! `deskfleet double`, as test suites of other languages use it.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet");

/// Runs a double that must not start.
fn refused(rules: &str) -> Output {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("faults.json"), rules).unwrap();
    Command::new(PROGRAM)
        .args([
            "double",
            "--listen",
            "127.0.0.1:0",
            "--rules",
            "faults.json",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap()
}

#[test]
fn double_with_a_misspelled_rule_names_the_line() {
    let output = refused("[\n{ \"operation\": \"postStat\", \"status\": 502 }\n]");
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in [
        "faults.json: ",
        "\"postStat\"",
        "did you mean \"postStats\"?",
        "at line 2 ",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn double_says_what_it_is_and_serves_the_rules_of_its_file() {
    let folder = TempDir::new().unwrap();
    let rules = r#"{ "operation": "getQueueCount", "code": "ServerBusy", "times": 1 }"#;
    std::fs::write(folder.path().join("faults.json"), rules).unwrap();
    let mut child = Command::new(PROGRAM)
        .args([
            "double",
            "--listen",
            "127.0.0.1:0",
            "--rules",
            "faults.json",
        ])
        .args(["--clock", "2026-11-20T08:00:00Z", "--desktops", "2"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let started: serde_json::Value = serde_json::from_str(&line).unwrap();
    let url = started["url"].as_str().unwrap();
    let get = |path: &str| {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let request = agent.new_agent().get(format!("{url}{path}"));
        let request = request.header("x-api-key", started["key"].as_str().unwrap());
        let mut response = request.call().unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), text)
    };
    let (status, body) = get("/api/Stats/queue/count");
    assert!(status == 503 && body.contains("\"ServerBusy\""), "{body}");
    assert_eq!(get("/api/Stats/queue/count").0, 200);
    assert_eq!(get("/double").1, r#"{"now":"2026-11-20T08:00:00Z"}"#);
    // A page of the web that a browser has open reaches neither rules nor journal.
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let request = agent.new_agent().delete(format!("{url}/double/rules"));
        let response = request.header(name, value).call().unwrap();
        assert_eq!(response.status().as_u16(), 403, "{name}");
    }
    let (_, list) = get("/api/Information/GetAllWorkSpaces");
    assert!(list.contains("ws-000000002"), "{list}");
    let kill = Command::new("kill").arg(child.id().to_string()).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut message = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut message)
        .unwrap();
    assert!(
        message.contains("TEST DOUBLE") && message.contains("in memory"),
        "{message}"
    );
    assert!(!message.contains("dfk_"), "{message}");
}

#[test]
fn example_in_python_passes() {
    let page = include_str!("../docs/double.md");
    let (_, rest) = page.split_once("```python\n").unwrap();
    let (script, _) = rest.split_once("```").unwrap();
    let folder = Path::new(PROGRAM)
        .parent()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut python = Command::new("python3");
    python
        .args(["-c", script])
        .env("PATH", format!("{folder}:{path}"));
    match python.output() {
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{message}");
        }
        Err(error) => {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
            eprintln!("skipped: there is no python3");
        }
    }
}
