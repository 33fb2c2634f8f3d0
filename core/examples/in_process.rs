//! The engine as a Rust library: no URL, no JSON, no server.
//!
//! `cargo run --example in_process -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use deskfleet::{
    ActionRequest, ActivityRecord, Engine, HistoryQuery, RunningMode, State, StatsRecord, Stream,
    Workspace,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // `Engine::open("fleet.redb")` instead keeps everything in one file.
    let engine = Engine::in_memory()?;

    engine.put_workspace(Workspace {
        id: "ws-8k2m4n6p1".into(),
        computer_name: Some("WSAMZN-4F7Q2L9A".into()),
        username: Some("jdoe".into()),
        running_mode: Some(RunningMode::AutoStop.into()),
        state: Some(State::Unhealthy.into()),
        ..Workspace::default()
    })?;

    // Each call returns when the record is durable; `record_all` takes many at once.
    engine.record(StatsRecord {
        update_time: Some(engine.now()),
        processor_in_use: Some(97),
        username: "jdoe".into(),
        instance_id: "ws-8k2m4n6p1".into(),
        ..StatsRecord::default()
    })?;
    engine.record(ActivityRecord {
        activity: "Logon".into(),
        activity_time: Some(engine.now()),
        username: "jdoe".into(),
        ..ActivityRecord::default()
    })?;

    engine.act(ActionRequest {
        requester: Some("svc-desk".into()),
        ..ActionRequest::reboot("ws-8k2m4n6p1")
    })?;

    let view = engine.workspace("ws-8k2m4n6p1")?.ok_or("it was just put")?;
    println!("{:?} with {:?}", view.workspace.state, view.transition);
    for received in engine.all_history(HistoryQuery::new(Stream::Stats, "ws-8k2m4n6p1")) {
        println!("of {}", received?.filed_at);
    }
    for row in engine.admin_activity(10)? {
        println!(
            "{} {} {}",
            row.time,
            row.action.as_str(),
            row.result.as_str()
        );
    }

    // A refusal is an error with a kind to match on and a message.
    if let Err(refusal) = engine.act(ActionRequest::start("ws-8k2m4n6p1")) {
        println!("{:?}: {refusal}", refusal.kind());
    }
    engine.close()?;
    Ok(())
}
