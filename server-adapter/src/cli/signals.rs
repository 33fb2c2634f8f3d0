//! What people wish of a running server, as the operating system brings it.

use std::io;

/// A wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// SIGINT and SIGTERM; on other systems Ctrl-C.
    Stop,
    /// SIGUSR1, where there are signals.
    #[cfg(unix)]
    Backup,
}

/// The signals that are caught.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    backup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// From now on the signals come here and end nothing by themselves. Needs a tokio runtime.
    pub(crate) fn catch() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            backup: signal(SignalKind::user_defined1())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::Stop,
            _ = self.terminate.recv() => Wish::Stop,
            _ = self.backup.recv() => Wish::Backup,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Needs a tokio runtime.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Wish {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without signals only the end of the process stops the server.
            std::future::pending::<()>().await;
        }
        Wish::Stop
    }
}
