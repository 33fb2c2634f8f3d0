//! Questions about a fleet beside the process that serves it: they are asked of a copy, which is made while it serves.
//!
//! `cargo run --example analytics -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;

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
    Ok(())
}
