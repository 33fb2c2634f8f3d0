//! The listener, the bound on connections, graceful shutdown.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use deskfleet::Engine;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::connection::{Phase, serve};
use crate::maintenance::Maintenance;
use crate::options::ServerOptions;
use crate::state::ServerState;

/// Pause after a failed `accept`. The usual cause, no file descriptor left, does not pass faster by asking again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A connection and its other end.
type Accepted = (TcpStream, IpAddr);

/// An engine bound to an address. Needs a tokio runtime with I/O and time.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    shared: Arc<ServerState>,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were cut off because they had not finished within
    /// [`drain_timeout`](ServerOptions::drain_timeout); 0 when everything in flight was answered.
    pub cut_off: usize,
}

impl Server {
    /// Binds `address`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound.
    pub async fn bind(
        address: SocketAddr,
        engine: Engine,
        options: ServerOptions,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            shared: Arc::new(ServerState::new(engine, options, address)),
        })
    }

    /// The address that was bound.
    ///
    /// # Errors
    ///
    /// When the operating system cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` is ready, then takes no more connections, answers what is in flight and returns. The engine
    /// stays open.
    ///
    /// # Errors
    ///
    /// When the thread for maintenance cannot be started; nothing was served then.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> io::Result<Drained> {
        let options = &self.shared.options;
        let maintenance = match options.maintain_every {
            Some(pause) => Some(Maintenance::start(self.shared.engine.clone(), pause)?),
            None => None,
        };
        let slots_max = options.connections_max.clamp(1, Semaphore::MAX_PERMITS);
        let slots = Arc::new(Semaphore::new(slots_max));
        let (phase, watching) = watch::channel(Phase::Serving);

        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = shutdown.as_mut() => break,
                (accepted, slot) = self.next(&slots) => {
                    let served = serve(accepted, Arc::clone(&self.shared), watching.clone());
                    tokio::spawn(async move {
                        served.await;
                        drop(slot);
                    });
                }
            }
        }
        drop(self.listener);
        drop(watching);

        phase.send_replace(Phase::Draining);
        // Every connection holds a receiver, so the channel closes when the last one has ended.
        let drained = timeout(self.shared.options.drain_timeout, phase.closed()).await;
        let cut_off = drained.map_or_else(|_| phase.receiver_count(), |()| 0);
        phase.send_replace(Phase::Closed);
        drop(maintenance);
        Ok(Drained { cut_off })
    }

    /// The next connection, once there is room for it.
    async fn next(&self, slots: &Arc<Semaphore>) -> (Accepted, Option<OwnedSemaphorePermit>) {
        // An error would mean that the semaphore was closed; nobody closes it.
        let slot = Arc::clone(slots).acquire_owned().await.ok();
        loop {
            if let Ok((stream, peer)) = self.listener.accept().await {
                // Answers are written in one piece; waiting for more would only delay them.
                let _ = stream.set_nodelay(true);
                return ((stream, peer.ip()), slot);
            }
            sleep(ACCEPT_PAUSE).await;
        }
    }
}
