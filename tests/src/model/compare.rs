//! Compares what an engine returns with its reference.

use std::fmt::Debug;

use deskfleet::{
    HistoryQuery, Received, Stream, Timestamp, Workspace, WorkspaceFilter, WorkspaceList,
    WorkspacePage, WorkspaceQuery,
};

use super::World;

use super::op::{Desk, Instance, Person, StateName};
use super::outbox::{expected_as_shown, shown};
use super::rules::{Entry, normal};
use super::telemetry::sort_key;

impl World {
    /// Everything that can be read.
    pub(crate) fn compare(&mut self) {
        self.fleet.settle(self.now);
        self.compare_counts();
        for limit in [1, 100, 500] {
            self.compare_lists(limit);
        }
        for state in (0..19).map(StateName) {
            self.compare_found(Some(state), None);
        }
        self.compare_views();
        self.pending();
        for person in (0..4).map(Person) {
            self.compare_user(person.value());
        }
        self.compare_day();
        self.compare_audit();
        self.compare_newest(2);
        for stream in Stream::ALL {
            for instance in (0..6).map(Instance) {
                self.compare_history(stream, instance.value(), [None, None], 2);
            }
        }
        self.compare_keys();
        assert_eq!(
            self.engine.queue_count(),
            self.telemetry.queued,
            "records queued"
        );
        let problems = self.engine.check().expect("a good disk").problems;
        assert!(problems.is_empty(), "{problems:?}");
    }

    /// Both lists, walked with this limit.
    pub(super) fn compare_lists(&self, limit: u32) {
        let all: Vec<_> = self
            .fleet
            .desks
            .values()
            .map(|entry| entry.workspace.clone())
            .collect();
        let walked = walk(limit, |token| {
            self.engine
                .workspaces(&WorkspaceQuery {
                    limit,
                    next_token: token.map(str::to_owned),
                    ..WorkspaceQuery::default()
                })
                .expect("a page")
        });
        assert_eq!(walked, all, "the list of all");
        let held: Vec<_> = self
            .fleet
            .desks
            .values()
            .filter(|entry| entry.held)
            .map(|entry| entry.workspace.clone())
            .collect();
        let walked = walk(limit, |token| {
            self.engine
                .workspaces(&WorkspaceQuery {
                    list: WorkspaceList::OnHold,
                    limit,
                    next_token: token.map(str::to_owned),
                })
                .expect("a page")
        });
        assert_eq!(walked, held, "the list of the held");
    }

    pub(super) fn compare_found(&self, state: Option<StateName>, person: Option<Person>) {
        let state = state.and_then(StateName::value);
        let person = person.map(Person::value);
        let text = |text: Option<&str>| text.map(|text| text.to_lowercase().into());
        let filter = WorkspaceFilter {
            state: text(state),
            username: text(person),
            ..WorkspaceFilter::default()
        };
        let fits = |entry: &&Entry| {
            let in_state = state.is_none() || entry.workspace.state.as_deref() == state;
            in_state && person.is_none_or(|person| entry.owned_by(person))
        };
        let expected: Vec<_> = self
            .fleet
            .desks
            .values()
            .filter(fits)
            .map(|entry| entry.workspace.clone())
            .collect();
        let walked = walk(2, |token| {
            self.engine
                .workspaces(&WorkspaceQuery {
                    list: WorkspaceList::Matching(filter.clone()),
                    limit: 2,
                    next_token: token.map(str::to_owned),
                })
                .expect("a page")
        });
        assert_eq!(walked, expected, "workspaces found by {filter:?}");
    }

    /// Each workspace with its action and its hold.
    fn compare_views(&self) {
        for desk in (0..6).map(Desk) {
            let found = self.engine.workspace(desk.value()).expect("a good disk");
            let expected = self.fleet.desks.get(desk.value());
            assert_eq!(
                found.is_some(),
                expected.is_some(),
                "{} is there",
                desk.value()
            );
            let (Some(found), Some(expected)) = (found, expected) else {
                continue;
            };
            assert_eq!(found.workspace, expected.workspace);
            assert_eq!(
                found.litigation_hold.is_some(),
                expected.held,
                "hold of {}",
                desk.value()
            );
            let transition = found.transition.as_ref().map(shown);
            let id = desk.value();
            let running = expected.running.as_ref();
            let running = running.map(|running| expected_as_shown(running, id));
            assert_eq!(transition, running, "transition of {}", desk.value());
        }
    }

    fn compare_audit(&self) {
        let mut found = self.engine.admin_activity(10_000).expect("a good disk");
        assert_eq!(found.len(), self.fleet.audit.len(), "rows of the audit");
        found.sort_by_key(|row| row.id);
        for (expected, found) in self.fleet.audit.iter().zip(&found) {
            expected.check(found);
        }
    }

    /// Fewer rows are the first of all rows.
    pub(super) fn compare_newest(&self, rows: u32) {
        let all = self.engine.admin_activity(10_000).expect("a good disk");
        let some = self.engine.admin_activity(rows).expect("a good disk");
        let expected = all.len().min(usize::try_from(rows).expect("small"));
        assert_eq!(some, all[..expected], "the newest {rows} rows of the audit");
        self.compare_audit_pages(&all, rows);
    }

    pub(super) fn compare_user(&self, name: &str) {
        let workspaces: Vec<_> = self
            .fleet
            .desks
            .values()
            .filter(|entry| entry.owned_by(name))
            .collect();
        let records: Vec<_> = self.telemetry.of_user(name).collect();
        let found = self.engine.user(name).expect("a good disk");
        let known = !workspaces.is_empty() || !records.is_empty();
        assert_eq!(found.is_some(), known, "{name} is known");
        let Some(found) = found else { return };
        assert_eq!(normal(&found.username), normal(name));
        let expected: Vec<_> = workspaces
            .iter()
            .map(|entry| entry.workspace.clone())
            .collect();
        assert_eq!(found.workspaces, expected, "workspaces of {name}");
        assert_eq!(
            found.litigation_hold,
            workspaces.iter().any(|entry| entry.held),
            "hold of {name}"
        );
        assert_eq!(
            found.last_seen,
            records.iter().map(|record| record.filed_at).max(),
            "last seen of {name}"
        );
        is_newest(found.last_activity.as_ref(), &records, Stream::Activity);
        is_newest(found.last_stats.as_ref(), &records, Stream::Stats);
        is_newest(found.last_startup.as_ref(), &records, Stream::Startup);
    }

    pub(super) fn compare_day(&self) {
        let found = self.engine.activity_24_hours().expect("a good disk");
        let expected = self.telemetry.day(&self.fleet, self.now);
        let places = |views: &[deskfleet::ActivityView]| {
            views
                .iter()
                .map(|view| sort_key(&view.received))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            places(&found),
            places(&expected),
            "order of the last 24 hours"
        );
        same_items(&found, &expected, "the last 24 hours");
    }

    pub(super) fn compare_history(
        &self,
        stream: Stream,
        instance: &str,
        [from, to]: [Option<Timestamp>; 2],
        limit: u32,
    ) {
        let expected = self.telemetry.history(stream, instance, from, to);
        let page = |limit: u32, token: Option<&str>| {
            self.engine
                .history(&HistoryQuery {
                    from,
                    to,
                    limit,
                    next_token: token.map(str::to_owned),
                    ..HistoryQuery::new(stream, instance)
                })
                .expect("a page")
        };
        let whole = page(500, None);
        assert_eq!(whole.next_token, None, "histories here are short");
        let places = |records: &[Received]| records.iter().map(sort_key).collect::<Vec<_>>();
        assert_eq!(
            places(&whole.records),
            places(&expected),
            "order of {} of {instance:?}",
            stream.name()
        );
        same_items(&whole.records, &expected, stream.name());
        let mut walked = Vec::new();
        let mut token = None;
        loop {
            let next = page(limit, token.as_deref());
            let full = next.records.len() == usize::try_from(limit).expect("small");
            assert!(
                full || next.next_token.is_none(),
                "a page that is not full is the last"
            );
            walked.extend(next.records);
            token = next.next_token;
            if token.is_none() {
                break;
            }
        }
        assert_eq!(walked, whole.records, "pages of {}", stream.name());
    }

    fn compare_keys(&self) {
        let mut found = self.engine.keys();
        for key in &mut found {
            key.last_used = None;
        }
        assert_eq!(found, self.keys, "keys");
    }
}

/// All pages of a list; each but the last is full.
fn walk(limit: u32, page: impl Fn(Option<&str>) -> WorkspacePage) -> Vec<Workspace> {
    let mut all = Vec::new();
    let mut token = None;
    loop {
        let next = page(token.as_deref());
        let full = next.workspaces.len() == usize::try_from(limit).expect("small");
        assert!(
            full || next.next_token.is_none(),
            "a page that is not full is the last"
        );
        assert!(
            !next.workspaces.is_empty() || all.is_empty(),
            "an empty page after others"
        );
        all.extend(next.workspaces);
        token = next.next_token;
        if token.is_none() {
            return all;
        }
    }
}

/// The record found must be one of the newest of its stream.
fn is_newest(found: Option<&Received>, records: &[&Received], stream: Stream) {
    let of_stream = || records.iter().filter(|held| held.record.stream() == stream);
    let newest = of_stream().map(|held| sort_key(held)).max();
    assert_eq!(found.map(sort_key), newest, "newest of {}", stream.name());
    assert!(
        found.is_none_or(|found| of_stream().any(|held| *held == found)),
        "{found:?} was never posted"
    );
}

/// The same items, whatever the order among equals.
fn same_items<T: Debug>(found: &[T], expected: &[T], what: &str) {
    let sorted = |items: &[T]| {
        let mut texts: Vec<_> = items.iter().map(|item| format!("{item:?}")).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(found), sorted(expected), "{what}");
}
