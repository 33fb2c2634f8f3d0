//! The operator surface.

use super::{Area, Operation};

pub(super) const AREA: Area = Area {
    tag: "operator",
    prefix: "/operator/",
    description: "The inventory, litigation holds, telemetry in bulk and its history, the outbox of actions, and API keys.",
    operations: &[
        Operation {
            id: "listWorkspaces",
            summary: "List workspaces by filter",
            description: "One page of the workspaces that match every given filter, in the order of `workSpId`. Filters compare whole \
                values without case. Paging is that of `GetAllWorkSpaces`.",
            done: "One page of workspaces.",
            target: "/operator/workspaces?state=UNHEALTHY&limit=50",
            body: "",
        },
        Operation {
            id: "importWorkspaces",
            summary: "Create or change workspaces in bulk",
            description: "Merges: what a record leaves out stays as it is, and null becomes null. Reads JSON objects with any \
                white space between them, arrays of them, pages as `GetAllWorkSpaces` returns them and other objects with a list `rows`, `items` \
                or `value`, or CSV whose first line names the fields, of any length, and commits by the 1000. Members and \
                columns have our names or those of Amazon WorkSpaces, such as `WorkspaceId` and `WorkspaceProperties`. With `dryRun=true` \
                nothing is written: the report says what an import would do now, and `mapping` how the names are understood. A \
                record with an error is left out and reported: it never changes a state that an action is changing, nor the identity \
                of a workspace on litigation hold. One row `ImportWorkSpaces` of the audit has the counts, and one row \
                `UpdateWorkSpace` each workspace whose state or user changed.",
            done: "How many records were applied and are durable, the errors of the others, and warnings such as unknown names.",
            target: "/operator/workspaces",
            body: "{\"workSpId\":\"ws-5n7p9q2r4\",\"username\":\"kchan\",\"computerName\":\"WSAMZN-7J2M4N6P\",\"runningMode\":\"AUTO_STOP\",\"state\":\"AVAILABLE\"}\n{\"workSpId\":\"\",\"state\":\"AVAILABLE\"}\n",
        },
        Operation {
            id: "getWorkspace",
            summary: "Read a workspace",
            description: "The record with its running action and its litigation hold.",
            done: "The workspace.",
            target: "/operator/workspaces/ws-1b3d5f7h9",
            body: "",
        },
        Operation {
            id: "putWorkspace",
            summary: "Create or replace a workspace",
            description: "Stores the record as given; members that are left out become null. A state that an action is changing is \
                changed only with `override=true`, which cancels the action. On a workspace on litigation hold neither the identity \
                nor TERMINATED can be set.",
            done: "The workspace as stored.",
            target: "/operator/workspaces/ws-5n7p9q2r4",
            body: r#"{"workSpId":"ws-5n7p9q2r4","computerName":"WSAMZN-7J2M4N6P","account":"123456789012","region":"eu-central-1","directoryId":"d-9067a1b2c3","runningMode":"AUTO_STOP","computeTypeName":"STANDARD","protocol":"WSP","username":"kchan","state":"AVAILABLE"}"#,
        },
        Operation {
            id: "placeLitigationHold",
            summary: "Place a litigation hold",
            description: "From now on the workspace is neither rebuilt, restored, terminated nor removed, and its telemetry, activity \
                and audit are kept. A hold that is there is replaced.",
            done: "The workspace with its hold.",
            target: "/operator/workspaces/ws-8k2m4n6p1/litigation-hold",
            body: r#"{"matter":"Doe v. Example Corp.","reason":"Preserve until 2027-06-30."}"#,
        },
        Operation {
            id: "releaseLitigationHold",
            summary: "Release a litigation hold",
            description: "The refusals end, and retention counts again.",
            done: "The workspace without its hold.",
            target: "/operator/workspaces/ws-1b3d5f7h9/litigation-hold",
            body: "",
        },
        Operation {
            id: "postTelemetryBatch",
            summary: "Post telemetry in bulk",
            description: "Records of any stream, each below the name of its stream: NDJSON, a JSON array, or JSON objects with any white \
                space between them, whatever the content type says. Members beside the stream's are ignored with a warning. With \
                `stream`, records of that stream need no name. A record with an error is left out and reported; where something was \
                sent and nothing accepted, the response is 400 `InvalidBody` with the same errors. At most 8 MiB by default.",
            done: "How many records were accepted, all of them durable, the errors of the others, and warnings.",
            target: "/operator/telemetry",
            body: "{\"stats\":{\"instanceId\":\"ws-8k2m4n6p1\",\"updatetime\":\"2026-11-20T09:14:00Z\",\"processorInUse\":41}}\n{\"activity\":{\"instanceId\":\"ws-8k2m4n6p1\",\"username\":\"jdoe\",\"activity\":\"Lock\",\"activityTime\":\"2026-11-20T09:13:20Z\"}}\n{\"stats\":{\"processorInUse\":\"high\"}}\n",
        },
        Operation {
            id: "getStatsHistory",
            summary: "Read the statistics of an instance",
            description: "One page of the resource statistics of an instance, oldest first, pending and filed ones. `from` is inclusive, \
                `to` is not. Paging is that of `GetAllWorkSpaces`; a page with large records ends before its `limit`.",
            done: "One page of records.",
            target: "/operator/telemetry/stats?instanceId=ws-8k2m4n6p1&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=50",
            body: "",
        },
        Operation {
            id: "getActivityHistory",
            summary: "Read the activity of an instance",
            description: "As `getStatsHistory`, for user activities.",
            done: "One page of records.",
            target: "/operator/telemetry/activity?instanceId=ws-8k2m4n6p1&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=50",
            body: "",
        },
        Operation {
            id: "getStartupHistory",
            summary: "Read the startup timings of an instance",
            description: "As `getStatsHistory`, for startup timings.",
            done: "One page of records.",
            target: "/operator/telemetry/startup?instanceId=ws-8k2m4n6p1&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=50",
            body: "",
        },
        Operation {
            id: "getProcessesHistory",
            summary: "Read the process reports of an instance",
            description: "As `getStatsHistory`, for process reports.",
            done: "One page of records.",
            target: "/operator/telemetry/processes?instanceId=ws-8k2m4n6p1&from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&limit=50",
            body: "",
        },
        Operation {
            id: "listActions",
            summary: "List the actions that run",
            description: "The outbox: the accepted actions that have not ended, in the order of their numbers. Who performs the actions \
                (a cloud provider, a script, a person) reads it, dispatches each before it is carried out, and completes or fails it. \
                `dueAt` is null where only the host ends an action; the clock ends the others. Paging is that of `GetAllWorkSpaces`.",
            done: "One page of actions.",
            target: "/operator/actions?state=pending&workSpaceId=ws-1b3d5f7h9&limit=50",
            body: "",
        },
        Operation {
            id: "startActions",
            summary: "Start an action on many workspaces",
            description: "A batch: `atOnce` actions run, and the next ones begin as those end, until `stopAfterFailures` were refused or have \
                failed. Each is checked, audited and told in events as if it had been requested alone, with the number of the batch beside; a \
                refusal of one is a row of the answer, not of the request. The batch goes on without its caller and over restarts, and stops \
                where its key is revoked. At most 20 run; 100 are kept after their end.",
            done: "The batch, with those that have begun.",
            target: "/operator/actions",
            body: r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-8k2m4n6p1","ws-3h5j7k9m2"],"atOnce":20,"stopAfterFailures":5,"requester":"A. Smith, ticket 4711"}"#,
        },
        Operation {
            id: "listBatches",
            summary: "List the batches of actions",
            description: "Those that run, and the last 100 that have ended; newest first, without their workspaces.",
            done: "The batches.",
            target: "/operator/batches",
            body: "",
        },
        Operation {
            id: "getBatch",
            summary: "Read a batch of actions",
            description: "How far it is, and what came of each workspace. It is as of the last step of upkeep, which a server takes each second.",
            done: "The batch.",
            target: "/operator/batches/{batch}",
            body: "",
        },
        Operation {
            id: "stopBatch",
            summary: "Stop a batch of actions",
            description: "No further action of it begins; those that run go on. A batch that has ended stays as it is.",
            done: "The batch.",
            target: "/operator/batches/{batch}/stop",
            body: "",
        },
        Operation {
            id: "dispatchAction",
            summary: "Begin an attempt of an action",
            description: "Notes that a provider begins an attempt to make the action happen. Call it before the attempt, and begin only \
                after a 200: the action may have been cancelled since, or a litigation hold may have been placed that forbids it. `attempt` is one \
                more than the action has had; the last attempt once more, by the same `provider` and `instance`, changes nothing, so that a \
                request whose response was lost can be sent again.",
            done: "The action, with the attempt.",
            target: "/operator/actions/{action}/dispatch",
            body: r#"{"provider":"aws","attempt":1,"instance":"4fc1a90e"}"#,
        },
        Operation {
            id: "noteAction",
            summary: "Note what a provider says of an action",
            description: "Keeps the id of a request, or whatever the provider's support will ask for, with the last attempt of an action. \
                At the end it is in the action's audit row.",
            done: "It is noted; no content.",
            target: "/operator/actions/{action}/note",
            body: r#"{"attempt":1,"requestId":"5f6d1a0c-7a61-4a46-8d2e-0e1d8a8f5f0e"}"#,
        },
        Operation {
            id: "completeAction",
            summary: "Complete an action",
            description: "Ends a running action now, with success.",
            done: "The action has ended; no content.",
            target: "/operator/actions/{action}/complete",
            body: "",
        },
        Operation {
            id: "failAction",
            summary: "Fail an action",
            description: "Ends a running action now, with failure: the workspace goes to ERROR, or to UNHEALTHY. The body may be empty.",
            done: "The action has ended; no content.",
            target: "/operator/actions/{action}/fail",
            body: r#"{"state":"UNHEALTHY","detail":"The host did not come back within 5 minutes."}"#,
        },
        Operation {
            id: "removeTelemetry",
            summary: "Remove telemetry",
            description: "Removes what meets every given parameter, at least one of which is required: from the queue, from history, and what \
                was made of it alone. What may belong to a workspace on litigation hold is kept and counted; an `instance` on hold is refused. \
                Rollups of days are of all streams, and those of hours of all instances: they stay where only some of these are selected. It \
                gives space back on a full disk, takes time where much is removed, and is safe to repeat where it fails in the middle. The \
                audit has one row of it.",
            done: "How many records were removed, and how many were kept.",
            target: "/operator/telemetry?stream=processes&before=2026-11-01",
            body: "",
        },
        Operation {
            id: "listAudit",
            summary: "List the audit by filter",
            description: "One page of the rows that match every given filter, newest first: all that was done to the fleet in the last \
                365 days. Paging is that of `GetAllWorkSpaces`; a page may have fewer rows than `limit`, even none, while `hasMore` is \
                true.",
            done: "One page of rows.",
            target: "/operator/audit?workSpaceId=ws-1b3d5f7h9&from=2026-11-19T00:00:00Z&limit=50",
            body: "",
        },
        Operation {
            id: "getStore",
            summary: "Get the state of the store",
            description: "How much is stored, how much telemetry is not filed yet, and which actions are simulated: the clock ends them, and \
                nothing happens to a desktop.",
            done: "The state of the store.",
            target: "/operator/store",
            body: "",
        },
        Operation {
            id: "listKeys",
            summary: "List the API keys",
            description: "All keys, revoked and expired ones too, without their secrets.",
            done: "The keys.",
            target: "/operator/keys",
            body: "",
        },
        Operation {
            id: "issueKey",
            summary: "Issue an API key",
            description: "The secret is in the response and nowhere else: the store keeps only its SHA-256. The name of a key that is \
                accepted cannot be given again, and an expiry in the past is refused.\n\n\
                A key may do less than its scopes allow: start the named `actions` alone, on workspaces that match `filter` alone, and \
                `destructivePerHour` destructive ones in an hour. What its limits exclude is 403 `InsufficientScope`, above the number 429 \
                `Throttled`; both are in the audit. Limits do not narrow what a key reads, nor what else `admin` includes.",
            done: "The key with its secret.",
            target: "/operator/keys",
            body: r#"{"name":"console","scopes":["read","act"],"actions":["RebootWorkSpace","StartWorkSpace"],"filter":{"region":"eu-central-1"},"destructivePerHour":10,"expires":"2027-11-20T00:00:00Z"}"#,
        },
        Operation {
            id: "revokeKey",
            summary: "Revoke an API key",
            description: "The key is refused from now on; it stays listed. The last accepted key with scope `admin` that does not expire is revoked only with \
                `force=true`.",
            done: "The key is revoked; no content.",
            target: "/operator/keys/2",
            body: "",
        },
    ],
};
