//! `GET /query/top`

use deskfleet::{Record, StatsRecord};

use super::case::{Call, Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![worst(), wrong()]
}

fn get(query: &str) -> Call {
    call(&format!("GET read /query/top{query}"))
}

fn load(instance: &str, percent: i32, time: &str) -> Record {
    Record::Stats(Box::new(StatsRecord {
        instance_id: instance.into(),
        update_time: Some(time.parse().expect("a date-time")),
        processor_in_use: Some(percent),
        ..StatsRecord::default()
    }))
}

fn worst() -> Case {
    let page = |rows: &[&str], next: &str| {
        let (rows, more) = (rows.join(","), !next.is_empty());
        let token = if more {
            format!("\"{next}\"")
        } else {
            "null".to_owned()
        };
        format!(
            r#"{{"rows":[{rows}],"nextToken":{token},"hasMore":{more},"at":"«_»","warnings":[]}}"#
        )
    };
    let row = |id: &str, value: &str| {
        format!(
            r#"{{"workSpId":"{id}","instanceId":"{id}","username":null,"metric":"cpu","statistic":"max","value":{value},"samples":1}}"#
        )
    };
    let (high, low) = (row("ws-2", "90.0"), row("ws-1", "20.0"));
    let ask = |query: &str| {
        get(&format!(
            "?metric=cpu&statistic=max&from=2026-11-20&to=2026-11-21{query}"
        ))
    };
    Case::new("q top", "the worst first")
        .puts([
            desk("ws-1", "AVAILABLE", "jdoe"),
            desk("ws-2", "AVAILABLE", "asmith"),
        ])
        .record(load("ws-1", 20, "2026-11-20T11:50:00Z"))
        .record(load("ws-2", 90, "2026-11-20T11:50:00Z"))
        .file()
        .call(ask("").gives(page(&[&high, &low], "")))
        .call(ask("&limit=1").gives(page(&[&high], "«t»")))
        .call(ask("&limit=1&nextToken=«t»").gives(page(&[&low], "")))
}

fn wrong() -> Case {
    let bad = |query: &str, field: &str, words: &[&str]| {
        get(query)
            .refused("InvalidParameter")
            .error_holding(field, words)
    };
    Case::new("q top", "wrong values")
        .call(call("GET - /query/top").refused("InvalidApiKey"))
        .call(call("GET act /query/top").refused("InsufficientScope"))
        .call(bad("", "metric", &["such as metric=cpu"]))
        .call(bad("?metric=cup", "metric", &["Did you mean 'cpu'?"]))
        .call(bad("?metric=uptime&statistic=p95", "statistic", &[]))
        .call(bad(
            "?metric=cpu&from=24h",
            "from",
            &["such as 2026-11-20T08:00:00Z or -24h"],
        ))
        .call(bad("?metric=cpu&from=-1h&to=-2h", "from", &["before `to`"]))
}
