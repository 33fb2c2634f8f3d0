//! The workspaces, the records, and the requests of a run.

use bytes::Bytes;
use deskfleet::{Action, RetentionDays, Stream, Timestamp};
use http::{Method, Request};

use super::fact::Mark;

const DAY: i64 = 86_400;
/// For how long telemetry is kept in the order of its receipt.
pub(super) const KEPT_DAYS: u64 = 5;

/// Workspaces that are stored at the beginning and never removed or terminated.
pub const STABLE: [&str; 4] = ["ws-00", "ws-2s", "ws-4s", "ws-9s"];
/// Workspaces that come and go.
pub(super) const DESKS: [&str; 5] = ["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"];
/// The instances of telemetry: workspaces by id and by computer name, a computer with many users, none.
pub(super) const INSTANCES: [&str; 8] = [
    "ws-1",
    "WS-1",
    "ws-2",
    "ws-2s",
    "PC-\u{c9}",
    "pc-e\u{301}",
    "pool",
    "",
];
/// The computer names of workspaces.
const COMPUTERS: [&str; 3] = ["Pc-\u{e9}", "POOL", "pc-3"];
/// Users as agents and the inventory spell them.
pub(super) const USERS: [&str; 9] = [
    "ann",
    "CORP\\Ann",
    "ANN@corp.example",
    "bob@corp.example",
    "BOB",
    "zoe\u{308}",
    "CORP\\ZO\u{cb}",
    "eve",
    "CORP\\eve@corp.example",
];
/// The user of the workspaces that stay; no telemetry names it.
const KEEPER: &str = "keeper";
/// Spellings of one name, mapped to one form.
const SPELLINGS: [(&str, &[&str]); 6] = [
    ("ann", &["ann", "CORP\\Ann", "ANN@corp.example"]),
    ("bob", &["bob@corp.example", "BOB"]),
    ("zoe", &["zoe\u{308}", "CORP\\ZO\u{cb}"]),
    ("eve", &["eve", "CORP\\eve@corp.example"]),
    ("ws-1", &["ws-1", "WS-1"]),
    ("pc-1", &["PC-\u{c9}", "pc-e\u{301}", "Pc-\u{e9}"]),
];
/// Times that no agent with a correct clock sends.
pub(super) const ABSURD: [&str; 5] = [
    "1970-01-01T00:00:00Z",
    "2001-02-03T04:05:06Z",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "2099-01-01T00:00:00Z",
];
const STATES: [&str; 6] = [
    "AVAILABLE",
    "STOPPED",
    "UNHEALTHY",
    "ERROR",
    "TERMINATED",
    "SUSPENDED",
];
const KINDS: [&str; 4] = ["STANDARD", "POWER", "GRAPHICS_G4DN", "GRAPHICSPRO_G4DN"];
/// The actions; those with consequences more often.
pub(super) const ACTIONS: [Action; 7] = [
    Action::Reboot,
    Action::RecoveryReboot,
    Action::Rebuild,
    Action::Restore,
    Action::Terminate,
    Action::Start,
    Action::ChangeComputeType,
];

/// One form for all spellings of a name.
pub(super) fn same_name(name: &str) -> &str {
    let known = SPELLINGS.iter().find(|(_, all)| all.contains(&name));
    known.map_or(name, |(form, _)| form)
}

/// The record with this number, as JSON.
pub(super) fn json(mark: &Mark) -> String {
    let mut record = serde_json::json!({ "username": mark.user });
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
            let item = |count| serde_json::json!({ "processName": "a.exe", "processCount": count });
            // Large reports are equal but for the last item.
            let mut items = vec![item(0); usize::from(mark.items).saturating_sub(1)];
            items.push(item(mark.number));
            record["processes"] = items.into();
        }
        Stream::Stats | Stream::Activity | Stream::Startup => record["id"] = mark.number.into(),
    }
    if mark.stream == Stream::Activity {
        record["activity"] = "Logon".into();
    }
    record.to_string()
}

/// The day under which a record with this time is filed, by the contract. Under a clock that is behind the last sweep,
/// the time in the record counts, as far ahead as records are kept.
pub(super) fn filed_day(
    stream: Stream,
    sent: Option<Timestamp>,
    now: Timestamp,
    swept: Timestamp,
) -> u32 {
    let days = i64::from(RetentionDays::default().for_stream(stream));
    let received = now.max(swept);
    let fallen_back = if now < swept { days * DAY } else { 0 };
    let newest = received.plus_seconds(fallen_back + 300);
    let believed = sent.filter(|sent| *sent <= newest);
    believed.unwrap_or(received).day()
}

/// A workspace that stays, as the body of a PUT.
pub(super) fn stable_json() -> String {
    serde_json::json!({ "state": STATES[0], "username": KEEPER }).to_string()
}

/// A workspace to store, as the body of a PUT.
pub(super) fn desk_json(state: usize, user: usize, kind: usize) -> String {
    serde_json::json!({
        "state": STATES[state % STATES.len()],
        "username": USERS[user % USERS.len()],
        "computerName": COMPUTERS.get(kind / KINDS.len()),
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
