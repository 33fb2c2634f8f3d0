//! `GET /query/holds`

use deskfleet::Workspace;

use super::case::{Call, Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![rows(), selected(), paged(), wrong()]
}

fn get(query: &str) -> Call {
    call(&format!("GET read /query/holds{query}"))
}

fn put_hold(id: &str, body: &str) -> Call {
    call(&format!(
        "PUT admin /operator/workspaces/{id}/litigation-hold"
    ))
    .json(body)
    .gives_any()
}

fn page(rows: &str, token: &str, more: bool) -> String {
    format!(r#"{{"rows":[{rows}],"nextToken":{token},"hasMore":{more},"at":"«_»","warnings":[]}}"#)
}

fn ids(ids: &[&str]) -> String {
    let rows = ids.iter().map(|id| format!(r#"{{"workSpId":"{id}"}}"#));
    rows.collect::<Vec<_>>().join(",")
}

/// Of three holds one without a reason and one of a workspace without a name.
fn held(title: &'static str) -> Case {
    let bare = Workspace {
        id: "ws-3".to_owned(),
        ..Workspace::default()
    };
    Case::new("q holds", title)
        .puts([
            desk("ws-1", "AVAILABLE", "jdoe"),
            desk("ws-2", "STOPPED", "asmith"),
            bare,
            desk("ws-4", "STOPPED", "jdoe"),
        ])
        .call(put_hold(
            "ws-4",
            r#"{"matter":"Doe v. Roe","reason":"Subpoena 12"}"#,
        ))
        .clock(60)
        .call(put_hold("ws-1", r#"{"matter":"lee v. Example"}"#))
        .clock(60)
        .hold("ws-3")
}

/// A row shows the hold as it is; what is released, and who is not held, is not there.
fn rows() -> Case {
    let first = r#"{"workSpId":"ws-1","computerName":"PC-ws-1","username":"jdoe","matter":"lee v. Example","reason":null,"placedBy":"operator-desk","placedAt":"2026-11-20T12:01:00Z"}"#;
    let bare = r#"{"workSpId":"ws-3","computerName":null,"username":null,"matter":"«_»","reason":«_»,"placedBy":"host","placedAt":"2026-11-20T12:02:00Z"}"#;
    let last = r#"{"workSpId":"ws-4","computerName":"PC-ws-4","username":"jdoe","matter":"Doe v. Roe","reason":"Subpoena 12","placedBy":"operator-desk","placedAt":"2026-11-20T12:00:00Z"}"#;
    held("the columns of a row")
        .call(get("").gives(page(&[first, bare, last].join(","), "null", false)))
        .call(call("DELETE admin /operator/workspaces/ws-1/litigation-hold").gives_any())
        .call(get("?fields=workSpId").gives(page(&ids(&["ws-3", "ws-4"]), "null", false)))
        .call(
            get("?format=csv&fields=workSpId,matter&workSpId=ws-4")
                .gives("workSpId,matter\r\nws-4,Doe v. Roe\r\n"),
        )
}

fn selected() -> Case {
    [
        ("workSpId=ws-4", &["ws-4"][..]),
        ("workSpId=ws-2", &[]),
        ("workSpId=in.ws-4,ws-9,ws-2,ws-1", &["ws-1", "ws-4"]),
        ("workSpId=ne.ws-4", &["ws-1", "ws-3"]),
        ("username=jdoe", &["ws-1", "ws-4"]),
        ("username=ne.jdoe", &["ws-3"]),
        ("q=pc-ws", &["ws-1", "ws-4"]),
        ("q=lee", &[]),
        ("state=stopped", &["ws-4"]),
        ("sort=-placedAt", &["ws-3", "ws-1", "ws-4"]),
        ("sort=username,-workSpId", &["ws-4", "ws-1", "ws-3"]),
        ("sort=matter&username=jdoe", &["ws-4", "ws-1"]),
        ("sort=reason&workSpId=in.ws-4,ws-1", &["ws-4", "ws-1"]),
    ]
    .into_iter()
    .fold(held("filters and sorts"), |case, (query, found)| {
        let asked = get(&format!("?fields=workSpId&{query}"));
        case.call(asked.gives(page(&ids(found), "null", false)))
    })
}

fn paged() -> Case {
    let walk = |query: &str| get(&format!("?fields=workSpId&limit=2{query}"));
    held("pages")
        .call(walk("").gives(page(&ids(&["ws-1", "ws-3"]), "\"«a»\"", true)))
        .call(walk("&nextToken=«a»").gives(page(&ids(&["ws-4"]), "null", false)))
        .call(
            walk("&workSpId=in.ws-4,ws-3,ws-1&nextToken=«a»").gives(page(
                &ids(&["ws-4"]),
                "null",
                false,
            )),
        )
        .call(walk("&sort=placedAt").gives(page(&ids(&["ws-4", "ws-1"]), "\"«b»\"", true)))
        .call(walk("&sort=placedAt&nextToken=«b»").gives(page(&ids(&["ws-3"]), "null", false)))
        .call(walk("&nextToken=«b»").refused("InvalidParameter").error(
            "nextToken",
            "The value is not a token of this endpoint and sort.",
        ))
}

fn wrong() -> Case {
    let key = |key: &str| call(&format!("GET {key} /query/holds"));
    Case::new("q holds", "wrong values and keys")
        .call(key("-").refused("InvalidApiKey"))
        .call(key("act").refused("InsufficientScope"))
        .call(key("admin").gives(page("", "null", false)))
        .call(
            get("?sort=matters")
                .refused("InvalidParameter")
                .error_holding("sort", &["Did you mean 'matter'?"]),
        )
        .call(
            get("?limit=501")
                .refused("InvalidParameter")
                .error("limit", "The field limit must be between 1 and 500."),
        )
}
