//! The telemetry queue: its count, and that filing is not visible in any read.

use super::case::{Call, Case, call};
use super::fixtures::stats;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        count(),
        same_before_and_after(),
        retries(),
        no_sent_time(),
        high_water(),
        upkeep(),
    ]
}

pub(super) fn queued(count: &str) -> Call {
    call("GET - /api/Stats/queue/count").gives(count)
}

pub(super) fn history(stream: &str, instance: &str, records: &str) -> Call {
    call(&format!(
        "GET admin /operator/telemetry/{stream}?instanceId={instance}"
    ))
    .gives(format!(
        r#"{{"records":[{records}],"nextToken":null,"hasMore":false}}"#
    ))
}

fn stat(id: usize, time: &str, received: &str) -> String {
    format!(
        r#"{{"id":{id},"updatetime":"{time}","username":"jdoe","instanceId":"i","receivedAt":"{received}"}}"#
    )
}

fn count() -> Case {
    let post = |path: &str| call(&format!("POST - /api/Stats/{path}")).json("{}");
    Case::new(
        "5 queue/count",
        "counts every stream until filed; Test is empty",
    )
    .call(queued("0").answers("content-type", "application/json; charset=utf-8"))
    .call(call("GET - /api/Stats/Test"))
    .call(post("Post"))
    .call(queued("1"))
    .call(post("PostActivity"))
    .call(post("PostStartupMetrics"))
    .call(post("PostProcesses"))
    .call(queued("4"))
    .call(
        call("POST - /api/Stats/Post")
            .json("{")
            .refused("InvalidBody"),
    )
    .call(queued("4"))
    .file()
    .call(queued("0"))
    .call(post("Post"))
    .call(queued("1"))
}

fn same_before_and_after() -> Case {
    let times = [
        "2026-11-20T09:00:00Z",
        "2026-11-20T10:00:00Z",
        "2026-11-19T10:00:00Z",
        "2026-11-20T09:30:00.1Z",
    ];
    let mut case = Case::new(
        "6 queue",
        "history is the same queued, half filed and filed: by time, then by receipt",
    );
    for (index, time) in times.into_iter().enumerate() {
        case = case
            .record(stats(
                "i",
                "jdoe",
                i32::try_from(index).expect("small"),
                time,
            ))
            .clock(1);
        if index == 1 {
            case = case.file();
        }
    }
    let all = [(2, 2), (0, 0), (3, 3), (1, 1)]
        .map(|(index, second)| stat(index, times[index], &received(second)))
        .join(",");
    case.call(history("stats", "i", &all))
        .file()
        .call(history("stats", "i", &all))
        .maintain()
        .call(history("stats", "i", &all))
}

fn received(second: usize) -> String {
    format!("2026-11-20T12:00:0{second}Z")
}

/// Upkeep files after a pause at once, then every ten seconds; a clock set back does not stop it.
fn upkeep() -> Case {
    let post = || call("POST - /api/Stats/Post").json("{}");
    Case::new("6 queue", "upkeep files every ten seconds of the clock")
        .set_time("2026-11-20T12:00:00Z")
        .call(post())
        .maintain()
        .call(queued("0"))
        .call(post())
        .maintain()
        .call(queued("1"))
        .clock(9)
        .maintain()
        .call(queued("1"))
        .clock(1)
        .maintain()
        .call(queued("0"))
        .call(post())
        .set_time("2026-11-20T11:00:00Z")
        .maintain()
        .call(queued("0"))
        .call(post())
        .file()
        .call(queued("0"))
}

/// The same stream, instance, time and content is stored once, whether the first is queued or filed; anything else is
/// another record.
fn retries() -> Case {
    let time = "2026-11-20T09:00:00Z";
    let first = || stats("i", "jdoe", 1, time);
    let once = stat(1, time, &received(0));
    Case::new(
        "6 durable",
        "a retry of a record already held changes nothing",
    )
    .record(first())
    .clock(1)
    .record(first())
    .call(history("stats", "i", &once))
    .call(queued("2"))
    .file()
    .call(queued("0"))
    .call(history("stats", "i", &once))
    .record(first())
    .call(history("stats", "i", &once))
    .file()
    .call(history("stats", "i", &once))
    .record(stats("i", "jdoe", 2, time))
    .call(history(
        "stats",
        "i",
        &[once.clone(), stat(2, time, &received(1))].join(","),
    ))
    .file()
    .call(history(
        "stats",
        "i",
        &[once, stat(2, time, &received(1))].join(","),
    ))
    .call(history("activity", "i", ""))
}

/// Without a time nothing is a repetition, and the time is that of receipt.
fn no_sent_time() -> Case {
    let post =
        || call("POST - /api/Stats/PostActivity").json(r#"{"instanceId":"i","activity":"Logon"}"#);
    let item = |second| {
        format!(
            r#"{{"activity":"Logon","instanceId":"i","receivedAt":"{}"}}"#,
            received(second)
        )
    };
    let all = [item(0), item(0), item(2)].join(",");
    Case::new(
        "6 times",
        "no time in the record: the time of receipt, and never a repetition",
    )
    .call(post())
    .call(post())
    .clock(2)
    .call(post())
    .call(history("activity", "i", &all))
    .file()
    .call(history("activity", "i", &all))
    .call(
        call("GET admin /operator/telemetry/activity?instanceId=i&from=2026-11-20T12:00:01Z")
            .gives(format!(
                r#"{{"records":[{}],"nextToken":null,"hasMore":false}}"#,
                item(2)
            )),
    )
}

/// Above the high-water mark the writer files by itself; nothing is lost.
fn high_water() -> Case {
    let mut case = Case::new(
        "6 queue",
        "above the high-water mark the writer files by itself",
    )
    .config(|config| config.limits.queue_high_water = 2);
    for index in 0..6 {
        case = case.record(stats("i", "jdoe", index, "2026-11-20T09:00:00Z"));
    }
    let all = (0..6)
        .map(|id| stat(id, "2026-11-20T09:00:00Z", &received(0)))
        .collect::<Vec<_>>();
    case.call(history("stats", "i", &all.join(",")))
}
