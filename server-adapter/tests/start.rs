//! How a server starts: what it refuses, what it leaves behind, and how it works with systemd.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::load::{Place, command, done};
use rustix::process::{Pid, Signal, kill_process};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet");
const UNIT: &str = include_str!("../docs/deskfleet.service");
const SOCKET: &str = include_str!("../docs/deskfleet.socket");
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn refused(output: &Output) -> &str {
    let wording = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{wording}");
    wording
}

/// A server that is killed when this is dropped.
struct Started(Child);

impl Started {
    fn start(command: &mut Command) -> Self {
        Self(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn address_in_use_names_listen_and_leaves_no_store() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &format!("serve --listen {address}")).output();
    let output = output.unwrap();
    let wording = refused(&output);
    assert!(
        wording.contains(&address.to_string()) && wording.contains("--listen"),
        "{wording}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Runs as an unprivileged user if this is root, whom no file mode restricts.
#[test]
fn backups_without_a_writable_folder_fail_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (program, locked) = (folder.path().join("program"), folder.path().join("locked"));
    // By another process: a program that this one has open for writing could not be run.
    let copied = Command::new("cp").arg(PROGRAM).arg(&program).status();
    assert!(copied.unwrap().success());
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o555)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    for name in ["missing", "file", "locked"] {
        let mut serve = Command::new(&program);
        serve.env_clear();
        serve.args(["serve", "--listen", "127.0.0.1:0", "--backups", name]);
        serve.current_dir(folder.path());
        if fs::metadata(&program).unwrap().uid() == 0 {
            serve.uid(65_534).gid(65_534);
        }
        let output = serve.output().unwrap();
        assert!(refused(&output).contains(name), "{name}");
    }
    assert!(!folder.path().join("deskfleet.redb").exists());
}

#[test]
fn start_without_a_usable_admin_key_says_how_to_issue_one() {
    let place = Place::new();
    let admin_says = |expected: bool| {
        let mut served = place.serve_with("--quiet");
        let wording = served.terminate().join("\n");
        let says = wording
            .contains("deskfleet keys issue --name admin --scope admin --data deskfleet.redb");
        assert_eq!(says, expected, "{wording}");
    };
    admin_says(false);
    done(place.path(), "keys issue --name desk --scope act");
    done(place.path(), "keys revoke 1 --force");
    admin_says(true);
    done(place.path(), "keys issue --name admin --scope admin");
    admin_says(false);
}

/// A service manager that listens for notifications, at a path or under an abstract name.
struct Manager {
    socket: UnixDatagram,
    name: String,
}

impl Manager {
    fn bind(path: &Path) -> Self {
        Self::listening(
            UnixDatagram::bind(path).unwrap(),
            path.display().to_string(),
        )
    }

    fn named(name: &str) -> Self {
        let address = SocketAddr::from_abstract_name(name).unwrap();
        Self::listening(
            UnixDatagram::bind_addr(&address).unwrap(),
            format!("@{name}"),
        )
    }

    fn listening(socket: UnixDatagram, name: String) -> Self {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, name }
    }

    fn next(&self) -> String {
        let mut message = [0; 256];
        let length = self.socket.recv(&mut message).unwrap();
        text(message.get(..length).unwrap()).to_owned()
    }
}

#[test]
fn service_manager_is_notified_of_readiness_and_of_the_stop() {
    let place = Place::new();
    let abstract_name = format!("deskfleet-test-{}", std::process::id());
    for manager in [
        Manager::bind(&place.file("notify")),
        Manager::named(&abstract_name),
    ] {
        let mut serve = command(place.path(), "serve --listen 127.0.0.1:0");
        let mut served = Started::start(serve.env("NOTIFY_SOCKET", &manager.name));
        assert_eq!(manager.next(), "READY=1");
        served.signal(Signal::TERM);
        assert_eq!(manager.next(), "STOPPING=1");
        assert_eq!(served.0.wait().unwrap().code(), Some(0));
    }
    let mut serve = command(place.path(), "serve --listen 127.0.0.1:0");
    serve
        .env("NOTIFY_SOCKET", place.file("missing"))
        .stderr(Stdio::piped());
    let mut served = serve.stdout(Stdio::null()).spawn().unwrap();
    let wording = BufReader::new(served.stderr.take().unwrap());
    let mut lines = wording.lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("cannot notify")));
    drop(Started(served));
}

#[test]
fn server_takes_the_socket_that_systemd_opened() {
    let place = Place::new();
    let manager = Manager::bind(&place.file("notify"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // The address of --listen is in use: it would fail there.
    let line = format!("exec {PROGRAM} serve --listen {address} 3<&0 0</dev/null");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(place.path());
    shell
        .env("LISTEN_FDS", "1")
        .env("NOTIFY_SOCKET", &manager.name);
    let _served = Started::start(shell.stdin(OwnedFd::from(listener)));
    assert_eq!(manager.next(), "READY=1");
    let mut client = crate::load::Client::connect(address, &place.admin).unwrap();
    let (status, _) = client.ask("GET /operator/keys", "").unwrap();
    assert_eq!(status, 200);
}

#[test]
fn first_key_is_not_printed_into_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = fs::File::create(folder.path().join("journal")).unwrap();
    let about = journal.metadata().unwrap();
    let mut serve = command(folder.path(), "serve --listen 127.0.0.1:0");
    serve.env("JOURNAL_STREAM", format!("{}:{}", about.dev(), about.ino()));
    let output = serve
        .stdout(journal)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(refused(&output).contains("keys issue"));
    assert_eq!(about.len(), 0);
    assert!(!folder.path().join("deskfleet.redb").exists());
}

/// The value of a setting of the unit.
fn setting(name: &str) -> &'static str {
    let prefix = format!("{name}=");
    let found = UNIT.lines().find_map(|line| line.strip_prefix(&prefix));
    found.unwrap_or_else(|| panic!("the unit has no {name}"))
}

#[test]
fn unit_starts_a_server() {
    assert_eq!(setting("Type"), "notify");
    let place = Place::new();
    fs::create_dir(place.file("backups")).unwrap();
    let state = place.path().display().to_string();
    let line = setting("ExecStart").replace("/var/lib/deskfleet", &state);
    let (program, arguments) = line.split_once(' ').unwrap();
    // A name alone is found in `/usr/local/bin` and in `/usr/bin`, where the package for Debian has it.
    assert_eq!(program, "deskfleet");
    let manager = Manager::bind(&place.file("notify"));
    // The one thing that a test has to choose itself.
    let mut serve = command(place.path(), &format!("{arguments} --listen 127.0.0.1:0"));
    let _served = Started::start(serve.env("NOTIFY_SOCKET", &manager.name));
    assert_eq!(manager.next(), "READY=1");
}

/// Where systemd is installed.
#[test]
fn units_are_accepted_by_systemd() {
    let folder = tempfile::tempdir().unwrap();
    let unit = UNIT.replace("ExecStart=deskfleet", &format!("ExecStart={PROGRAM}"));
    fs::write(folder.path().join("deskfleet.service"), unit).unwrap();
    fs::write(folder.path().join("deskfleet.socket"), SOCKET).unwrap();
    let verify = Command::new("systemd-analyze")
        .args([
            "verify",
            "--man=no",
            "deskfleet.service",
            "deskfleet.socket",
        ])
        .current_dir(folder.path())
        .output();
    let Ok(verified) = verify else {
        return;
    };
    let wording = text(&verified.stderr);
    assert!(
        verified.status.success() && !wording.contains("deskfleet"),
        "{wording}"
    );
}
