//! Writes the fixture of the current format: `cargo run -p deskfleet-tests --example write_fixture -- PATH`.
//!
//! Run it once for a format version, before its first release; afterwards the file is never written again.

use std::fs;

use deskfleet::{
    Action, ActionRequest, ActivityRecord, Clock, Config, Engine, EngineError, FailedState,
    ManualClock, NewKey, ProcessItem, ProcessReport, Record, Scope, StartupRecord, StatsRecord,
    Timestamp, Workspace,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: write_fixture PATH")?;
    let folder = tempfile::tempdir()?;
    let open = folder.path().join("open.redb");
    let clock = ManualClock::new("2026-11-20T08:00:00Z".parse()?);
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(1)
        .config(Config::default())
        .open(&open)?;
    fill(&engine, &clock)?;
    events(&engine)?;
    names(&engine, &clock)?;
    engine.compact()?;
    // These are in the log alone.
    for _ in 0..2 {
        let refused = engine.act(ActionRequest::new(Action::Reboot, "ws-99"));
        if refused.is_ok() {
            return Err("there is no such workspace".into());
        }
    }
    // As a crash leaves them: a store that was closed has no segments.
    fs::copy(&open, &path)?;
    let queue = format!("{path}-queue");
    fs::create_dir(&queue)?;
    let mut segment = fs::read(folder.path().join("open.redb-queue/000000.segment"))?;
    let end = segment.iter().rposition(|byte| *byte != 0).unwrap_or(0);
    segment.truncate((end + 1).next_multiple_of(512));
    fs::write(format!("{queue}/000000.segment"), segment)?;
    engine.close()?;
    Ok(())
}

/// At least one of everything that the format can hold: a hold, a running action, a finished one, keys, filed and
/// queued telemetry.
fn fill(engine: &Engine, clock: &ManualClock) -> Result<(), EngineError> {
    for number in 1..=3 {
        engine.put_workspace(Workspace {
            id: format!("ws-{number}"),
            computer_name: Some(format!("PC-{number}")),
            username: Some(format!("CORP\\user{number}")),
            running_mode: Some("AUTO_STOP".into()),
            compute_type_name: Some("STANDARD".into()),
            state: Some("AVAILABLE".into()),
            ..Workspace::default()
        })?;
    }
    engine.place_hold("ws-3", "Doe v. Corp", Some("discovery"))?;
    let key = engine.issue_key(
        NewKey::new("service-desk", [Scope::Read, Scope::Act]).expiring(Some(Timestamp::MAX)),
    )?;
    engine.revoke_key(key.info.id)?;
    engine.act(ActionRequest::new(Action::Reboot, "ws-1"))?;
    clock.advance_seconds(120);
    engine.maintain()?;
    engine.act(ActionRequest {
        compute_type: Some("POWER".into()),
        ..ActionRequest::new(Action::ChangeComputeType, "ws-2")
    })?;
    for minute in 0..3 {
        records(engine, clock.now())?;
        clock.advance_seconds(60);
        if minute == 1 {
            engine.file_pending()?;
        }
    }
    Ok(())
}

/// The types of events that nothing else makes.
fn events(engine: &Engine) -> Result<(), EngineError> {
    let imported = ["ws-21", "ws-22"].map(|id| Workspace {
        id: id.into(),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    });
    engine.put_workspaces(imported.into())?;
    engine.place_hold("ws-21", "Roe v. Corp", None)?;
    engine.release_hold("ws-21")?;
    if let Some(action) = engine.act(ActionRequest::new(Action::Reboot, "ws-21"))? {
        engine.fail_action(action, FailedState::Error, Some("no answer"))?;
    }
    engine.remove_workspace("ws-22")
}

/// Names with other spellings. `format-5-names.redb` holds only these, from 08:00 on, under keys as they would be with another Unicode.
fn names(engine: &Engine, clock: &ManualClock) -> Result<(), EngineError> {
    for (id, computer, user) in [
        ("ws-11", "ΠΎΡΓΟΣ", "CORP\\ΝΊΚΟΣ"),
        ("ws-12", "PC-E\u{301}", "Zoe\u{308}@corp.example"),
        ("ws-13", "PC-3", "İnci"),
        ("ws-14", "PC-4", "jdoe"),
    ] {
        engine.put_workspace(Workspace {
            id: id.into(),
            computer_name: Some(computer.into()),
            username: Some(user.into()),
            state: Some("AVAILABLE".into()),
            ..Workspace::default()
        })?;
    }
    for (instance, user) in [
        ("ws-11", "νίκοσ"),
        ("ws-11", "ΝΊΚΟΣ"),
        ("ws-12", "zoë"),
        ("ws-12", "ZOE\u{308}"),
        ("ws-13", "İNCİ"),
        ("ws-14", "JDOE"),
    ] {
        engine.record(Record::Stats(Box::new(StatsRecord {
            username: user.into(),
            instance_id: instance.into(),
            update_time: Some(clock.now()),
            ..StatsRecord::default()
        })))?;
        clock.advance_seconds(60);
    }
    engine.file_pending()?;
    engine.record(Record::Activity(Box::new(ActivityRecord {
        username: "zoë".into(),
        instance_id: "pc-é".into(),
        activity: "Logon".into(),
        activity_time: Some(clock.now()),
        ..ActivityRecord::default()
    })))
}

fn records(engine: &Engine, now: Timestamp) -> Result<(), EngineError> {
    engine.record(Record::Stats(Box::new(StatsRecord {
        id: Some(7),
        username: "user1".into(),
        instance_id: "ws-1".into(),
        update_time: Some(now),
        physical_memory: Some(8_589_934_592),
        disk_reads: Some(12.5),
        uptime: 3600.25.into(),
        ..StatsRecord::default()
    })))?;
    engine.record(Record::Activity(Box::new(ActivityRecord {
        username: "user1".into(),
        instance_id: "ws-1".into(),
        activity: "Logon".into(),
        activity_time: Some(now),
        ..ActivityRecord::default()
    })))?;
    engine.record(Record::Startup(Box::new(StartupRecord {
        username: "user1".into(),
        instance_id: "ws-1".into(),
        total_ms: Some(31_000),
        ..StartupRecord::default()
    })))?;
    engine.record(Record::Processes(Box::new(ProcessReport {
        instance_id: "ws-1".into(),
        created_date: Some(now),
        processes: Some(vec![ProcessItem {
            process_name: Some("excel.exe".into()),
            processor_usage: Some(2.5),
            process_count: Some(2),
            ..ProcessItem::default()
        }]),
        ..ProcessReport::default()
    })))
}
