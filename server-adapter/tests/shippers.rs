//! The commands and configurations of `docs/shippers.md`, in the real programs. Skipped, with one line, where one is not installed.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Write as _, stderr};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use deskfleet::{Engine, HistoryQuery, NewKey, Record, Scope, Stream};
use deskfleet_server::{RunningServer, ServerOptions, spawn};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/shippers.md");
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
const LINES: &str = "{\"instanceId\":\"ws-1\",\"processorInUse\":41}\n{\"instanceId\":\"ws-2\",\"username\":\"j\\\"d\",\"date\":1}\n";

/// A server, with a key for shippers, and the file that they send.
struct Fleet {
    engine: Engine,
    server: Option<RunningServer>,
    key: String,
    folder: TempDir,
}

impl Fleet {
    fn new() -> Self {
        let engine = Engine::builder().clock(SystemTime::now).seed(1);
        let engine = engine.open_in_memory().unwrap();
        let new = NewKey::new("shipper", [Scope::Ingest]);
        let key = engine.issue_key(new).unwrap().secret;
        let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("stats.ndjson"), LINES).unwrap();
        Self {
            engine,
            server: Some(server),
            key,
            folder,
        }
    }

    /// The block of that language in the document, with the addresses, the files and the key of the test.
    fn block(&self, language: &str, key: &str) -> String {
        let document = fs::read_to_string(DOCUMENT).unwrap();
        let begin = format!("```{language}\n");
        let block = document.split(&begin).nth(1).unwrap();
        let block = block.split("```").next().unwrap();
        let server = self.server.as_ref().unwrap().addr().to_string();
        let folder = self.folder.path().display().to_string();
        let changes = [
            ("fleet.example:8080", &*server),
            ("/var/log/desktops", &folder),
            (key, &self.key),
        ];
        changes.iter().fold(block.to_owned(), |text, (old, new)| {
            assert!(text.contains(old), "{old}\n{text}");
            text.replace(old, new)
        })
    }

    /// Waits until both lines are there.
    fn has_both(&self, mut check: impl FnMut()) {
        let begun = Instant::now();
        while self.engine.queue_count() < 2 {
            check();
            assert!(begun.elapsed() < PATIENCE, "no telemetry");
            sleep(Duration::from_millis(50));
        }
        for (instance, in_use, username) in [("ws-1", Some(41), None), ("ws-2", None, Some("j\"d"))]
        {
            let query = HistoryQuery::new(Stream::Stats, instance);
            let page = self.engine.history(&query).unwrap();
            let [received] = page.records.as_slice() else {
                panic!("{page:?}");
            };
            let Record::Stats(stats) = &received.record else {
                panic!("{received:?}");
            };
            let found = stats.username.value().map(String::as_str);
            assert_eq!((stats.processor_in_use, found), (in_use, username));
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            let _ = server.stop();
        }
    }
}

/// Whether what the program prints has that text.
fn is_installed(program: &str, argument: &str, text: &str) -> bool {
    let output = Command::new(program).arg(argument).output();
    let prints =
        |output: std::process::Output| String::from_utf8_lossy(&output.stdout).contains(text);
    let is_installed = output.is_ok_and(prints);
    if !is_installed {
        // Written past the capture of the test runner: a skipped test must not look like one that passed.
        let _ = writeln!(
            stderr(),
            "SKIPPED a test of shippers: {program} is not installed, or without {text}"
        );
    }
    is_installed
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
            let _ = self.0.wait();
        }
    }
}

fn syslog_ng(folder: &Path) -> Running {
    let output = File::create(folder.join("output")).unwrap();
    let child = Command::new("syslog-ng")
        .args(["--foreground", "--no-caps", "--cfgfile", "configuration"])
        .args([
            "--persist-file",
            "persist",
            "--control",
            "control",
            "--pidfile",
            "pid",
        ])
        .current_dir(folder)
        .stdout(output.try_clone().unwrap())
        .stderr(output)
        .spawn();
    Running(child.unwrap())
}

#[test]
fn syslog_ng_of_the_document_sends_the_lines_of_a_file() {
    if !is_installed("syslog-ng", "--module-registry", "Module: http") {
        return;
    }
    let fleet = Fleet::new();
    let folder = fleet.folder.path();
    let configuration = fleet.block("syslog-ng", "dfk_REPLACE");
    fs::write(folder.join("configuration"), &configuration).unwrap();
    let mut program = syslog_ng(folder);
    fleet.has_both(|| {
        if program.0.try_wait().unwrap().is_some() {
            let output = fs::read_to_string(folder.join("output")).unwrap();
            panic!("{output}\n{configuration}");
        }
    });
}

#[test]
fn curl_of_the_document_sends_a_file() {
    if !is_installed("curl", "--version", "curl") {
        return;
    }
    let fleet = Fleet::new();
    let script = fleet.block("curl", "$DESKFLEET_KEY");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let response: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(response["accepted"], 2, "{response}");
    assert_eq!(response["warnings"][0]["message"], "unknown member date");
    fleet.has_both(|| {});
}
