//! What a run is about: its workspaces, its records, and the requests that carry them.

use bytes::Bytes;
use deskfleet::{Action, RetentionDays, Stream, Timestamp};
use http::{Method, Request};

use super::fact::Mark;

/// Workspaces that are stored at the beginning and never removed or terminated.
pub const STABLE: [&str; 4] = ["ws-00", "ws-2s", "ws-4s", "ws-9s"];
/// Workspaces that come and go.
pub(super) const DESKS: [&str; 5] = ["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"];
/// The instances that telemetry is about: workspaces, a stranger, nobody.
pub(super) const INSTANCES: [&str; 5] = ["ws-1", "ws-2", "ws-2s", "i-1", ""];
const USERS: [&str; 3] = ["ann", "CORP\\Ann", "bob@corp.example"];
const STATES: [&str; 6] = [
    "AVAILABLE",
    "STOPPED",
    "UNHEALTHY",
    "ERROR",
    "TERMINATED",
    "SUSPENDED",
];
const KINDS: [&str; 4] = ["STANDARD", "POWER", "GRAPHICS_G4DN", "GRAPHICSPRO_G4DN"];
/// The actions, those with consequences more often.
pub(super) const ACTIONS: [Action; 7] = [
    Action::Reboot,
    Action::RecoveryReboot,
    Action::Rebuild,
    Action::Restore,
    Action::Terminate,
    Action::Start,
    Action::ChangeComputeType,
];

/// The record with this number, as JSON.
pub(super) fn json(mark: &Mark) -> String {
    let user = USERS[mark.number.unsigned_abs() as usize % USERS.len()];
    let mut record = serde_json::json!({ "username": user });
    if !mark.instance.is_empty() {
        record["instanceId"] = mark.instance.into();
    }
    let time = match mark.stream {
        Stream::Stats => "updatetime",
        Stream::Activity => "activityTime",
        Stream::Startup => "baselineUtc",
        Stream::Processes => "createdDate",
    };
    if let Some(sent) = mark.sent {
        record[time] = sent.to_string().into();
    }
    match mark.stream {
        Stream::Processes => {
            record["processes"] =
                serde_json::json!([{ "processName": "a.exe", "processCount": mark.number }]);
        }
        Stream::Stats | Stream::Activity | Stream::Startup => record["id"] = mark.number.into(),
    }
    if mark.stream == Stream::Activity {
        record["activity"] = "Logon".into();
    }
    record.to_string()
}

/// The day under which a record is filed that carries this time, by the contract.
pub(super) fn filed_day(stream: Stream, sent: Option<Timestamp>, now: Timestamp) -> u32 {
    let days = i64::from(RetentionDays::default().of(stream));
    let oldest = now.plus_seconds(-days * 86_400);
    let newest = now.plus_seconds(86_400);
    let believed = sent.filter(|sent| *sent <= newest && *sent >= oldest);
    believed.unwrap_or(now).day()
}

/// A workspace to store, as the body of a PUT.
pub(super) fn desk_json(state: usize, user: usize, kind: usize) -> String {
    serde_json::json!({
        "state": STATES[state % STATES.len()],
        "username": USERS[user % USERS.len()],
        "runningMode": "AUTO_STOP",
        "computeTypeName": KINDS[kind % KINDS.len()],
    })
    .to_string()
}

/// The target of an action.
pub(super) fn action_target(action: Action, desk: &str, requester: &str, kind: usize) -> String {
    let kind = match action {
        Action::ChangeComputeType => format!("&computeType={}", KINDS[kind % KINDS.len()]),
        Action::Reboot
        | Action::RecoveryReboot
        | Action::Rebuild
        | Action::Restore
        | Action::Terminate
        | Action::Start => String::new(),
    };
    format!(
        "/api/Actions/{}?workSpaceId={desk}&requester={requester}{kind}",
        action.as_str()
    )
}

/// The path that takes records of a stream.
pub(super) fn post_path(stream: Stream) -> &'static str {
    match stream {
        Stream::Stats => "/api/Stats/Post",
        Stream::Activity => "/api/Stats/PostActivity",
        Stream::Startup => "/api/Stats/PostStartupMetrics",
        Stream::Processes => "/api/Stats/PostProcesses",
    }
}

/// The lines of a batch.
pub(super) fn lines(marks: &[Mark]) -> String {
    let line = |mark: &Mark| format!("{{\"{}\":{}}}\n", mark.stream.name(), json(mark));
    marks.iter().map(line).collect()
}

/// A request with a key.
pub(super) fn request(method: Method, target: &str, key: &str, body: String) -> Request<Bytes> {
    let kind = if target == "/operator/telemetry" {
        "application/x-ndjson"
    } else {
        "application/json"
    };
    Request::builder()
        .method(method)
        .uri(target)
        .header("x-api-key", key)
        .header("content-type", kind)
        .body(body.into())
        .expect("a request as a client makes it")
}
