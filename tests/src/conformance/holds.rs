//! Litigation holds: placing, releasing, and the calls they refuse.

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::{desk, details};
use super::lifecycle::{ACTIONS, act, is};

const HOLD: &str = "/operator/workspaces/ws-1/litigation-hold";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        placed_and_released(),
        replaced(),
        nothing_to_release(),
        placed_by_the_host(),
        bodies(),
        lengths(),
    ];
    cases.extend(ACTIONS.iter().map(under_hold));
    cases.extend(
        ACTIONS
            .iter()
            .filter(|action| action.refused_under_hold)
            .map(hold_before_the_rest),
    );
    cases.push(removal());
    cases
}

fn put_hold(body: &str) -> Call {
    call(&format!("PUT admin {HOLD}")).json(body)
}

fn release() -> Call {
    call(&format!("DELETE admin {HOLD}"))
}

/// `ws-1` as the operator sees it.
fn view(hold: &str) -> String {
    let text = details(&desk("ws-1", "AVAILABLE", "jdoe"));
    format!(r#"{{"workSpace":{text},"transition":null,"litigationHold":{hold}}}"#)
}

/// A row about a hold, asked for by the operator.
fn by_operator(action: &'static str, result: &'static str) -> Row {
    Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        previous: "«_»".to_owned(),
        new: "«_»".to_owned(),
        completed: "«_»".to_owned(),
        detail: "«_»".to_owned(),
        ..Row::new(action, result)
    }
}

fn placed_and_released() -> Case {
    let hold = r#"{"matter":"Doe v. Roe","reason":"Subpoena 12","placedBy":"operator-desk","placedAt":"2026-11-20T12:00:00Z"}"#;
    Case::new("7 litigation hold", "placed, seen, released")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(put_hold(r#"{"matter":"Doe v. Roe","reason":"Subpoena 12"}"#).gives(view(hold)))
        .call(newest(&[by_operator("PlaceLitigationHold", "Completed")]))
        .clock(60)
        .call(call("GET admin /operator/workspaces/ws-1").gives(view(hold)))
        .call(release().gives(view("null")))
        .call(newest(&[Row {
            time: "2026-11-20T12:01:00Z",
            ..by_operator("ReleaseLitigationHold", "Completed")
        }]))
        .call(call("GET admin /operator/workspaces/ws-1").gives(view("null")))
}

fn replaced() -> Case {
    let hold = r#"{"matter":"B","reason":null,"placedBy":"operator-desk","placedAt":"«_»"}"#;
    Case::new(
        "7 litigation hold",
        "placing on a held workspace replaces matter and reason",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(put_hold(r#"{"matter":"A","reason":"x"}"#).gives_any())
    .clock(60)
    .call(put_hold(r#"{"matter":"B"}"#).gives_json(view(hold)))
    .call(call("GET admin /operator/workspaces/ws-1").gives_json(view(hold)))
    .call(release().gives(view("null")))
    .call(release().refused("NotFound"))
}

fn nothing_to_release() -> Case {
    let refused = Row {
        detail: r#""NotFound""#.to_owned(),
        ..by_operator("ReleaseLitigationHold", "Refused")
    };
    let nowhere = |action| Row {
        detail: r#""WorkSpaceNotFound""#.to_owned(),
        ..by_operator(action, "Refused").unknown_workspace("\"ws-9\"")
    };
    Case::new("7 litigation hold", "no hold and no workspace")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(release().refused("NotFound"))
        .call(newest(&[refused]))
        .call(
            call("DELETE admin /operator/workspaces/ws-9/litigation-hold")
                .refused("WorkSpaceNotFound"),
        )
        .call(newest(&[nowhere("ReleaseLitigationHold")]))
        .call(
            call("PUT admin /operator/workspaces/ws-9/litigation-hold")
                .json(r#"{"matter":"A"}"#)
                .refused("WorkSpaceNotFound"),
        )
        .call(newest(&[nowhere("PlaceLitigationHold")]))
}

fn placed_by_the_host() -> Case {
    let hold = r#"{"matter":"Doe v. Roe","reason":null,"placedBy":"host","placedAt":"2026-11-20T12:00:00Z"}"#;
    Case::new("4 litigation hold", "placed by the host itself")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .hold("ws-1")
        .clock(60)
        .call(call("GET admin /operator/workspaces/ws-1").gives(view(hold)))
}

/// The matter is required, the reason is not; both are texts.
fn bodies() -> Case {
    let mut case = Case::new("7 litigation hold", "bodies").put(desk("ws-1", "AVAILABLE", "jdoe"));
    for bad in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"reason":"x"}"#,
        r#"{"matter":null}"#,
        r#"{"matter":5}"#,
        r#"{"matter":"A","reason":5}"#,
        r#"{"matter":"A""#,
        r#"{"matter":"A","matter":"B"}"#,
    ] {
        case = case.call(put_hold(bad).refused("InvalidBody"));
    }
    for content_type in ["", "text/plain", "application/x-ndjson"] {
        let typed = call(&format!("PUT admin {HOLD}")).body(content_type, r#"{"matter":"A"}"#);
        case = case.call(typed.refused("UnsupportedMediaType"));
    }
    case = case.call(call("GET admin /operator/workspaces/ws-1").gives(view("null")));
    for good in [
        r#"{"matter":"A","reason":null}"#,
        r#"{"Matter":"A","Reason":"B","other":[1]}"#,
    ] {
        case = case.call(put_hold(good).gives_any());
    }
    case.call(
        call(&format!("PUT admin {HOLD}"))
            .body("application/vnd.x+json; charset=utf-8", r#"{"matter":"A"}"#)
            .gives_any(),
    )
}

fn lengths() -> Case {
    let (fits, long) = ("é".repeat(256), "é".repeat(257));
    let hold = format!(
        r#"{{"matter":"{fits}","reason":"{fits}","placedBy":"operator-desk","placedAt":"2026-11-20T12:00:00Z"}}"#
    );
    Case::new(
        "7 litigation hold",
        "matter and reason up to 256 code points",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(put_hold(&format!(r#"{{"matter":"{fits}","reason":"{fits}"}}"#)).gives(view(&hold)))
    .call(put_hold(&format!(r#"{{"matter":"{long}"}}"#)).refused("InvalidBody"))
    .call(put_hold(&format!(r#"{{"matter":"A","reason":"{long}"}}"#)).refused("InvalidBody"))
    .call(call("GET admin /operator/workspaces/ws-1").gives(view(&hold)))
}

/// Rebuild, Restore and Terminate are refused while held and accepted once released; the other actions are not
/// affected.
fn under_hold(action: &super::lifecycle::Documented) -> Case {
    let state = if action.action == "StartWorkSpace" {
        "STOPPED"
    } else {
        "AVAILABLE"
    };
    let case = Case::new("4 litigation hold", format!("{} under hold", action.action))
        .put(desk("ws-1", state, "jdoe"))
        .hold("ws-1");
    if !action.refused_under_hold {
        return case.call(act(action)).call(is(action.via, "STANDARD"));
    }
    case.call(act(action).refused("LitigationHold"))
        .call(newest(&[
            Row::refused(action.action, "LitigationHold").before(state)
        ]))
        .call(is(state, "STANDARD"))
        .call(release().gives_any())
        .call(act(action))
        .call(is(action.via, "STANDARD"))
}

/// The hold is checked before the running transition and before the state, after a Terminate with nothing to do.
fn hold_before_the_rest(action: &super::lifecycle::Documented) -> Case {
    let terminate = action.action == "TerminateWorkSpace";
    let ended = if terminate {
        act(action)
    } else {
        act(action).refused("LitigationHold")
    };
    Case::new("2 order of checks", format!("{} under hold", action.action))
        .put(desk("ws-1", "SUSPENDED", "jdoe"))
        .hold("ws-1")
        .call(act(action).refused("LitigationHold"))
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(act(action).refused("LitigationHold"))
        .call(release().gives_any())
        .reset(&desk("ws-1", "TERMINATED", "jdoe"))
        .hold("ws-1")
        .call(ended)
}

fn removal() -> Case {
    let remove = || call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1");
    Case::new("4 litigation hold", "RemoveWorkSpaceDbEntry under hold")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .hold("ws-1")
        .call(remove().refused("LitigationHold"))
        .call(newest(&[Row::refused(
            "RemoveWorkSpaceDbEntry",
            "LitigationHold",
        )
        .before("«_»")]))
        .call(is("AVAILABLE", "STANDARD"))
        .call(release().gives_any())
        .call(remove().gives(r#"{"workSpaceId":"ws-1","removed":true}"#))
}
