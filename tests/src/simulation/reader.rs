//! A reader of telemetry in the order of its receipt, which keeps its place elsewhere.

use std::time::Duration;

use deskfleet::{AcceptedPosition, EngineBuilder};
use fastrand::Rng;

use super::fact::Fact;
use super::fleet::KEPT_DAYS;
use super::observers::record_number;
use super::world::World;

/// The reader. Its choices are its own: a seed without it is the same as ever.
#[derive(Debug)]
pub(super) struct AcceptedReader {
    chance: Rng,
    position: Option<AcceptedPosition>,
}

impl AcceptedReader {
    /// The reader of a seed; three of four have none.
    pub(super) fn of_seed(seed: u64) -> Option<Self> {
        (seed % 4 == 1).then(|| Self {
            chance: Rng::with_seed(!seed),
            position: None,
        })
    }

    /// An engine that keeps what it reads.
    pub(super) fn keeping(builder: EngineBuilder) -> EngineBuilder {
        builder.keep_accepted(Duration::from_secs(KEPT_DAYS * 86_400))
    }
}

impl World {
    /// Now and then the reader reads some.
    pub(super) fn may_read_accepted(&mut self) -> Result<(), String> {
        let chance = self.reader.as_mut().map(|reader| &mut reader.chance);
        if chance.is_some_and(|chance| chance.u32(..8) == 0) {
            self.read_accepted(false)?;
        }
        Ok(())
    }

    /// The reader reads to the end, or until the disk fails, which it must not if it `works`.
    pub(super) fn read_accepted(&mut self, works: bool) -> Result<(), String> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(());
        };
        let mut is_end = false;
        while !is_end {
            let enough = reader.chance.usize(1..40);
            let read = match self.engine()?.accepted(reader.position, enough) {
                Err(error) if works => return Err(format!("nothing is read: {error:?}")),
                Err(_) => break,
                Ok(read) => read,
            };
            is_end = read.records.is_empty() && Some(read.position) == reader.position;
            reader.position = Some(read.position);
            let numbers = read.records.iter().map(|read| record_number(&read.record));
            let numbers: Option<Vec<_>> = numbers.collect();
            self.notify(&Fact::Accepted {
                numbers: numbers.ok_or("a record without a number")?,
                missed: read.missed,
                is_end,
                now: self.time.now(),
            })?;
        }
        self.reader = Some(reader);
        Ok(())
    }
}
