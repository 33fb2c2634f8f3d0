//! A clock that was ahead and is set right: what was stored meanwhile ends, counts and shows by the correct time.

use deskfleet::{
    Action, ActionRequest, AuditResult, Config, Engine, HistoryQuery, ManualClock, NewKey,
    PendingAction, Record, Scope, Stream, Timestamp,
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{activity, desk, stats};
use deskfleet_tests::disk::Disk;

const DAY: i64 = 86_400;

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// An engine on a disk whose clock is ahead by 40 days.
fn ahead() -> (Disk, ManualClock, Engine) {
    let (disk, clock) = (Disk::new(), ManualClock::new(now()));
    let engine = open(&disk, &clock);
    engine
        .put_workspace(desk("ws-1", "AVAILABLE", "jdoe"))
        .unwrap();
    engine.maintain().unwrap();
    clock.set(now().plus_seconds(40 * DAY));
    (disk, clock, engine)
}

fn open(disk: &Disk, clock: &ManualClock) -> Engine {
    Engine::builder()
        .clock(clock.clone())
        .seed(7)
        .config(Config::default())
        .open_backend(disk.backend())
        .unwrap()
}

fn state(engine: &Engine) -> String {
    engine
        .workspace("ws-1")
        .unwrap()
        .unwrap()
        .workspace
        .state
        .unwrap()
        .into()
}

/// The running action, which the workspace and the outbox must show alike.
fn running(engine: &Engine) -> PendingAction {
    let shown = engine
        .workspace("ws-1")
        .unwrap()
        .unwrap()
        .transition
        .unwrap();
    assert_eq!(
        engine.pending_actions().unwrap(),
        std::slice::from_ref(&shown)
    );
    shown
}

fn check(engine: &Engine) {
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn action_accepted_by_a_clock_ahead_restarts_and_ends() {
    let (disk, clock, engine) = ahead();
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-1"))
        .unwrap();
    clock.set(now());
    for _ in 0..2 {
        // Until that is stored, it restarts with each read.
        clock.advance_seconds(10);
        let shown = running(&engine);
        assert_eq!(shown.requested_at, engine.now());
        assert_eq!(shown.due_at, Some(engine.now().plus_seconds(120)));
    }
    engine.maintain().unwrap();
    let due = engine.now().plus_seconds(120);
    clock.advance_seconds(119);
    engine.maintain().unwrap();
    drop(engine);
    let engine = open(&disk, &clock);
    assert_eq!(
        (state(&engine).as_str(), running(&engine).due_at),
        ("REBOOTING", Some(due))
    );
    check(&engine);
    clock.advance_seconds(1);
    assert_eq!(state(&engine), "AVAILABLE");
    let ended = |engine: &Engine| {
        let row = engine.admin_activity(1).unwrap().remove(0);
        assert_eq!(
            (row.result, row.completed_time),
            (AuditResult::Completed, Some(due))
        );
    };
    ended(&engine);
    engine.maintain().unwrap();
    ended(&engine);
    check(&engine);
}

#[test]
fn write_to_a_workspace_stores_the_restart_of_its_action() {
    let (_disk, clock, engine) = ahead();
    engine
        .act(ActionRequest::new(Action::Rebuild, "ws-1"))
        .unwrap();
    clock.set(now());
    engine.place_hold("ws-1", "Doe v. Corp", None).unwrap();
    let due = now().plus_seconds(1800);
    clock.advance_seconds(60);
    assert_eq!(running(&engine).due_at, Some(due));
    check(&engine);
    clock.set(due);
    engine.maintain().unwrap();
    assert_eq!(state(&engine), "AVAILABLE");
}

#[test]
fn unset_clock_restarts_no_action() {
    let (_disk, clock, engine) = ahead();
    clock.set(now());
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-1"))
        .unwrap();
    clock.set(Timestamp::UNIX_EPOCH);
    engine.maintain().unwrap();
    let due = Some(now().plus_seconds(120));
    assert_eq!(running(&engine).due_at, due);
    clock.set(now().plus_seconds(119));
    engine.maintain().unwrap();
    assert_eq!(running(&engine).due_at, due);
}

#[test]
fn reboot_of_a_state_dated_in_the_future_is_accepted() {
    let (_disk, clock, engine) = ahead();
    engine
        .put_workspace(desk("ws-1", "REBOOTING", "jdoe"))
        .unwrap();
    clock.set(now());
    engine
        .act(ActionRequest::new(Action::Reboot, "ws-1"))
        .unwrap();
    clock.advance_seconds(120);
    assert_eq!(state(&engine), "AVAILABLE");
}

#[test]
fn last_use_dated_in_the_future_is_replaced_by_the_next() {
    let (disk, clock, engine) = ahead();
    let key = engine
        .issue_key(NewKey::new("reader", [Scope::Read]))
        .unwrap();
    let read = |engine: &Engine| {
        let request = http::Request::get("/api/Information/GetAdminActivity")
            .header("x-api-key", &*key.secret);
        assert_eq!(
            engine.handle(request.body("".into()).unwrap()).status(),
            200
        );
        engine.maintain().unwrap();
        engine.keys()[0].last_used
    };
    assert_eq!(read(&engine), Some(now().plus_seconds(40 * DAY)));
    clock.set(now());
    assert_eq!(read(&engine), Some(now()));
    drop(engine);
    assert_eq!(open(&disk, &clock).keys()[0].last_used, Some(now()));
}

/// Records of an agent with a correct clock, received while that of the server was ahead.
#[test]
fn records_received_by_a_clock_ahead_are_in_their_own_window_and_a_retry_changes_nothing() {
    for days in [1, 20, 40, 400] {
        for filed in [false, true] {
            let (_disk, clock, engine) = ahead();
            clock.set(now().plus_seconds(days * DAY));
            let sent: [Record; 2] = [
                stats("ws-1", "jdoe", 1, NOW),
                activity("ws-1", "jdoe", "Logon", NOW),
            ];
            engine.record_all(&sent).unwrap();
            if filed {
                engine.file_pending().unwrap();
            }
            clock.set(now().plus_seconds(60));
            engine.record_all(&sent).unwrap();
            for _ in 0..2 {
                for stream in [Stream::Stats, Stream::Activity] {
                    let page = engine
                        .history(&HistoryQuery {
                            limit: 10,
                            ..HistoryQuery::new(stream, "ws-1")
                        })
                        .unwrap();
                    assert_eq!(
                        page.records.len(),
                        1,
                        "{days} days ahead, filed {filed}: {stream:?}"
                    );
                    assert_eq!(
                        page.records[0].filed_at,
                        now(),
                        "{days} days ahead, filed {filed}: {stream:?}"
                    );
                }
                assert_eq!(
                    engine.activity_24_hours().unwrap().len(),
                    1,
                    "{days} days ahead, filed {filed}"
                );
                engine.file_pending().unwrap();
            }
        }
    }
}
