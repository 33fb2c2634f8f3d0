//! Signals, on a thread of their own, so that a second request to stop ends even a blocked server.

use std::io;
use std::thread::Builder;
use std::time::Duration;

use deskfleet_server::LogQueue;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// Time for the last log lines when the process ends at once.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The request of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    /// SIGINT and SIGTERM; on other systems Ctrl-C.
    Stop,
    /// SIGUSR1, where there are signals.
    #[cfg(unix)]
    Backup,
    /// SIGHUP, where there are signals.
    #[cfg(unix)]
    Reload,
}

/// Catches signals from now on. The result is ready at the first one that asks to stop; the second one ends the process.
/// `backup` is called for each request for a backup, `reload` for each to load the configuration again; neither may block.
#[cfg_attr(
    not(unix),
    expect(unused_variables, reason = "only Unix has signals for them")
)]
pub(crate) fn catch(
    backup: impl Fn() + Send + 'static,
    reload: impl Fn() + Send + 'static,
) -> io::Result<oneshot::Receiver<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::catch()?
    };
    let (stop, stopped) = oneshot::channel();
    let thread = Builder::new().name("deskfleet-signals".into());
    thread.spawn(move || {
        let mut stop = Some(stop);
        loop {
            match runtime.block_on(signals.next()) {
                Command::Stop => match stop.take() {
                    // A server that has ended needs no request to stop.
                    Some(stop) => drop(stop.send(())),
                    None => end_at_once(),
                },
                #[cfg(unix)]
                Command::Backup => backup(),
                #[cfg(unix)]
                Command::Reload => reload(),
            }
        }
    })?;
    Ok(stopped)
}

/// From now on SIGHUP does not end the process; before [`catch`] it does nothing. Needs a tokio runtime.
#[cfg(unix)]
pub(crate) fn ignore_reloads() -> io::Result<()> {
    // Dropping what receives a signal does not restore its default.
    signal(SignalKind::hangup()).map(drop)
}

#[cfg(not(unix))]
pub(crate) fn ignore_reloads() -> io::Result<()> {
    Ok(())
}

/// From now on a file that reaches the limit of its size (`ulimit -f`, `LimitFSIZE=`) fails the write and does not end the process.
#[cfg(unix)]
pub(crate) fn ignore_file_limits() -> io::Result<()> {
    /// The same number on Linux but for MIPS, on macOS and on the BSDs.
    const SIGXFSZ: i32 = 25;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _inside = runtime.enter();
    signal(SignalKind::from_raw(SIGXFSZ)).map(drop)
}

#[cfg(not(unix))]
pub(crate) fn ignore_file_limits() -> io::Result<()> {
    Ok(())
}

/// Ends the process as a crash would, which loses no acknowledged write.
#[expect(
    clippy::exit,
    reason = "no other thread may be able to return from main"
)]
fn end_at_once() {
    let log = LogQueue::stderr();
    log.line("deskfleet: stopped at once");
    log.flush(LAST_WORDS);
    std::process::exit(1);
}

/// The signals that are caught.
#[cfg(unix)]
#[derive(Debug)]
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    backup: Signal,
    reload: Signal,
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Signals;

#[cfg(unix)]
impl Signals {
    /// From now on the signals come here and end nothing by themselves. Needs a tokio runtime.
    fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            backup: signal(SignalKind::user_defined1())?,
            reload: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    async fn next(&mut self) -> Command {
        tokio::select! {
            // A backup that was requested before the end must be written.
            biased;
            _ = self.backup.recv() => Command::Backup,
            _ = self.reload.recv() => Command::Reload,
            _ = self.interrupt.recv() => Command::Stop,
            _ = self.terminate.recv() => Command::Stop,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn catch() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one.
    async fn next(&mut self) -> Command {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without signals only the end of the process stops the server.
            std::future::pending::<()>().await;
        }
        Command::Stop
    }
}
