//! Litigation holds against retention: whatever the spelling, nothing that could belong to a held workspace is removed.

use std::path::Path;

use deskfleet::{
    ActionRequest, ActivityRecord, Engine, EngineBuilder, ErrorKind, HistoryQuery, ManualClock,
    Nullable, Record, StatsRecord, Stream, Timestamp, Workspace,
};
use proptest::collection::vec;
use proptest::prelude::*;
use redb::{Database, ReadableTable as _, TableDefinition};

const DAY: i64 = 86_400;

/// Spellings of each name, the inventory's first.
const IDS: [&[&str]; 3] = [
    &["ws-a", "WS-A", "Ws-a"],
    &["WS-Ü", "ws-ü", "ws-u\u{308}"],
    &["ws-c", "WS-C"],
];
const COMPUTERS: [&[&str]; 3] = [
    &["PC-A", "pc-a"],
    &["Pc-B", "PC-B"],
    &["PC-K", "pc-\u{212a}"],
];
const USERS: [&[&str]; 3] = [
    &["jdoe", "JDOE", "CORP\\jDoe", "jdoe@corp.example"],
    &["Änne", "a\u{308}nne", "X\\ÄNNE"],
    &["pool", "POOL@x"],
];

/// A name by its number and its spelling; 3 for an unknown name.
type Name = (usize, usize);

fn spelling(names: [&'static [&'static str]; 3], (name, spelling): Name) -> &'static str {
    let spellings = names.get(name).copied().unwrap_or(&["unknown"]);
    spellings[spelling % spellings.len()]
}

/// A record: whether it names a computer rather than an id, and when it was sent, in hours from the start.
#[derive(Debug, Clone)]
struct Sent {
    by_computer: bool,
    instance: Name,
    user: Name,
    hours: i64,
    activity: bool,
    file: bool,
}

impl Sent {
    fn instance_id(&self) -> &'static str {
        let names = if self.by_computer { COMPUTERS } else { IDS };
        spelling(names, self.instance)
    }

    fn record(&self, start: Timestamp, number: i32) -> Record {
        let instance_id = Nullable::from(self.instance_id());
        let username = Nullable::from(spelling(USERS, self.user));
        let time = Some(start.plus_seconds(self.hours * 3600));
        if self.activity {
            Record::Activity(Box::new(ActivityRecord {
                id: Some(number),
                activity_time: time,
                instance_id,
                username,
                ..ActivityRecord::default()
            }))
        } else {
            Record::Stats(Box::new(StatsRecord {
                id: Some(number),
                update_time: time,
                instance_id,
                username,
                ..StatsRecord::default()
            }))
        }
    }

    /// Whether it could belong to the workspace: its id and computer have the workspace's number, its user is in
    /// `users`.
    fn could_belong(&self, desk: usize, users: &[usize; 3]) -> bool {
        self.instance.0 == desk || self.user.0 == users[desk]
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let name = || (0..4_usize, 0..4_usize);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (flags, name(), name(), -40..30_i64).prop_map(|(flags, instance, user, hours)| Sent {
        by_computer: flags.0,
        activity: flags.1,
        file: flags.2,
        instance,
        user,
        hours,
    })
}

/// The numbers of the stored records, for all spellings of all instances.
fn held(engine: &Engine) -> Vec<i32> {
    let mut numbers = Vec::new();
    let names = IDS.iter().chain(&COMPUTERS).copied().flatten();
    for instance in names.chain(&["unknown"]) {
        for stream in [Stream::Stats, Stream::Activity] {
            let page = engine
                .history(&HistoryQuery {
                    limit: 500,
                    ..HistoryQuery::new(stream, *instance)
                })
                .unwrap();
            for received in page.records {
                numbers.extend(match received.record {
                    Record::Stats(record) => record.id,
                    Record::Activity(record) => record.id,
                    Record::Startup(_) | Record::Processes(_) => None,
                });
            }
        }
    }
    numbers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_that_could_belong_to_a_held_workspace_are_kept(
        users in [0..3_usize, 0..3_usize, 0..3_usize],
        holds in vec(0..3_usize, 0..3),
        late in any::<bool>(),
        records in vec(sent(), 1..40),
        sweeps in vec(1..200_i64, 1..6),
    ) {
        let start: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let clock = ManualClock::new(start);
        let engine = Engine::builder().clock(clock.clone()).seed(7).open_in_memory().unwrap();
        for (desk, user) in users.into_iter().enumerate() {
            engine.put_workspace(Workspace {
                id: IDS[desk][0].to_owned(),
                computer_name: Some(COMPUTERS[desk][0].to_owned()),
                username: Some(USERS[user][0].to_owned()),
                ..Workspace::default()
            }).unwrap();
        }
        let place = || for desk in &holds {
            engine.place_hold(IDS[*desk][0], "Doe v. Roe", None).unwrap();
        };
        if !late {
            place();
        }
        for (record, number) in records.iter().zip(0..) {
            engine.record(record.record(start, number)).unwrap();
            if record.file {
                engine.file_pending().unwrap();
            }
        }
        engine.file_pending().unwrap();
        if late {
            place();
        }
        let mut now = start;
        for days in sweeps {
            now = now.plus_seconds(days * DAY);
            clock.set(now);
            engine.apply_retention().unwrap();
            engine.maintain().unwrap();
        }
        let found = held(&engine);
        for (record, number) in records.iter().zip(0..) {
            let kept = holds.iter().any(|desk| record.could_belong(*desk, &users));
            prop_assert!(!kept || found.contains(&number), "{number} is gone: {record:?}");
        }
        for desk in &holds {
            let user = users[*desk];
            let view = engine.user(USERS[user][0]).unwrap().unwrap();
            let seen = records.iter().any(|record| record.user.0 == user);
            prop_assert_eq!(view.last_seen.is_some(), seen);
        }
        // Without a hold nothing is kept, once the longest retention has passed.
        for desk in holds {
            let _ = engine.release_hold(IDS[desk][0]);
        }
        clock.set(now.plus_seconds(400 * DAY));
        engine.apply_retention().unwrap();
        prop_assert_eq!(held(&engine), Vec::<i32>::new());
    }
}

/// Other spellings of the id `ws-1`.
const SPELLED: [&str; 6] = [
    "WS-1",
    "Ws-1",
    "ws-1 ",
    "\u{a0}ws-1",
    "w\u{200b}s-1",
    "\u{202e}WS-1",
];

fn builder() -> EngineBuilder {
    let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
    Engine::builder().clock(clock).seed(7)
}

fn named(id: &str) -> Workspace {
    Workspace {
        id: id.to_owned(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

#[test]
fn new_id_that_exists_in_another_spelling_is_refused() {
    let engine = builder().open_in_memory().unwrap();
    engine.put_workspace(named("ws-1")).unwrap();
    engine.put_workspace(named("WS-UPPER")).unwrap();
    let is_refused = |result: deskfleet::Result<()>, id: &str| {
        let kind = result.map_err(|error| error.kind());
        assert_eq!(kind, Err(ErrorKind::InvalidParameter), "{id:?}");
    };
    for id in SPELLED.into_iter().chain(["ws-upper", "Ws-Upper"]) {
        is_refused(engine.put_workspace(named(id)), id);
        let several = vec![named("ws-2"), named(id)];
        is_refused(engine.put_workspaces(several).map(drop), id);
        let mut import = engine.import();
        import
            .push(format!("{{\"workSpId\":\"{id}\"}}\n").as_bytes())
            .unwrap();
        assert_eq!(import.finish().unwrap().rejected, 1, "{id:?}");
    }
    for id in ["ws-3 ", "\tws-3", "ws\u{ad}-3", "ws-3\u{feff}"] {
        is_refused(engine.put_workspace(named(id)), id);
    }
    let twice = vec![named("ws-4"), named("WS-4")];
    is_refused(engine.put_workspaces(twice).map(drop), "ws-4 twice");
    // What exists is written again, and frees its id when it is removed.
    engine
        .put_workspaces(vec![named("ws-1"), named("WS-UPPER")])
        .unwrap();
    engine.remove_workspace("WS-UPPER").unwrap();
    engine.put_workspace(named("ws-upper")).unwrap();
    assert!(engine.check().unwrap().problems.is_empty());
}

/// Gives the store at `path` a copy of the workspace `ws-1` under other ids, as older versions stored them.
fn respell(path: &Path, held: bool) {
    const WORKSPACES: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("workspaces");
    const META: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("meta");
    let database = Database::create(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(WORKSPACES).unwrap();
        let mut value = table
            .get(b"ws-1".as_slice())
            .unwrap()
            .unwrap()
            .value()
            .to_vec();
        // The flag of a hold.
        assert_eq!(value[0] & 2 != 0, held);
        value[0] &= !2;
        for id in SPELLED {
            table.insert(id.as_bytes(), value.as_slice()).unwrap();
        }
        let mut meta = transaction.open_table(META).unwrap();
        let folding = meta
            .get(b"folding".as_slice())
            .unwrap()
            .unwrap()
            .value()
            .to_vec();
        meta.insert(b"folding".as_slice(), &folding[..3]).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn hold_holds_the_spellings_that_an_older_store_has() {
    for before in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.redb");
        let engine = builder().open(&path).unwrap();
        engine.put_workspace(named("ws-1")).unwrap();
        if before {
            engine.place_hold("ws-1", "Doe v. Roe", None).unwrap();
        }
        engine.close().unwrap();
        respell(&path, before);
        let engine = builder().open(&path).unwrap();
        if !before {
            engine.place_hold("ws-1", "Doe v. Roe", None).unwrap();
        }
        for id in SPELLED {
            let refused = engine.act(ActionRequest::terminate(id)).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::LitigationHold, "{id:?}");
        }
        assert!(engine.check().unwrap().problems.is_empty());
        engine.place_hold("ws-1", "Another", None).unwrap();
        engine.release_hold("ws-1").unwrap();
        for id in SPELLED {
            let view = engine.workspace(id).unwrap().unwrap();
            assert_eq!(view.litigation_hold, None, "{id:?}");
        }
        engine.close().unwrap();
    }
}
