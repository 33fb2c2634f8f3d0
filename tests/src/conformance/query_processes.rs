//! `GET /query/processes`

use deskfleet::limits::{PROCESS_ITEMS_MAX, PROCESS_NAME_BYTES, PROCESS_NAMES_MAX};
use deskfleet::{ProcessItem, ProcessReport, Record};

use super::case::{Call, Case, call};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![sums(), sorts(), one_instance(), range(), hostile(), wrong()]
}

fn get(query: &str) -> Call {
    call(&format!("GET read /query/processes{query}"))
}

fn rows(rows: &[&str]) -> String {
    let rows = rows.join(",");
    format!(r#"{{"rows":[{rows}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}}"#)
}

fn item(name: &str, cpu: Option<f64>, memory: Option<f64>) -> ProcessItem {
    ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: cpu,
        memory_usage: memory,
        ..ProcessItem::default()
    }
}

fn report(instance: &str, time: &str, items: Vec<ProcessItem>) -> Record {
    Record::Processes(Box::new(ProcessReport {
        created_date: Some(time.parse().expect("a date-time")),
        instance_id: instance.into(),
        processes: Some(items),
        ..ProcessReport::default()
    }))
}

/// Two days of two desktops; a name that occurs twice in a report counts once.
fn desks(name: &str) -> Case {
    let item = |name, cpu, memory: i32| item(name, Some(cpu), Some(memory.into()));
    Case::new("q processes", name)
        .record(report(
            "ws-1",
            "2026-11-19T13:00:00Z",
            vec![item("chrome", 10.0, 100), item("idle", 0.0, 1)],
        ))
        .record(report(
            "ws-1",
            "2026-11-20T11:00:00Z",
            vec![
                item("chrome", 20.0, 200),
                item("chrome", 10.0, 100),
                ProcessItem::default(),
            ],
        ))
        .record(report(
            "WS-2",
            "2026-11-20T11:00:00Z",
            vec![item("chrome", 2.5, 600), item("Word", 50.0, 50)],
        ))
}

const CHROME: &str = r#"{"processName":"chrome","machines":2,"reports":3,"cpuAvg":14.17,"cpuMax":30,"memoryAvg":333.33,"memoryMax":600}"#;
const WORD: &str = r#"{"processName":"Word","machines":1,"reports":1,"cpuAvg":50,"cpuMax":50,"memoryAvg":50,"memoryMax":50}"#;
const IDLE: &str = r#"{"processName":"idle","machines":1,"reports":1,"cpuAvg":0,"cpuMax":0,"memoryAvg":1,"memoryMax":1}"#;

/// Pending and filed reports count alike, and repetitions count once.
fn sums() -> Case {
    let all = rows(&[WORD, CHROME, IDLE]);
    let again = report(
        "ws-1",
        "2026-11-19T13:00:00Z",
        vec![
            item("chrome", Some(10.0), Some(100.0)),
            item("idle", Some(0.0), Some(1.0)),
        ],
    );
    desks("sums")
        .call(get("").gives_json(all.clone()))
        .file()
        .call(get("").gives_json(all.clone()))
        .record(again)
        .call(get("").gives_json(all.clone()))
        .file()
        .call(get("").gives_json(all))
        .record(report(
            "ws-3",
            "2026-11-20T11:00:00Z",
            vec![item("quiet", None, Some(f64::MAX))],
        ))
        .call(get("?sort=processName&fields=processName,cpuAvg,cpuMax,memoryMax&limit=3").gives_json(
            r#"{"rows":[{"processName":"chrome","cpuAvg":14.17,"cpuMax":30,"memoryMax":600},{"processName":"idle","cpuAvg":0,"cpuMax":0,"memoryMax":1},{"processName":"quiet","cpuAvg":null,"cpuMax":null,"memoryMax":null}],"nextToken":"«next»","hasMore":true,"at":"«_»","warnings":[]}"#,
        ))
        .call(get("?sort=processName&fields=processName&limit=3&nextToken=«next»").gives_json(rows(&[r#"{"processName":"Word"}"#])))
}

fn sorts() -> Case {
    let name = |name: &str| format!(r#"{{"processName":"{name}"}}"#);
    [
        ("-cpu", ["Word", "chrome", "idle"]),
        ("cpu", ["idle", "chrome", "Word"]),
        ("-cpuMax", ["Word", "chrome", "idle"]),
        ("-Memory", ["chrome", "Word", "idle"]),
        ("machines,-processName", ["Word", "idle", "chrome"]),
        ("-reports,memoryAvg", ["chrome", "idle", "Word"]),
    ]
    .into_iter()
    .fold(desks("sorts"), |case, (sort, names)| {
        let names = names.map(name);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        case.call(get(&format!("?fields=processName&sort={sort}")).gives_json(rows(&names)))
    })
}

fn one_instance() -> Case {
    let chrome = r#"{"processName":"chrome","machines":1,"reports":1,"cpuAvg":2.5,"cpuMax":2.5,"memoryAvg":600,"memoryMax":600}"#;
    desks("one instance")
        .call(get("?instanceId=WS-2").gives_json(rows(&[WORD, chrome])))
        .file()
        .call(get("?instanceId=WS-2").gives_json(rows(&[WORD, chrome])))
        .call(get("?instanceId=none").gives_json(rows(&[])))
        .call(get("?instanceId=").gives_json(rows(&[WORD, CHROME, IDLE])))
}

fn range() -> Case {
    desks("from and to")
        .file()
        .call(
            get("?from=2026-11-19T13:00:01Z&fields=processName").gives_json(rows(&[
                r#"{"processName":"Word"}"#,
                r#"{"processName":"chrome"}"#,
            ])),
        )
        .call(
            get("?to=2026-11-20T11:00:00Z&fields=processName").gives_json(rows(&[
                r#"{"processName":"chrome"}"#,
                r#"{"processName":"idle"}"#,
            ])),
        )
        .call(get("?from=-10m").gives_json(rows(&[])))
}

/// More names than are added up, and long ones.
fn hostile() -> Case {
    let reports = PROCESS_NAMES_MAX.div_ceil(PROCESS_ITEMS_MAX) + 1;
    let many = (0..reports).fold(Case::new("q processes", "hostile names"), |case, number| {
        let items = (0..PROCESS_ITEMS_MAX)
            .map(|item_number| item(&format!("{number}-{item_number}"), Some(1.0), None));
        let time = format!("2026-11-20T11:{number:02}:00Z");
        case.record(report("ws-1", &time, items.collect()))
    });
    let left_out = reports * PROCESS_ITEMS_MAX - PROCESS_NAMES_MAX;
    let long = |end: &str| item(&format!("=\"{}{end}", "x".repeat(32_000)), Some(1.0), None);
    let begin = format!(r#"=\"{}"#, "x".repeat(PROCESS_NAME_BYTES - 2));
    let warned = format!(
        r#"{{"rows":[{{"reports":1}}],"nextToken":"«_»","hasMore":true,"at":"«_»","warnings":["There are more than {PROCESS_NAMES_MAX} names of processes: {left_out} items of others are left out."]}}"#
    );
    many.call(get("?fields=reports&limit=1").gives_json(warned))
        .file()
        .record(report("ws-2", "2026-11-20T11:00:00Z", vec![long("a"), long("b")]))
        .call(get("?instanceId=ws-2").gives_json(rows(&[&format!(
            r#"{{"processName":"{begin}","machines":1,"reports":1,"cpuAvg":2,"cpuMax":2,"memoryAvg":null,"memoryMax":null}}"#
        )])))
}

fn wrong() -> Case {
    let bad = |query: &str| get(query).refused("InvalidParameter");
    Case::new("q processes", "wrong parameters")
        .call(bad("?sort=cpux").error_holding("sort", &["There is no column 'cpux'"]))
        .call(bad("?from=yesterday").error_holding("from", &["-24h"]))
        .call(bad("?limit=501"))
        .call(bad("?nextToken=AAAA"))
        .call(call("GET act /query/processes").refused("InsufficientScope"))
}
