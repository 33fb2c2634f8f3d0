//! The operator surface: telemetry in batches, and history.

use super::case::{Call, Case, call};
use super::fields::RECORDS;
use super::fixtures::{activity, processes, startup, stats};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        batch(),
        batch_errors(),
        batch_shapes(),
        batch_of_shippers(),
        batch_of_nothing(),
        batch_of_broken_records(),
        batch_after_an_endless_record(),
        batch_sizes(),
    ];
    cases.extend(RECORDS.iter().map(|record| pages(record.history)));
    cases.extend(RECORDS.iter().map(|record| range(record.history)));
    cases.push(parameters());
    cases.push(default_page());
    cases.push(instances());
    cases
}

fn post(body: impl Into<Vec<u8>>) -> Call {
    call("POST admin /operator/telemetry").body("application/x-ndjson", body)
}

fn history(stream: &str, query: &str, records: &str) -> Call {
    call(&format!("GET admin /operator/telemetry/{stream}?{query}")).gives(format!(
        r#"{{"records":[{records}],"nextToken":null,"hasMore":false}}"#
    ))
}

/// One line of each stream; the reads show what was stored.
fn batch() -> Case {
    let lines = [
        r#"{"stats":{"id":1,"instanceId":"i"}}"#,
        r#"{"activity":{"Activity":"Logon","instanceId":"i"}}"#,
        "",
        r#" {"startup":{"totalMs":900,"instanceId":"i"}} "#,
        r#"{"processes":{"processes":[{"processName":"a.exe"}],"instanceId":"i"}}"#,
    ]
    .join("\r\n");
    let received = r#""instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}"#;
    let reads = |case: Case| {
        case.call(history(
            "stats",
            "instanceId=i",
            &format!(r#"{{"id":1,{received}"#),
        ))
        .call(history(
            "activity",
            "instanceId=i",
            &format!(r#"{{"activity":"Logon",{received}"#),
        ))
        .call(history(
            "startup",
            "instanceId=i",
            &format!(r#"{{"totalMs":900,{received}"#),
        ))
        .call(history(
            "processes",
            "instanceId=i",
            &format!(r#"{{"processes":[{{"processName":"a.exe"}}],{received}"#),
        ))
    };
    let case = Case::new("7 batch", "one line of each stream")
        .call(post(lines).gives(r#"{"accepted":4,"rejected":0,"errors":[],"warnings":[]}"#))
        .call(call("GET - /api/Stats/queue/count").gives("4"))
        .call(post("").gives(r#"{"accepted":0,"rejected":0,"errors":[],"warnings":[]}"#));
    reads(reads(case).file())
}

/// An error in a line does not affect the others.
fn batch_errors() -> Case {
    let good = r#"{"stats":{"id":1,"instanceId":"i"}}"#;
    let bad = [
        "5",
        "null",
        "{",
        "{}",
        "x",
        r#"{"stats":null}"#,
        r#"{"stats":[]}"#,
        r#"{"stats":{},"activity":{}}"#,
        r#"{"stats":{"id":"1"}}"#,
        r#"{"stats":{"id":1,"ID":1}}"#,
        r#"{"stats":{"osVersion":"xxxxxxxxxxxxxxxxxxxxx"}}"#,
        r#"{"activity":{"activityTime":"now"}}"#,
        r#"{"startup":{"profileMs":null}}"#,
        r#"{"processes":{"processes":[{"processName":5}]}}"#,
    ];
    let mut lines = vec![good];
    lines.extend(bad);
    lines.push(good);
    let errors: Vec<_> = (2..2 + bad.len())
        .map(|line| format!(r#"{{"line":{line},"message":"«_»"}}"#))
        .collect();
    let answer = format!(
        r#"{{"accepted":2,"rejected":{},"errors":[{}],"warnings":[]}}"#,
        bad.len(),
        errors.join(",")
    );
    let many = [vec!["x"; 250].join("\n"), good.to_owned()].join("\n");
    let hundred: Vec<_> = (1..=100)
        .map(|line| format!(r#"{{"line":{line},"message":"«_»"}}"#))
        .collect();
    Case::new(
        "7 batch",
        "the first 100 errors, and accepted lines all the same",
    )
    .call(post(lines.join("\n")).gives_json(answer))
    .call(call("GET - /api/Stats/queue/count").gives("2"))
    .call(post(many).gives_json(format!(
        r#"{{"accepted":1,"rejected":250,"errors":[{}],"warnings":[]}}"#,
        hundred.join(",")
    )))
    .call(call("GET - /api/Stats/queue/count").gives("3"))
}

/// The same two records in every shape, by any content type, with a key that may ingest alone.
fn batch_shapes() -> Case {
    let one = r#"{"stats":{"id":1,"instanceId":"i"}}"#;
    let two = r#"{"activity":{"activity":"Lock","instanceId":"i"}}"#;
    let pretty = "{\n  \"stats\": {\n    \"id\": 1,\n    \"instanceId\": \"i\"\n  }\n}\n";
    let shapes = [
        ("application/json", format!("[{one},{two}]")),
        (
            "application/json; charset=utf8",
            format!("[\n  {one},\n  {two}\n]\n"),
        ),
        ("application/json", format!("{one}{two}")),
        ("text/plain", format!("{pretty}{two}")),
        ("", format!("{one}\r\n\r\n{two}")),
        ("application/stream+json", format!("[{one}]\n[{two}]\n")),
        (
            "application/json-seq",
            format!("\u{1e}{one}\n\u{1e}{two}\n"),
        ),
        (
            "application/x-www-form-urlencoded",
            format!("{one},\n{two}"),
        ),
    ];
    let mut case = Case::new("10 batch", "in every shape");
    for (content_type, body) in shapes {
        let post = call("POST ingest /operator/telemetry").body(content_type, body);
        case = case.call(post.gives(r#"{"accepted":2,"rejected":0,"errors":[],"warnings":[]}"#));
    }
    let cut = format!("{one}\n{{\"stats\":{{\"id\":\n{two}\n{{\"stats\":{{\"username\":\"j\n{one}");
    case.call(post(cut).gives_json(
        r#"{"accepted":3,"rejected":2,"errors":[{"line":2,"message":"«_»"},{"line":4,"message":"«_»"}],"warnings":[]}"#,
    ))
}

/// What shippers add is ignored with a warning; with `stream` a record needs no name.
fn batch_of_shippers() -> Case {
    let warned = |count: u64, warnings: &[(u64, &str)]| {
        let warnings = warnings
            .iter()
            .map(|(line, name)| format!(r#"{{"line":{line},"message":"unknown member {name}"}}"#));
        let warnings: Vec<_> = warnings.collect();
        let warnings = warnings.join(",");
        format!(r#"{{"accepted":{count},"rejected":0,"errors":[],"warnings":[{warnings}]}}"#)
    };
    let wrapped = "{\"date\":1763650000.5,\"stats\":{\"id\":1}}\n{\"host\":{\"name\":\"x\"},\"DATE\":1,\"stats\":{}}";
    let bare = "[{\"instanceId\":\"i\",\"date\":1},{\"stats\":{\"id\":2}}]";
    let misspelled = r#"{"instanceId":"i","userNmae":"j"}"#;
    let named = |stream: &str| {
        let line = format!("POST ingest /operator/telemetry?STREAM={stream}");
        move |body: &str| call(&line).body("application/json", body)
    };
    let refused = "The value 'logs' is not valid. Send one of stats, activity, startup, processes.";
    Case::new("10 batch", "as shippers send it")
        .call(post(wrapped).gives(warned(2, &[(1, "date"), (2, "host")])))
        .call(named("Stats")(bare).gives(warned(2, &[(1, "date")])))
        .call(
            named("Stats")(misspelled).gives(warned(1, &[(1, "userNmae; did you mean username?")])),
        )
        .call(named("activity")(r#"{"activity":"Logon","username":"j"}"#).gives(warned(1, &[])))
        .call(named("startup")("{\"totalMs\":5}{\"totalMs\":6}").gives(warned(2, &[])))
        .call(named("PROCESSES")(r#"{"processes":[{"processName":"a"}]}"#).gives(warned(1, &[])))
        .call(named("processes")(r#"{"processes":{"processes":[]}}"#).gives(warned(1, &[])))
        .call(named("")(r#"{"stats":{}}"#).gives(warned(1, &[])))
        .call(
            named("logs")("{}")
                .refused("InvalidParameter")
                .error("stream", refused),
        )
        .call(named("stats")(r#"{"activity":{}}"#).refused("InvalidBody"))
        .call(named("stats")(r#"{"records":[{"id":1}]}"#).refused("InvalidBody"))
        .call(call("GET - /api/Stats/queue/count").gives("11"))
}

/// Shippers take 2xx for delivered, so nothing accepted is no success.
fn batch_of_nothing() -> Case {
    let mut case = Case::new("10 batch", "of which nothing is accepted");
    for body in [
        r#"{"instanceId":"i","processorInUse":1}"#,
        r#"{"records":[{"stats":{}}]}"#,
        r#"{"stats":{},"activity":{}}"#,
        "<html><body>502</body></html>",
        "[",
        "x",
        "\u{1f}\u{8b}",
    ] {
        case = case.call(post(body).refused("InvalidBody"));
    }
    let comma = r#"{"stats":{"processorInUse":1,5}}"#;
    let message = "$.stats: key must be a string, at line 1, byte 30. A decimal comma is not JSON: write 1.5 for 1,5.";
    let nothing = r#"{"accepted":0,"rejected":0,"errors":[],"warnings":[]}"#;
    for body in ["[]", "[\n]\n", "[[],[]]", ","] {
        case = case.call(post(body).gives(nothing));
    }
    case.call(post(comma).refused("InvalidBody").error("line 1", message))
        .call(post(" \r\n\t").gives(nothing))
        .call(post("").gives(nothing))
        .call(call("GET - /api/Stats/queue/count").gives("0"))
}

/// A record that lost a bracket or a quote costs no other, on one line or on many.
fn batch_of_broken_records() -> Case {
    let one = |id: usize| format!(r#"{{"stats":{{"id":{id},"instanceId":"i"}}}}"#);
    let mut case = Case::new("10 batch", "in which a record is broken");
    for broken in [
        r#"{"stats":{"id":1}"#,
        r#"{"stats":{"id":1"#,
        r#""stats":{"id":1}}"#,
        r#"{"stats":{"instanceId":"i}}"#,
        r#"{"stats":{"instanceId:"i"}}"#,
        r#"{"processes":{"processes":[{"processName":"a"}}}"#,
    ] {
        for between in [",", ",\n"] {
            let records = [one(1), broken.to_owned(), one(2), one(3)];
            let body = format!("[{}]", records.join(between));
            let warnings = if broken.contains("instanceId:") {
                r#"{"line":2,"message":"unknown member instanceId:; did you mean instanceId?"}"#
            } else {
                ""
            };
            case = case.call(post(body).gives_json(format!(
                r#"{{"accepted":3,"rejected":1,"errors":[{{"line":2,"message":"«_»"}}],"warnings":[{warnings}]}}"#
            )));
        }
    }
    let cut = [r#"{"processes":{"processes":[{"processName":"a"},"#; 9].join("\n");
    let errors: Vec<_> = (1..=9)
        .map(|line| format!(r#"{{"line":{line},"message":"«_»"}}"#))
        .collect();
    case.call(
        post(format!("{cut}\n{}\n{}", one(1), one(2))).gives_json(format!(
            r#"{{"accepted":2,"rejected":9,"errors":[{}],"warnings":[]}}"#,
            errors.join(",")
        )),
    )
}

/// A record that breaks off and seems to go on for more than a record may be costs none of those.
fn batch_after_an_endless_record() -> Case {
    let good = "{\"stats\":{\"id\":1,\"instanceId\":\"i\"}},\n".repeat(40_000);
    let cut = r#"{"processes":{"instanceId":"x","processes":[{"processName":"a"},"#;
    let body = format!("[\n{{\"stats\":{{\"instanceId\":\"first\"}}}},\n{cut}\n{good}]");
    Case::new("10 batch", "in which a record has no end").call(post(body).gives_json(
        r#"{"accepted":40001,"rejected":1,"errors":[{"line":2,"message":"«_»"}],"warnings":[]}"#,
    ))
}

/// 8 MiB, to the byte.
fn batch_sizes() -> Case {
    let padded = |bytes: usize| {
        let mut body = "{\"stats\":{}}\n".to_owned();
        body.push_str(&"\n".repeat(bytes - body.len()));
        body
    };
    let max = 8 * 1024 * 1024;
    Case::new("1 body size", "a batch of 8 MiB and one byte more")
        .call(post(padded(max)).gives(r#"{"accepted":1,"rejected":0,"errors":[],"warnings":[]}"#))
        .call(post(padded(max + 1)).refused("PayloadTooLarge"))
        .call(call("GET - /api/Stats/queue/count").gives("1"))
}

const TIMES: [&str; 5] = [
    "2026-11-20T07:00:00Z",
    "2026-11-20T08:00:00Z",
    "2026-11-20T09:00:00Z",
    "2026-11-20T10:00:00Z",
    "2026-11-20T11:00:00Z",
];

/// A record of the stream at each of [`TIMES`], filed but for the last two, and how each is written.
fn recorded(case: Case, stream: &str) -> (Case, [String; 5]) {
    let record = |time: &str| match stream {
        "stats" => stats("i", "jdoe", 1, time),
        "activity" => activity("i", "jdoe", "Logon", time),
        "startup" => startup("i", "jdoe", 1, time),
        _ => processes("i", "jdoe", time),
    };
    let written = TIMES.map(|time| {
        let members = match stream {
            "stats" => format!(r#""id":1,"updatetime":"{time}","username":"jdoe""#),
            "activity" => {
                format!(r#""username":"jdoe","activity":"Logon","activityTime":"{time}""#)
            }
            "startup" => format!(r#""id":1,"username":"jdoe","baselineUtc":"{time}""#),
            _ => format!(r#""username":"jdoe","createdDate":"{time}","processes":[]"#),
        };
        format!(r#"{{{members},"instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}}"#)
    });
    let case = [2, 0, 1]
        .into_iter()
        .fold(case, |case, index| case.record(record(TIMES[index])))
        .file();
    let case = [4, 3]
        .into_iter()
        .fold(case, |case, index| case.record(record(TIMES[index])));
    (case, written)
}

/// Oldest first, in pages; a token stays valid when its records are filed.
fn pages(stream: &str) -> Case {
    let (case, all) = recorded(Case::new("7 history", format!("pages of {stream}")), stream);
    let page = |query: &str, records: &[String], next: &str| {
        let next = if next.is_empty() {
            r#"null,"hasMore":false"#.to_owned()
        } else {
            format!(r#""«{next}»","hasMore":true"#)
        };
        call(&format!(
            "GET admin /operator/telemetry/{stream}?instanceId=i{query}"
        ))
        .gives(format!(
            r#"{{"records":[{}],"nextToken":{next}}}"#,
            records.join(",")
        ))
    };
    case.call(page("", &all, ""))
        .call(page("&limit=2", &all[..2], "a"))
        .call(page("&limit=2&nextToken=«a»", &all[2..4], "b"))
        .file()
        .call(page("&limit=2&nextToken=«a»", &all[2..4], "c"))
        .call(page("&limit=2&nextToken=«b»", &all[4..], ""))
        .call(page("&limit=2&nextToken=«c»", &all[4..], ""))
        .call(page("&limit=5", &all, ""))
        .call(page("&limit=4&nextToken=«a»", &all[2..], ""))
        .call(page("", &all, ""))
}

/// `from` is inclusive, `to` exclusive.
#[rustfmt::skip]
fn range(stream: &str) -> Case {
    let (mut case, all) = recorded(Case::new("7 history", format!("from and to of {stream}")), stream);
    let rows = [
        ("from=2026-11-20T08:00:00Z", 1..5), ("from=2026-11-20T08:00:00.0000001Z", 2..5), ("to=2026-11-20T08:00:00Z", 0..1),
        ("to=2026-11-20T08:00:00.0000001Z", 0..2), ("from=2026-11-20T08:00&to=2026-11-20T10:00", 1..3),
        ("FROM=2026-11-20T10:00:00%2B02:00&TO=2026-11-20T13:00:00.1%2B02:00", 1..5), ("from=2026-11-20", 0..5), ("to=2026-11-20", 0..0),
        ("from=2026-11-20T10:00&to=2026-11-20T08:00", 0..0), ("from=2026-11-20T09:00&to=2026-11-20T09:00", 0..0),
        ("from=0001-01-01&to=9999-12-31T23:59:59.9999999Z", 0..5),
    ];
    for _ in 0..2 {
        for (query, found) in &rows {
            case = case.call(history(stream, &format!("instanceId=i&{query}"), &all[found.clone()].join(",")));
        }
        case = case.file();
    }
    case
}

fn default_page() -> Case {
    let lines = "{\"startup\":{\"instanceId\":\"i\"}}\n".repeat(51);
    let item = r#"{"instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}"#;
    let first = format!(
        r#"{{"records":[{}],"nextToken":"«t»","hasMore":true}}"#,
        vec![item; 50].join(",")
    );
    let list = "GET admin /operator/telemetry/startup?instanceId=i";
    let case = Case::new("7 history", "50 to a page unless a limit is given")
        .call(post(lines).gives(r#"{"accepted":51,"rejected":0,"errors":[],"warnings":[]}"#))
        .call(call(list).gives(&*first))
        .call(history("startup", "instanceId=i&nextToken=«t»", item));
    case.file().call(call(list).gives(first)).call(history(
        "startup",
        "instanceId=i&nextToken=«t»",
        item,
    ))
}

fn parameters() -> Case {
    let mut case = Case::new("7 history", "parameters");
    for stream in ["stats", "activity", "startup", "processes"] {
        let bad = |query: &str| {
            call(&format!("GET admin /operator/telemetry/{stream}{query}"))
                .refused("InvalidParameter")
        };
        case = case
            .call(bad("").error("instanceId", "The instanceId field is required."))
            .call(bad("?limit=5").error("instanceId", "The instanceId field is required."))
            .call(
                bad("?instanceId=i&limit=0")
                    .error("limit", "The field limit must be between 1 and 500."),
            )
            .call(
                bad("?instanceId=i&limit=501")
                    .error("limit", "The field limit must be between 1 and 500."),
            )
            .call(bad("?instanceId=i&limit=x").error("limit", "The value 'x' is not valid."))
            .call(bad("?instanceId=i&from=x").error("from", "The value 'x' is not valid."))
            .call(
                bad("?instanceId=i&to=2026-11-20T08")
                    .error("to", "The value '2026-11-20T08' is not valid."),
            )
            .call(bad("?instanceId=i&from=2026-11-20T08:00:00+02:00").error(
                "from",
                "The value '2026-11-20T08:00:00 02:00' is not valid. In a query `+` is a space: write it as %2B.",
            ))
            .call(
                bad("?instanceId=i&nextToken=x")
                    .error("nextToken", "The value is not a token of this endpoint."),
            )
            .call(history(stream, "instanceId=i", ""));
    }
    case
}

/// Instances are compared exactly; the empty one stands for records without one.
fn instances() -> Case {
    let time = "2026-11-20T11:00:00Z";
    let item = |id: i32, instance: &str| {
        format!(
            r#"{{"id":{id},"updatetime":"{time}","username":"jdoe","instanceId":"{instance}","receivedAt":"2026-11-20T12:00:00Z"}}"#
        )
    };
    let bare = r#"{"id":3,"receivedAt":"2026-11-20T12:00:00Z"}"#;
    let reads = |case: Case| {
        case.call(history("stats", "instanceId=i", &item(1, "i")))
            .call(history("stats", "instanceId=I", &item(2, "I")))
            .call(history("stats", "instanceId=", bare))
            .call(history("stats", "instanceId", bare))
            .call(history("stats", "instanceId=ii", ""))
    };
    let case = Case::new("7 history", "instances")
        .record(stats("i", "jdoe", 1, time))
        .record(stats("I", "jdoe", 2, time))
        .call(call("POST - /api/Stats/Post").json(r#"{"id":3}"#));
    reads(reads(case).file())
}
