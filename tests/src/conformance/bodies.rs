//! What the Stats endpoints read: content types, JSON, names, duplicates, depth, date-times, sizes.

use super::case::{Call, Case, call};
use super::fields::{Posted, RECORDS};

/// Content types that are read.
const TYPES: [&str; 12] = [
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "application/json; charset=\"utf-8\"",
    "application/json ; Charset=Utf-8",
    "APPLICATION/JSON",
    "text/json",
    "Text/Json; charset=utf-8",
    "application/vnd.agent+json",
    "application/problem+json; charset=utf-8",
    "application/json; odata=verbose",
    "application/json; charset=utf-8; profile=\"x;y\"",
];

/// Content types that are not read; empty for none.
const OTHER_TYPES: [&str; 14] = [
    "",
    "text/plain",
    "application/xml",
    "application/octet-stream",
    "application/x-www-form-urlencoded",
    "application/x-ndjson",
    "application/jsonx",
    "application/xjson",
    "text/vnd.agent+json",
    "json",
    "application/json; charset=utf-16",
    "application/json; charset=iso-8859-1",
    "text/json; charset=latin1",
    "*/*",
];

/// Bodies that are no JSON object; the last word is the expected field of the error.
const NO_OBJECTS: [&[u8]; 27] = [
    b"",
    b" ",
    b"null",
    b"true",
    b"0",
    b"\"x\"",
    b"[]",
    b"[{}]",
    b"{",
    b"}",
    b"{}}",
    b"{}{}",
    b"{} x",
    b"{,}",
    b"{\"id\"}",
    b"{\"id\":}",
    b"{\"id\":1,}",
    b"{id:1}",
    b"{'id':1}",
    b"{\"id\":1 \"x\":2}",
    b"{\"id\":01}",
    b"{\"id\":+1}",
    b"{\"x\":NaN}",
    b"{\"x\":Infinity}",
    b"{\"x\":\"\xff\"}",
    b"// c\n{}",
    b"{\"x\":\"\xc3\"}",
];

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for record in &RECORDS {
        cases.push(content_types(record));
        cases.push(no_json(record));
        cases.push(spaces_and_marks(record));
        cases.push(names(record));
        cases.push(duplicates(record));
        cases.push(depth(record));
        cases.push(date_times(record));
        cases.push(sizes(record));
    }
    cases.push(positions());
    cases.push(item_counts());
    cases.push(item_names());
    cases.push(configured_sizes());
    cases
}

fn post(record: &Posted, body: impl Into<Vec<u8>>) -> Call {
    call(&format!("POST - {}", record.path)).json(body)
}

fn content_types(record: &Posted) -> Case {
    let typed =
        |content_type: &str| call(&format!("POST - {}", record.path)).body(content_type, "{}");
    let case = Case::new("1 Stats content type", record.path);
    let case = TYPES.iter().fold(case, |case, good| case.call(typed(good)));
    OTHER_TYPES.iter().fold(case, |case, bad| {
        case.call(typed(bad).refused("UnsupportedMediaType"))
    })
}

fn no_json(record: &Posted) -> Case {
    let case = Case::new("i Stats", format!("{} takes one JSON object", record.path));
    NO_OBJECTS
        .iter()
        .fold(case, |case, bad| {
            case.call(post(record, *bad).refused("InvalidBody"))
        })
        .call(post(record, r#"{"username":"\ud800x"}"#).refused("InvalidBody"))
        .call(post(record, r#"{"instanceId":"\udc00"}"#).refused("InvalidBody"))
        .call(post(record, "{\"x\":\"\n\"}").refused("InvalidBody"))
        .call(post(record, "\u{feff}\u{feff}{}").refused("InvalidBody"))
        .call(call("GET - /api/Stats/queue/count").gives("0"))
}

fn spaces_and_marks(record: &Posted) -> Case {
    let case = Case::new(
        "i Stats",
        format!("{}: spaces and a byte order mark", record.path),
    );
    [
        " {} ",
        "\r\n{\t}\n",
        "\u{feff}{}",
        "\u{feff} {\"x\" : [ 1 , 2 ] }",
    ]
    .into_iter()
    .fold(case, |case, good| case.call(post(record, good)))
    .call(call("GET - /api/Stats/queue/count").gives("4"))
}

/// camelCase as documented, any other case, escaped; unknown names are ignored.
fn names(record: &Posted) -> Case {
    let time = record.time;
    let (upper, lower) = (time.to_uppercase(), time.to_lowercase());
    let pascal = format!("{}{}", &upper[..1], &time[1..]);
    let escaped = format!("\\u{:04x}{}", u32::from(time.as_bytes()[0]), &time[1..]);
    let spellings = [time, &upper, &lower, &pascal, &escaped];
    let mut case = Case::new("1 JSON property names", record.path);
    for (index, name) in spellings.into_iter().enumerate() {
        let body = format!(
            r#"{{"InstanceID":"i-{index}","unknown":{{"id":[1,2,{{}}]}},"{name}":"2026-11-20"}}"#
        );
        let answer = format!(
            r#"{{"records":[{{"{time}":"2026-11-20T00:00:00Z","instanceId":"i-{index}","receivedAt":"2026-11-20T12:00:00Z"}}],"nextToken":null,"hasMore":false}}"#
        );
        let read = format!(
            "GET admin /operator/telemetry/{}?instanceId=i-{index}",
            record.history
        );
        case = case
            .call(post(record, body))
            .call(call(&read).gives(answer));
    }
    case
}

fn duplicates(record: &Posted) -> Case {
    let case = Case::new(
        "1 JSON property names",
        format!("{}: given twice", record.path),
    );
    [
        r#"{"instanceId":"a","instanceId":"a"}"#,
        r#"{"instanceId":"a","InstanceId":"b"}"#,
        r#"{"instanceId":null,"username":"x","INSTANCEID":null}"#,
        r#"{"instanceId":"a","\u0069nstanceId":"a"}"#,
        r#"{"unknown":1,"unknown":1}"#,
    ]
    .into_iter()
    .fold(case, |case, bad| {
        case.call(post(record, bad).refused("InvalidBody"))
    })
    .call(post(record, r#"{"unknown":{"a":1,"a":2}}"#))
}

/// The body is level 1; 32 levels are read, 33 are not, in any property.
fn depth(record: &Posted) -> Case {
    let arrays = |levels: usize| {
        format!(
            r#"{{"x":{}{}}}"#,
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    };
    let objects = |levels: usize| format!("{}1{}", r#"{"x":"#.repeat(levels), "}".repeat(levels));
    Case::new("1 JSON values", format!("{}: depth", record.path))
        .call(post(record, arrays(32)))
        .call(post(record, objects(32)))
        .call(post(record, arrays(33)).refused("InvalidBody"))
        .call(post(record, objects(33)).refused("InvalidBody"))
        .call(post(record, arrays(5000)).refused("InvalidBody"))
}

#[rustfmt::skip]
fn date_times(record: &Posted) -> Case {
    let body = |text: &str, instance: usize| format!(r#"{{"{}":"{text}","instanceId":"i-{instance}"}}"#, record.time);
    let mut case = Case::new("1 date-time", record.path);
    for (index, (sent, back)) in [
        ("2026-11-20",                              "2026-11-20T00:00:00Z"),
        ("2026-11-20T08:01",                        "2026-11-20T08:01:00Z"),
        ("2026-11-20T08:01Z",                       "2026-11-20T08:01:00Z"),
        ("2026-11-20T08:01+02:30",                  "2026-11-20T05:31:00Z"),
        ("2026-11-20T08:01:02",                     "2026-11-20T08:01:02Z"),
        ("2026-11-20T08:01:02Z",                    "2026-11-20T08:01:02Z"),
        ("2026-11-20T08:01:02-14:00",               "2026-11-20T22:01:02Z"),
        ("2026-11-20T08:01:02+00:00",               "2026-11-20T08:01:02Z"),
        ("2026-11-20T08:01:02.5",                   "2026-11-20T08:01:02.5Z"),
        ("2026-11-20T08:01:02.1000000Z",            "2026-11-20T08:01:02.1Z"),
        ("2026-11-20T08:01:02.1234567Z",            "2026-11-20T08:01:02.1234567Z"),
        ("2026-11-20T08:01:02.12345678Z",           "2026-11-20T08:01:02.1234567Z"),
        ("2026-11-20T08:01:02.9999999999999999Z",   "2026-11-20T08:01:02.9999999Z"),
        ("2026-11-20T08:01:02.0000000Z",            "2026-11-20T08:01:02Z"),
        ("2026-11-20T08:01:02.25+01:00",            "2026-11-20T07:01:02.25Z"),
        ("2028-02-29",                              "2028-02-29T00:00:00Z"),
        ("0001-01-01T00:00:00Z",                    "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.9999999Z",            "9999-12-31T23:59:59.9999999Z"),
    ].into_iter().enumerate() {
        let read = format!("GET admin /operator/telemetry/{}?instanceId=i-{index}", record.history);
        let answer = format!(
            r#"{{"records":[{{"{}":"{back}","instanceId":"i-{index}","receivedAt":"2026-11-20T12:00:00Z"}}],"nextToken":null,"hasMore":false}}"#,
            record.time
        );
        case = case.call(post(record, body(sent, index))).call(call(&read).gives(answer));
    }
    for bad in [
        "2026", "2026-11", "26-11-20", "2026-1-20", "2026-11-2", "2026-13-01", "2026-00-10", "2026-11-31", "2026-02-29",
        "2026-11-20Z", "2026-11-20+01:00", "2026-11-20T", "2026-11-20T08", "2026-11-20T08Z", "2026-11-20t08:01",
        "2026-11-20T08:01z", "2026-11-20 08:01", "2026-11-20T24:00", "2026-11-20T08:60", "2026-11-20T08:01:60",
        "2026-11-20T08:01:02.", "2026-11-20T08:01:02.12345678901234567", "2026-11-20T08:01:02,5", "2026-11-20T08:01.5",
        "2026-11-20T08:01:02+0100", "2026-11-20T08:01:02+1:00", "2026-11-20T08:01:02+01", "2026-11-20T08:01:02+14:01",
        "2026-11-20T08:01:02+01:60", "2026-11-20T08:01:02 Z", " 2026-11-20", "2026-11-20 ", "+2026-11-20", "12026-11-20",
        "0000-01-01", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "20261120T080102Z", "2026-324",
        "Fri, 20 Nov 2026 08:01:02 GMT", "/Date(1763640000000)/",
    ] {
        let call = post(record, body(bad, 0)).refused("InvalidBody");
        case = case.call(call.error_holding(&format!("$.{}", record.time), &["line 1", "byte "]));
    }
    case
}

/// 64 KiB for one record, 1 MiB for a process report: the last size that is accepted, and the first that is not.
fn sizes(record: &Posted) -> Case {
    let max = if record.history == "processes" {
        1024 * 1024
    } else {
        64 * 1024
    };
    let padded = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    Case::new("1 body size", record.path)
        .call(post(record, padded(max)))
        .call(post(record, padded(max + 1)).refused("PayloadTooLarge"))
        .call(post(record, "x".repeat(max + 1)).refused("PayloadTooLarge"))
        .call(call("GET - /api/Stats/queue/count").gives("1"))
}

/// The message names the line.
fn positions() -> Case {
    let at = |body: &str, field: &str, line: &str| {
        post(&RECORDS[0], body)
            .refused("InvalidBody")
            .error_holding(field, &[line, "byte "])
    };
    Case::new("2 400", "JSON errors say where")
        .call(at(r#"{"id":"x"}"#, "$.id", "line 1,"))
        .call(at("{\n\n\"id\":\"x\"}", "$.id", "line 3,"))
        .call(at(
            "{\r\n\"username\":\"x\",\r\n\"uptime\":true\r\n}",
            "$.uptime",
            "line 3,",
        ))
        .call(at("{\"id\":1.5,\"processorCount\":1.5}", "$.id", "line 1,"))
        .call(at("[]", "$", "line 1,"))
        .call(at("", "$", "line 1,"))
}

fn item_counts() -> Case {
    let report = |items: usize| format!(r#"{{"processes":[{}]}}"#, vec!["{}"; items].join(","));
    Case::new("6 process items", "4096 items, not one more")
        .call(post(&RECORDS[3], report(4096)))
        .call(
            post(&RECORDS[3], report(4097))
                .refused("InvalidBody")
                .error_holding("$.processes", &[]),
        )
        .call(call("GET - /api/Stats/queue/count").gives("1"))
}

/// The items of a report are read like the record around them.
fn item_names() -> Case {
    let report = |item: &str| {
        post(
            &RECORDS[3],
            format!(r#"{{"instanceId":"i","processes":[{item}]}}"#),
        )
    };
    let answer = r#"{"records":[{"processes":[{"processName":"a","processCount":2}],"instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}],"nextToken":null,"hasMore":false}"#;
    Case::new("1 JSON property names", "process items")
        .call(report(r#"{"processName":"a","processName":"a"}"#).refused("InvalidBody"))
        .call(report(r#"{"processName":"a","ProcessName":"b"}"#).refused("InvalidBody"))
        .call(report(
            r#"{"ProcessName":"a","unknown":{"x":[]},"PROCESSCOUNT":2}"#,
        ))
        .call(call("GET admin /operator/telemetry/processes?instanceId=i").gives(answer))
}

fn configured_sizes() -> Case {
    let exactly = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
    Case::new("1 body size", "the limits are the host's to set")
        .config(|config| {
            config.limits.record_body_bytes = 10;
            config.limits.processes_body_bytes = 20;
            config.limits.batch_body_bytes = 30;
        })
        .call(post(&RECORDS[0], exactly(10)))
        .call(post(&RECORDS[0], exactly(11)).refused("PayloadTooLarge"))
        .call(post(&RECORDS[3], exactly(20)))
        .call(post(&RECORDS[3], exactly(21)).refused("PayloadTooLarge"))
        .call(
            call("POST admin /operator/telemetry")
                .body("application/x-ndjson", "\n".repeat(31))
                .refused("PayloadTooLarge"),
        )
        .call(
            call("POST admin /operator/workspaces")
                .body("application/x-ndjson", "\n".repeat(31))
                .gives_any(),
        )
        .call(
            call("PUT admin /operator/workspaces/ws-1")
                .json(exactly(11))
                .refused("PayloadTooLarge"),
        )
        .call(
            call("POST admin /operator/keys")
                .json(exactly(11))
                .refused("PayloadTooLarge"),
        )
}
