//! What a provider does with the outbox: it lists, dispatches, notes.

use deskfleet::ActionDriver;

use super::audit::{Row, newest};
use super::case::{Call, Case, NOW, call};
use super::endings::outbox;
use super::fixtures::desk;
use super::lifecycle::{ACTIONS, act};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        attempts(),
        two_processes(),
        refused(),
        under_hold(),
        bodies(),
        audit_at_the_end(),
        filters(),
        pages(),
        driver_of_a_kind(),
    ]
}

/// A fleet whose actions the host ends, with a reboot of `ws-1` under way, whose number is learnt as `id`.
fn rebooting(name: &str) -> Case {
    Case::new("7 actions", name)
        .config(|config| config.actions.driver = ActionDriver::Host)
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(list("").gives_json(outbox(&item("«id»", "ws-1", WAITING))))
}

/// The rest of an action that nobody dispatched.
const WAITING: &str = r#""attempts":0,"lastAttemptAt":null,"provider":null,"note":null"#;

fn item(id: &str, workspace: &str, rest: &str) -> String {
    let id = id.replace('«', "\"«").replace('»', "»\"");
    format!(
        r#"{{"id":{id},"action":"RebootWorkSpace","workSpaceId":"{workspace}","requestedAt":"{NOW}","dueAt":null,"computeType":null,{rest}}}"#
    )
}

fn list(query: &str) -> Call {
    call(&format!("GET admin /operator/actions{query}"))
}

fn dispatch(provider: &str, attempt: u32) -> Call {
    call("POST admin /operator/actions/«id»/dispatch").json(format!(
        r#"{{"provider":"{provider}","attempt":{attempt}}}"#
    ))
}

/// The first attempt, by one of several processes.
fn dispatch_by(instance: &str) -> Call {
    call("POST admin /operator/actions/«id»/dispatch").json(format!(
        r#"{{"provider":"aws","attempt":1,"instance":{instance}}}"#
    ))
}

fn post_note(attempt: u32, text: &str) -> Call {
    call("POST admin /operator/actions/«id»/note")
        .json(format!(r#"{{"attempt":{attempt},"requestId":"{text}"}}"#))
}

/// Each attempt has the next number; the last one again, from the same provider, is no other attempt.
fn attempts() -> Case {
    let dispatched = |attempts: u32, seconds: u32, provider: &str, note: &str| {
        let rest = format!(
            r#""attempts":{attempts},"lastAttemptAt":"2026-11-20T12:00:{seconds:02}Z","provider":"{provider}","note":{note}"#
        );
        item("«_»", "ws-1", &rest)
    };
    let first = dispatched(1, 10, "aws", "null");
    let noted = dispatched(1, 10, "aws", r#""r-2""#);
    let second = dispatched(2, 30, "desk", "null");
    rebooting("attempts of an action")
        .call(post_note(1, "r-1").refused("InvalidResourceState"))
        .call(dispatch("aws", 2).refused("InvalidResourceState"))
        .clock(10)
        .call(dispatch("aws", 1).gives_json(&first))
        .clock(10)
        .call(dispatch("aws", 1).gives_json(&first))
        .call(dispatch("desk", 1).refused("InvalidResourceState"))
        .call(post_note(1, "r-1"))
        .call(post_note(1, "r-2"))
        .call(list("").gives_json(outbox(&noted)))
        .clock(10)
        .call(dispatch("desk", 3).refused("InvalidResourceState"))
        .call(dispatch("desk", 2).gives_json(&second))
        .call(dispatch("aws", 1).refused("InvalidResourceState"))
        .call(dispatch("aws", 2).refused("InvalidResourceState"))
        .call(list("").gives_json(outbox(&second)))
}

/// Of two processes of one provider one begins an attempt, and may repeat that.
fn two_processes() -> Case {
    rebooting("an attempt of one of two processes")
        .call(dispatch_by(r#""4f""#).gives_any())
        .call(dispatch_by(r#""4f""#).gives_any())
        .call(dispatch_by(r#""5a""#).refused("InvalidResourceState"))
        .call(dispatch_by("null").refused("InvalidResourceState"))
        .call(dispatch("aws", 1).refused("InvalidResourceState"))
        .call(dispatch("aws", 2).gives_any())
        .call(dispatch_by(r#""4f""#).refused("InvalidResourceState"))
        .call(post_note(1, "r-1").refused("InvalidResourceState"))
        .call(post_note(3, "r-1").refused("InvalidResourceState"))
        .call(post_note(2, "r-1"))
}

/// What is not there, has ended or was cancelled is not dispatched.
fn refused() -> Case {
    let ended = |case: Case| {
        case.call(dispatch("aws", 1).refused("InvalidResourceState"))
            .call(post_note(1, "r-1").refused("InvalidResourceState"))
    };
    let case = rebooting("what cannot be dispatched");
    let case = ["999999", "0", "-1", "x", "99999999999999999999999"]
        .into_iter()
        .fold(case, |case, id| {
            let unknown = |word: &str, body: &str| {
                call(&format!("POST admin /operator/actions/{id}/{word}"))
                    .json(body)
                    .refused("NotFound")
            };
            case.call(unknown("dispatch", r#"{"provider":"aws","attempt":1}"#))
                .call(unknown("note", r#"{"attempt":1,"requestId":"r-1"}"#))
        });
    let case = case.call(call("POST admin /operator/actions/«id»/complete"));
    let case = ended(case)
        .call(act(&ACTIONS[0]))
        .call(list("").gives_json(outbox(&item("«id2»", "ws-1", WAITING))))
        .call(act(&ACTIONS[4]));
    case.call(
        call("POST admin /operator/actions/«id2»/dispatch")
            .json(r#"{"provider":"aws","attempt":1}"#)
            .refused("Cancelled"),
    )
    .call(
        call("POST admin /operator/actions/«id2»/note")
            .json(r#"{"attempt":1,"requestId":"r-1"}"#)
            .refused("Cancelled"),
    )
    .call(call("POST admin /operator/actions/«id2»/complete").refused("InvalidResourceState"))
}

/// A hold that is placed after the action was accepted forbids what it would have refused.
fn under_hold() -> Case {
    let hold = || {
        call("PUT admin /operator/workspaces/ws-1/litigation-hold")
            .json(r#"{"matter":"m-1"}"#)
            .gives_any()
    };
    let release = || call("DELETE admin /operator/workspaces/ws-1/litigation-hold").gives_any();
    let case = rebooting("an action that a hold forbids by now")
        .call(hold())
        .call(dispatch("aws", 1).gives_any())
        .call(call("POST admin /operator/actions/«id»/complete"))
        .call(release());
    let rebuild = r#"{"actions":[{"id":"«id2»","action":"RebuildWorkSpace","workSpaceId":"ws-1","requestedAt":"«_»","dueAt":null,"computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}],"nextToken":null,"hasMore":false}"#;
    let attempt = |number: u32| {
        call("POST admin /operator/actions/«id2»/dispatch")
            .json(format!(r#"{{"provider":"aws","attempt":{number}}}"#))
    };
    case.call(act(&ACTIONS[2]))
        .call(list("").gives_json(rebuild))
        .call(hold())
        .call(attempt(1).refused("LitigationHold"))
        .call(release())
        .call(attempt(1).gives_any())
        .call(hold())
        .call(attempt(1).refused("LitigationHold"))
        .call(attempt(2).refused("LitigationHold"))
}

fn bodies() -> Case {
    let long = "x".repeat(257);
    let case = rebooting("bodies of dispatch and note");
    let case = [
        "",
        "[]",
        "{",
        r#"{"provider":"aws"}"#,
        r#"{"attempt":1}"#,
        r#"{"provider":"","attempt":1}"#,
        r#"{"provider":5,"attempt":1}"#,
        r#"{"provider":"aws","attempt":0}"#,
        r#"{"provider":"aws","attempt":-1}"#,
        r#"{"provider":"aws","attempt":"1"}"#,
        r#"{"provider":"aws","attempt":4294967296}"#,
        r#"{"provider":"aws","attempt":1,"instance":""}"#,
        r#"{"provider":"aws","attempt":1,"instance":7}"#,
        &format!(r#"{{"provider":"{long}","attempt":1}}"#),
        &format!(r#"{{"provider":"aws","attempt":1,"instance":"{long}"}}"#),
    ]
    .into_iter()
    .fold(case, |case, bad| {
        let sent = call("POST admin /operator/actions/«id»/dispatch").json(bad);
        case.call(sent.refused("InvalidBody"))
    });
    [
        "{}",
        r#"{"requestId":"r-1"}"#,
        r#"{"attempt":1}"#,
        r#"{"attempt":0,"requestId":"r-1"}"#,
        r#"{"attempt":"1","requestId":"r-1"}"#,
        r#"{"attempt":1,"requestId":""}"#,
        r#"{"attempt":1,"requestId":null}"#,
        r#"{"attempt":1,"requestId":5}"#,
        &format!(r#"{{"attempt":1,"requestId":"{long}"}}"#),
    ]
    .into_iter()
    .fold(case, |case, bad| {
        let sent = call("POST admin /operator/actions/«id»/note").json(bad);
        case.call(sent.refused("InvalidBody"))
    })
    .call(list("?state=waiting").gives_json(outbox(&item("«_»", "ws-1", WAITING))))
}

/// The audit row has at the end who made the action happen.
fn audit_at_the_end() -> Case {
    let row = |result: &'static str, state: &'static str, detail: &str| Row {
        detail: format!("\"{detail}\""),
        completed: "«_»".to_owned(),
        carried_out: true,
        ..Row::new("RebootWorkSpace", result).states("AVAILABLE", state)
    };
    let case = rebooting("the provider in the audit")
        .call(dispatch("aws", 1).gives_any())
        .call(call("POST admin /operator/actions/«id»/complete"))
        .call(newest(&[row("Completed", "AVAILABLE", "aws, 1 attempt")]))
        .call(act(&ACTIONS[0]))
        .call(list("").gives_json(outbox(&item("«id2»", "ws-1", WAITING))));
    let second = |word: &str, body: &str| {
        call(&format!("POST admin /operator/actions/«id2»/{word}")).json(body)
    };
    case.call(second("dispatch", r#"{"provider":"aws","attempt":1}"#).gives_any())
        .call(second("dispatch", r#"{"provider":"aws","attempt":2}"#).gives_any())
        .call(second("note", r#"{"attempt":2,"requestId":"r-7"}"#))
        .call(second("fail", r#"{"detail":"no capacity"}"#))
        .call(newest(&[row(
            "Failed",
            "ERROR",
            "no capacity (aws, 2 attempts, request r-7)",
        )]))
}

/// Three reboots, of which the second is dispatched.
fn three(name: &str) -> Case {
    let case = Case::new("7 actions", name)
        .config(|config| config.actions.driver = ActionDriver::Host)
        .puts(["ws-1", "ws-2", "ws-3"].map(|id| desk(id, "AVAILABLE", "jdoe")));
    let case = ["ws-2", "ws-1", "ws-3"].into_iter().fold(case, |case, id| {
        case.call(call(&format!(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId={id}"
        )))
    });
    case.call(list("?workSpaceId=ws-1").gives_json(outbox(&item("«id»", "ws-1", WAITING))))
        .call(dispatch("aws", 1).gives_any())
}

const DISPATCHED: &str =
    r#""attempts":1,"lastAttemptAt":"2026-11-20T12:00:00Z","provider":"aws","note":null"#;

fn filters() -> Case {
    let [two, one, three_] = [("ws-2", WAITING), ("ws-1", DISPATCHED), ("ws-3", WAITING)]
        .map(|(id, rest)| item("«_»", id, rest));
    let of = |items: &[&String]| {
        let items: Vec<&str> = items.iter().map(|item| item.as_str()).collect();
        outbox(&items.join(","))
    };
    three("filters of the outbox")
        .call(list("?state=pending").gives_json(of(&[&two, &one, &three_])))
        .call(list("?state=waiting").gives_json(of(&[&two, &three_])))
        .call(list("?state=Dispatched").gives_json(of(&[&one])))
        .call(list("?workSpaceId=ws-3").gives_json(of(&[&three_])))
        .call(list("?workSpaceId=ws-3&state=dispatched").gives_json(of(&[])))
        .call(list("?workSpaceId=WS-3").gives_json(of(&[])))
        .call(list("?workSpaceId=ws-4").gives_json(of(&[])))
        .call(list("?workSpaceId=").gives_json(of(&[&two, &one, &three_])))
}

fn pages() -> Case {
    let page = |id: &str, rest: &str| {
        format!(
            r#"{{"actions":[{}],"nextToken":"«token»","hasMore":true}}"#,
            item("«_»", id, rest)
        )
    };
    let second = page("ws-1", DISPATCHED).replace("«token»", "«token2»");
    let last = outbox(&item("«_»", "ws-3", WAITING));
    three("pages of the outbox")
        .call(list("?limit=1").gives_json(page("ws-2", WAITING)))
        .call(list("?limit=1&nextToken=«token»").gives_json(second))
        .call(list("?limit=1&nextToken=«token2»").gives_json(&last))
        .call(list("?limit=2&state=waiting&nextToken=«token»").gives_json(&last))
        .call(list("?limit=0").refused("InvalidParameter"))
        .call(list("?nextToken=x").refused("InvalidParameter"))
        .call(
            call("GET read /api/Information/GetAllWorkSpaces?nextToken=«token»")
                .refused("InvalidParameter"),
        )
}

/// The clock ends the reboot, the host the start.
fn driver_of_a_kind() -> Case {
    let due = r#"{"id":"«id»","action":"RebootWorkSpace","workSpaceId":"ws-1","requestedAt":"«_»","dueAt":"2026-11-20T12:02:00Z","computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}"#;
    let start = r#"{"id":"«_»","action":"StartWorkSpace","workSpaceId":"ws-2","requestedAt":"«_»","dueAt":null,"computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}"#;
    Case::new("4 outbox", "a driver for one kind of action")
        .config(|config| config.actions.drivers.start = Some(ActionDriver::Host))
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .put(desk("ws-2", "STOPPED", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(call(
            "POST act /api/Actions/StartWorkSpace?workSpaceId=ws-2",
        ))
        .call(list("").gives_json(outbox(&format!("{due},{start}"))))
        .call(dispatch("aws", 1).refused("InvalidResourceState"))
        .clock(86_400)
        .call(list("").gives_json(outbox(start)))
}
