//! A log in a stream of NATS JetStream.
//!
//! The positions are the sequences of the stream. Copies of the stream hold only what most of them have, so an entry that one of
//! them returns is the entry of that position: entries are read from the nearest copy. That there is none yet, and where the log
//! begins and ends, only the leader is believed. What this node appended is not read back: the servers announce its time, and the leader
//! has the entry before it. A server that still takes itself for the leader after the others elected another
//! one answers with an end that is older than what is known here, and is asked again.

mod address;
mod appending;
mod checks;
mod end;
mod moment;
mod own;
mod shared;
mod undecided;

use std::fmt;
use std::future::{Future, IntoFuture as _};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{Appended, EntryId, Log, LogBounds, LogEntry, LogError, LogErrorKind, NodeReport};
use tokio::runtime::{Builder, Runtime};

pub use address::NatsOptions;

use crate::locks::lock;

use address::Address;
use shared::Shared;

/// A log in a stream of NATS JetStream 2.12 or later, shared by all that open the same URL with the same name of a fleet.
///
/// The stream is `df_FLEET` with the subject `df.FLEET.log`; its servers announce what they stored on `df.FLEET.tail`. What nodes
/// report is in the stream `df_FLEET_nodes`, subjects `df.FLEET.node.*`.
pub struct JetStreamLog {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    notices: Vec<String>,
}

impl fmt::Debug for JetStreamLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamLog")
            .field("fleet", &self.shared.fleet)
            .finish_non_exhaustive()
    }
}

impl Drop for JetStreamLog {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl JetStreamLog {
    /// Connects, makes the streams where they are missing, and checks the settings that an acknowledged entry depends on.
    ///
    /// `url` is `nats://HOST:PORT,HOST:PORT?fleet=NAME&monitor=http://HOST:PORT,...`, or with `tls://`. `monitor` is for the check
    /// that each server has `sync_interval: always`; with `unchecked_sync=yes` there is none.
    ///
    /// # Errors
    /// [`LogErrorKind::Unsafe`] where the URL cannot be used or the servers would lose acknowledged entries,
    /// [`LogErrorKind::Unavailable`] where no server can be reached. No message has the credentials.
    pub fn open(url: &str, options: &NatsOptions) -> Result<Self, LogError> {
        let address = Address::new(url, options)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("deskfleet-log")
            .enable_all()
            .build()
            .map_err(|error| LogError::new(LogErrorKind::Unavailable, error.to_string()))?;
        let (shared, notices) = run(&runtime, Shared::open(address))?;
        Ok(Self {
            runtime: Some(runtime),
            shared,
            notices,
        })
    }

    /// What the operator should know once; sentences.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    fn run<T: Send + 'static, F: Future<Output = Result<T, LogError>> + Send + 'static>(
        &self,
        task: impl FnOnce(Arc<Shared>) -> F,
    ) -> Result<T, LogError> {
        match &self.runtime {
            Some(runtime) => run(runtime, task(Arc::clone(&self.shared))),
            None => Err(ended()),
        }
    }
}

/// Runs `task` to its end; also on a thread of another runtime.
fn run<T: Send + 'static>(
    runtime: &Runtime,
    task: impl Future<Output = Result<T, LogError>> + Send + 'static,
) -> Result<T, LogError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Fails only where the caller is gone.
        let _ = sender.send(task.await);
    });
    receiver.recv().unwrap_or_else(|_| Err(ended()))
}

fn ended() -> LogError {
    LogError::new(LogErrorKind::Unknown, "the thread of the log ended")
}

impl Log for JetStreamLog {
    /// The servers know an `id` for five minutes. Where it is appended again, however late, the entries since it was appended first are
    /// looked through as well; of the entries whose append returned [`LogErrorKind::Unknown`], the last 256 are known.
    fn append(&self, id: EntryId, body: &[u8]) -> Result<Appended, LogError> {
        let body = Bytes::copy_from_slice(body);
        let position = self.run(|shared| async move { shared.append(id, body).await })?;
        // The time is known to who reads it.
        Ok(Appended {
            position,
            at: None,
            chain: None,
        })
    }

    fn body_max(&self) -> usize {
        self.shared.body_max()
    }

    fn read(
        &self,
        from: u64,
        bytes_max: usize,
        patience: Duration,
    ) -> Result<Vec<LogEntry>, LogError> {
        self.run(|shared| async move { shared.read(from, bytes_max, patience).await })
    }

    fn bounds(&self, seen: u64) -> Result<LogBounds, LogError> {
        self.run(move |shared| async move { shared.bounds(seen).await })
    }

    fn trim(&self, below: u64) -> Result<(), LogError> {
        self.run(|shared| async move {
            let bounds = shared.bounds(0).await?;
            // Else the stream would go on after the positions that it has not yet had.
            let below = below.min(bounds.last + 1);
            if below <= bounds.first {
                return Ok(());
            }
            let purge = shared.log.purge().sequence(below);
            shared.within(purge.into_future()).await.map(drop)
        })
    }

    fn warnings(&self) -> Vec<String> {
        lock(&self.shared.warnings).clone()
    }

    fn report(&self, node: &str, report: &str) -> Result<(), LogError> {
        let (node, report) = (node.to_owned(), report.to_owned());
        self.run(|shared| async move {
            let subject = shared.node_subject(&node);
            let sent = shared.within(shared.context.publish(subject, report.into()));
            let ack = sent.await?;
            shared.within(ack.into_future()).await.map(drop)
        })
    }

    fn reports(&self) -> Result<Vec<NodeReport>, LogError> {
        self.run(|shared| async move { shared.reports().await })
    }

    fn forget(&self, node: &str) -> Result<(), LogError> {
        let node = node.to_owned();
        self.run(|shared| async move {
            let purge = shared.nodes.purge().filter(shared.node_subject(&node));
            shared.within(purge.into_future()).await.map(drop)
        })
    }
}
