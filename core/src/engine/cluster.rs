//! An engine as a node of a fleet that shares a log.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::config::Config;
use crate::engine_core::EngineCore;
use crate::error::{EngineError, Result};
use crate::log::{AppliedEntries, Chain, EntryId};
use crate::model::{ClusterStatus, KeyInfo};
use crate::mutation::Caller;
use crate::settings::Value;
use crate::timestamp::Timestamp;

use super::Engine;

/// A node of a fleet; see [`EngineBuilder::log`](super::EngineBuilder::log).
impl Engine {
    /// Applies what the other nodes appended to the log; where there is nothing, waits up to `patience` for something. Returns how many
    /// entries were applied, by whichever thread. Once a second it also syncs the file and reports this node to the log.
    ///
    /// A host calls this in a loop on a thread of its own, with a pause after an error. Without a log it does nothing.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) where the log cannot be reached or the file cannot
    /// be written. When this node cannot continue by itself, every call and every write fails from then on:
    /// [`ErrorKind::Corrupted`](crate::ErrorKind::Corrupted) where the log lost what this node had applied,
    /// [`ErrorKind::NewerFormat`](crate::ErrorKind::NewerFormat) where a newer version wrote an entry that this one does not
    /// understand, [`ErrorKind::Configuration`](crate::ErrorKind::Configuration) where the file and the log are of different
    /// fleets, and [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) where the log no longer has what this
    /// node lacks, so that it has to begin with the backup of another. [`Self::halted`] returns that error from then on.
    pub fn follow(&self, patience: Duration) -> Result<u64> {
        self.core().follow(patience)
    }

    /// Applies the log up to where it ends when this is called: a read after that has all that was acknowledged on any node before. Asks
    /// the log, and blocks as long as that takes. Without a log it does nothing.
    ///
    /// # Errors
    /// Those of [`Self::follow`].
    pub fn catch_up(&self) -> Result<()> {
        self.core().catch_up()
    }

    /// The entries of the log after `position`, whose chain is `chain`, each with its chain and up to what is durable here: for a host that archives
    /// the log. At most 512 KiB at once and one entry more. Where the log no longer has the next one, there are none, and the returned position is the
    /// one to ask for them after: the first that the log has or, if it keeps no chains, what is applied here. `None` without a log, and before the
    /// first entry. Asks the log, and blocks as long as that takes.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) where the log or the store of this node cannot be read now,
    /// [`ErrorKind::Corrupted`](crate::ErrorKind::Corrupted) where the entries do not follow `chain`, or are not those that this node applied, and that
    /// of [`Self::halted`].
    pub fn entries_after(&self, position: u64, chain: Chain) -> Result<Option<AppliedEntries>> {
        self.core().entries_after(position, chain)
    }

    /// Sets the position up to which the host has archived the log. From the first call on the log keeps what comes after it, unless this node is
    /// silent for a day: call it with 0 before [`Self::follow`].
    pub fn set_archived(&self, position: u64) {
        if let Some(cluster) = self.core().cluster() {
            cluster.set_archived(position);
        }
    }

    /// The name of this node; `None` without a log, empty where it is not listed.
    #[must_use]
    pub fn node_name(&self) -> Option<&str> {
        Some(&self.core().cluster()?.node)
    }

    /// The position of the last entry of the log that is applied here; `None` without a log. What is read after this call is at least
    /// as new.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        Some(self.core().cluster()?.position())
    }

    /// The id of the log, which is that of its first entry and of the fleet; `None` without a log, and before an entry is applied here. Positions of
    /// another log mean nothing here.
    #[must_use]
    pub fn fleet_id(&self) -> Option<EntryId> {
        self.core().cluster()?.fleet()
    }

    /// When the last entry that is applied here was appended, by the clock of the log; `None` without a log, and before the first entry.
    #[must_use]
    pub fn applied_at(&self) -> Option<Timestamp> {
        let cluster = self.core().cluster()?;
        (cluster.position() > 0).then(|| cluster.applied_time())
    }

    /// The last position of the log that this node has heard of; [`Self::follow`] asks once a second. `None` without a log.
    #[must_use]
    pub fn log_last(&self) -> Option<u64> {
        Some(self.core().cluster()?.last())
    }

    /// Whether another server took over the log and appends nothing yet, see [`LogBounds::takeover`](crate::cluster::LogBounds::takeover), as far as
    /// this node knows: that is over within seconds.
    #[must_use]
    pub fn log_is_taken_over(&self) -> bool {
        let Some(cluster) = self.core().cluster() else {
            return false;
        };
        cluster.is_taken_over()
    }

    /// Why this node applies nothing more until an operator acts, see [`Self::follow`]; `None` while it does.
    #[must_use]
    pub fn halted(&self) -> Option<EngineError> {
        self.core().cluster()?.halted()
    }

    /// Why this node refuses writes although it applies the log: at its last report its clock was more than 2 s off that of the
    /// log. `None` while the clock is right.
    #[must_use]
    pub fn wrong_clock(&self) -> Option<EngineError> {
        self.core().cluster()?.check_clock().err()
    }

    /// A problem for the operator while this node serves, for 10 s after it was noticed last: another process reports under the
    /// same name, a node applied other entries up to the same position, the log takes no reports of this node, or the log may
    /// lose entries that it acknowledges.
    #[must_use]
    pub fn node_warning(&self) -> Option<String> {
        self.core().node_warning()
    }

    /// Waits until the log is applied here up to `position`: then a read on this node sees what a client saw on another. Returns
    /// at once without a log. It may wait for ever, so give it a timeout.
    pub fn applied(&self, position: u64) -> AppliedFuture {
        AppliedFuture {
            core: Arc::clone(&self.running.core),
            position,
            number: None,
        }
    }

    /// Makes this engine's settings of actions and retention those of all nodes.
    ///
    /// # Errors
    /// Those of a write.
    pub fn configure_fleet(&self) -> Result<()> {
        self.core().configure_fleet()
    }

    /// The settings of the fleet, which hold on all nodes: those of actions, of retention, and how many events are kept. `None` without a log, and
    /// before its first entry; of a store that left its fleet, opened for reading only, those that it had there.
    ///
    /// # Errors
    /// Those of a read.
    pub fn fleet_settings(&self) -> Result<Option<Vec<(String, Value)>>> {
        self.core().fleet_settings()
    }

    /// Changes settings of the fleet; the others stay. They hold on each node once it has applied that, without a restart. Of two changes that
    /// two nodes make at the same moment the later one holds as a whole. The audit row names the key, or `None` for the host itself.
    ///
    /// # Errors
    /// Those of a write, and [`ErrorKind::InvalidParameter`](crate::ErrorKind::InvalidParameter) for a name that is no setting of the fleet, or a
    /// value that it does not take. Nothing is changed then.
    pub fn change_fleet_settings(
        &self,
        changes: &[(String, Value)],
        key: Option<&KeyInfo>,
    ) -> Result<()> {
        let by = Caller::from_key(key);
        self.core().change_fleet_settings(changes, &by)
    }

    /// Ends an upgrade to a version with newer rules: from here on all nodes write by the newest rules that this engine knows, which an older version cannot
    /// apply. Does nothing where they do already. The audit row `ConfigureFleet` names the key, or `None` for the host itself.
    ///
    /// # Errors
    /// Those of a write, and [`ErrorKind::InvalidResourceState`](crate::ErrorKind::InvalidResourceState) with the names of the nodes on the list that do
    /// not know these rules.
    pub fn finalize_fleet(&self, key: Option<&KeyInfo>) -> Result<()> {
        self.core().finalize_fleet(&Caller::from_key(key))
    }

    /// Takes the settings of actions and retention in `config` for those of this engine, where its host loaded its configuration again. They are
    /// compared with those of the fleet, which hold.
    pub fn set_own_settings(&self, config: &Config) {
        self.core().set_own_settings(config);
    }

    /// The shared settings that differ between this engine and the fleet, as pairs of `name=value`: this engine's, then the
    /// fleet's.
    ///
    /// # Errors
    /// Those of a read.
    pub fn foreign_settings(&self) -> Result<Vec<(String, String)>> {
        self.core().foreign_settings()
    }

    /// The fleet as this node sees it; `None` without a log. Asks the log.
    ///
    /// # Errors
    /// Those of a read. That the log cannot be reached is in the status.
    pub fn cluster_status(&self) -> Result<Option<ClusterStatus>> {
        self.core().cluster_status()
    }

    /// Takes a node off the list, so that the log is no longer kept for it. A node that still runs reports itself again. The audit row
    /// `ConfigureFleet` names the key, or `None` for the host itself; there is none where this node takes no writes, as while it waits for what
    /// the log lost, or before the fleet writes by rules 5.
    ///
    /// # Errors
    /// [`ErrorKind::StorageUnavailable`](crate::ErrorKind::StorageUnavailable) where the log cannot be reached.
    pub fn forget_node(&self, node: &str, key: Option<&KeyInfo>) -> Result<()> {
        self.core().forget_node(node, &Caller::from_key(key))
    }
}

/// The future of [`Engine::applied`].
#[must_use = "a future does nothing unless it is polled"]
pub struct AppliedFuture {
    core: Arc<EngineCore>,
    position: u64,
    /// Its number in the list of waiters.
    number: Option<u64>,
}

impl Future for AppliedFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let core = Arc::clone(&self.core);
        let Some(cluster) = core.cluster() else {
            return Poll::Ready(());
        };
        let position = self.position;
        cluster.poll_applied(position, &mut self.number, context.waker())
    }
}

impl Drop for AppliedFuture {
    fn drop(&mut self) {
        if let (Some(cluster), Some(number)) = (self.core.cluster(), self.number) {
            cluster.end_wait(number);
        }
    }
}

impl fmt::Debug for AppliedFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppliedFuture")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
