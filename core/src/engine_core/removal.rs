//! Removing selected telemetry: first from the queue, then from history and what is derived from it.

use crate::domain::validation;
use crate::error::{ErrorKind, Result};
use crate::model::{RemovedTelemetry, TelemetrySelection, WriteClass};
use crate::mutation::{Caller, Derived, RemoveTelemetry, Removing, Span};
use crate::store::fleet::held;
use crate::store::fleet::held_names::HeldNames;
use crate::store::telemetry::removal::{Omit, Removal, spellings};
use crate::store::telemetry::rows::Rows;

use super::EngineCore;
use super::upkeep::GoOn;

impl EngineCore {
    /// Removes all selected telemetry that was accepted until now, except for what may belong to a held workspace. A removal that
    /// fails leaves its audit row `Accepted`, and is safe to repeat.
    pub(crate) fn remove_telemetry(
        &self,
        selection: &TelemetrySelection,
        by: Caller,
    ) -> Result<RemovedTelemetry> {
        validation::selection(selection)?;
        let begin = RemoveTelemetry::Begin(selection.clone(), by);
        let row = self.run(begin)?.row;
        let mut removed = self.remove_queued(selection)?;
        for of in Derived::ALL.into_iter().filter(|of| of.is_of(selection)) {
            for selection in self.spelled(selection, of)? {
                let take = &mut |span| {
                    let step = RemoveTelemetry::Take(selection.clone(), of, span);
                    removed.add_all(self.run(step)?.removed);
                    Ok(())
                };
                self.each_span(of, Removing::Selected(&selection), &|| true, take)?;
            }
        }
        self.remove_filed()?;
        self.run(RemoveTelemetry::End(row, removed))?;
        self.give_space_back()?;
        Ok(removed)
    }

    /// Compacts the file on a disk that is short of space, unless it is being read: then the next removal does, or `compact`.
    fn give_space_back(&self) -> Result<()> {
        // Compacting would make the WebAssembly module a fortieth larger, and a browser does not report free space.
        if cfg!(target_arch = "wasm32") || self.is_node() || !self.is_short_of_space() {
            return Ok(());
        }
        match self.store.compact() {
            Err(error) if error.kind() == ErrorKind::StorageUnavailable || error.is_for_space() => {
                Ok(())
            }
            compacted => compacted.map(drop),
        }
    }

    /// The selection for each spelling of the instance: history has a bucket for each, other tables one row for all.
    fn spelled(
        &self,
        selection: &TelemetrySelection,
        of: Derived,
    ) -> Result<Vec<TelemetrySelection>> {
        let (Derived::History(stream), Some(instance)) = (of, &selection.instance_id) else {
            return Ok(vec![selection.clone()]);
        };
        let names = spellings(&self.store.snapshot()?, stream, instance)?;
        let named = |name| TelemetrySelection {
            instance_id: Some(name),
            ..selection.clone()
        };
        Ok(names.into_iter().map(named).collect())
    }

    /// Files the queue without the selected records. A node filed all of it when it applied the first step, and removes from
    /// history what the others remove.
    fn remove_queued(&self, selection: &TelemetrySelection) -> Result<RemovedTelemetry> {
        let mut removed = RemovedTelemetry::default();
        if self.is_node() {
            return Ok(removed);
        }
        let omit = |held: &HeldNames, rows: &Rows, row: usize| {
            let instance = rows.instance_id(row);
            let is_kept = || held.has_instance(instance) || held.has_user(rows.username(row));
            // A kept record is then in history, and counted there.
            selection.has(rows.stream(row), instance, rows.filed_at(row)) && !is_kept()
        };
        let (_, omitted) = self.file_all(&|| true, Some(&omit))?;
        removed.add(omitted, false);
        Ok(removed)
    }

    /// The records that a pass beginning now leaves out.
    pub(super) fn removal<'o>(&self, omit: Omit<'o>) -> Result<Removal<'o>> {
        let held = self
            .store
            .write(WriteClass::Essential, |tables| held::names(tables));
        let held = held.map_err(|failure| failure.error)?;
        Ok(Removal { omit, held })
    }

    /// Removes one kind of telemetry, a step for each span of keys that is looked up beside the writer; returns whether that was
    /// all.
    pub(crate) fn each_span(
        &self,
        of: Derived,
        removing: Removing<'_>,
        go_on: GoOn<'_>,
        take: &mut dyn FnMut(Span) -> Result<()>,
    ) -> Result<bool> {
        let days = &self.retention_days();
        let mut from = None;
        loop {
            if !go_on() {
                return Ok(false);
            }
            // A slice that filing prepared before would bring removed records back. A node files its whole queue before it
            // applies the step.
            let turn = (!self.is_node()).then(|| self.filing_turn());
            let snapshot = self.store.snapshot()?;
            let span = Span::next(&snapshot, of, from, (days, removing), of.step_max())?;
            let next = span.before.clone();
            take(span)?;
            drop(turn);
            if next.is_none() {
                return Ok(true);
            }
            from = next;
        }
    }
}
