//! Which names belong to workspaces on hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::simulation::fact::{Ending, Fact, Intent};
use crate::simulation::fleet::same_name;

/// What is certain about a workspace.
#[derive(Debug, Default)]
struct Desk {
    held: bool,
    /// Its computer name and its user.
    names: Vec<String>,
}

/// The names of the workspaces that are certainly on hold.
#[derive(Debug, Default)]
pub(super) struct Held {
    desks: BTreeMap<&'static str, Desk>,
    /// Releases that were sent and not answered.
    releases: BTreeMap<u64, &'static str>,
}

impl Held {
    /// Takes note of a fact.
    pub(super) fn see(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Sent(call, Intent::Release(desk), _) => {
                self.releases.insert(*call, desk);
                self.desks.entry(desk).or_default().held = false;
            }
            Fact::Answered(call, Intent::Release(_), ..) | Fact::Lost(call, Intent::Release(_)) => {
                self.releases.remove(call);
            }
            Fact::Answered(_, Intent::Hold(desk), Ending::Done, _) => {
                let released = self.releases.values().any(|open| open == desk);
                self.desks.entry(desk).or_default().held = !released;
            }
            Fact::Sent(_, Intent::Put(desk) | Intent::Remove(desk), _) => {
                self.desks.entry(desk).or_default().names.clear();
            }
            Fact::Read(reading) => {
                let desk = |id: &'static str, view: &deskfleet::WorkspaceView| {
                    let (computer, user) =
                        (&view.workspace.computer_name, &view.workspace.username);
                    let names = [computer, user].into_iter().flatten();
                    let desk = Desk {
                        held: view.litigation_hold.is_some(),
                        names: names.map(|name| same_name(name).to_owned()).collect(),
                    };
                    (id, desk)
                };
                let desks = reading.desks.iter();
                self.desks = desks.map(|(id, view)| desk(id, view)).collect();
            }
            _ => {}
        }
    }

    /// All of them, in the form of [`same_name`].
    pub(super) fn names(&self) -> BTreeSet<&str> {
        let held = self.desks.iter().filter(|(_, desk)| desk.held);
        let names = held.flat_map(|(id, desk)| {
            let names = desk.names.iter().map(String::as_str);
            names.chain([same_name(id)])
        });
        names.collect()
    }
}
