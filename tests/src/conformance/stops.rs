//! What stops an otherwise good request: a full queue, a full or broken medium, too many requests.

use super::case::{Call, Case, Step, call};
use super::fixtures::{desk, page};
use super::queue::queued;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        full(),
        full_batch(),
        low_disk(),
        storage(),
        doubt(),
        throttled(),
    ]
}

fn full() -> Case {
    let post = |path: &str| call(&format!("POST - /api/Stats/{path}")).json("{}");
    let mut case = Case::new(
        "2 503",
        "QueueFull: every stream; Test, counts and reads go on",
    )
    .config(|config| config.limits.queue_records = 2)
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(post("Post"))
    .call(post("PostActivity"));
    for path in [
        "Post",
        "PostActivity",
        "PostStartupMetrics",
        "PostProcesses",
    ] {
        case = case.call(post(path).refused("QueueFull").answers("retry-after", "5"));
    }
    case.call(call("GET - /api/Stats/Test"))
        .call(queued("2"))
        .call(
            call("GET read /api/Information/GetAllWorkSpaces")
                .gives(page(&[desk("ws-1", "AVAILABLE", "jdoe")], "")),
        )
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .file()
        .call(post("PostProcesses"))
        .call(queued("1"))
}

fn full_batch() -> Case {
    let batch = |lines: usize| {
        call("POST admin /operator/telemetry")
            .body("application/x-ndjson", "{\"stats\":{}}\n".repeat(lines))
    };
    Case::new("6 queue", "a batch on a full queue")
        .config(|config| config.limits.queue_records = 2)
        .call(batch(2).gives(r#"{"accepted":2,"rejected":0,"errors":[],"warnings":[]}"#))
        .call(batch(1).refused("QueueFull").answers("retry-after", "5"))
        .call(queued("2"))
}

/// Requests that write, of every area.
fn writes() -> [Call; 6] {
    [
        call("POST - /api/Stats/Post").json("{}"),
        call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1"),
        call("PUT admin /operator/workspaces/ws-2")
            .json("{}")
            .gives_any(),
        call("PUT admin /operator/workspaces/ws-1/litigation-hold")
            .json(r#"{"matter":"A"}"#)
            .gives_any(),
        call("POST admin /operator/keys")
            .json(r#"{"name":"n","scopes":["read"]}"#)
            .gives_any(),
        call("POST act /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1").gives_any(),
    ]
}

fn reads(case: Case) -> Case {
    case.call(
        call("GET read /api/Information/GetAllWorkSpaces")
            .gives(page(&[desk("ws-1", "AVAILABLE", "jdoe")], "")),
    )
    .call(queued("0"))
    .call(call("GET - /api/Stats/Test"))
    .call(call("GET read /api/Information/Get24HourActivity").gives("[]"))
}

/// The levels of free space: telemetry gives way first, then inventory and actions, and what is essential never does.
fn low_disk() -> Case {
    const MIB: u64 = 1024 * 1024;
    let refused = |write: Call| write.refused("LowDisk").answers("retry-after", "5");
    let [post, act, put, hold, issue, remove] = writes();
    let start = Case::new(
        "2 503",
        "LowDisk: writes stop as space runs out, reads go on",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .step(Step::Free(32 * MIB))
    .call(refused(post.clone()))
    .step(Step::Free(16 * MIB - 1));
    let fleet = [post.clone(), act.clone(), put, issue, remove];
    let case = fleet
        .into_iter()
        .fold(start, |case, write| case.call(refused(write)));
    reads(case)
        .step(Step::Free(16 * MIB))
        .call(refused(post.clone()))
        .call(act)
        .step(Step::Free(0))
        .call(hold)
        .step(Step::Free(33 * MIB))
        .call(post)
}

/// A medium that refuses writes: nothing is acknowledged, reads go on, and after the repair all is as before.
fn storage() -> Case {
    let start = Case::new(
        "2 503",
        "StorageUnavailable: a failed write is not acknowledged, reads go on",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .step(Step::Broken(true));
    let case = writes().into_iter().fold(start, |case, write| {
        case.call(
            write
                .refused("StorageUnavailable")
                .answers("retry-after", "5"),
        )
    });
    reads(reads(case).step(Step::Broken(false)))
        .call(writes()[0].clone())
        .call(queued("1"))
        .call(writes()[1].clone())
}

/// A medium that fails during the commit: the response is `Indeterminate`. The write was not acknowledged and may be
/// there.
fn doubt() -> Case {
    Case::new(
        "2 503",
        "Indeterminate: a sync that fails leaves in doubt what it was for",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .step(Step::Unsynced)
    .call(
        writes()[1]
            .clone()
            .refused("Indeterminate")
            .answers("retry-after", "5"),
    )
    .call(call("GET - /api/Stats/Test"))
    .call(writes()[0].clone().refused("StorageUnavailable"))
    .call(call("GET admin /operator/actions").refused("StorageUnavailable"))
    .step(Step::Broken(false))
    .call(writes()[0].clone())
    .call(queued("1"))
}

/// A fixed window of a minute per key.
fn throttled() -> Case {
    let list = |key: &str| call(&format!("GET {key} /api/Information/GetAllWorkSpaces"));
    let empty = || page(&[], "");
    Case::new(
        "2 429",
        "a configured number of requests a minute for each key",
    )
    .config(|config| config.limits.key_requests_per_minute = Some(2))
    .call(list("read").gives(empty()))
    .call(call("GET read /api/Information/GetAllWorkSpaces?limit=0").refused("InvalidParameter"))
    .call(
        list("read")
            .refused("Throttled")
            .answers("retry-after", "60"),
    )
    .clock(15)
    .call(
        list("read")
            .refused("Throttled")
            .answers("retry-after", "45"),
    )
    .call(call("POST read /api/Actions/RebootWorkSpace?limit=%zz").refused("Throttled"))
    .call(list("admin").gives(empty()))
    .call(call("GET - /api/Information/GetAllWorkSpaces").refused("InvalidApiKey"))
    .call(call("GET - /api/Stats/Test"))
    .call(call("GET - /api/Stats/Test"))
    .call(call("GET - /api/Stats/Test"))
    .call(call("GET read /api/Nothing").refused("NotFound"))
    .clock(44)
    .call(
        list("read")
            .refused("Throttled")
            .answers("retry-after", "1"),
    )
    .clock(1)
    .call(list("read").gives(empty()))
    .call(list("read").gives(empty()))
    .call(
        list("read")
            .refused("Throttled")
            .answers("retry-after", "60"),
    )
}
