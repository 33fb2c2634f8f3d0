//! A log that loses what it acknowledged.

use std::ops::Range;
use std::time::Duration;

use deskfleet::cluster::{Log as _, MemoryLog};
use deskfleet::limits::TAKEOVER_SECONDS;
use deskfleet::{Engine, ErrorKind, ManualClock, WorkspaceList};
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

/// Writes a workspace of each of these numbers.
fn put(engine: &Engine, numbers: Range<u32>) {
    for number in numbers {
        let id = format!("ws-{number}");
        engine.put_workspace(workspace(&id)).unwrap();
    }
}

/// Whether this node follows the log.
fn follows(engine: &Engine) -> bool {
    engine.follow(Duration::ZERO).is_ok()
}

/// Whether this node writes nothing, but has not stopped.
fn refuses_writes_and_goes_on(engine: &Engine) -> bool {
    // The first write after a takeover finds it out.
    for _ in 0..2 {
        let error = refusal(engine.put_workspace(workspace("too-early")));
        assert_eq!(error.kind(), ErrorKind::StorageUnavailable);
    }
    engine.halted().is_none()
}

/// Three nodes that have applied the entries of ten workspaces; the log loses those after entry 4 in a takeover.
fn taken_over(clock: &ManualClock) -> (MemoryLog, [Engine; 3]) {
    let log = MemoryLog::new(clock.clone());
    let nodes = [1, 2, 3].map(|seed| node(seed, clock, &log));
    for number in 0..10_usize {
        let id = format!("ws-{number}");
        nodes[number % 3].put_workspace(workspace(&id)).unwrap();
    }
    nodes.iter().for_each(follow);
    clock.advance_seconds(60);
    log.take_over_after(4);
    (log, nodes)
}

/// All nodes write and have the same.
fn go_on(nodes: &[Engine]) {
    for (number, engine) in nodes.iter().enumerate() {
        let id = format!("after-{number}");
        engine.put_workspace(workspace(&id)).unwrap();
    }
    nodes.iter().for_each(follow);
    let all = |engine: &Engine| {
        let rows = engine.all_workspaces(WorkspaceList::All);
        rows.collect::<Result<Vec<_>, _>>().unwrap()
    };
    let first = all(&nodes[0]);
    assert_eq!(first.len(), 10 + nodes.len());
    for engine in nodes {
        assert_eq!(all(engine), first);
        assert!(engine.halted().is_none());
    }
}

#[test]
fn entries_that_a_takeover_lost_are_restored_before_anything_is_appended() {
    let clock = ManualClock::new(start());
    let (log, nodes) = taken_over(&clock);
    let before = log.read(1, usize::MAX, Duration::ZERO).unwrap();
    for engine in &nodes[..2] {
        assert!(refuses_writes_and_goes_on(engine), "{:?}", engine.halted());
    }
    assert_eq!(log.bounds(0).unwrap().last, 11);
    // The third calls nothing that fails, and finds it out as it reports.
    clock.advance_seconds(1);
    assert!(follows(&nodes[2]), "each has restored what it has");
    assert_eq!(log.bounds(0).unwrap().takeover, None);
    let after = log.read(1, usize::MAX, Duration::ZERO).unwrap();
    assert_eq!(after[..4], before);
    go_on(&nodes);
    let raised = nodes[0].conditions();
    let restored = raised.iter().find(|of| of.code == "LogRestored");
    let restored = restored.unwrap_or_else(|| unreachable!("{raised:?}"));
    assert!(
        restored
            .text
            .contains("7 entries that it had applied, up to 11"),
        "{}",
        restored.text
    );
    // A takeover that lost nothing holds up writes until each node has seen it.
    log.take_over_after(14);
    assert!(refuses_writes_and_goes_on(&nodes[1]) && refuses_writes_and_goes_on(&nodes[0]));
    clock.advance_seconds(1);
    assert!(follows(&nodes[2]) && follows(&nodes[1]) && follows(&nodes[0]));
}

#[test]
fn node_that_has_nothing_to_give_back_appends_nothing_before_the_others_have() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let nodes = [1, 2].map(|seed| node(seed, &clock, &log));
    put(&nodes[0], 0..5);
    nodes.iter().for_each(follow);
    put(&nodes[0], 5..10);
    // The second has applied no more than the log still has; one that joins has nothing at all.
    log.take_over_after(6);
    let third = node(3, &clock, &log);
    for _ in 0..5 {
        assert!(refuses_writes_and_goes_on(&nodes[1]) && refuses_writes_and_goes_on(&third));
        clock.advance_seconds(1);
    }
    assert!(follows(&nodes[0]));
    let [first, second] = nodes;
    go_on(&[first, second, third]);
}

#[test]
fn node_that_was_restarted_waits_for_another_that_has_what_it_applied() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let open = |seed| builder(seed, &clock).log(log.clone(), "two").open(&path);
    let [one, two] = [node(1, &clock, &log), open(2).unwrap()];
    put(&two, 0..10);
    follow(&one);
    two.close().unwrap();
    let two = open(3).unwrap();
    log.take_over_after(3);
    for _ in 0..3 {
        assert!(refuses_writes_and_goes_on(&two), "{:?}", two.halted());
        clock.advance_seconds(1);
    }
    let _ = follows(&one);
    assert!(follows(&two) && follows(&one));
    go_on(&[one, two]);
}

#[test]
fn silent_node_delays_the_others_by_ten_seconds_at_most() {
    let clock = ManualClock::new(start());
    let (log, nodes) = taken_over(&clock);
    for _ in 0..TAKEOVER_SECONDS {
        assert!(refuses_writes_and_goes_on(&nodes[0]));
        clock.advance_seconds(1);
    }
    go_on(&nodes[..2]);
    assert_eq!(log.bounds(0).unwrap().takeover, None);
    assert!(follows(&nodes[2]), "it lost nothing");
}

#[test]
fn entries_that_no_running_node_has_are_lost_and_no_file_is_to_be_removed() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.redb");
    let open = || builder(2, &clock).log(log.clone(), "two").open(&path);
    let two = open().unwrap();
    put(&two, 0..3);
    two.close().unwrap();
    log.take_over_after(2);
    let two = open().unwrap();
    assert!(refuses_writes_and_goes_on(&two));
    for _ in 0..TAKEOVER_SECONDS {
        assert!(!follows(&two));
        clock.advance_seconds(1);
    }
    let error = stopped(&two);
    assert_eq!(error.kind(), ErrorKind::Corrupted);
    assert!(error.context().contains("Remove no file"), "{error}");
    assert!(two.workspace("ws-2").unwrap().is_some());
    let one = node(1, &clock, &log);
    assert!(
        follows(&one),
        "it has lost nothing, and waits for no node that stopped"
    );
}

/// The answer to an append arrives when the node has restored what it had applied by then.
#[test]
fn entry_that_was_appended_before_a_takeover_is_not_applied_after_it() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let way = FaultyLog::new(log.clone());
    let one = builder(1, &clock).log(way.clone(), "one");
    let [one, two] = [one.open_in_memory().unwrap(), node(2, &clock, &log)];
    one.put_workspace(workspace("ws-1")).unwrap();
    follow(&two);
    let last = log.bounds(0).unwrap().last;
    let (appended, release) = way.hold_next_answer();
    let written = std::thread::scope(|scope| {
        let written = scope.spawn(|| one.put_workspace(workspace("lost")));
        appended.recv().unwrap();
        log.take_over_after(last);
        for engine in [&one, &two, &one] {
            clock.advance_seconds(1);
            let _ = follows(engine);
        }
        assert_eq!(log.bounds(0).unwrap().takeover, None);
        two.put_workspace(workspace("ws-2")).unwrap();
        release.send(()).unwrap();
        written.join().unwrap()
    });
    assert_eq!(refusal(written).kind(), ErrorKind::Indeterminate);
    follow(&one);
    for engine in [&one, &two] {
        assert!(engine.workspace("lost").unwrap().is_none());
        assert!(engine.workspace("ws-2").unwrap().is_some());
    }
}

/// Entries of others come in between, which a log without chains does not see as it restores.
#[test]
fn restoring_ends_where_another_node_appends_meanwhile() {
    let clock = ManualClock::new(start());
    for is_unchained in [false, true] {
        let log = MemoryLog::new(clock.clone());
        let way = FaultyLog::new(log.clone());
        if is_unchained {
            way.keep_no_chain();
        }
        let one = builder(1, &clock).log(way.clone(), "one");
        let [one, two] = [one.open_in_memory().unwrap(), node(2, &clock, &log)];
        for number in 0..3 {
            let id = format!("ws-{number}");
            one.put_workspace(workspace(&id)).unwrap();
            if number == 0 {
                follow(&two);
            }
        }
        let last = log.bounds(0).unwrap().last;
        log.lose_after(last - 2);
        let (restored, release) = way.hold_next_answer();
        let followed = std::thread::scope(|scope| {
            clock.advance_seconds(1);
            let followed = scope.spawn(|| one.follow(Duration::ZERO));
            restored.recv().unwrap();
            two.put_workspace(workspace("other")).unwrap();
            release.send(()).unwrap();
            followed.join().unwrap()
        });
        assert!(followed.is_err());
        assert_eq!(stopped(&one).kind(), ErrorKind::Corrupted);
        follow(&two);
        assert!(two.workspace("ws-1").unwrap().is_some(), "it was restored");
        assert!(
            two.workspace("ws-2").unwrap().is_none(),
            "its place was taken"
        );
        assert_eq!(log.bounds(0).unwrap().last, last);
    }
}

/// A node that cannot see whether the others have restored what they have waits.
#[test]
fn log_without_reports_does_not_count_as_restored() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let way = FaultyLog::new(log.clone());
    let behind = builder(1, &clock).log(way.clone(), "behind");
    let [behind, ahead] = [behind.open_in_memory().unwrap(), node(2, &clock, &log)];
    ahead.put_workspace(workspace("ws-1")).unwrap();
    follow(&behind);
    clock.advance_seconds(1);
    follow(&behind);
    let last = log.bounds(0).unwrap().last;
    ahead.put_workspace(workspace("ws-2")).unwrap();
    log.take_over_after(last);
    way.mute(true);
    assert!(refuses_writes_and_goes_on(&behind));
    way.mute(false);
    // The new server does not know of the other node.
    log.forget("node-2").unwrap();
    assert!(refuses_writes_and_goes_on(&behind));
    let error = refusal(behind.follow(Duration::ZERO));
    assert!(
        deskfleet::error_chain(&error).contains("(not yet: node-2)"),
        "{error:?}"
    );
    clock.advance_seconds(1);
    assert!(follows(&ahead) && follows(&behind));
    assert!(behind.workspace("ws-2").unwrap().is_some());
}

/// Others could not restore anything either in that time.
#[test]
fn time_without_the_log_does_not_count() {
    let clock = ManualClock::new(start());
    let log = MemoryLog::new(clock.clone());
    let way = FaultyLog::new(log.clone());
    let behind = builder(1, &clock).log(way.clone(), "behind");
    let [behind, ahead] = [behind.open_in_memory().unwrap(), node(2, &clock, &log)];
    ahead.put_workspace(workspace("ws-1")).unwrap();
    follow(&behind);
    let last = log.bounds(0).unwrap().last;
    ahead.put_workspace(workspace("ws-2")).unwrap();
    log.take_over_after(last);
    assert!(refuses_writes_and_goes_on(&behind) && behind.log_is_taken_over());
    way.partition(true);
    clock.advance_seconds(60);
    assert!(!follows(&behind) && !behind.log_is_taken_over());
    way.partition(false);
    assert!(refuses_writes_and_goes_on(&behind) && behind.log_is_taken_over());
    assert!(follows(&ahead) || follows(&ahead));
    assert!(follows(&behind) && !behind.log_is_taken_over());
    assert!(behind.workspace("ws-2").unwrap().is_some());
}

#[test]
fn node_that_is_forgotten_is_not_waited_for() {
    let clock = ManualClock::new(start());
    let (_log, nodes) = taken_over(&clock);
    assert!(refuses_writes_and_goes_on(&nodes[0]) && refuses_writes_and_goes_on(&nodes[1]));
    nodes[0].forget_node("node-3", None).unwrap();
    assert!(follows(&nodes[0]));
    go_on(&nodes[..2]);
}

/// A log that says of no takeover, and has others in the place of what it lost.
#[test]
fn entries_are_not_restored_where_others_took_their_place_or_all_is_gone() {
    let clock = ManualClock::new(start());
    for (kept, others) in [(2, 1), (2, 6), (0, 0)] {
        let (log, nodes) = taken_over(&clock);
        let takeover = log.bounds(0).unwrap().takeover;
        log.resume(takeover.unwrap()).unwrap();
        log.lose_after(kept);
        if others > 0 {
            let other = node(9, &clock, &log);
            for number in 0..others {
                let id = format!("other-{number}");
                other.put_workspace(workspace(&id)).unwrap();
            }
        }
        let last = log.bounds(0).unwrap().last;
        for engine in &nodes {
            clock.advance_seconds(2);
            assert_eq!(stopped(engine).kind(), ErrorKind::Corrupted);
        }
        assert_eq!(log.bounds(0).unwrap().last, last);
    }
}
