//! How a desktop was used, from the rollups of its days.

use crate::domain::health;
use crate::store::rollup::{DaySlots, Slots};

/// The five-minute slots of a desktop, of any number of days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// Those in which somebody used it.
    pub(crate) active: u32,
    /// Those of them in which it was overloaded.
    pub(crate) impacted: u32,
}

impl Use {
    /// Adds a day, of which `used` are the slots in which somebody used the desktop.
    pub(crate) fn add(&mut self, day: &DaySlots, used: &Slots) {
        let impacted = overloaded(day).intersection(used);
        self.active = self.active.saturating_add(used.len());
        self.impacted = self.impacted.saturating_add(impacted.len());
    }

    /// The health score in percent; `None` where nobody used it.
    pub(crate) fn health_score(self) -> Option<f64> {
        health::health_score(self.active, self.impacted)
    }
}

/// The slots of a day in which a desktop was overloaded.
pub(crate) fn overloaded(slots: &DaySlots) -> Slots {
    slots.over.join_words(&slots.calm, health::overloaded)
}
