//! What monitoring asks an engine for.

use std::time::Duration;

use deskfleet::{ActionRequest, Engine, ManualClock, State, StatsRecord, Timestamp, Workspace};
use deskfleet_tests::disk::Disk;

const NOW: &str = "2026-11-22T09:00:00Z";

fn open(disk: &Disk, clock: &ManualClock) -> Engine {
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    let builder = builder.free_space(|| Some(1 << 40));
    builder.open_backend(disk.backend()).unwrap()
}

fn desktop(id: &str, state: State) -> Workspace {
    Workspace {
        id: id.to_owned(),
        state: Some(state.into()),
        ..Workspace::default()
    }
}

#[test]
fn store_status_names_queue_and_disk_also_after_reopening() {
    let start: Timestamp = NOW.parse().unwrap();
    let (disk, clock) = (Disk::new(), ManualClock::new(start));
    let engine = open(&disk, &clock);
    let empty = engine.store_status().unwrap();
    assert_eq!((empty.queue_records, empty.queue_bytes), (0, 0));
    assert_eq!(
        (empty.oldest_queued, empty.free_bytes),
        (None, Some(1 << 40))
    );
    assert_eq!(empty.retention_applied, Some(start));
    assert!(empty.bytes > 0);

    for second in 1..4 {
        clock.advance_seconds(1);
        let record = StatsRecord {
            instance_id: format!("ws-{second}").as_str().into(),
            ..StatsRecord::default()
        };
        engine.record(record).unwrap();
    }
    let full = engine.store_status().unwrap();
    assert_eq!(full.queue_records, 3);
    assert_eq!(full.oldest_queued, Some(start + Duration::from_secs(1)));
    assert!(full.queue_bytes > 3 * 4, "{full:?}");
    engine.close().unwrap();

    let engine = open(&disk, &clock);
    let mut reopened = engine.store_status().unwrap();
    reopened.bytes = full.bytes;
    assert_eq!(reopened, full);
    engine.file_pending().unwrap();
    let filed = engine.store_status().unwrap();
    assert_eq!((filed.queue_records, filed.queue_bytes), (0, 0));
    assert_eq!(filed.oldest_queued, None);
}

#[test]
fn fleet_counts_follow_writes_and_the_clock() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let engine = open(&Disk::new(), &clock);
    for id in ["ws-1", "ws-2"] {
        engine.put_workspace(desktop(id, State::Available)).unwrap();
    }
    engine
        .put_workspace(desktop("ws-3", State::Terminated))
        .unwrap();
    let states = |states: [State; 3]| {
        let counts = engine.fleet_counts().unwrap();
        (states.map(|state| counts.in_state(state)), counts.actions)
    };
    let of_all = || states([State::Available, State::Rebooting, State::Terminated]);
    assert_eq!(of_all(), ([2, 0, 1], 0));
    engine.act(ActionRequest::reboot("ws-1")).unwrap();
    assert_eq!(of_all(), ([1, 1, 1], 1));
    let accepted = Some(engine.now());
    clock.advance_seconds(1);
    assert_eq!(engine.fleet_counts().unwrap().oldest_action, accepted);

    // Nothing is written from here on: the clock alone ends the action, and takes the terminated one off the list.
    clock.advance_seconds(3600);
    assert_eq!(of_all(), ([2, 0, 1], 0));
    clock.advance_seconds(7 * 86_400);
    assert_eq!(of_all(), ([2, 0, 0], 0));
}
