//! Lies for observers: a run that is told with one must break the promise it is about. An observer that believes everything
//! would hold every promise.

use deskfleet::Timestamp;

use super::fact::{Answer, Ending, Fact, Intent, Observer, Reading, Upkeep, Verdict};

mod kept;
mod told;

pub use told::lies;

/// What is told instead of the truth.
#[derive(Debug, Clone, Copy)]
pub enum Falsehood {
    /// Another reading.
    Reading(fn(&mut Reading)),
    /// Another answer to a call.
    Answer(fn(&Intent, &mut Ending, &mut Answer)),
    /// Another text of every key.
    Secret(&'static str),
    /// Another time of the last sweep, from what was done, the clock and the truth.
    Swept(fn(Upkeep, Timestamp, Timestamp) -> Timestamp),
    /// That so many writes were refused, whenever everything is read.
    Refusing(u32),
}

/// A lie and who must catch it.
#[derive(Debug, Clone, Copy)]
pub struct Lie {
    /// What the lie amounts to.
    pub about: &'static str,
    /// The observer.
    pub observer: fn() -> Box<dyn Observer>,
    /// The lie.
    pub falsehood: Falsehood,
}

/// An observer that is lied to.
struct Deceived {
    observer: Box<dyn Observer>,
    falsehood: Falsehood,
}

impl Lie {
    /// The observer, deceived.
    pub fn deceived(&self) -> Box<dyn Observer> {
        Box::new(Deceived {
            observer: (self.observer)(),
            falsehood: self.falsehood,
        })
    }
}

impl Observer for Deceived {
    fn promise(&self) -> &'static str {
        self.observer.promise()
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match (fact, self.falsehood) {
            (Fact::Read(reading), Falsehood::Reading(change)) => {
                let mut reading = (*reading).clone();
                change(&mut reading);
                self.observer.see(&Fact::Read(&reading))
            }
            (Fact::Answered(call, intent, ending, answer), Falsehood::Answer(change)) => {
                let (mut ending, mut answer) = ((*ending).clone(), (*answer).clone());
                change(intent, &mut ending, &mut answer);
                let fact = Fact::Answered(*call, intent, &ending, &answer);
                self.observer.see(&fact)
            }
            (Fact::Issued(key, _), Falsehood::Secret(secret)) => {
                self.observer.see(&Fact::Issued(*key, secret))
            }
            (Fact::Swept(how, now, swept), Falsehood::Swept(change)) => {
                let swept = change(*how, *now, *swept);
                self.observer.see(&Fact::Swept(*how, *now, swept))
            }
            (Fact::Read(_), Falsehood::Refusing(times)) => {
                self.observer.see(&Fact::Refusing(times))
            }
            (fact, _) => self.observer.see(fact),
        }
    }
}
