//! Backups that the server takes by itself, and restoring one.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Output;

use crate::load::{Client, Place, Served, command, done};
use rustix::process::Signal;
use serde_json::Value;

const BACKED_UP: &str = "Backup: ";

/// The copies in the folder `b`, oldest first.
fn copies(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.file("b")).unwrap();
    let mut copies: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    copies.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "redb")
    });
    copies.sort();
    copies
}

fn put(served: &Served, place: &Place, id: &str) {
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let put = format!("PUT /operator/workspaces/{id}");
    client.accepted(&put, "{}").unwrap();
}

fn metric(served: &Served, place: &Place, name: &str) -> Option<f64> {
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let (_, text) = client.ask("GET /metrics", "").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map(|value| value.trim().parse().unwrap())
}

fn refused(output: &Output) -> String {
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    message
}

/// The old store, its queue and the positions of its webhooks are kept, and the last two are not beside the copy.
fn assert_beside_are_kept(place: &Place, kept: &[String]) {
    assert_eq!(kept.len(), 3, "{kept:?}");
    for (path, addition) in kept.iter().skip(1).zip(["-queue", "-webhooks"]) {
        assert_eq!(*path, format!("{}{addition}", kept[0]));
        assert!(!place.file(&format!("deskfleet.redb{addition}")).exists());
    }
}

/// The names of what a restore has kept.
fn kept(place: &Place) -> Vec<String> {
    let names = fs::read_dir(place.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut kept: Vec<_> = names
        .filter(|name| name.starts_with("deskfleet.redb.2"))
        .collect();
    kept.sort();
    kept
}

#[test]
fn scheduled_backups_are_checked_audited_and_the_oldest_removed() {
    let place = Place::new();
    fs::create_dir(place.file("b")).unwrap();
    let file = "[backups]\nfolder = 'b'\nevery = '150ms'\nkeep = 2\n";
    fs::write(place.file("deskfleet.toml"), file).unwrap();
    let mut served = place.serve_with("--quiet");
    for _ in 0..4 {
        served.wait_for(BACKED_UP);
    }
    let last = metric(
        &served,
        &place,
        "deskfleet_backup_last_success_timestamp_seconds",
    );
    assert!(last.unwrap() > 1.7e9);
    let failures = metric(&served, &place, "deskfleet_backup_failures_total");
    assert_eq!(failures, Some(0.0));
    // Both settings change while the server runs.
    let file = "[backups]\nfolder = 'b'\nevery = '1d'\nkeep = 1\n";
    fs::write(place.file("deskfleet.toml"), file).unwrap();
    served.signal(Signal::HUP);
    served.wait_for("backups.keep is 1 now.");
    served.signal(Signal::USR1);
    served.terminate();
    let left = copies(&place);
    assert_eq!(left.len(), 1);
    done(place.path(), &format!("check --data {}", left[0].display()));
    let audit = done(place.path(), "export audit");
    let rows = audit.lines().filter(|row| row.contains("\"BackUp\""));
    assert!(rows.clone().count() >= 5, "{audit}");
    assert!(
        rows.clone().all(|row| row.contains("deskfleet-2")),
        "{audit}"
    );
}

#[test]
fn backup_that_fails_is_counted_and_the_last_good_one_is_kept() {
    let place = Place::new();
    fs::create_dir(place.file("b")).unwrap();
    let old = place.file("b/deskfleet-2026-01-01T00-00-00.000Z.redb");
    done(place.path(), &format!("backup {}", old.display()));
    let options = "--quiet --backups b --set backups.every=100ms --set backups.keep=1";
    // No disk has that much room.
    let served = place.serve_with(&format!("{options} --set limits.free_bytes_min=1024TiB"));
    let line = served.wait_for("No backup ");
    assert!(line.contains("remove older copies"), "{line}");
    served.wait_for("No backup ");
    let failures = metric(&served, &place, "deskfleet_backup_failures_total");
    assert!(failures.unwrap() >= 2.0);
    let last = metric(
        &served,
        &place,
        "deskfleet_backup_last_success_timestamp_seconds",
    );
    // 2026-01-01.
    assert_eq!(last, Some(1_767_225_600.0));
    assert_eq!(copies(&place), [old]);
}

#[test]
fn restore_checks_the_copy_and_keeps_old_file_owner_and_mode() {
    let place = Place::new();
    fs::set_permissions(place.file("deskfleet.redb"), Permissions::from_mode(0o640)).unwrap();
    let mut served = place.serve_with("--quiet");
    put(&served, &place, "ws-before");
    served.terminate();
    done(place.path(), "backup copy.redb");
    let mut served = place.serve_with("--quiet");
    put(&served, &place, "ws-after");
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    client
        .accepted("POST /api/Stats/Post", r#"{"instanceId":"i-1"}"#)
        .unwrap();
    let restore = || command(place.path(), "restore copy.redb").output().unwrap();
    let message = refused(&restore());
    assert!(message.contains("Stop the server"), "{message}");
    // Its queue stays in segments.
    served.kill();

    let damaged = place.file("damaged.redb");
    let mut bytes = fs::read(place.file("copy.redb")).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(7);
    fs::write(damaged, bytes).unwrap();
    let message = refused(
        &command(place.path(), "restore damaged.redb")
            .output()
            .unwrap(),
    );
    assert!(message.contains("was not changed"), "{message}");
    let mut before = done(place.path(), "export workspaces");
    assert!(before.contains("ws-after"));

    fs::write(place.file("deskfleet.redb-webhooks"), "{}").unwrap();
    let output = restore();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(
        message.contains("1 workspace, ") && message.contains("Next: "),
        "{message}"
    );
    let mode = fs::metadata(place.file("deskfleet.redb"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let kept = kept(&place);
    assert_beside_are_kept(&place, &kept);
    // The old store is whole, with what was not filed.
    assert_eq!(
        done(
            place.path(),
            &format!("export workspaces --data {}", kept[0])
        ),
        before
    );
    assert!(done(place.path(), &format!("export stats --data {}", kept[0])).contains("i-1"));
    before = done(place.path(), "export workspaces");
    assert!(before.contains("ws-before") && !before.contains("ws-after"));

    // What was kept is no copy as long as its queue is beside it.
    let message = refused(
        &command(place.path(), &format!("restore {}", kept[0]))
            .output()
            .unwrap(),
    );
    assert!(message.contains("deskfleet backup NEW"), "{message}");
    let mut served = place.serve_with("--quiet");
    assert!(!served.before.contains("not closed"), "{}", served.before);
    assert!(
        served.before.contains("is a copy that was made at"),
        "{}",
        served.before
    );
    served.terminate();
}

#[test]
fn restore_makes_a_file_where_there_was_none() {
    let place = Place::new();
    done(place.path(), "backup copy.redb");
    done(place.path(), "restore copy.redb --data new.redb");
    let mode = fs::metadata(place.file("new.redb"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        done(place.path(), "keys list --data new.redb")
            .lines()
            .count(),
        1
    );
    let message = refused(
        &command(place.path(), "restore new.redb --data new.redb")
            .output()
            .unwrap(),
    );
    assert!(message.contains("is the store itself"), "{message}");
    let message = refused(
        &command(place.path(), "restore missing --data new.redb")
            .output()
            .unwrap(),
    );
    assert!(message.contains("there is no"), "{message}");
}

#[test]
fn start_that_fails_says_so_in_the_configured_format() {
    let place = Place::new();
    let fails = |line: &str, code: i32| -> Value {
        let output = command(place.path(), line).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        serde_json::from_str(&message).unwrap()
    };
    for (line, code, part) in [
        ("--backups missing", 1, "missing"),
        ("--set server.hots=a", 2, "did you mean server.hosts?"),
    ] {
        let line = format!("serve --listen 127.0.0.1:0 --set log.format=json {line}");
        let object = fails(&line, code);
        assert_eq!(object["level"], "error");
        assert!(
            object["message"].as_str().unwrap().contains(part),
            "{object}"
        );
    }
}

#[test]
fn access_log_leaves_out_operations_and_what_succeeded() {
    let place = Place::new();
    let ask = |options: &str| {
        let mut served = place.serve_with(options);
        let mut client = Client::connect(served.address, &place.admin).unwrap();
        for line in ["GET /livez", "GET /readyz", "GET /nowhere"] {
            client.ask(line, "").unwrap();
        }
        let lines = served.terminate().join("\n");
        ["/livez", "/readyz", "/nowhere"].map(|path| lines.contains(&format!(" GET {path} ")))
    };
    assert_eq!(ask("--set log.except=livez,postStats"), [false, true, true]);
    assert_eq!(ask("--set log.errors_only=true"), [false, false, true]);
    assert_eq!(
        ask("--set log.errors_only=true --set log.except=livez,none"),
        [false, false, false]
    );
}

#[test]
fn start_after_a_crash_says_what_it_recovered() {
    let place = Place::new();
    let mut served = place.serve_with("--quiet");
    assert!(!served.before.contains("not closed"), "{}", served.before);
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    for _ in 0..3 {
        client
            .accepted("POST /api/Stats/Post", r#"{"instanceId":"i-1"}"#)
            .unwrap();
    }
    served.kill();
    let mut served = place.serve_with("--quiet");
    let message = "the store was not closed before, as after a crash";
    assert!(served.before.contains(message), "{}", served.before);
    assert!(
        served.before.contains("3 telemetry records"),
        "{}",
        served.before
    );
    served.terminate();
    assert!(!place.serve_with("--quiet").before.contains(message));
}

#[test]
fn start_on_an_older_file_says_that_it_was_converted() {
    let place = Place::empty("");
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/fixtures/format-5-names.redb"
    );
    fs::copy(fixture, place.file("deskfleet.redb")).unwrap();
    let converted = |place: &Place| {
        let mut served = place.serve_with("--quiet");
        served.terminate();
        let message = "was converted from format 5 to format ";
        served.before.contains(message)
    };
    assert!(converted(&place));
    assert!(!converted(&place));
}
