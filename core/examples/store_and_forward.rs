//! An agent that keeps what it measures as lines of JSON, and hands it over when there is room.
//!
//! `cargo run --example store_and_forward -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use deskfleet::{CommitDriver, Config, Engine, ErrorKind, Record, StatsRecord, Upkeep};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    config.limits.queue_records = 100;
    // A thread that commits brings upkeep with it; here it is the example's, so that it shows a full queue.
    let builder = Engine::builder().config(config).upkeep(Upkeep::Host);
    let fleet = builder.open_in_memory()?;

    // The spool of the agent, such as a file. A record is a line as `POST /operator/telemetry` reads it.
    let mut spool = String::new();
    for minute in 0..150 {
        let record = Record::from(StatsRecord {
            update_time: Some(fleet.now().plus_seconds(-60 * minute)),
            processor_in_use: Some(12),
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        });
        spool.push_str(&serde_json::to_string(&record)?);
        spool.push('\n');
    }

    let lines: Vec<_> = spool.lines().collect();
    for part in lines.chunks(60) {
        let mut batch = fleet.batch();
        for line in part {
            batch.push(&serde_json::from_str(line)?)?;
        }
        // A refused batch comes back, so that nothing has to be read or encoded again.
        while let Err(refused) = fleet.record_batch(batch) {
            println!("{}: {} records wait", refused.error, refused.batch.len());
            if refused.error.kind() != ErrorKind::QueueFull {
                return Err(refused.into());
            }
            batch = refused.batch;
            fleet.file_pending()?;
        }
    }
    println!("{} records are durable", lines.len());
    fleet.close()?;
    Ok(())
}
