//! `GET /query/export`

use super::case::{Call, Case, call};
use super::fixtures::stats;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![formats(), order(), parameters(), access()]
}

fn export(query: &str) -> Call {
    call(&format!("GET read /query/export?{query}"))
}

const NDJSON: &str = "application/x-ndjson; charset=utf-8";
const CSV: &str = "text/csv; charset=utf-8";

fn formats() -> Case {
    let line = "{\"id\":1,\"activity\":\"=1+1\",\"activityTime\":\"2026-11-20T11:00:00Z\",\"instanceId\":\"ws-1\",\"receivedAt\":\"2026-11-20T12:00:00Z\"}\n";
    let header =
        "id,computeTypeName,username,activity,activityTime,instanceId,tenantId,receivedAt\r\n";
    let csv = format!("{header}1,,,'=1+1,2026-11-20T11:00:00Z,ws-1,,2026-11-20T12:00:00Z\r\n");
    let post =
        r#"{"id":1,"activity":"=1+1","activityTime":"2026-11-20T11:00:00Z","instanceId":"ws-1"}"#;
    let activity = || export("stream=activity");
    let mut case = Case::new("q export", "formats")
        .call(activity().gives("").answers("content-type", NDJSON))
        .call(export("stream=activity&format=csv").gives(header))
        .call(call("POST - /api/Stats/PostActivity").json(post));
    for (accept, expected, content_type) in [
        ("*/*", line, NDJSON),
        ("application/json", line, NDJSON),
        ("text/csv", csv.as_str(), CSV),
        ("text/csv;q=0.1, application/x-ndjson", line, NDJSON),
    ] {
        let get = activity().header("accept", accept);
        case = case.call(get.gives(expected).answers("content-type", content_type));
    }
    let named = export("STREAM=Activity&format=CSV").header("accept", "application/x-ndjson");
    case.call(named.gives(csv).answers("content-type", CSV))
        .file()
        .call(activity().gives(line))
}

fn order() -> Case {
    let line = |instance, id, at| {
        format!(
            "{{\"id\":{id},\"updatetime\":\"{at}\",\"username\":\"jdoe\",\"instanceId\":\"{instance}\",\"receivedAt\":\"2026-11-20T12:00:00Z\"}}\n"
        )
    };
    let records = [
        ("ws-2", 1, "2026-11-19T08:00:00Z"),
        ("ws-1", 2, "2026-11-20T08:00:00Z"),
        ("ws-1", 3, "2026-11-20T09:00:00Z"),
        ("ws-2", 4, "2026-11-20T07:00:00Z"),
        ("ws-10", 5, "2026-11-20T06:00:00Z"),
    ];
    let lines = |ids: &[i32]| -> String {
        let chosen = records.iter().filter(|(_, id, _)| ids.contains(id));
        chosen
            .map(|(instance, id, at)| line(instance, id, at))
            .collect()
    };
    let mut case = Case::new("q export", "order and range");
    for (instance, id, at) in records.iter().rev() {
        case = case.record(stats(instance, "jdoe", *id, at));
    }
    case.call(export("stream=stats").gives(lines(&[1, 2, 3, 4, 5])))
        .call(export("stream=stats&instanceId=ws-1").gives(lines(&[2, 3])))
        .call(export("stream=stats&instanceId=WS-1").gives(""))
        .call(export("stream=stats&instanceId=&from=").gives(lines(&[1, 2, 3, 4, 5])))
        .call(export("stream=stats&from=-5h").gives(lines(&[2, 3, 4])))
        .call(
            export("stream=stats&from=2026-11-20T08:00:00Z&to=2026-11-20T09:00:00Z")
                .gives(lines(&[2])),
        )
        .call(export("stream=stats&to=-24h").gives(lines(&[1])))
}

fn parameters() -> Case {
    let refused = |query: &str, name: &str, message: &str| {
        let refused = export(query).refused("InvalidParameter");
        refused.error_holding(name, &[message])
    };
    let times = "such as 2026-11-20T08:00:00Z or -24h";
    Case::new("q export", "parameters")
        .call(refused("", "stream", "such as stream=stats"))
        .call(refused(
            "stream=",
            "stream",
            "stats, activity, startup or processes",
        ))
        .call(refused("stream=stat", "stream", "Did you mean 'stats'?"))
        .call(refused(
            "stream=stats&format=parquet",
            "format",
            "Send one of ndjson, csv.",
        ))
        .call(refused("stream=stats&from=24h", "from", times))
        .call(refused("stream=stats&to=soon", "to", times))
        .call(refused(
            "stream=stats&from=-1h&to=-2h",
            "from",
            "before `to`",
        ))
}

fn access() -> Case {
    Case::new("q export", "keys")
        .call(call("GET - /query/export?stream=stats").refused("InvalidApiKey"))
        .call(call("GET act /query/export?stream=stats").refused("InsufficientScope"))
        .call(call("HEAD read /query/export?stream=stats").gives(""))
}
