//! A healthy client: a report every few milliseconds on a connection that it keeps, and a monitor with a new connection
//! for each `/livez`.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use super::server::{gzip, post};

/// Pause between two requests.
const PAUSE: Duration = Duration::from_millis(5);
/// How long a request may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Durations of requests.
#[derive(Default)]
pub(crate) struct Times {
    sorted: Vec<Duration>,
    /// Requests without the expected response.
    pub(crate) failed: usize,
}

impl Times {
    fn percent(&self, percent: usize) -> Duration {
        let rank = (self.sorted.len() * percent).div_ceil(100);
        let time = self.sorted.get(rank.saturating_sub(1));
        time.copied().unwrap_or_default()
    }

    pub(crate) fn p99(&self) -> Duration {
        self.percent(99)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |percent| self.percent(percent).as_secs_f64() * 1e3;
        write!(f, "{:.1}, {:.1}, {:.1}", ms(50), ms(99), ms(100))
    }
}

/// Measures posts and `/livez` for this time.
pub(crate) fn watch(address: SocketAddr, watched: Duration) -> [Times; 2] {
    let until = Instant::now() + watched;
    thread::scope(|scope| {
        let posts = scope.spawn(|| posts(address, until));
        let livez = livez(address, until);
        [posts.join().unwrap_or_default(), livez]
    })
}

fn posts(address: SocketAddr, until: Instant) -> Times {
    let record = br#"{"instanceId":"ws-good","username":"good","processorInUse":12}"#;
    let item = r#"{"processName":"a process with a name","processCount":1}"#;
    let items = vec![item; 50].join(",");
    let report = format!(r#"{{"instanceId":"ws-good","processes":[{items}]}}"#);
    let requests = [
        post("/api/Stats/Post", "", record),
        post(
            "/api/Stats/PostProcesses",
            "content-encoding: gzip\r\n",
            &gzip(report.as_bytes()),
        ),
    ];
    let mut requests = requests.iter().cycle();
    let mut kept = None;
    timed(until, || {
        let request = requests.next().map_or(&[][..], Vec::as_slice);
        let mut stream = match kept.take() {
            Some(stream) => stream,
            None => connect(address)?,
        };
        ask(&mut stream, request)?;
        kept = Some(stream);
        Ok(())
    })
}

fn livez(address: SocketAddr, until: Instant) -> Times {
    timed(until, || {
        let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
        ask(&mut connect(address)?, request)
    })
}

fn timed(until: Instant, mut request: impl FnMut() -> io::Result<()>) -> Times {
    let mut times = Times::default();
    while Instant::now() < until {
        let began = Instant::now();
        times.failed += usize::from(request().is_err());
        times.sorted.push(began.elapsed());
        thread::sleep(PAUSE);
    }
    times.sorted.sort_unstable();
    times
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// A request with a short 200 response.
fn ask(stream: &mut TcpStream, request: &[u8]) -> io::Result<()> {
    stream.write_all(request)?;
    let mut buffer = [0; 4096];
    let mut length = 0;
    loop {
        let read = stream.read(buffer.get_mut(length..).unwrap_or_default())?;
        length += read;
        let answer = buffer.get(..length).unwrap_or_default();
        if read == 0 || (length > 12 && !answer.starts_with(b"HTTP/1.1 200")) {
            return Err(io::Error::other(
                String::from_utf8_lossy(answer).into_owned(),
            ));
        }
        if answer.ends_with(b"\r\n\r\n") || answer.ends_with(b"ok\n") {
            return Ok(());
        }
    }
}
