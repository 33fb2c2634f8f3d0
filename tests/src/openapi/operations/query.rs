//! The questions about the fleet.

use super::{Area, Operation};

pub(super) const AREA: Area = Area {
    tag: "query",
    prefix: "/query/",
    description: "Questions about the whole fleet. Rows are flat objects; `Accept` selects JSON, CSV or NDJSON.",
    operations: &[
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
            id: "queryFleet",
            summary: "The fleet in numbers",
            description: "Workspaces by what they are, those that send telemetry, and how much arrives and is stored. What is reported is \
                as far as it is filed, which takes about 10 seconds.",
            done: "The numbers.",
            target: "/query/fleet",
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
            id: "previewAction",
            summary: "Preview an action",
            description: "What an action would do now to each of up to 1000 workspaces, by the rules of the actions themselves: whether it would be \
            accepted, change nothing, or be refused, and why. Nothing is written, and there is no row of the audit.",
            done: "A row for each id, in their order.",
            target: "/query/preview",
            body: r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-8k2m4n6p1","ws-3h5j7k9m2"]}"#,
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
    ],
};
