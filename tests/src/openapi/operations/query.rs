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
            id: "previewAction",
            summary: "Preview an action",
            description: "What an action would do now to each of up to 1000 workspaces, by the rules of the actions themselves: whether it would be \
            accepted, change nothing, or be refused, and why. Nothing is written, and there is no row of the audit.",
            done: "A row for each id, in their order.",
            target: "/query/preview",
            body: r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-8k2m4n6p1","ws-3h5j7k9m2"]}"#,
        },
    ],
};
