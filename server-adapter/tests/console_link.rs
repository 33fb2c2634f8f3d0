//! The link to the console that a start prints.
#![cfg(all(feature = "console", target_os = "linux"))]

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::client::Client;
use crate::load::command;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
const LINE: &str = "serve --listen 127.0.0.1:0 --quiet";

/// A server that is killed when this is dropped, and the lines that it writes.
struct Started {
    child: Child,
    out: Receiver<String>,
    message: Receiver<String>,
}

impl Started {
    /// With its standard output to a pipe, or to `terminal`.
    fn new(folder: &Path, terminal: Option<(File, File)>) -> Self {
        let mut serve = command(folder, LINE);
        serve.stderr(Stdio::piped());
        let (stdout, controller) = match terminal {
            Some((terminal, controller)) => (terminal.into(), Some(controller)),
            None => (Stdio::piped(), None),
        };
        let mut child = serve.stdout(stdout).spawn().unwrap();
        let out = match controller {
            Some(controller) => lines(controller),
            None => lines(child.stdout.take().unwrap()),
        };
        let message = lines(child.stderr.take().unwrap());
        Self {
            child,
            out,
            message,
        }
    }

    /// What it wrote, where nothing but its end is waited for.
    fn ended_after_start(self) -> (Vec<String>, String) {
        let first = self.message.recv_timeout(PATIENCE).unwrap();
        assert!(first.contains(" at http://"), "{first}");
        self.terminate()
    }

    /// What it wrote until it ended.
    fn terminate(mut self) -> (Vec<String>, String) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        let message: Vec<String> = self.message.iter().collect();
        (self.out.iter().collect(), message.join("\n"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(from: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            // The test may be over.
            let _ = send.send(line.trim_end().to_owned());
        }
    });
    lines
}

/// The address and the code of a link.
fn link(line: &str) -> (SocketAddr, &str) {
    let link = line.strip_prefix("Console: http://").unwrap();
    let (address, code) = link.split_once("/#code=").unwrap();
    assert_eq!(code.len(), 43);
    (address.parse().unwrap(), code)
}

fn sign_in(line: &str) -> u16 {
    let (address, code) = link(line);
    let body = format!("{{\"code\":\"{code}\"}}");
    Client::connect(address)
        .post("/console/session", "", &body)
        .status
}

#[test]
fn link_is_printed_with_the_first_key_and_signs_in() {
    let folder = tempfile::tempdir().unwrap();
    let started = Started::new(folder.path(), None);
    let next = || started.out.recv_timeout(PATIENCE).unwrap();
    let (key, curl, line) = (next(), next(), next());
    assert!(key.starts_with("dfk_") && curl.starts_with("curl "));
    assert_eq!(sign_in(&line), 201);
    assert_eq!(sign_in(&line), 401);
    let (more, message) = started.terminate();
    assert!(more.is_empty(), "{more:?}");
    assert!(message.contains("within 30 minutes"), "{message}");
    assert!(!message.contains(link(&line).1), "{message}");

    let (out, message) = Started::new(folder.path(), None).ended_after_start();
    assert!(out.is_empty() && !message.contains("30 minutes"), "{out:?}");
}

#[test]
fn link_is_printed_on_a_terminal_whenever_the_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    crate::load::done(
        folder.path(),
        "keys issue --name admin --scope admin --create",
    );
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap());
    let terminal = (terminal.unwrap(), File::from(controller));
    let started = Started::new(folder.path(), Some(terminal));
    let line = started.out.recv_timeout(PATIENCE).unwrap();
    assert_eq!(sign_in(&line), 201);
}
