//! An action on many workspaces: in waves, with a bound of failures, and the number of the batch in audit and events.

use deskfleet::ActionDriver;

use super::case::{Call, Case, NOW, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        waves(),
        failures(),
        stopped(),
        removal(),
        numbers(),
        limited(),
        rate(),
        revoked(),
        wrong(),
        many(),
    ]
}

fn case(name: &str) -> Case {
    Case::new("10 batches of actions", name)
}

/// Three desktops that can be rebooted, and one on hold.
fn fleet(name: &str) -> Case {
    case(name)
        .puts(["ws-1", "ws-2", "ws-3", "ws-4"].map(|id| desk(id, "AVAILABLE", "jdoe")))
        .hold("ws-4")
}

fn start(body: &str) -> Call {
    call("POST act /operator/actions").json(body)
}

/// A row of a workspace whose action runs or has ended; its number is not compared.
fn row(id: &str, result: &str) -> String {
    let action = match result {
        "Refused" | "NoChange" | "null" => "null",
        _ => "\"«_»\"",
    };
    let result = match result {
        "null" => "null".to_owned(),
        result => format!("\"{result}\""),
    };
    format!(r#"{{"workSpaceId":"{id}","result":{result},"code":null,"actionId":{action}}}"#)
}

fn refused(id: &str, code: &str) -> String {
    row(id, "Refused").replace(r#""code":null"#, &format!(r#""code":"{code}""#))
}

/// A batch that `ada` asked for.
struct Batch {
    action: &'static str,
    at_once: u32,
    bound: &'static str,
    ended: bool,
    stopped: &'static str,
    /// Waiting, running, succeeded, failed.
    counts: [u32; 4],
    rows: Vec<String>,
}

impl Batch {
    fn json(&self) -> String {
        let Self {
            action,
            at_once,
            bound,
            stopped,
            ..
        } = self;
        let [waiting, running, succeeded, failed] = self.counts;
        let ended = if self.ended { "\"«_»\"" } else { "null" };
        let rows = self.rows.join(",");
        format!(
            r#"{{"batchId":"«batch»","action":"{action}","computeType":null,"requester":"ada","apiKeyName":"service-desk","atOnce":{at_once},"stopAfterFailures":{bound},"startedAt":"{NOW}","endedAt":{ended},"stopped":{stopped},"waiting":{waiting},"running":{running},"succeeded":{succeeded},"failed":{failed},"rows":[{rows}]}}"#
        )
    }
}

fn shown(batch: &Batch) -> Call {
    call("GET read /operator/batches/«batch»").gives_json(batch.json())
}

/// At most as many run at once as are wanted; the next ones begin as those end.
fn waves() -> Case {
    let mut batch = Batch {
        action: "RebootWorkSpace",
        at_once: 2,
        bound: "null",
        ended: false,
        stopped: "null",
        counts: [2, 2, 0, 0],
        rows: vec![
            row("ws-3", "Accepted"),
            row("ws-1", "Accepted"),
            row("ws-4", "null"),
            row("ws-0", "null"),
        ],
    };
    let body = r#"{"action":"reboot","workSpaceIds":["ws-3","ws-1","ws-4","ws-0"],"atOnce":2,"requester":"ada"}"#;
    let case = fleet("waves").call(start(body).gives_json(batch.json()));
    let case = case.maintain().call(shown(&batch)).clock(3600).maintain();
    batch.counts = [0, 1, 2, 1];
    batch.rows = vec![
        row("ws-3", "Completed"),
        row("ws-1", "Completed"),
        row("ws-4", "Accepted"),
        refused("ws-0", "WorkSpaceNotFound"),
    ];
    let case = case.call(shown(&batch)).clock(3600).maintain();
    batch.counts = [0, 0, 3, 1];
    batch.ended = true;
    if let Some(last) = batch.rows.get_mut(2) {
        *last = row("ws-4", "Completed");
    }
    let listed = Batch {
        rows: Vec::new(),
        ..batch
    };
    case.call(
        call("GET read /operator/batches")
            .gives_json(format!(r#"{{"batches":[{}]}}"#, listed.json())),
    )
    .call(call("GET admin /operator/actions").gives_json(super::endings::outbox("")))
}

/// What is refused counts as a failure, as does what the host fails; the rest does not begin.
fn failures() -> Case {
    let batch = |counts, stopped, ended, rows| Batch {
        action: "TerminateWorkSpace",
        at_once: 1,
        bound: "2",
        ended,
        stopped,
        counts,
        rows,
    };
    let body = r#"{"action":"TerminateWorkSpace","workSpaceIds":["ws-4","ws-1","ws-2","ws-3"],"atOnce":1,"stopAfterFailures":2,"requester":"ada"}"#;
    let held = || refused("ws-4", "LitigationHold");
    let first = vec![
        held(),
        row("ws-1", "Accepted"),
        row("ws-2", "null"),
        row("ws-3", "null"),
    ];
    let last = vec![
        held(),
        row("ws-1", "Failed"),
        row("ws-2", "null"),
        row("ws-3", "null"),
    ];
    fleet("failures stop it")
        .config(|config| config.actions.driver = ActionDriver::Host)
        .call(start(body).gives_json(batch([2, 1, 0, 1], "null", false, first).json()))
        .call(call("GET admin /operator/actions").gives_json(
            r#"{"actions":[{"id":"«id»","action":"TerminateWorkSpace","workSpaceId":"ws-1","requestedAt":"«_»","dueAt":null,"computeType":null,"attempts":0,"lastAttemptAt":null,"provider":null,"note":null}],"nextToken":null,"hasMore":false}"#,
        ))
        .call(call("POST admin /operator/actions/«id»/fail"))
        .maintain()
        .call(shown(&batch([2, 0, 0, 2], r#""Failures""#, true, last)))
}

/// A batch that is stopped lets what runs go on, and ends with it. Stopping it again changes nothing.
fn stopped() -> Case {
    let batch = |ended, counts, result| Batch {
        action: "RebootWorkSpace",
        at_once: 1,
        bound: "null",
        ended,
        stopped: r#""Requested""#,
        counts,
        rows: vec![row("ws-1", result), row("ws-2", "null")],
    };
    let body = r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-1","ws-2"],"atOnce":1,"requester":"ada"}"#;
    let begun = batch(false, [1, 1, 0, 0], "Accepted").json();
    let stop = || call("POST act /operator/batches/«batch»/stop");
    let ended = batch(true, [1, 0, 1, 0], "Completed");
    fleet("stopped by a person")
        .call(start(body).gives_json(begun.replace(r#""Requested""#, "null")))
        .call(call("POST read /operator/batches/«batch»/stop").refused("InsufficientScope"))
        .call(stop().gives_json(begun))
        .call(call("GET admin /operator/audit?batchId=1&action=StopBatch").gives_json(format!(
            r#"{{"activities":[{{"id":"«_»","activityTime":"{NOW}","requester":"service-desk","action":"StopBatch","workSpaceId":null,"username":null,"computerName":null,"result":"Completed","previousState":null,"newState":null,"completedTime":"{NOW}","detail":"RebootWorkSpace, 1 not begun","apiKeyName":"service-desk","batchId":1,"apiKeyId":"«_»"}}],"nextToken":null,"hasMore":false}}"#
        )))
        .call(
            call("GET admin /operator/audit?batchId=2")
                .gives_json(r#"{"activities":[],"nextToken":null,"hasMore":false}"#),
        )
        .call(call("GET admin /operator/audit?batchId=x").refused("InvalidParameter"))
        .clock(3600)
        .maintain()
        .call(shown(&ended))
        .call(stop().gives_json(ended.json()))
}

/// The removal of records is an action of a batch too; it ends at once.
fn removal() -> Case {
    let batch = Batch {
        action: "RemoveWorkSpaceDbEntry",
        at_once: 3,
        bound: "null",
        ended: true,
        stopped: "null",
        counts: [0, 0, 1, 2],
        rows: vec![
            row("ws-1", "Completed").replace("\"«_»\"", "null"),
            refused("ws-4", "LitigationHold"),
            refused("ws-0", "WorkSpaceNotFound"),
        ],
    };
    let body = r#"{"action":"RemoveWorkSpaceDbEntry","workSpaceIds":["ws-1","ws-4","ws-0"],"requester":"ada"}"#;
    fleet("records are removed").call(start(body).gives_json(batch.json()))
}

/// Audit rows and events have the number of the batch, and those of other actions have none.
fn numbers() -> Case {
    let body =
        r#"{"action":"TerminateWorkSpace","workSpaceIds":["ws-1","ws-4"],"requester":"ada"}"#;
    let audit = |result: &str, workspace: &str, rest: &str| {
        format!(
            r#"{{"id":"«_»","activityTime":"{NOW}","requester":"ada","action":"TerminateWorkSpace","workSpaceId":"{workspace}","username":"jdoe","computerName":"PC-{workspace}","result":"{result}","previousState":"AVAILABLE",{rest},"apiKeyName":"service-desk","#
        )
    };
    let accepted = audit(
        "Accepted",
        "ws-1",
        r#""newState":"TERMINATING","completedTime":null,"detail":null"#,
    ) + r#""simulated":true,"batchId":"«batch»"}"#;
    let held = audit(
        "Refused",
        "ws-4",
        r#""newState":"AVAILABLE","completedTime":null,"detail":"LitigationHold""#,
    ) + r#""batchId":"«batch»"}"#;
    let batch = Batch {
        action: "TerminateWorkSpace",
        at_once: 2,
        bound: "null",
        ended: false,
        stopped: "null",
        counts: [0, 1, 0, 1],
        rows: vec![row("ws-1", "Accepted"), refused("ws-4", "LitigationHold")],
    };
    fleet("numbers in audit and events")
        .call(start(body).gives_json(batch.json()))
        .call(
            call("GET read /api/Information/GetAdminActivity?numberOfActivities=2")
                .gives_json(format!("[{held},{accepted}]")),
        )
}

/// A key that may not start an action starts no batch of it; what its filter excludes is refused one by one.
fn limited() -> Case {
    let issue = call("POST admin /operator/keys")
        .json(r#"{"name":"desk","scopes":["act"],"actions":["Reboot"]}"#)
        .gives(
            r#"{"id":«_»,"name":"desk","scopes":["act"],"created":"«_»","expires":null,"lastUsed":null,"revoked":null,"actions":["RebootWorkSpace"],"filter":null,"destructivePerHour":null,"key":"«desk»"}"#,
        )
        .with_status(201);
    let with = |action: &str| {
        call("POST - /operator/actions?apiKey=«desk»").json(format!(
            r#"{{"action":"{action}","workSpaceIds":["ws-1"]}}"#
        ))
    };
    fleet("a key that is limited")
        .call(issue)
        .call(with("TerminateWorkSpace").refused("InsufficientScope"))
        .call(with("RebootWorkSpace").gives_any())
}

/// Above the rate of its key a batch stops, and leaves the rest as it is.
fn rate() -> Case {
    let issue = call("POST admin /operator/keys")
        .json(r#"{"name":"desk","scopes":["act"],"destructivePerHour":1}"#)
        .gives(
            r#"{"id":«_»,"name":"desk","scopes":["act"],"created":"«_»","expires":null,"lastUsed":null,"revoked":null,"actions":null,"filter":null,"destructivePerHour":1,"key":"«desk»"}"#,
        )
        .with_status(201);
    let batch = Batch {
        action: "TerminateWorkSpace",
        at_once: 3,
        bound: "null",
        ended: false,
        stopped: r#""Throttled""#,
        counts: [2, 1, 0, 0],
        rows: vec![
            row("ws-1", "Accepted"),
            row("ws-2", "null"),
            row("ws-3", "null"),
        ],
    };
    let body = r#"{"action":"TerminateWorkSpace","workSpaceIds":["ws-1","ws-2","ws-3"],"requester":"ada"}"#;
    let with_key = batch
        .json()
        .replace(r#""apiKeyName":"service-desk""#, r#""apiKeyName":"desk""#);
    fleet("above the rate of its key").call(issue).call(
        call("POST - /operator/actions?apiKey=«desk»")
            .json(body)
            .gives_json(with_key),
    )
}

/// A batch does not outlive its key.
fn revoked() -> Case {
    let issue = call("POST admin /operator/keys")
        .json(r#"{"name":"desk","scopes":["act"]}"#)
        .gives(
            r#"{"id":«key»,"name":"desk","scopes":["act"],"created":"«_»","expires":null,"lastUsed":null,"revoked":null,"actions":null,"filter":null,"destructivePerHour":null,"key":"«desk»"}"#,
        )
        .with_status(201);
    let batch = |ended, stopped, counts, result| {
        let batch = Batch {
            action: "RebootWorkSpace",
            at_once: 1,
            bound: "null",
            ended,
            stopped,
            counts,
            rows: vec![row("ws-1", result), row("ws-2", "null")],
        };
        batch
            .json()
            .replace(r#""apiKeyName":"service-desk""#, r#""apiKeyName":"desk""#)
    };
    let body = r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-1","ws-2"],"atOnce":1,"requester":"ada"}"#;
    fleet("a key that is revoked")
        .call(issue)
        .call(
            call("POST - /operator/actions?apiKey=«desk»")
                .json(body)
                .gives_json(batch(false, "null", [1, 1, 0, 0], "Accepted")),
        )
        .call(call("DELETE admin /operator/keys/«key»"))
        .clock(3600)
        .maintain()
        .call(call("GET read /operator/batches/«batch»").gives_json(batch(
            true,
            r#""KeyEnded""#,
            [1, 0, 1, 0],
            "Completed",
        )))
}

fn wrong() -> Case {
    let case = fleet("wrong bodies")
        .call(
            call("POST read /operator/actions")
                .json("{}")
                .refused("InsufficientScope"),
        )
        .call(call("GET act /operator/batches").refused("InsufficientScope"))
        .call(call("GET read /operator/batches").gives_json(r#"{"batches":[]}"#))
        .call(call("POST act /operator/batches/7/stop").refused("NotFound"))
        .call(call("GET read /operator/batches/x").refused("NotFound"));
    let many: Vec<_> = (0..1001).map(|id| format!("\"{id}\"")).collect();
    let many = format!(
        r#"{{"action":"RebootWorkSpace","workSpaceIds":[{}]}}"#,
        many.join(",")
    );
    let case = case.call(
        start(&many)
            .refused("InvalidBody")
            .error_holding("$.workSpaceIds", &["1 to 1000"]),
    );
    let rows: [(&str, &str, &[&str]); 9] = [
        (
            r#"{"action":"Reboot","workSpaceIds":["a"],"atonces":1}"#,
            "$",
            &["did you mean atOnce?"],
        ),
        ("{}", "$.action", &["must be one of RebootWorkSpace, "]),
        (
            r#"{"action":"IssueKey","workSpaceIds":["ws-1"]}"#,
            "$.action",
            &["RemoveWorkSpaceDbEntry"],
        ),
        (r#"{"action":"Reboot"}"#, "$.workSpaceIds", &["1 to 1000"]),
        (
            r#"{"action":"Reboot","workSpaceIds":["a","a"]}"#,
            "$.workSpaceIds",
            &["each id once"],
        ),
        (
            r#"{"action":"Reboot","workSpaceIds":[""]}"#,
            "$.workSpaceIds",
            &["no empty one"],
        ),
        (
            r#"{"action":"Reboot","workSpaceIds":["a"],"atOnce":0}"#,
            "$.atOnce",
            &["from 1"],
        ),
        (
            r#"{"action":"Reboot","workSpaceIds":["a"],"atOnce":4294967296}"#,
            "$.atOnce",
            &["from 1"],
        ),
        (
            r#"{"action":"Reboot","workSpaceIds":["a"],"stopAfterFailures":-1}"#,
            "$.stopAfterFailures",
            &["from 1"],
        ),
    ];
    let case = rows.into_iter().fold(case, |case, (body, field, words)| {
        case.call(
            start(body)
                .refused("InvalidBody")
                .error_holding(field, words),
        )
    });
    case.call(
        start(r#"{"action":"ChangeComputeType","workSpaceIds":["ws-1"],"computeType":"HUGE"}"#)
            .refused("InvalidParameter"),
    )
}

/// Twenty batches run, and no further one is started until one has ended.
fn many() -> Case {
    let one = |from: &str, to: &str| {
        start(&format!(
            r#"{{"action":"RebootWorkSpace","workSpaceIds":["{from}","{to}"],"atOnce":1}}"#
        ))
    };
    let ids = |batch: usize| (format!("a-{batch:02}"), format!("b-{batch:02}"));
    let mut case = case("too many at once");
    for batch in 0..=20 {
        let (from, to) = ids(batch);
        case = case.puts([from, to].map(|id| desk(&id, "AVAILABLE", "jdoe")));
    }
    for batch in 0..20 {
        let (from, to) = ids(batch);
        case = case.call(one(&from, &to).gives_any());
    }
    let (from, to) = ids(20);
    case.call(
        one(&from, &to)
            .refused("Throttled")
            .answers("retry-after", "60"),
    )
    .clock(3600)
    .maintain()
    .clock(3600)
    .maintain()
    .call(one(&from, &to).gives_any())
}
