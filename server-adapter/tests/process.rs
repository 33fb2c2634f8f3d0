//! The server as a process: unread pipes, signals, and the files that it creates.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::load::{Place, command, done};
use rustix::process::{Pid, Signal, kill_process};

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe"}"#;

/// A server whose standard error is read up to its address and no further.
struct Unread {
    child: Child,
    address: SocketAddr,
    message: String,
    _stderr: BufReader<ChildStderr>,
}

impl Unread {
    fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut message = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "{message}");
            message.push_str(&line);
            if let Some((_, address)) = line.trim_end().split_once(" at http://") {
                break address.parse().unwrap();
            }
        };
        Self {
            child,
            address,
            message,
            _stderr: stderr,
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The exit code, once it has ended.
    fn exit_code(&mut self) -> Option<i32> {
        wait_for_exit(&mut self.child)
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait_for_exit(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(began.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn mode(file: &Path) -> u32 {
    fs::metadata(file).unwrap().permissions().mode() & 0o777
}

#[test]
fn unread_stderr_stops_neither_requests_nor_shutdown() {
    let place = Place::new();
    let mut serve = command(place.path(), "serve --listen 127.0.0.1:0");
    serve.stdout(Stdio::null());
    let mut served = Unread::start(serve);
    let mut client = Client::connect(served.address);
    // Lines of about 70 bytes, of which a pipe holds a thousand.
    for _ in 0..3000 {
        assert_eq!(client.ask("GET", "/livez", "").status, 200);
    }
    let answer = client.post("/api/Stats/PostActivity", "", RECORD);
    assert_eq!(answer.status, 200);
    served.signal(Signal::TERM);
    assert_eq!(served.exit_code(), Some(0));
}

/// Sets how long the files may get that the server writes; `None` for no limit.
#[cfg(target_os = "linux")]
fn limit_files(served: &Unread, bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    prlimit(Some(Pid::from_child(&served.child)), Resource::Fsize, limit).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn limit_of_file_sizes_refuses_writes_and_ends_nothing() {
    let place = Place::new();
    let mut serve = command(place.path(), "serve --listen 127.0.0.1:0");
    serve.stdout(Stdio::null());
    let mut served = Unread::start(serve);
    let mut client = Client::connect(served.address);
    let mut post = || client.post("/api/Stats/PostActivity", "", RECORD).status;
    assert_eq!(post(), 200);
    limit_files(&served, Some(0));
    for _ in 0..3 {
        assert_eq!(post(), 503);
    }
    limit_files(&served, None);
    assert_eq!(post(), 200);
    served.signal(Signal::TERM);
    assert_eq!(served.exit_code(), Some(0));
    // Every other command that writes fails with a message.
    let program = env!("CARGO_BIN_EXE_deskfleet");
    let line = format!("ulimit -f 0; exec {program} keys issue --name other --scope read");
    let mut shell = Command::new("sh");
    let shell = shell.current_dir(place.path()).args(["-c", &line]);
    let issued = shell.output().unwrap();
    let message = String::from_utf8(issued.stderr).unwrap();
    assert_eq!(issued.status.code(), Some(1), "{message}");
    assert!(message.starts_with("deskfleet: "), "{message}");
}

#[test]
fn second_signal_ends_a_server_that_waits_for_a_client() {
    let place = Place::new();
    let mut serve = command(place.path(), "serve --listen 127.0.0.1:0");
    serve.stdout(Stdio::null());
    let mut served = Unread::start(serve);
    let mut client = Client::connect(served.address);
    client.send(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: 9\r\n\r\n",
    );
    assert!(client.head().starts_with("http/1.1 100"));
    served.signal(Signal::TERM);
    while std::net::TcpStream::connect(served.address).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    served.signal(Signal::TERM);
    assert_eq!(served.exit_code(), Some(1));
}

/// A full pipe, and its reading end.
fn full_pipe() -> (PipeReader, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut filling = writer.try_clone().unwrap();
    // Writes until it blocks, and ends with the reader.
    std::thread::spawn(move || while filling.write_all(&[b'\n'; 4096]).is_ok() {});
    (reader, writer)
}

#[test]
fn start_after_one_killed_before_showing_its_key_shows_another_key() {
    let folder = tempfile::tempdir().unwrap();
    let line = "serve --listen 127.0.0.1:0 --quiet";
    let (unread, full) = full_pipe();
    let mut serve = command(folder.path(), line);
    serve.stdout(full);
    let mut killed = Unread::start(serve);
    // It is about to show the key, or blocked by that.
    std::thread::sleep(Duration::from_millis(300));
    killed.signal(Signal::KILL);
    assert_eq!(killed.exit_code(), None);
    drop(unread);

    let mut serve = command(folder.path(), line);
    serve.stdout(Stdio::piped());
    let mut served = Unread::start(serve);
    let shown = BufReader::new(served.child.stdout.take().unwrap());
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in shown.lines().map_while(Result::ok) {
            // The test may be over.
            let _ = send.send(line);
        }
    });
    let key = lines.recv_timeout(PATIENCE).unwrap();
    let mut client = Client::connect(served.address);
    let header = format!("x-api-key: {key}\r\n");
    let keys = client.ask("GET", "/operator/keys", &header);
    assert_eq!(keys.status, 200, "{keys:?}");
    assert_eq!(keys.json()["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn created_files_have_mode_0600_and_wider_modes_are_reported() {
    let place = Place::new();
    let store = place.file("deskfleet.redb");
    done(place.path(), "backup copy.redb");
    assert_eq!(
        (mode(&store), mode(&place.file("copy.redb"))),
        (0o600, 0o600)
    );
    for (mode, warns) in [(0o600, false), (0o640, true)] {
        fs::set_permissions(&store, Permissions::from_mode(mode)).unwrap();
        let mut serve = command(place.path(), "serve --listen 127.0.0.1:0 --quiet");
        serve.stdout(Stdio::null());
        let mut served = Unread::start(serve);
        assert_eq!(
            served.message.contains("chmod 600"),
            warns,
            "{}",
            served.message
        );
        served.signal(Signal::TERM);
        assert_eq!(served.exit_code(), Some(0));
    }
    assert_eq!(
        mode(&store),
        0o640,
        "the server leaves the mode to the owner"
    );
}

#[test]
fn part_file_of_a_killed_backup_is_replaced_by_the_next() {
    let place = Place::new();
    fs::write(place.file("copy.redb.part"), vec![1; 100_000]).unwrap();
    done(place.path(), "backup copy.redb");
    done(place.path(), "check --data copy.redb");
    assert!(!place.file("copy.redb.part").exists());
    let again = command(place.path(), "backup copy.redb").output().unwrap();
    assert_eq!(again.status.code(), Some(1), "a copy never replaces a file");
    assert!(!place.file("copy.redb.part").exists());
}

#[test]
fn two_backup_signals_within_a_second_leave_a_backup_after_the_last() {
    let place = Place::new();
    fs::create_dir(place.file("copies")).unwrap();
    let mut served = place.serve_with("--quiet --backups copies");
    let mut client = Client::connect(served.address);
    for _ in 0..5 {
        let answer = client.post("/api/Stats/PostActivity", "", RECORD);
        assert_eq!(answer.status, 200);
        served.signal(Signal::USR1);
    }
    drop(client);
    // Requested backups are written before the end.
    let message = served.terminate().join("\n");
    assert!(!message.contains("No backup"), "{message}");
    let mut copies: Vec<_> = fs::read_dir(place.file("copies"))
        .unwrap()
        .map(|copy| copy.unwrap().path())
        .collect();
    copies.sort();
    let newest = copies.last().unwrap().display().to_string();
    for copy in &copies {
        done(place.path(), &format!("check --data {}", copy.display()));
    }
    let report = done(place.path(), &format!("check --data {newest}"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("queuedRecords") + count("historyRecords"), 5);
    let audit = done(place.path(), "export audit");
    for copy in &copies {
        let file = copy.file_name().unwrap().to_str().unwrap();
        let row = audit.lines().find(|row| row.contains(file)).unwrap();
        let by_host = row.contains(r#""requester":"host","action":"BackUp""#);
        assert!(by_host, "{row}");
    }
}

#[test]
fn command_beside_a_running_server_names_no_address_that_it_does_not_know() {
    let place = Place::new();
    let _served = place.serve();
    fs::write(place.file("fleet"), "{}").unwrap();
    for line in [
        "keys list",
        "keys issue --name n --scope read",
        "keys revoke 1",
        "import fleet",
        "export audit",
    ] {
        let output = command(place.path(), line).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{line}");
        assert!(message.contains("http://HOST:PORT"), "{line}: {message}");
        assert!(!message.contains("8080"), "{line}: {message}");
        let configured = format!("{line} --set server.listen=127.0.0.1:9100");
        let output = command(place.path(), &configured).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        let knows = message.contains("http://127.0.0.1:9100");
        assert!(knows, "{configured}: {message}");
    }
}
