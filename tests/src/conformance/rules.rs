//! The rules of the actions besides states: accounts, compute types, requesters, durations, stuck reboots.

use std::time::Duration;

use deskfleet::{ActionDriver, Workspace};

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::desk;
use super::lifecycle::{ACTIONS, act, is};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        bodies_are_ignored(),
        requesters(),
        state_values(),
        configured_durations(),
    ];
    cases.extend(accounts());
    cases.extend(running_modes());
    cases.extend(stuck_reboots());
    cases.extend(missing_workspaces());
    cases
}

fn reboot(query: &str) -> Call {
    call(&format!("POST act /api/Actions/RebootWorkSpace?{query}"))
}

/// Two workspaces of `jdoe`, one of them gone; one of `asmith`; two live ones of `twin`.
fn owners() -> [Workspace; 6] {
    [
        desk("ws-1", "AVAILABLE", "CORP\\jdoe"),
        desk("ws-2", "TERMINATED", "jdoe"),
        desk("ws-3", "AVAILABLE", "asmith@corp.example"),
        desk("ws-4", "AVAILABLE", "twin"),
        desk("ws-5", "STOPPED", "TWIN"),
        desk("ws-6", "TERMINATED", "gone"),
    ]
}

#[rustfmt::skip]
fn accounts() -> Vec<Case> {
    let mut cases = Vec::new();
    for (query, outcome) in [
        ("samAccount=jdoe", "ws-1"), ("samAccount=JDOE", "ws-1"), ("samAccount=other%5CJDoe", "ws-1"),
        ("samAccount=jdoe@x.example", "ws-1"), ("samAccount=asmith", "ws-3"), ("samAccount=jdoe&workSpaceId=", "ws-1"),
        ("samAccount=jdoe&workSpaceId=ws-1", "ws-1"), ("samAccount=CORP%5CJDOE&workSpaceId=ws-1", "ws-1"),
        ("samAccount=twin&workSpaceId=ws-4", "ws-4"), ("samAccount=&workSpaceId=ws-1", "ws-1"),
        ("SAMACCOUNT=jdoe", "ws-1"),
        ("samAccount=twin", "AmbiguousWorkSpace"),
        ("samAccount=gone", "WorkSpaceNotFound"), ("samAccount=nobody", "WorkSpaceNotFound"),
        ("samAccount=asmith&workSpaceId=ws-1", "WorkSpaceNotFound"), ("samAccount=jdoe&workSpaceId=ws-3", "WorkSpaceNotFound"),
        ("samAccount=jdoe&workSpaceId=ws-9", "WorkSpaceNotFound"), ("samAccount=nobody&workSpaceId=ws-1", "WorkSpaceNotFound"),
        ("samAccount=", "WorkSpaceNotFound"), ("samAccount=&workSpaceId=", "WorkSpaceNotFound"), ("", "WorkSpaceNotFound"),
        ("workSpaceId=WS-1", "WorkSpaceNotFound"), ("workSpaceId=ws-1+", "WorkSpaceNotFound"),
        ("samAccount=gone&workSpaceId=ws-6", "InvalidResourceState"),
    ] {
        let case = Case::new("4 samAccount", query).puts(owners());
        cases.push(if outcome.starts_with("ws-") {
            let view = format!("GET admin /operator/workspaces?q={outcome}&state=REBOOTING");
            case.call(reboot(query)).call(call(&view).gives_json(r#"{"workSpaces":["«_»"],"nextToken":null,"hasMore":false}"#))
        } else {
            case.call(reboot(query).refused(if outcome == "AmbiguousWorkSpace" { "AmbiguousWorkSpace" } else if outcome == "WorkSpaceNotFound" { "WorkSpaceNotFound" } else { "InvalidResourceState" }))
                .call(call("GET admin /operator/workspaces?state=REBOOTING").gives(r#"{"workSpaces":[],"nextToken":null,"hasMore":false}"#))
        });
    }
    cases.push(Case::new("4 samAccount", "a workspace that has ended by the clock is not live")
        .put(desk("ws-1", "AVAILABLE", "jdoe")).put(desk("ws-2", "AVAILABLE", "jdoe"))
        .call(reboot("samAccount=jdoe").refused("AmbiguousWorkSpace"))
        .call(call("POST act /api/Actions/TerminateWorkSpace?workSpaceId=ws-2"))
        .call(reboot("samAccount=jdoe").refused("AmbiguousWorkSpace"))
        .clock(300)
        .call(reboot("samAccount=jdoe")));
    cases.push(Case::new("4 samAccount", "ChangeComputeType has no samAccount")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(call("POST act /api/Actions/ChangeComputeType?samAccount=jdoe&computeType=POWER").refused("WorkSpaceNotFound"))
        .call(call("POST act /api/Actions/ChangeComputeType?samAccount=asmith&workSpaceId=ws-1&computeType=POWER")));
    cases
}

/// Each action needs a workspace; a missing and an unknown one give the same 404.
fn missing_workspaces() -> impl Iterator<Item = Case> {
    ACTIONS.iter().map(|action| {
        let line = |query: &str| {
            format!(
                "POST act /api/Actions/{}?{query}{}",
                action.action, action.query
            )
        };
        Case::new("2 404", action.action)
            .put(desk("ws-1", "AVAILABLE", "jdoe"))
            .call(call(&line("")).refused("WorkSpaceNotFound"))
            .call(call(&line("workSpaceId=ws-2")).refused("WorkSpaceNotFound"))
            .call(call(&line("workspaceid=")).refused("WorkSpaceNotFound"))
    })
}

fn bodies_are_ignored() -> Case {
    let bodies: [(&str, &[u8]); 5] = [
        ("application/json", b"{}"),
        ("application/json", b"{not json"),
        ("", b"no type"),
        ("image/png", b"\x89PNG\xff"),
        (
            "application/x-www-form-urlencoded",
            b"workSpaceId=ws-2&limit=0",
        ),
    ];
    let mut case = Case::new("1 bodies of Actions", "whatever is sent");
    for action in &ACTIONS {
        let state = if action.action == "StartWorkSpace" {
            "STOPPED"
        } else {
            "AVAILABLE"
        };
        for (content_type, body) in bodies {
            case = case
                .reset(&desk("ws-1", state, "jdoe"))
                .call(act(action).body(content_type, body));
        }
    }
    case
}

fn requesters() -> Case {
    let long = "é".repeat(257);
    let cut = "é".repeat(256);
    let rows = [
        ("requester=Jane+Roe", "Jane Roe"),
        ("REQUESTER=a%2Bb%25", "a+b%"),
        ("requester=first&requester=second", "first"),
        ("requester=%F0%9F%96%A5", "🖥"),
        (&*format!("requester={}", escaped(&long)), &*cut),
        (&*format!("requester={}", escaped(&cut)), &*cut),
        ("x=1", "service-desk"),
    ];
    let mut case = Case::new(
        "4 requester",
        "free text, cut at 256 code points; absent, the name of the key",
    );
    for (query, requester) in rows {
        let row = Row {
            requester: requester.to_owned(),
            ..Row::new("RebootWorkSpace", "Accepted")
        };
        case = case
            .reset(&desk("ws-1", "AVAILABLE", "jdoe"))
            .call(reboot(&format!("workSpaceId=ws-1&{query}")))
            .call(newest(&[row.states("AVAILABLE", "REBOOTING")]));
    }
    case
}

fn escaped(text: &str) -> String {
    let bytes: Vec<_> = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    bytes.concat()
}

/// Known values are upper case however they were stored, and compared without case; unknown ones are kept.
fn state_values() -> Case {
    let mut lower = desk("ws-1", "available", "jdoe");
    lower.running_mode = Some("auto_Stop".into());
    lower.compute_type_name = Some("graphicsPro_g4dn".into());
    lower.protocol = Some("wsp".into());
    let mut odd = desk("ws-2", "Hibernating", "jdoe");
    odd.running_mode = Some("Sometimes".into());
    odd.compute_type_name = Some("Huge".into());
    odd.protocol = Some("Rdp".into());
    Case::new("4 values", "loaded in any case").put(lower).put(odd).call(
        call("GET read /api/Information/GetAllWorkSpaces").gives(r#"{"workSpaces":[{"workSpId":"ws-1","computerName":"PC-ws-1","account":null,"region":null,"directoryId":null,"runningMode":"AUTO_STOP","computeTypeName":"GRAPHICSPRO_G4DN","protocol":"WSP","username":"jdoe","state":"AVAILABLE"},{"workSpId":"ws-2","computerName":"PC-ws-2","account":null,"region":null,"directoryId":null,"runningMode":"Sometimes","computeTypeName":"Huge","protocol":"Rdp","username":"jdoe","state":"Hibernating"}],"nextToken":null,"hasMore":false}"#),
    )
}

/// Start needs `AUTO_STOP` or `MANUAL`.
fn running_modes() -> Vec<Case> {
    let modes = [
        (Some("AUTO_STOP"), true),
        (Some("MANUAL"), true),
        (Some("manual"), true),
        (Some("ALWAYS_ON"), false),
        (Some("Sometimes"), false),
        (None, false),
    ];
    let start = || call("POST act /api/Actions/StartWorkSpace?workSpaceId=ws-1");
    let cases = modes.into_iter().map(|(mode, good)| {
        let mut workspace = desk("ws-1", "STOPPED", "jdoe");
        workspace.running_mode = mode.map(Into::into);
        let case = Case::new("4 StartWorkSpace", format!("STOPPED with {mode:?}")).put(workspace);
        case.call(if good {
            start()
        } else {
            start().refused("InvalidResourceState")
        })
    });
    cases.collect()
}

fn configured_durations() -> Case {
    let case =
        Case::new("4 transitions", "the host decides how long an action takes").config(|config| {
            config.actions.durations.reboot = Duration::from_secs(10);
            config.actions.durations.change_compute_type = Duration::from_secs(1);
        });
    case.put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .clock(9)
        .call(is("REBOOTING", "STANDARD"))
        .clock(1)
        .call(is("AVAILABLE", "STANDARD"))
        .call(act(&ACTIONS[6]))
        .clock(1)
        .call(is("AVAILABLE", "POWER"))
}

/// REBOOTING may be rebooted again after 20 minutes, whatever caused that state.
fn stuck_reboots() -> [Case; 2] {
    let reboot = || act(&ACTIONS[0]);
    let accepted = Row::new("RebootWorkSpace", "Accepted").states("AVAILABLE", "REBOOTING");
    let cancelled = Row {
        result: "Cancelled",
        completed: "«_»".to_owned(),
        ..accepted.clone()
    }
    .states("AVAILABLE", "«_»");
    let again = Row {
        time: "2026-11-20T12:20:01Z",
        ..accepted.states("REBOOTING", "REBOOTING")
    };
    [
        Case::new(
            "4 RebootWorkSpace",
            "loaded as REBOOTING: refused for 20 minutes, then accepted",
        )
        .put(desk("ws-1", "REBOOTING", "jdoe"))
        .clock(20 * 60)
        .call(reboot().refused("InvalidResourceState"))
        .clock(1)
        .call(reboot())
        .call(newest(std::slice::from_ref(&again)))
        .clock(120)
        .call(is("AVAILABLE", "STANDARD")),
        Case::new(
            "4 RebootWorkSpace",
            "running for more than 20 minutes: the second cancels the first",
        )
        .config(|config| config.actions.driver = ActionDriver::Host)
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(reboot())
        .clock(20 * 60)
        .call(reboot().refused("OperationInProgress"))
        .clock(1)
        .call(act(&ACTIONS[1]).refused("OperationInProgress"))
        .call(reboot())
        .call(is("REBOOTING", "STANDARD"))
        .call(newest(&[
            again.carried_out(),
            Row {
                time: "2026-11-20T12:20:01Z",
                ..Row::refused("RecoveryRebootWorkSpace", "OperationInProgress").before("REBOOTING")
            },
            Row {
                time: "2026-11-20T12:20:00Z",
                ..Row::refused("RebootWorkSpace", "OperationInProgress").before("REBOOTING")
            },
            cancelled.carried_out(),
        ])),
    ]
}
