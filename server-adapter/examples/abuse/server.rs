//! The attacked server, as a process of its own, and the attacker's connections to it.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// How long the attacker waits for a response.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long to wait for the server to end.
const END_PATIENCE: Duration = Duration::from_secs(60);
/// Requests that one connection has under way at a time.
const PIPELINED: usize = 50;

/// Whether the server's standard error is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stderr {
    Read,
    Unread,
}

/// How the server is started, and its store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) stderr: Stderr,
    /// Workspaces in the store.
    pub(crate) desktops: usize,
    /// Users that share them.
    pub(crate) users: usize,
}

impl Setup {
    /// An empty store; standard error is read.
    pub(crate) const PLAIN: Self = Self {
        stderr: Stderr::Read,
        desktops: 0,
        users: usize::MAX,
    };
}

/// A server to attack.
pub(crate) struct AttackedServer {
    child: Mutex<Child>,
    process: Pid,
    pub(crate) address: SocketAddr,
    /// An admin key, for attacks by a client with a key.
    pub(crate) key: String,
    _unread: Option<BufReader<ChildStderr>>,
    _folder: TempDir,
}

impl AttackedServer {
    pub(crate) fn start(program: &Path, setup: &Setup) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        if setup.desktops > 0 {
            import(program, folder.path(), setup)?;
        }
        let quiet = match setup.stderr {
            Stderr::Read => &["--quiet"][..],
            Stderr::Unread => &[],
        };
        let mut child = Command::new(program)
            .env_clear()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(quiet)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let address = loop {
            let mut line = String::new();
            if stderr.read_line(&mut line)? == 0 {
                return Err("the server does not start".into());
            }
            if let Some((_, address)) = line.trim_end().split_once(" at http://") {
                break address.parse()?;
            }
        };
        let mut key = String::new();
        let mut stdout = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        stdout.read_line(&mut key)?;
        // More lines follow, none of which may fail.
        thread::spawn(move || stdout.lines().map_while(Result::ok).for_each(drop));
        let unread = match setup.stderr {
            Stderr::Unread => Some(stderr),
            Stderr::Read => {
                thread::spawn(move || stderr.lines().map_while(Result::ok).for_each(drop));
                None
            }
        };
        Ok(Self {
            process: Pid::from_child(&child),
            child: Mutex::new(child),
            address,
            key: key.trim_end().to_owned(),
            _unread: unread,
            _folder: folder,
        })
    }

    /// The peak memory of the server.
    pub(crate) fn peak_mib(&self) -> Result<f64, Box<dyn Error>> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .ok_or("no VmHWM")?;
        let kib: f64 = line.split_whitespace().next().ok_or("no value")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// Sends SIGTERM; returns the time to its end. Sends SIGKILL if that takes too long.
    pub(crate) fn terminate(&self) -> Result<Duration, Box<dyn Error>> {
        let began = Instant::now();
        kill_process(self.process, Signal::TERM)?;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        while child.try_wait()?.is_none() {
            if began.elapsed() > END_PATIENCE {
                child.kill()?;
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(began.elapsed())
    }

    /// A connection of the attacker.
    pub(crate) fn attack(&self) -> io::Result<TcpStream> {
        self.attack_from(ATTACKER)
    }

    /// A connection of an attacker with several addresses.
    pub(crate) fn attack_from(&self, source: Ipv4Addr) -> io::Result<TcpStream> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddr::from((source, 0)))?;
        connect(&socket, &self.address)?;
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// A GET with the key.
    pub(crate) fn get(&self, target: &str) -> Vec<u8> {
        let key = &self.key;
        format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n\r\n").into_bytes()
    }

    /// Sends a request, reads the response to its end and drops it.
    pub(crate) fn ask(&self, target: &str) -> io::Result<()> {
        let mut stream = self.attack()?;
        let key = &self.key;
        let request = format!(
            "GET {target} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    }

    /// Sends `count` requests over `n` connections, as fast as the server takes them.
    pub(crate) fn pour(
        &self,
        connections: usize,
        count: usize,
        request: impl Fn(usize) -> Vec<u8> + Sync,
    ) -> io::Result<()> {
        thread::scope(|scope| {
            let request = &request;
            let workers: Vec<_> = (0..connections)
                .map(|first| {
                    scope.spawn(move || {
                        let numbers: Vec<_> = (first..count).step_by(connections).collect();
                        let mut stream = self.attack()?;
                        for numbers in numbers.chunks(PIPELINED) {
                            let requests: Vec<_> =
                                numbers.iter().map(|number| request(*number)).collect();
                            stream.write_all(&requests.concat())?;
                            answers(&mut stream, numbers.len())?;
                        }
                        Ok(())
                    })
                })
                .collect();
            workers.into_iter().try_for_each(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|_| Err(io::Error::other("a panic")))
            })
        })
    }
}

impl Drop for AttackedServer {
    fn drop(&mut self) {
        // It has ended, unless the attack failed.
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn import(program: &Path, folder: &Path, setup: &Setup) -> Result<(), Box<dyn Error>> {
    let mut child = Command::new(program)
        .env_clear()
        .args(["import", "-", "--create"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = io::BufWriter::new(child.stdin.take().ok_or("no standard input")?);
    for number in 0..setup.desktops {
        let user = number % setup.users;
        writeln!(
            lines,
            r#"{{"workSpId":"ws-{number:07}","username":"user{user}","computerName":"PC-{number:07}","state":"AVAILABLE"}}"#
        )?;
    }
    drop(lines.into_inner()?);
    if child.wait()?.success() {
        Ok(())
    } else {
        Err("the import failed".into())
    }
}

/// Reads `n` responses, whatever they are. No body contains the text that begins a response.
fn answers(stream: &mut TcpStream, mut count: usize) -> io::Result<()> {
    const BEGINNING: &[u8] = b"HTTP/1.1 ";
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0;
    while count > 0 {
        let read = stream.read(buffer.get_mut(kept..).unwrap_or_default())?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = kept + read;
        let text = buffer.get(..end).unwrap_or_default();
        let found = text
            .windows(BEGINNING.len())
            .filter(|window| *window == BEGINNING)
            .count();
        count = count.saturating_sub(found);
        // The start of a response may be cut off by the end of what was read.
        kept = (BEGINNING.len() - 1).min(end);
        buffer.copy_within(end - kept..end, 0);
    }
    Ok(())
}

/// A post of a JSON body.
pub(crate) fn post(target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    request("POST", target, headers, body)
}

/// A request with a JSON body.
pub(crate) fn request(method: &str, target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
