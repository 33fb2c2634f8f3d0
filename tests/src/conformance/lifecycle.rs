//! Each action in each state: the response, the state after, the audit row, and the end by the clock.

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::{desk, details};

/// An action of the contract's table in section 4.
pub(super) struct Documented {
    pub(super) row: &'static str,
    pub(super) action: &'static str,
    /// The query parameters beside the workspace.
    pub(super) query: &'static str,
    pub(super) via: &'static str,
    pub(super) then: &'static str,
    pub(super) seconds: i64,
    /// When it ends if it begins at noon.
    pub(super) ends: &'static str,
    pub(super) refused_under_hold: bool,
}

#[rustfmt::skip]
pub(super) const ACTIONS: [Documented; 7] = [
    Documented { row: "4 RebootWorkSpace", action: "RebootWorkSpace", query: "", via: "REBOOTING", then: "AVAILABLE", seconds: 120, ends: "2026-11-20T12:02:00Z", refused_under_hold: false },
    Documented { row: "4 RecoveryRebootWorkSpace", action: "RecoveryRebootWorkSpace", query: "", via: "REBOOTING", then: "AVAILABLE", seconds: 300, ends: "2026-11-20T12:05:00Z", refused_under_hold: false },
    Documented { row: "4 RebuildWorkSpace", action: "RebuildWorkSpace", query: "", via: "REBUILDING", then: "AVAILABLE", seconds: 1800, ends: "2026-11-20T12:30:00Z", refused_under_hold: true },
    Documented { row: "4 RestoreWorkSpace", action: "RestoreWorkSpace", query: "", via: "RESTORING", then: "AVAILABLE", seconds: 1800, ends: "2026-11-20T12:30:00Z", refused_under_hold: true },
    Documented { row: "4 TerminateWorkSpace", action: "TerminateWorkSpace", query: "", via: "TERMINATING", then: "TERMINATED", seconds: 300, ends: "2026-11-20T12:05:00Z", refused_under_hold: true },
    Documented { row: "4 StartWorkSpace", action: "StartWorkSpace", query: "", via: "STARTING", then: "AVAILABLE", seconds: 60, ends: "2026-11-20T12:01:00Z", refused_under_hold: false },
    Documented { row: "4 ChangeComputeType", action: "ChangeComputeType", query: "&computeType=POWER", via: "UPDATING", then: "AVAILABLE", seconds: 1200, ends: "2026-11-20T12:20:00Z", refused_under_hold: false },
];

/// The outcome of each action in each state, in the order of [`ACTIONS`]: `>` accepted, `=` accepted without change,
/// `.` refused.
#[rustfmt::skip]
const TABLE: [(&str, &str); 19] = [
    //                   Reboot, Recovery, Rebuild, Restore, Terminate, Start, Change
    ("PENDING",           "....>.."),
    ("AVAILABLE",         ">>>>>.>"),
    ("IMPAIRED",          ">>>>>.."),
    ("UNHEALTHY",         ">>>>>.."),
    ("REBOOTING",         ".>>.>.."),
    ("STARTING",          ".>..>.."),
    ("REBUILDING",        "....>.."),
    ("RESTORING",         "....>.."),
    ("MAINTENANCE",       "....>.."),
    ("ADMIN_MAINTENANCE", "....>.."),
    ("TERMINATING",       "....=.."),
    ("TERMINATED",        "....=.."),
    ("SUSPENDED",         "......."),
    ("UPDATING",          "....>.."),
    ("STOPPING",          "....>.."),
    ("STOPPED",           ".>>>>>>"),
    ("ERROR",             ".>>>>.."),
    ("HIBERNATING",       "....>.."),
    ("null",              "....>.."),
];

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (state, row) in TABLE {
        for (action, effect) in ACTIONS.iter().zip(row.chars()) {
            cases.push(in_state(state, action, effect));
        }
    }
    for first in &ACTIONS {
        for second in &ACTIONS {
            cases.push(during(first, second));
        }
    }
    cases
}

/// The call on `ws-1`.
pub(super) fn act(action: &Documented) -> Call {
    call(&format!(
        "POST act /api/Actions/{}?workSpaceId=ws-1{}",
        action.action, action.query
    ))
}

fn desk_in(state: &str, compute_type: &str) -> deskfleet::Workspace {
    let mut workspace = desk("ws-1", state, "jdoe");
    if state == "null" {
        workspace.state = None;
    }
    workspace.compute_type_name = Some(compute_type.into());
    workspace
}

/// Expects a fleet of `ws-1` in this state with this type.
pub(super) fn is(state: &str, compute_type: &str) -> Call {
    let text = details(&desk_in(state, compute_type));
    call("GET read /api/Information/GetAllWorkSpaces").gives(format!(
        r#"{{"workSpaces":[{text}],"nextToken":null,"hasMore":false}}"#
    ))
}

fn type_after(action: &Documented) -> &'static str {
    if action.action == "ChangeComputeType" {
        "POWER"
    } else {
        "STANDARD"
    }
}

fn in_state(state: &'static str, action: &Documented, effect: char) -> Case {
    let case = Case::new(action.row, format!("in state {state}")).put(desk_in(state, "STANDARD"));
    match effect {
        '>' => accepted(case, state, action),
        '=' => {
            let row = Row::new(action.action, "NoChange")
                .states(state, state)
                .completed(super::case::NOW);
            case.call(act(action))
                .call(is(state, "STANDARD"))
                .call(newest(&[row]))
        }
        _ => {
            let row = Row::refused(action.action, "InvalidResourceState").before(state);
            case.call(act(action).refused("InvalidResourceState"))
                .call(is(state, "STANDARD"))
                .call(newest(&[row]))
        }
    }
}

/// 200; the transitional state at the very next read; the outcome at the due time and not a tick before; reads at any
/// later time, and with a clock set back.
fn accepted(case: Case, state: &str, action: &Documented) -> Case {
    let running = Row::new(action.action, "Accepted").states(state, action.via);
    let done = Row::new(action.action, "Completed")
        .states(state, action.then)
        .completed(action.ends);
    let almost = action.seconds - 1;
    case.call(act(action))
        .call(is(action.via, "STANDARD"))
        .call(newest(std::slice::from_ref(&running)))
        .clock(almost)
        .call(is(action.via, "STANDARD"))
        .call(newest(&[running]))
        .clock(1)
        .call(is(action.then, type_after(action)))
        .call(newest(std::slice::from_ref(&done)))
        .clock(3600)
        .call(newest(std::slice::from_ref(&done)))
        .maintain()
        .call(is(action.then, type_after(action)))
        .call(newest(&[done]))
}

/// A second action while the first runs: 409, except for Terminate, which cancels the first; a second Terminate changes
/// nothing.
fn during(first: &Documented, second: &Documented) -> Case {
    let state = if first.action == "StartWorkSpace" {
        "STOPPED"
    } else {
        "AVAILABLE"
    };
    let case = Case::new(
        "4 transitions",
        format!("{} during {}", second.action, first.action),
    )
    .put(desk_in(state, "STANDARD"))
    .call(act(first));
    let running = Row::new(first.action, "Accepted").states(state, first.via);
    if second.action != "TerminateWorkSpace" {
        let row = Row::refused(second.action, "OperationInProgress").before(first.via);
        return case
            .call(act(second).refused("OperationInProgress"))
            .call(is(first.via, "STANDARD"))
            .call(newest(&[row, running]));
    }
    if first.action == "TerminateWorkSpace" {
        let row = Row::new(second.action, "NoChange").states(first.via, first.via);
        return case
            .clock(299)
            .call(act(second))
            .call(newest(&[
                Row {
                    time: "2026-11-20T12:04:59Z",
                    ..row.completed("2026-11-20T12:04:59Z")
                },
                running,
            ]))
            .clock(1)
            .call(is("TERMINATED", "STANDARD"));
    }
    let cancelled = Row {
        result: "Cancelled",
        completed: "«_»".to_owned(),
        ..running
    }
    .states(state, "«_»");
    let row = Row::new(second.action, "Accepted").states(first.via, "TERMINATING");
    case.call(act(second))
        .call(is("TERMINATING", "STANDARD"))
        .call(newest(&[row, cancelled]))
        .clock(second.seconds)
        .call(is("TERMINATED", "STANDARD"))
        .clock(3600)
        .call(is("TERMINATED", "STANDARD"))
}
