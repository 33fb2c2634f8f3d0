//! All that can be read from an engine, as text.

use deskfleet::{Engine, FleetEvent, HistoryQuery, Stream, WorkspaceList, WorkspaceQuery};

use crate::events::kept;
use crate::model::op::{Desk, Instance, Person};

/// The readable state of an engine, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    parts: Vec<(String, String)>,
    /// The event log.
    events: Vec<FleetEvent>,
}

impl Facts {
    /// Reads all of `engine`.
    ///
    /// # Errors
    /// What could not be read.
    pub fn of(engine: &Engine) -> deskfleet::Result<Self> {
        let mut facts = Vec::new();
        let mut tell = |name: &str, fact: String| facts.push((name.to_owned(), fact));
        tell(
            "all",
            format!(
                "{:?}",
                engine.workspaces(&WorkspaceQuery {
                    limit: 500,
                    ..WorkspaceQuery::default()
                })?
            ),
        );
        tell(
            "held",
            format!(
                "{:?}",
                engine.workspaces(&WorkspaceQuery {
                    list: WorkspaceList::OnHold,
                    limit: 500,
                    ..WorkspaceQuery::default()
                })?
            ),
        );
        for desk in (0..Desk::COUNT).map(Desk) {
            let view = engine.workspace(desk.value())?;
            tell(desk.value(), format!("{view:?}"));
        }
        tell("outbox", format!("{:?}", engine.pending_actions()?));
        tell("audit", format!("{:?}", engine.admin_activity(10_000)?));
        for person in (0..Person::COUNT).map(Person) {
            let user = engine.user(person.value())?;
            tell(person.value(), format!("{user:?}"));
        }
        tell("day", format!("{:?}", engine.activity_24_hours()?));
        for stream in Stream::ALL {
            for instance in (0..Instance::COUNT).map(Instance) {
                let name = format!("{} of {:?}", stream.name(), instance.value());
                let page = engine.history(&HistoryQuery {
                    limit: 500,
                    ..HistoryQuery::new(stream, instance.value())
                })?;
                tell(&name, format!("{page:?}"));
            }
        }
        let mut keys = engine.keys();
        for key in &mut keys {
            key.last_used = None;
        }
        tell("keys", format!("{keys:?}"));
        tell("queued", engine.queue_count().to_string());
        Ok(Self {
            parts: facts,
            events: kept(engine)?,
        })
    }

    /// The parts in which the two differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let pairs = self.parts.iter().zip(&other.parts);
        let differing = pairs.filter(|(left, right)| left != right);
        let parts =
            differing.map(|((name, left), (_, right))| format!("{name}:\n  {left}\n  {right}"));
        let (left, right) = (&self.events, &other.events);
        let events = (left != right).then(|| format!("events:\n  {left:?}\n  {right:?}"));
        parts.chain(events).collect()
    }

    /// Whether each part is as in the one or as in the other. Of the events there are those that both have, and no others than
    /// one of them has.
    pub fn is_between(&self, before: &Self, after: &Self) -> bool {
        let told = before.parts.iter().zip(&after.parts);
        let mut parts = self.parts.iter().zip(told);
        let stays = |event: &&FleetEvent| after.events.contains(event);
        let mut kept = before.events.iter().filter(stays);
        let known = |event| before.events.contains(event) || after.events.contains(event);
        parts.all(|(part, (before, after))| part == before || part == after)
            && kept.all(|event| self.events.contains(event))
            && self.events.iter().all(known)
    }
}
