//! Telemetry in the order of its receipt.

use std::collections::BTreeMap;

use deskfleet::Timestamp;

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Verdict};
use crate::simulation::fleet::KEPT_DAYS;

/// A reader that goes on after the place where it was gets each accepted record once, also after crashes.
#[derive(Debug, Default)]
pub struct InOrder {
    /// How often each record was sent.
    sent: BTreeMap<i32, u64>,
    /// How often each was acknowledged and delivered since the reader began anew.
    acknowledged: BTreeMap<i32, u64>,
    delivered: BTreeMap<i32, u64>,
    /// The calls that were sent since then.
    calls: Vec<u64>,
    /// What the clock showed since the reader last came to the end.
    clock: Option<(Timestamp, Timestamp)>,
}

impl InOrder {
    fn clock_moved(&mut self, now: Timestamp) {
        let (first, last) = self.clock.unwrap_or((now, now));
        self.clock = Some((first.min(now), last.max(now)));
    }

    /// Whether something may be too old to be kept.
    fn time_has_passed(&self) -> bool {
        let kept = i64::try_from(KEPT_DAYS * 86_400).unwrap_or(i64::MAX);
        self.clock
            .is_some_and(|(first, last)| first.plus_seconds(kept) <= last)
    }

    fn read(&mut self, numbers: &[i32], missed: bool) -> Verdict {
        if missed {
            demand!(
                self.time_has_passed(),
                "records are missing, though all are kept"
            );
            self.acknowledged.clear();
            self.delivered.clear();
            self.calls.clear();
        }
        for number in numbers {
            let delivered = self.delivered.entry(*number).or_default();
            *delivered += 1;
            let sent = self.sent.get(number).copied().unwrap_or_default();
            demand!(
                *delivered <= sent,
                "record {number} was sent {sent} times and came {delivered} times"
            );
        }
        Ok(())
    }
}

impl Observer for InOrder {
    fn promise(&self) -> &'static str {
        "each accepted record comes once in the order of receipt"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Sent(call, Intent::Telemetry(marks), _) => {
                self.calls.push(*call);
                for mark in marks {
                    *self.sent.entry(mark.number).or_default() += 1;
                }
                Ok(())
            }
            Fact::Answered(call, Intent::Telemetry(marks), Ending::Done, _) => {
                if self.calls.contains(call) {
                    for mark in marks {
                        *self.acknowledged.entry(mark.number).or_default() += 1;
                    }
                }
                Ok(())
            }
            Fact::Clock(now, _) => {
                self.clock_moved(*now);
                Ok(())
            }
            Fact::Accepted {
                numbers,
                missed,
                is_end,
                now,
            } => {
                self.clock_moved(*now);
                self.read(numbers, *missed)?;
                if *is_end {
                    for (number, acknowledged) in &self.acknowledged {
                        let delivered = self.delivered.get(number).copied().unwrap_or_default();
                        demand!(
                            delivered >= *acknowledged,
                            "record {number} was acknowledged {acknowledged} times and came {delivered} times"
                        );
                    }
                    self.clock = Some((*now, *now));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
