//! Reading everything.

use std::collections::BTreeMap;

use deskfleet::{Engine, Received, Result, Stream};

use super::fact::Reading;
use super::fleet::{DESKS, INSTANCES, STABLE};

fn history(engine: &Engine, stream: Stream, instance: &str, limit: u32) -> Result<Vec<Received>> {
    let mut records = Vec::new();
    let mut token = None;
    loop {
        let page = engine.history(stream, instance, None, None, limit, token.as_deref())?;
        records.extend(page.records);
        token = page.next_token;
        if token.is_none() {
            return Ok(records);
        }
    }
}

/// Reads all there is, histories in pages of so many records.
///
/// # Errors
/// Those of the engine.
pub(super) fn read(engine: &Engine, limit: u32) -> Result<Reading> {
    let mut records = BTreeMap::new();
    for stream in Stream::ALL {
        for instance in INSTANCES {
            let held = history(engine, stream, instance, limit)?;
            records.insert((stream, instance), held);
        }
    }
    let mut desks = BTreeMap::new();
    for id in DESKS.into_iter().chain(STABLE) {
        if let Some(view) = engine.workspace(id)? {
            desks.insert(id, view);
        }
    }
    let held = engine.workspaces_on_hold(500, None)?.workspaces;
    let mut audit = engine.admin_activity(10_000)?;
    audit.sort_by_key(|row| row.id);
    let keys = engine.keys();
    Ok(Reading {
        now: engine.now(),
        records,
        queued: engine.queue_count(),
        desks,
        held: held.into_iter().map(|desk| desk.id).collect(),
        audit,
        pending: engine.pending_actions()?,
        keys: keys
            .iter()
            .map(|key| (key.id, key.revoked.is_some()))
            .collect(),
        check: engine.check()?,
    })
}
