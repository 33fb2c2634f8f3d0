//! The questions about the fleet.

use super::{Area, Operation};

pub(super) const AREA: Area = Area {
    tag: "query",
    prefix: "/query/",
    description: "Questions about the whole fleet. Rows are flat objects; `Accept` selects JSON, CSV or NDJSON.",
    operations: &[
        Operation {
            id: "getKey",
            summary: "Read the key of the request",
            description: "The key that this request was made with, so that a client knows what it may offer. The secret is not in it.",
            done: "The key.",
            target: "/query/key",
            body: "",
        },
        Operation {
            id: "queryWorkspaces",
            summary: "Query workspaces as rows",
            description: "One page of the workspaces that match every given filter, in the order of `sort`, by default that of `workSpId`. \
                A walk under one sort returns each row that stays in its place once, whatever is added or removed meanwhile.",
            done: "One page of rows.",
            target: "/query/workspaces?state=in.AVAILABLE,UNHEALTHY&sort=-username,workSpId&limit=2",
            body: "",
        },
        Operation {
            id: "queryHolds",
            summary: "Query litigation holds",
            description: "One page of the litigation holds on workspaces that match every given filter, in the order of `sort`, by default that of \
                `workSpId`.",
            done: "One page of rows.",
            target: "/query/holds?sort=-placedAt&limit=2",
            body: "",
        },
        Operation {
            id: "queryFleet",
            summary: "The fleet in numbers",
            description: "Workspaces by what they are, those that send telemetry, and how much arrives and is stored. Of a queue of more than \
                1000 records what is reported is as far as it is filed, about 10 seconds ago.",
            done: "The numbers.",
            target: "/query/fleet",
            body: "",
        },
        Operation {
            id: "queryConditions",
            summary: "List what is wrong now",
            description: "One row for each thing that is wrong with the fleet, the store or the server, the worst first: desktops that are broken or \
                silent, actions that nobody carries out, slow logons, a full disk, an old backup. Upkeep writes an event when one is raised or \
                cleared. The settings below `alerts` have the thresholds.",
            done: "The conditions; none where nothing is wrong.",
            target: "/query/conditions",
            body: "",
        },
        Operation {
            id: "queryTop",
            summary: "List the worst desktops",
            description: "One page of the desktops with the greatest values of a metric, of `healthScore` the least. The range is widened \
                to whole days (UTC), which a warning says.",
            done: "One page of rows.",
            target: "/query/top?metric=cpu&statistic=max&from=-24h&limit=20",
            body: "",
        },
        Operation {
            id: "queryMetrics",
            summary: "Read metrics of the fleet",
            description: "Aggregates of the fleet and the store in the Prometheus exposition format, for a scraper with a key; never a series \
                for each desktop. Labels hold values that the vocabularies know; all others are `other`. The server's own `/metrics` has \
                the same families, and those of the server.",
            done: "The metrics.",
            target: "/query/metrics",
            body: "",
        },
        Operation {
            id: "queryProcesses",
            summary: "Query processes by name",
            description: "One page of what runs on the desktops: of each process name the instances and the reports that name it, and what it takes of \
                processor and memory. Several items of one name in a report add up. `sort` takes `cpu` and `memory` for the means. Where there are \
                more reports than one answer examines, it is of the newest day first, and a warning says how many that were.",
            done: "One page of rows.",
            target: "/query/processes?from=-24h&sort=-cpu&limit=2",
            body: "",
        },
        Operation {
            id: "queryTimeline",
            summary: "Query the story of one desktop",
            description: "One page of what happened to a desktop, newest first: rows of the audit, states, litigation holds, and the activities and startups \
                of its instances, which are those with its id and, if no other workspace has it, the name of its computer. A page may hold fewer rows \
                than `limit`, even none, where many rows of the audit were examined: the walk ends where there is no token. Of a removed workspace \
                there is what the audit and its instance still have.",
            done: "One page of rows.",
            target: "/query/timeline?workSpaceId=ws-8k2m4n6p1&from=-7d&limit=3",
            body: "",
        },
        Operation {
            id: "queryAdvice",
            summary: "Query advice",
            description: "One page of advice, in the order of `workSpId`: desktops that nobody uses, that the other running mode makes cheaper, that are \
                overloaded or too large. `hours` is what the use of a desktop costs under `AUTO_STOP` in a month of 30 days, compared with the limit of its \
                compute type in the configuration (`cost`). Advice about cost and size needs 7 days with records. All of it is an estimate. With \
                the prices of `cost.prices`, `savingPerMonth` is what following it saves. A page may hold \
                fewer rows than `limit`, even none, where many days were examined: the walk ends where there is no token.",
            done: "One page of rows.",
            target: "/query/advice?from=-30d&limit=2",
            body: "",
        },
        Operation {
            id: "queryAdviceTotals",
            summary: "Query totals of advice",
            description: "How many desktops each advice is about, and what following it saves in a month, over the whole fleet or what is filtered: a row for \
                each kind of `queryAdvice`. It takes as long as all pages of that, and one is answered at a time.",
            done: "The five rows.",
            target: "/query/advice/totals?from=-30d",
            body: "",
        },
        Operation {
            id: "previewAction",
            summary: "Preview an action",
            description: "What an action would do now to each of up to 1000 workspaces, by the rules of the actions themselves: whether it would be \
            accepted, change nothing, or be refused, and why. Nothing is written, and there is no row of the audit.",
            done: "A row for each id, in their order.",
            target: "/query/preview",
            body: r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-8k2m4n6p1","ws-3h5j7k9m2"]}"#,
        },
        Operation {
            id: "queryExport",
            summary: "Export the telemetry of a range",
            description: "All records of a stream that are filed from `from` to before `to`, of any number, streamed: by day, within a day by \
                instance, within that by time. What is queued is filed first. A record that is there from the begin to the end comes \
                exactly once, whatever arrives meanwhile. Where the response cannot be finished the connection ends without the end \
                of the body.\n\nNDJSON has each record as it was posted, and its `receivedAt`. CSV has a column for each field, empty \
                where a record has none; a process report takes a line for each process.",
            done: "The records.",
            target: "/query/export?stream=activity&from=-24h&instanceId=ws-8k2m4n6p1",
            body: "",
        },
        Operation {
            id: "getEvents",
            summary: "Follow what happens",
            description: "One page of the event log, oldest first, or with `Accept: text/event-stream` the events as they happen. Each \
                committed change of the fleet appends one event: an import one for each 1000 workspaces, telemetry one each time it is \
                filed. Refused calls append none. An action that ends by the clock is complete for every reader at once, and its event \
                follows with upkeep, about a second later. Events are kept for 7 days, at most a million. Where events after the \
                position that is asked for are no longer kept, one event `resync` comes first: read the fleet again and go on \
                after its `id`.\n\nA stream sends each event as a server-sent event: `id`, `event` with the type, and `data` with the \
                event as a line of JSON; a `resync` has no `id`. It begins after `Last-Event-ID`, else after `after`, else now. \
                Every 15 seconds a comment follows. A client that does not read is cut off, and resumes with the last `id`. The \
                stream ends when its key is revoked or expires, and at shutdown. Above the number of streams that the server allows the \
                request is refused with 503 `ServerBusy`.",
            done: "One page of events, or the stream.",
            target: "/query/events?after=1&limit=2",
            body: "",
        },
        Operation {
            id: "querySeries",
            summary: "Query metrics over time",
            description: "With `instanceId` the least, mean and greatest value of each metric of that instance in each step, of all its records. Without it \
                those of the fleet, with median and 95th percentile, of `cpu` and `memory` only: of what is filed, in whole hours. The columns are those \
                of the metrics that are asked for. Each step of the range is a row, also one without records. A range with more than an answer \
                examines is cut at its begin, and a warning says so.",
            done: "The steps, oldest first, and their length.",
            target: "/query/series?metrics=cpu&from=-6h&to=-2h&step=1h",
            body: "",
        },
        Operation {
            id: "queryStartup",
            summary: "Query how long startups took",
            description: "Quantiles of the whole startup, of its phases and of the rest in each step, of what is filed, in whole hours. In JSON also the \
                ten slowest startups of the range.",
            done: "The steps, oldest first, and their length.",
            target: "/query/startup?from=-1d",
            body: "",
        },
        Operation {
            id: "queryHeatmap",
            summary: "Query when the fleet is used",
            description: "For each hour of the week how much was done in it, of what is filed, in whole hours. All 168 rows, Monday first. A desktop counts \
                once in an hour for `reporting`, each record for `activity`. `users` are the different users that these desktops had on these days, \
                eight of a desktop and day at most.",
            done: "The hours of the week.",
            target: "/query/heatmap?of=reporting&from=-7d&offset=%2B01:00",
            body: "",
        },
    ],
};
