//! `GET /query/fleet` and `GET /query/metrics`

use super::case::{Call, Case, call};
use super::fixtures::{desk, full, stats};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![counts(), access(), metrics(), conditions()]
}

fn get() -> Call {
    call("GET read /query/fleet")
}

fn counts() -> Case {
    let empty = r#"{"workSpaces":0,"byState":{},"byRunningMode":{},"byComputeType":{},"byRegion":{},"byProtocol":{},"onHold":0,"inTransition":0,"reporting15m":0,"reporting24h":0,"recordsPerSecond":0.0,"queued":0,"storeBytes":«_»,"at":"2026-11-20T12:00:00Z"}"#;
    let states = r#""byState":{"ERROR":1,"REBOOTING":1},"byRunningMode":{"AUTO_STOP":2},"byComputeType":{"STANDARD":2},"byRegion":{"eu-central-1":1,"unknown":1},"byProtocol":{"WSP":1,"unknown":1}"#;
    let some = format!(
        r#"{{"workSpaces":2,{states},"onHold":1,"inTransition":1,"reporting15m":1,"reporting24h":2,"recordsPerSecond":«_»,"queued":0,"storeBytes":«_»,"at":"2026-11-20T12:00:00Z"}}"#
    );
    Case::new("q fleet", "the fleet in numbers")
        .call(get().gives(empty))
        .puts([full("ws-1"), desk("ws-2", "ERROR", "jdoe")])
        .hold("ws-2")
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .record(stats("ws-1", "jdoe", 1, "2026-11-20T11:50:00Z"))
        .record(stats("ws-2", "jdoe", 1, "2026-11-20T08:00:00Z"))
        .file()
        .call(get().gives(some))
}

fn access() -> Case {
    Case::new("q fleet", "keys")
        .call(call("GET - /query/fleet").refused("InvalidApiKey"))
        .call(call("GET act /query/fleet").refused("InsufficientScope"))
        .call(call("GET read /query/fleet?x=%zz").refused("InvalidParameter"))
}

/// What the text says is tested in `tests/tests/metrics.rs`.
fn metrics() -> Case {
    let get = call("GET read /query/metrics").header("accept", "text/csv");
    Case::new("q metrics", "the fleet in the exposition format")
        .call(
            get.gives_any()
                .answers("content-type", "text/plain; version=0.0.4; charset=utf-8"),
        )
        .call(call("GET - /query/metrics").refused("InvalidApiKey"))
        .call(call("GET ingest /query/metrics").refused("InsufficientScope"))
        .call(call("GET read /query/metrics?x=%zz").refused("InvalidParameter"))
}

/// What is wrong, the worst first. That each condition is raised is tested in `tests/tests/conditions.rs`.
fn conditions() -> Case {
    let get = |query: &str| call(&format!("GET read /query/conditions{query}"));
    let page = |rows: &str| {
        format!(r#"{{"rows":[{rows}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}}"#)
    };
    let broken = r#"{"code":"DesktopsUnhealthy","severity":"warning","since":"2026-11-20T12:00:00Z","text":"Desktops are UNHEALTHY or ERROR: a recovery reboot, a restore or a rebuild may help.","count":2,"subjects":["ws-1","ws-2"]}"#;
    Case::new("q fleet", "what is wrong")
        .call(get("").gives(page("")))
        .puts([
            desk("ws-1", "UNHEALTHY", "jdoe"),
            desk("ws-2", "ERROR", "jdoe"),
            desk("ws-3", "AVAILABLE", "jdoe"),
        ])
        .call(get("").gives(page(broken)))
        .call(
            get("?fields=code,subjects&format=csv")
                .gives("code,subjects\r\nDesktopsUnhealthy,ws-1 ws-2\r\n"),
        )
        .call(get("?severity=critical").refused("InvalidParameter"))
        .call(call("GET act /query/conditions").refused("InsufficientScope"))
        .call(call("GET - /query/conditions").refused("InvalidApiKey"))
}
