//! A server in a child process, and the system's figures of it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Disk, Protocol, SERVE, Served};

/// A process is idle when it used less than a fiftieth of this time over this time. Longer than the pauses of its
/// upkeep.
const RESTING: Duration = Duration::from_millis(1300);

/// A running server on a fresh folder; dropping this stops it and removes the folder.
#[derive(Debug)]
pub struct ServerProcess {
    /// Which server.
    pub served: Served,
    /// Its address.
    pub address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

impl ServerProcess {
    /// Starts it with its data in a new folder of `disk`.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(served: Served, protocol: Protocol, disk: &Disk) -> Self {
        Self::start_filled(served, protocol, disk, |_| {}).0
    }

    /// The same after `fill` put something into that folder; returns also what `fill` did.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_filled<T>(
        served: Served,
        protocol: Protocol,
        disk: &Disk,
        fill: impl FnOnce(&Path) -> T,
    ) -> (Self, T) {
        let folder = tempfile::tempdir_in(&disk.folder).expect("a folder");
        let filled = fill(folder.path());
        let program = std::env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args([SERVE, served.name(), protocol.name()])
            .arg(disk.sync_delay.as_micros().to_string())
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server starts");
        let mut message = String::new();
        BufReader::new(child.stdout.take().expect("its output"))
            .read_line(&mut message)
            .expect("its address");
        let server = Self {
            served,
            address: message.trim().parse().expect("its address"),
            child,
            _folder: folder,
        };
        (server, filled)
    }

    /// Processor time so far, in microseconds.
    #[must_use]
    pub fn cpu_micros(&self) -> u64 {
        cpu_micros(self.child.id())
    }

    /// Current and peak resident memory, in bytes; 0 where the system does not report it.
    #[must_use]
    pub fn memory_bytes(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
            Some(kib * 1024)
        };
        (line("VmRSS:").unwrap_or(0), line("VmHWM:").unwrap_or(0))
    }

    /// Waits until it is idle, at most `longest`: then its deferred work is done.
    pub fn settle(&self, longest: Duration) {
        let start = Instant::now();
        let pause = RESTING.min(longest);
        while start.elapsed() < longest {
            let before = self.cpu_micros();
            sleep(pause);
            let used = self.cpu_micros().saturating_sub(before);
            if u128::from(used) * 50 < pause.as_micros() {
                return;
            }
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It ends with its input. If it does not, it must not outlive the bench.
        drop(self.child.stdin.take());
        for _ in 0..200 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processor time of a process so far, user and system, in microseconds; 0 where the system does not report it.
#[must_use]
pub fn cpu_micros(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, in parentheses, may hold anything; utime and stime are the 12th and 13th field after it.
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return 0;
    };
    let ticks: u64 = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    ticks * 1_000_000 / rustix::param::clock_ticks_per_second()
}
