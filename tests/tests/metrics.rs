//! The metrics of the fleet: every family, bounded labels, and the same text from Rust and over the interface.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use deskfleet::{
    ActionDriver, ActionRequest, Attempt, Config, Engine, ManualClock, NewKey, Record, Scope,
    StatsRecord, Workspace,
};
use http::Request;

fn engine() -> (Engine, ManualClock) {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let engine = Engine::builder().clock(clock.clone()).seed(1);
    (engine.open_in_memory().unwrap(), clock)
}

fn put(engine: &Engine, id: usize, mode: &str) {
    let workspace = Workspace {
        id: format!("ws-{id}"),
        state: Some("AVAILABLE".into()),
        running_mode: Some(mode.into()),
        compute_type_name: Some(if id == 1 { "power" } else { "HUGE" }.into()),
        region: Some(format!("region-{id}")),
        username: Some(format!("user-{id}")),
        ..Workspace::default()
    };
    engine.put_workspace(workspace).unwrap();
}

#[test]
fn metrics_show_the_fleet_and_the_store() {
    let (engine, clock) = engine();
    put(&engine, 1, "auto_stop");
    put(&engine, 2, "a\"} 1\ndeskfleet_x 1");
    engine.place_hold("ws-2", "matter", None).unwrap();
    engine.act(ActionRequest::reboot("ws-1")).unwrap();
    let record = || {
        Record::Stats(Box::new(StatsRecord {
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        }))
    };
    engine.record(record()).unwrap();
    engine.file_pending().unwrap();
    engine.record(record()).unwrap();
    clock.advance_seconds(30);
    let key = NewKey::new("scraper", [Scope::Read]);
    let key = engine.issue_key(key).unwrap().secret;
    let text = engine.metrics();
    for line in [
        "deskfleet_workspaces{state=\"AVAILABLE\"} 1",
        "deskfleet_workspaces{state=\"REBOOTING\"} 1",
        "deskfleet_workspaces{state=\"STOPPED\"} 0",
        "deskfleet_workspaces{state=\"other\"} 0",
        "deskfleet_workspaces_held 1",
        "deskfleet_actions_running 1",
        "deskfleet_oldest_action_age_seconds 30",
        "deskfleet_actions_unattended 0",
        "deskfleet_actions_stalled 0",
        "deskfleet_workspaces_by_running_mode{running_mode=\"AUTO_STOP\"} 1",
        "deskfleet_workspaces_by_running_mode{running_mode=\"other\"} 1",
        "deskfleet_workspaces_by_compute_type{compute_type=\"POWER\"} 1",
        "deskfleet_workspaces_by_compute_type{compute_type=\"other\"} 1",
        "deskfleet_workspaces_by_protocol{protocol=\"other\"} 2",
        "deskfleet_instances_reporting{within=\"15m\"} 1",
        "deskfleet_instances_reporting{within=\"24h\"} 1",
        "deskfleet_queue_records 1",
        "deskfleet_oldest_queued_record_age_seconds 30",
    ] {
        let count = text.lines().filter(|each| *each == line).count();
        assert_eq!(count, 1, "{line}\n{text}");
    }
    let request = Request::get("/query/metrics").header("x-api-key", key);
    let response = engine.handle(request.body(Bytes::new()).unwrap());
    assert_eq!(response.body(), text.as_bytes());
    assert_eq!(engine.ask("metrics", "", b"").unwrap(), text.as_bytes());
}

#[test]
fn metrics_count_an_action_as_unattended_until_it_is_dispatched_and_then_as_stalled() {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let mut config = Config::default();
    config.actions.driver = ActionDriver::Host;
    let builder = Engine::builder().clock(clock.clone()).seed(1);
    let engine = builder.config(config).open_in_memory().unwrap();
    put(&engine, 1, "AUTO_STOP");
    let id = engine.act(ActionRequest::reboot("ws-1")).unwrap().unwrap();
    let counted = |unattended: u8, stalled: u8| {
        let text = engine.metrics();
        for (name, count) in [("unattended", unattended), ("stalled", stalled)] {
            let line = format!("deskfleet_actions_{name} {count}");
            assert!(text.lines().any(|each| each == line), "{line}\n{text}");
        }
    };
    clock.advance_seconds(15 * 60 - 1);
    counted(0, 0);
    clock.advance_seconds(1);
    counted(1, 0);
    engine.dispatch_action(id, Attempt::new(1, "aws")).unwrap();
    counted(0, 0);
    clock.advance_seconds(2 * 3600 - 1);
    counted(0, 0);
    clock.advance_seconds(1);
    counted(0, 1);
    // Another attempt begins the time again.
    engine.dispatch_action(id, Attempt::new(2, "aws")).unwrap();
    counted(0, 0);
    clock.advance_seconds(2 * 3600);
    counted(0, 1);
    engine.complete_action(id).unwrap();
    counted(0, 0);
}

#[test]
fn metrics_of_any_fleet_have_the_same_series() {
    let series = |count: usize| {
        let (engine, _) = engine();
        for id in 1..=count {
            put(&engine, id, &format!("mode {id}"));
        }
        let text = engine.metrics();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let names = lines.map(|line| line.rsplit_once(' ').unwrap().0.to_owned());
        names.collect::<BTreeSet<_>>()
    };
    assert_eq!(series(300), series(2));
}

#[test]
fn refused_records_are_counted_by_reason() {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let mut config = Config::default();
    config.limits.queue_records = 2;
    config.limits.record_body_bytes = 200;
    config.limits.processes_body_bytes = 200;
    let engine = Engine::builder().clock(clock).seed(1).config(config);
    let engine = engine.open_in_memory().unwrap();
    let key = NewKey::new("shipper", [Scope::Ingest]);
    let key = engine.issue_key(key).unwrap().secret;
    let send = |path: &str, content_type: &str, body: &str| {
        let request = Request::post(path)
            .header("x-api-key", &key)
            .header("content-type", content_type)
            .body(Bytes::copy_from_slice(body.as_bytes()));
        engine.handle(request.unwrap()).status().as_u16()
    };
    let json = "application/json";
    let long = "x".repeat(300);
    let post = |body: &str| send("/api/Stats/Post", json, body);
    let batch = |body: &str| send("/operator/telemetry", json, body);
    assert_eq!(post("{\"id\":"), 400);
    assert_eq!(post("{\"id\":\"1\"}"), 400);
    assert_eq!(post("{\"osVersion\":\"xxxxxxxxxxxxxxxxxxxxx\"}"), 400);
    assert_eq!(post(&long), 413);
    assert_eq!(send("/api/Stats/Post", "text/plain", "{}"), 415);
    assert_eq!(batch("x\n{\"stats\":{}}\n{\"stats\":5}\n{}"), 200);
    assert_eq!(
        batch(&format!("{{\"stats\":{{\"username\":\"{long}\"}}}}")),
        400
    );
    assert_eq!(batch("{\"stats\":{}}{\"stats\":{}}"), 503);
    assert_eq!(post("{}"), 200);
    assert_eq!(post("{}"), 503);
    let text = engine.metrics();
    for (reason, count) in [
        ("json", 2),
        ("field", 4),
        ("too_long", 2),
        ("content_type", 1),
        ("queue_full", 3),
    ] {
        let line = format!("\ndeskfleet_records_rejected_total{{reason=\"{reason}\"}} {count}\n");
        assert!(text.contains(&line), "{line} {text}");
    }
    assert!(text.contains("# TYPE deskfleet_records_rejected_total counter\n"));
}

/// An engine whose disk has `free` bytes, and a key that may send batches.
fn engine_of_batches(free: &Arc<AtomicU64>) -> (Engine, String) {
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse().unwrap());
    let mut config = Config::default();
    config.limits.queue_records = 5;
    let free = Arc::clone(free);
    let engine = Engine::builder()
        .clock(clock)
        .seed(1)
        .config(config)
        .free_space(move || Some(free.load(Ordering::SeqCst)))
        .open_in_memory()
        .unwrap();
    let key = NewKey::new("shipper", [Scope::Ingest]);
    let key = engine.issue_key(key).unwrap().secret;
    (engine, key)
}

#[test]
fn batch_counts_its_records_when_it_is_answered() {
    let free = Arc::new(AtomicU64::new(u64::MAX));
    let (engine, key) = engine_of_batches(&free);
    let batch = |body: &str| {
        let request = Request::post("/operator/telemetry").header("x-api-key", &key);
        let request = request.body(Bytes::copy_from_slice(body.as_bytes()));
        engine.handle(request.unwrap()).status().as_u16()
    };
    let counts = || {
        let text = engine.metrics();
        [
            "late_total ",
            "ahead_total ",
            "rejected_total{reason=\"json\"} ",
            "rejected_total{reason=\"field\"} ",
            "rejected_total{reason=\"queue_full\"} ",
            "rejected_total{reason=\"storage\"} ",
        ]
        .map(|name| {
            let name = format!("deskfleet_records_{name}");
            let line = text.lines().find_map(|line| line.strip_prefix(&name));
            line.unwrap().parse::<u64>().unwrap()
        })
    };
    let at = |time: &str| format!("{{\"stats\":{{\"updatetime\":\"{time}\"}}}}\n");
    let (late, ahead) = (at("2026-10-01T00:00:00Z"), at("2026-11-21T00:00:00Z"));
    let records = format!("{late}{ahead}x\n{{\"stats\":5}}\n");

    // One that breaks off, and one that is refused, count nothing of their lines.
    let request = Request::post("/operator/telemetry").header("x-api-key", &key);
    let mut exchange = engine.begin(request.body(()).unwrap().into_parts().0);
    exchange.push(records.as_bytes());
    drop(exchange);
    assert_eq!(counts(), [0; 6]);
    assert_eq!(batch(&records.repeat(3)), 503);
    assert_eq!(counts(), [0, 0, 0, 0, 6, 0]);
    free.store(0, Ordering::SeqCst);
    assert_eq!(batch(&records), 503);
    assert_eq!(counts()[2..], [0, 0, 6, 2]);
    let post = Request::post("/api/Stats/Post").header("content-type", "application/json");
    let response = engine.handle(post.body(Bytes::from_static(b"{}")).unwrap());
    assert_eq!(response.status(), 503);
    assert_eq!(counts()[2..], [0, 0, 6, 3]);
    free.store(u64::MAX, Ordering::SeqCst);
    let before = counts();
    assert_eq!(batch(&records), 200);
    assert_eq!([0, 1].map(|place| counts()[place] - before[place]), [1, 1]);
    assert_eq!(counts()[2..], [1, 1, 6, 3]);
    // An array without an end is no record that is too long.
    assert_eq!(batch("[{\"stats\":{}}\n[{\"stats\":{}}]"), 200);
    assert_eq!(counts()[2..], [2, 1, 6, 3]);
}
