//! The engine as a Rust library: no URL, no JSON, no server.
//!
//! `cargo run --example in_process -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::disallowed_methods, reason = "a host has a real clock")]

use std::error::Error;
use std::time::SystemTime;

use deskfleet::{
    Action, ActionRequest, ActivityRecord, Engine, Record, StatsRecord, Stream, Workspace,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // `open("fleet.redb")` instead keeps everything in one file.
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .random(getrandom::fill)
        .open_in_memory()?;

    engine.put_workspace(Workspace {
        id: "ws-8k2m4n6p1".into(),
        computer_name: Some("WSAMZN-4F7Q2L9A".into()),
        username: Some("jdoe".into()),
        running_mode: Some("AUTO_STOP".into()),
        state: Some("UNHEALTHY".into()),
        ..Workspace::default()
    })?;

    // Each call returns when the record is durable; `record_all` takes many at once.
    engine.record(&Record::Stats(Box::new(StatsRecord {
        update_time: Some(engine.now()),
        processor_in_use: Some(97),
        username: "jdoe".into(),
        instance_id: "ws-8k2m4n6p1".into(),
        ..StatsRecord::default()
    })))?;
    engine.record(&Record::Activity(Box::new(ActivityRecord {
        activity: "Logon".into(),
        activity_time: Some(engine.now()),
        username: "jdoe".into(),
        ..ActivityRecord::default()
    })))?;

    engine.act(ActionRequest {
        action: Action::Reboot,
        workspace_id: Some("ws-8k2m4n6p1".into()),
        sam_account: None,
        requester: Some("svc-desk".into()),
        compute_type: None,
    })?;

    let view = engine.workspace("ws-8k2m4n6p1")?.ok_or("it was just put")?;
    println!("{:?} with {:?}", view.workspace.state, view.transition);
    let page = engine.history(Stream::Stats, "ws-8k2m4n6p1", None, None, 10, None)?;
    println!("{} stats record in history", page.records.len());
    for row in engine.admin_activity(10)? {
        println!(
            "{} {} {}",
            row.time,
            row.action.as_str(),
            row.result.as_str()
        );
    }

    // A refusal is an error with a kind to match on and a message.
    if let Err(refusal) = engine.act(ActionRequest {
        action: Action::Start,
        workspace_id: Some("ws-8k2m4n6p1".into()),
        sam_account: None,
        requester: None,
        compute_type: None,
    }) {
        println!("{:?}: {refusal}", refusal.kind());
    }
    engine.close()?;
    Ok(())
}
