//! Prints figures of the server's weight: the size of the release binary, the time from start to first response, and
//! the resident memory at rest. `cargo run --release -p deskfleet-server --example startup`
//!
//! Builds nothing: it measures the `deskfleet` in its folder, which must have been built before.

use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts, of which the median is printed.
const ROUNDS: usize = 9;
/// Time after which a process counts as at rest.
const REST: Duration = Duration::from_millis(1500);

fn main() -> Result<(), Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let folder = example
        .ancestors()
        .nth(2)
        .ok_or("not where cargo puts examples")?;
    let program = folder.join("deskfleet");
    let bytes = std::fs::metadata(&program)?.len();

    let data = std::env::temp_dir().join(format!("deskfleet-startup-{}.redb", std::process::id()));
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let (mut child, address) = start(&program, &data)?;
        let answered = ask(&address);
        times.push(started.elapsed());
        kill_and_wait(&mut child)?;
        answered?;
    }
    times.sort_unstable();
    let median = times.get(ROUNDS / 2).copied().unwrap_or_default();

    let (mut child, address) = start(&program, &data)?;
    ask(&address)?;
    std::thread::sleep(REST);
    let resident = resident_kib(child.id());
    kill_and_wait(&mut child)?;
    std::fs::remove_file(&data)?;

    let mut out = std::io::stdout().lock();
    writeln!(out, "binary                   {bytes} bytes")?;
    writeln!(
        out,
        "start to first answer    {:.1} ms",
        median.as_secs_f64() * 1e3
    )?;
    match resident {
        Some(kib) => writeln!(out, "resident at rest         {kib} KiB")?,
        None => writeln!(out, "resident at rest         unknown on this system")?,
    }
    Ok(())
}

/// Starts the server; returns once it has printed its address.
fn start(program: &Path, data: &Path) -> Result<(Child, String), Box<dyn Error>> {
    let mut child = Command::new(program)
        .env_clear()
        .args(["serve", "--quiet", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let message = child.stderr.take().ok_or("no standard error")?;
    for line in BufReader::new(message).lines() {
        if let Some((_, address)) = line?.split_once(" at http://") {
            return Ok((child, address.to_owned()));
        }
    }
    Err("the server did not tell its address".into())
}

fn ask(address: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if answer.starts_with("HTTP/1.1 200") {
        return Ok(());
    }
    Err(std::io::Error::other(answer))
}

fn kill_and_wait(child: &mut Child) -> std::io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

/// From Linux's `/proc`.
fn resident_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
