//! Reading at the present moment.

use std::sync::MutexGuard;

use crate::config::{Actions, Config};
use crate::error::Result;
use crate::locks::lock;
use crate::store::telemetry::queue::Wanted;
use crate::view::Reader;
use crate::view::query::Readers;

use super::EngineCore;

impl EngineCore {
    /// Reads tables as of now.
    pub(crate) fn reader(&self) -> Result<Reader> {
        self.settle();
        Reader::new(&self.store, self.now())
    }

    /// Reads tables as of now, after making them durable: for a host that acts on what it reads.
    pub(crate) fn durable_reader(&self) -> Result<Reader> {
        self.store.confirm()?;
        self.reader()
    }

    /// Reads tables and telemetry as of now.
    pub(crate) fn telemetry_reader(&self, wanted: Wanted<'_>) -> Result<Reader> {
        self.settle();
        Reader::with_queue(&self.store, self.now(), wanted)
    }

    /// Reads rollups as of now. A short queue is filed first, so that the rows have all that was accepted until now; a longer one is left
    /// to upkeep.
    pub(crate) fn rollup_reader(&self) -> Result<Reader> {
        let unfiled = self.file_short_queue();
        let mut reader = self.reader()?;
        reader.unfiled = unfiled;
        Ok(reader)
    }
}

impl Readers for EngineCore {
    fn tables(&self) -> Result<Reader> {
        self.reader()
    }

    fn telemetry(&self, wanted: Wanted<'_>) -> Result<Reader> {
        self.telemetry_reader(wanted)
    }

    fn rollups(&self) -> Result<Reader> {
        self.rollup_reader()
    }

    fn lock_sorting(&self) -> MutexGuard<'_, ()> {
        lock(&self.sorting)
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn actions(&self) -> Actions {
        self.actions()
    }
}
