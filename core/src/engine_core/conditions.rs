//! What is wrong now: one list of conditions, of the fleet, the store and the host.

use std::cmp::Reverse;
use std::sync::atomic::Ordering;

use crate::error::{ErrorKind, Result};
use crate::limits::{CONDITION_TEXT_MAX, PAGE_TEXT_BYTES_MAX, RETENTION_BEHIND_SECONDS};
use crate::model::{Condition, KeyInfo, NotedCondition, Severity, WriteClass};
use crate::mutation::Maintenance;
use crate::store::fleet::keys::LiveKey;
use crate::store::fleet::noted;
use crate::timestamp::Timestamp;
use crate::view::query::Fleet;
use crate::view::query::conditions::{conditions, seconds_between};

use super::EngineCore;

/// Returns what is wrong beside the engine, as the host sees it.
pub(crate) type HostConditions = dyn Fn() -> Vec<Condition> + Send + Sync;

impl EngineCore {
    /// Everything that is wrong now, the worst first. What cannot be read is a condition too.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        let now = self.now();
        let mut all = self.conditions_of_store(now);
        let keys: Vec<KeyInfo> = self.store.keys().iter().map(LiveKey::current).collect();
        match conditions(&Fleet::new(self, PAGE_TEXT_BYTES_MAX), &keys) {
            Ok(found) => all.extend(found),
            Err(error) => all.push(Condition::new(
                "StoreUnreadable",
                Severity::Critical,
                format!("The store cannot be read: {error}"),
                now,
            )),
        }
        if let Some(host) = &self.injected.conditions {
            all.extend(host());
        }
        for NotedCondition { code, since, .. } in self.noted_conditions() {
            // Since when it was observed, where that is earlier than what is observed now shows.
            for condition in all.iter_mut().filter(|known| known.code == code) {
                condition.since = condition.since.min(since);
            }
        }
        all.sort_by(|one, other| {
            let order = |of: &Condition| (Reverse(of.severity), of.since);
            order(one)
                .cmp(&order(other))
                .then_with(|| one.code.cmp(&other.code))
        });
        all.dedup_by(|next, one| next.code == one.code);
        all
    }

    /// What upkeep saw last; none where that cannot be read.
    pub(crate) fn noted_conditions(&self) -> Vec<NotedCondition> {
        let known = self.store.snapshot().and_then(|read| noted::all(&read));
        known.unwrap_or_default()
    }

    /// What is wrong with the store and its medium.
    fn conditions_of_store(&self, now: Timestamp) -> Vec<Condition> {
        let mut all = Vec::new();
        let mut add = |code: &str, severity, text: String| {
            all.push(Condition::new(code, severity, text, now));
        };
        let placed = self
            .store
            .check_place(true)
            .and_then(|()| self.store.check_folder());
        if let Err(error) = placed {
            let text = format!("The files of the store are not where they were opened: {error}");
            add("FileDisplaced", Severity::Critical, text);
        }
        if let Err(error) = self.store.damage() {
            let text = format!("A part of the store is damaged, the rest is served: {error}");
            add("Damaged", Severity::Critical, text);
        }
        if let Some(text) = self.refused_for_space() {
            add("DiskLow", Severity::Critical, text);
        } else if self.is_short_of_space() {
            let text = "The disk has little more space than telemetry needs: free some, or remove telemetry."
                .to_owned();
            add("DiskLow", Severity::Warning, text);
        }
        if let Some(error) = self.filing_failed() {
            let text = format!(
                "Telemetry cannot be filed and stays in the queue until that is full: {error}"
            );
            add("FilingFailed", Severity::Critical, text);
        }
        let (queued, most) = (self.store.queued(), self.config.limits.queue_records);
        if queued >= self.config.limits.queue_high_water.min(most) {
            let text = format!(
                "{queued} records are queued, {most} at most: more arrive than are filed, or filing stands still."
            );
            add("QueueLong", Severity::Warning, text);
        }
        if let Some(swept) = self.swept() {
            let behind = seconds_between(swept, now);
            if behind > RETENTION_BEHIND_SECONDS {
                let text = format!(
                    "Nothing too old was removed since {swept}: maintenance does not run, fails, or the clock was set ahead."
                );
                add("RetentionBehind", Severity::Warning, text);
            } else if behind < 0 {
                let text = format!(
                    "The clock is behind the store, which has seen {swept}: set the clock, and look at how the machine keeps it."
                );
                add("ClockBehind", Severity::Warning, text);
            }
        }
        all
    }

    fn refused_for_space(&self) -> Option<String> {
        let free = self.injected.free_space.as_ref().and_then(|free| free())?;
        let refused = WriteClass::refused_with(free, self.config.limits.free_bytes_min)?;
        Some(format!("The disk is nearly full: {refused}."))
    }

    /// Looks for conditions where that is due, and writes an event for each that was raised or cleared.
    pub(super) fn watch_conditions(&self) -> Result<()> {
        let every = i64::try_from(self.config.alerts.every.as_secs()).unwrap_or(i64::MAX);
        if every == 0 || self.store.is_read_only() || !self.is_due(&self.watched_at, every) {
            return Ok(());
        }
        self.watched_at.store(self.now().ticks(), Ordering::Release);
        let now: Vec<NotedCondition> = self.conditions().into_iter().map(noted_of).collect();
        let known = noted::all(&self.store.snapshot()?)?;
        let codes = |of: &[NotedCondition]| -> Vec<(String, Severity)> {
            let mut codes: Vec<_> = of.iter().map(|of| (of.code.clone(), of.severity)).collect();
            codes.sort();
            codes
        };
        if codes(&now) == codes(&known) {
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

fn noted_of(condition: Condition) -> NotedCondition {
    let Condition {
        code,
        severity,
        since,
        text,
        count,
        ..
    } = condition;
    NotedCondition {
        code,
        severity,
        since,
        text: text.chars().take(CONDITION_TEXT_MAX).collect(),
        count,
    }
}
