//! Reading everything.

use std::collections::BTreeMap;

use deskfleet::{
    Engine, HistoryQuery, ManualClock, Received, Result, Stream, Timestamp, WorkspaceList,
    WorkspaceQuery,
};

use super::fact::Reading;
use crate::events::kept;
use crate::sweeps::NEVER_SET_BEFORE;

use super::fault_schedule::Time;
use super::fleet::{DESKS, INSTANCES, STABLE};

fn history(engine: &Engine, stream: Stream, instance: &str, limit: u32) -> Result<Vec<Received>> {
    let mut records = Vec::new();
    let mut token = None;
    loop {
        let page = engine.history(&HistoryQuery {
            limit,
            next_token: token.clone(),
            ..HistoryQuery::new(stream, instance)
        })?;
        records.extend(page.records);
        token = page.next_token;
        if token.is_none() {
            return Ok(records);
        }
    }
}

/// Reads all there is, histories in pages of `n` records.
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
    let held = engine
        .workspaces(&WorkspaceQuery {
            list: WorkspaceList::OnHold,
            limit: 500,
            ..WorkspaceQuery::default()
        })?
        .workspaces;
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
        events: kept(engine)?,
        pending: engine.pending_actions()?,
        keys: keys
            .iter()
            .map(|key| (key.id, key.revoked.is_some()))
            .collect(),
        check: engine.check()?,
    })
}

/// Reads the engine's time of the last sweep, without changing it: a record that arrives while the clock is behind is
/// received at the last sweep. It is put into a batch of this engine, and the batch into another engine.
#[derive(Debug)]
pub(super) struct Probe {
    other: Engine,
    asked: u64,
}

impl Probe {
    pub(super) fn new() -> std::result::Result<Self, String> {
        let clock = ManualClock::new(Timestamp::from_unix_seconds(NEVER_SET_BEFORE));
        let other = Engine::builder().clock(clock).seed(1).open_in_memory();
        Ok(Self {
            other: other.map_err(|error| format!("{error:?}"))?,
            asked: 0,
        })
    }

    /// The time of the last sweep.
    pub(super) fn swept(
        &mut self,
        engine: &Engine,
        time: &Time,
    ) -> std::result::Result<Timestamp, String> {
        self.asked += 1;
        let instance = self.asked.to_string();
        let behind = Timestamp::from_unix_seconds(NEVER_SET_BEFORE);
        let mut batch = engine.batch();
        let record = serde_json::json!({ "instanceId": instance }).to_string();
        let received = time
            .with_clock_at(behind, || batch.push_json(Stream::Stats, record.as_bytes()))
            .and_then(|()| Ok(self.other.record_batch(batch)?))
            .and_then(|()| history(&self.other, Stream::Stats, &instance, 1))
            .map_err(|error| format!("{error:?}"))?;
        let received = received.first().ok_or("no record of the probe")?;
        Ok(received.received_at)
    }
}
