//! The operator surface: workspaces, one and many; filters.

use deskfleet::Workspace;

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::{desk, details, fleet, full, page, workspace};
use super::lifecycle::{ACTIONS, act, is};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        put_and_get(),
        put_ids(),
        put_bodies(),
        put_lengths(),
        put_types(),
        put_against_a_transition(),
    ];
    cases.extend([filters(), filtered_paging(), default_page(), substring()]);
    cases
}

fn view(workspace: &Workspace) -> String {
    format!(
        r#"{{"workSpace":{},"transition":null,"litigationHold":null}}"#,
        details(workspace)
    )
}

fn put(id: &str, body: impl Into<Vec<u8>>) -> Call {
    call(&format!("PUT admin /operator/workspaces/{id}")).json(body)
}

fn get(id: &str) -> Call {
    call(&format!("GET admin /operator/workspaces/{id}"))
}

fn all(workspaces: &[Workspace]) -> Call {
    call("GET read /api/Information/GetAllWorkSpaces").gives(page(workspaces, ""))
}

fn put_and_get() -> Case {
    let bare = Workspace {
        id: "ws-1".to_owned(),
        ..Workspace::default()
    };
    Case::new("7 one workspace", "created, read, replaced")
        .call(get("ws-1").refused("WorkSpaceNotFound"))
        .call(put("ws-1", details(&full("ws-1"))).gives(view(&full("ws-1"))))
        .call(get("ws-1").gives(view(&full("ws-1"))))
        .call(put("ws-1", r#"{"state":"stopped","runningMode":"always_on","computeTypeName":"graphics_g4dn","protocol":"pcoip","unknown":1}"#).gives(
            view(&Workspace {
                state: Some("STOPPED".into()),
                running_mode: Some("ALWAYS_ON".into()),
                compute_type_name: Some("GRAPHICS_G4DN".into()),
                protocol: Some("PCOIP".into()),
                ..bare.clone()
            }),
        ))
        .call(put("ws-1", "{}").gives(view(&bare)))
        .call(get("ws-1").gives(view(&bare)))
        .call(all(std::slice::from_ref(&bare)))
}

/// The id in the body is absent or that of the path.
fn put_ids() -> Case {
    let same = Workspace {
        id: "Ws 1/é".to_owned(),
        ..Workspace::default()
    };
    let case = Case::new("7 one workspace", "ids")
        .call(put("ws-1", r#"{"workSpId":"ws-1"}"#).gives_any())
        .call(put("ws-1", r#"{"WORKSPID":"ws-1"}"#).gives_any())
        .call(put("Ws%201%2F%C3%A9", r#"{"workSpId":"Ws 1/é"}"#).gives(view(&same)));
    ["ws-2", "WS-1", "", "ws-1 "]
        .into_iter()
        .fold(case, |case, id| {
            case.call(put("ws-1", format!(r#"{{"workSpId":"{id}"}}"#)).refused("InvalidBody"))
        })
        .call(put("ws-1", r#"{"workSpId":5}"#).refused("InvalidBody"))
        .call(put("WS-1", "{}").refused("InvalidParameter"))
        .call(put("ws-1%20", "{}").refused("InvalidParameter"))
        .call(put("ws-2%E2%80%8B", "{}").refused("InvalidParameter"))
}

fn put_bodies() -> Case {
    let mut case = Case::new("7 one workspace", "bodies");
    for bad in [
        "",
        "[]",
        "null",
        "{",
        r#"{"state":5}"#,
        r#"{"region":["x"]}"#,
        r#"{"state":"A","State":"B"}"#,
        r#"{"x":1,"x":2}"#,
    ] {
        case = case.call(put("ws-1", bad).refused("InvalidBody"));
    }
    for field in Workspace::FIELDS.iter().skip(1) {
        case = case
            .call(put("ws-2", format!(r#"{{"{field}":null}}"#)).gives_any())
            .call(
                put("ws-2", format!(r#"{{"{field}":true}}"#))
                    .refused("InvalidBody")
                    .error_holding(&format!("$.{field}"), &["line 1"]),
            );
    }
    for content_type in [
        "",
        "text/plain",
        "application/x-ndjson",
        "application/json; charset=utf-16",
    ] {
        let typed = call("PUT admin /operator/workspaces/ws-1").body(content_type, "{}");
        case = case.call(typed.refused("UnsupportedMediaType"));
    }
    case.call(get("ws-1").refused("WorkSpaceNotFound"))
}

/// 64 code points of id, 256 of anything else; no control characters in an id.
fn put_lengths() -> Case {
    let escaped = |letters: usize| "%F0%9F%96%A5".repeat(letters);
    let mut case = Case::new("7 one workspace", "lengths")
        .call(put(&escaped(64), "{}").gives_any())
        .call(put(&escaped(65), "{}").gives_any().with_status(400))
        .call(put("ws%00", "{}").gives_any().with_status(400))
        .call(put("ws%0A1", "{}").gives_any().with_status(400))
        .call(put("ws%7F", "{}").gives_any().with_status(400));
    for field in Workspace::FIELDS.iter().skip(1) {
        let body = |letters: usize| format!(r#"{{"{field}":"{}"}}"#, "🖥".repeat(letters));
        case = case.call(put("ws-1", body(256)).gives_any()).call(
            put("ws-1", body(257))
                .refused("InvalidBody")
                .error_holding(&format!("$.{field}"), &[]),
        );
    }
    case
}

/// Known values are upper case; unknown ones are kept as given.
fn put_types() -> Case {
    let odd = Workspace {
        state: Some("Hibernating".into()),
        running_mode: Some("Sometimes".into()),
        compute_type_name: Some("Huge".into()),
        protocol: Some("Rdp".into()),
        ..Workspace {
            id: "ws-1".to_owned(),
            ..Workspace::default()
        }
    };
    let mut case =
        Case::new("4 values", "put in").call(put("ws-1", details(&odd)).gives(view(&odd)));
    for state in [
        "PENDING",
        "AVAILABLE",
        "IMPAIRED",
        "UNHEALTHY",
        "REBOOTING",
        "STARTING",
        "REBUILDING",
        "RESTORING",
        "MAINTENANCE",
        "ADMIN_MAINTENANCE",
        "TERMINATING",
        "TERMINATED",
        "SUSPENDED",
        "UPDATING",
        "STOPPING",
        "STOPPED",
        "ERROR",
    ] {
        let known = Workspace {
            id: "ws-2".to_owned(),
            state: Some(state.into()),
            ..Workspace::default()
        };
        case = case.call(
            put("ws-2", format!(r#"{{"state":"{}"}}"#, state.to_lowercase())).gives(view(&known)),
        );
    }
    case
}

fn various() -> [Workspace; 4] {
    let text = |value: &str| Some(value.to_owned());
    [
        full("ws-1"),
        Workspace {
            username: text("CORP\\JDoe"),
            region: text("us-east-1"),
            state: Some("STOPPED".into()),
            ..full("ws-2")
        },
        Workspace {
            username: text("asmith"),
            running_mode: Some("ALWAYS_ON".into()),
            compute_type_name: Some("POWER".into()),
            ..full("ws-3")
        },
        Workspace {
            id: "ws-4".to_owned(),
            ..Workspace::default()
        },
    ]
}

/// Equality without case on the current value; the user in the same spellings as everywhere.
#[rustfmt::skip]
fn filters() -> Case {
    let all = various();
    let mut case = Case::new("7 list", "filters").puts(all.clone());
    for (query, found) in [
        ("", &[0, 1, 2, 3][..]), ("?state=AVAILABLE", &[0, 2]), ("?state=stopped", &[1]), ("?STATE=Stopped", &[1]),
        ("?username=jdoe", &[0, 1]), ("?username=X%5CJDOE", &[0, 1]), ("?username=jdoe@corp", &[0, 1]), ("?username=asmith", &[2]),
        ("?region=EU-central-1", &[0, 2]), ("?region=eu", &[]), ("?directoryId=D-9067012345", &[0, 1, 2]),
        ("?runningMode=always_on", &[2]), ("?computeTypeName=power", &[2]), ("?computeTypeName=standard&state=available", &[0]),
        ("?username=jdoe&region=us-east-1", &[1]), ("?username=asmith&region=us-east-1", &[]), ("?state=REBOOTING", &[]),
    ] {
        let found: Vec<_> = found.iter().map(|index| all[*index].clone()).collect();
        case = case.call(call(&format!("GET admin /operator/workspaces{query}")).gives(page(&found, "")));
    }
    let rebooting = Workspace { state: Some("REBOOTING".into()), ..all[0].clone() };
    case.call(call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1"))
        .call(call("GET admin /operator/workspaces?state=rebooting").gives(page(&[rebooting], "")))
        .call(call("GET admin /operator/workspaces?state=available").gives(page(&all[2..3], "")))
        .clock(120)
        .call(call("GET admin /operator/workspaces?state=rebooting").gives(page(&[], "")))
        .call(call("GET admin /operator/workspaces?state=available").gives(page(&[all[0].clone(), all[2].clone()], "")))
}

fn filtered_paging() -> Case {
    let mut workspaces: Vec<_> = fleet(6).collect();
    for odd in workspaces.iter_mut().step_by(2) {
        odd.state = Some("STOPPED".into());
    }
    let stopped: Vec<_> = workspaces.iter().step_by(2).cloned().collect();
    let list = |query: &str| {
        call(&format!(
            "GET admin /operator/workspaces?state=stopped{query}"
        ))
    };
    let bad = |query: &str| list(query).refused("InvalidParameter");
    Case::new("7 list", "pages of a filtered list")
        .puts(workspaces)
        .call(list("&limit=2").gives(page(&stopped[..2], "«t»")))
        .call(list("&limit=2&nextToken=«t»").gives(page(&stopped[2..], "")))
        .call(list("&limit=3").gives(page(&stopped, "")))
        .call(bad("&limit=0").error("limit", "The field limit must be between 1 and 500."))
        .call(bad("&limit=501").error("limit", "The field limit must be between 1 and 500."))
        .call(bad("&limit=x").error("limit", "The value 'x' is not valid."))
        .call(bad("&nextToken=x").error("nextToken", "The value is not a token of this endpoint."))
}

fn default_page() -> Case {
    let all: Vec<_> = fleet(51).collect();
    let list = |query: &str| call(&format!("GET admin /operator/workspaces{query}"));
    Case::new("7 list", "50 to a page unless a limit is given")
        .puts(fleet(51))
        .call(list("").gives(page(&all[..50], "«t»")))
        .call(list("?nextToken=«t»").gives(page(&all[50..], "")))
}

/// `q` searches workSpId, computerName and username, without case.
#[rustfmt::skip]
fn substring() -> Case {
    let workspaces = [desk("ws-abc", "AVAILABLE", "jdoe"), desk("ws-xyz", "AVAILABLE", "CORP\\ABCott"), workspace("ws-plain")];
    let mut case = Case::new("7 list", "q").puts(workspaces.clone());
    for (q, found) in [("abc", &[0, 2][..]), ("ABC", &[0, 2]), ("pc-ws", &[0, 2]), ("WS-XYZ", &[2]), ("corp%5C", &[2]), ("doe", &[0]), ("plain", &[1]), ("available", &[]), ("nothing", &[])] {
        let sorted = [&workspaces[0], &workspaces[2], &workspaces[1]];
        let found: Vec<_> = found.iter().map(|index| sorted[*index].clone()).collect();
        case = case.call(call(&format!("GET admin /operator/workspaces?q={q}")).gives(page(&found, "")));
    }
    case
}

/// A PUT of another state than that of a running action is refused, unless it may cancel the action.
fn put_against_a_transition() -> Case {
    let put = |state: &str, query: &str| {
        let text = details(&desk("ws-1", state, "jdoe"));
        call(&format!("PUT admin /operator/workspaces/ws-1{query}")).json(text)
    };
    let row = Row::new("RebootWorkSpace", "Accepted").states("AVAILABLE", "REBOOTING");
    let cancelled = Row {
        result: "Cancelled",
        new: "«_»".to_owned(),
        completed: "«_»".to_owned(),
        ..row.clone()
    };
    let by_operator = |result, detail: &str| Row {
        time: "«_»",
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        completed: "«_»".to_owned(),
        detail: detail.to_owned(),
        ..Row::new("UpdateWorkSpace", result)
    };
    let same = by_operator("NoChange", "null").states("REBOOTING", "REBOOTING");
    let refused =
        by_operator("Refused", "\"OperationInProgress\"").states("REBOOTING", "REBOOTING");
    let replaced = by_operator("Completed", "null").states("REBOOTING", "STOPPED");
    Case::new("4 transitions", "a record put in while an action runs")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(put("rebooting", "").gives_any())
        .call(newest(&[same.clone(), row]))
        .clock(60)
        .call(put("STOPPED", "").refused("OperationInProgress"))
        .call(put("STOPPED", "?override=FALSE").refused("OperationInProgress"))
        .call(put("STOPPED", "?override=1").refused("InvalidParameter"))
        .call(is("REBOOTING", "STANDARD"))
        .call(put("STOPPED", "?Override=True").gives_any())
        .call(is("STOPPED", "STANDARD"))
        .call(newest(&[
            replaced,
            by_operator("Refused", "\"InvalidParameter\"").unknown_workspace("\"ws-1\""),
            Row {
                detail: "\"OperationInProgress (2 times)\"".to_owned(),
                ..refused
            },
            same,
            cancelled,
        ]))
        .call(call("GET admin /operator/actions").gives(super::endings::outbox("")))
        .clock(60)
        .call(is("STOPPED", "STANDARD"))
}
