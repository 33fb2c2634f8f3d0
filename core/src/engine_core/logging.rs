//! Writing through the log of the store: telemetry is acknowledged once it is in the log, any other write once it is applied as well.

use std::task::Waker;

use crate::error::{EngineError, ErrorKind, Result};
use crate::locks::lock;
use crate::model::WriteClass;
use crate::mutation::configure::shared_settings;
use crate::mutation::logged::replaying::TimedEntry;
use crate::mutation::{Context, Outcome};
use crate::store::telemetry::segments::Available;
use crate::store::{NewLog, WriteFailure};
use crate::timestamp::Timestamp;

use super::EngineCore;
use super::committing::{Landing, Pending};
use super::write::{Submission, Write, apply_all};

/// Writes of one batch.
struct Writes {
    class: WriteClass,
    /// Those for which there is space, and why the others are refused.
    judged: Vec<Result<Write>>,
    at: Timestamp,
}

impl Writes {
    /// Their entry in the log.
    fn entry(&self) -> Vec<u8> {
        let accepted = self.judged.iter().filter_map(|write| write.as_ref().ok());
        let logged = accepted.filter_map(|write| write.logged.as_ref());
        TimedEntry::write(self.at, logged)
    }
}

impl EngineCore {
    /// Appends the batch with one sync, and applies its writes while the next is appended.
    pub(super) fn commit_to_log(
        &self,
        _here: Available,
        submissions: Vec<Submission>,
        mut batch: Pending<'_>,
        mut landing: Landing<'_>,
    ) -> (usize, Option<WriteFailure>) {
        let (mut telemetry_indices, mut arrivals) = (Vec::new(), Vec::new());
        let (mut write_indices, mut writes) = (Vec::new(), Vec::new());
        for (index, submission) in submissions.into_iter().enumerate() {
            match submission {
                Submission::Telemetry(arriving) => {
                    telemetry_indices.push(index);
                    arrivals.push(landing.take(arriving));
                }
                Submission::Write(write) => {
                    write_indices.push(index);
                    writes.push(write);
                }
            }
        }
        let count = writes.len() + landing.count();
        let file_check = self.store.check_file(false);
        let log_check = file_check.clone().and_then(|()| self.store.check_folder());
        let (accepted, refusal) = match &log_check {
            Ok(()) => self.space_left().for_arrivals(arrivals),
            Err(error) => (Vec::new(), Some(error.clone())),
        };
        let judged = file_check.and_then(|()| self.judge(writes));
        let entry = judged.as_ref().ok().and_then(Option::as_ref);
        let entry = entry.filter(|_| log_check.is_ok()).map(Writes::entry);
        let has_telemetry = !accepted.is_empty();
        let entry = entry.filter(|entry| self.store.takes_entry(entry.len(), has_telemetry));
        let (mut outcomes, appended) = self.store.append(&|| self.new_log(), accepted, entry);
        outcomes.resize_with(telemetry_indices.len(), || {
            refusal.clone().map_or(Ok(()), Err)
        });
        let mut failure = outcomes.iter().find_map(|outcome| outcome.clone().err());
        if failure.is_none() {
            self.rate.add(self.now(), landing.records);
        }
        drop(landing);
        batch.resolve(telemetry_indices.into_iter().zip(outcomes));
        let refused = |indices: Vec<usize>, error: EngineError| {
            indices
                .into_iter()
                .map(move |index| (index, Err(error.clone())))
        };
        let writes = judged.unwrap_or_else(|error| {
            if !write_indices.is_empty() {
                batch.resolve(refused(std::mem::take(&mut write_indices), error.clone()));
                failure.get_or_insert(error);
            }
            None
        });
        let failure = failure.map(WriteFailure::from);
        let Some(writes) = writes else {
            return (count, failure);
        };
        // The lock comes before the lead is given up: entries are applied in their order.
        let turn = lock(&self.applying);
        let wakers = batch.release();
        let written = self.apply(writes, appended);
        drop(turn);
        // Without the lock: a waker may poll, and thereby lead.
        wakers.into_iter().for_each(Waker::wake);
        match written {
            Ok(outcomes) => {
                batch.resolve(write_indices.into_iter().zip(outcomes));
                (count, failure)
            }
            Err(not_written) => {
                batch.resolve(refused(write_indices, not_written.error.clone()));
                (count, Some(not_written))
            }
        }
    }

    /// The writes for which there is space, if there are writes; an error if all are refused.
    fn judge(&self, writes: Vec<Write>) -> Result<Option<Writes>> {
        if writes.is_empty() {
            return Ok(None);
        }
        let (class, judged) = self.space_left().for_writes(writes)?;
        let at = self.now();
        Ok(Some(Writes { class, judged, at }))
    }

    /// Applies writes whose entry was appended. Those that have none, for example because the disk has no room for it, are one durable
    /// transaction.
    fn apply(
        &self,
        writes: Writes,
        appended: Option<Result<u64>>,
    ) -> Result<Vec<Outcome>, WriteFailure> {
        let Writes { class, judged, at } = writes;
        match appended {
            Some(Ok(position)) => self.store.apply(position, class, |tables| {
                apply_all(judged, &mut Context::new(tables, &self.config, at))
            }),
            Some(Err(error)) if error.kind() == ErrorKind::Indeterminate => Err(error.into()),
            _ => {
                let written = self.store.write_beside_log(class, |tables| {
                    apply_all(judged, &mut Context::new(tables, &self.config, at))
                });
                // Also for a host that never calls for upkeep.
                self.store.recycle_segments(false);
                written
            }
        }
    }

    /// A new log. Its id is from the host's secure randomness: clients see trace ids and could otherwise forge bytes that pass as a frame.
    fn new_log(&self) -> Result<NewLog> {
        Ok(NewLog {
            id: self.random_id()?,
            settings: shared_settings(&self.config),
        })
    }
}
