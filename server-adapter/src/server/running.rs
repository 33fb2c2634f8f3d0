//! A server on a thread of its own, for tests and for programs without an async runtime.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread::{Builder, JoinHandle};

use deskfleet::Engine;
use tokio::sync::oneshot;

use crate::options::ServerOptions;
use crate::server::{Drained, Server, ServerHandle};

/// A server that runs on a thread of its own. Dropping it stops it too, without a result.
#[derive(Debug)]
pub struct RunningServer {
    address: SocketAddr,
    handle: ServerHandle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<io::Result<Drained>>>,
}

/// Serves `engine` on a free port of 127.0.0.1, on a thread of its own. Returns once connections are accepted.
///
/// # Errors
///
/// When no port, no runtime or no thread can be had.
pub fn spawn(engine: Engine, options: ServerOptions) -> io::Result<RunningServer> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = runtime.block_on(Server::bind(address, engine, options))?;
    let address = server.local_addr()?;
    let handle = server.handle();
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = Builder::new()
        .name("deskfleet-server".into())
        .spawn(move || {
            // A dropped sender means stop as well.
            runtime.block_on(server.run(async { drop(stopped.await) }))
        })?;
    Ok(RunningServer {
        address,
        handle,
        stop: Some(stop),
        thread: Some(thread),
    })
}

impl RunningServer {
    /// The address it listens on.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Changes its options while it runs.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Stops gracefully: takes no more connections, and waits for the responses of the requests in flight.
    ///
    /// # Errors
    ///
    /// When the server could not run.
    pub fn stop(mut self) -> io::Result<Drained> {
        self.finish()
    }

    fn finish(&mut self) -> io::Result<Drained> {
        drop(self.stop.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(drained)) => drained,
            Some(Err(_)) => Err(io::Error::other("the server's thread panicked")),
            None => Ok(Drained { cut_off: 0 }),
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // No caller takes the outcome.
        let _ = self.finish();
    }
}
