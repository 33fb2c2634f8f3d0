//! Questions about a fleet: of a copy, which is made while a process serves it, and of all telemetry as it arrives.
//!
//! `cargo run --example analytics -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use deskfleet::{Engine, HistoryQuery, StatsRecord, Stream, Workspace, WorkspaceList};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("deskfleet-analytics-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let shown = show(&folder);
    std::fs::remove_dir_all(&folder)?;
    shown
}

fn show(folder: &Path) -> Result<(), Box<dyn Error>> {
    let live = Engine::open(folder.join("fleet.redb"))?;
    live.put_workspace(Workspace {
        id: "ws-1".into(),
        ..Workspace::default()
    })?;
    live.record(StatsRecord {
        processor_in_use: Some(97),
        instance_id: "ws-1".into(),
        ..StatsRecord::default()
    })?;

    // The copy has all that was durable when it was made, the queue too. A running server writes one on SIGUSR1 or by itself.
    let copy = folder.join("copy.redb");
    live.backup(&copy)?;
    let readers = [(); 2].map(|()| Engine::builder().open_read_only(&copy));
    for reader in readers {
        let reader = reader?;
        let desktops = reader.all_workspaces(WorkspaceList::All).count();
        let query = HistoryQuery::new(Stream::Stats, "ws-1");
        let records = reader.all_history(query).count();
        println!("{desktops} desktop, {records} record");
    }
    live.close()?;
    follow(&folder.join("followed.redb"))
}

/// Copies all telemetry elsewhere. A cursor by time would lose what arrives late; this one goes by receipt.
fn follow(path: &Path) -> Result<(), Box<dyn Error>> {
    let keep = Duration::from_secs(7 * 86_400);
    let live = Engine::builder().keep_accepted(keep).open(path)?;
    let mut copied = 0;
    let mut place = None;
    for late in ["2026-11-02T08:00:00Z", "2026-10-01T08:00:00Z"] {
        live.record(StatsRecord {
            update_time: Some(late.parse()?),
            instance_id: "ws-1".into(),
            ..StatsRecord::default()
        })?;
        let read = live.accepted(place, 10_000)?;
        if read.missed {
            println!("behind for longer than a week: history has the rest");
        }
        copied += read.records.len();
        // A real program stores its text together with the records.
        place = Some(read.position);
    }
    println!("{copied} records copied");
    live.close()?;
    Ok(())
}
