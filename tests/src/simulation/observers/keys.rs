//! API keys.

use std::collections::{BTreeMap, BTreeSet};

use deskfleet::{RetentionDays, Timestamp};

use crate::demand;
use crate::simulation::fact::{Ending, Fact, Intent, Observer, Verdict};

#[derive(Debug, PartialEq, Eq)]
enum State {
    Good,
    /// A revocation is pending.
    Unknown,
    Revoked,
}

/// A key is accepted from its issue to its revocation, and never after. It is listed until it was revoked longer ago than the audit is
/// kept.
#[derive(Debug, Default)]
pub struct Keys {
    known: BTreeMap<u64, State>,
    /// Pending uses, with whether their key was revoked or valid when they were sent.
    uses: BTreeMap<u64, bool>,
    /// The earliest time at which the clock stood when a key may have been revoked.
    ended: BTreeMap<u64, Timestamp>,
    /// The latest time that a clock has shown: retention went no further.
    latest: Option<Timestamp>,
}

impl Keys {
    fn shown(&mut self, at: Timestamp) {
        self.latest = self.latest.max(Some(at));
        for (key, ended) in &mut self.ended {
            if self.known.get(key) == Some(&State::Unknown) {
                *ended = at.min(*ended);
            }
        }
    }

    fn may_be_gone(&self, key: u64) -> bool {
        let days = i64::from(RetentionDays::default().audit);
        let kept_from = self.latest.map(|at| at.plus_seconds(-days * 86_400));
        let ended = self.ended.get(&key).copied();
        self.known.get(&key) != Some(&State::Good) && ended.is_some() && ended < kept_from
    }

    fn sent(&mut self, call: u64, intent: &Intent, at: Timestamp) {
        self.shown(at);
        match intent {
            Intent::RevokeKey(key) => {
                self.ended.entry(*key).or_insert(at);
                if let Some(state @ State::Good) = self.known.get_mut(key) {
                    *state = State::Unknown;
                }
                // A pending use may find the key revoked.
                self.uses.retain(|_, good| !*good);
            }
            Intent::UseKey(key) => match self.known.get(key) {
                Some(State::Good) => drop(self.uses.insert(call, true)),
                Some(State::Revoked) => drop(self.uses.insert(call, false)),
                Some(State::Unknown) | None => {}
            },
            _ => {}
        }
    }

    fn answered(&mut self, call: u64, intent: &Intent, ending: &Ending, status: u16) -> Verdict {
        match (intent, ending) {
            (Intent::RevokeKey(key), Ending::Done) => {
                self.known.insert(*key, State::Revoked);
            }
            (Intent::UseKey(key), _) => {
                let opened = status != 401;
                if let Some(good) = self.uses.remove(&call) {
                    let message = if good { "good" } else { "revoked" };
                    demand!(
                        opened == good,
                        "key {key} is {message}, but was answered {status}"
                    );
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Observer for Keys {
    fn promise(&self) -> &'static str {
        "a revoked key is never accepted again, a valid one always"
    }

    fn see(&mut self, fact: &Fact<'_>) -> Verdict {
        match fact {
            Fact::Issued(key, _) => {
                let again = self.known.insert(*key, State::Good).is_some();
                demand!(!again, "key number {key} was given out twice");
            }
            Fact::Sent(call, intent, at) => self.sent(*call, intent, *at),
            Fact::Retained(at, _) | Fact::Swept(_, at, _) | Fact::Clock(at, _) => self.shown(*at),
            Fact::Answered(call, intent, ending, answer) => {
                self.answered(*call, intent, ending, answer.status)?;
            }
            Fact::Read(reading) => {
                let known: BTreeSet<_> = self.known.keys().collect();
                for key in known {
                    let found = reading.keys.get(key);
                    let is_here = found.is_some() || self.may_be_gone(*key);
                    demand!(is_here, "key {key} is gone");
                    let right = match (&self.known[key], found) {
                        (State::Good, Some(revoked)) => !revoked,
                        (State::Revoked, Some(revoked)) => *revoked,
                        _ => true,
                    };
                    demand!(right, "key {key} is {:?}, read {found:?}", self.known[key]);
                }
                for (key, revoked) in &reading.keys {
                    if let Some(state) = self.known.get_mut(key) {
                        *state = if *revoked {
                            State::Revoked
                        } else {
                            State::Good
                        };
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
