//! When retention believes the clock.

use std::collections::BTreeSet;

use deskfleet::Timestamp;

use crate::demand;
use crate::simulation::fact::{Fact, Observer, Upkeep, UpkeepEnd, Verdict};
use crate::sweeps::Sweeps;

/// The time of the last sweep moves as the contract says: hourly, by a day at most, and back only to a clock that goes
/// on for a day. Failed upkeep may leave the clock unread or the sweep unstored; nothing else.
#[derive(Debug, Default)]
pub struct Sweeping {
    /// What the engine may know of the clock: several values only after failed upkeep.
    known: BTreeSet<Sweeps>,
    /// The times that the file may hold.
    stored: BTreeSet<Timestamp>,
}

impl Sweeping {
    fn saw(&mut self, how: Upkeep, now: Timestamp, swept: Timestamp) -> Verdict {
        let mut may: BTreeSet<Sweeps> = BTreeSet::new();
        let mut noted = BTreeSet::new();
        match how {
            Upkeep::Opened => {
                if self.stored.is_empty() {
                    self.stored.insert(now);
                }
                may.extend(self.stored.iter().map(|last| Sweeps::since(*last)));
            }
            Upkeep::Maintained(end) | Upkeep::Applied(end) => {
                for known in &self.known {
                    let mut sweeps = *known;
                    let due = if matches!(how, Upkeep::Maintained(_)) {
                        sweeps.due_sweep(now)
                    } else {
                        Some(now)
                    };
                    if end != UpkeepEnd::Whole {
                        may.extend([*known, sweeps]);
                    }
                    if let Some(time) = due {
                        sweeps.swept(time);
                        noted.insert(time);
                    }
                    may.insert(sweeps);
                }
            }
        }
        let expected: BTreeSet<_> = may.iter().map(|sweeps| sweeps.last).collect();
        may.retain(|sweeps| sweeps.last == swept);
        demand!(
            !may.is_empty(),
            "the last sweep was at {swept}, expected {expected:?}"
        );
        // The engine goes by what the file holds; what it could not store may be there only if that write is in doubt.
        let in_doubt = matches!(
            how,
            Upkeep::Maintained(UpkeepEnd::InDoubt) | Upkeep::Applied(UpkeepEnd::InDoubt)
        );
        if how == Upkeep::Opened || noted.contains(&swept) {
            self.stored = BTreeSet::from([swept]);
        } else if in_doubt {
            self.stored.extend(noted);
        }
        self.known = may;
        Ok(())
    }
}

impl Observer for Sweeping {
    fn promise(&self) -> &'static str {
        "retention follows the clock a day an hour, and back only after a day"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        if let Fact::Swept(how, now, swept) = fact {
            return self.saw(*how, *now, *swept);
        }
        Ok(())
    }
}
