//! What questions about the fleet know of records that are queued.

use deskfleet::limits::QUESTION_FILES_MAX;
use deskfleet::{
    Engine, ManualClock, Record, StatsRecord, Workspace,
    query::{Metric, TopQuery, WorkspaceRowsQuery},
};

fn engine() -> Engine {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let engine = Engine::builder().clock(clock).seed(1).open_in_memory();
    let engine = engine.unwrap();
    let workspace = Workspace {
        id: "ws-1".into(),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).unwrap();
    engine
}

fn stats(id: i32) -> Record {
    Record::from(StatsRecord {
        id: Some(id),
        instance_id: "ws-1".into(),
        processor_in_use: Some(id % 100),
        ..StatsRecord::default()
    })
}

#[test]
fn question_after_a_post_has_its_record() {
    let engine = engine();
    engine.record(stats(42)).unwrap();
    let top = engine.query(&TopQuery::new(Metric::Cpu)).unwrap();
    assert_eq!(top.rows[0].value.to_string(), "42");
    engine.record(stats(43)).unwrap();
    let rows = engine.query(&WorkspaceRowsQuery::default());
    assert_eq!(rows.unwrap().rows[0].last_seen, Some(engine.now()));
    engine.record(stats(44)).unwrap();
    assert_eq!(engine.query_fleet().unwrap().reporting_15m, 1);
    assert_eq!(engine.queue_count(), 0);
}

#[test]
fn question_with_a_long_queue_warns_and_files_nothing() {
    let engine = engine();
    let records: Vec<_> = (0..).map(stats).take(1001).collect();
    assert_eq!(records.len() as u64, QUESTION_FILES_MAX + 1);
    engine.record_all(&records).unwrap();
    let top = engine.query(&TopQuery::new(Metric::Cpu)).unwrap();
    assert!(top.rows.is_empty());
    let message = "The 1001 newest records are queued and not counted yet.";
    assert!(
        top.warnings.iter().any(|warning| warning == message),
        "{top:?}"
    );
    let rows = engine.query(&WorkspaceRowsQuery::default());
    assert_eq!(rows.unwrap().warnings, [message]);
    assert_eq!(engine.queue_count(), 1001);
}

#[test]
fn desktop_that_was_seen_before_1970_is_not_reporting() {
    let clock = ManualClock::new("1969-12-01T08:00:00Z".parse().unwrap());
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(1)
        .open_in_memory();
    let engine = engine.unwrap();
    engine.record(stats(42)).unwrap();
    assert_eq!(engine.query_fleet().unwrap().reporting_15m, 1);
    clock.set("2026-11-20T08:00:00Z".parse().unwrap());
    let fleet = engine.query_fleet().unwrap();
    assert_eq!((fleet.reporting_15m, fleet.reporting_24h), (0, 0));
}
