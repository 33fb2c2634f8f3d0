//! The two paged lists: `limit`, walks, tokens, changes during a walk.

use super::case::{Call, Case, call};
use super::fixtures::{details, fleet, full, page, workspace};

/// The two lists and the name of their row.
const LISTS: [&str; 2] = [
    "/api/Information/GetAllWorkSpaces",
    "/api/Information/GetWorkSpacesOnLitigationHold",
];

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for path in LISTS {
        cases.push(every_limit(path));
        cases.push(limits_that_are_no_numbers(path));
        cases.push(default_limit(path));
        cases.push(walk(path));
        cases.push(changes_under_a_walk(path));
        cases.push(bad_tokens(path));
    }
    cases.push(foreign_tokens());
    cases.push(held_and_released());
    cases.extend(records());
    cases
}

fn get(path: &str, query: &str) -> Call {
    call(&format!("GET read {path}{query}"))
}

/// A case whose fleet is on both lists.
fn listed(row: &'static str, name: &str, path: &str, count: usize) -> Case {
    fleet(count).fold(
        Case::new(row, format!("{name}: {path}")),
        |case, workspace| {
            let id = workspace.id.clone();
            let case = case.put(workspace);
            if path.ends_with("LitigationHold") {
                case.hold(&id)
            } else {
                case
            }
        },
    )
}

fn every_limit(path: &str) -> Case {
    let all: Vec<_> = fleet(502).collect();
    let start = listed("1 limit", "every limit from -1 to 502", path, 502).engine_only();
    (-1..=502).fold(start, |case, limit: i32| {
        let call = get(path, &format!("?limit={limit}"));
        case.call(match usize::try_from(limit) {
            Ok(items @ 1..=500) => call.gives(page(&all[..items], "«_»")),
            _ => call
                .refused("InvalidParameter")
                .error("limit", "The field limit must be between 1 and 500."),
        })
    })
}

#[rustfmt::skip]
fn limits_that_are_no_numbers(path: &str) -> Case {
    let one: Vec<_> = fleet(1).collect();
    let mut case = listed("1 integers in the query", "integers", path, 1);
    for empty in ["?limit", "?limit=", "?LIMIT=&nextToken="] {
        case = case.call(get(path, empty).gives(page(&one, "")));
    }
    for good in ["%2B5", "005", "00000000000000000000000000005"] {
        case = case.call(get(path, &format!("?limit={good}")).gives(page(&one, "")));
    }
    for (sent, value) in [
        ("=abc", "abc"), ("=1.0", "1.0"), ("=1e1", "1e1"), ("=0x10", "0x10"), ("=+5", " 5"),
        ("=5+", "5 "), ("=%2B", "+"), ("=-", "-"), ("=--5", "--5"), ("=5-", "5-"), ("=1,000", "1,000"), ("=null", "null"),
        ("=%D9%A3", "٣"), ("=2147483648", "2147483648"), ("=-2147483649", "-2147483649"),
        ("=99999999999999999999", "99999999999999999999"),
    ] {
        let call = get(path, &format!("?limit{sent}")).refused("InvalidParameter");
        case = case.call(call.error("limit", format!("The value '{value}' is not valid.")));
    }
    for outside in ["2147483647", "-2147483648", "-0", "%2B501"] {
        let call = get(path, &format!("?limit={outside}")).refused("InvalidParameter");
        case = case.call(call.error("limit", "The field limit must be between 1 and 500."));
    }
    case
}

fn default_limit(path: &str) -> Case {
    let all: Vec<_> = fleet(51).collect();
    listed("i Paging rules", "1: the default is 50", path, 51)
        .call(get(path, "").gives(page(&all[..50], "«next»")))
        .call(get(path, "?nextToken=«next»").gives(page(&all[50..], "")))
}

fn walk(path: &str) -> Case {
    let all: Vec<_> = fleet(6).collect();
    listed(
        "i Paging rules",
        "2 to 4: a walk in steps of 2, 3 and 500",
        path,
        6,
    )
    .call(get(path, "?limit=2").gives(page(&all[..2], "«a»")))
    .call(get(path, "?limit=2&nextToken=«a»").gives(page(&all[2..4], "«b»")))
    .call(get(path, "?limit=2&nextToken=«b»").gives(page(&all[4..], "")))
    .call(get(path, "?limit=3&nextToken=«a»").gives(page(&all[2..5], "«c»")))
    .call(get(path, "?limit=500&nextToken=«c»").gives(page(&all[5..], "")))
    .call(get(path, "?limit=6").gives(page(&all, "")))
    .call(get(path, "?limit=1&nextToken=«a»").gives(page(&all[2..3], "«_»")))
}

/// A workspace that stays from first page to last appears exactly once, whatever is added or removed meanwhile.
fn changes_under_a_walk(path: &str) -> Case {
    let all: Vec<_> = fleet(6).collect();
    let held = path.ends_with("LitigationHold");
    let mut case = listed("5 nextToken", "records come and go under a walk", path, 6)
        .call(get(path, "?limit=2").gives(page(&all[..2], "«a»")));
    for gone in ["ws-0001", "ws-0002", "ws-0003"] {
        if held {
            case = case.call(
                call(&format!(
                    "DELETE admin /operator/workspaces/{gone}/litigation-hold"
                ))
                .gives_any(),
            );
        }
        let remove = format!("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId={gone}");
        case =
            case.call(call(&remove).gives(format!(r#"{{"workSpaceId":"{gone}","removed":true}}"#)));
    }
    for new in ["ws-0000", "ws-0004a", "ws-9999"] {
        case = case.put(workspace(new));
        if held {
            case = case.hold(new);
        }
    }
    let second = [all[3].clone(), workspace("ws-0004a")];
    let third = [all[4].clone(), all[5].clone()];
    case.call(get(path, "?limit=2&nextToken=«a»").gives(page(&second, "«b»")))
        .call(get(path, "?limit=2&nextToken=«b»").gives(page(&third, "«c»")))
        .call(get(path, "?limit=2&nextToken=«c»").gives(page(&[workspace("ws-9999")], "")))
}

fn bad_tokens(path: &str) -> Case {
    let long = "A".repeat(513);
    let case = listed("5 nextToken", "not a token", path, 3)
        .call(get(path, "?limit=1").gives(page(&fleet(1).collect::<Vec<_>>(), "«t»")));
    [
        "abc", "AAAA", "«t»A", "A«t»", "«t»%3D", "*", "%C3%A9", "ws-0001", "null", &long,
    ]
    .into_iter()
    .fold(case, |case, token| {
        let call = get(path, &format!("?nextToken={token}"));
        case.call(bad_token(call))
    })
}

fn bad_token(call: Call) -> Call {
    call.refused("InvalidParameter")
        .error("nextToken", "The value is not a token of this endpoint.")
}

/// Each paged endpoint with the tokens of all the others.
#[rustfmt::skip]
fn foreign_tokens() -> Case {
    const PAGED: [(&str, &str); 8] = [
        ("read", "/api/Information/GetAllWorkSpaces?limit=1"),
        ("read", "/api/Information/GetWorkSpacesOnLitigationHold?limit=1"),
        ("admin", "/operator/workspaces?limit=1"),
        ("admin", "/operator/telemetry/stats?instanceId=ws-0001&limit=1"),
        ("admin", "/operator/telemetry/activity?instanceId=ws-0001&limit=1"),
        ("admin", "/operator/telemetry/startup?instanceId=ws-0001&limit=1"),
        ("admin", "/operator/telemetry/processes?instanceId=ws-0001&limit=1"),
        ("admin", "/operator/audit?limit=1"),
    ];
    let mut case = listed("5 nextToken", "tokens of other endpoints", "LitigationHold", 2);
    for time in ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z"] {
        case = case
            .record(super::fixtures::stats("ws-0001", "jdoe", 1, time))
            .record(super::fixtures::activity("ws-0001", "jdoe", "Logon", time))
            .record(super::fixtures::startup("ws-0001", "jdoe", 1, time))
            .record(super::fixtures::processes("ws-0001", "jdoe", time));
    }
    for (index, (key, path)) in PAGED.iter().enumerate() {
        let list = match path.split('/').nth(2) {
            Some("telemetry") => "records",
            Some("audit?limit=1") => "activities",
            _ => "workSpaces",
        };
        let body = format!(r#"{{"{list}":["«_»"],"nextToken":"«t{index}»","hasMore":true}}"#);
        case = case.call(call(&format!("GET {key} {path}")).gives_json(body));
    }
    for (here, (key, path)) in PAGED.iter().enumerate() {
        for there in (0..PAGED.len()).filter(|there| *there != here) {
            case = case.call(bad_token(call(&format!("GET {key} {path}&nextToken=«t{there}»"))));
        }
    }
    case
}

fn held_and_released() -> Case {
    let path = LISTS[1];
    let all: Vec<_> = fleet(3).collect();
    Case::new(
        "4 litigation hold",
        "only held workspaces are on the hold list, released ones leave it",
    )
    .puts(fleet(3))
    .call(get(path, "").gives(page(&[], "")))
    .hold("ws-0003")
    .hold("ws-0001")
    .call(get(path, "").gives(page(&[all[0].clone(), all[2].clone()], "")))
    .call(call("DELETE admin /operator/workspaces/ws-0001/litigation-hold").gives_any())
    .call(get(path, "").gives(page(&all[2..], "")))
    .call(get(LISTS[0], "").gives(page(&all, "")))
}

fn records() -> Vec<Case> {
    let mut odd = full("ws \"quoted\" \\ é 🖥");
    odd.username = Some("CORP\\jdoe".to_owned());
    let written = details(&odd);
    let bare = deskfleet::Workspace {
        id: "ws-0".to_owned(),
        ..deskfleet::Workspace::default()
    };
    let order = ["WS-9", "ws-1", "ws-10", "ws-2", "ws-é", "ws-🖥"];
    vec![
        Case::new("i WorkSpaceDetails", "every field")
            .put(full("ws-1"))
            .call(get(LISTS[0], "").gives(r#"{"workSpaces":[{"workSpId":"ws-1","computerName":"WSAMZN-4F7Q2L9A","account":"123456789012","region":"eu-central-1","directoryId":"d-9067012345","runningMode":"AUTO_STOP","computeTypeName":"STANDARD","protocol":"WSP","username":"jdoe","state":"AVAILABLE"}],"nextToken":null,"hasMore":false}"#)),
        Case::new("i WorkSpaceDetails", "every nullable field null")
            .put(bare)
            .call(get(LISTS[0], "").gives(r#"{"workSpaces":[{"workSpId":"ws-0","computerName":null,"account":null,"region":null,"directoryId":null,"runningMode":null,"computeTypeName":null,"protocol":null,"username":null,"state":null}],"nextToken":null,"hasMore":false}"#)),
        Case::new("i WorkSpaceDetails", "quotes, backslashes and letters beyond ASCII")
            .put(odd)
            .call(get(LISTS[0], "").gives(format!(r#"{{"workSpaces":[{written}],"nextToken":null,"hasMore":false}}"#))),
        Case::new("i WorkSpaceApiResponse", "an empty fleet")
            .call(get(LISTS[0], "").gives(r#"{"workSpaces":[],"nextToken":null,"hasMore":false}"#)),
        Case::new("5 lists", "ordered by workSpId, code point by code point")
            .puts(order.iter().rev().map(|id| workspace(id)))
            .call(get(LISTS[0], "").gives(page(&order.map(workspace), ""))),
        Case::new("5 lists", "a later put replaces the record")
            .put(full("ws-1"))
            .put(workspace("ws-1"))
            .call(get(LISTS[0], "").gives(page(&[workspace("ws-1")], ""))),
    ]
}
