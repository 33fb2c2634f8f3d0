//! `Get24HourActivity`.

use super::case::{Call, Case, call};
use super::fixtures::{activity, desk, stats};

const ROW: &str = "5 Get24HourActivity";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new(ROW, "nobody").call(day("")),
        window(),
        moving_window(),
        order(),
        resolved(),
        as_posted(),
        times_that_are_not_believed(),
        repetition(),
    ]
}

/// The call; its response is an array of these items.
fn day(items: &str) -> Call {
    call("GET read /api/Information/Get24HourActivity").gives(format!("[{items}]"))
}

fn item(what: &str, time: &str) -> String {
    format!(
        r#"{{"username":"nobody","activity":"{what}","activityTime":"{time}","instanceId":"none"}}"#
    )
}

/// Records an activity of an instance that resolves to no workspace.
fn record_activity(case: Case, what: &str, time: &str) -> Case {
    case.record(activity("none", "nobody", what, time))
}

/// (now − 24 h, now], to the tick.
fn window() -> Case {
    let mut case = Case::new(ROW, "the window is open at now − 24 h and closed at now");
    for (what, time) in [
        ("too-old", "2026-11-19T12:00:00Z"),
        ("oldest", "2026-11-19T12:00:00.0000001Z"),
        ("now", "2026-11-20T12:00:00Z"),
        ("too-new", "2026-11-20T12:00:00.0000001Z"),
    ] {
        case = record_activity(case, what, time);
    }
    let items = [
        item("now", "2026-11-20T12:00:00Z"),
        item("oldest", "2026-11-19T12:00:00.0000001Z"),
    ];
    case.call(day(&items.join(",")))
        .file()
        .call(day(&items.join(",")))
}

fn moving_window() -> Case {
    let (old, new) = ("2026-11-19T12:00:01Z", "2026-11-20T12:00:01Z");
    record_activity(
        record_activity(
            Case::new(ROW, "the window moves with the clock, forward and back"),
            "old",
            old,
        ),
        "new",
        new,
    )
    .call(day(&item("old", old)))
    .clock(1)
    .call(day(&item("new", new)))
    .clock(-1)
    .call(day(&item("old", old)))
    .clock(24 * 3600)
    .call(day(&item("new", new)))
    .clock(1)
    .call(day(""))
}

/// Newest first; of two at one time, the one received later comes first.
fn order() -> Case {
    let [nine, ten] = ["2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z"];
    let case = record_activity(Case::new(ROW, "newest first"), "first", nine).clock(1);
    let case = record_activity(case, "latest", ten).file().clock(1);
    let case = record_activity(case, "second", nine);
    let items = [
        item("latest", ten),
        item("second", nine),
        item("first", nine),
    ]
    .join(",");
    case.call(day(&items)).file().call(day(&items))
}

/// By workSpId exactly, by computer name in any case, by the user's only workspace; else not at all.
#[rustfmt::skip]
fn resolved() -> Case {
    let time = "2026-11-20T11:00:00Z";
    let rows = [
        ("ws-1",    "x",         Some(("ws-1", "PC-ws-1"))),
        ("WS-1",    "x",         None),
        ("pc-WS-2", "x",         Some(("ws-2", "PC-ws-2"))),
        ("i-1",     "asmith",    Some(("ws-2", "PC-ws-2"))),
        ("i-2",     "CORP\\ASMITH", Some(("ws-2", "PC-ws-2"))),
        ("i-3",     "jdoe",      None),
        ("i-4",     "nobody",    None),
        ("ws-1",    "asmith",    Some(("ws-1", "PC-ws-1"))),
    ];
    let mut case = Case::new(ROW, "workSpId and computerName where they resolve")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .put(desk("ws-2", "AVAILABLE", "asmith"))
        .put(desk("ws-3", "AVAILABLE", "jdoe"));
    let mut items = Vec::new();
    for (instance, username, found) in rows {
        case = case.clock(1).record(activity(instance, username, "Logon", time));
        let found = found.map_or_else(String::new, |(id, name)| format!(r#","workSpId":"{id}","computerName":"{name}""#));
        items.push(format!(r#"{{"username":{username:?},"activity":"Logon","activityTime":"{time}","instanceId":"{instance}"{found}}}"#));
    }
    items.reverse();
    case.call(day(&items.join(","))).file().call(day(&items.join(",")))
}

fn as_posted() -> Case {
    let full = r#"{"id":7,"computeTypeName":"STANDARD","username":"jdoe","activity":"Logon","activityTime":"2026-11-20T10:00:00+02:00","instanceId":"ws-1","tenantId":"t"}"#;
    let nulls = r#"{"tenantId":null,"instanceId":null,"activity":null,"username":null,"computeTypeName":null}"#;
    let post = |body: &str| call("POST - /api/Stats/PostActivity").json(body);
    let answer = [
        r#"{"computeTypeName":null,"username":null,"activity":null,"activityTime":"2026-11-20T12:00:01Z","instanceId":null,"tenantId":null}"#,
        r#"{"activityTime":"2026-11-20T12:00:00Z"}"#,
        r#"{"id":7,"computeTypeName":"STANDARD","username":"jdoe","activity":"Logon","activityTime":"2026-11-20T08:00:00Z","instanceId":"ws-1","tenantId":"t","workSpId":"ws-1","computerName":"PC-ws-1"}"#,
    ]
    .join(",");
    let answer = format!("[{answer}]");
    Case::new(
        ROW,
        "each record as posted; without a time, the time of receipt",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .record(stats("ws-1", "jdoe", 1, "2026-11-20T11:00:00Z"))
    .call(post(full))
    .call(post("{}"))
    .clock(1)
    .call(post(nulls))
    .call(day("").gives_json(&*answer))
    .file()
    .call(day("").gives_json(&*answer))
}

/// Up to 5 minutes ahead a record stands at its time, and from then on at its receipt; an old one is in no window of today.
fn times_that_are_not_believed() -> Case {
    let (believed, ahead) = ("2026-11-20T12:05:00Z", "2026-11-20T12:05:00.0000001Z");
    let case = Case::new("10 times", "ahead, late and far back");
    let case = record_activity(case, "believed", believed);
    let case = record_activity(case, "ahead", ahead).clock(1);
    let case = record_activity(case, "offset", "2026-11-20T14:00:01+02:00");
    let case = record_activity(case, "late", "2026-11-19T12:00:01Z");
    let case = record_activity(case, "dead battery", "2001-01-01T00:00:00Z");
    let offset = item("offset", "2026-11-20T12:00:01Z");
    let items = [offset.clone(), item("ahead", ahead)].join(",");
    let later = [item("believed", believed), offset, item("ahead", ahead)].join(",");
    case.call(day(&items))
        .file()
        .call(day(&items))
        .set_time(believed)
        .call(day(&later))
}

fn repetition() -> Case {
    let time = "2026-11-20T10:00:00Z";
    let case = record_activity(
        Case::new("6 durable", "a retry shows once, before and after filing"),
        "Logon",
        time,
    );
    let case = record_activity(case, "Logon", time)
        .call(day(&item("Logon", time)))
        .file();
    let case = case.call(day(&item("Logon", time))).clock(60);
    let case = record_activity(case, "Logon", time)
        .call(day(&item("Logon", time)))
        .file();
    case.call(day(&item("Logon", time)))
}
