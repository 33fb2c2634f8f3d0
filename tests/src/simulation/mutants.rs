//! Mutants: each changes the facts that an observer sees, so that a promise is broken. The observer must report it: an
//! observer that accepts everything would prove nothing.

use deskfleet::Timestamp;

use super::fact::{Answer, Ending, Fact, Intent, Observer, Reading, Upkeep, Verdict};

mod all;
mod attempts;
mod events;
mod retention;

pub use all::mutants;

/// How a mutant changes facts.
#[derive(Debug, Clone, Copy)]
pub enum FactChange {
    /// Changes a reading.
    Reading(fn(&mut Reading)),
    /// Changes the answer to a call.
    Answer(fn(&Intent, &mut Ending, &mut Answer)),
    /// Replaces the text of every key.
    Secret(&'static str),
    /// Replaces the time of the last sweep, given the step, the clock and the true time.
    Swept(fn(Upkeep, Timestamp, Timestamp) -> Timestamp),
    /// Changes the records that are read in the order of receipt.
    Accepted(fn(&mut Vec<i32>)),
    /// Adds `n` refused writes to every reading.
    Refusing(u32),
}

/// A mutant and the observer that must detect it.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// What the mutant does.
    pub about: &'static str,
    /// The observer.
    pub observer: fn() -> Box<dyn Observer>,
    /// The change.
    pub change: FactChange,
}

/// An observer that sees changed facts.
struct MutantObserver {
    observer: Box<dyn Observer>,
    change: FactChange,
}

impl Mutant {
    /// The observer, seeing the changed facts.
    pub fn observer_of_mutant(&self) -> Box<dyn Observer> {
        Box::new(MutantObserver {
            observer: (self.observer)(),
            change: self.change,
        })
    }
}

impl Observer for MutantObserver {
    fn promise(&self) -> &'static str {
        self.observer.promise()
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match (fact, self.change) {
            (Fact::Read(reading), FactChange::Reading(change)) => {
                let mut reading = (*reading).clone();
                change(&mut reading);
                self.observer.see(&Fact::Read(&reading))
            }
            (Fact::Answered(call, intent, ending, answer), FactChange::Answer(change)) => {
                let (mut ending, mut answer) = ((*ending).clone(), (*answer).clone());
                change(intent, &mut ending, &mut answer);
                let fact = Fact::Answered(*call, intent, &ending, &answer);
                self.observer.see(&fact)
            }
            (Fact::Issued(key, _), FactChange::Secret(secret)) => {
                self.observer.see(&Fact::Issued(*key, secret))
            }
            (Fact::Swept(how, now, swept), FactChange::Swept(change)) => {
                let swept = change(*how, *now, *swept);
                self.observer.see(&Fact::Swept(*how, *now, swept))
            }
            (
                Fact::Accepted {
                    numbers,
                    missed,
                    is_end,
                    now,
                },
                FactChange::Accepted(change),
            ) => {
                let mut numbers = numbers.clone();
                change(&mut numbers);
                self.observer.see(&Fact::Accepted {
                    numbers,
                    missed: *missed,
                    is_end: *is_end,
                    now: *now,
                })
            }
            (Fact::Read(_), FactChange::Refusing(times)) => {
                self.observer.see(&Fact::Refusing(times))
            }
            (fact, _) => self.observer.see(fact),
        }
    }
}
