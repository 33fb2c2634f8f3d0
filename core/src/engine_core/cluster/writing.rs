//! Writing through the log, and local writes beside it.

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;
use crate::log::{Appended, EntryId, LogEntry};
use crate::model::WriteClass;
use crate::mutation::Outcome;
use crate::mutation::logged::entry::EntryWriter;
use crate::store::WriteFailure;

use super::super::EngineCore;
use super::super::write::{Write, not_logged};
use super::{Cluster, Own};

impl EngineCore {
    /// Writes through the log. Writes that are too long, or lack free space here, are refused before they are appended.
    pub(in crate::engine_core) fn write_as_node(
        &self,
        cluster: &Cluster,
        writes: Vec<Result<Write>>,
    ) -> Result<Vec<Outcome>, WriteFailure> {
        let body_max = cluster.log.body_max();
        let mut accepted = Vec::with_capacity(writes.len());
        let mut accept = |write: Write| {
            if let Some(refusal) = too_long(&write, body_max) {
                return Err(refusal);
            }
            accepted.push(write);
            Ok(())
        };
        let writes = writes.into_iter();
        let refusals: Vec<_> = writes
            .map(|write| write.and_then(&mut accept).err())
            .collect();
        let mut written = self.write_to_log(cluster, accepted)?.into_iter();
        let outcome = |refusal: Option<EngineError>| {
            let written = || written.next().unwrap_or_else(|| Err(outcome_unknown()));
            refusal.map_or_else(written, Err)
        };
        Ok(refusals.into_iter().map(outcome).collect())
    }

    fn write_to_log(
        &self,
        cluster: &Cluster,
        writes: Vec<Write>,
    ) -> Result<Vec<Outcome>, WriteFailure> {
        cluster.check_running().map_err(refused)?;
        // Before the first write of a fleet this appends the first entry.
        let verified = self.verify_at_once(cluster).map_err(refused)?;
        cluster.check_clock()?;
        self.apply_first(cluster).map_err(refused)?;
        let mut outcomes = Vec::with_capacity(writes.len());
        let entries = in_entries(writes, cluster.fleet_rules())?;
        let new_ids = (0..entries.len()).map(|_| self.new_entry_id());
        let new_ids: Vec<_> = new_ids.collect::<Result<_>>()?;
        let mut ids = Vec::new();
        let (mut last, mut known) = (0, Vec::new());
        for ((body, writes), id) in entries.into_iter().zip(new_ids) {
            let own = Own {
                writes,
                outcomes: None,
            };
            lock(&cluster.own).insert(id, own);
            ids.push(id);
            match cluster.append(id, &body) {
                Ok(Appended {
                    position,
                    at,
                    chain,
                }) => {
                    last = position;
                    known.extend(at.map(|at| LogEntry {
                        position,
                        at,
                        id,
                        body,
                        chain,
                    }));
                }
                Err(error) => {
                    forget(cluster, &ids);
                    // Earlier entries are applied once the log can be read.
                    let is_first = ids.len() == 1;
                    return Err(if is_first { error } else { in_doubt(error) }.into());
                }
            }
        }
        let applied = self.apply_known(cluster, verified, known);
        let applied = applied.and_then(|()| self.apply_through(cluster, last));
        let mut own = lock(&cluster.own);
        let done: Vec<_> = ids.iter().map(|id| own.remove(id)).collect();
        drop(own);
        if let Err(error) = applied {
            return Err(in_the_log(error).into());
        }
        let is_passed = |own: &Option<Own>| own.as_ref().is_some_and(|own| !own.writes.is_empty());
        if done.iter().any(is_passed) {
            // Another entry was applied at its position: it is not the log that was applied here.
            cluster.doubt();
        }
        for own in done {
            // If the first attempt to apply it failed, another thread applied it without its callers.
            let applied = own.and_then(|own| own.outcomes);
            outcomes.extend(applied.ok_or_else(outcome_unknown)?);
        }
        Ok(outcomes)
    }
}

fn forget(cluster: &Cluster, ids: &[EntryId]) {
    let mut own = lock(&cluster.own);
    for id in ids {
        own.remove(id);
    }
}

/// Packs the writes into the bodies of as few entries as possible, to be applied by these rules.
fn in_entries(writes: Vec<Write>, rules: u16) -> Result<Vec<(Vec<u8>, Vec<Write>)>> {
    let mut entries = Vec::new();
    let (mut body, mut held) = (EntryWriter::new(rules), Vec::new());
    for write in writes {
        let (tag, bytes) = write.logged.as_ref().ok_or_else(not_logged)?;
        let is_essential = |write: &Write| write.class == WriteClass::Essential;
        // A node without space for other writes must still apply essential ones.
        let differs = held
            .last()
            .is_some_and(|held| is_essential(held) != is_essential(&write));
        if differs || !body.push(*tag, bytes) {
            let full = std::mem::replace(&mut body, EntryWriter::new(rules));
            entries.push((full.finish(), std::mem::take(&mut held)));
            body.push(*tag, bytes);
        }
        held.push(write);
    }
    if !held.is_empty() {
        entries.push((body.finish(), held));
    }
    Ok(entries)
}

/// The refusal of a write that is longer than an entry of the log.
fn too_long(write: &Write, body_max: usize) -> Option<EngineError> {
    let (_, bytes) = write.logged.as_ref()?;
    let bytes = bytes.len() + EntryWriter::OVERHEAD_BYTES;
    (bytes > body_max).then(|| {
        let message = format!(
            "the write takes {bytes} bytes, and the log that the nodes share {body_max} at most"
        );
        EngineError::new(ErrorKind::InvalidParameter, message)
    })
}

/// The error of a write to a node that applies nothing more.
fn refused(error: EngineError) -> EngineError {
    let halts = [
        ErrorKind::Corrupted,
        ErrorKind::NewerFormat,
        ErrorKind::Configuration,
    ];
    if !halts.contains(&error.kind()) {
        return error;
    }
    let message = "this node applies nothing more, so it takes no writes";
    EngineError::caused(ErrorKind::StorageUnavailable, message, error)
}

/// The error of writes of which some are in the log.
fn in_doubt(error: EngineError) -> EngineError {
    let message = "the log failed between two entries of one commit";
    EngineError::caused(ErrorKind::Indeterminate, message, error)
}

/// The error of a write whose entry was applied again after a failure of the file.
fn outcome_unknown() -> EngineError {
    let message = "the write is in the log and applied, or refused by a rule; the file failed meanwhile, so which of the two is not known";
    EngineError::new(ErrorKind::Indeterminate, message)
}

/// The error of a write that is in the log but could not be applied here.
fn in_the_log(error: EngineError) -> EngineError {
    let message = "the write is in the log, but this node could not apply it yet";
    EngineError::caused(ErrorKind::Indeterminate, message, error)
}
