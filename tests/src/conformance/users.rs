//! `GetUserInformation`.

use deskfleet::Workspace;

use super::case::{Call, Case, call};
use super::fixtures::{activity, desk, details, processes, startup, stats};

const ROW: &str = "5 GetUserInformation";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        unknown(),
        spellings(),
        several_workspaces(),
        everything(),
        newest_of_each(),
    ];
    cases.extend(known_by_one_stream());
    cases.push(after_the_workspace_is_gone());
    cases
}

fn user(name: &str) -> Call {
    call(&format!(
        "GET read /api/Information/GetUserInformation?username={name}"
    ))
}

/// The response for a user without telemetry.
fn quiet(username: &str, workspaces: &[Workspace], held: bool) -> String {
    let workspaces = workspaces.iter().map(details).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"username":{username:?},"workSpaces":[{workspaces}],"litigationHold":{held},"lastActivity":null,"lastActivityTime":null,"lastSeen":null,"lastStats":null,"lastStartup":null}}"#
    )
}

fn unknown() -> Case {
    let case = Case::new(
        ROW,
        "missing, empty or known neither from a workspace nor from telemetry",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(call("GET read /api/Information/GetUserInformation").refused("UserNotFound"))
    .call(call("GET read /api/Information/GetUserInformation?username").refused("UserNotFound"));
    ["", "nobody", "jdo", "jdoee", "ws-1", "PC-ws-1", "+jdoe"]
        .into_iter()
        .fold(case, |case, name| {
            case.call(user(name).refused("UserNotFound"))
        })
}

/// A user is the same with a domain before or after the name, and in any case.
fn spellings() -> Case {
    let mut workspace = desk("ws-1", "AVAILABLE", "CORP\\JDoe");
    workspace.computer_name = None;
    let case = Case::new(ROW, "domain and case of the name do not matter").put(workspace.clone());
    [
        "jdoe",
        "JDOE",
        "CORP%5Cjdoe",
        "other%5CjDoE",
        "jdoe@corp.example",
        "A%5Cjdoe%40b",
    ]
    .into_iter()
    .fold(case, |case, name| {
        case.call(user(name).gives(quiet("CORP\\JDoe", &[workspace.clone()], false)))
    })
}

fn several_workspaces() -> Case {
    let mut all = ["ws-1", "ws-2", "ws-3"].map(|id| desk(id, "STOPPED", "jdoe"));
    all[1].state = Some("TERMINATED".into());
    Case::new(
        ROW,
        "all workspaces of the user, in order; held when one of them is",
    )
    .put(desk("ws-0", "AVAILABLE", "asmith"))
    .puts(all.clone().into_iter().rev())
    .call(user("jdoe").gives(quiet("jdoe", &all, false)))
    .hold("ws-0")
    .call(user("jdoe").gives(quiet("jdoe", &all, false)))
    .hold("ws-2")
    .call(user("jdoe").gives(quiet("jdoe", &all, true)))
}

/// The document's example, with every record there is; the same before and after filing.
fn everything() -> Case {
    let workspace = desk("ws-1", "AVAILABLE", "jdoe");
    let answer = format!(
        r#"{{"username":"jdoe","workSpaces":[{}],"litigationHold":false,"lastActivity":"Logon","lastActivityTime":"2026-11-20T08:01:12Z","lastSeen":"2026-11-20T11:55:00Z","lastStats":{{"id":2,"updatetime":"2026-11-20T11:55:00Z","username":"jdoe","instanceId":"ws-1"}},"lastStartup":{{"id":3,"username":"jdoe","baselineUtc":"2026-11-20T08:00:00Z","instanceId":"ws-1"}}}}"#,
        details(&workspace)
    );
    Case::new(ROW, "the example of the contract, before and after filing")
        .put(workspace)
        .record(startup("ws-1", "jdoe", 3, "2026-11-20T08:00:00Z"))
        .record(activity("ws-1", "jdoe", "Logon", "2026-11-20T08:01:12Z"))
        .record(stats("ws-1", "jdoe", 2, "2026-11-20T11:55:00Z"))
        .record(processes("ws-1", "jdoe", "2026-11-20T11:54:00Z"))
        .call(user("jdoe").gives(&*answer))
        .file()
        .call(call("GET - /api/Stats/queue/count").gives("0"))
        .call(user("jdoe").gives(&*answer))
}

/// The time in the record decides, not the order of arrival; half of the records are filed, half still queued.
fn newest_of_each() -> Case {
    let answer = r#"{"username":"jdoe","workSpaces":[],"litigationHold":false,"lastActivity":"Lock","lastActivityTime":"2026-11-20T11:00:00Z","lastSeen":"2026-11-20T11:50:00Z","lastStats":{"id":2,"updatetime":"2026-11-20T11:30:00Z","username":"jdoe","instanceId":"b"},"lastStartup":{"id":2,"username":"CORP\\jdoe","baselineUtc":"2026-11-20T07:00:00Z","instanceId":"b"}}"#;
    Case::new(
        ROW,
        "the newest of each stream by its own time, over all instances",
    )
    .record(stats("b", "jdoe", 2, "2026-11-20T11:30:00Z"))
    .record(activity("a", "jdoe", "Logon", "2026-11-20T10:00:00Z"))
    .record(startup("b", "CORP\\jdoe", 2, "2026-11-20T07:00:00Z"))
    .file()
    .record(stats("a", "jdoe", 1, "2026-11-20T11:29:59Z"))
    .record(activity("b", "jdoe", "Lock", "2026-11-20T11:00:00Z"))
    .record(startup("a", "jdoe", 1, "2026-11-20T06:59:59Z"))
    .record(processes("c", "jdoe@corp", "2026-11-20T11:50:00Z"))
    .record(activity("b", "asmith", "Unlock", "2026-11-20T11:59:00Z"))
    .call(user("jdoe").gives_json(answer.replacen("jdoe", "«_»", 1)))
    .file()
    .call(user("jdoe").gives_json(answer.replacen("jdoe", "«_»", 1)))
}

fn known_by_one_stream() -> Vec<Case> {
    let time = "2026-11-20T11:00:00Z";
    let of = |members: &str| {
        format!(r#"{{"username":"jdoe","workSpaces":[],"litigationHold":false,{members}}}"#)
    };
    let seen = |rest: &str| {
        of(&format!(
            r#""lastActivity":null,"lastActivityTime":null,"lastSeen":"{time}",{rest}"#
        ))
    };
    let rows = [
        (
            stats("i", "jdoe", 1, time),
            seen(
                r#""lastStats":{"id":1,"updatetime":"2026-11-20T11:00:00Z","username":"jdoe","instanceId":"i"},"lastStartup":null"#,
            ),
        ),
        (
            startup("i", "jdoe", 1, time),
            seen(
                r#""lastStats":null,"lastStartup":{"id":1,"username":"jdoe","baselineUtc":"2026-11-20T11:00:00Z","instanceId":"i"}"#,
            ),
        ),
        (
            processes("i", "jdoe", time),
            seen(r#""lastStats":null,"lastStartup":null"#),
        ),
        (
            activity("i", "jdoe", "Logon", time),
            of(
                r#""lastActivity":"Logon","lastActivityTime":"2026-11-20T11:00:00Z","lastSeen":"2026-11-20T11:00:00Z","lastStats":null,"lastStartup":null"#,
            ),
        ),
    ];
    rows.into_iter()
        .map(|(record, answer)| {
            Case::new(ROW, format!("known by {} alone", record.stream().name()))
                .record(record)
                .call(user("jdoe").gives(&*answer))
                .file()
                .call(user("JDOE").gives(answer))
        })
        .collect()
}

fn after_the_workspace_is_gone() -> Case {
    let answer = r#"{"username":"jdoe","workSpaces":[],"litigationHold":false,"lastActivity":"Logon","lastActivityTime":"2026-11-20T10:00:00Z","lastSeen":"2026-11-20T10:00:00Z","lastStats":null,"lastStartup":null}"#;
    Case::new(
        "4 RemoveWorkSpaceDbEntry",
        "the record goes, telemetry stays",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .put(desk("ws-2", "AVAILABLE", "asmith"))
    .record(activity("ws-1", "jdoe", "Logon", "2026-11-20T10:00:00Z"))
    .call(
        call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1")
            .gives(r#"{"workSpaceId":"ws-1","removed":true}"#),
    )
    .call(
        call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-2")
            .gives(r#"{"workSpaceId":"ws-2","removed":true}"#),
    )
    .call(user("jdoe").gives(answer))
    .call(user("asmith").refused("UserNotFound"))
}
