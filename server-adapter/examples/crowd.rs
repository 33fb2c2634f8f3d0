//! The cost of a crowd of bad clients for a good one: slow bodies and heads, and idle connections.
//! `cargo run --release -p deskfleet-server --example crowd [SLOW [IDLE]]`, by default 1 000 and 10 000.
//!
//! Builds nothing: it measures the `deskfleet` in its folder, which must have been built before. Memory is that of
//! Linux's `/proc`.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long the good client is measured each time.
const WATCHED: Duration = Duration::from_secs(4);
/// Repetitions, of which the median is printed.
const ROUNDS: usize = 3;
/// Requests of idle connections that are sent at once, and the pause after them: those of 10 000 agents take half a
/// minute.
const ONCE: usize = 100;
/// See [`ONCE`].
const PAUSE: Duration = Duration::from_millis(300);
/// Time after which nothing changes any more.
const SETTLED: Duration = Duration::from_secs(3);
/// Pause between two bytes of a slow client.
const DRIP: Duration = Duration::from_millis(400);
const SLOW_BODY: &str = "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                         content-length: 60000\r\n\r\n{";
const SLOW_HEAD: &str = "GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ";
const RECORD: &str = r#"{"instanceId":"ws-1","username":"jdoe","processorInUse":12}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut counts = std::env::args()
        .skip(1)
        .map(|argument| argument.parse::<usize>());
    let slow = counts.next().transpose()?.unwrap_or(1_000);
    let idle = counts.next().transpose()?.unwrap_or(10_000);
    allow_files(slow.max(idle) as u64 + 100);
    for measure in [crowded, resting] {
        let (mut child, address) = start(slow.max(idle) + 100)?;
        let measured = measure(&child, address, slow, idle);
        child.kill()?;
        child.wait()?;
        measured?;
    }
    Ok(())
}

/// The cost of slow clients for a good one: measured alone and beside them in turn; the medians are printed.
fn crowded(_: &Child, address: SocketAddr, slow: usize, _: usize) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    // Warms up, so that the first measurement is not the slow one.
    watch(address)?;
    for (what, head) in [("slow bodies", SLOW_BODY), ("slow heads", SLOW_HEAD)] {
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            alone.push(watch(address)?);
            let crowd = connect(address, slow, head)?;
            beside.push(dripping(&crowd, || watch(address))?);
        }
        let (alone, beside) = (middle(alone)?, middle(beside)?);
        let factor = beside.p99.as_secs_f64() / alone.p99.as_secs_f64();
        writeln!(out, "alone: {alone}")?;
        writeln!(
            out,
            "beside {slow} {what}: {beside}; p99 is {factor:.2} times that"
        )?;
    }
    Ok(())
}

/// The cost of idle connections.
fn resting(
    child: &Child,
    address: SocketAddr,
    _: usize,
    idle: usize,
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let memory = || resident_mib(child.id()).unwrap_or(f64::NAN);
    writeln!(out, "at rest: {:.1} MiB", memory())?;
    let crowd = connect(address, idle, "")?;
    thread::sleep(SETTLED);
    writeln!(out, "{idle} silent connections: {:.1} MiB", memory())?;
    for connections in crowd.chunks(ONCE) {
        for mut connection in connections {
            connection.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
        }
        for connection in connections {
            answer(connection)?;
        }
        thread::sleep(PAUSE);
    }
    thread::sleep(SETTLED);
    writeln!(out, "the same, after a request each: {:.1} MiB", memory())?;
    Ok(())
}

fn middle(mut times: Vec<Times>) -> Result<Times, Box<dyn Error>> {
    times.sort_unstable_by_key(|times| times.p99);
    let middle = times.len() / 2;
    times
        .into_iter()
        .nth(middle)
        .ok_or_else(|| "no rounds".into())
}

/// Durations of the good client's posts.
struct Times {
    posts: usize,
    p50: Duration,
    p99: Duration,
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (posts, p50, p99) = (self.posts, ms(self.p50), ms(self.p99));
        write!(f, "{posts} posts, p50 {p50:.3} ms, p99 {p99:.3} ms")
    }
}

/// A good client that posts a record at a time.
fn watch(address: SocketAddr) -> io::Result<Times> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let length = RECORD.len();
    let request = format!(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{RECORD}"
    );
    let mut times = Vec::new();
    let began = Instant::now();
    while began.elapsed() < WATCHED {
        let sent = Instant::now();
        stream.write_all(request.as_bytes())?;
        answer(&stream)?;
        times.push(sent.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied();
    Ok(Times {
        posts: times.len(),
        p50: at(50).unwrap_or_default(),
        p99: at(99).unwrap_or_default(),
    })
}

/// Reads one response, which comes in one piece and is 200.
fn answer(mut stream: &TcpStream) -> io::Result<()> {
    let mut bytes = [0; 1024];
    let length = stream.read(&mut bytes)?;
    let message = bytes.get(..length).unwrap_or_default();
    if message.starts_with(b"HTTP/1.1 200") {
        return Ok(());
    }
    Err(io::Error::other(
        String::from_utf8_lossy(message).into_owned(),
    ))
}

/// `n` connections, each with these first bytes.
fn connect(address: SocketAddr, count: usize, first: &str) -> io::Result<Vec<TcpStream>> {
    (0..count)
        .map(|_| {
            let mut stream = TcpStream::connect(address)?;
            stream.write_all(first.as_bytes())?;
            Ok(stream)
        })
        .collect()
}

/// Does `work` while every connection sends a byte now and then.
fn dripping<T>(crowd: &[TcpStream], work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for mut connection in crowd {
                    // A connection that failed is of no interest.
                    let _ = connection.write_all(b" ");
                }
                thread::sleep(DRIP);
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Starts the server with a store in memory: the time of the disk would hide the effect.
fn start(connections: usize) -> Result<(Child, SocketAddr), Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let folder = example
        .ancestors()
        .nth(2)
        .ok_or("not where cargo puts examples")?;
    let mut child = Command::new(folder.join("deskfleet"))
        .env_clear()
        .args(["serve", "--quiet", "--memory", "--listen", "127.0.0.1:0"])
        .args(["--connections", &connections.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let message = child.stderr.take().ok_or("no standard error")?;
    for line in BufReader::new(message).lines() {
        if let Some((_, address)) = line?.split_once(" at http://") {
            return Ok((child, address.parse()?));
        }
    }
    Err("the server did not tell its address".into())
}

#[cfg(unix)]
fn allow_files(files: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < files) {
        limit.current = Some(limit.maximum.map_or(files, |most| most.min(files)));
        // If this fails, connecting will fail.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

#[cfg(not(unix))]
fn allow_files(_files: u64) {}

/// From Linux's `/proc`.
fn resident_mib(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024.0)
}
