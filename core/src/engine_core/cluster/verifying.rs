//! Verifying that the log is the one that was applied here, and beginning a log.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;
use crate::log::{LogBounds, LogErrorKind};
use crate::mutation::configure::Configure;
use crate::mutation::logged::entry::EntryReader;
use crate::store::cluster::{self as stored, Applied};

use super::super::EngineCore;
use super::applying::is_same;
use super::{Cluster, HaltReason};

impl EngineCore {
    /// Appends the first entry to an empty log, and makes sure that a node whose file has data of its own is the one that began the fleet.
    fn begin_fleet(&self, cluster: &Cluster, is_empty: bool) -> Result<()> {
        let fresh = stored::is_fresh(&self.store.snapshot()?)?;
        let own = self.founding_id()?;
        if is_empty {
            // The entry is appended again with the same id, so nothing is in doubt.
            // A store that left a fleet begins another one with the settings of that: by others what it has may be too old.
            let kept = stored::fleet_configuration(&self.store.snapshot()?)?;
            let first = Configure {
                settings: kept.unwrap_or_else(|| lock(&cluster.own_settings).clone()),
                founds: Some(fresh),
            };
            let begun = cluster.append_configuration(own, &first, &[], cluster.rules);
            begun.map_err(|error| {
                let message = "the first entry of the log could not be appended yet";
                EngineError::caused(ErrorKind::StorageUnavailable, message, error)
            })?;
        }
        let first = cluster.log.read(1, 1, Duration::ZERO);
        let first = first.map_err(|error| cluster.read_failed(error))?;
        let Some(first) = first.first().filter(|first| first.position == 1) else {
            let message = "the log has no first entry, though it acknowledged one";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        };
        if first.id != own && !fresh {
            return Err(cluster.foreign());
        }
        let begins_empty = begins_empty(&first.body, cluster.rules);
        let begins_empty = begins_empty.map_err(|error| cluster.stops_before(1, &error))?;
        if first.id == own {
            if !fresh && begins_empty {
                // The store was used alone after it appended the first entry.
                return Err(cluster.foreign());
            }
        } else if !begins_empty {
            let message = "the fleet began with the data of one node, which this node does not have: start it with --join and the \
                        address of another node";
            return Err(cluster.halt(HaltReason::Trimmed, ErrorKind::StorageUnavailable, message));
        }
        Ok(())
    }

    /// Makes sure that the log is the one whose entries were applied here, after a start and after each failure of it.
    /// Returns how often the log had failed.
    pub(super) fn verify(&self, cluster: &Cluster) -> Result<u64> {
        if let Some(verified) = cluster.verified() {
            return Ok(verified);
        }
        let verifying = lock(&cluster.verifying);
        self.verify_now(cluster, &verifying)
    }

    /// The same for a write, which does not wait for another thread that calls the log: that may take seconds when the log is
    /// gone.
    pub(super) fn verify_at_once(&self, cluster: &Cluster) -> Result<u64> {
        if let Some(verified) = cluster.verified() {
            return Ok(verified);
        }
        let Ok(verifying) = cluster.verifying.try_lock() else {
            let message =
                "the log that the nodes share is being looked for; send the request again";
            return Err(EngineError::new(ErrorKind::StorageUnavailable, message));
        };
        self.verify_now(cluster, &verifying)
    }

    fn verify_now(&self, cluster: &Cluster, _verifying: &MutexGuard<'_, ()>) -> Result<u64> {
        if let Some(verified) = cluster.verified() {
            return Ok(verified);
        }
        // A failure from here on requires another verification.
        let failures = cluster.failures.load(Ordering::Acquire);
        // What was read before the failure is applied by now, or will not be.
        let applied = lock(&cluster.applier).applied;
        let seen = applied.map_or(0, |applied| applied.position);
        let bounds = cluster.log.bounds(seen);
        let bounds = bounds.map_err(|error| {
            cluster.lose_sight_of_takeover();
            cluster.failed(error)
        })?;
        let bounds = cluster.restore(bounds, self.injected.clock.now())?;
        cluster.last.store(bounds.last, Ordering::Release);
        cluster.look_ahead.end_at(bounds.last);
        let waiting = cluster.note_takeover(bounds, self.injected.clock.now());
        // This comes before the report: a node must not list itself in the log of another fleet.
        match applied {
            // What this node cannot restore another one may.
            Some(_) if waiting.is_some() && seen > bounds.last => {
                return Err(cluster.taken_over());
            }
            Some(applied) => check_same(cluster, &applied, bounds)?,
            None if bounds.first > 1 => {
                if !stored::is_fresh(&self.store.snapshot()?)? {
                    return Err(cluster.foreign());
                }
                return Err(cluster.behind());
            }
            None if bounds.last > 0 => self.begin_fleet(cluster, false)?,
            None => {}
        }
        // This comes before anything is appended, because the report shows a node that its clock is wrong.
        cluster.note_all_restored();
        self.report(cluster)?;
        if let Some(number) = bounds.takeover {
            if waiting.is_some() && !cluster.have_all_restored(number)? {
                return Err(cluster.taken_over());
            }
            let resumed = cluster.log.resume(number);
            resumed.map_err(|error| cluster.failed(error))?;
            *lock(&cluster.takeover) = None;
        }
        if applied.is_none() && bounds.last == 0 {
            self.begin_fleet(cluster, true)?;
        }
        cluster.verified.store(failures, Ordering::Release);
        Ok(failures)
    }
}

/// Halts where the log does not hold what was applied here.
pub(super) fn check_same(cluster: &Cluster, applied: &Applied, bounds: LogBounds) -> Result<()> {
    if applied.position > bounds.last {
        return Err(not_in_the_log(cluster, applied, bounds));
    }
    // Another thread may have applied more meanwhile, and the log may be trimmed up to there. The next verification checks that.
    let has_gone_on = || cluster.position() > applied.position;
    if applied.position < bounds.first {
        return if has_gone_on() {
            Ok(())
        } else {
            Err(cluster.behind())
        };
    }
    let entry = match cluster.entry_at(applied.position) {
        Err(error) if error.kind == LogErrorKind::Trimmed && has_gone_on() => return Ok(()),
        read => read.map_err(|error| cluster.read_failed(error))?,
    };
    match entry {
        Some(entry) if is_same(applied, &entry) => Ok(()),
        _ => Err(not_in_the_log(cluster, applied, bounds)),
    }
}

/// Why the log does not hold what was applied here.
fn not_in_the_log(cluster: &Cluster, applied: &Applied, bounds: LogBounds) -> EngineError {
    // Its first entry says which fleet it is of, unless it was trimmed.
    let first = if bounds.first == 1 && bounds.last > 0 {
        match cluster.log.read(1, 1, Duration::ZERO) {
            Ok(entries) => entries.into_iter().next(),
            Err(error) => return cluster.read_failed(error),
        }
    } else {
        None
    };
    if bounds.last == 0 {
        // The log may have lost it: the node serves what it has.
        cluster.other_log(ErrorKind::Corrupted, "the log is empty")
    } else if first.is_some_and(|first| first.id.0 != applied.fleet) {
        cluster.other_log(ErrorKind::Configuration, "the log is that of another fleet")
    } else if applied.position > bounds.last {
        let message = format!(
            "the log ends at {}, but this node has applied it up to {}: the log lost entries that it had acknowledged. Remove no \
             file yet: the nodes that have applied more hold the only copies. Start them all, then restart this node. If no node goes on, the one with the \
             highest position begins a new log; otherwise export what this one has, and start it without its file",
            bounds.last, applied.position
        );
        cluster.halt(HaltReason::LogLostEntries, ErrorKind::Corrupted, message)
    } else {
        cluster.lost_entries(applied.position)
    }
}

/// Whether the first entry of a log says that its fleet began with an empty store.
fn begins_empty(body: &[u8], known: u16) -> Result<bool> {
    let first = EntryReader::new(body, known)?.next();
    let configure = first.and_then(|first| first.ok()?.decode::<Configure>().ok());
    Ok(configure.is_some_and(|configure| configure.founds == Some(true)))
}
