//! The file, and recovery after a fault.

use crate::demand;
use crate::simulation::fact::{Fact, Observer, Verdict};

/// Writes that a repaired disk may refuse before service resumes: only the one that finds the old fault.
const REFUSED_MAX: u32 = 1;

/// Service resumes without a restart once the disk works.
#[derive(Debug)]
pub struct Recovery;

impl Observer for Recovery {
    fn promise(&self) -> &'static str {
        "writes succeed again once the disk works"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        if let Fact::Refusing(times) = fact {
            demand!(
                *times <= REFUSED_MAX,
                "{times} writes refused by a disk that works"
            );
        }
        Ok(())
    }
}

/// The engine's own check of its file finds nothing.
#[derive(Debug)]
pub struct Whole;

impl Observer for Whole {
    fn promise(&self) -> &'static str {
        "the file is whole"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        if let Fact::Read(reading) = fact {
            let problems = &reading.check.problems;
            demand!(problems.is_empty(), "{problems:?}");
            let queued = reading.check.queued_records;
            demand!(
                queued == reading.queued,
                "{queued} records found in the queue, {} counted",
                reading.queued
            );
        }
        Ok(())
    }
}
