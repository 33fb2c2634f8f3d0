//! Nodes with the same history that file and seal at other moments hold the same after each sweep.

mod node;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::config::Config;
use crate::model::{ActivityRecord, Record, RecordRef, StartupRecord, StatsRecord};
use crate::mutation::{
    Caller, Maintenance, Mutation, PlaceHold, ReleaseHold, RemoveTelemetry, Telemetry,
};
use crate::store::table::ALL_KEYS;
use crate::store::telemetry::arrivals::Arrivals;

use node::Node;

const DAY: i64 = 86_400;
const INSTANCES: [&str; 7] = ["ws-1", "WS-1", "pc-1", "ws-2", "", "lent", "dead"];
const USERS: [&str; 5] = ["ann", "Ann", "bob", "cid", ""];

/// 2026-11-20T12:00:00Z
fn start() -> Timestamp {
    Timestamp::from_unix_seconds(1_795_176_000)
}

/// A record, and how long before now it was received, in seconds.
#[derive(Debug, Clone)]
struct Sent {
    stream: usize,
    instance: usize,
    user: usize,
    ago: i64,
    /// Whether it carries the time of now, though it was received long ago: the clock was behind.
    is_dated: bool,
}

impl Sent {
    fn record(&self, now: Timestamp) -> Record {
        let instance_id = INSTANCES[self.instance].into();
        let username = USERS[self.user].into();
        let at = self.is_dated.then_some(now);
        match self.stream {
            0 => Record::Stats(Box::new(StatsRecord {
                instance_id,
                username,
                update_time: at,
                physical_memory: Some(self.ago),
                ..StatsRecord::default()
            })),
            1 => Record::Activity(Box::new(ActivityRecord {
                instance_id,
                username,
                activity_time: at,
                ..ActivityRecord::default()
            })),
            _ => Record::Startup(Box::new(StartupRecord {
                username,
                instance_id,
                ..StartupRecord::default()
            })),
        }
    }
}

/// A Stats record.
fn sent(instance: usize, user: usize, ago: i64) -> Sent {
    Sent {
        stream: 0,
        instance,
        user,
        ago,
        is_dated: false,
    }
}

#[derive(Debug, Clone)]
enum Happening {
    Posted(Vec<Sent>),
    Held(usize),
    Released(usize),
    /// A node files a number of slices, each of a number of rows.
    Filed(usize, usize, usize),
    Sealed(usize),
    Days(i64),
    /// A node sweeps in steps of a number of rows, and the others do as it says.
    Swept(usize, usize),
    /// The same with a removal: of an instance, a stream, or the days before a number of days ago, each if given.
    Removed(usize, usize, Option<usize>, Option<usize>, Option<i64>),
}

fn any_happening() -> impl Strategy<Value = Happening> {
    let ago = prop_oneof![
        0..20_i64,
        (0..4_i64).prop_map(|days| days * DAY),
        0..4 * DAY
    ];
    let sent = (
        0..3_usize,
        0..5_usize,
        0..5_usize,
        ago,
        prop::bool::weighted(0.1),
    );
    let sent = sent.prop_map(|(stream, instance, user, ago, is_dated)| Sent {
        stream,
        instance,
        user,
        ago,
        is_dated,
    });
    let node = || 0..2_usize;
    prop_oneof![
        6 => vec(sent, 1..12).prop_map(Happening::Posted),
        1 => (0..2_usize).prop_map(Happening::Held),
        1 => (0..2_usize).prop_map(Happening::Released),
        4 => (node(), 1..8_usize, 1..4_usize).prop_map(|(node, rows, slices)| Happening::Filed(node, rows, slices)),
        2 => node().prop_map(Happening::Sealed),
        1 => (1..3_i64).prop_map(Happening::Days),
        2 => (node(), select(vec![1, 2, 3, 250])).prop_map(|(node, rows)| Happening::Swept(node, rows)),
        2 => (node(), select(vec![1, 2, 3, 250]), of(0..5_usize), of(0..3_usize), of(0..4_i64))
            .prop_map(|(node, rows, instance, stream, days)| Happening::Removed(node, rows, instance, stream, days)),
    ]
}

/// Two nodes, and what they share.
struct Fleet {
    config: Config,
    now: Timestamp,
    nodes: [Node; 2],
}

impl Fleet {
    fn new() -> Self {
        let mut config = Config::default();
        let days = &mut config.retention_days;
        (days.stats, days.activity, days.startup, days.rollups) = (1, 2, 3, 2);
        let nodes = [Node::new(&config), Node::new(&config)];
        Self {
            config,
            now: start(),
            nodes,
        }
    }

    fn apply<M: Mutation>(&self, mutation: impl Fn() -> M) {
        for node in &self.nodes {
            node.apply(&self.config, self.now, mutation());
        }
    }

    fn happen(&mut self, happening: &Happening) {
        // No two things happen at one time.
        self.now = self.now.plus_seconds(1);
        let hold = |of: usize| ["ws-1", "ws-2"][of].to_owned();
        match *happening {
            Happening::Posted(ref all) => self.apply(|| {
                let mut arrivals = Arrivals::default();
                for sent in all {
                    let record = sent.record(self.now);
                    let filed_at = self.now.plus_seconds(-sent.ago);
                    arrivals.push(&RecordRef::from_record(&record), filed_at, filed_at);
                }
                Telemetry::new(arrivals)
            }),
            Happening::Held(of) => self.apply(|| PlaceHold {
                id: hold(of),
                matter: "m".into(),
                reason: None,
                by: Caller::HOST,
            }),
            Happening::Released(of) => self.apply(|| ReleaseHold {
                id: hold(of),
                by: Caller::HOST,
            }),
            Happening::Filed(node, rows, slices) => self.nodes[node].file(rows, slices),
            Happening::Sealed(node) => self.nodes[node].seal(self.now),
            Happening::Days(days) => self.now = self.now.plus_seconds(days * DAY),
            Happening::Swept(node, rows) => {
                let (now, max) = (self.now, Work::new(rows, usize::MAX));
                let drop = |of, span| Maintenance::DropDerived(of, now, span);
                self.remove(node, max, Removing::Old(now), &Derived::ALL, drop);
            }
            Happening::Removed(node, rows, instance, stream, days) => {
                let streams = [Stream::Stats, Stream::Activity, Stream::Startup];
                let selection = TelemetrySelection {
                    instance_id: instance.map(|at| INSTANCES[at].to_owned()),
                    stream: stream.map(|at| streams[at]),
                    before: days.map(|days| self.now.plus_seconds(-days * DAY)),
                };
                let (removing, max) = (Removing::Selected(&selection), Work::new(rows, usize::MAX));
                let all: Vec<_> = Derived::ALL
                    .into_iter()
                    .filter(|of| of.is_of(&selection))
                    .collect();
                let take = |of, span| RemoveTelemetry::Take(selection.clone(), of, span);
                self.remove(node, max, removing, &all, take);
            }
        }
    }

    /// Takes steps that one node prepares on all of them.
    fn remove<M: Mutation>(
        &self,
        by: usize,
        max: Work,
        removing: Removing<'_>,
        all: &[Derived],
        step: impl Fn(Derived, Span) -> M,
    ) {
        self.nodes.iter().for_each(Node::file_all);
        for of in all.iter().copied() {
            let mut from = None;
            loop {
                let snapshot = self.nodes[by].0.snapshot().unwrap();
                let kept = (&self.config.retention_days, removing);
                let span = Span::next(&snapshot, of, from, kept, max).unwrap();
                from = span.before.clone();
                self.apply(|| step(of, span.clone()));
                if from.is_none() {
                    break;
                }
            }
        }
    }

    fn assert_same(&self) {
        self.nodes.iter().for_each(Node::file_all);
        let [one, other] = [&self.nodes[0], &self.nodes[1]].map(Node::contents);
        for (key, values) in &one {
            assert_eq!(other.get(key), Some(values), "{key:?}");
        }
        assert_eq!(one.len(), other.len());
    }
}

proptest! {
    #[test]
    fn nodes_that_file_and_seal_at_other_moments_keep_the_same(happenings in vec(any_happening(), 1..60)) {
        let mut fleet = Fleet::new();
        for happening in &happenings {
            fleet.happen(happening);
        }
        fleet.assert_same();
    }
}

/// Records of one instance on one day: at last one of a held user, in a part of its own on the first node alone.
fn day_in_parts_on_one_node() -> Fleet {
    let mut fleet = Fleet::new();
    fleet.happen(&Happening::Posted(
        (0..8).map(|ago| sent(3, 3, ago)).collect(),
    ));
    fleet.nodes[0].file_all();
    fleet.happen(&Happening::Posted(vec![sent(3, 0, 0)]));
    fleet.nodes.iter().for_each(Node::file_all);
    let parts = fleet.nodes.each_ref().map(|node| {
        let mut parts = 0;
        let snapshot = node.0.snapshot().unwrap();
        history::scan_keys(&snapshot, ALL_KEYS, &mut |_| {
            parts += 1;
            Ok(())
        })
        .unwrap();
        parts
    });
    assert_eq!(parts, [2, 1]);
    fleet.happen(&Happening::Days(5));
    fleet
}

#[test]
fn day_with_a_held_user_in_one_of_its_parts_is_kept_as_a_whole() {
    let mut fleet = day_in_parts_on_one_node();
    fleet.happen(&Happening::Held(0));
    fleet.happen(&Happening::Swept(0, 250));
    fleet.assert_same();
    let count = |fleet: &Fleet| {
        let contents = fleet.nodes[0].contents();
        let buckets = contents.iter().filter(|((name, _), _)| *name == "history");
        buckets.map(|(_, records)| records.len()).sum::<usize>()
    };
    assert_eq!(count(&fleet), 9);
    fleet.happen(&Happening::Released(0));
    fleet.happen(&Happening::Swept(0, 250));
    fleet.assert_same();
    assert_eq!(count(&fleet), 0);
}

#[test]
fn hold_keeps_the_newest_values_of_what_it_could_mean_alone() {
    let mut fleet = Fleet::new();
    fleet.happen(&Happening::Held(0));
    // The held user had "lent" a day before another did.
    let all = [
        (1, 3, 0),
        (2, 4, 0),
        (3, 1, 0),
        (5, 1, 1),
        (5, 3, 0),
        (6, 3, 1),
        (6, 2, 0),
    ];
    fleet.happen(&Happening::Posted(
        all.map(|(instance, user, days)| sent(instance, user, days * DAY))
            .to_vec(),
    ));
    fleet.nodes.iter().for_each(Node::file_all);
    fleet.happen(&Happening::Days(5));
    fleet.happen(&Happening::Swept(0, 2));
    fleet.assert_same();
    let mut contents = fleet.nodes[0].contents();
    for kept in ["ws-1", "pc-1", "ws-2", "lent"] {
        let row = contents.remove(&("latest", latest::key(kept)));
        assert!(row.is_some(), "{kept}");
    }
    assert!(!contents.keys().any(|(table, _)| *table == "latest"));
}

#[test]
fn step_bounded_by_the_parts_of_one_node_ends_at_a_bucket() {
    let mut fleet = day_in_parts_on_one_node();
    fleet.happen(&Happening::Posted(
        [0, 2].map(|instance| sent(instance, 3, 4 * DAY)).to_vec(),
    ));
    fleet.nodes.iter().for_each(Node::file_all);
    let kept = (&fleet.config.retention_days, Removing::Old(fleet.now));
    let of = Derived::History(Stream::Stats);
    for node in [0, 1] {
        let snapshot = fleet.nodes[node].0.snapshot().unwrap();
        let one = Work::new(1, usize::MAX);
        let span = Span::next(&snapshot, of, None, kept, one).unwrap();
        fleet.apply(|| Maintenance::DropDerived(of, fleet.now, span.clone()));
        fleet.assert_same();
    }
}
