//! What is wrong now: one list of conditions, of the fleet, the store and the host.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use crate::error::{EngineError, ErrorKind, Result};
use crate::limits::{CONDITION_TEXT_MAX, PAGE_TEXT_BYTES_MAX, RETENTION_BEHIND_SECONDS};
use crate::model::{Condition, Severity};
use crate::mutation::Maintenance;
use crate::store::fleet::noted;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};
use crate::view::query::Fleet;
use crate::view::query::conditions::{conditions, expiring};

use super::EngineCore;

/// How far clocks that are well may differ.
const CLOCK_TOLERANCE_SECONDS: i64 = 60;
/// The code of a full disk, also where it is only a warning.
const LOW_DISK: &str = "LowDisk";
/// The code of a store that cannot be read.
const UNREADABLE: &str = "StorageUnavailable";
// Callers with the scope read, and all who ask whether a server is ready, see these texts, so they name no path.
const UNREADABLE_TEXT: &str = "The store cannot be read: the log says why.";
const DISPLACED: &str = "The files of the store were removed, replaced or changed by another program, and writes are refused: the log says which. \
    Put a file that was moved away back while the server runs, but stop the server to restore a backup.";
const FOLDER_DISPLACED: &str = "The folder of the queue, or a segment in it, was removed or renamed: telemetry is refused, everything else goes on. Put it \
    back, or stop the server, which saves what is queued, and start it again.";
const CORRUPTED: &str = "A part of the store is damaged, the rest is served: the line DAMAGED of the log says which. Where it names a file with telemetry that was \
    set aside, move that file away: no restart is needed. For other damage stop the server, run `deskfleet check`, and do what it says.";
const NOT_FILED: &str =
    "Telemetry cannot be filed and stays in the queue until that is full: the log says why.";
const SHORT_OF_SPACE: &str =
    "The disk has little more space than telemetry needs: free some, or remove telemetry.";
const QUEUE_LONG: &str =
    "Many records are queued: more arrive than are filed, or filing stands still.";
const NOT_REMOVED: &str = "Nothing too old was removed for more than a day: maintenance does not run, fails, or the clock was set ahead.";
const CLOCK_BEHIND: &str =
    "The clock is behind the store: set the clock, and look at how the machine keeps it.";

/// Returns what is wrong beside the engine, as the host sees it.
pub(crate) type HostConditions = dyn Fn() -> Vec<Condition> + Send + Sync;

impl EngineCore {
    /// Everything that is wrong now, the worst first. What cannot be read is a condition too.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.conditions_at(self.now())
    }

    fn conditions_at(&self, now: Timestamp) -> Vec<Condition> {
        let mut all = self.conditions_of_store(now);
        match conditions(&Fleet::new(self, PAGE_TEXT_BYTES_MAX)) {
            Ok(mut found) => {
                // Records that are not filed are not seen.
                if self.filing_failed().is_some() {
                    found.retain(|condition| !condition.code.ends_with("Silent"));
                }
                all.extend(found);
                all.extend(expiring(self.store.keys().iter(), now));
            }
            Err(_) => all.push(Condition::new(
                UNREADABLE,
                Severity::Critical,
                UNREADABLE_TEXT,
                now,
            )),
        }
        if let Some(host) = &self.injected.conditions {
            all.extend(host());
        }
        for Condition { code, since, .. } in self.noted_conditions().unwrap_or_default() {
            // Since when it was observed, where that is earlier than what is observed now shows.
            for condition in all.iter_mut().filter(|known| known.code == code) {
                condition.since = condition.since.min(since);
            }
        }
        // There are few, and a generic sort would add kilobytes to the WebAssembly module.
        let mut ordered: Vec<Condition> = Vec::with_capacity(all.len());
        for condition in all {
            let order = |of: &Condition| (Reverse(of.severity), of.since);
            if ordered.iter().any(|known| known.code == condition.code) {
                continue;
            }
            let is_before = |known: &Condition| order(known) <= order(&condition);
            let place = ordered.iter().take_while(|known| is_before(known)).count();
            ordered.insert(place, condition);
        }
        ordered
    }

    /// What upkeep saw last; none where it does not look.
    pub(crate) fn noted_conditions(&self) -> Result<Vec<Condition>> {
        if self.config.alerts.every.is_zero() || self.store.is_read_only() {
            return Ok(Vec::new());
        }
        noted::all(&self.store.snapshot()?)
    }

    /// Reports everything that makes the store unready: what cannot be read as a whole, or takes no writes of some class. Each has the code and
    /// the text of its condition, which names no path, and its error, which may. Reads no workspace.
    fn each_unready(&self, found: &mut dyn FnMut(&str, &str, EngineError)) {
        if let Err(error) = self.store.check_file(true) {
            found("FileDisplaced", DISPLACED, error);
        } else if let Err(error) = self.store.check_folder() {
            found("FileDisplaced", FOLDER_DISPLACED, error);
        }
        if let Some(refused) = self.refused_for_space() {
            let error = EngineError::new(ErrorKind::LowDisk, refused.clone());
            found(LOW_DISK, &refused, error);
        }
        if let Err(error) = self.store.damage() {
            found("Corrupted", CORRUPTED, error);
        }
        // Records that cannot be filed stay in the queue until it is full.
        if let Some(error) = self.filing_failed() {
            found("FilingFailed", NOT_FILED, error);
        }
        if let Err(error) = self.reader() {
            found(UNREADABLE, UNREADABLE_TEXT, error);
        }
        if let Some(cluster) = self.cluster() {
            if let Some(error) = cluster.halted() {
                let text = format!("this node applies nothing more: {error}; writes are refused");
                found("Halted", &text, error);
            }
            if let Some(text) = cluster.awaited() {
                let error = EngineError::new(ErrorKind::StorageUnavailable, text.clone());
                found("LogTakenOver", &text, error);
            }
            if let Err(error) = cluster.check_clock() {
                found("WrongClock", &format!("{error}; writes are refused"), error);
            }
        }
    }

    /// The conditions that make the store unready.
    pub(crate) fn unready(&self) -> Vec<Condition> {
        let now = self.now();
        let mut all = Vec::new();
        self.each_unready(&mut |code, text, _| {
            all.push(Condition::new(code, Severity::Critical, text, now));
        });
        all
    }

    /// Checks that the store can be read as a whole and takes writes of every class.
    pub(crate) fn ready(&self) -> Result<()> {
        let mut first = Ok(());
        self.each_unready(&mut |_, _, error| {
            if first.is_ok() {
                first = Err(error);
            }
        });
        if self.store.is_read_only() {
            let message = "the store is open for reading only";
            let read_only = EngineError::new(ErrorKind::StorageUnavailable, message);
            return first.and(Err(read_only));
        }
        first
    }

    /// The codes of what is wrong with this node, without the data of the fleet: those for which it is not ready, and the others. Reads no
    /// workspace.
    pub(super) fn codes_of_node(&self) -> (Vec<String>, Vec<String>) {
        let code = |condition: Condition| condition.code;
        let unready: Vec<_> = self.unready().into_iter().map(code).collect();
        let mut others = self.conditions_of_store(self.now());
        if let Some(host) = &self.injected.conditions {
            others.extend(host());
        }
        let mut warnings: Vec<String> = Vec::new();
        for code in others.into_iter().map(code) {
            if !unready.contains(&code) && !warnings.contains(&code) {
                warnings.push(code);
            }
        }
        (unready, warnings)
    }

    /// What is wrong with the store, its medium, and the node.
    fn conditions_of_store(&self, now: Timestamp) -> Vec<Condition> {
        let mut all = self.unready();
        let is_full = all.iter().any(|condition| condition.code == LOW_DISK);
        let mut add = |code: &str, text: &str| {
            all.push(Condition::new(code, Severity::Warning, text, now));
        };
        if !is_full && self.is_short_of_space() {
            add(LOW_DISK, SHORT_OF_SPACE);
        }
        let (queued, most) = (self.store.queued(), self.config.limits.queue_records);
        if queued >= self.config.limits.queue_high_water.min(most) {
            add("QueueLong", QUEUE_LONG);
        }
        if let Some(swept) = self.swept() {
            let behind =
                |now: Timestamp| now.ticks().saturating_sub(swept.ticks()) / TICKS_PER_SECOND;
            // The sweep may be later than `now`, where the clock was set ahead meanwhile.
            if behind(now) > RETENTION_BEHIND_SECONDS {
                add("RetentionBehind", NOT_REMOVED);
            } else if behind(self.now().max(now)) < -CLOCK_TOLERANCE_SECONDS {
                add("ClockBehind", CLOCK_BEHIND);
            }
        }
        if let Some(cluster) = self.cluster() {
            all.extend(cluster.warnings(self.injected.clock.now()));
            all.extend(self.settings_differ(now));
        }
        all
    }

    /// Looks for conditions where that is due, and writes an event for each that was raised or cleared. `began` is when the round of upkeep did:
    /// by a later time it would seem not to have removed what was not too old then, where the clock was set ahead meanwhile.
    pub(super) fn watch_conditions(&self, began: Timestamp) -> Result<()> {
        let every = i64::try_from(self.config.alerts.every.as_secs()).unwrap_or(i64::MAX);
        if every == 0 || self.store.is_read_only() || !self.is_due(&self.watched_at, every) {
            return Ok(());
        }
        self.watched_at.store(self.now().ticks(), Ordering::Release);
        let mut now = self.conditions_at(began);
        for condition in &mut now {
            condition.text = condition.text.chars().take(CONDITION_TEXT_MAX).collect();
        }
        if now.iter().any(|condition| condition.code == UNREADABLE) {
            // What was wrong with the fleet is not known to be over.
            return Ok(());
        }
        let known = self.noted_conditions().unwrap_or_default();
        let is_in = |of: &Condition, others: &[Condition]| {
            let same = |other: &Condition| {
                (&other.code, other.severity, other.count) == (&of.code, of.severity, of.count)
            };
            others.iter().any(same)
        };
        let is_same = now.len() == known.len() && now.iter().all(|of| is_in(of, &known));
        if is_same {
            return Ok(());
        }
        match self.run(Maintenance::NoteConditions(now)) {
            // They are noted once there is space.
            Err(error) if error.is_for_space() || error.kind() == ErrorKind::StorageUnavailable => {
                Ok(())
            }
            noted => noted.map(drop),
        }
    }
}
