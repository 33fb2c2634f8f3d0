//! Litigation holds against retention: whatever the spelling, nothing that could belong to a held workspace is removed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use deskfleet::{
    ActivityRecord, Engine, HistoryQuery, ManualClock, Nullable, Record, StatsRecord, Stream,
    Timestamp, Workspace,
};
use proptest::collection::vec;
use proptest::prelude::*;

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
