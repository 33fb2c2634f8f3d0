//! The server's own pages and operations. They have no row in the route table; tests of the server compare them with what it serves.

use deskfleet::Code;

/// A page of the server's own.
#[derive(Debug)]
pub(in crate::openapi) struct Page {
    pub(in crate::openapi) id: &'static str,
    pub(in crate::openapi) path: &'static str,
    pub(in crate::openapi) summary: &'static str,
    pub(in crate::openapi) description: &'static str,
    pub(in crate::openapi) media_type: &'static str,
    /// What the statuses mean, and an example of each.
    pub(in crate::openapi) responses: &'static [(&'static str, &'static str, &'static str)],
}

/// Another operation of the server's own.
#[derive(Debug)]
pub(in crate::openapi) struct Service {
    pub(in crate::openapi) id: &'static str,
    pub(in crate::openapi) path: &'static str,
    pub(in crate::openapi) method: &'static str,
    pub(in crate::openapi) summary: &'static str,
    pub(in crate::openapi) description: &'static str,
    /// Whether it needs a key.
    pub(in crate::openapi) keyed: bool,
    /// The schema of its body, and an example.
    pub(in crate::openapi) body: Option<(&'static str, &'static str)>,
    /// The parameter of its path: its name, what it means, and an example.
    pub(in crate::openapi) parameter: Option<(&'static str, &'static str, &'static str)>,
    /// The status of success, what it means, and the body.
    pub(in crate::openapi) response: (&'static str, &'static str, Done),
    /// Refusals beside those of all.
    pub(in crate::openapi) problems: &'static [Code],
}

/// The body of a success.
#[derive(Debug)]
pub(in crate::openapi) enum Done {
    /// Its schema, and an example.
    Json(&'static str, &'static str),
    /// The bytes of a file.
    File,
    Empty,
}

pub(in crate::openapi) const SERVICES: [Service; 10] = [
    Service {
        id: "listBackups",
        path: "/operator/backups",
        method: "get",
        summary: "List the backups",
        description: "The complete copies in the folder for backups, newest first.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: None,
        response: (
            "200",
            "The newest 100.",
            Done::Json(
                "BackupList",
                r#"{"configured":true,"backups":[{"file":"deskfleet-2026-11-20T09-14-03.210Z.redb","bytes":8425472,"at":"2026-11-20T09:14:03.21Z"}]}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InsufficientScope,
            Code::UriTooLong,
            Code::StorageUnavailable,
        ],
    },
    Service {
        id: "backUp",
        path: "/operator/backups",
        method: "post",
        summary: "Write a backup",
        description: "Writes a consistent copy of the store into the folder that the server was started with (`--backups FOLDER`), and returns when it is \
            complete; other requests are served meanwhile. A copy that has begun is completed even if the client disconnects. One is written \
            at a time. A body is ignored.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: None,
        response: (
            "201",
            "The copy is complete.",
            Done::Json(
                "Backup",
                r#"{"file":"deskfleet-2026-11-20T09-14-03.210Z.redb","bytes":8425472,"at":"2026-11-20T09:14:03.21Z"}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::OperationInProgress,
            Code::UnsupportedConfiguration,
            Code::UriTooLong,
            Code::StorageUnavailable,
            Code::LowDisk,
        ],
    },
    Service {
        id: "downloadBackup",
        path: "/operator/backups/download",
        method: "post",
        summary: "Download a backup",
        description: "Writes a consistent copy of the store beside its file, sends it and removes it; other requests are served meanwhile. A new node of a \
            fleet begins with such a copy (`deskfleet serve --join URL`). One is sent at a time, and further requests wait. A body is \
            ignored.\n\nA copy whose connection is cut off is kept for ten minutes, or until another one is asked for. `Range: bytes=N-` with the \
            `ETag` of the copy in `If-Range` gets the rest of it with 206. Where it is not kept any more, and with any other range, the whole of another \
            copy is sent with 200.\n\nNeeds a key with scope `admin`: a copy has all that the store has, but API keys only as hashes.",
        keyed: true,
        body: None,
        parameter: None,
        response: ("200", "The copy, a file of a store.", Done::File),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::UnsupportedConfiguration,
            Code::UriTooLong,
            Code::StorageUnavailable,
            Code::LowDisk,
        ],
    },
    Service {
        id: "clusterStatus",
        path: "/operator/cluster",
        method: "get",
        summary: "List the nodes of the fleet",
        description: "The nodes that share a log, how far each has applied it, and what is wrong, as the node that answers sees it. 404 where the \
            server shares no log.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: None,
        response: (
            "200",
            "The fleet.",
            Done::Json(
                "ClusterStatus",
                r#"{"node":"node-1","fleet":"5b0e6a6a4f0c1d3f8f6f6c2c9f5f0a11","position":4412,"positionAt":"2026-11-20T09:14:03.21Z",
                    "log":{"first":1,"last":4412},"problem":null,"haltCode":null,"rules":5,"nodes":[{"node":"node-1","reportedAt":"2026-11-20T09:14:03.9Z","position":4412,
                    "durable":4410,"lag":0,"chain":"c1a2f4e56b7d8091a2b3c4d5e6f70819","rules":5,"version":"0.1.0","halted":null,
                    "haltCode":null,"unready":[],"warnings":["LowDisk"]}],"problems":[]}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InsufficientScope,
            Code::NotFound,
            Code::UriTooLong,
            Code::StorageUnavailable,
        ],
    },
    Service {
        id: "fleetSettings",
        path: "/operator/cluster/settings",
        method: "get",
        summary: "Return the settings of the fleet",
        description: "The settings that hold on all nodes: those of actions, of retention, and how many events are kept. 404 where the server shares no \
            log.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: None,
        response: (
            "200",
            "The settings, as this node has applied them.",
            Done::Json(
                "FleetSettings",
                r#"{"actions.durations.reboot":"2m","limits.events":100000,"retention_days.stats":30}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InsufficientScope,
            Code::NotFound,
            Code::UriTooLong,
            Code::StorageUnavailable,
        ],
    },
    Service {
        id: "configureFleet",
        path: "/operator/cluster/settings",
        method: "post",
        summary: "Change settings of the fleet",
        description: "Changes the settings that the body names; the others stay. They hold on each node once it has applied that, without a restart. Of two \
            changes at the same moment on two nodes the later one holds as a whole. 400 where a name is no setting of the fleet or does not take the \
            value: nothing is changed then.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: Some(("FleetSettings", r#"{"retention_days.stats":14}"#)),
        parameter: None,
        response: (
            "200",
            "All settings of the fleet, changed.",
            Done::Json(
                "FleetSettings",
                r#"{"actions.durations.reboot":"2m","limits.events":100000,"retention_days.stats":14}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::NotFound,
            Code::UriTooLong,
            Code::StorageUnavailable,
            Code::LowDisk,
        ],
    },
    Service {
        id: "finalizeCluster",
        path: "/operator/cluster/finalize",
        method: "post",
        summary: "End an upgrade of all nodes",
        description: "From here on the nodes write by the newest rules that the node which answers knows: an older version cannot apply them. 409 with \
            `InvalidResourceState` where a node on the list does not know them. Does nothing where they write so already. A body is ignored.\n\nNeeds \
            a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: None,
        response: ("204", "The nodes write by those rules.", Done::Empty),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::NotFound,
            Code::InvalidResourceState,
            Code::UriTooLong,
            Code::StorageUnavailable,
        ],
    },
    Service {
        id: "forgetNode",
        path: "/operator/cluster/nodes/{node}",
        method: "delete",
        summary: "Take a node off the list",
        description: "For a node that is gone for good: the log is no longer kept for it. One that runs reports itself again. A body is \
            ignored.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: None,
        parameter: Some((
            "node",
            "The name of the node, in the case in which it was given.",
            "node-3",
        )),
        response: ("204", "It is off the list.", Done::Empty),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::NotFound,
            Code::UriTooLong,
            Code::StorageUnavailable,
        ],
    },
    Service {
        id: "takeLease",
        path: "/operator/leases",
        method: "post",
        summary: "Take the lease of a provider",
        description: "Takes the lease of a provider for one process of it, or extends the one that this process has; `seconds` is at most 3600, and 0 ends \
            it. While it lasts, attempts of other processes of that provider are refused: a second process waits for the lease, and takes over where the \
            first is gone. 409 with InvalidResourceState while another process has it. 404 where nodes of a fleet do not know leases before \
            `deskfleet cluster finalize`.\n\nNeeds a key with scope `admin`.",
        keyed: true,
        body: Some((
            "LeaseRequest",
            r#"{"provider":"aws","instance":"4fc1a90e","seconds":20}"#,
        )),
        parameter: None,
        response: (
            "200",
            "The lease.",
            Done::Json(
                "ProviderLease",
                r#"{"provider":"aws","instance":"4fc1a90e","until":"2026-11-20T09:14:23.21Z"}"#,
            ),
        ),
        problems: &[
            Code::InvalidParameter,
            Code::InvalidBody,
            Code::InsufficientScope,
            Code::NotFound,
            Code::InvalidResourceState,
            Code::UriTooLong,
            Code::StorageUnavailable,
            Code::LowDisk,
        ],
    },
    Service {
        id: "consoleSession",
        path: "/console/session",
        method: "post",
        summary: "Exchange a code for a key",
        description: "Signs in to the console, in a server that has it: issues a key of scope `admin` that expires after twelve hours. The code is that of \
            the link which the server prints when it starts; it is valid once, within 30 minutes. Wrong codes count as bad keys. The name of the key begins with `who`, if it is sent.\n\n\
            Each call that issues a key is a row `IssueKey` of the audit.",
        keyed: false,
        body: Some((
            "SignIn",
            r#"{"code":"Vh5yyRpsGVnoT0sIMA3h5gVoCLQEvKQFx2U3q9nOGYo","who":"Ada, Firefox on Linux"}"#,
        )),
        parameter: None,
        response: (
            "201",
            "The key; it is returned only here.",
            Done::Json(
                "IssuedKey",
                r#"{"id":3,"name":"Ada, Firefox on Linux, console 2026-11-20T09:14:03Z","scopes":["admin"],"created":"2026-11-20T09:14:03.21Z",
                "expires":"2026-11-20T21:14:03.21Z","lastUsed":null,"revoked":null,"actions":null,"filter":null,"destructivePerHour":null,"key":"dfk_2mVTzqy0eRVPPkG3gGzGqhQ7hCzCxM1Jq1V3n5sXoQw"}"#,
            ),
        ),
        problems: &[
            Code::InvalidBody,
            Code::UnsupportedMediaType,
            Code::StorageUnavailable,
            Code::Indeterminate,
            Code::LowDisk,
        ],
    },
];

pub(in crate::openapi) const PAGES: [Page; 6] = [
    Page {
        id: "livez",
        path: "/livez",
        summary: "Ask whether the process responds",
        description: "For a supervisor that restarts the process. It says nothing about the store.",
        media_type: "text/plain",
        responses: &[("200", "The process responds.", "ok\n")],
    },
    Page {
        id: "readyz",
        path: "/readyz",
        summary: "Ask whether the store can be used",
        description: "For a load balancer: 503 while the store cannot be read, or the disk is nearly full; of a node of a fleet also before it has caught up \
            with the log once, while it is more than 10 s behind or has not reached the log for that long, and where it applies nothing more. \
            The text of a node says how far it is behind. A line that begins with `warning:` says that no provider has begun an action \
            that waits for one for 15 minutes, or that the last attempt at one began 2 hours ago. `ready` speaks of small writes: a batch also \
            needs room for its own bytes, so where little more than the limit is free, large batches are 503 `LowDisk` and small ones 200.",
        media_type: "text/plain",
        responses: &[
            (
                "200",
                "The store can be read and written; where the clock ends actions, a second line says so.",
                "ready\n",
            ),
            (
                "503",
                "The store cannot be used; the text says why.",
                "LowDisk: telemetry is refused: 20971520 bytes are free on the disk, 33554432 are needed; free some space, or remove telemetry\n",
            ),
        ],
    },
    Page {
        id: "metrics",
        path: "/metrics",
        summary: "Read the metrics",
        description: "Counters and gauges in the Prometheus exposition format.",
        media_type: "text/plain",
        responses: &[(
            "200",
            "The metrics.",
            "# TYPE deskfleet_queue_records gauge\ndeskfleet_queue_records 12\n",
        )],
    },
    Page {
        id: "openapi",
        path: "/openapi.json",
        summary: "Read this document",
        description: "The OpenAPI 3.1 document of this version of the server. `?version=3.0` returns it in 3.0, for generators of clients that read no later one.",
        media_type: "application/json",
        responses: &[("200", "This document.", "")],
    },
    Page {
        id: "index",
        path: "/",
        summary: "See what runs here",
        description: "The version and where to look; for a client that accepts HTML the console.",
        media_type: "application/json",
        responses: &[("200", "What runs here.", "")],
    },
    Page {
        id: "icon",
        path: "/favicon.ico",
        summary: "Read the icon",
        description: "The icon that browsers ask for.",
        media_type: "image/svg+xml",
        responses: &[("200", "The icon, as SVG.", "")],
    },
];
