//! All that can be read from an engine.

use deskfleet::{
    ActivityView, AuditEntry, Engine, FleetEvent, HistoryPage, HistoryQuery, KeyInfo,
    PendingAction, Stream, UserView, WorkspaceList, WorkspacePage, WorkspaceQuery, WorkspaceView,
};

use crate::events::kept;
use crate::model::op::{Desk, Instance, Person};

/// The readable state of an engine, part by part.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    parts: Vec<(String, Part)>,
    /// The event log.
    events: Vec<FleetEvent>,
}

/// What one query returns. Values and not text, as writing the text took a tenth of the suite.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Workspaces(WorkspacePage),
    Workspace(Box<Option<WorkspaceView>>),
    Outbox(Vec<PendingAction>),
    Audit(Vec<AuditEntry>),
    User(Option<UserView>),
    Day(Vec<ActivityView>),
    History(HistoryPage),
    Keys(Vec<KeyInfo>),
    Queued(u64),
}

impl Facts {
    /// Reads all of `engine`.
    ///
    /// # Errors
    /// What could not be read.
    pub fn read(engine: &Engine) -> deskfleet::Result<Self> {
        let mut parts = Vec::new();
        let mut add = |name: &str, part: Part| parts.push((name.to_owned(), part));
        for (name, list) in [("all", WorkspaceList::All), ("held", WorkspaceList::OnHold)] {
            let query = WorkspaceQuery {
                list,
                limit: 500,
                ..WorkspaceQuery::default()
            };
            add(name, Part::Workspaces(engine.workspaces(&query)?));
        }
        for desk in (0..Desk::COUNT).map(Desk) {
            let view = engine.workspace(desk.value())?;
            add(desk.value(), Part::Workspace(Box::new(view)));
        }
        add("outbox", Part::Outbox(engine.pending_actions()?));
        add("audit", Part::Audit(engine.admin_activity(10_000)?));
        for person in (0..Person::COUNT).map(Person) {
            add(person.value(), Part::User(engine.user(person.value())?));
        }
        add("day", Part::Day(engine.activity_24_hours()?));
        for stream in Stream::ALL {
            for instance in (0..Instance::COUNT).map(Instance) {
                let name = format!("{} of {:?}", stream.name(), instance.value());
                let page = engine.history(&HistoryQuery {
                    limit: 500,
                    ..HistoryQuery::new(stream, instance.value())
                })?;
                add(&name, Part::History(page));
            }
        }
        let mut keys = engine.keys();
        for key in &mut keys {
            key.last_used = None;
        }
        add("keys", Part::Keys(keys));
        add("queued", Part::Queued(engine.queue_count()));
        Ok(Self {
            parts,
            events: kept(engine)?,
        })
    }

    /// The parts in which the two differ.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let pairs = self.parts.iter().zip(&other.parts);
        let differing = pairs.filter(|(left, right)| left != right);
        let parts =
            differing.map(|((name, left), (_, right))| format!("{name}:\n  {left:?}\n  {right:?}"));
        let (left, right) = (&self.events, &other.events);
        let events = (left != right).then(|| format!("events:\n  {left:?}\n  {right:?}"));
        parts.chain(events).collect()
    }

    /// Whether each part is as in the one or as in the other. Of the events there are those that both have, and no others than
    /// one of them has.
    pub fn is_between(&self, before: &Self, after: &Self) -> bool {
        let known_parts = before.parts.iter().zip(&after.parts);
        let mut parts = self.parts.iter().zip(known_parts);
        let stays = |event: &&FleetEvent| after.events.contains(event);
        let mut kept = before.events.iter().filter(stays);
        let known = |event| before.events.contains(event) || after.events.contains(event);
        parts.all(|(part, (before, after))| part == before || part == after)
            && kept.all(|event| self.events.contains(event))
            && self.events.iter().all(known)
    }
}
