//! The server killed while a client follows its events, over and over: the client goes on after the last one it saw, and sees each
//! event once.
//!
//! `DESKFLEET_RECONNECT_ROUNDS=1000 cargo test -p deskfleet-server --test suites events_kill:: -- --nocapture` is the long form.
#![cfg(unix)]

use std::time::Duration;

use crate::followed::{Followed, Sent};
use crate::load::ledger::{Fact, Ledger};
use crate::load::{Client, Place, Served};

/// Rounds in an ordinary run.
const ROUNDS: u32 = 10;

fn rounds() -> u32 {
    let rounds = std::env::var("DESKFLEET_RECONNECT_ROUNDS");
    rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

/// Follows the events after `position` until the server is gone.
fn follow(served: &Served, place: &Place, position: u64) -> Option<Followed> {
    let resumed = format!("last-event-id: {position}\r\n");
    Followed::begin(served.address, &place.admin, "", &resumed).ok()
}

/// The type and the subject of the event that an acknowledged write has, if it has one of its own.
fn event_of(fact: &Fact) -> Option<(&'static str, &str, &str)> {
    Some(match fact {
        Fact::Workspace(id) => ("workspace.changed", "/workSpaceId", id),
        Fact::Action(id) => ("action.accepted", "/workSpaceId", id),
        Fact::Held(id) => ("hold.placed", "/workSpaceId", id),
        Fact::Released(id) => ("hold.released", "/workSpaceId", id),
        Fact::Key(name) => ("key.issued", "/detail/name", name),
        Fact::Revoked(name) => ("key.revoked", "/detail/name", name),
        Fact::Record { .. } | Fact::Batch { .. } => return None,
    })
}

/// Each acknowledged write has one event.
fn check(ledger: &Ledger, events: &[Sent]) {
    for (kind, at, subject) in ledger.durable.iter().filter_map(event_of) {
        let is_it = |sent: &&Sent| {
            sent.kind == kind
                && sent.data.pointer(at).and_then(|name| name.as_str()) == Some(subject)
        };
        assert_eq!(
            events.iter().filter(is_it).count(),
            1,
            "{kind} of {subject}"
        );
    }
}

/// The whole log, in pages.
fn pages(served: &Served, place: &Place) -> Vec<serde_json::Value> {
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let mut rows: Vec<serde_json::Value> = Vec::new();
    loop {
        let page = client.json(&format!("GET /query/events?limit=500&after={}", rows.len()));
        rows.extend(page["rows"].as_array().unwrap().iter().cloned());
        if page["hasMore"] == false {
            return rows;
        }
    }
}

#[test]
fn events_followed_over_kill_9_have_no_gap_and_no_repetition() {
    let place = Place::new();
    let mut all: Vec<Sent> = Vec::new();
    let mut acknowledged = 0;
    for round in 0..rounds() {
        let mut served = place.serve();
        let position = all.last().map_or(0, |last| last.id.unwrap());
        let (ledger, seen) = std::thread::scope(|scope| {
            let events = follow(&served, &place, position).unwrap();
            let follower = scope.spawn(move || events.collect::<Vec<_>>());
            let ledger = place.write_until(&mut served, round, |served| {
                let spread = round.wrapping_mul(2_654_435_761) >> 24;
                std::thread::sleep(Duration::from_millis(50 + u64::from(spread)));
                served.kill();
            });
            (ledger, follower.join().unwrap())
        });
        for sent in seen {
            let next = u64::try_from(all.len()).unwrap() + 1;
            assert_eq!(sent.id, Some(next), "no gap, no repetition: {sent:?}");
            all.push(sent);
        }
        // What the client did not receive any more follows in the next round.
        let served = place.serve();
        let rows = pages(&served, &place);
        let expected = rows.iter().take(all.len());
        assert!(
            expected.eq(all.iter().map(|sent| &sent.data)),
            "round {round}"
        );
        for data in rows.iter().skip(all.len()) {
            let mut events = follow(&served, &place, all.len() as u64).unwrap();
            let sent = events.next().unwrap();
            assert_eq!(&sent.data, data);
            all.push(sent);
        }
        check(&ledger, &all);
        acknowledged += ledger.durable.len();
    }
    assert!(acknowledged > 0, "nothing was acknowledged");
    println!("{} rounds: {} events, each seen once", rounds(), all.len());
}
