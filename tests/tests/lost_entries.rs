//! A log that loses what it acknowledged.

use deskfleet::{ErrorKind, ManualClock, cluster::MemoryLog};
use deskfleet_tests::cluster::log::FaultyLog;
use deskfleet_tests::cluster::node::{builder, follow, node, refusal, start, stopped, workspace};

#[test]
fn a_node_whose_log_lost_entries_stops_and_keeps_its_file() {
    let clock = ManualClock::new(start());
    for others in 0..3 {
        let log = MemoryLog::new(clock.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.redb");
        let open = || builder(2, &clock).log(log.clone(), "two").open(&path);
        let two = open().unwrap();
        two.put_workspace(workspace("ws-1")).unwrap();
        two.put_workspace(workspace("ws-2")).unwrap();
        two.close().unwrap();
        log.lose_after(2);
        let one = node(1, &clock, &log);
        for other in 0..others {
            one.put_workspace(workspace(&format!("other-{other}")))
                .unwrap();
        }
        let two = open().unwrap();
        let error = stopped(&two);
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
        assert!(error.context().contains("lost entries"), "{error}");
        let error = refusal(two.put_workspace(workspace("ws-3")));
        assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
        assert!(two.workspace("ws-2").unwrap().is_some());
        follow(&one);
        assert!(one.workspace("ws-3").unwrap().is_none());
    }
}

/// Other nodes append past the position of a node that noticed nothing.
#[test]
fn a_node_that_applied_lost_entries_applies_none_of_those_in_their_place() {
    let clock = ManualClock::new(start());
    for case in 0..16 {
        let [is_unchained, writes, restarts] = [1, 2, 4].map(|bit| case & bit > 0);
        let log = MemoryLog::new(clock.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.redb");
        let open = || {
            let log = FaultyLog::new(log.clone());
            if is_unchained {
                log.keep_no_chain();
            }
            builder(2, &clock).log(log, "two").open(&path)
        };
        let mut two = open().unwrap();
        two.put_workspace(workspace("ws-1")).unwrap();
        two.put_workspace(workspace("ws-2")).unwrap();
        follow(&two);
        log.lose_after(2);
        let one = node(1, &clock, &log);
        let others = if case & 8 > 0 { 1 } else { 3 };
        for other in 0..others {
            let other = workspace(&format!("other-{other}"));
            one.put_workspace(other).unwrap();
        }
        if restarts {
            two.close().unwrap();
            two = open().unwrap();
        }
        if writes {
            refusal(two.put_workspace(workspace("ws-3")));
        }
        // What nobody reads behind it is found out within a second.
        clock.advance_seconds(2);
        let error = stopped(&two);
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{case}: {error}");
        assert!(error.context().contains("lost entries"), "{error}");
        assert_eq!(two.position(), Some(3), "{case}");
        follow(&one);
    }
}
