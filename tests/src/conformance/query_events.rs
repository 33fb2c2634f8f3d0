//! `GET /query/events`: the event log in pages.

use super::case::{Call, Case, NOW, call};
use super::fixtures::desk;

const ROW: &str = "q events";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![rows(), refusals(), pages(), resync(), wrong()]
}

/// The keys of the suite are issued before each case: an event each.
const ISSUED: u64 = 4;

fn list(query: &str) -> Call {
    call(&format!("GET read /query/events{query}"))
}

/// An event: what follows its number and its time, which is the beginning of the case.
fn event(id: u64, rest: &str) -> String {
    format!(r#"{{"id":{id},"at":"{NOW}",{rest}}}"#)
}

fn page(rows: &[String], next: &str, at: &str) -> String {
    let rows = rows.join(",");
    let (token, more) = if next.is_empty() {
        ("null".to_owned(), false)
    } else {
        (format!("\"{next}\""), true)
    };
    format!(r#"{{"rows":[{rows}],"nextToken":{token},"hasMore":{more},"at":"{at}","warnings":[]}}"#)
}

/// Every kind of change by a key makes its event, with the name of the key and without its secret.
fn rows() -> Case {
    let about = r#""workSpaceId":"ws-1","username":"jdoe""#;
    let nobody = r#""workSpaceId":null,"username":null"#;
    let rows = [
        event(
            ISSUED + 1,
            &format!(
                r#""type":"workspace.changed",{about},"detail":{{"by":"operator-desk","isNew":true,"fields":["username","state"],"state":"AVAILABLE"}}"#
            ),
        ),
        event(
            ISSUED + 2,
            &format!(
                r#""type":"hold.placed",{about},"detail":{{"by":"operator-desk","replaced":false}}"#
            ),
        ),
        event(
            ISSUED + 3,
            &format!(r#""type":"hold.released",{about},"detail":{{"by":"operator-desk"}}"#),
        ),
        event(
            ISSUED + 4,
            &format!(
                r#""type":"action.accepted",{about},"detail":{{"by":"service-desk","previousState":"AVAILABLE","state":"REBOOTING","actionId":«_»,"action":"RebootWorkSpace","dueAt":"2026-11-20T12:02:00Z"}}"#
            ),
        ),
        event(
            ISSUED + 5,
            &format!(
                r#""type":"key.issued",{nobody},"detail":{{"by":"operator-desk","keyId":5,"name":"console","scopes":["read"],"expires":"2027-01-01T00:00:00Z"}}"#
            ),
        ),
        event(
            ISSUED + 6,
            &format!(
                r#""type":"key.revoked",{nobody},"detail":{{"by":"operator-desk","keyId":5,"name":"console"}}"#
            ),
        ),
        event(
            ISSUED + 7,
            r#""type":"workspace.changed","workSpaceId":"ws-1","username":"jdoe","detail":{"by":"operator-desk","isNew":false,"fields":["region"],"previousState":"REBOOTING","state":"REBOOTING"}"#,
        ),
        event(
            ISSUED + 8,
            r#""type":"workspace.changed","workSpaceId":"ws-2","username":null,"detail":{"by":"operator-desk","isNew":true,"fields":[]}"#,
        ),
        event(
            ISSUED + 9,
            &format!(
                r#""type":"import.committed",{nobody},"detail":{{"by":"operator-desk","auditId":«_»,"created":1,"changed":1,"listed":true}}"#
            ),
        ),
        event(
            ISSUED + 10,
            r#""type":"workspace.removed","workSpaceId":"ws-2","username":null,"detail":{"by":"service-desk","reason":"Removed"}"#,
        ),
    ];
    changes().call(list(&format!("?after={ISSUED}")).gives(page(&rows, "", NOW)))
}

/// A change of every kind.
fn changes() -> Case {
    let hold = "/operator/workspaces/ws-1/litigation-hold";
    let import =
        "{\"workSpId\":\"ws-1\",\"region\":\"eu\"}\n{\"workSpId\":\"ws-2\"}\n{\"workSpId\":\"\"}\n";
    Case::new(ROW, "what the calls append")
        .call(
            call("PUT admin /operator/workspaces/ws-1")
                .json(r#"{"username":"jdoe","state":"AVAILABLE"}"#)
                .gives_any(),
        )
        .call(
            call(&format!("PUT admin {hold}"))
                .json(r#"{"matter":"Doe v. Roe","reason":"secret"}"#)
                .gives_any(),
        )
        .call(call(&format!("DELETE admin {hold}")).gives_any())
        .call(
            call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1&requester=Ada").empty(200),
        )
        .call(
            call("POST admin /operator/keys")
                .json(r#"{"name":"console","scopes":["read"],"expires":"2027-01-01T00:00:00Z"}"#)
                .gives_any()
                .with_status(201),
        )
        .call(call("DELETE admin /operator/keys/5").empty(200))
        .call(
            call("POST admin /operator/workspaces")
                .body("application/x-ndjson", import)
                .gives_any(),
        )
        .call(call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-2").gives_any())
}

/// What is refused or changes nothing appends nothing, nor does telemetry before it is filed.
fn refusals() -> Case {
    let filed = r#""at":"2026-11-20T12:02:00Z","type":"telemetry.filed","workSpaceId":null,"username":null,"detail":{"records":1}"#;
    let ended = r#""at":"2026-11-20T12:02:00Z","type":"action.completed","workSpaceId":"ws-1","username":"jdoe","detail":{"state":"AVAILABLE","actionId":«_»,"action":"RebootWorkSpace","completedTime":"2026-11-20T12:02:00Z"}"#;
    let after = ISSUED + 3;
    let nothing = |at: &str| list(&format!("?after={after}")).gives(page(&[], "", at));
    Case::new(ROW, "what appends nothing, and what upkeep appends")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1").empty(200))
        .put(desk("ws-1", "REBOOTING", "jdoe"))
        .call(
            call("POST act /api/Actions/StartWorkSpace?workSpaceId=ws-1")
                .refused("OperationInProgress"),
        )
        .call(
            call("POST read /api/Actions/RebootWorkSpace?workSpaceId=ws-1")
                .refused("InsufficientScope"),
        )
        .call(call("DELETE admin /operator/keys/99").refused("NotFound"))
        .call(call("POST - /api/Stats/Post").json("{}").empty(200))
        .call(nothing(NOW))
        .clock(120)
        .call(call("GET read /api/Information/GetAllWorkSpaces").gives_any())
        .call(nothing("2026-11-20T12:02:00Z"))
        .maintain()
        .call(list(&format!("?after={after}")).gives(page(
            &[
                format!("{{\"id\":{},{ended}}}", after + 1),
                format!("{{\"id\":{},{filed}}}", after + 2),
            ],
            "",
            "2026-11-20T12:02:00Z",
        )))
}

/// Pages go on by the token or by the number of the last event; without a position they begin with the oldest one.
fn pages() -> Case {
    let key = |id: u64| {
        let (name, scope) = [
            ("operator-desk", "admin"),
            ("reader", "read"),
            ("service-desk", "act"),
            ("agents", "ingest"),
        ][usize::try_from(id - 1).unwrap_or(0)];
        event(
            id,
            &format!(
                r#""type":"key.issued","workSpaceId":null,"username":null,"detail":{{"by":"host","keyId":{id},"name":"{name}","scopes":["{scope}"]}}"#
            ),
        )
    };
    Case::new(ROW, "pages")
        .call(list("").gives(page(&[key(1), key(2), key(3), key(4)], "", NOW)))
        .call(list("?limit=3").gives(page(&[key(1), key(2), key(3)], "«next»", NOW)))
        .call(list("?limit=3&nextToken=«next»").gives(page(&[key(4)], "", NOW)))
        .call(list("?after=3").gives(page(&[key(4)], "", NOW)))
        .call(list("?after=1&limit=2").gives(page(&[key(2), key(3)], "«_»", NOW)))
        .call(list("?after=0&limit=4").gives(page(&[key(1), key(2), key(3), key(4)], "", NOW)))
        .call(list("?after=4").gives(page(&[], "", NOW)))
        .call(
            call("GET admin /operator/audit?limit=1")
                .gives_json(r#"{"activities":["«_»"],"nextToken":"«audit»","hasMore":true}"#),
        )
        .call(list("?nextToken=«audit»").refused("InvalidParameter"))
        .call(call("GET admin /operator/audit?nextToken=«next»").refused("InvalidParameter"))
}

/// A position whose next event is no longer kept, or that was never given out.
fn resync() -> Case {
    let told = |oldest: u64, at: &str| {
        format!(
            r#"{{"id":4,"at":"{at}","type":"resync","workSpaceId":null,"username":null,"detail":{{"oldest":{oldest}}}}}"#
        )
    };
    let later = "2026-11-28T12:00:00Z";
    Case::new(ROW, "positions that are gone")
        .call(list("?after=5").gives(page(&[told(1, NOW)], "", NOW)))
        .call(list("?after=18446744073709551615").gives(page(&[told(1, NOW)], "", NOW)))
        .days(8)
        .call(list("?after=4").gives(page(&[], "", later)))
}

fn wrong() -> Case {
    let mut case = Case::new(ROW, "wrong values");
    for value in ["x", "-1", "1.5", "18446744073709551616"] {
        let message =
            format!("The value '{value}' is not valid: it is a whole number, such as 4412.");
        let call = list(&format!("?after={value}")).refused("InvalidParameter");
        case = case.call(call.error("after", message));
    }
    let stream = list("")
        .header("accept", "text/event-stream")
        .header("last-event-id", "x");
    let message = "The value is not valid: it is the number of an event, such as 4412.";
    case.call(
        stream
            .refused("InvalidParameter")
            .error("Last-Event-ID", message),
    )
    .call(
        list("?nextToken=x")
            .refused("InvalidParameter")
            .error("nextToken", "The value is not a token of this endpoint."),
    )
    .call(
        list("?limit=501")
            .refused("InvalidParameter")
            .error("limit", "The field limit must be between 1 and 500."),
    )
}
