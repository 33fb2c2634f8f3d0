//! How workspaces leave the list, and how a host ends actions: TERMINATED, removal, the outbox.

use deskfleet::ActionDriver;

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::{desk, details};
use super::lifecycle::{ACTIONS, act, is};

const DAYS_7: i64 = 7 * 24 * 3600;
const NONE: &str = r#"{"workSpaces":[],"nextToken":null,"hasMore":false}"#;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        gone_after_seven_days(),
        loaded_as_terminated(),
        held_terminated(),
        removed(),
        removal_in_a_transition(),
        outbox_shape(),
        outbox_order(),
        outbox_unknown(),
    ];
    cases.extend(ACTIONS.iter().map(completed_early));
    cases.extend(
        [
            ("", "ERROR"),
            (r#"{"state":"ERROR"}"#, "ERROR"),
            (r#"{"state":"UNHEALTHY"}"#, "UNHEALTHY"),
        ]
        .map(failed),
    );
    cases.push(fail_bodies());
    cases.push(host_driver());
    cases
}

fn list() -> Call {
    call("GET read /api/Information/GetAllWorkSpaces")
}

fn remove(id: &str) -> Call {
    call(&format!(
        "POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId={id}"
    ))
}

/// Listed for 7 days from the moment the state began, then gone from every read.
fn gone_after_seven_days() -> Case {
    Case::new(
        "4 TERMINATED",
        "listed for 7 days, then gone from every read",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(act(&ACTIONS[4]))
    .clock(300 + DAYS_7 - 1)
    .call(is("TERMINATED", "STANDARD"))
    .call(act(&ACTIONS[4]))
    .clock(1)
    .call(list().gives(NONE))
    .call(call("GET admin /operator/workspaces").gives(NONE))
    .call(call("GET admin /operator/workspaces/ws-1").refused("WorkSpaceNotFound"))
    .call(
        call("GET read /api/Information/GetUserInformation?username=jdoe").refused("UserNotFound"),
    )
    .call(act(&ACTIONS[4]).refused("WorkSpaceNotFound"))
    .call(remove("ws-1").refused("WorkSpaceNotFound"))
    .maintain()
    .call(list().gives(NONE))
}

fn loaded_as_terminated() -> Case {
    Case::new(
        "4 TERMINATED",
        "loaded as TERMINATED, the days count from then",
    )
    .put(desk("ws-1", "TERMINATED", "jdoe"))
    .clock(DAYS_7 - 1)
    .maintain()
    .call(is("TERMINATED", "STANDARD"))
    .clock(1)
    .maintain()
    .call(list().gives(NONE))
}

fn held_terminated() -> Case {
    Case::new(
        "4 litigation hold",
        "a held TERMINATED workspace stays listed until it is released",
    )
    .put(desk("ws-1", "TERMINATED", "jdoe"))
    .hold("ws-1")
    .clock(DAYS_7 * 10)
    .maintain()
    .call(is("TERMINATED", "STANDARD"))
    .call(call("DELETE admin /operator/workspaces/ws-1/litigation-hold").gives_any())
    .maintain()
    .call(list().gives(NONE))
}

fn removed() -> Case {
    let open = || "«_»".to_owned();
    let row = Row {
        previous: open(),
        new: open(),
        completed: open(),
        ..Row::new("RemoveWorkSpaceDbEntry", "Completed")
    };
    let case = Case::new(
        "4 RemoveWorkSpaceDbEntry",
        "the record once; 404 the second time, without an id and for an unknown one",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(remove("ws-1").gives(r#"{"workSpaceId":"ws-1","removed":true}"#))
    .call(newest(&[row]))
    .call(list().gives(NONE))
    .call(remove("ws-1").refused("WorkSpaceNotFound"))
    .call(remove("").refused("WorkSpaceNotFound"))
    .call(remove("WS-1").refused("WorkSpaceNotFound"))
    .call(call("POST act /api/Information/RemoveWorkSpaceDbEntry").refused("WorkSpaceNotFound"));
    case.put(desk("ws-1", "TERMINATED", "jdoe"))
        .call(remove("ws-1").gives(r#"{"workSpaceId":"ws-1","removed":true}"#))
}

fn removal_in_a_transition() -> Case {
    Case::new("4 RemoveWorkSpaceDbEntry", "409 while an action runs")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .clock(119)
        .call(remove("ws-1").refused("OperationInProgress"))
        .call(is("REBOOTING", "STANDARD"))
        .clock(1)
        .call(remove("ws-1").gives(r#"{"workSpaceId":"ws-1","removed":true}"#))
}

/// The last page of the outbox.
pub(super) fn outbox(items: &str) -> String {
    format!(r#"{{"actions":[{items}],"nextToken":null,"hasMore":false}}"#)
}

/// One action on `ws-1` that nobody dispatched.
fn pending(action: &str, due: &str, compute_type: &str) -> String {
    format!(
        r#"{{"id":«id»,"action":"{action}","workSpaceId":"ws-1","requestedAt":"2026-11-20T12:00:00Z","dueAt":"{due}","computeType":{compute_type},"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}}"#
    )
}

fn outbox_shape() -> Case {
    let actions = |items: &str| call("GET admin /operator/actions").gives(outbox(items));
    let mut case = Case::new(
        "7 actions",
        "shapes of the outbox and of one workspace with its transition",
    )
    .call(actions(""));
    for (action, compute_type) in [(&ACTIONS[6], "\"POWER\""), (&ACTIONS[2], "null")] {
        let item = pending(action.action, action.ends, compute_type)
            .replace("«id»", &format!("«{}»", action.action));
        let text = details(&desk("ws-1", action.via, "jdoe"));
        let view = format!(r#"{{"workSpace":{text},"transition":{item},"litigationHold":null}}"#);
        case = case
            .set_time(super::case::NOW)
            .reset(&desk("ws-1", "AVAILABLE", "jdoe"))
            .call(act(action))
            .call(actions(&item))
            .call(call("GET admin /operator/actions?state=pending").gives(outbox(&item)))
            .call(call("GET admin /operator/actions?STATE=Pending").gives(outbox(&item)))
            .call(call("GET admin /operator/workspaces/ws-1").gives(view))
            .clock(action.seconds)
            .call(actions(""));
    }
    let bad = |state: &str| {
        call(&format!("GET admin /operator/actions?state={state}")).refused("InvalidParameter")
    };
    let hint = "Send one of pending, waiting, dispatched.";
    let message = format!("The value 'done' is not valid. {hint}");
    case.call(bad("done").error("state", &message))
        .call(call("GET admin /operator/actions?state=").gives(outbox("")))
}

fn outbox_order() -> Case {
    let item = |id: &str| {
        format!(
            r#"{{"id":"«_»","action":"RebootWorkSpace","workSpaceId":"{id}","requestedAt":"«_»","dueAt":"«_»","computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}}"#
        )
    };
    let reboot = |id: &str| {
        call(&format!(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId={id}"
        ))
    };
    Case::new("7 actions", "in the order of their ids")
        .puts(["ws-1", "ws-2", "ws-3"].map(|id| desk(id, "AVAILABLE", "jdoe")))
        .call(reboot("ws-3"))
        .call(reboot("ws-1"))
        .call(reboot("ws-2"))
        .call(
            call("GET admin /operator/actions")
                .gives_json(outbox(&["ws-3", "ws-1", "ws-2"].map(item).join(","))),
        )
}

/// The action's number, read from the outbox.
fn learn_id(action: &super::lifecycle::Documented) -> Call {
    let item = format!(
        r#"{{"id":"«id»","action":"{}","workSpaceId":"ws-1","requestedAt":"«_»","dueAt":"«_»","computeType":"«_»","attempts":0,"lastAttemptAt":null,"provider":null,"note":null}}"#,
        action.action
    );
    call("GET admin /operator/actions").gives_json(outbox(&item))
}

fn complete() -> Call {
    call("POST admin /operator/actions/«id»/complete")
}

fn fail() -> Call {
    call("POST admin /operator/actions/«id»/fail")
}

fn start_state(action: &super::lifecycle::Documented) -> &'static str {
    if action.action == "StartWorkSpace" {
        "STOPPED"
    } else {
        "AVAILABLE"
    }
}

/// The host completes the action before its due time: the outcome is visible at once, and nothing happens at the due
/// time.
fn completed_early(action: &super::lifecycle::Documented) -> Case {
    let kind = if action.action == "ChangeComputeType" {
        "POWER"
    } else {
        "STANDARD"
    };
    let row = Row::new(action.action, "Completed")
        .states(start_state(action), action.then)
        .completed("2026-11-20T12:00:30Z");
    Case::new(
        "4 outbox",
        format!("{} completed by the host", action.action),
    )
    .put(desk("ws-1", start_state(action), "jdoe"))
    .call(act(action))
    .call(learn_id(action))
    .clock(30)
    .call(complete())
    .call(is(action.then, kind))
    .call(newest(std::slice::from_ref(&row)))
    .call(complete().refused("InvalidResourceState"))
    .call(fail().refused("InvalidResourceState"))
    .clock(action.seconds)
    .maintain()
    .call(is(action.then, kind))
    .call(newest(&[row]))
    .call(complete().refused("InvalidResourceState"))
}

fn failed((body, state): (&'static str, &'static str)) -> Case {
    let row = Row::new("ChangeComputeType", "Failed")
        .states("AVAILABLE", state)
        .completed("2026-11-20T12:00:30Z");
    let message = Row {
        detail: r#""no capacity""#.to_owned(),
        ..row.clone()
    };
    let with_detail = if body.is_empty() {
        r#"{"detail":"no capacity"}"#.to_owned()
    } else {
        body.replace('}', r#","detail":"no capacity"}"#)
    };
    let content_type = if body.is_empty() {
        ""
    } else {
        "application/json"
    };
    let start = |case: Case| {
        case.set_time(super::case::NOW)
            .reset(&desk("ws-1", "AVAILABLE", "jdoe"))
            .call(act(&ACTIONS[6]))
            .call(call("GET admin /operator/actions").gives_any())
    };
    let case = start(Case::new(
        "4 outbox",
        format!("failed by the host with {body:?}"),
    ))
    .call(learn_id(&ACTIONS[6]))
    .clock(30)
    .call(fail().body(content_type, body))
    .call(is(state, "STANDARD"))
    .call(newest(&[Row {
        detail: "«_»".to_owned(),
        ..row
    }]));
    let second = outbox(
        r#"{"id":"«id2»","action":"«_»","workSpaceId":"ws-1","requestedAt":"«_»","dueAt":"«_»","computeType":"«_»","attempts":0,"lastAttemptAt":null,"provider":null,"note":null}"#,
    );
    start(case)
        .call(call("GET admin /operator/actions").gives_json(second))
        .clock(30)
        .call(call("POST admin /operator/actions/«id2»/fail").json(with_detail))
        .call(is(state, "STANDARD"))
        .call(newest(&[message]))
}

fn fail_bodies() -> Case {
    let case = Case::new("7 actions", "bodies of fail")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(learn_id(&ACTIONS[0]));
    [
        "[]",
        "{",
        "5",
        r#"{"state":"AVAILABLE"}"#,
        r#"{"state":5}"#,
        r#"{"detail":5}"#,
    ]
    .into_iter()
    .fold(case, |case, bad| {
        case.call(fail().json(bad).refused("InvalidBody"))
    })
    .call(is("REBOOTING", "STANDARD"))
    .call(fail().json(r#"{"State":"unhealthy","other":1}"#))
    .call(is("UNHEALTHY", "STANDARD"))
}

fn outbox_unknown() -> Case {
    let case = Case::new("7 actions", "complete and fail of an unknown action");
    ["999999", "0", "-1", "x", "99999999999999999999999"]
        .into_iter()
        .fold(case, |case, id| {
            case.call(
                call(&format!("POST admin /operator/actions/{id}/complete")).refused("NotFound"),
            )
            .call(call(&format!("POST admin /operator/actions/{id}/fail")).refused("NotFound"))
        })
}

/// With the host as driver the clock ends nothing; the outbox has no due time.
fn host_driver() -> Case {
    let body = outbox(
        r#"{"id":"«id»","action":"RebootWorkSpace","workSpaceId":"ws-1","requestedAt":"2026-11-20T12:00:00Z","dueAt":null,"computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}"#,
    );
    Case::new("4 outbox", "a host that takes the actions over")
        .config(|config| config.actions.driver = ActionDriver::Host)
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .clock(10 * DAYS_7)
        .maintain()
        .call(is("REBOOTING", "STANDARD"))
        .call(call("GET admin /operator/actions").gives_json(body))
        .call(complete())
        .call(is("AVAILABLE", "STANDARD"))
        .call(call("GET admin /operator/actions").gives(outbox("")))
}
