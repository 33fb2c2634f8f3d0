//! Batches of actions go on over restarts and are kept in bounded numbers.

use deskfleet::limits::BATCHES_ENDED_MAX;
use deskfleet::{
    Action, ActionBatchRequest, ActionDriver, AuditAction, AuditResult, Config, Engine, ErrorKind,
    ManualClock, Workspace,
};

fn config(driver: ActionDriver) -> Config {
    let mut config = Config::default();
    config.actions.driver = driver;
    config
}

fn desk(id: &str) -> Workspace {
    Workspace {
        id: id.to_owned(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    }
}

fn in_memory() -> Engine {
    let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
    let builder = Engine::builder().clock(clock).seed(1);
    builder.open_in_memory().unwrap()
}

#[test]
fn batch_goes_on_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deskfleet.redb");
    let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
    let open = || {
        let builder = Engine::builder().clock(clock.clone()).seed(1);
        builder.config(config(ActionDriver::Host)).open(&path)
    };
    let mut engine = open().unwrap();
    let ids: Vec<String> = (0..5).map(|desk| format!("ws-{desk}")).collect();
    engine
        .put_workspaces(ids.iter().map(|id| desk(id)).collect())
        .unwrap();
    let mut request = ActionBatchRequest::new(Action::Reboot, ids);
    request.at_once = Some(2);
    let batch = engine.start_actions(request).unwrap();
    assert_eq!((batch.waiting, batch.running), (3, 2));
    for life in 1_u64.. {
        assert!(life < 10, "it does not end");
        for action in engine.pending_actions().unwrap() {
            engine.complete_action(action.id).unwrap();
        }
        drop(engine);
        engine = open().unwrap();
        engine.maintain().unwrap();
        let now = engine.action_batch(batch.id).unwrap();
        assert_eq!(now.succeeded, (2 * life).min(5));
        if now.ended_at.is_some() {
            assert!(
                now.items
                    .iter()
                    .all(|item| item.result == Some(AuditResult::Completed))
            );
            assert!(engine.check().unwrap().problems.is_empty());
            return;
        }
    }
}

#[test]
fn batches_that_ended_long_ago_are_removed() {
    let engine = in_memory();
    for _ in 0..BATCHES_ENDED_MAX + 5 {
        let request = ActionBatchRequest::new(Action::Reboot, ["ws-0"]);
        let batch = engine.start_actions(request).unwrap();
        assert_eq!((batch.failed, batch.ended_at.is_some()), (1, true));
    }
    let kept = engine.action_batches().unwrap();
    let ids: Vec<u64> = kept.iter().map(|batch| batch.id).collect();
    let newest = (6..=BATCHES_ENDED_MAX as u64 + 5).rev();
    assert_eq!(ids, newest.collect::<Vec<_>>());
    let gone = engine.action_batch(5).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

#[test]
fn request_out_of_bounds_is_refused_and_starts_nothing() {
    let engine = in_memory();
    engine.put_workspace(desk("ws-1")).unwrap();
    let good = || ActionBatchRequest::new(Action::Reboot, ["ws-1"]);
    let mut bad = vec![ActionBatchRequest::new(AuditAction::IssueKey, ["ws-1"])];
    bad.push(ActionBatchRequest::new(Action::Reboot, [""; 0]));
    bad.push(ActionBatchRequest::new(Action::Reboot, ["ws-1", "ws-1"]));
    for change in [
        |request: &mut ActionBatchRequest| request.at_once = Some(0),
        |request: &mut ActionBatchRequest| request.stop_after_failures = Some(0),
    ] {
        let mut request = good();
        change(&mut request);
        bad.push(request);
    }
    for request in bad {
        let refused = engine.start_actions(request).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
    }
    assert!(engine.action_batches().unwrap().is_empty());
    assert!(engine.pending_actions().unwrap().is_empty());
}

/// Above the bound of rows that change nothing, refusals of batches share one as those of single actions do.
#[test]
fn refusals_of_many_batches_share_audit_rows() {
    let engine = in_memory();
    for number in 0..150 {
        let request = ActionBatchRequest::new(Action::Reboot, [format!("ws-{number}")]);
        engine.start_actions(request).unwrap();
    }
    let rows = engine.admin_activity(1000).unwrap();
    assert_eq!(
        rows.len(),
        101,
        "100 of their own, and one that counts the others"
    );
}
