//! The listener and graceful shutdown.

pub(crate) mod background;
mod maintenance;
pub(crate) mod running;

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use std::{io, iter};

use deskfleet::Engine;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

#[cfg(feature = "cluster")]
use crate::cluster::follower;
use crate::connection::progress::Progress;
use crate::connection::serve;
#[cfg(feature = "cluster")]
use crate::options::Reads;
use crate::options::ServerOptions;
use crate::state::ServerState;
use background::Background;

/// The time in which a server that takes no more connections reads requests of those that it has; each response says then that it is the last one.
/// Balancers go on using a connection until they know: with 0.01 s one of them lost about a request in each restart under load, with this none.
const LAST_REQUESTS: Duration = Duration::from_millis(100);

/// Pause after a failed `accept`: the usual cause, no file descriptor left, does not pass faster with retries.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The interval of checks whether the keys of responses in progress are still accepted.
const KEYS_LOOKED_AT_EVERY: Duration = Duration::from_millis(500);

/// The backlog of connections, as far as the system allows: above it a client waits a second before it tries again.
const BACKLOG: u32 = 4096;

/// The send buffer of a socket in bytes, as far as the system allows: enough for some 10 Mbit/s to the other end of the world.
const SEND_BUFFER: u32 = 512 * 1024;

/// An engine bound to an address. Needs a tokio runtime with I/O and time.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    /// Whether another process has the socket too.
    is_shared: bool,
    shared: Arc<ServerState>,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were cut off because they had not finished within
    /// [`drain_timeout`](ServerOptions::drain_timeout); 0 when all requests in flight were completed.
    pub cut_off: usize,
}

/// Changes the options of a running [`Server`].
#[derive(Debug, Clone)]
pub struct ServerHandle(Arc<ServerState>);

impl ServerHandle {
    /// Takes from `new` the options that change while the server runs, as [`ServerOptions::reloaded`] does.
    ///
    /// # Errors
    ///
    /// When one of them is not valid; nothing changes then.
    pub fn reload(&self, new: &ServerOptions) -> io::Result<()> {
        self.0.reload(new)
    }

    /// A code of 43 characters that signs a browser in to the console, at `/#code=…`: for 30 minutes by the engine's clock, once. It is
    /// exchanged for an admin key that expires after twelve hours. The code before it is not valid any more.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes.
    #[cfg(feature = "console")]
    pub fn console_code(&self) -> io::Result<String> {
        self.0.sign_in_codes.issue(self.0.engine.now())
    }
}

impl Server {
    /// Binds `address`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound, or [`cors_origins`](ServerOptions::cors_origins) has what is no origin
    /// ([`InvalidInput`](io::ErrorKind::InvalidInput)).
    #[expect(clippy::unused_async, reason = "only inside a runtime can it be bound")]
    pub async fn bind(
        address: SocketAddr,
        engine: Engine,
        options: ServerOptions,
    ) -> io::Result<Self> {
        Self::new(listen(address)?, engine, options)
    }

    /// Serves the connections of `listener`: of [`listen`], or a socket that another program has opened.
    ///
    /// # Errors
    ///
    /// When the operating system reports no address for it.
    pub fn new(listener: TcpListener, engine: Engine, options: ServerOptions) -> io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            is_shared: false,
            shared: Arc::new(ServerState::new(engine, options, address)?),
        })
    }

    /// Says whether another process has the socket too, such as systemd: connections that wait when this server stops are left to the next one
    /// then. By default this server takes them before it closes the socket, since the system would reset them.
    #[must_use]
    pub fn shared_socket(mut self, is_shared: bool) -> Self {
        self.is_shared = is_shared;
        self
    }

    /// The address that was bound.
    ///
    /// # Errors
    ///
    /// When the operating system reports none.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Changes the options of this server while it runs.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        ServerHandle(Arc::clone(&self.shared))
    }

    /// Serves until `shutdown` is ready, then takes no more connections, completes the requests that have arrived and returns. The engine
    /// stays open.
    ///
    /// # Errors
    ///
    /// When a thread for maintenance or for the log cannot be started; nothing was served then.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<Drained> {
        let options = &self.shared.live().options;
        let (engine, metrics) = (&self.shared.engine, &options.metrics);
        let mut threads = Vec::new();
        if let Some(pause) = options.maintain_every {
            threads.push(maintenance::start(engine.clone(), pause, metrics.clone())?);
        }
        #[cfg(feature = "cluster")]
        if engine.position().is_some() {
            threads.push(follower::start(engine.clone(), metrics.clone())?);
            if options.reads == Reads::Latest {
                threads.push(
                    self.shared
                        .latest_reads
                        .start(engine.clone(), metrics.clone())?,
                );
            }
        }
        let mut connections = JoinSet::new();

        let mut shutdown = pin!(shutdown);
        let mut keys_looked_at = interval(KEYS_LOOKED_AT_EVERY);
        loop {
            tokio::select! {
                biased;
                () = shutdown.as_mut() => break,
                _ = keys_looked_at.tick() => self.shared.keyed_responses.end_refused(&self.shared.engine),
                Some(_) = connections.join_next() => {}
                (socket, peer) = self.next() => begin(socket, peer, &self.shared, &mut connections),
            }
        }
        self.shared.stop();
        if let Ok(listener) = self.listener.into_std()
            && !self.is_shared
            && listener.set_nonblocking(true).is_ok()
        {
            for (socket, peer) in waiting(&listener) {
                begin(socket, peer, &self.shared, &mut connections);
            }
        }
        all_ended(&mut connections, LAST_REQUESTS).await;
        threads.iter().for_each(Background::stop);
        self.shared.drain();
        all_ended(&mut connections, self.shared.live().options.drain_timeout).await;
        // The remaining connections end with the set.
        let cut_off = connections.len();
        drop(connections);
        drop(threads);
        Ok(Drained { cut_off })
    }

    /// The next connection, and its other end.
    async fn next(&self) -> (TcpStream, IpAddr) {
        loop {
            if let Ok((socket, peer)) = self.listener.accept().await {
                return (socket, peer.ip());
            }
            sleep(ACCEPT_PAUSE).await;
        }
    }
}

/// Serves a connection, if there is a slot for it.
fn begin(
    socket: TcpStream,
    peer: IpAddr,
    shared: &Arc<ServerState>,
    connections: &mut JoinSet<()>,
) {
    let source = shared.sources.find_or_add(peer);
    let progress = Arc::new(Progress::new(peer, source));
    let Some(slot) = shared.slots.take(&progress) else {
        return;
    };
    // Responses are written in one piece; Nagle's algorithm would only delay them.
    let _ = socket.set_nodelay(true);
    let served = serve(socket, progress, Arc::clone(shared));
    connections.spawn(async move {
        served.await;
        drop(slot);
    });
}

/// Waits until all connections have ended, for `most` at most.
async fn all_ended(connections: &mut JoinSet<()>, most: Duration) {
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(most, all).await;
}

/// The connections that wait to be taken: the system resets them when the listener is closed, though it may have received their requests.
fn waiting(listener: &std::net::TcpListener) -> impl Iterator<Item = (TcpStream, IpAddr)> {
    // As many as could wait: clients that go on to connect do not keep the server.
    let accepted = iter::repeat_with(|| listener.accept()).take(BACKLOG as usize);
    let is_more = |accepted: &io::Result<_>| {
        let error = accepted.as_ref().err().map(io::Error::kind);
        error.is_none_or(|kind| kind == io::ErrorKind::ConnectionAborted)
    };
    accepted
        .take_while(is_more)
        .flatten()
        .filter_map(|(socket, peer)| {
            socket.set_nonblocking(true).ok()?;
            Some((TcpStream::from_std(socket).ok()?, peer.ip()))
        })
}

/// Binds `address`; port 0 takes a free one. Connections wait until a [`Server`] takes them, so that an address in use is known
/// before a store is opened for it. Needs a tokio runtime with I/O.
///
/// # Errors
///
/// When the address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // On Windows this would let another process take the address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Each connection inherits this size. The system's own sizes grow to megabytes for a client that does not read.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
