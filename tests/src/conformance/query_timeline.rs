//! `GET /query/timeline`

use super::case::{Call, Case, call};
use super::fixtures::{activity, desk, startup, workspace};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![story(), pages(), range(), same_moment(), removed(), wrong()]
}

fn get(query: &str) -> Call {
    call(&format!("GET read /query/timeline?{query}"))
}

/// What a row says in `kind,title`, and in `nextToken` the pattern `next`, empty on the last page.
fn page(rows: &[&str], next: &str) -> String {
    let rows = rows.iter().map(|row| {
        let (kind, title) = row.split_once(' ').expect("kind and title");
        format!(r#"{{"kind":"{kind}","title":"{title}"}}"#)
    });
    let rows = rows.collect::<Vec<_>>().join(",");
    let (token, more) = if next.is_empty() {
        ("null".to_owned(), false)
    } else {
        (format!("\"{next}\""), true)
    };
    format!(r#"{{"rows":[{rows}],"nextToken":{token},"hasMore":{more},"at":"«_»","warnings":[]}}"#)
}

fn brief(query: &str) -> Call {
    get(&format!("fields=kind,title&{query}"))
}

/// A day of `ws-1`: a logon on its computer, an activity under its id, a reboot, a hold and a refused rebuild.
fn day(case: Case) -> Case {
    case.put(desk("ws-1", "AVAILABLE", "jdoe"))
        .put(workspace("ws-2"))
        .record(startup("PC-ws-1", "jdoe", 1, "2026-11-20T08:00:00Z"))
        .record(activity("ws-1", "jdoe", "Logon", "2026-11-20T08:01:00Z"))
        .record(activity("ws-2", "asmith", "Logon", "2026-11-20T08:01:00Z"))
        .file()
        .record(activity("PC-ws-1", "jdoe", "Lock", "2026-11-20T11:00:00Z"))
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1&requester=desk",
        ))
        .clock(3600)
        .hold("ws-1")
        .clock(60)
        .call(
            call("POST act /api/Actions/RebuildWorkSpace?workSpaceId=ws-1")
                .refused("LitigationHold"),
        )
}

const STORY: [&str; 7] = [
    "audit RebuildWorkSpace",
    "hold PlaceLitigationHold",
    "state AVAILABLE",
    "audit RebootWorkSpace",
    "activity Lock",
    "activity Logon",
    "startup Startup",
];

fn story() -> Case {
    day(Case::new("q timeline", "one axis, newest first"))
        .call(brief("workSpaceId=ws-1&to=2026-11-21").gives_json(page(&STORY, "")))
        .call(brief("WORKSPACEID=ws-1&to=2026-11-21").gives_json(page(&STORY, "")))
        .call(brief("workSpaceId=Ws-1&to=2026-11-21").refused("WorkSpaceNotFound"))
        .file()
        .call(brief("workSpaceId=ws-1&to=2026-11-21").gives_json(page(&STORY, "")))
        .call(get("workSpaceId=ws-1&from=2026-11-20T08:00:00Z&to=2026-11-20T08:01:00Z").gives_json(
            r#"{"rows":[{"at":"2026-11-20T08:00:00Z","kind":"startup","title":"Startup","detail":null,"by":"jdoe","auditId":null}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
        .call(get("workSpaceId=ws-1&from=2026-11-20T12:00:00Z&to=2026-11-20T12:30:00Z").gives_json(
            r#"{"rows":[{"at":"2026-11-20T12:02:00Z","kind":"state","title":"AVAILABLE","detail":"AVAILABLE before the call","by":"desk","auditId":5},{"at":"2026-11-20T12:00:00Z","kind":"audit","title":"RebootWorkSpace","detail":"Completed","by":"desk","auditId":5}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
        .call(brief("workSpaceId=ws-2&to=2026-11-21").gives_json(page(&["activity Logon"], "")))
}

fn pages() -> Case {
    let mut case = day(Case::new("q timeline", "pages"));
    for size in [1, 2, 3] {
        let mut token = String::new();
        let mut rows = STORY.as_slice();
        let mut number = 0;
        while !rows.is_empty() {
            let (shown, rest) = rows.split_at(rows.len().min(size));
            number += 1;
            let next = if rest.is_empty() {
                String::new()
            } else {
                format!("«t{size}.{number}»")
            };
            let query = format!("workSpaceId=ws-1&to=2026-11-21&limit={size}{token}");
            case = case.call(brief(&query).gives_json(page(shown, &next)));
            token = format!("&nextToken={next}");
            rows = rest;
        }
    }
    // What is filed and what happens meanwhile moves nothing.
    case.call(
        brief("workSpaceId=ws-1&to=2026-11-21&limit=3").gives_json(page(&STORY[..3], "«first»")),
    )
    .file()
    .call(call("POST act /api/Actions/RebuildWorkSpace?workSpaceId=ws-1").refused("LitigationHold"))
    .call(
        brief("workSpaceId=ws-1&to=2026-11-21&limit=500&nextToken=«first»")
            .gives_json(page(&STORY[3..], "")),
    )
}

fn range() -> Case {
    day(Case::new("q timeline", "from and to"))
        .call(brief("workSpaceId=ws-1").gives_json(page(&STORY[1..], "")))
        .clock(1)
        .call(brief("workSpaceId=ws-1").gives_json(page(&STORY, "")))
        .call(brief("workSpaceId=ws-1&from=-1m").gives_json(page(&STORY[..1], "")))
        .call(brief("workSpaceId=ws-1&from=-2m").gives_json(page(&STORY[..2], "")))
        .call(
            brief("workSpaceId=ws-1&from=2026-11-20T08:00:00Z&to=2026-11-20T11:00:00Z")
                .gives_json(page(&STORY[5..], "")),
        )
        .clock(8 * 24 * 3600)
        .call(brief("workSpaceId=ws-1").gives_json(page(&[], "")))
}

/// More records of one moment than a page has.
fn same_moment() -> Case {
    let at = "2026-11-20T11:00:00Z";
    let names: Vec<String> = (0..4).map(|number| format!("Lock {number}")).collect();
    let case = Case::new("q timeline", "records of one moment").put(workspace("ws-1"));
    let case = names.iter().fold(case, |case, name| {
        case.record(activity("ws-1", "jdoe", name, at))
    });
    let all = "workSpaceId=ws-1&fields=kind&limit=3";
    let row = r#"{"kind":"activity"}"#;
    let three = [row; 3].join(",");
    case.record(activity("ws-1", "jdoe", "Logon", "2026-11-20T10:00:00Z"))
        .call(get(all).gives_json(format!(
            r#"{{"rows":[{three}],"nextToken":"«next»","hasMore":true,"at":"«_»","warnings":[]}}"#
        )))
        .call(get(&format!("{all}&nextToken=«next»")).gives_json(format!(
            r#"{{"rows":[{row},{row}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}}"#
        )))
}

/// Of a removed workspace the audit is still known, by its id alone.
fn removed() -> Case {
    Case::new("q timeline", "a removed workspace")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .record(activity("ws-1", "jdoe", "Logon", "2026-11-20T08:01:00Z"))
        .record(activity("PC-ws-1", "jdoe", "Lock", "2026-11-20T08:02:00Z"))
        .call(call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1").gives_any())
        .clock(1)
        .call(brief("workSpaceId=ws-1").gives_json(page(
            &["audit RemoveWorkSpaceDbEntry", "activity Logon"],
            "",
        )))
        .call(brief("workSpaceId=ws-2").refused("WorkSpaceNotFound"))
        .clock(8 * 24 * 3600)
        .call(brief("workSpaceId=ws-1").refused("WorkSpaceNotFound"))
}

fn wrong() -> Case {
    let bad = |query: &str| get(query).refused("InvalidParameter");
    Case::new("q timeline", "wrong parameters")
        .put(workspace("ws-1"))
        .call(bad("").error(
            "workSpaceId",
            "The workSpaceId field is required, such as workSpaceId=ws-1.",
        ))
        .call(bad("workSpaceId="))
        .call(bad("workSpaceId=ws-1&from=yesterday").error_holding("from", &["-24h"]))
        .call(bad("workSpaceId=ws-1&fields=what").error_holding("fields", &["There is no column"]))
        .call(bad("workSpaceId=ws-1&limit=0"))
        .call(bad("workSpaceId=ws-1&nextToken=AAAA"))
        .call(call("GET act /query/timeline?workSpaceId=ws-1").refused("InsufficientScope"))
}
