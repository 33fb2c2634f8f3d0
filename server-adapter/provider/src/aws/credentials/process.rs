//! Credentials from a program: `credential_process`.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::command::wait;

use super::{Credentials, CredentialsError, read_document};

/// How long the program may take: some ask a person.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes of its output that are read.
const OUTPUT_MAX: u64 = 64 << 10;

/// Runs it in a shell, as other clients of AWS do.
pub(super) fn run(place: &str, command: &str) -> Result<Credentials, CredentialsError> {
    let failed = |what: &str| CredentialsError(format!("credential_process of {place}: {what}"));
    let (shell, option) = if cfg!(windows) {
        ("cmd.exe", "/C")
    } else {
        ("sh", "-c")
    };
    let mut child = Command::new(shell)
        .args([option, command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        // It may quote what the program was about to give.
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| failed(&format!("{shell} cannot be started: {error}")))?;
    let output = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    let reader = move || {
        let mut text = Vec::new();
        let read = output.map(|output| output.take(OUTPUT_MAX).read_to_end(&mut text));
        // Nobody receives where the time is over.
        let _ = sender.send(read.transpose().map(|_| text));
    };
    // Without a thread nothing is sent.
    let _ = std::thread::Builder::new().spawn(reader);
    let text = match receiver.recv_timeout(TIME_MAX) {
        Ok(Ok(text)) => text,
        outcome => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(match outcome {
                Ok(_) => "its output cannot be read",
                Err(_) => "it did not end within a minute",
            }));
        }
    };
    // It may have closed its output and go on.
    let Some(status) = wait(&mut child, TIME_MAX) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed("it did not end within a minute"));
    };
    if !status.success() {
        return Err(failed(&format!("{status}; run it by hand to see why")));
    }
    read_document(&format!("credential_process of {place}"), &text)
}
