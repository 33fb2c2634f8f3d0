//! `GET /query/workspaces`, and what all pages of rows have in common.

use deskfleet::Workspace;

use super::case::{Call, Case, call};
use super::fixtures::{desk, full, workspace};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        rows(),
        filters(),
        figures(),
        wrong_figures(),
        sorts(),
        pages(),
        changes_under_a_walk(),
        bad_tokens(),
        formats(),
        fields(),
        wrong(),
        hostile(),
    ]
}

const NAMES: &str = "workSpId,computerName,username,state,runningMode,computeTypeName,region,directoryId,onHold,transition,lastSeen,cpu,memory,rootVolume,\
    userVolume,uptimeSeconds,cpuAvg,cpuP95,memoryP95,healthScore,clockAheadSeconds,asOf";

fn get(query: &str) -> Call {
    call(&format!("GET read /query/workspaces{query}"))
}

/// A page of rows with the ids alone; `next` is a pattern, empty on the last page.
fn page(ids: &[&str], next: &str) -> String {
    let rows: Vec<_> = ids
        .iter()
        .map(|id| format!(r#"{{"workSpId":"{id}"}}"#))
        .collect();
    let rows = rows.join(",");
    let (token, more) = if next.is_empty() {
        ("null".to_owned(), false)
    } else {
        (format!("\"{next}\""), true)
    };
    format!(r#"{{"rows":[{rows}],"nextToken":{token},"hasMore":{more},"at":"«_»","warnings":[]}}"#)
}

fn ids(query: &str) -> Call {
    get(&format!("?fields=workSpId{query}"))
}

fn rows() -> Case {
    let known = r#""workSpId":"ws-1","computerName":"WSAMZN-4F7Q2L9A","username":"jdoe","state":"REBOOTING","runningMode":"AUTO_STOP","computeTypeName":"STANDARD","region":"eu-central-1","directoryId":"d-9067012345","onHold":true,"transition":"RebootWorkSpace""#;
    let bare = r#""workSpId":"ws-2","computerName":null,"username":null,"state":null,"runningMode":null,"computeTypeName":null,"region":null,"directoryId":null,"onHold":false,"transition":null"#;
    let telemetry = r#""lastSeen":null,"cpu":null,"memory":null,"rootVolume":null,"userVolume":null,"uptimeSeconds":null,"cpuAvg":null,"cpuP95":null,"memoryP95":null,"healthScore":null,"clockAheadSeconds":null,"asOf":null"#;
    let second = Workspace {
        id: "ws-2".to_owned(),
        ..Workspace::default()
    };
    let end = r#""nextToken":null,"hasMore":false,"at":"2026-11-20T12:00:00Z","warnings":[]"#;
    Case::new("q workspaces", "the columns of a row")
        .call(get("").gives(format!(r#"{{"rows":[],{end}}}"#)))
        .puts([full("ws-1"), second])
        .hold("ws-1")
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .call(get("").gives(format!(
            r#"{{"rows":[{{{known},{telemetry}}},{{{bare},{telemetry}}}],{end}}}"#
        )))
        .clock(24 * 3600)
        .call(ids("&state=AVAILABLE").gives(page(&["ws-1"], "")))
}

/// Five workspaces that differ in all that rows are filtered and sorted by.
pub(super) fn various() -> [Workspace; 5] {
    [
        Workspace {
            region: Some("eu-central-1".into()),
            ..desk("ws-1", "AVAILABLE", "CORP\\jdoe")
        },
        Workspace {
            region: Some("us-east-1".into()),
            ..desk("ws-2", "STOPPED", "asmith")
        },
        Workspace {
            running_mode: Some("ALWAYS_ON".into()),
            compute_type_name: Some("POWER".into()),
            directory_id: Some("d-1".into()),
            ..desk("ws-3", "ERROR", "JDoe")
        },
        workspace("ws-4"),
        Workspace {
            id: "ws-5".to_owned(),
            ..Workspace::default()
        },
    ]
}

#[rustfmt::skip]
fn filters() -> Case {
    let case = Case::new("q parameters", "filters with lists").puts(various());
    [
        ("", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"][..]), ("&state=stopped", &["ws-2"]), ("&state=", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]),
        ("&state=in.STOPPED,error", &["ws-2", "ws-3"]), ("&STATE=in.,stopped,,stopped", &["ws-2"]), ("&state=in.NONE", &[]),
        ("&state=ne.available", &["ws-2", "ws-3", "ws-5"]), ("&state=ne.", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]),
        ("&username=jdoe", &["ws-1", "ws-3"]), ("&username=in.jdoe,X%5CASMITH", &["ws-1", "ws-2", "ws-3"]), ("&username=in.jdoe", &["ws-1", "ws-3"]),
        ("&username=ne.jdoe@corp", &["ws-2", "ws-4", "ws-5"]), ("&region=in.EU-central-1,us-east-1", &["ws-1", "ws-2"]),
        ("&region=ne.us-east-1", &["ws-1", "ws-3", "ws-4", "ws-5"]), ("&directoryId=D-1", &["ws-3"]), ("&runningMode=in.always_on", &["ws-3"]),
        ("&computeTypeName=in.power,STANDARD", &["ws-1", "ws-2", "ws-3"]), ("&computeTypeName=ne.POWER&state=in.AVAILABLE", &["ws-1", "ws-4"]),
        ("&workSpId=ws-2", &["ws-2"]), ("&workSpId=WS-2", &[]), ("&workSpId=in.ws-5,nothing,ws-1,,ws-1", &["ws-1", "ws-5"]),
        ("&workSpId=in.ws-1,ws-2&state=STOPPED", &["ws-2"]), ("&workSpId=in.ws-1,ws-3,ws-5&username=jdoe&q=ws-3", &["ws-3"]),
        ("&workSpId=in.ws-1,ws-3,ws-5&sort=-workSpId", &["ws-5", "ws-3", "ws-1"]), ("&workSpId=ne.ws-2", &["ws-1", "ws-3", "ws-4", "ws-5"]),
        ("&q=JDO", &["ws-1", "ws-3"]), ("&q=in.jdoe", &[]), ("&q=ws-&state=ne.ERROR&runningMode=AUTO_STOP", &["ws-1", "ws-2"]),
    ]
    .into_iter()
    .fold(case, |case, (query, found)| case.call(ids(query).gives(page(found, ""))))
    // There a prefix is a part of the name.
    .call(call("GET admin /operator/workspaces?username=in.jdoe").gives(super::fixtures::page(&[], "")))
}

/// Five workspaces, of which three report: the first one did so 40 minutes ago.
fn reporting(name: &str) -> Case {
    let post = |id: &str, cpu: u8| {
        let body = format!(r#"{{"instanceId":"{id}","processorInUse":{cpu},"uptime":60}}"#);
        call("POST - /api/Stats/Post").json(body)
    };
    Case::new("q parameters", name)
        .puts(various())
        .call(post("ws-1", 95))
        .clock(40 * 60)
        .call(post("ws-2", 90))
        .call(post("ws-3", 20))
        .file()
}

/// Figures are compared with bounds, all of which must hold. Those of the past are none, and come after all others in a sort.
#[rustfmt::skip]
fn figures() -> Case {
    let case = reporting("comparisons of figures");
    let case = [
        ("&cpu=gt.80", &["ws-2"][..]), ("&cpu=ge.20,lt.90", &["ws-3"]), ("&cpu=le.90", &["ws-2", "ws-3"]), ("&cpu=lt.20", &[]),
        ("&cpu=null", &["ws-1", "ws-4", "ws-5"]), ("&cpu=ne.null", &["ws-2", "ws-3"]), ("&CPU=gt.80.5&state=STOPPED", &["ws-2"]),
        ("&lastSeen=lt.-30m", &["ws-1"]), ("&lastSeen=ge.2026-11-20T12:40:00Z", &["ws-2", "ws-3"]), ("&lastSeen=null", &["ws-4", "ws-5"]),
        ("&uptimeSeconds=gt.59.99,le.60", &["ws-2", "ws-3"]), ("&asOf=ne.null", &["ws-1"]), ("&asOf=null&lastSeen=ne.null", &["ws-2", "ws-3"]),
        ("&cpu=", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]), ("&cpu=gt.1&sort=-cpu", &["ws-2", "ws-3"]),
        ("&sort=-cpu", &["ws-2", "ws-3", "ws-1", "ws-4", "ws-5"]), ("&sort=cpu", &["ws-3", "ws-2", "ws-1", "ws-4", "ws-5"]),
    ]
    .into_iter()
    .fold(case, |case, (query, found)| case.call(ids(query).gives(page(found, ""))));
    let rows = r#"{"rows":[{"cpu":95.0,"asOf":"2026-11-20T12:00:00Z"},{"cpu":90.0,"asOf":null},{"cpu":20.0,"asOf":null}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#;
    let of_days = |ids| {
        let days = r#""warnings":["The answer is of whole days (UTC), from 2026-11-19T00:00:00Z to 2026-11-21T00:00:00Z."]"#;
        page(ids, "").replace(r#""warnings":[]"#, days)
    };
    case.call(get("?fields=cpu,asOf&lastSeen=ne.null").gives(rows))
        .call(ids("&cpu=ne.null&limit=1").gives(page(&["ws-2"], "«next»")))
        .call(ids("&cpu=ne.null&limit=1&nextToken=«next»").gives(page(&["ws-3"], "")))
        .call(ids("&window=1d&cpuAvg=gt.90").gives(of_days(&["ws-1"])))
        .call(ids("&window=1d&sort=-cpuAvg").gives(of_days(&["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"])))
}

fn wrong_figures() -> Case {
    [
        ("cpu", "80"),
        ("cpu", "eq.80"),
        ("cpu", "gt.x"),
        ("memory", "in.1,2"),
        ("lastSeen", "gt.80"),
        ("lastSeen", "lt.yesterday"),
        ("asOf", "ne.-1h"),
    ]
    .into_iter()
    .fold(reporting("wrong comparisons"), |case, (name, text)| {
        let wrong = ids(&format!("&{name}={text}")).refused("InvalidParameter");
        case.call(wrong.error_holding(name, &["such as gt.80, lt.-1h"]))
    })
    .call(
        ids("&cpuP95=gt.80")
            .refused("InvalidParameter")
            .error_holding("window", &["window=24h"]),
    )
    .call(ids("&cpus=gt.80").refused("InvalidParameter"))
}

/// Nulls are last in both directions, texts are compared without ASCII case, and the id decides between equal rows.
#[rustfmt::skip]
fn sorts() -> Case {
    let case = Case::new("q parameters", "sorts").puts(various()).hold("ws-4");
    [
        ("", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"][..]), ("&sort=", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]),
        ("&sort=-workSpId", &["ws-5", "ws-4", "ws-3", "ws-2", "ws-1"]), ("&sort=WORKSPID", &["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"]),
        ("&sort=state", &["ws-1", "ws-4", "ws-3", "ws-2", "ws-5"]), ("&sort=-state", &["ws-2", "ws-3", "ws-1", "ws-4", "ws-5"]),
        ("&sort=-state,-workSpId", &["ws-2", "ws-3", "ws-4", "ws-1", "ws-5"]), ("&sort=username", &["ws-2", "ws-1", "ws-3", "ws-4", "ws-5"]),
        ("&sort=-username", &["ws-3", "ws-1", "ws-2", "ws-4", "ws-5"]), ("&sort=onHold,-workSpId", &["ws-5", "ws-3", "ws-2", "ws-1", "ws-4"]),
        ("&sort=-onHold", &["ws-4", "ws-1", "ws-2", "ws-3", "ws-5"]), ("&sort=-cpu,lastSeen,-workSpId", &["ws-5", "ws-4", "ws-3", "ws-2", "ws-1"]),
    ]
    .into_iter()
    .fold(case, |case, (query, found)| case.call(ids(query).gives(page(found, ""))))
}

fn pages() -> Case {
    let walk = |query: &str| ids(&format!("&sort=-state{query}"));
    let bad = |query: &str| ids(query).refused("InvalidParameter");
    let fleet = (1..=51).map(|number| workspace(&format!("x-{number:02}")));
    let all: Vec<_> = (1..=51).map(|number| format!("x-{number:02}")).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let outside = "The field limit must be between 1 and 500.";
    Case::new("q parameters", "limit and nextToken")
        .puts(various())
        .call(walk("&limit=2").gives(page(&["ws-2", "ws-3"], "«a»")))
        .call(walk("&limit=2&nextToken=«a»").gives(page(&["ws-1", "ws-4"], "«b»")))
        .call(walk("&limit=2&nextToken=«b»").gives(page(&["ws-5"], "")))
        .call(walk("&nextToken=«a»").gives(page(&["ws-1", "ws-4", "ws-5"], "")))
        .call(walk("&limit=5").gives(page(&["ws-2", "ws-3", "ws-1", "ws-4", "ws-5"], "")))
        .call(
            walk("&limit=500&nextToken=")
                .gives(page(&["ws-2", "ws-3", "ws-1", "ws-4", "ws-5"], "")),
        )
        .call(ids("&workSpId=in.ws-4,ws-1,ws-2&limit=2").gives(page(&["ws-1", "ws-2"], "«i»")))
        .call(ids("&workSpId=in.ws-4,ws-1,ws-2&nextToken=«i»").gives(page(&["ws-4"], "")))
        .call(bad("&sort=workSpId&nextToken=«i»").error(
            "nextToken",
            "The value is not a token of this endpoint and sort.",
        ))
        .call(bad("&limit=0").error("limit", outside))
        .call(bad("&limit=501").error("limit", outside))
        .call(bad("&limit=x").error("limit", "The value 'x' is not valid."))
        .puts(fleet)
        .call(ids("&q=x-").gives(page(&all[..50], "«c»")))
        .call(ids("&q=x-&nextToken=«c»").gives(page(&all[50..], "")))
}

/// A row that stays in place is shown once; one that moves is shown where it is when its page comes.
fn changes_under_a_walk() -> Case {
    let walk = |query: &str| ids(&format!("&sort=-username&limit=1{query}"));
    let named = |id: &str, name: &str| desk(id, "AVAILABLE", name);
    Case::new("q parameters", "changes under a walk")
        .puts([
            named("ws-1", "d"),
            named("ws-2", "c"),
            named("ws-3", "b"),
            named("ws-4", "a"),
        ])
        .call(walk("").gives(page(&["ws-1"], "«a»")))
        .put(named("ws-0", "e"))
        .put(named("ws-9", "bb"))
        .call(call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1").gives_any())
        .call(call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-2").gives_any())
        .call(walk("&nextToken=«a»").gives(page(&["ws-9"], "«b»")))
        .put(named("ws-9", "aa"))
        .call(walk("&nextToken=«b»").gives(page(&["ws-3"], "«c»")))
        .call(walk("&nextToken=«c»").gives(page(&["ws-9"], "«d»")))
        .call(walk("&nextToken=«d»").gives(page(&["ws-4"], "")))
}

/// A token continues its own order of its own list.
fn bad_tokens() -> Case {
    let message = "The value is not a token of this endpoint.";
    let bad = |query: &str| {
        ids(query).refused("InvalidParameter").error(
            "nextToken",
            "The value is not a token of this endpoint and sort.",
        )
    };
    let foreign = |target: &str| {
        call(target)
            .refused("InvalidParameter")
            .error("nextToken", message)
    };
    let long = "A".repeat(4000);
    Case::new("q parameters", "tokens of another order or list")
        .puts(various())
        .call(ids("&sort=-state&limit=1").gives(page(&["ws-2"], "«t»")))
        .call(call("GET read /api/Information/GetAllWorkSpaces?limit=1").gives_any())
        .call(bad("&nextToken=«t»"))
        .call(bad("&sort=state&nextToken=«t»"))
        .call(bad("&sort=-state,workSpId&nextToken=«t»"))
        .call(bad("&nextToken=x"))
        .call(bad("&nextToken=%00"))
        .call(bad(&format!("&nextToken={long}")))
        .call(foreign(
            "GET read /api/Information/GetAllWorkSpaces?nextToken=«t»",
        ))
        .call(foreign("GET admin /operator/workspaces?nextToken=«t»"))
        .call(
            ids("&sort=-STATE&limit=1&state=ne.ERROR&nextToken=«t»").gives(page(&["ws-1"], "«_»")),
        )
}

fn formats() -> Case {
    let formula = Workspace {
        computer_name: Some("a,\"b\"".into()),
        ..desk("ws-2", "STOPPED", "=1+1")
    };
    let with = |accept: &str| {
        get("?fields=workSpId,username,onHold,cpu,computerName&sort=workSpId&limit=1")
            .header("accept", accept)
    };
    let all =
        |accept: &str| get("?fields=computerName,username&sort=-workSpId").header("accept", accept);
    let media =
        |call: Call, media: &str| call.answers("content-type", &format!("{media}; charset=utf-8"));
    let csv = with("text/csv")
        .gives("workSpId,username,onHold,cpu,computerName\r\nws-1,jdoe,false,,PC-ws-1\r\n");
    let lines = "{\"workSpId\":\"ws-1\",\"username\":\"jdoe\",\"onHold\":false,\"cpu\":null,\"computerName\":\"PC-ws-1\"}\n";
    let lines = with("application/x-ndjson").gives(lines);
    let case = Case::new("q rows", "JSON, CSV and NDJSON")
        .puts([desk("ws-1", "AVAILABLE", "jdoe"), formula])
        .call(media(csv, "text/csv").answers("x-next-token", "ASABAAB3cy0xAHdzLTF0hEqo"))
        .call(
            media(lines, "application/x-ndjson")
                .answers("x-next-token", "ASABAAB3cy0xAHdzLTF0hEqo"),
        )
        .call(
            all("text/csv")
                .gives("computerName,username\r\n\"a,\"\"b\"\"\",'=1+1\r\nPC-ws-1,jdoe\r\n")
                .lacks("x-next-token")
                .lacks("x-warning"),
        );
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/*", "text/csv"),
        ("text/html, text/csv;q=0.1", "text/csv"),
        ("text/csv;q=0.5, application/json;q=0.4", "text/csv"),
        (
            "application/json;q=0.5, application/x-ndjson",
            "application/x-ndjson",
        ),
        ("image/png", "application/json"),
    ]
    .into_iter()
    .fold(case, |case, (accept, expected)| {
        case.call(media(
            get("").header("accept", accept).gives_any(),
            expected,
        ))
    })
}

fn fields() -> Case {
    let lines = |query: &str| get(query).header("accept", "text/csv");
    Case::new("q rows", "fields")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(lines("?state=none").gives(format!("{NAMES}\r\n")))
        .call(lines("?state=none&fields=").gives(format!("{NAMES}\r\n")))
        .call(lines("?fields=STATE,workspid,state").gives("state,workSpId\r\nAVAILABLE,ws-1\r\n"))
}

/// Each refusal names the parameter and says what it takes.
fn wrong() -> Case {
    let key = |key: &str| call(&format!("GET {key} /query/workspaces"));
    let case = Case::new("q parameters", "wrong values")
        .call(key("-").refused("InvalidApiKey"))
        .call(key("ingest").refused("InsufficientScope"))
        .call(key("act").refused("InsufficientScope"))
        .call(key("admin").gives_any());
    [
        (
            "?sort=stat",
            "sort",
            "There is no column 'stat'. Did you mean 'state'?".to_owned(),
        ),
        (
            "?sort=-colour",
            "sort",
            format!(
                "There is no column 'colour'. The columns are {}.",
                NAMES.replace(',', ", ")
            ),
        ),
        (
            "?sort=state,,region",
            "sort",
            format!(
                "There is no column ''. The columns are {}.",
                NAMES.replace(',', ", ")
            ),
        ),
        (
            "?sort=state,region,cpu,memory",
            "sort",
            "At most 3 columns can be sorted by.".to_owned(),
        ),
        (
            "?sort=healthScore",
            "sort",
            "Send `window`, such as window=24h, to sort by a figure of a window.".to_owned(),
        ),
        (
            "?window=24",
            "window",
            "The value '24' is not valid. Send a duration such as 5m, 1h or 1d.".to_owned(),
        ),
        (
            "?fields=workSpaceId",
            "fields",
            "There is no column 'workSpaceId'. Did you mean 'workSpId'?".to_owned(),
        ),
        (
            "?state=in.",
            "state",
            "Send a list of 1 to 100 values, such as state=in.A,B.".to_owned(),
        ),
        (
            "?computeTypeName=in.,,",
            "computeTypeName",
            "Send a list of 1 to 100 values, such as computeTypeName=in.A,B.".to_owned(),
        ),
    ]
    .into_iter()
    .fold(case, |case, (query, field, message)| {
        case.call(get(query).refused("InvalidParameter").error(field, message))
    })
}

/// What takes the most time for its length is refused, or answered in time.
fn hostile() -> Case {
    let list = |count: usize| format!("?region=in.{}", vec!["x"; count].join(","));
    let of_ids = |count: usize| format!("?workSpId=in.{}", vec!["x"; count].join(","));
    let names = "workSpId,".repeat(700);
    Case::new("q parameters", "long lists, sorts and fields")
        .puts(various())
        .call(get(&list(100)).gives_any())
        .call(
            get(&list(101))
                .refused("InvalidParameter")
                .error_holding("region", &["1 to 100"]),
        )
        .call(
            get(&list(3500))
                .refused("InvalidParameter")
                .error_holding("region", &["1 to 100"]),
        )
        .call(get(&of_ids(500)).gives(page(&[], "")))
        .call(
            get(&of_ids(501))
                .refused("InvalidParameter")
                .error_holding("workSpId", &["1 to 500"]),
        )
        .call(
            get(&format!("?sort={names}workSpId"))
                .refused("InvalidParameter")
                .error_holding("sort", &["At most 3"]),
        )
        .call(
            get(&format!(
                "?fields={names}workSpId&sort=workSpId,workSpId,workSpId&limit=500"
            ))
            .gives(page(&["ws-1", "ws-2", "ws-3", "ws-4", "ws-5"], "")),
        )
}
