//! `GetAdminActivity`, and how its rows are written.

use super::case::{Call, Case, Step, call};
use super::fixtures::desk;

const ROW: &str = "5 GetAdminActivity";

/// One row as it must be written. A field is a piece of JSON; `«_»` where the contract leaves it open.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) time: &'static str,
    pub(super) requester: String,
    pub(super) action: &'static str,
    pub(super) workspace: &'static str,
    pub(super) username: &'static str,
    pub(super) computer: &'static str,
    pub(super) result: &'static str,
    pub(super) previous: String,
    pub(super) new: String,
    pub(super) completed: String,
    pub(super) detail: String,
    pub(super) key: &'static str,
    /// Whether a provider ends the action, and not the clock.
    pub(super) carried_out: bool,
}

impl Row {
    /// A row about `ws-1` of `jdoe`, requested with the key of the service desk at the beginning of the case.
    pub(super) fn new(action: &'static str, result: &'static str) -> Self {
        let null = || "null".to_owned();
        Self {
            time: super::case::NOW,
            requester: "service-desk".to_owned(),
            action,
            workspace: "\"ws-1\"",
            username: "\"jdoe\"",
            computer: "\"PC-ws-1\"",
            result,
            previous: null(),
            new: null(),
            completed: null(),
            detail: null(),
            key: "\"service-desk\"",
            carried_out: false,
        }
    }

    /// Of an action that a provider ends.
    pub(super) fn carried_out(self) -> Self {
        Self {
            carried_out: true,
            ..self
        }
    }

    /// A refusal with a code.
    pub(super) fn refused(action: &'static str, code: &str) -> Self {
        let row = Self::new(action, "Refused");
        Self {
            detail: format!("{code:?}"),
            new: "«_»".to_owned(),
            completed: "«_»".to_owned(),
            ..row
        }
    }

    /// The states before and after.
    pub(super) fn states(self, previous: &str, new: &str) -> Self {
        Self {
            previous: quoted(previous),
            new: quoted(new),
            ..self
        }
    }

    /// The state before.
    pub(super) fn before(self, previous: &str) -> Self {
        Self {
            previous: quoted(previous),
            ..self
        }
    }

    /// When it ended.
    pub(super) fn completed(self, time: &str) -> Self {
        Self {
            completed: format!("{time:?}"),
            ..self
        }
    }

    /// About a workspace that does not exist.
    pub(super) fn unknown_workspace(self, workspace: &'static str) -> Self {
        Self {
            workspace,
            username: "null",
            computer: "null",
            ..self
        }
    }

    pub(super) fn text(&self) -> String {
        format!(
            r#"{{"id":«_»,"activityTime":"{}","requester":"{}","action":"{}","workSpaceId":{},"username":{},"computerName":{},"result":"{}","previousState":{},"newState":{},"completedTime":{},"detail":{},"apiKeyName":{}{}}}"#,
            self.time,
            self.requester,
            self.action,
            self.workspace,
            self.username,
            self.computer,
            self.result,
            self.previous,
            self.new,
            self.completed,
            self.detail,
            self.key,
            if self.is_simulated() {
                r#","simulated":true"#
            } else {
                ""
            }
        )
    }

    /// Whether the clock ends the action, as it does in all cases but those about the outbox.
    fn is_simulated(&self) -> bool {
        let ends = ["Accepted", "Completed", "Failed", "Cancelled"];
        let actions = [
            "RebootWorkSpace",
            "RecoveryRebootWorkSpace",
            "RebuildWorkSpace",
            "RestoreWorkSpace",
            "TerminateWorkSpace",
            "StartWorkSpace",
            "ChangeComputeType",
        ];
        !self.carried_out && ends.contains(&self.result) && actions.contains(&self.action)
    }
}

/// A state as JSON: in quotes, except null and open values.
fn quoted(state: &str) -> String {
    if matches!(state, "null" | "«_»") {
        state.to_owned()
    } else {
        format!("{state:?}")
    }
}

/// The newest rows must be these, newest first.
pub(super) fn newest(rows: &[Row]) -> Call {
    let text = rows.iter().map(Row::text).collect::<Vec<_>>().join(",");
    activities(&format!("?numberOfActivities={}", rows.len())).gives(format!("[{text}]"))
}

fn activities(query: &str) -> Call {
    call(&format!(
        "GET read /api/Information/GetAdminActivity{query}"
    ))
}

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        counts(),
        bad_counts(),
        ten_thousand(),
        host_rows(),
        key_rows(),
        refusals(),
        repeated_refusals(),
    ]
}

/// An array of `n` rows about a refused reboot of nothing.
fn refused_rows(count: usize) -> String {
    let row = Row {
        time: "«_»",
        ..Row::refused("RebootWorkSpace", "WorkSpaceNotFound").unknown_workspace("null")
    };
    format!("[{}]", vec![row.text(); count].join(","))
}

/// Refusals a minute apart, each with a row of its own.
fn with_refusals(mut case: Case, count: usize) -> Case {
    for _ in 0..count {
        case = case
            .step(Step::Clock(60))
            .call(call("POST act /api/Actions/RebootWorkSpace").refused("WorkSpaceNotFound"));
    }
    case
}

fn counts() -> Case {
    let case = Case::new(
        ROW,
        "numberOfActivities: default 50, at most all rows, none for 0 and below",
    );
    let case = with_refusals(case, 51)
        .call(activities("").gives(refused_rows(50)))
        .call(activities("?apiKey=ignored").gives(refused_rows(50)));
    let case = (1..=51).fold(case, |case, count| {
        case.call(activities(&format!("?numberOfActivities={count}")).gives(refused_rows(count)))
    });
    ["0", "-0", "-1", "-50", "-2147483648"]
        .into_iter()
        .fold(case, |case, none| {
            case.call(activities(&format!("?numberOfActivities={none}")).gives("[]"))
        })
}

fn bad_counts() -> Case {
    let case = Case::new("1 integers in the query", "numberOfActivities");
    ["abc", "%2B", "1.5", "1e3", "2147483648", "-2147483649"]
        .into_iter()
        .fold(case, |case, bad| {
            let call =
                activities(&format!("?numberOfActivities={bad}")).refused("InvalidParameter");
            case.call(call.error(
                "numberOfActivities",
                format!("The value '{}' is not valid.", bad.replace("%2B", "+")),
            ))
        })
}

/// At most 10 000 rows are returned; asking for more is no error.
fn ten_thousand() -> Case {
    let case = with_refusals(Case::new(ROW, "at most 10 000").engine_only(), 10_001);
    ["10000", "10001", "2147483647"]
        .into_iter()
        .fold(case, |case, count| {
            case.call(
                activities(&format!("?numberOfActivities={count}")).gives(refused_rows(10_000)),
            )
        })
}

/// The four keys of every case, which the host issued: no key name, the requester is the host.
fn host_rows() -> Case {
    let row = |name: &str| {
        let row = Row::new("IssueKey", "Completed").unknown_workspace("null");
        Row {
            requester: "host".to_owned(),
            completed: "«_»".to_owned(),
            detail: format!("{name:?}"),
            key: "null",
            ..row
        }
        .text()
    };
    let rows = ["agents", "service-desk", "reader", "operator-desk"].map(row);
    Case::new(ROW, "what the host does is audited")
        .call(activities("").gives(format!("[{}]", rows.join(","))))
}

fn key_rows() -> Case {
    let by_operator = |action, result: &'static str, detail: &str| Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        completed: "«_»".to_owned(),
        detail: format!("{detail:?}"),
        ..Row::new(action, result).unknown_workspace("null")
    };
    Case::new(ROW, "keys issued and revoked through the operator surface")
        .call(
            call("POST admin /operator/keys")
                .json(r#"{"name":"night-shift","scopes":["read"]}"#)
                .with_status(201)
                .gives_any(),
        )
        .call(newest(&[by_operator(
            "IssueKey",
            "Completed",
            "night-shift",
        )]))
        .call(call("DELETE admin /operator/keys/«read id»").empty(200))
        .call(
            call("GET admin /api/Information/GetAdminActivity?numberOfActivities=1").gives(
                format!(
                    "[{}]",
                    by_operator("RevokeKey", "Completed", "reader").text()
                ),
            ),
        )
}

/// Refused calls make rows, whatever the refusal, as long as the key is valid.
fn refusals() -> Case {
    let refused = |action, code| Row::refused(action, code);
    let nobody = refused("RestoreWorkSpace", "WorkSpaceNotFound").unknown_workspace("\"ws-9\"");
    let change = Row {
        previous: "«_»".to_owned(),
        username: "«_»",
        computer: "«_»",
        ..refused("ChangeComputeType", "InvalidParameter")
    };
    let scope = Row {
        requester: "reader".to_owned(),
        key: "\"reader\"",
        previous: "«_»".to_owned(),
        username: "«_»",
        computer: "«_»",
        workspace: "«_»",
        ..refused("RebootWorkSpace", "InsufficientScope")
    };
    let removal =
        refused("RemoveWorkSpaceDbEntry", "WorkSpaceNotFound").unknown_workspace("\"ws-9\"");
    Case::new(
        ROW,
        "every refusal of a valid key is audited, a bad key is not",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(
        call("POST act /api/Actions/RestoreWorkSpace?workSpaceId=ws-9")
            .refused("WorkSpaceNotFound"),
    )
    .call(newest(std::slice::from_ref(&nobody)))
    .call(
        call("POST act /api/Actions/ChangeComputeType?workSpaceId=ws-1&computeType=HUGE")
            .refused("InvalidParameter"),
    )
    .call(newest(&[change.clone(), nobody.clone()]))
    .call(
        call("POST read /api/Actions/RebootWorkSpace?workSpaceId=ws-1")
            .refused("InsufficientScope"),
    )
    .call(newest(&[scope.clone(), change]))
    .call(
        call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-9")
            .refused("WorkSpaceNotFound"),
    )
    .call(newest(&[removal.clone(), scope.clone()]))
    .call(call("POST - /api/Actions/RebootWorkSpace?workSpaceId=ws-1").refused("InvalidApiKey"))
    .call(
        call("POST - /api/Actions/RebootWorkSpace?workSpaceId=ws-1&apiKey=dfk_x")
            .refused("InvalidApiKey"),
    )
    .call(newest(&[removal, scope]))
}

/// Equal calls that change nothing have one row per minute, which counts them; a different call, another key or another
/// minute has its own.
fn repeated_refusals() -> Case {
    let refuse = |query: &str| {
        call(&format!("POST act /api/Actions/RebootWorkSpace{query}")).refused("WorkSpaceNotFound")
    };
    let row = |workspace, detail: &str| {
        let row = Row::refused("RebootWorkSpace", "WorkSpaceNotFound").unknown_workspace(workspace);
        Row {
            detail: format!("{detail:?}"),
            ..row
        }
    };
    let scope = Row {
        requester: "reader".to_owned(),
        key: "\"reader\"",
        detail: "\"InsufficientScope (2 times)\"".to_owned(),
        ..row("\"ws-9\"", "")
    };
    let later = Row {
        time: "2026-11-20T12:01:00Z",
        ..row("\"ws-9\"", "WorkSpaceNotFound")
    };
    let unchanged = |detail: &str| Row {
        new: "\"TERMINATED\"".to_owned(),
        completed: "\"2026-11-20T12:01:00Z\"".to_owned(),
        time: "2026-11-20T12:01:00Z",
        detail: detail.to_owned(),
        ..Row::new("TerminateWorkSpace", "NoChange").before("TERMINATED")
    };
    let terminate = || call("POST act /api/Actions/TerminateWorkSpace?workSpaceId=ws-1").empty(200);
    let without_scope = || {
        call("POST read /api/Actions/RebootWorkSpace?workSpaceId=ws-9").refused("InsufficientScope")
    };
    Case::new(
        ROW,
        "equal refusals of a minute have one row, which counts them",
    )
    .put(desk("ws-1", "TERMINATED", "jdoe"))
    .call(refuse("?workSpaceId=ws-9"))
    .call(newest(&[row("\"ws-9\"", "WorkSpaceNotFound")]))
    .call(refuse("?workSpaceId=ws-8"))
    .call(refuse("?workSpaceId=ws-9"))
    .call(refuse("?workSpaceId=ws-9"))
    .call(without_scope())
    .call(without_scope())
    .call(newest(&[
        scope,
        row("\"ws-8\"", "WorkSpaceNotFound"),
        row("\"ws-9\"", "WorkSpaceNotFound (3 times)"),
    ]))
    .step(Step::Clock(60))
    .call(refuse("?workSpaceId=ws-9"))
    .call(terminate())
    .call(newest(&[unchanged("null"), later.clone()]))
    .call(terminate())
    .call(newest(&[unchanged("\"(2 times)\""), later]))
}
