//! `GET /query/advice`

use deskfleet::{ActivityRecord, Record, StatsRecord, Timestamp, Workspace};

use super::case::{Call, Case, NOW, call};
use super::fixtures::{desk, workspace};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        idle(),
        cost(),
        prices(),
        totals(),
        overloaded(),
        oversized(),
        instances(),
        sessions(),
        new_desktops(),
        pages(),
        window(),
        wrong(),
    ]
}

fn get(query: &str) -> Call {
    call(&format!("GET read /query/advice{query}"))
}

const END: &str = r#""nextToken":null,"hasMore":false,"at":"«_»","warnings":["The answer is of whole days (UTC), from 2026-10-21T00:00:00Z to 2026-11-21T00:00:00Z."]"#;

/// The rows of the default window.
fn rows(rows: &[&str]) -> String {
    format!(r#"{{"rows":[{}],{END}}}"#, rows.join(","))
}

/// The newest `days` days, each with a sample at these hours, of cpu and memory in use in percent.
fn samples(
    case: Case,
    (instance, username): (&str, &str),
    (days, hours): (i64, std::ops::Range<i64>),
    (cpu, memory): (i32, i64),
) -> Case {
    let midnight: Timestamp = "2026-11-20T00:00:00Z".parse().expect("a date-time");
    let places = (0..days).flat_map(|day| hours.clone().map(move |hour| (day, hour)));
    let case = places.fold(case, |case, (day, hour)| {
        let record = StatsRecord {
            update_time: Some(midnight.plus_seconds(3600 * hour - 86_400 * day)),
            instance_id: instance.into(),
            username: username.into(),
            processor_in_use: Some(cpu),
            physical_memory: Some(100),
            available_physical_memory: Some(100 - memory),
            ..StatsRecord::default()
        };
        case.record(Record::Stats(Box::new(record)))
    });
    case.file()
}

/// Workspaces that the inventory has had for a week.
fn known(name: &'static str, workspaces: impl IntoIterator<Item = Workspace>) -> Case {
    let case = Case::new("q advice", name).set_time("2026-11-13T12:00:00Z");
    let case = workspaces.into_iter().fold(case, Case::put);
    case.set_time(NOW)
}

fn mode(id: &str, mode: &str) -> Workspace {
    Workspace {
        running_mode: Some(mode.into()),
        ..desk(id, "AVAILABLE", "jdoe")
    }
}

fn idle() -> Case {
    let case = known(
        "idle",
        [
            desk("ws-1", "STOPPED", "jdoe"),
            workspace("ws-2"),
            workspace("ws-3"),
            desk("ws-4", "TERMINATED", "jdoe"),
            desk("ws-5", "AVAILABLE", "jdoe"),
        ],
    );
    let case = samples(case, ("ws-2", ""), (3, 8..10), (50, 50));
    samples(case, ("WS-3", "asmith"), (1, 8..10), (50, 50))
        .call(get("?q=ws-1").gives_json(rows(&[r#"{"workSpId":"ws-1","username":"jdoe","advice":"idle","hours":null,"limitHours":85,"evidence":"No telemetry.","estimate":true,"savingPerMonth":null}"#])))
        .call(get("?fields=workSpId,hours,limitHours,evidence").gives_json(rows(&[
            r#"{"workSpId":"ws-1","hours":null,"limitHours":85,"evidence":"No telemetry."}"#,
            r#"{"workSpId":"ws-2","hours":0,"limitHours":null,"evidence":"It reported on 3 days, and no record named a user."}"#,
            r#"{"workSpId":"ws-5","hours":null,"limitHours":85,"evidence":"No telemetry."}"#,
        ])))
        .call(get("?workSpId=in.ws-2,ws-1,ws-3&fields=workSpId").gives_json(rows(&[r#"{"workSpId":"ws-1"}"#, r#"{"workSpId":"ws-2"}"#])))
        .call(get("?from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z&fields=evidence&q=ws-3").gives_json(
            r#"{"rows":[{"evidence":"It did not report in this time."}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
}

/// A session of 7.5 days, the rounding and the timeout of which have not passed yet, or 7 of an hour and its timeout.
fn cost() -> Case {
    let case = Case::new("q advice", "the cheaper running mode")
        .put(mode("ws-1", "AUTO_STOP"))
        .put(mode("ws-2", "ALWAYS_ON"))
        .put(mode("ws-3", "ALWAYS_ON"))
        .put(mode("ws-4", "AUTO_STOP"));
    let case = samples(case, ("ws-1", "jdoe"), (8, 0..24), (50, 50));
    let case = samples(case, ("ws-2", "jdoe"), (7, 8..9), (50, 50));
    let case = samples(case, ("ws-3", "jdoe"), (6, 8..9), (50, 50));
    samples(case, ("ws-4", "jdoe"), (7, 8..9), (50, 50))
        .call(get("?fields=workSpId,advice,hours,limitHours,evidence").gives_json(rows(&[
            r#"{"workSpId":"ws-1","advice":"alwaysOnCheaper","hours":720.0,"limitHours":85,"evidence":"1 session, 180 hours in all with the auto-stop timeout; in 30 days 720, above the limit of 85."}"#,
            r#"{"workSpId":"ws-2","advice":"autoStopCheaper","hours":64.62,"limitHours":85,"evidence":"7 sessions, 14 hours in all with the auto-stop timeout; in 30 days 64.62, not above the limit of 85."}"#,
        ])))
}

/// Two desktops in the other running mode than is cheaper, one that is larger than needed, and one that nobody uses.
fn priced(name: &'static str) -> Case {
    let desktops = [
        mode("ws-1", "AUTO_STOP"),
        mode("ws-2", "ALWAYS_ON"),
        mode("ws-3", "ALWAYS_ON"),
        Workspace {
            compute_type_name: Some("POWER".into()),
            ..mode("ws-4", "ALWAYS_ON")
        },
    ];
    let case = known(name, desktops).config(|config| {
        let prices = ["Standard 35 9.75 0.30", "VALUE 25 7.25 0.22"];
        config.cost.prices = prices.map(str::to_owned).to_vec();
    });
    let case = samples(case, ("ws-1", "jdoe"), (8, 0..24), (50, 50));
    samples(case, ("ws-2", "jdoe"), (7, 8..9), (5, 5))
}

/// 720 hours at 0.30 and 9.75 are 225.75, 190.75 above a month; 64.62 are 29.14; a type without a price saves nothing that is known.
fn prices() -> Case {
    let row = |id: &str, advice: &str, limit: &str, saving: &str| {
        format!(
            r#"{{"workSpId":"{id}","advice":"{advice}","limitHours":{limit},"savingPerMonth":{saving}}}"#
        )
    };
    let of = |rows_of: &[String]| {
        let all: Vec<&str> = rows_of.iter().map(String::as_str).collect();
        rows(&all)
    };
    let [dear, cheap, large, idle, unknown] = [
        row("ws-1", "alwaysOnCheaper", "85", "190.75"),
        row("ws-2", "autoStopCheaper", "85", "5.87"),
        row("ws-2", "oversized", "85", "10.0"),
        row("ws-3", "idle", "85", "35.0"),
        row("ws-4", "idle", "92", "null"),
    ];
    let fields = "?fields=workSpId,advice,limitHours,savingPerMonth";
    let all = [&dear, &cheap, &large, &idle, &unknown].map(Clone::clone);
    let idles = [idle, unknown];
    priced("prices")
        .call(get(fields).gives_json(of(&all)))
        .call(get(&format!("{fields}&advice=IDLE")).gives_json(of(&idles)))
        .call(
            get(&format!("{fields}&advice=in.idle,oversized&workSpId=ws-2"))
                .gives_json(of(&[large])),
        )
        .call(
            get(&format!("{fields}&advice=ne.idle&workSpId=in.ws-1,ws-3")).gives_json(of(&[dear])),
        )
        .call(
            get("?advice=idel")
                .refused("InvalidParameter")
                .error_holding("advice", &["Did you mean 'idle'?"]),
        )
}

/// The totals are of all pages, or of what is filtered.
fn totals() -> Case {
    let totals = |rows_of: [(&str, u32, u32, &str); 5]| {
        let each = |(advice, desktops, priced, saving): (&str, u32, u32, &str)| {
            format!(
                r#"{{"advice":"{advice}","desktops":{desktops},"priced":{priced},"savingPerMonth":{saving}}}"#
            )
        };
        let all = rows_of.map(each);
        rows(&all.each_ref().map(String::as_str))
    };
    let all = totals([
        ("idle", 2, 1, "35.0"),
        ("alwaysOnCheaper", 1, 1, "190.75"),
        ("autoStopCheaper", 1, 1, "5.87"),
        ("overloaded", 0, 0, "null"),
        ("oversized", 1, 1, "10.0"),
    ]);
    let one = totals([
        ("idle", 1, 0, "null"),
        ("alwaysOnCheaper", 0, 0, "null"),
        ("autoStopCheaper", 0, 0, "null"),
        ("overloaded", 0, 0, "null"),
        ("oversized", 0, 0, "null"),
    ]);
    let ask = |query: &str| get(&format!("/totals{query}"));
    priced("totals")
        .call(ask("").gives_json(all))
        .call(ask("?workSpId=ws-4").gives_json(one))
        .call(ask("?format=csv&fields=advice,desktops&workSpId=ws-4").gives(
            "advice,desktops\r\nidle,1\r\nalwaysOnCheaper,0\r\nautoStopCheaper,0\r\noverloaded,0\r\noversized,0\r\n",
        ))
        .call(ask("?limit=5").refused("InvalidParameter"))
}

fn overloaded() -> Case {
    let case = Case::new("q advice", "overloaded")
        .put(workspace("ws-1"))
        .put(workspace("ws-2"));
    let case = samples(case, ("ws-1", "jdoe"), (1, 6..8), (81, 10));
    let case = samples(case, ("ws-1", "jdoe"), (1, 8..10), (80, 80));
    let case = samples(case, ("ws-2", "jdoe"), (1, 6..7), (10, 81));
    samples(case, ("ws-2", "jdoe"), (1, 7..10), (10, 80))
        .call(get("?fields=workSpId,advice,evidence").gives_json(rows(&[
            r#"{"workSpId":"ws-1","advice":"overloaded","evidence":"Overloaded in 10 of 20 minutes of use: a health score of 50, which is fair."}"#,
        ])))
}

fn oversized() -> Case {
    let case = Case::new("q advice", "oversized")
        .put(mode("ws-1", "MANUAL"))
        .put(mode("ws-2", "MANUAL"))
        .put(Workspace {
            compute_type_name: Some("VALUE".into()),
            ..mode("ws-3", "MANUAL")
        });
    let case = samples(case, ("ws-1", "jdoe"), (7, 8..12), (20, 40));
    let case = samples(case, ("ws-2", "jdoe"), (7, 8..12), (20, 40));
    let case = samples(case, ("ws-2", "jdoe"), (1, 3..4), (30, 40));
    samples(case, ("ws-3", "jdoe"), (7, 8..12), (1, 1))
        .call(get("?fields=workSpId,advice,evidence").gives_json(rows(&[
            r#"{"workSpId":"ws-1","advice":"oversized","evidence":"On each of 7 days the 95th percentile of cpu was at most 20 % and of memory at most 40 %."}"#,
        ])))
}

/// Records under the id and under the name of the computer are one desktop's; those of a name that two have are nobody's.
fn instances() -> Case {
    let computer = |id: &str, computer: &str| Workspace {
        computer_name: Some(computer.to_owned()),
        ..workspace(id)
    };
    let case = known(
        "instances of a workspace",
        [
            computer("ws-1", "PC-1"),
            computer("ws-2", "PC-2"),
            computer("ws-3", "pc-2"),
            computer("ws-4", "ws-1"),
        ],
    );
    let case = samples(case, ("pc-1", "jdoe"), (1, 8..9), (50, 50));
    let case = samples(case, ("PC-2", "jdoe"), (1, 8..9), (50, 50));
    samples(case, ("ws-1", ""), (2, 8..9), (50, 50)).call(
        get("?fields=workSpId,evidence").gives_json(rows(&[
            r#"{"workSpId":"ws-2","evidence":"No telemetry."}"#,
            r#"{"workSpId":"ws-3","evidence":"No telemetry."}"#,
            r#"{"workSpId":"ws-4","evidence":"No telemetry."}"#,
        ])),
    )
}

/// An agent that runs as a service names the owner all day. Where logons and logoffs are posted they decide: eight days of which seven have a
/// session of less than an hour, and a desktop that nobody has used since the window began.
fn sessions() -> Case {
    let desktops = ["ws-1", "ws-2", "ws-3"].map(|id| mode(id, "ALWAYS_ON"));
    let mut case = known("sessions", desktops);
    for id in ["ws-1", "ws-2", "ws-3"] {
        case = samples(case, (id, "jdoe"), (8, 0..12), (50, 50));
    }
    let activity = |id: &str, what: &str, time: String| {
        Record::Activity(Box::new(ActivityRecord {
            instance_id: id.into(),
            username: "jdoe".into(),
            activity: what.into(),
            activity_time: Some(time.parse().expect("a date-time")),
            ..ActivityRecord::default()
        }))
    };
    for day in 13..20 {
        let begun = activity("ws-1", "Logon", format!("2026-11-{day}T08:00:00Z"));
        let ended = activity("ws-1", "SessionLock", format!("2026-11-{day}T08:50:00Z"));
        // In whatever order they come.
        case = case.record(ended).record(begun);
    }
    case.record(activity("ws-2", "log off", "2026-10-01T17:00:00Z".into()))
        .file()
        .call(get("?q=ws-1&fields=advice,hours,evidence").gives_json(rows(&[
            r#"{"advice":"autoStopCheaper","hours":56.0,"evidence":"7 sessions, 14 hours in all with the auto-stop timeout; in 30 days 56, not above the limit of 85."}"#,
        ])))
        .call(get("?q=ws-2&fields=advice,hours,evidence").gives_json(rows(&[
            r#"{"advice":"idle","hours":0,"evidence":"It reported on 8 days, and nobody logged on."}"#,
        ])))
        .call(get("?q=ws-3&fields=advice,hours,evidence").gives_json(rows(&[])))
}

/// A desktop is called idle once the inventory or telemetry has known it for a week.
fn new_desktops() -> Case {
    let case = Case::new("q advice", "new desktops")
        .put(workspace("ws-1"))
        .put(workspace("ws-2"));
    let case = samples(case, ("ws-2", ""), (8, 8..9), (50, 50));
    let idle = |ids: &[&str]| {
        let ids: Vec<_> = ids
            .iter()
            .map(|id| format!(r#"{{"workSpId":"{id}"}}"#))
            .collect();
        let rows = ids.join(",");
        get("?fields=workSpId").gives_json(format!(
            r#"{{"rows":[{rows}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":["«_»"]}}"#
        ))
    };
    case.call(idle(&["ws-2"]))
        .clock(7 * 86_400 - 1)
        .call(idle(&["ws-2"]))
        .clock(1)
        .call(idle(&["ws-1", "ws-2"]))
}

/// Two pieces of advice on one desktop, on two pages.
fn pages() -> Case {
    let desktops = [
        workspace("ws-0"),
        mode("ws-1", "ALWAYS_ON"),
        workspace("ws-2"),
    ];
    let case = known("pages", desktops);
    let case = samples(case, ("ws-1", "jdoe"), (7, 8..9), (5, 5));
    let all = [
        "ws-0 idle",
        "ws-1 autoStopCheaper",
        "ws-1 oversized",
        "ws-2 idle",
    ];
    let row = |row: &str| {
        let (id, advice) = row.split_once(' ').expect("id and advice");
        format!(r#"{{"workSpId":"{id}","advice":"{advice}"}}"#)
    };
    let warned = END.split_once(r#""at""#).expect("at").1;
    let mut case = case;
    for size in [1, 2, 3] {
        let mut token = String::new();
        for (number, shown) in all.chunks(size).enumerate() {
            let rows: Vec<String> = shown.iter().map(|shown| row(shown)).collect();
            let rows = rows.join(",");
            let next = format!("«t{size}.{number}»");
            let (message, more) = if (number + 1) * size < all.len() {
                (format!("\"{next}\""), true)
            } else {
                ("null".to_owned(), false)
            };
            let query = format!("?fields=workSpId,advice&limit={size}{token}");
            case = case.call(get(&query).gives_json(format!(
                r#"{{"rows":[{rows}],"nextToken":{message},"hasMore":{more},"at"{warned}}}"#
            )));
            token = format!("&nextToken={next}");
        }
    }
    case.call(get("?nextToken=AAAA").refused("InvalidParameter"))
}

fn window() -> Case {
    let _: Timestamp = NOW.parse().expect("a date-time");
    let case = Case::new("q advice", "windows").put(workspace("ws-1"));
    samples(case, ("ws-1", "jdoe"), (2, 8..9), (50, 50))
        .call(get("?from=2026-11-19&to=2026-11-20").gives_json(
            r#"{"rows":[],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
        .call(get("?from=2020-01-01&to=2026-11-21").gives_json(
            r#"{"rows":[],"nextToken":null,"hasMore":false,"at":"«_»","warnings":["Older days are left out: what is before 2025-10-17T00:00:00Z is more than one answer examines. Ask for a shorter time."]}"#,
        ))
}

fn wrong() -> Case {
    let bad = |query: &str| get(query).refused("InvalidParameter");
    Case::new("q advice", "wrong parameters")
        .call(bad("?from=30d").error_holding("from", &["-24h"]))
        .call(bad("?from=-1h&to=-2h").error_holding("from", &["before `to`"]))
        .call(bad("?fields=advise").error(
            "fields",
            "There is no column 'advise'. Did you mean 'advice'?",
        ))
        .call(bad("?limit=501"))
        .call(call("GET act /query/advice").refused("InsufficientScope"))
}
