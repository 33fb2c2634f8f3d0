//! The queue's count.

use std::collections::BTreeMap;

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Verdict};

/// `queue/count` is what was accepted less what was filed. Where calls are indeterminate, it is between the two counts
/// that this leaves open.
#[derive(Debug, Default)]
pub struct QueueCount {
    /// Accepted for certain, and not filed.
    least: u64,
    /// The same, plus what may have been accepted.
    most: u64,
    /// Sent and not answered.
    waiting: BTreeMap<u64, u64>,
}

impl QueueCount {
    fn bounds(&self) -> (u64, u64) {
        (self.least, self.most + self.waiting.values().sum::<u64>())
    }

    fn ended(&mut self, call: u64, intent: &Intent, ending: &Ending) {
        if let Intent::Telemetry(marks) = intent {
            let records = marks.len() as u64;
            self.waiting.remove(&call);
            self.least += if *ending == Ending::Done { records } else { 0 };
            self.most += if matches!(ending, Ending::Refused(_)) {
                0
            } else {
                records
            };
        }
    }

    fn check(&self, count: u64) -> Verdict {
        let (least, most) = self.bounds();
        demand!(
            (least..=most).contains(&count),
            "{count} records queued, but at least {least} and at most {most} are accepted and not filed"
        );
        Ok(())
    }
}

impl Observer for QueueCount {
    fn promise(&self) -> &'static str {
        "the queue holds what was accepted and is not filed"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Sent(call, Intent::Telemetry(marks), _) => {
                self.waiting.insert(*call, marks.len() as u64);
                Ok(())
            }
            Fact::Answered(call, intent @ Intent::Telemetry(_), ending, _) => {
                self.ended(*call, intent, ending);
                Ok(())
            }
            Fact::Lost(call, intent) => {
                self.ended(*call, intent, &Ending::Unknown);
                // A caller that commits also files: that may be durable, though the crash left no time to say so.
                self.least = 0;
                Ok(())
            }
            Fact::Filed(records) => {
                let most = self.most;
                demand!(
                    *records <= most,
                    "{records} filed, at most {most} were there"
                );
                self.least = self.least.saturating_sub(*records);
                self.most -= records;
                Ok(())
            }
            Fact::Upkeep(false) => {
                // Some steps of filing may have been committed before the one that failed.
                self.least = 0;
                Ok(())
            }
            Fact::Answered(_, Intent::QueueCount, Ending::Done, answer) => {
                let count = answer.body.parse();
                let count = count.map_err(|_| format!("no bare integer: {}", answer.body))?;
                self.check(count)
            }
            Fact::Read(reading) => {
                self.check(reading.queued)?;
                // No call is pending, and all that is visible is durable.
                (self.least, self.most) = (reading.queued, reading.queued);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
