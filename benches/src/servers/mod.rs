//! The servers that are compared, each run by a child process of the bench.
//!
//! A bench binary calls [`serve_if_asked`] first: it is its own child. A child serves until its standard input ends, so
//! none outlives the bench.

mod bare;
mod engine;
mod gathered;
mod log_file;
mod process;
mod rows;
mod slow_disk;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub use process::{ServerProcess, cpu_micros};

use crate::sqlite::Indexed;
use log_file::{Growing, Preallocated};

/// The first argument of a child.
const SERVE: &str = "--serve";

/// A server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// hyper; reads the body, answers 200. The floor.
    Echo,
    /// The engine behind its server, as `deskfleet serve` runs it.
    Deskfleet,
    /// hyper and an append-only log of the unread bodies, with one `fdatasync` for all that gathered meanwhile.
    Log,
    /// The same with a log that is zero-written in advance and overwritten in place.
    LogPreallocated,
    /// axum and SQLite: JSON into a struct, a row of columns, an index by instance and time, commits grouped by hand.
    Sqlite,
    /// The same without the index.
    SqliteUnindexed,
}

/// The protocol between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, kept alive.
    Http1,
    /// HTTP/2 without TLS, by prior knowledge.
    Http2,
}

/// The disk of the servers.
#[derive(Debug, Clone)]
pub struct Disk {
    /// Where each gets a folder.
    pub folder: PathBuf,
    /// How much longer each sync takes than on that disk, as on the volumes of a cloud; SQLite's do not.
    pub sync_delay: Duration,
}

impl Served {
    /// Every server, in the order of their turns.
    pub const ALL: [Self; 6] = [
        Self::Echo,
        Self::Log,
        Self::LogPreallocated,
        Self::Deskfleet,
        Self::Sqlite,
        Self::SqliteUnindexed,
    ];

    /// Its name in arguments and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Deskfleet => "deskfleet",
            Self::Log => "log",
            Self::LogPreallocated => "log-preallocated",
            Self::Sqlite => "sqlite",
            Self::SqliteUnindexed => "sqlite-unindexed",
        }
    }

    /// The server of that [`name`](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|server| server.name() == name)
    }

    /// Whether it is axum and SQLite. That stands for the usual setup, which does not include HTTP/2; and a delay of its
    /// syncs would need a file system of SQLite's own.
    #[must_use]
    pub const fn is_sqlite(self) -> bool {
        matches!(self, Self::Sqlite | Self::SqliteUnindexed)
    }
}

impl Protocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Http1 => "http1",
            Self::Http2 => "http2",
        }
    }
}

/// In a child process: serves until standard input ends, then returns true. Otherwise returns false at once.
///
/// # Panics
/// When it cannot serve.
#[must_use]
pub fn serve_if_asked() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != SERVE) {
        return false;
    }
    let mut text = || arguments.next().map(OsString::into_string);
    let Some(Ok(name)) = text() else { return false };
    let Some(Ok(protocol)) = text() else {
        return false;
    };
    let http2 = protocol == Protocol::Http2.name();
    let Some(Ok(delay)) = text() else {
        return false;
    };
    let delay = Duration::from_micros(delay.parse().expect("microseconds"));
    let folder = arguments.next().expect("a folder");
    let folder = Path::new(&folder);
    match Served::named(&name).expect("a server") {
        Served::Echo => bare::echo(http2),
        Served::Log => bare::log(Growing::create(folder, delay), http2),
        Served::LogPreallocated => bare::log(Preallocated::create(folder, delay), http2),
        Served::Deskfleet => engine::serve(folder, delay),
        Served::Sqlite => rows::serve(folder, Indexed::Yes),
        Served::SqliteUnindexed => rows::serve(folder, Indexed::No),
    }
    true
}

/// What a sync takes longer.
fn wait(delay: Duration) {
    if !delay.is_zero() {
        sleep(delay);
    }
}

/// A free port of this host, bound.
async fn listen() -> TcpListener {
    TcpListener::bind(any_port()).await.expect("a free port")
}

fn any_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

/// Prints the server's address for the bench; the returned future is ready when the bench ends.
fn announce(address: SocketAddr) -> oneshot::Receiver<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{address}").expect("the bench listens");
    out.flush().expect("the bench listens");
    let (stop, stopped) = oneshot::channel();
    std::thread::spawn(move || {
        // Nothing is ever sent; an end and an error both mean that the bench has ended.
        let _ = std::io::stdin().read(&mut [0]);
        drop(stop);
    });
    stopped
}
