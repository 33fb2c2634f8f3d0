//! Every field of the four posted records: the values it accepts and returns, and those it refuses.

use super::case::{Call, Case, call};

/// The JSON type of a field, from the interface document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int32,
    Int64,
    Float,
    Double,
    Text,
    /// A text with a maximum length, and its name in the refusal.
    Bounded(usize, &'static str),
    Time,
    Items,
}

use Kind::{Bounded, Double, Float, Int32, Int64, Items, Text, Time};

/// A record type: its row, its paths to post and to read, its fields with kind and nullability.
pub(super) struct Posted {
    pub(super) row: &'static str,
    pub(super) path: &'static str,
    pub(super) history: &'static str,
    pub(super) time: &'static str,
    pub(super) fields: &'static [(&'static str, Kind, bool)],
}

/// The tables of the interface document.
#[rustfmt::skip]
pub(super) const RECORDS: [Posted; 4] = [
    Posted { row: "i Stats record", path: "/api/Stats/Post", history: "stats", time: "updatetime", fields: &[
        ("id", Int32, false), ("computeTypeName", Bounded(25, "ComputeTypeName"), true), ("updatetime", Time, false),
        ("username", Bounded(50, "Username"), true), ("processorCount", Int32, false), ("processorInUse", Int32, false),
        ("physicalMemory", Int64, false), ("availablePhysicalMemory", Int64, false), ("virtualMemory", Int64, false),
        ("availableVirtualMemory", Int64, false), ("memoryInUse", Int64, false), ("rootTotal", Int64, false),
        ("rootAvailable", Int64, false), ("userTotal", Int64, false), ("userAvailable", Int64, false),
        ("diskReads", Float, false), ("diskWrites", Float, false), ("networkReceived", Float, false),
        ("networkSent", Float, false), ("uptime", Double, true), ("osVersion", Bounded(20, "OsVersion"), true),
        ("tenantId", Text, true), ("instanceId", Bounded(50, "InstanceId"), true),
    ] },
    Posted { row: "i Activity record", path: "/api/Stats/PostActivity", history: "activity", time: "activityTime", fields: &[
        ("id", Int32, false), ("computeTypeName", Bounded(25, "ComputeTypeName"), true),
        ("username", Bounded(50, "Username"), true), ("activity", Text, true), ("activityTime", Time, false),
        ("instanceId", Bounded(50, "InstanceId"), true), ("tenantId", Text, true),
    ] },
    Posted { row: "i Startup metrics record", path: "/api/Stats/PostStartupMetrics", history: "startup", time: "baselineUtc", fields: &[
        ("id", Int32, false), ("computeTypeName", Text, true), ("username", Text, true), ("baselineUtc", Time, false),
        ("profileMs", Int32, false), ("groupPolicyMs", Int32, false), ("shellMs", Int32, false), ("totalMs", Int32, false),
        ("instanceId", Text, true),
    ] },
    Posted { row: "i Process report", path: "/api/Stats/PostProcesses", history: "processes", time: "createdDate", fields: &[
        ("computeTypeName", Text, true), ("username", Text, true), ("createdDate", Time, false),
        ("processes", Items, false), ("instanceId", Text, true),
    ] },
];

/// The process item; none of its fields is documented as nullable.
#[rustfmt::skip]
const ITEM: [(&str, Kind); 5] = [
    ("processName", Text), ("processorUsage", Double), ("memoryUsage", Double), ("processCount", Int64), ("username", Text),
];

/// JSON that a kind accepts, with the returned JSON if that differs.
fn good(kind: Kind) -> Vec<(String, String)> {
    let same = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| ((*text).to_owned(), (*text).to_owned()))
            .collect::<Vec<_>>()
    };
    match kind {
        Int32 => [
            same(&["0", "1", "-1", "2147483647", "-2147483648"]),
            with_zeros(&["7", "-2147483648"]),
        ]
        .concat(),
        Int64 => [
            same(&[
                "0",
                "-1",
                "9007199254740993",
                "9223372036854775807",
                "-9223372036854775808",
            ]),
            with_zeros(&["4294967296", "9223372036854775807"]),
        ]
        .concat(),
        Float => same(&[
            "0",
            "1",
            "-1.5",
            "0.25",
            "1e2",
            "16777216",
            "-3.4028235e38",
            "1e-45",
        ]),
        Double => same(&["0", "-2.5", "0.1", "1e308", "5e-324", "123456789.123"]),
        Text => same(&[r#""""#, r#""x""#, r#""\"\\é🖥""#, r#""null""#])
            .into_iter()
            .chain([long_text(300)])
            .collect(),
        Bounded(max, _) => {
            let full = |letter: &str| format!("{:?}", letter.repeat(max));
            ["x", "é", "🖥"]
                .map(|letter| (full(letter), full(letter)))
                .into_iter()
                .chain(same(&[r#""""#]))
                .collect()
        }
        Time => vec![(
            "\"2026-11-20T10:00:00+02:00\"".to_owned(),
            "\"2026-11-20T08:00:00Z\"".to_owned(),
        )],
        Items => same(&["[]", "[{}]", r#"[{"processName":"a"},{"processName":"a"}]"#]),
    }
}

/// Integers with a fraction of zeros, as PowerShell 5.1 writes large ones.
fn with_zeros(integers: &[&str]) -> Vec<(String, String)> {
    let zeros = [".0", ".000000000000000000000"];
    let each = integers.iter().flat_map(|integer| {
        zeros.map(|zeros| (format!("{integer}{zeros}"), (*integer).to_owned()))
    });
    each.collect()
}

fn long_text(length: usize) -> (String, String) {
    let text = format!("{:?}", "z".repeat(length));
    (text.clone(), text)
}

/// JSON that a kind refuses, besides `null` if the table forbids it.
fn bad(kind: Kind) -> &'static [&'static str] {
    match kind {
        Int32 => &[
            "2147483648",
            "-2147483649",
            "2147483648.0",
            "1.5",
            "1.01",
            "1e2",
            "1E0",
            "\"1\"",
            "\"\"",
            "true",
            "[]",
            "{}",
            "[1]",
            "99999999999999999999",
        ],
        Int64 => &[
            "9223372036854775808",
            "-9223372036854775809",
            "9223372036854775808.0",
            "1.0e0",
            "0.5",
            "1e2",
            "\"1\"",
            "false",
            "[]",
            "{}",
            "1e400",
        ],
        Float => &[
            "3.5e38", "-3.5e38", "1e39", "1e400", "\"1\"", "\"NaN\"", "true", "[]", "{}",
        ],
        Double => &[
            "1e309",
            "-1e309",
            "\"1.5\"",
            "\"Infinity\"",
            "true",
            "[]",
            "{}",
        ],
        Text | Bounded(..) => &["0", "1.5", "true", "[]", "{}", "[\"x\"]"],
        Time => &[
            "0",
            "1763640000",
            "true",
            "[]",
            "{}",
            "\"\"",
            "\"now\"",
            "\"2026-11-20T24:00:00Z\"",
        ],
        Items => &[
            "0", "\"[]\"", "true", "{}", "[0]", "[null]", "[\"x\"]", "[[]]",
        ],
    }
}

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for record in &RECORDS {
        for (name, kind, nullable) in record.fields {
            cases.push(taken(record, name, *kind, *nullable));
            cases.push(refused(record, name, *kind, *nullable));
        }
        cases.push(empty_record(record));
        cases.push(all_lengths_at_once(record));
    }
    for (name, kind) in ITEM {
        cases.push(item_field(name, kind));
    }
    cases.push(whole_stats());
    cases.push(nearest_single());
    cases
}

fn post(record: &Posted, body: &str) -> Call {
    call(&format!("POST - {}", record.path)).json(body)
}

/// The history of an instance; the expected records go between the brackets.
fn history(record: &Posted, instance: &str, records: &str) -> Call {
    call(&format!(
        "GET admin /operator/telemetry/{}?instanceId={instance}",
        record.history
    ))
    .gives_json(format!(
        r#"{{"records":[{records}],"nextToken":null,"hasMore":false}}"#
    ))
}

/// Each good value is stored and returned, before and after filing.
fn taken(record: &Posted, name: &str, kind: Kind, nullable: bool) -> Case {
    let mut values = good(kind);
    if nullable {
        values.push(("null".to_owned(), "null".to_owned()));
    }
    let mut case = Case::new(
        record.row,
        format!("{name} takes what it is documented to take"),
    );
    let mut reads = Vec::new();
    for (index, (sent, back)) in values.into_iter().enumerate() {
        if name == "instanceId" {
            case = case.call(post(record, &format!(r#"{{"instanceId":{sent}}}"#)));
            continue;
        }
        let instance = format!("i-{index}");
        case = case.call(post(
            record,
            &format!(r#"{{"{name}":{sent},"instanceId":"{instance}"}}"#),
        ));
        let text = format!(
            r#"{{"{name}":{back},"instanceId":"{instance}","receivedAt":"2026-11-20T12:00:00Z"}}"#
        );
        reads.push(history(record, &instance, &text));
    }
    let before = reads.clone().into_iter().fold(case, Case::call);
    reads.into_iter().fold(before.file(), Case::call)
}

fn refused(record: &Posted, name: &str, kind: Kind, nullable: bool) -> Case {
    let mut case = Case::new(
        "1 JSON values",
        format!("{} refuses of {name}", record.path),
    );
    for bad in bad(kind)
        .iter()
        .chain(if nullable { &[] as &[&str] } else { &["null"] })
    {
        let call = post(record, &format!(r#"{{"{name}":{bad}}}"#)).refused("InvalidBody");
        let inside = bad.starts_with('[') && kind == Items;
        case = case.call(if inside {
            call
        } else {
            call.error_holding(&format!("$.{name}"), &["line 1", "byte "])
        });
    }
    if let Bounded(max, pascal) = kind {
        let message =
            format!("The field {pascal} must be a string with a maximum length of {max}.");
        for letter in ["x", "é", "🖥", "\\u00e9", "\\ud83d\\udda5"] {
            let fits = format!(r#"{{"{name}":"{}"}}"#, letter.repeat(max));
            let long = format!(r#"{{"{name}":"{}"}}"#, letter.repeat(max + 1));
            case = case.call(post(record, &fits)).call(
                post(record, &long)
                    .refused("InvalidBody")
                    .error(pascal, &*message),
            );
        }
    }
    case
}

fn empty_record(record: &Posted) -> Case {
    let answer = r#"{"receivedAt":"2026-11-20T12:00:00Z"}"#;
    Case::new(
        "1 absent fields",
        format!("nothing sent to {}", record.path),
    )
    .call(post(record, "{}"))
    .call(history(record, "", answer))
    .file()
    .call(history(record, "", answer))
}

/// All lengths are reported together; a field without a documented length has none.
fn all_lengths_at_once(record: &Posted) -> Case {
    let mut members = Vec::new();
    let mut errors = Vec::new();
    for (name, kind, _) in record.fields {
        match kind {
            Bounded(max, pascal) => {
                members.push(format!("\"{name}\":\"{}\"", "x".repeat(max + 1)));
                errors.push((
                    *pascal,
                    format!("The field {pascal} must be a string with a maximum length of {max}."),
                ));
            }
            Text => members.push(format!("\"{name}\":\"{}\"", "x".repeat(1000))),
            Int32 | Int64 | Float | Double | Time | Items => {}
        }
    }
    let call = post(record, &format!("{{{}}}", members.join(",")));
    let call = if errors.is_empty() {
        call
    } else {
        call.refused("InvalidBody")
    };
    let call = errors
        .into_iter()
        .fold(call, |call, (pascal, message)| call.error(pascal, message));
    Case::new(
        "1 max length",
        format!("all fields of {} too long", record.path),
    )
    .call(call)
}

fn item_field(name: &str, kind: Kind) -> Case {
    let record = &RECORDS[3];
    let of =
        |value: &str| format!(r#"{{"instanceId":"i","processes":[{{}},{{"{name}":{value}}}]}}"#);
    let mut case = Case::new("i Process report", format!("process item field {name}"));
    for (sent, back) in good(kind) {
        let instance = format!("i-{}", case.steps.len());
        case = case.call(post(
            record,
            &of(&sent).replace("\"i\"", &format!("{instance:?}")),
        ));
        let text = of(&back)
            .replace("\"i\"", &format!("{instance:?}"))
            .replacen('{', r#"{"receivedAt":"2026-11-20T12:00:00Z","#, 1);
        case = case
            .call(history(record, &instance, &text))
            .file()
            .call(history(record, &instance, &text));
    }
    for bad in bad(kind).iter().chain(&["null"]) {
        let call = post(record, &of(bad)).refused("InvalidBody");
        case =
            case.call(call.error_holding(&format!("$.processes[1].{name}"), &["line 1", "byte "]));
    }
    case
}

/// A whole record, member by member in the order of the document.
fn whole_stats() -> Case {
    let body = r#"{"id":1,"computeTypeName":"STANDARD","updatetime":"2026-11-20T11:00:00.25Z","username":"CORP\\jdoe","processorCount":4,"processorInUse":101,"physicalMemory":17179869184,"availablePhysicalMemory":-1,"virtualMemory":4,"availableVirtualMemory":3,"memoryInUse":2,"rootTotal":85899345920,"rootAvailable":1,"userTotal":53687091200,"userAvailable":0,"diskReads":1.5,"diskWrites":0.25,"networkReceived":1024.5,"networkSent":-2.5,"uptime":86400.5,"osVersion":"10.0.20348","tenantId":"t-1","instanceId":"ws-1"}"#;
    let answer = format!(
        r#"{{"records":[{},"receivedAt":"2026-11-20T12:00:00Z"}}],"nextToken":null,"hasMore":false}}"#,
        body.trim_end_matches('}')
    );
    let read = || call("GET admin /operator/telemetry/stats?instanceId=ws-1").gives(&*answer);
    Case::new(
        "6 units",
        "a whole record with odd values comes back as sent, byte for byte",
    )
    .call(post(&RECORDS[0], body))
    .call(read())
    .file()
    .call(read())
}

/// `number, float` is IEEE single: the nearest single is returned, in its shortest form.
fn nearest_single() -> Case {
    let body = r#"{"updatetime":"2026-11-20T11:00:00Z","diskReads":0.1,"diskWrites":16777217,"networkReceived":3.14159265358979,"networkSent":1e-50,"instanceId":"i"}"#;
    let answer = r#"{"updatetime":"2026-11-20T11:00:00Z","diskReads":0.1,"diskWrites":16777216,"networkReceived":3.1415927,"networkSent":0,"instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}"#;
    Case::new("1 JSON values", "a float comes back as the nearest single")
        .call(post(&RECORDS[0], body))
        .call(history(&RECORDS[0], "i", answer))
        .file()
        .call(history(&RECORDS[0], "i", answer))
}
