//! `POST /query/preview`. That it equals what actions do is tested over all situations in `tests/tests/preview.rs`.

use super::case::{Call, Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![rows(), formats(), wrong(), sizes()]
}

fn ask(body: &str) -> Call {
    call("POST act /query/preview").json(body)
}

fn page(rows: &[&str]) -> String {
    let rows = rows.join(",");
    format!(r#"{{"rows":[{rows}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}}"#)
}

fn rows() -> Case {
    let body = r#"{"action":"Rebuild","workSpaceIds":["ws-2","ws-1","ws-0","ws-1","","WS-1"]}"#;
    let refused = r#"{"workSpaceId":"ws-2","outcome":"Refused","code":"LitigationHold","state":"STOPPED","wouldBecome":null,"simulated":true}"#;
    let accepted = r#"{"workSpaceId":"ws-1","outcome":"Accepted","code":null,"state":"AVAILABLE","wouldBecome":"REBUILDING","simulated":true}"#;
    let running = r#"{"workSpaceId":"ws-1","outcome":"Refused","code":"OperationInProgress","state":"REBUILDING","wouldBecome":null,"simulated":true}"#;
    let unknown = |id: &str| {
        format!(
            r#"{{"workSpaceId":"{id}","outcome":"Refused","code":"WorkSpaceNotFound","state":null,"wouldBecome":null,"simulated":true}}"#
        )
    };
    let [none, empty, upper] = [unknown("ws-0"), unknown(""), unknown("WS-1")];
    let same = r#"{"workSpaceId":"ws-1","outcome":"NoChange","code":null,"state":"AVAILABLE","wouldBecome":null,"simulated":true}"#;
    let change = |new: &str| {
        ask(&format!(
            r#"{{"action":"changecomputetype","workSpaceIds":["ws-1"],"computeType":"{new}"}}"#
        ))
    };
    let changed = r#"{"workSpaceId":"ws-1","outcome":"Accepted","code":null,"state":"AVAILABLE","wouldBecome":"UPDATING","simulated":true}"#;
    Case::new("q preview", "what an action would do")
        .puts([
            desk("ws-1", "AVAILABLE", "jdoe"),
            desk("ws-2", "STOPPED", "asmith"),
        ])
        .hold("ws-2")
        .call(ask(body).gives(page(&[refused, accepted, &none, accepted, &empty, &upper])))
        .call(change("standard").gives(page(&[same])))
        .call(change("POWER").gives(page(&[changed])))
        .call(
            call("GET admin /operator/audit?action=RebuildWorkSpace")
                .gives_json(r#"{"activities":[],"nextToken":null,"hasMore":false}"#),
        )
        .call(call("GET admin /operator/actions").gives(super::endings::outbox("")))
        .call(call(
            "POST act /api/Actions/RebuildWorkSpace?workSpaceId=ws-1",
        ))
        .call(
            ask(r#"{"action":"RebuildWorkSpace","workSpaceIds":["ws-1"]}"#).gives(page(&[running])),
        )
}

fn formats() -> Case {
    let body = r#"{"action":"StartWorkSpace","workSpaceIds":["ws-1"]}"#;
    let csv = "code,workSpaceId\r\nInvalidResourceState,ws-1\r\n";
    Case::new("q rows", "preview in CSV")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(
            call("POST act /query/preview?fields=code,workSpaceId")
                .json(body)
                .header("accept", "text/csv")
                .gives(csv)
                .answers("content-type", "text/csv; charset=utf-8"),
        )
}

/// Bodies, the field that each is refused for, and words of the message.
const UNREADABLE: [(&str, &str, &[&str]); 11] = [
    ("", "$", &["line 1"]),
    ("[]", "$", &[]),
    (r#"{"action":7}"#, "$.action", &["a string", "line 1"]),
    (
        r#"{"action":"StartWorkSpace","workspaceids":"ws-1"}"#,
        "$.workSpaceIds",
        &["an array of strings", "line 1"],
    ),
    (
        r#"{"action":"StartWorkSpace","workSpaceIds":["a",7]}"#,
        "$.workSpaceIds[1]",
        &["a string", "line 1"],
    ),
    (
        r#"{"action":"StartWorkSpace","workSpaceIds":["a"],"WORKSPACEIDS":["b"]}"#,
        "$.workSpaceIds",
        &["given twice"],
    ),
    (r#"["StartWorkSpace",["a"],null]"#, "$", &["an object"]),
    ("{}", "$.action", &["must be one of RebootWorkSpace, "]),
    (
        r#"{"action":"Remove","workSpaceIds":["ws-1"]}"#,
        "$.action",
        &["must be one of RebootWorkSpace, "],
    ),
    (
        r#"{"action":"StartWorkSpace"}"#,
        "$.workSpaceIds",
        &["1 to 1000"],
    ),
    (
        r#"{"action":"StartWorkSpace","workSpaceIds":[]}"#,
        "$.workSpaceIds",
        &["1 to 1000"],
    ),
];

fn wrong() -> Case {
    let key = |key: &str| call(&format!("POST {key} /query/preview")).json("{}");
    let good = r#"{"action":"StartWorkSpace","workSpaceIds":["ws-1"]}"#;
    let case = Case::new("q preview", "wrong bodies")
        .call(key("-").refused("InvalidApiKey"))
        .call(key("read").refused("InsufficientScope"))
        .call(
            call("POST act /query/preview")
                .body("text/plain", good)
                .refused("UnsupportedMediaType"),
        )
        .call(
            call("POST act /query/preview?fields=outcom")
                .json(good)
                .refused("InvalidParameter")
                .error(
                    "fields",
                    "There is no column 'outcom'. Did you mean 'outcome'?",
                ),
        )
        .call(
            ask(r#"{"action":"ChangeComputeType","workSpaceIds":["ws-1"]}"#)
                .refused("InvalidParameter")
                .error(
                    "computeType",
                    "The computeType field is required, such as PERFORMANCE.",
                ),
        )
        .call(
            ask(r#"{"action":"ChangeComputeType","workSpaceIds":["ws-1"],"computeType":"HUGE"}"#)
                .refused("InvalidParameter")
                .error("computeType", "The value 'HUGE' is not valid."),
        );
    UNREADABLE
        .into_iter()
        .fold(case, |case, (body, field, words)| {
            case.call(ask(body).refused("InvalidBody").error_holding(field, words))
        })
}

fn sizes() -> Case {
    let ids = |count: usize| {
        let ids = vec![r#""x""#; count].join(",");
        ask(&format!(
            r#"{{"action":"StartWorkSpace","workSpaceIds":[{ids}]}}"#
        ))
    };
    let long = "x".repeat(1024 * 1024);
    Case::new("q preview", "sizes")
        .call(ids(1000).gives_any())
        .call(
            ids(1001)
                .refused("InvalidBody")
                .error_holding("$.workSpaceIds", &["1 to 1000"]),
        )
        .call(
            ids(200_000)
                .refused("InvalidBody")
                .error_holding("$.workSpaceIds", &["1 to 1000"]),
        )
        .call(ask(&format!(r#"{{"action":"{long}"}}"#)).refused("PayloadTooLarge"))
}
