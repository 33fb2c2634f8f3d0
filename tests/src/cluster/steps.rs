//! What clients do.

use deskfleet::{
    Action, ActionRequest, ActivityRecord, Engine, ErrorKind, FailedState, NewKey, Nullable,
    Result, Scope, StartupRecord, State, StatsRecord, Stream, Workspace, WorkspacePatch,
};
use fastrand::Rng;

/// The workspaces.
pub const DESKS: [&str; 5] = ["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"];
/// The instances of telemetry.
pub const INSTANCES: [&str; 4] = ["ws-1", "ws-2", "pool", "ws-5"];
/// The users of telemetry.
pub const USERS: [&str; 3] = ["ann", "bob", "eve"];

/// How a write ended, for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is in the log.
    Done,
    /// It took no effect.
    Refused(ErrorKind),
    /// Either.
    Unknown,
    /// There was nothing to do.
    Nothing,
}

impl Ending {
    fn from_result<T>(result: Result<T>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(error) if error.kind() == ErrorKind::Indeterminate => Self::Unknown,
            Err(error) => Self::Refused(error.kind()),
        }
    }
}

/// One write, with a text that no other has and that the entry with it holds.
pub fn write(engine: &Engine, chance: &mut Rng, mark: &str) -> (&'static str, Ending) {
    let desk = chance.choice(DESKS).unwrap_or("ws-1");
    match chance.u32(..20) {
        0..4 => (
            "put",
            Ending::from_result(engine.override_workspace(workspace(chance, desk, mark))),
        ),
        4..8 => (
            "act",
            Ending::from_result(engine.act(action(chance, desk, mark))),
        ),
        8 | 9 => (
            "hold",
            Ending::from_result(engine.place_hold(desk, mark, None)),
        ),
        10 => {
            let key = NewKey::new(mark, [Scope::Read]);
            ("issue", Ending::from_result(engine.issue_key(key)))
        }
        11 | 12 => ("import", import(engine, chance, mark)),
        _ => ("telemetry", telemetry(engine, chance, mark)),
    }
}

/// One write that has no text of its own.
pub fn plain_write(engine: &Engine, chance: &mut Rng) -> (&'static str, Ending) {
    let desk = chance.choice(DESKS).unwrap_or("ws-1");
    match chance.u32(..6) {
        0 => ("release", Ending::from_result(engine.release_hold(desk))),
        1 => ("remove", Ending::from_result(engine.remove_workspace(desk))),
        2 => {
            let key = chance.choice(engine.keys());
            let revoked = key.map(|key| engine.force_revoke_key(key.id));
            (
                "revoke",
                revoked.map_or(Ending::Nothing, Ending::from_result),
            )
        }
        _ => ("end", end_action(engine, chance)),
    }
}

fn workspace(chance: &mut Rng, id: &str, mark: &str) -> Workspace {
    let states = [State::Available, State::Stopped, State::Error];
    Workspace {
        id: id.to_owned(),
        username: Some(mark.to_owned()),
        computer_name: chance.bool().then(|| "pool".to_owned()),
        state: chance.choice(states).map(Into::into),
        ..Workspace::default()
    }
}

fn action(chance: &mut Rng, desk: &str, mark: &str) -> ActionRequest {
    let actions = [
        Action::Reboot,
        Action::Rebuild,
        Action::Start,
        Action::Restore,
    ];
    ActionRequest {
        action: chance.choice(actions).unwrap_or(Action::Reboot),
        requester: Some(mark.to_owned()),
        ..ActionRequest::reboot(desk)
    }
}

fn end_action(engine: &Engine, chance: &mut Rng) -> Ending {
    let Ok(pending) = engine.pending_actions() else {
        return Ending::Nothing;
    };
    let Some(pending) = chance.choice(pending) else {
        return Ending::Nothing;
    };
    if chance.bool() {
        return Ending::from_result(engine.complete_action(pending.id));
    }
    Ending::from_result(engine.fail_action(pending.id, FailedState::Error, Some("a disk")))
}

fn import(engine: &Engine, chance: &mut Rng, mark: &str) -> Ending {
    let patch = |id: &str| WorkspacePatch {
        id: Nullable::Value(id.to_owned()),
        username: Nullable::Value(mark.to_owned()),
        ..WorkspacePatch::default()
    };
    let desks = &DESKS[..chance.usize(1..DESKS.len())];
    match engine.import_workspaces(desks.iter().map(|id| patch(id))) {
        Ok(report) if report.upserted == 0 => Ending::Nothing,
        ended => Ending::from_result(ended),
    }
}

fn telemetry(engine: &Engine, chance: &mut Rng, mark: &str) -> Ending {
    let instance = chance.choice(INSTANCES).unwrap_or("ws-1");
    let user = chance.choice(USERS).unwrap_or("ann");
    let ended: Result<()> = match chance.u32(..4) {
        0 => engine.record(ActivityRecord {
            instance_id: instance.into(),
            username: user.into(),
            activity: mark.into(),
            ..ActivityRecord::default()
        }),
        1 => engine.record(StartupRecord {
            instance_id: instance.into(),
            username: mark.into(),
            ..StartupRecord::default()
        }),
        2 => {
            let items = serde_json::json!([{ "processName": "a.exe", "processCount": 2 }]);
            let report =
                serde_json::json!({ "instanceId": instance, "username": mark, "processes": items });
            let mut batch = engine.batch();
            let pushed = batch.push_json(Stream::Processes, report.to_string().as_bytes());
            pushed.and_then(|()| Ok(engine.record_batch(batch)?))
        }
        _ => {
            let mut record = |username: &str| {
                let record = StatsRecord {
                    instance_id: instance.into(),
                    username: username.into(),
                    processor_in_use: Some(chance.i32(0..100)),
                    ..StatsRecord::default()
                };
                record.into()
            };
            let records = [record(mark), record(user)];
            engine.record_all(&records)
        }
    };
    Ending::from_result(ended)
}
