//! Closing on a disk that fails loses nothing, and a later close leaves one file.

use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::failing::{Acknowledged, Case};
use deskfleet_tests::files::{Part, Queue};

/// Closes on a failing disk. What it left is a store with all that was acknowledged, and closes once the disk works.
fn closes(case: &Case, fault: Fault) -> bool {
    let what = format!("closed on {fault:?}, {case:?}");
    let disk = Disk::crashing();
    let store = case.engine(&disk);
    let mut acknowledged = Acknowledged::default();
    assert!(acknowledged.put(&store, "ws-a"));
    assert!(acknowledged.post(&store, 1));
    store.file_pending().unwrap();
    for id in 2..10 {
        assert!(acknowledged.post(&store, id));
    }
    case.fail(&disk, fault);
    let closed = store.close();
    drop(store);
    let failed = disk.failed() > 0;
    assert!(failed || closed.is_ok(), "{what}: {closed:?}");
    disk.fail(Fault::None);
    let cut = Disk::holding(disk.durable());
    acknowledged.demand(&case.engine(&cut), &format!("{what}, power cut"));
    let store = case.engine(&disk);
    acknowledged.demand(&store, &what);
    assert!(acknowledged.post(&store, 10), "{what}");
    if !matches!(
        fault,
        Fault::Once(Operation::Sync, _) | Fault::From(Operation::Sync, _)
    ) {
        // After a sync that failed it is unknown what the system holds in memory alone, once the process is gone.
        let cut = Disk::holding(disk.durable());
        acknowledged.demand(&case.engine(&cut), &format!("{what}, later power cut"));
    }
    case.close(&store, &disk, &acknowledged, &what);
    failed
}

#[test]
fn nth_failure_of_closing_keeps_acknowledged_writes() {
    for case in Case::all(true, false).filter(|case| case.posted) {
        for operation in Operation::ALL {
            for fault in [Fault::Once, Fault::From] {
                let failures = (0..).take_while(|n| closes(&case, fault(operation, *n)));
                let failures = failures.count();
                let removes = case.setup.queue == Queue::Folder && case.part != Some(Part::Store);
                assert!(
                    failures > 0 || !removes || operation != Operation::Remove,
                    "{operation:?} never failed, {case:?}"
                );
            }
        }
    }
}

#[test]
fn engine_whose_disk_failed_for_a_while_closes_into_one_file() {
    for case in Case::all(true, false).filter(|case| case.posted) {
        let disk = Disk::crashing();
        let store = case.engine(&disk);
        let mut acknowledged = Acknowledged::default();
        assert!(acknowledged.post(&store, 1));
        case.fail(&disk, Fault::Writes);
        acknowledged.put(&store, "ws-a");
        acknowledged.post(&store, 2);
        disk.fail(Fault::None);
        case.close(&store, &disk, &acknowledged, &format!("{case:?}"));
    }
}
