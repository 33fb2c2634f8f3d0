//! Read-only files, damaged files, and disks with little space, as users meet them.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::client::Client;
use deskfleet::Engine;
use deskfleet_server::{ServerOptions, spawn};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet");

/// A folder with a store in it.
fn store() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("fleet"), r#"{"workSpId":"ws-1"}"#).unwrap();
    let mut import = Command::new(PROGRAM);
    import
        .env_clear()
        .args(["import", "fleet", "--create"])
        .current_dir(folder.path());
    assert!(import.output().unwrap().status.success());
    folder
}

/// Runs as an unprivileged user if this is root, whom no file mode restricts.
#[test]
fn check_backup_and_keys_list_work_on_a_file_that_may_not_be_written() {
    let folder = store();
    let open = |path: &Path, mode| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(path, mode).unwrap();
    };
    let (file, program) = (
        folder.path().join("deskfleet.redb"),
        folder.path().join("program"),
    );
    // By another process: a program that this one has open for writing could not be run.
    let copied = Command::new("cp").arg(PROGRAM).arg(&program).status();
    assert!(copied.unwrap().success());
    let folder = folder.path();
    let is_root = fs::metadata(folder).unwrap().uid() == 0;
    open(folder, 0o777);
    open(&file, 0o444);
    let before = fs::read(&file).unwrap();
    fs::create_dir(folder.join("copies")).unwrap();
    open(&folder.join("copies"), 0o777);
    // Nor can a file be made beside it.
    open(folder, 0o555);
    for line in [
        "check",
        "keys list",
        "export workspaces",
        "backup copies/copy.redb",
        "check --data copies/copy.redb",
    ] {
        let mut command = Command::new(&program);
        command
            .env_clear()
            .args(line.split_whitespace())
            .current_dir(folder);
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{line}: {message}");
    }
    open(folder, 0o777);
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(folder.join("copies/copy.redb").exists());
}

#[test]
fn check_of_a_damaged_file_prints_problems_and_no_panic() {
    let folder = store();
    let whole = fs::read(folder.path().join("deskfleet.redb")).unwrap();
    let mut found = 0;
    for page in 1..whole.len().div_ceil(4096).min(40) {
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(page * 4096).take(64) {
            *byte ^= 0x55;
        }
        fs::write(folder.path().join("damaged"), damaged).unwrap();
        let mut check = Command::new(PROGRAM);
        check.env_clear().args(["check", "--data", "damaged"]);
        let output = check.current_dir(folder.path()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!message.contains("panicked"), "page {page}: {message}");
        found += usize::from(output.status.code() == Some(1));
    }
    assert!(found > 0);
}

#[test]
fn readyz_with_a_low_disk_returns_503_and_the_reason() {
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let told = Arc::clone(&free);
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(7)
        .free_space(move || Some(told.load(Ordering::SeqCst)))
        .open_in_memory()
        .unwrap();
    let server = spawn(engine.clone(), ServerOptions::default()).unwrap();
    let mut client = Client::connect(server.addr());
    assert_eq!(client.ask("GET", "/readyz", "").status, 200);
    for (bytes, message) in [
        (
            20 << 20,
            "LowDisk: telemetry is refused: 20971520 bytes are free on the disk, 33554432 are needed; free some space, or remove telemetry\n",
        ),
        (
            1024,
            "LowDisk: telemetry, changes of workspaces, actions and filing are refused: 1024 bytes are free on the disk, 8388608 are \
             needed; free some space, or remove telemetry\n",
        ),
    ] {
        free.store(bytes, Ordering::SeqCst);
        let refused = client.ask("GET", "/readyz", "");
        assert_eq!((refused.status, refused.body.as_str()), (503, message));
        let worst = &engine.conditions()[0];
        assert_eq!(message, format!("{}: {}\n", worst.code, worst.text));
    }
    assert_eq!(client.ask("GET", "/livez", "").status, 200);
}
