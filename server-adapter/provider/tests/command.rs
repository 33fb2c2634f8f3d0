//! `deskfleet-provider command` over a real server, and what all providers have in common.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::fleets::{Fleet, PATIENCE};
use deskfleet::{Action, AuditResult};
use serde_json::Value;

#[test]
fn program_makes_actions_happen_and_its_exit_codes_say_how() {
    let fleet = Fleet::new(&["ws-done", "ws-broken", "ws-later"]);
    let script = r#"read -r line; echo "$line" >> seen
        case "$line" in
            *ws-broken*) echo "no such disk" >&2; exit 1;;
            *ws-later*) [ -e later ] || { touch later; exit 75; };;
        esac"#;
    let script = fleet.file("script.sh", script);
    let ids = ["ws-done", "ws-broken", "ws-later"].map(|id| fleet.act(Action::Reboot, id));
    let _provider = fleet.start(&["command", "--apply", "--", "sh", script.to_str().unwrap()]);
    fleet.wait_until_done();
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
    fleet.act(Action::Reboot, "ws-1");
    fleet.act(Action::Terminate, "ws-2");
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
    let reboot = fleet.act(Action::Reboot, "ws-1");
    let rebuild = fleet.act(Action::Rebuild, "ws-2");
    let script = fleet.file("script.sh", "cat >> seen; [ -e quick ] || sleep 100");
    // The programs of a process that was killed run on, at most for that long.
    let line = ["command", "--apply", "--timeout", "5s", "--", "sh"];
    let line = [&line[..], &[script.to_str().unwrap()]].concat();
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
    fleet.wait_until_done();
    assert_eq!(lines(), 3);
    assert_eq!(fleet.end_of(reboot).2, "command, 2 attempts");
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.starts_with("Unknown: "), "{detail}");
}

#[test]
fn hold_that_was_placed_since_is_kept() {
    let fleet = Fleet::new(&["ws-1"]);
    let rebuild = fleet.act(Action::Rebuild, "ws-1");
    fleet.server.engine.place_hold("ws-1", "m-1", None).unwrap();
    let _provider = fleet.start(&["command", "--apply", "--", "touch", "begun"]);
    fleet.wait_until_done();
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.contains("litigation hold"), "{detail}");
    assert!(!fleet.folder.path().join("begun").exists());
}

/// A program that fails may have destroyed something all the same.
#[test]
fn bound_of_what_destroys_outlives_a_restart() {
    for program in ["true", "false"] {
        let fleet = Fleet::new(&["ws-1", "ws-2", "ws-3"]);
        for id in ["ws-1", "ws-2", "ws-3"] {
            fleet.act(Action::Terminate, id);
        }
        let line = [
            "command",
            "--apply",
            "--max-destructive",
            "2",
            "--",
            program,
        ];
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
}

#[test]
fn provider_stops_at_a_signal_after_what_it_has_begun() {
    let fleet = Fleet::new(&["ws-1"]);
    let reboot = fleet.act(Action::Reboot, "ws-1");
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
    fleet.act(Action::Reboot, "ws-1");
    let program = fleet.file("program", "#!/nowhere/interpreter\n");
    std::fs::set_permissions(program, Permissions::from_mode(0o755)).unwrap();
    let _provider = fleet.start(&["command", "--apply", "--listen", &listen, "--", "./program"]);
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
        if text.contains("paused: cannot start ./program") {
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
    let message = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    fleet.file("wrong", "dfk_wrong");
    let output = fleet.ended(&["command", "--key-file", "wrong", "--apply", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message(&output).contains("InvalidApiKey: "),
        "{}",
        message(&output)
    );
    assert!(!message(&output).contains("dfk_"), "{}", message(&output));
    let output = fleet.ended(&["command", "--key-file", "nowhere", "--", "true"]);
    assert!(
        message(&output).contains("cannot read nowhere"),
        "{}",
        message(&output)
    );
    let output = fleet.ended(&["command", "--url", "fleet", "--", "true"]);
    assert!(
        message(&output).contains("write the address of a server"),
        "{}",
        message(&output)
    );
    assert_eq!(output.status.code(), Some(2));
    let output = fleet.ended(&["command", "--apply", "--", "./no-such-program"]);
    assert!(
        message(&output).contains("./no-such-program is no program that can be started"),
        "{}",
        message(&output)
    );
    let output = fleet.ended(&["command", "--every", "fast", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
}
