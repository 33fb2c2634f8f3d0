//! The questions about the fleet, a file each: its rows, its parameters and its read.

pub(crate) mod advice;
pub(crate) mod conditions;
pub(crate) mod coverage;
mod desktops;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod heatmap;
pub(crate) mod holds;
mod parameters;
pub(crate) mod preview;
pub(crate) mod processes;
pub(crate) mod series;
mod sessions;
pub(crate) mod startup;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod workspaces;

use std::fmt;
use std::sync::MutexGuard;

use crate::config::{Actions, Config};
use crate::domain::query::Query;
use crate::error::Result;
use crate::model::{Column, Question};
use crate::store::telemetry::queue::Wanted;
use crate::timestamp::Timestamp;

use super::Reader;

/// A question about the fleet, for [`Engine::query`](crate::Engine::query). Only this crate implements it.
pub trait FleetQuery {
    /// What it returns.
    type Answer;

    #[doc(hidden)]
    fn answer(&self, fleet: &Fleet<'_>) -> Result<Self::Answer>;
}

/// A question whose parameters are all in the query string.
pub(crate) trait Ask: FleetQuery + Sized {
    const QUESTION: Question;
    /// The columns of its rows.
    const COLUMNS: &'static [Column];

    /// Reads the parameters; times before now are before `now`.
    fn parse(query: Query<'_>, now: Timestamp) -> Result<Self>;

    /// Those of the columns that its rows have, in their order.
    fn columns(&self) -> Vec<usize> {
        (0..Self::COLUMNS.len()).collect()
    }
}

/// Opens readers as of now.
pub(crate) trait Readers {
    /// Reads tables.
    fn tables(&self) -> Result<Reader>;

    /// Reads tables and the queue of what is wanted.
    fn telemetry(&self, wanted: Wanted<'_>) -> Result<Reader>;

    /// Reads rollups, after filing a short queue.
    fn rollups(&self) -> Result<Reader>;

    /// Locked while the whole fleet is sorted: one page at a time.
    fn lock_sorting(&self) -> MutexGuard<'_, ()>;

    fn config(&self) -> &Config;

    /// How actions end, which the nodes of a fleet share.
    fn actions(&self) -> Actions;
}

/// The fleet that a question is about.
#[expect(unnameable_types, reason = "only the engine makes one")]
pub struct Fleet<'c> {
    readers: &'c dyn Readers,
    texts_max: usize,
}

impl fmt::Debug for Fleet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl<'c> Fleet<'c> {
    /// A page of workspaces in the order of their ids ends after `texts_max` bytes of texts.
    pub(crate) fn new(readers: &'c dyn Readers, texts_max: usize) -> Self {
        Self { readers, texts_max }
    }
}
