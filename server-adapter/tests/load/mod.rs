//! A server as a process of its own, clients that write until it is gone, and the writes that were acknowledged.
#![allow(dead_code, reason = "each suite uses a part of it")]

pub(crate) mod ledger;
mod workers;

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use ledger::Ledger;
use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_deskfleet");
/// How long a test waits for bytes before it fails; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command, with its store in `folder`.
pub(crate) fn command(folder: &Path, line: &str) -> Command {
    prepared(Command::new(PROGRAM), folder, line)
}

fn prepared(mut command: Command, folder: &Path, line: &str) -> Command {
    // Variables of the suites, such as `DESKFLEET_KILL_ROUNDS`, are no settings.
    command.env_clear();
    command.args(line.split_whitespace()).current_dir(folder);
    command.stdin(Stdio::null());
    command
}

/// Runs a command that must succeed; returns its standard output.
pub(crate) fn done(folder: &Path, line: &str) -> String {
    let output = command(folder, line).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a store and its admin key.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) admin: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let admin = done(
            folder.path(),
            "keys issue --name admin --scope admin --create",
        );
        Self {
            admin: admin.trim().to_owned(),
            folder,
        }
    }

    /// A folder without a store, for a server that takes `admin`.
    pub(crate) fn empty(admin: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            admin: admin.to_owned(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the server; returns once it listens.
    pub(crate) fn serve(&self) -> Served {
        Self::listening(self.spawn())
    }

    /// The same with options, and with its access log unless they disable it.
    pub(crate) fn serve_with(&self, options: &str) -> Served {
        self.serve_at(&format!("--listen 127.0.0.1:0 {options}"))
    }

    /// The same at an address that the options name.
    pub(crate) fn serve_at(&self, options: &str) -> Served {
        self.serve_by(Command::new(PROGRAM), options)
    }

    /// The same with a command that runs [`PROGRAM`], on another host for example.
    pub(crate) fn serve_by(&self, program: Command, options: &str) -> Served {
        let line = format!("serve {options}");
        let mut command = prepared(program, self.path(), &line);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        Self::listening(command.spawn().unwrap())
    }

    fn listening(mut child: Child) -> Served {
        let message = child.stderr.take().unwrap();
        let mut lines = BufReader::new(message).lines();
        let mut before = String::new();
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("the server does not start: {before}");
            };
            let found = line.split_once(" at http://");
            if let Some((_, address)) = found.or_else(|| line.split_once(" at https://")) {
                break address.parse().unwrap();
            }
            before.push_str(&line);
        };
        // Read to its end, so that the server never waits for a reader.
        let (send, message) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The receiver may be gone.
                let _ = send.send(line);
            }
        });
        Served {
            child,
            address,
            before,
            message,
        }
    }

    /// Starts the server and does not wait.
    pub(crate) fn spawn(&self) -> Child {
        command(self.path(), "serve --listen 127.0.0.1:0 --quiet")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Writes from several clients at once, until `end` has ended the server and every client has noticed. Each round
    /// has its own names.
    pub(crate) fn write_until(
        &self,
        served: &mut Served,
        round: u32,
        end: impl FnOnce(&mut Served),
    ) -> Ledger {
        let clients = [(served.address, format!("{round}"))];
        write_to(&clients, &self.admin, &Arc::default(), || {
            end(served);
        })
    }
}

/// Writes to servers from several clients at once, each until its server is gone or refuses for now, or until `is_over`; `end` runs
/// meanwhile. The names of what is written begin with that of its server.
pub(crate) fn write_to(
    servers: &[(SocketAddr, String)],
    key: &str,
    is_over: &Arc<AtomicBool>,
    end: impl FnOnce(),
) -> Ledger {
    std::thread::scope(|scope| {
        let all = servers.iter().flat_map(|server| {
            workers::ALL
                .into_iter()
                .enumerate()
                .map(move |work| (server, work))
        });
        let clients: Vec<_> = all
            .map(|((address, name), (number, work))| {
                let name = format!("{name}-{number}");
                scope.spawn(move || {
                    let mut ledger = Ledger::default();
                    let mut client = Client::connect(*address, key).ok()?;
                    client.is_over = Some(Arc::clone(is_over));
                    let gone = work(&mut client, &name, &mut ledger).err();
                    gone.map(|_| ledger)
                })
            })
            .collect();
        end();
        let ledgers = clients
            .into_iter()
            .filter_map(|client| client.join().unwrap());
        ledgers.fold(Ledger::default(), Ledger::merge)
    })
}

/// A running server; it is killed when this is dropped.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    /// What it said before it listened, without the ends of the lines.
    pub(crate) before: String,
    message: mpsc::Receiver<String>,
}

impl Served {
    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM and waits for the end; returns its standard error.
    pub(crate) fn terminate(&mut self) -> Vec<String> {
        self.signal(Signal::TERM);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.message.iter().collect()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The next line on standard error that holds `what`.
    pub(crate) fn wait_for(&self, what: &str) -> String {
        loop {
            let line = self.message.recv_timeout(PATIENCE).unwrap();
            if line.contains(what) {
                return line;
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection, whose every exchange may fail because the server is gone.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    key: String,
    /// Whether it is to write nothing more; a server that refuses for now is gone then too.
    is_over: Option<Arc<AtomicBool>>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr, key: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: BufReader::new(stream),
            key: key.to_owned(),
            is_over: None,
        })
    }

    /// Sends a request; an incomplete response is an error.
    pub(crate) fn ask(&mut self, line: &str, body: &str) -> io::Result<(u16, String)> {
        let length = body.len();
        let key = &self.key;
        let request = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut status = None;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            if status.is_none() {
                status = line
                    .split(' ')
                    .nth(1)
                    .and_then(|status| status.parse().ok());
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            chunked |= line == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        while chunked {
            length = usize::from_str_radix(&self.line()?, 16).unwrap();
            self.take(length, &mut body)?;
            assert_eq!(self.line()?, "");
            chunked = length > 0;
        }
        self.take(length, &mut body)?;
        Ok((status.unwrap(), String::from_utf8(body).unwrap()))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let line = line.strip_suffix("\r\n");
        Ok(line.ok_or(io::ErrorKind::UnexpectedEof)?.to_owned())
    }

    fn take(&mut self, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
        let start = body.len();
        body.resize(start + length, 0);
        self.stream.read_exact(body.get_mut(start..).unwrap())
    }

    /// A request that is accepted, or fails because the server is gone; anything else fails the test.
    pub(crate) fn accepted(&mut self, line: &str, body: &str) -> io::Result<String> {
        if self
            .is_over
            .as_ref()
            .is_some_and(|over| over.load(Ordering::Relaxed))
        {
            return Err(io::Error::other("nothing more is to be written"));
        }
        let (status, answer) = self.ask(line, body)?;
        if status == 503 && self.is_over.is_some() {
            return Err(io::Error::other(answer));
        }
        assert!(matches!(status, 200 | 201), "{line}: {status} {answer}");
        Ok(answer)
    }

    /// The response of a server that must not be gone.
    pub(crate) fn json(&mut self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.accepted(line, "").unwrap()).unwrap()
    }
}
