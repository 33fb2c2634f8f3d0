//! An export where the disk has no room to file the queue first.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deskfleet::{Engine, ManualClock, Record, StatsRecord, Stream, Timestamp, query::ExportQuery};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::disk::Disk;

/// Records of three instances on two days, each with a number of its own; many of one instance have the same time.
fn numbered(ids: Range<u32>) -> Vec<Record> {
    let time = |id: u32| {
        NOW.parse::<Timestamp>()
            .unwrap()
            .plus_seconds(-i64::from(id % 2) * 86_400)
    };
    let record = |id: u32| {
        let record = StatsRecord {
            id: i32::try_from(id).ok(),
            instance_id: format!("ws-{}", id % 3 * (id % 2)).into(),
            update_time: Some(time(id).plus_seconds(-i64::from(id / 700))),
            ..StatsRecord::default()
        };
        Record::Stats(Box::new(record))
    };
    ids.map(record).collect()
}

#[test]
fn export_with_no_room_to_file_the_queue_has_each_record_once_though_they_are_filed_meanwhile() {
    const ALL: u32 = 9_000;
    // After how many exported records the queue is filed, and how many were filed before.
    for (filed_after, filed_before) in [
        (ALL, 0),
        (1_500, 0),
        (1_024, 4_000),
        (3_000, 8_000),
        (4_999, 1),
    ] {
        let (disk, free) = (Disk::new(), Arc::new(AtomicU64::new(u64::MAX)));
        let reported = Arc::clone(&free);
        let engine = Engine::builder()
            .clock(ManualClock::new(NOW.parse().unwrap()))
            .seed(7)
            .free_space(move || Some(reported.load(Ordering::SeqCst)))
            .open_backend_with_queue(disk.backend(), disk.folder())
            .unwrap();
        engine.record_all(&numbered(0..filed_before)).unwrap();
        engine.file_pending().unwrap();
        engine.record_all(&numbered(filed_before..ALL)).unwrap();
        free.store(0, Ordering::SeqCst);
        let mut exported = Vec::new();
        for received in engine.export(ExportQuery::new(Stream::Stats)) {
            let received = received.unwrap();
            let Record::Stats(record) = &received.record else {
                panic!("{received:?}")
            };
            let id = u32::try_from(record.id.unwrap()).unwrap();
            exported.push((
                received.filed_at.day(),
                record.instance_id.clone(),
                received.filed_at,
                id,
            ));
            if exported.len() == filed_after as usize {
                free.store(u64::MAX, Ordering::SeqCst);
                assert!(engine.file_pending().unwrap() > 0);
            }
        }
        let mut ids: Vec<_> = exported.iter().map(|(.., id)| *id).collect();
        ids.sort_unstable();
        assert_eq!(
            ids,
            (0..ALL).collect::<Vec<_>>(),
            "{filed_after} {filed_before}"
        );
        let order: Vec<_> = exported
            .iter()
            .map(|(day, instance, at, _)| (*day, format!("{instance:?}"), *at))
            .collect();
        assert!(order.is_sorted(), "{filed_after} {filed_before}");
    }
}
