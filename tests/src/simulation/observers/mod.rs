//! The promises, one observer each.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "an observer looks at few of the facts"
)]

mod answers;
mod attempts;
mod audit;
mod dated;
mod events;
mod held;
mod holds;
mod in_order;
mod keys;
mod lifecycle;
mod pages;
mod queue;
mod records;
mod sweeping;
mod upkeep;

pub use answers::{Answers, Secrets};
pub use attempts::Attempts;
pub use audit::{AuditRows, OneRowPerAction};
pub use dated::RightTimes;
pub use events::EventLog;
pub use holds::Holds;
pub use in_order::InOrder;
pub use keys::Keys;
pub use lifecycle::Lifecycle;
pub use pages::Pages;
pub use queue::QueueCount;
pub use records::Records;
pub(super) use records::record_number;
pub use sweeping::Sweeping;
pub use upkeep::{Recovery, Whole};

use super::fact::Observer;

/// Every observer, in its first state.
pub fn all() -> Vec<Box<dyn Observer>> {
    vec![
        Box::new(Answers),
        Box::new(Secrets::default()),
        Box::new(Records::default()),
        Box::new(Sweeping::default()),
        Box::new(RightTimes::default()),
        Box::new(QueueCount::default()),
        Box::new(InOrder::default()),
        Box::new(Lifecycle::default()),
        Box::new(AuditRows::default()),
        Box::new(OneRowPerAction::default()),
        Box::new(EventLog::default()),
        Box::new(Holds::default()),
        Box::new(Attempts::default()),
        Box::new(Keys::default()),
        Box::new(Pages::default()),
        Box::new(Recovery),
        Box::new(Whole),
    ]
}
