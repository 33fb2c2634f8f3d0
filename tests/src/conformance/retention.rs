//! How long telemetry and the audit are kept.

use super::case::{Call, Case, call};
use super::fixtures::{activity, desk, processes, startup, stats};
use super::queue::{history, queued};

const DAY: i64 = 24 * 3600;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = retention();
    cases.extend([audit_retention(), held_retention(), older_than_retention()]);
    cases.push(a_clock_that_jumps());
    cases.extend(a_clock_that_was_wrong_before());
    cases.extend([clock_behind(), clock_behind_for_a_day(), clock_ahead()]);
    cases.extend([shared_machine(), removal()]);
    cases
}

/// The streams with their days: a record is there a day before and removed a month after.
fn retention() -> Vec<Case> {
    let time = "2026-11-20T11:00:00Z";
    let rows = [
        (stats("i", "jdoe", 1, time), 30),
        (activity("i", "jdoe", "Logon", time), 90),
        (startup("i", "jdoe", 1, time), 90),
        (processes("i", "jdoe", time), 30),
    ];
    let mut cases = Vec::new();
    for (record, days) in rows {
        let name = record.stream().name();
        let there = call(&format!(
            "GET admin /operator/telemetry/{name}?instanceId=i"
        ));
        let there = there.gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#);
        for filed in [true, false] {
            let case = Case::new("6 retention", format!("{name}, filed before: {filed}"))
                .record(record.clone());
            let case = if filed { case.file() } else { case };
            let case = case.days(days - 1).call(there.clone()).days(32);
            cases.push(case.call(history(name, "i", "")).call(queued("0")));
        }
    }
    cases
}

/// What is selected goes, what is held stays.
fn removal() -> Case {
    let time = "2026-11-20T11:00:00Z";
    let remove = |query: &str| call(&format!("DELETE admin /operator/telemetry?{query}"));
    Case::new("6 retention", "telemetry that is removed")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(
            call("PUT admin /operator/workspaces/ws-1/litigation-hold")
                .json(r#"{"matter":"A"}"#)
                .gives_any(),
        )
        .record(stats("ws-1", "jdoe", 1, time))
        .record(stats("ws-2", "ann", 2, time))
        .record(stats("ws-3", "ann", 3, time))
        .call(remove("instance=WS-1").refused("LitigationHold"))
        .call(remove("instance=ws-2&before=2026-11-20").gives_json(r#"{"removed":0,"kept":0}"#))
        .call(remove("instance=ws-2&before=2026-11-21").gives_json(r#"{"removed":1,"kept":0}"#))
        .call(history("stats", "ws-2", ""))
        .call(remove("stream=stats").gives_json(r#"{"removed":1,"kept":1}"#))
        .call(history("stats", "ws-3", ""))
        .call(
            call("GET admin /operator/telemetry/stats?instanceId=ws-1")
                .gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#),
        )
        .call(remove("stream=stats&instant=ws-1").refused("InvalidParameter"))
}

fn audit_retention() -> Case {
    let rows = |count: &str| call("GET read /api/Information/GetAdminActivity").gives_json(count);
    Case::new("6 retention", "audit: 365 days")
        .days(364)
        .call(rows(r#"["«_»","«_»","«_»","«_»"]"#))
        .days(32)
        .call(rows("[]"))
}

/// A held workspace keeps telemetry, activity and audit; once released, it loses them like any other.
fn held_retention() -> Case {
    let time = "2026-11-20T11:00:00Z";
    let mut case = Case::new(
        "6 retention",
        "a held workspace is exempt, until it is released",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .put(desk("ws-2", "AVAILABLE", "asmith"));
    for (id, user) in [("ws-1", "jdoe"), ("ws-2", "asmith")] {
        case = case
            .record(stats(id, user, 1, time))
            .record(activity(id, user, "Logon", time))
            .record(startup(id, user, 1, time))
            .record(processes(id, user, time))
            .call(call(&format!(
                "POST act /api/Actions/RebootWorkSpace?workSpaceId={id}"
            )));
    }
    let names = ["stats", "activity", "startup", "processes"];
    case = case.hold("ws-1").file().days(400).maintain();
    for name in names {
        let kept = call(&format!(
            "GET admin /operator/telemetry/{name}?instanceId=ws-1"
        ));
        case = case
            .call(kept.gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#))
            .call(history(name, "ws-2", ""));
    }
    let audit = call("GET read /api/Information/GetAdminActivity");
    let row = |action: &str, requester: &str, simulated: &str| {
        format!(
            r#"{{"id":"«_»","activityTime":"2026-11-20T12:00:00Z","requester":"{requester}","action":"{action}","workSpaceId":"ws-1","username":"jdoe","computerName":"PC-ws-1","result":"Completed","previousState":"«_»","newState":"«_»","completedTime":"«_»","detail":"«_»","apiKeyName":"«_»"{simulated}}}"#
        )
    };
    let rows = [
        row("PlaceLitigationHold", "host", ""),
        row("RebootWorkSpace", "service-desk", r#","simulated":true"#),
    ]
    .join(",");
    case = case.call(audit.gives_json(format!("[{rows}]")));
    case = case
        .call(call("DELETE admin /operator/workspaces/ws-1/litigation-hold").gives_any())
        .days(32);
    names
        .into_iter()
        .fold(case, |case, name| case.call(history(name, "ws-1", "")))
}

/// A record older than its stream is kept stands at its own time, hides nothing newer, and goes with the next removal like any of its age.
fn older_than_retention() -> Case {
    let old = r#"{"id":1,"updatetime":"2001-01-01T00:00:00Z","username":"jdoe","instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}"#;
    let new = r#"{"id":2,"updatetime":"2026-11-20T11:00:00Z","username":"jdoe","instanceId":"i","receivedAt":"2026-11-20T12:00:00Z"}"#;
    Case::new("10 times", "older than retention at receipt")
        .record(stats("i", "jdoe", 2, "2026-11-20T11:00:00Z"))
        .record(stats("i", "jdoe", 1, "2001-01-01T00:00:00Z"))
        .call(history("stats", "i", &[old, new].join(",")))
        .file()
        .call(history("stats", "i", &[old, new].join(",")))
        .call(
            call(
                "GET admin /operator/telemetry/stats?instanceId=i&to=2001-01-01T00:00:00.0000001Z",
            )
            .gives(format!(
                r#"{{"records":[{old}],"nextToken":null,"hasMore":false}}"#
            )),
        )
        .days(2)
        .call(history("stats", "i", new))
}

/// The clock is wrong at the first upkeep: it is compared with the creation time of the file. Later the battery of the
/// clock fails for a while: retention goes on from the last sweep, not from 1970.
fn a_clock_that_was_wrong_before() -> [Case; 2] {
    let there = || {
        call("GET admin /operator/telemetry/stats?instanceId=i")
            .gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#)
    };
    let posted = |name: &'static str| {
        Case::new("6 retention", name).record(stats("i", "jdoe", 1, "2026-11-20T11:00:00Z"))
    };
    let ahead = posted("a clock that is ahead before upkeep ever came")
        .clock(3650 * DAY)
        .maintain()
        .clock(-3650 * DAY)
        .maintain()
        .call(there());
    let unset = posted("a clock that was not set for a while")
        .maintain()
        .set_time("1970-01-01T00:00:00Z")
        .maintain()
        .clock(3600)
        .maintain()
        .set_time("2026-11-21T12:00:00Z")
        .maintain()
        .call(there())
        .days(32)
        .call(history("stats", "i", ""));
    [ahead, unset]
}

/// Ten years ahead and back: nothing is removed. Ten years ahead for good: a day is removed for each hour that passes.
fn a_clock_that_jumps() -> Case {
    let there = || {
        call("GET admin /operator/telemetry/stats?instanceId=i")
            .gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#)
    };
    let rows = || {
        call("GET read /api/Information/GetAdminActivity")
            .gives_json(r#"["«_»","«_»","«_»","«_»"]"#)
    };
    let hours =
        |case: Case, hours: i64| (0..hours).fold(case, |case, _| case.clock(3600).maintain());
    let case = Case::new(
        "6 retention",
        "a clock that jumps ahead does not trip retention",
    )
    .put(desk("ws-1", "TERMINATED", "jdoe"))
    .record(stats("i", "jdoe", 1, "2026-11-20T11:00:00Z"))
    .file()
    .maintain()
    .clock(3650 * DAY)
    .maintain()
    .maintain()
    .clock(-3650 * DAY)
    .maintain()
    .call(there())
    .call(call("GET admin /operator/workspaces/ws-1").gives_any())
    .clock(3650 * DAY)
    .maintain();
    let case = hours(case, 24).call(there());
    let case = hours(case, 24).call(history("stats", "i", "")).call(rows());
    case.clock(-3650 * DAY).maintain().call(rows())
}

/// The history of an instance within an hour, to check where a record is filed.
fn at_eleven() -> Call {
    call(
        "GET admin /operator/telemetry/stats?instanceId=i&from=2026-11-20T11:00:00Z&to=2026-11-20T12:00:00Z",
    )
    .gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#)
}

/// Two days of upkeep.
fn two_days(case: Case) -> Case {
    (0..48).fold(case, |case, _| case.clock(3600).maintain())
}

/// Sixty days before the last sweep, or in 1971, the clock is not believed: a record is filed at its own time, is not
/// too old once the clock is right, and its retry is a repetition.
fn clock_behind() -> Case {
    let record = || stats("i", "jdoe", 1, "2026-11-20T11:00:00Z");
    let case = Case::new("9 time of a record", "behind the last sweep").maintain();
    let case = case.clock(-60 * DAY).maintain().record(record()).file();
    let case = case
        .call(at_eleven())
        .set_time("1971-01-01T00:00:00Z")
        .maintain();
    let case = case.record(record()).file().call(at_eleven());
    let case = case
        .set_time("2026-11-20T12:00:00Z")
        .maintain()
        .record(record());
    two_days(case.file().call(at_eleven())).call(at_eleven())
}

/// A clock that runs before the last sweep for a day is believed then: a record with a correct time is filed at its
/// receipt. Retention goes by the time in the record nevertheless.
fn clock_behind_for_a_day() -> Case {
    let there = || {
        call("GET admin /operator/telemetry/stats?instanceId=i")
            .gives_json(r#"{"records":["«_»"],"nextToken":null,"hasMore":false}"#)
    };
    let case = Case::new("9 time of a record", "behind for more than a day");
    let case = two_days(case.maintain().clock(-60 * DAY));
    let case = case.record(stats("i", "jdoe", 1, "2026-11-20T11:00:00Z"));
    let case = case.file().call(there()).set_time("2026-11-20T12:00:00Z");
    let case = two_days(two_days(case.call(there())));
    case.days(25)
        .call(there())
        .days(3)
        .call(history("stats", "i", ""))
}

/// Forty days ahead, a record is not taken for one that is too old, and its retry is a repetition.
fn clock_ahead() -> Case {
    let record = || stats("i", "jdoe", 1, "2026-11-20T11:00:00Z");
    let case = Case::new("9 time of a record", "ahead of the last sweep").maintain();
    let case = case.clock(40 * DAY).maintain().record(record()).file();
    let case = case.clock(-40 * DAY).maintain().record(record());
    two_days(case.call(at_eleven()).file()).call(at_eleven())
}

/// A record is not judged by its neighbour: on a computer with two users, one of whom has a workspace on hold under
/// another spelling, the records of that user are kept.
fn shared_machine() -> Case {
    let kept = call("GET admin /operator/telemetry/stats?instanceId=pool");
    let case = Case::new("9 holds and retention", "one machine, two users")
        .put(desk("ws-1", "AVAILABLE", "JDoe"))
        .put(desk("ws-2", "AVAILABLE", "jdoe"))
        .hold("ws-2")
        .record(stats("pool", "asmith", 1, "2026-11-20T10:00:00Z"))
        .record(stats("pool", "CORP\\jDOE", 2, "2026-11-20T11:00:00Z"))
        .file();
    let records = r#"{"records":["«_»","«_»"],"nextToken":null,"hasMore":false}"#;
    let case = case.days(400).call(kept.gives_json(records));
    case.call(call("DELETE admin /operator/workspaces/ws-2/litigation-hold").gives_any())
        .days(32)
        .call(history("stats", "pool", ""))
}
