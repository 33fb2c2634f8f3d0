//! The Stats area.

use super::{Area, Operation};

const DURABLE: &str = "The record is durable; no content.";

pub(super) const AREA: Area = Area {
    tag: "stats",
    prefix: "/api/Stats/",
    description: "Telemetry posted by workspace instances. 200 means durable: the record is on disk. A record that is sent again, with \
        the same content, changes nothing. These endpoints are open, unless the server requires a key with scope `ingest`.",
    operations: &[
        Operation {
            id: "postStats",
            summary: "Post resource statistics",
            description: "One record of the load of an instance. At most 64 KiB by default.",
            done: DURABLE,
            target: "/api/Stats/Post",
            body: r#"{"id":17,"computeTypeName":"STANDARD","updatetime":"2026-11-20T09:14:00Z","username":"jdoe","processorCount":2,"processorInUse":37,"physicalMemory":4294967296,"availablePhysicalMemory":1610612736,"virtualMemory":8589934592,"availableVirtualMemory":5368709120,"memoryInUse":2684354560,"rootTotal":85899345920,"rootAvailable":41875931136,"userTotal":53687091200,"userAvailable":48318382080,"diskReads":12.5,"diskWrites":30.25,"networkReceived":18432.0,"networkSent":5120.5,"uptime":28800.5,"osVersion":"10.0.17763","tenantId":"corp","instanceId":"ws-8k2m4n6p1"}"#,
        },
        Operation {
            id: "testStats",
            summary: "Test the connection",
            description: "For agents: returns 200 as long as the server responds, even while the telemetry queue is full.",
            done: "The server responds; no content.",
            target: "/api/Stats/Test",
            body: "",
        },
        Operation {
            id: "getQueueCount",
            summary: "Count the queued telemetry",
            description: "Telemetry records that are accepted and durable, but not yet filed into history. Reads see them already.",
            done: "The number of records.",
            target: "/api/Stats/queue/count",
            body: "",
        },
        Operation {
            id: "postActivity",
            summary: "Post a user activity",
            description: "One thing that a user did on an instance. At most 64 KiB by default.",
            done: DURABLE,
            target: "/api/Stats/PostActivity",
            body: r#"{"id":18,"computeTypeName":"STANDARD","username":"jdoe","activity":"Unlock","activityTime":"2026-11-20T09:13:41Z","instanceId":"ws-8k2m4n6p1","tenantId":"corp"}"#,
        },
        Operation {
            id: "postStartupMetrics",
            summary: "Post startup timings",
            description: "How long the phases of one logon took. At most 64 KiB by default.",
            done: DURABLE,
            target: "/api/Stats/PostStartupMetrics",
            body: r#"{"id":19,"computeTypeName":"STANDARD","username":"jdoe","baselineUtc":"2026-11-20T08:00:31Z","profileMs":2100,"groupPolicyMs":3400,"shellMs":1800,"totalMs":8900,"instanceId":"ws-8k2m4n6p1"}"#,
        },
        Operation {
            id: "postProcesses",
            summary: "Post a process report",
            description: "What runs on an instance, by the name of the executable. At most 1 MiB by default.",
            done: DURABLE,
            target: "/api/Stats/PostProcesses",
            body: r#"{"computeTypeName":"STANDARD","username":"jdoe","createdDate":"2026-11-20T09:14:00Z","processes":[{"processName":"outlook.exe","processorUsage":3.5,"memoryUsage":412090368.0,"processCount":1,"username":"jdoe"},{"processName":"msedge.exe","processorUsage":11.0,"memoryUsage":958398464.0,"processCount":9,"username":"jdoe"}],"instanceId":"ws-8k2m4n6p1"}"#,
        },
    ],
};
