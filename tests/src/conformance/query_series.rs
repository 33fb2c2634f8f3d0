//! `GET /query/series` and `/query/startup`, and the parameters of `/query/heatmap`.

use deskfleet::{Record, StartupRecord, StatsRecord};

use super::case::{Call, Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        of_an_instance(),
        of_the_fleet(),
        steps(),
        formats(),
        groups(),
        startups(),
        wrong(),
        hostile(),
    ]
}

pub(super) fn get(query: &str) -> Call {
    call(&format!("GET read /query/{query}"))
}

/// The members after the rows.
pub(super) fn members_after_rows(warnings: &str, more: &str) -> String {
    format!(
        r#""nextToken":null,"hasMore":false,"at":"2026-11-20T12:00:00Z","warnings":[{warnings}]{more}"#
    )
}

fn page(rows: &str, warnings: &str, step: u32) -> String {
    let end = members_after_rows(warnings, &format!(r#","stepSeconds":{step}"#));
    format!(r#"{{"rows":[{rows}],{end}}}"#)
}

const HOURS: &str =
    r#""The answer is of whole hours (UTC), from 2026-11-20T10:00:00Z to 2026-11-20T12:00:00Z.""#;

pub(super) fn sample(instance: &str, time: &str, cpu: i32) -> Record {
    let record = StatsRecord {
        update_time: time.parse().ok(),
        instance_id: instance.into(),
        username: "jdoe".into(),
        processor_in_use: Some(cpu),
        physical_memory: Some(1000),
        available_physical_memory: Some(750),
        network_sent: Some(12.345),
        ..StatsRecord::default()
    };
    record.into()
}

pub(super) fn without_values(instance: &str, time: &str) -> Record {
    let record = StatsRecord {
        update_time: time.parse().ok(),
        instance_id: instance.into(),
        ..StatsRecord::default()
    };
    record.into()
}

/// Pending and filed records alike; a repetition counts once, a step without records is there.
fn of_an_instance() -> Case {
    let query = "series?instanceId=i&metrics=cpu,NetworkSent&from=2026-11-20T10:58:00Z&to=2026-11-20T11:15:00Z";
    let first = r#"{"at":"2026-11-20T10:55:00Z","count":0,"cpuMin":null,"cpuAvg":null,"cpuMax":null,"networkSentMin":null,"networkSentAvg":null,"networkSentMax":null}"#;
    let second = r#"{"at":"2026-11-20T11:00:00Z","count":2,"cpuMin":10.0,"cpuAvg":20.5,"cpuMax":31.0,"networkSentMin":12.35,"networkSentAvg":12.35,"networkSentMax":12.35}"#;
    let third = r#"{"at":"2026-11-20T11:05:00Z","count":1,"cpuMin":null,"cpuAvg":null,"cpuMax":null,"networkSentMin":null,"networkSentAvg":null,"networkSentMax":null}"#;
    let fourth = r#"{"at":"2026-11-20T11:10:00Z","count":0,"cpuMin":null,"cpuAvg":null,"cpuMax":null,"networkSentMin":null,"networkSentAvg":null,"networkSentMax":null}"#;
    let rows = page(&[first, second, third, fourth].join(","), "", 300);
    Case::new("q series", "one instance")
        .record(sample("i", "2026-11-20T11:04:59.9Z", 31))
        .record(sample("i", "2026-11-20T10:57:59Z", 90))
        .file()
        .record(sample("i", "2026-11-20T11:00:00Z", 10))
        .record(sample("i", "2026-11-20T11:04:59.9Z", 31))
        .record(without_values("i", "2026-11-20T11:05:00Z"))
        .record(sample("i", "2026-11-20T11:15:00Z", 90))
        .record(sample("j", "2026-11-20T11:10:00Z", 90))
        .call(get(query).gives(rows.clone()))
        .file()
        .call(get(query).gives(rows.clone()))
        .call(get(&format!("{query}&region=")).gives(rows))
        .call(
            get(&format!("{query}&region=x&fields=at&step=1h")).gives(page(
                r#"{"at":"2026-11-20T10:00:00Z"},{"at":"2026-11-20T11:00:00Z"}"#,
                r#""The filters are not applied: they are those of a series of the fleet.""#,
                3600,
            )),
        )
}

/// In whole hours; a short queue is filed first.
fn of_the_fleet() -> Case {
    let query = "series?from=-90m&to=2026-11-20T11:59:00Z";
    let none = r#"{"at":"2026-11-20T10:00:00Z","count":0,"cpuMin":null,"cpuAvg":null,"cpuP50":null,"cpuP95":null,"cpuMax":null,"memoryMin":null,"memoryAvg":null,"memoryP50":null,"memoryP95":null,"memoryMax":null}"#;
    let at_11 = |rest| format!(r#"{{"at":"2026-11-20T11:00:00Z",{rest}}}"#);
    let some = at_11(
        r#""count":3,"cpuMin":10.0,"cpuAvg":33.67,"cpuP50":31.03,"cpuP95":59.51,"cpuMax":60.0,"memoryMin":25.0,"memoryAvg":25.0,"memoryP50":25.0,"memoryP95":25.0,"memoryMax":25.0"#,
    );
    Case::new("q series", "the fleet")
        .record(sample("i", "2026-11-20T11:00:00Z", 31))
        .record(sample("j", "2026-11-20T11:59:30Z", 10))
        .record(sample("j", "2026-11-20T11:30:00Z", 60))
        .record(sample("j", "2026-11-20T09:59:59Z", 99))
        .call(get(query).gives(page(&format!("{none},{some}"), HOURS, 3600)))
        .call(
            get("series?from=-2h&metrics=memory,memory&fields=count,memoryP95").gives(page(
                r#"{"count":0,"memoryP95":null},{"count":3,"memoryP95":25.0}"#,
                "",
                3600,
            )),
        )
}

/// A step is raised until there are at most 500.
fn steps() -> Case {
    let count_with = |query: &str, step: u32, rows: &[u32], warning: &str| {
        let rows = rows.iter().map(|count| format!(r#"{{"count":{count}}}"#));
        let rows: Vec<_> = rows.collect();
        let page = page(&rows.join(","), warning, step);
        get(&format!("series?fields=count&{query}")).gives(page)
    };
    let count = |query: &str, step, rows: &[u32]| count_with(query, step, rows, "");
    let raised = |query: &str, step, rows: &[u32], to: &str| {
        let warning = format!(r#""The step was raised to {to}.""#);
        count_with(query, step, rows, &warning)
    };
    let points = "a series has at most 500 points";
    let noon = "2026-11-19T12:00:00Z";
    Case::new("q parameters", "step")
        .record(sample("i", "2026-11-19T13:00:00Z", 31))
        .file()
        .call(count("from=2026-11-19&to=2026-11-20&step=1d", 86_400, &[1]))
        .call(count(&format!("from={noon}&step=12h"), 43_200, &[1, 0]))
        .call(count(
            &format!("from={noon}&step=12h&instanceId=i"),
            43_200,
            &[1, 0],
        ))
        .call(raised(
            "from=-1d&step=61m",
            7200,
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "2h, as the fleet is stored by the hour",
        ))
        .call(raised(
            "from=-30d&step=1h&region=x",
            7200,
            &[0; 360],
            &format!("2h: {points}"),
        ))
        .call(raised(
            "from=-1d&step=1m&instanceId=j",
            300,
            &[0; 288],
            &format!("5m: {points}"),
        ))
        .call(raised(
            "from=-2s&step=500ms&instanceId=j",
            1,
            &[0; 2],
            "1s, the shortest there is",
        ))
        .call(count("from=-500s&step=1s&instanceId=j", 1, &[0; 500]))
        .call(raised(
            "from=-501s&step=1s&instanceId=j",
            60,
            &[0; 9],
            &format!("1m: {points}"),
        ))
        .call(
            get("series?fields=count&from=-2h&step=1m")
                .header("accept", "text/csv")
                .gives_any()
                .answers(
                    "x-warning",
                    "The step was raised to 1h, as the fleet is stored by the hour.",
                ),
        )
}

fn formats() -> Case {
    let csv = |query: &str| get(query).header("accept", "text/csv");
    Case::new("q rows", "series, startups and heatmaps as CSV and NDJSON")
        .record(sample("i", "2026-11-20T11:00:00Z", 31))
        .file()
        .call(
            csv("series?from=2026-11-20T10:30:00Z&metrics=cpu&fields=at,cpuAvg,cpuMax")
                .gives("at,cpuAvg,cpuMax\r\n2026-11-20T10:00:00Z,,\r\n2026-11-20T11:00:00Z,31.0,31.0\r\n")
                .answers("x-warning", HOURS.trim_matches('"')),
        )
        .call(
            get("series?from=-1h&metrics=cpu&fields=count,cpuMin")
                .header("accept", "application/x-ndjson")
                .gives("{\"count\":1,\"cpuMin\":31.0}\n"),
        )
        .call(csv("startup?from=-12h&fields=count,totalP99").gives("count,totalP99\r\n0,\r\n"))
        .call(csv("heatmap?fields=weekday,hour,users&of=reporting&from=-1h").gives_any())
}

/// The groups are those of the workspaces when the records were filed.
fn groups() -> Case {
    let of = |filter: &str, count: u32| {
        let query = format!("series?from=-1h&fields=count&{filter}");
        get(&query).gives(page(&format!(r#"{{"count":{count}}}"#), "", 3600))
    };
    let place = |id: &str, region: &str| deskfleet::Workspace {
        region: Some(region.into()),
        running_mode: Some("AUTO_STOP".into()),
        compute_type_name: Some("POWER".into()),
        ..desk(id, "AVAILABLE", "jdoe")
    };
    Case::new("q parameters", "filters of groups")
        .puts([place("ws-1", "eu-central-1"), place("ws-2", "us-east-1")])
        .record(sample("ws-1", "2026-11-20T11:00:00Z", 1))
        .record(sample("ws-1", "2026-11-20T11:01:00Z", 1))
        .record(sample("PC-ws-2", "2026-11-20T11:02:00Z", 1))
        .record(sample("unknown", "2026-11-20T11:03:00Z", 1))
        .file()
        .put(place("ws-1", "us-east-1"))
        .call(of("", 4))
        .call(of("region=EU-central-1", 2))
        .call(of(
            "region=us-east-1&runningMode=auto_stop&computeTypeName=power",
            1,
        ))
        .call(of("region=in.us-east-1,eu-central-1", 3))
        .call(of("region=ne.us-east-1", 3))
        .call(of("computeTypeName=ne.POWER", 1))
        .call(of("computeTypeName=VALUE", 0))
}

fn startup(instance: &str, time: &str, total: i32) -> Record {
    let record = StartupRecord {
        baseline_utc: time.parse().ok(),
        instance_id: instance.into(),
        username: "jdoe".into(),
        profile_ms: Some(10),
        group_policy_ms: Some(8),
        shell_ms: (total > 30).then_some(4),
        total_ms: Some(total),
        ..StartupRecord::default()
    };
    record.into()
}

/// The rest is known where all phases are.
fn startups() -> Case {
    let days = r#","stepSeconds":86400,"slowest":"#;
    let slow = |total: u32, second: u32| {
        format!(
            r#"{{"instanceId":"i","username":"jdoe","at":"2026-11-20T11:00:{second:02}Z","totalMs":{total}}}"#
        )
    };
    let slowest: Vec<_> = (2..12)
        .rev()
        .map(|second| slow(20 + 2 * second, second))
        .collect();
    let phases = r#""totalP50":30,"totalP90":40,"totalP95":42,"totalP99":42,"profileP50":10,"profileP90":10,"profileP95":10,"profileP99":10,"groupPolicyP50":8,"groupPolicyP90":8,"groupPolicyP95":8,"groupPolicyP99":8,"shellP50":4,"shellP90":4,"shellP95":4,"shellP99":4,"unattributedP50":14,"unattributedP90":20,"unattributedP95":20,"unattributedP99":20"#;
    let names = phases
        .split(',')
        .map(|member| member.split_once(':').map_or(member, |(name, _)| name));
    let nulls: Vec<_> = names.map(|name| format!("{name}:null")).collect();
    let nulls = nulls.join(",");
    let rows = format!(
        r#"{{"at":"2026-11-19T00:00:00Z","count":0,{nulls}}},{{"at":"2026-11-20T00:00:00Z","count":12,{phases}}}"#
    );
    let empty = format!(r#"{{"at":"2026-11-20T10:00:00Z","count":0,{nulls}}}"#);
    (0..12)
        .fold(
            Case::new("q startup", "quantiles of phases, and the slowest ten"),
            |case, second| {
                case.record(startup(
                    "i",
                    &format!("2026-11-20T11:00:{second:02}Z"),
                    20 + 2 * second,
                ))
            },
        )
        .call(get("startup?from=-2h&to=-1h&step=1s").gives(format!(
            r#"{{"rows":[{empty}],{}}}"#,
            members_after_rows(
                r#""The step was raised to 1h, as the fleet is stored by the hour.""#,
                r#","stepSeconds":3600,"slowest":[]"#
            )
        )))
        .call(get("startup?from=2026-11-19").gives(format!(
            r#"{{"rows":[{rows}],{}}}"#,
            members_after_rows("", &format!("{days}[{}]", slowest.join(",")))
        )))
        .call(
            get("startup?from=2026-11-20&region=x&fields=count").gives(format!(
                r#"{{"rows":[{{"count":0}}],{}}}"#,
                members_after_rows("", &format!("{days}[]"))
            )),
        )
}

/// Each refusal names the parameter and says what it takes.
fn wrong() -> Case {
    let all = "cpu, memory, rootVolume, userVolume, diskReads, diskWrites, networkReceived, networkSent, uptime";
    let case = ["series", "startup", "heatmap"].into_iter().fold(
        Case::new(
            "q parameters",
            "wrong values of series, startups and heatmaps",
        ),
        |case, path| {
            let key = |key: &str| call(&format!("GET {key} /query/{path}"));
            case.call(key("-").refused("InvalidApiKey"))
                .call(key("act").refused("InsufficientScope"))
                .call(key("admin").gives_any())
                .call(
                    get(&format!("{path}?from=yesterday"))
                        .refused("InvalidParameter")
                        .error_holding("from", &["yesterday", "2026-11-20T08:00:00Z", "-24h"]),
                )
                .call(
                    get(&format!("{path}?from=-1h&to=-2h"))
                        .refused("InvalidParameter")
                        .error(
                            "from",
                            "It must be before `to`, which is 2026-11-20T10:00:00Z.",
                        ),
                )
                .call(
                    get(&format!("{path}?fields=cuont"))
                        .refused("InvalidParameter")
                        .error_holding("fields", &["Did you mean 'count'?"]),
                )
        },
    );
    [
        ("series?metrics=cpu,memroy", "metrics", "There is no metric 'memroy'. Did you mean 'memory'?".to_owned()),
        ("series?instanceId=i&metrics=cpu,", "metrics", format!("There is no metric ''. Send a list of {all}, such as cpu,memory.")),
        ("series?instanceId=i&metrics=healthScore", "metrics", format!("There is no metric 'healthScore'. Send a list of {all}, such as cpu,memory.")),
        (
            "series?metrics=cpu,uptime",
            "metrics",
            "There is no series of uptime of the fleet, only of cpu, memory. With `instanceId` there is one of each metric of that instance.".to_owned(),
        ),
        ("series?metrics=cpu&fields=memoryAvg", "fields", "There is no column 'memoryAvg'. The columns are at, count, cpuMin, cpuAvg, cpuP50, cpuP95, cpuMax.".to_owned()),
        ("series?instanceId=i&metrics=cpu&fields=cpuP95", "fields", "There is no column 'cpuP95'. The columns are at, count, cpuMin, cpuAvg, cpuMax.".to_owned()),
        ("series?step=5", "step", "The value '5' is not valid. Send a duration such as 5m, 1h or 1d.".to_owned()),
        ("startup?step=0s", "step", "The value '0s' is not valid. Send a duration such as 5m, 1h or 1d.".to_owned()),
        ("startup?region=in.", "region", "Send a list of 1 to 100 values, such as region=in.A,B.".to_owned()),
        ("heatmap?of=activities", "of", "The value 'activities' is not valid. Did you mean 'activity'?".to_owned()),
        (
            "heatmap?offset=1",
            "offset",
            "The value '1' is not valid. Send the hours and minutes that the time zone is ahead of UTC, at most 14, such as +01:00, -05:30 or Z.".to_owned(),
        ),
    ]
    .into_iter()
    .fold(case, |case, (query, field, message)| {
        case.call(get(query).refused("InvalidParameter").error(field, message))
    })
}

/// What takes the most time for its length is refused, or answered in time.
fn hostile() -> Case {
    let metrics = "cpu,".repeat(1000);
    let all_times = "from=0001-01-01&to=9999-12-31T23:59:59.9999999Z";
    Case::new("q parameters", "series and startups of all times")
        .record(sample("i", "2026-11-20T11:00:00Z", 1))
        .file()
        .call(get(&format!("series?{all_times}&step=1s")).gives_any())
        .call(get(&format!("series?{all_times}&step=1s&instanceId=i")).gives_any())
        .call(get(&format!("series?{all_times}&step=9999d")).gives_any())
        .call(get(&format!("startup?{all_times}")).gives_any())
        .call(
            get(&format!(
                "series?metrics={metrics}cpu&fields=count&from=-1h"
            ))
            .gives(page(r#"{"count":1}"#, "", 3600)),
        )
}
