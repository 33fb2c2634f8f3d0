//! Nodes with the same history that file and seal at other moments hold the same after each sweep.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::config::Config;
use crate::model::{ActivityRecord, Record, RecordRef, StartupRecord, StatsRecord, Workspace};
use crate::mutation::{
    Caller, Maintenance, Mutation, PlaceHold, PutWorkspace, ReleaseHold, Telemetry,
};
use crate::store::meta;
use crate::store::table::ALL_KEYS;
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::telemetry::filing::Pass;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::sealing;
use crate::store::{Store, StoreOptions};

const DAY: i64 = 86_400;
const INSTANCES: [&str; 5] = ["ws-1", "WS-1", "pc-1", "ws-2", ""];
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
    ]
}

struct Node(Store);

impl Node {
    fn new(config: &Config) -> Self {
        let node = Self(Store::open_in_memory(StoreOptions::of(config, start())).unwrap());
        for (id, computer, user) in [("ws-1", "pc-1", "ann"), ("ws-2", "pc-2", "bob")] {
            let workspace = Workspace {
                id: id.into(),
                computer_name: Some(computer.into()),
                username: Some(user.into()),
                ..Workspace::default()
            };
            let put = PutWorkspace {
                workspace,
                cancels_action: false,
                by: Caller::HOST,
            };
            node.apply(config, start(), put);
        }
        node
    }

    fn apply<M: Mutation>(&self, config: &Config, now: Timestamp, mutation: M) {
        let written = self.0.write(|tables| {
            // A refusal is one on every node.
            mutation
                .apply(&mut Context::new(tables, config, now))
                .map(drop)
        });
        written.unwrap();
    }

    fn file(&self, rows: usize, slices: usize) {
        let snapshot = || self.0.snapshot().unwrap();
        let begun = meta::filed(&snapshot()).unwrap().pass;
        let blocks = self.0.queue().oldest_blocks(begun.as_ref());
        let slice_max = Work::new(rows, usize::MAX);
        let Some(mut pass) = Pass::begin(&snapshot(), blocks, slice_max).unwrap() else {
            return;
        };
        for _ in 0..slices {
            let Some(slice) = pass.next_slice(&snapshot()).unwrap() else {
                break;
            };
            self.0.write(|tables| slice.apply(tables)).unwrap();
        }
    }

    fn file_all(&self) {
        while self.0.queued() > 0 {
            self.file(250, usize::MAX);
        }
    }

    fn seal(&self, now: Timestamp) {
        let next = || sealing::prepare(&self.0.snapshot().unwrap(), now.day() - 1).unwrap();
        while let Some(sealing) = next() {
            self.0.write(|tables| sealing.apply(tables)).unwrap();
        }
    }

    /// The records of each bucket, and the rows of all other tables that nodes share.
    fn contents(&self) -> BTreeMap<(&'static str, Vec<u8>), Vec<String>> {
        let snapshot = self.0.snapshot().unwrap();
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        history::scan_keys(&snapshot, ALL_KEYS, &mut |part| {
            let mut rows = Rows::default();
            part.add_to(&mut rows)?;
            let records = all.entry(("history", history::key_bucket(part.key).to_vec()));
            let records = records.or_default();
            for row in 0..rows.len() {
                records.push(format!("{:?}", rows.received(row)?));
            }
            Ok(())
        })
        .unwrap();
        for records in all.values_mut() {
            records.sort_unstable();
        }
        let shared = [
            ("users", Table::Users),
            ("daily", Table::Daily),
            ("hourly", Table::Hourly),
            ("latest", Table::Latest),
            ("audit", Table::Audit),
            ("holds", Table::Holds),
            ("workspaces", Table::Workspaces),
            ("events", Table::Events),
        ];
        for (name, table) in shared {
            snapshot
                .scan(table, ALL_KEYS, |key, value| {
                    all.insert(
                        (name, key.to_vec()),
                        vec![String::from_utf8_lossy(value).into()],
                    );
                    Ok(Step::Continue(()))
                })
                .unwrap();
        }
        all
    }
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
                    arrivals.push(&RecordRef::of(&record), filed_at, filed_at);
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
            Happening::Swept(node, rows) => self.sweep(node, Work::new(rows, usize::MAX)),
        }
    }

    fn sweep(&self, by: usize, max: Work) {
        self.nodes.iter().for_each(Node::file_all);
        for of in Derived::ALL {
            let mut from = None;
            loop {
                let snapshot = self.nodes[by].0.snapshot().unwrap();
                let kept = (&self.config.retention_days, self.now);
                let span = Span::next(&snapshot, of, from, kept, max).unwrap();
                from = span.before.clone();
                self.apply(|| Maintenance::DropDerived(of, self.now, span.clone()));
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
    let sent = |user, ago| Sent {
        stream: 0,
        instance: 3,
        user,
        ago,
        is_dated: false,
    };
    fleet.happen(&Happening::Posted((0..8).map(|ago| sent(3, ago)).collect()));
    fleet.nodes[0].file_all();
    fleet.happen(&Happening::Posted(vec![sent(0, 0)]));
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
fn step_bounded_by_the_parts_of_one_node_ends_at_a_bucket() {
    let mut fleet = day_in_parts_on_one_node();
    let sent = |instance| Sent {
        stream: 0,
        instance,
        user: 3,
        ago: 4 * DAY,
        is_dated: false,
    };
    fleet.happen(&Happening::Posted(vec![sent(0), sent(2)]));
    fleet.nodes.iter().for_each(Node::file_all);
    let kept = (&fleet.config.retention_days, fleet.now);
    let of = Derived::History(Stream::Stats);
    for node in [0, 1] {
        let snapshot = fleet.nodes[node].0.snapshot().unwrap();
        let one = Work::new(1, usize::MAX);
        let span = Span::next(&snapshot, of, None, kept, one).unwrap();
        fleet.apply(|| Maintenance::DropDerived(of, fleet.now, span.clone()));
        fleet.assert_same();
    }
}
