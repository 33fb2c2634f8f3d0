//! The parameters of an operation, with their texts.

use deskfleet::limits::WORKSPACE_ID_MAX;
use deskfleet::routes::{Access, Answer, Param, ParamKind, RequestBody, Route};
use serde_json::{Value, json};

/// What a parameter means. Of the same name it means the same in every operation, but for those that an operation id precedes, or `query`
/// for the questions about the fleet.
#[rustfmt::skip]
const TEXTS: &[(&str, &str)] = &[
    ("id", "Number of the key."),
    ("completeAction id", "Number of the action, as `listActions` returns it."),
    ("failAction id", "Number of the action, as `listActions` returns it."),
    ("workSpId", "The workspace. Compared exactly."),
    ("username", "Name of the user, without case; a domain is ignored."),
    ("numberOfActivities", "Number of rows; 0 or less returns none, at most 10 000 are returned."),
    ("workSpaceId", "`workSpId` of the workspace."),
    ("samAccount", "Account of the user: selects the user's only live workspace. Given with `workSpaceId`, it must own that workspace. A domain (`CORP\\jdoe`, `jdoe@corp.example`) and case are ignored."),
    ("requester", "Who asks, in free text, for the audit; cut at 256 characters. Default: the name of the key."),
    ("computeType", "The new compute type, in any case; an unknown one is refused."),
    ("limit", "Most items on the page."),
    ("nextToken", "Token of the page, as the page before returned it. Absent: the first page."),
    ("state", "State of the workspaces."),
    ("listActions state", "`pending`, all that have not ended, which is also the default; `waiting`, those that no provider has begun; or `dispatched`, those that one has begun."),
    ("dispatchAction id", "Number of the action, as `listActions` returns it."),
    ("getBatch id", "Number of the batch, as `startActions` returns it."),
    ("stopBatch id", "Number of the batch, as `startActions` returns it."),
    ("noteAction id", "Number of the action, as `listActions` returns it."),
    ("region", "Cloud region of the workspaces."),
    ("directoryId", "Directory of the workspaces."),
    ("runningMode", "Running mode of the workspaces."),
    ("computeTypeName", "Compute type of the workspaces."),
    ("q", "A part of the id, the computer name or the username."),
    ("instanceId", "Instance of the records: a `workSpId` or a computer name, as it posts it."),
    ("from", "Records of this time or later. Default: no bound."),
    ("to", "Records before this time. Default: no bound."),
    ("postTelemetryBatch stream", "The stream of records that are not below the name of theirs: `stats`, `activity`, `startup` or `processes`, without case. Default: each record is below the name of its stream."),
    ("removeTelemetry instance", "Only records of this instance: the `workSpId` or computer name that they name, in any case and spelling. Default: of all."),
    ("removeTelemetry stream", "Only records of this stream: `stats`, `activity`, `startup` or `processes`. Default: of all."),
    ("removeTelemetry before", "Only records whose day (UTC) is before that of this time: a date-time, or a time before now such as `-30d`. The day of a record is that of the time it carries, or of its receipt where it carries none that is believed. Default: of all days."),
    ("stream", "`stats`, `activity`, `startup` or `processes`."),
    ("query format", "`json`, `csv`, `ndjson` or `columns`; goes before `Accept`. By default what that prefers, or else JSON. `columns` is JSON with `columns`, an object that has an array for each column, and `count`, their length, in place of `rows`."),
    ("queryWorkspaces limit", "Most rows on the page: up to 500, and up to 5000 with `format=columns` and without `sort`. A page with much text has fewer."),
    ("queryExport format", "`ndjson` or `csv`; goes before `Accept`. By default what that prefers, or else NDJSON."),
    ("queryExport instanceId", "Only records of this instance: the `workSpId` or computer name that they name, exactly; empty for records that name none. Default: all."),
    ("queryExport from", "Records of this time or later, by the time they carry or else by their receipt: a date-time, or a time before now such as `-24h` or `-7d`. Default: no bound."),
    ("queryExport to", "Records of before this time, in the same forms. Default: no bound."),
    ("listAudit from", "Calls of this time or later. Default: no bound."),
    ("listAudit to", "Calls before this time. Default: no bound."),
    ("listAudit batchId", "Number of a batch: the rows of its actions, and of its stop."),
    ("listAudit requester", "Who asked, without case."),
    ("action", "What was asked for, as the rows name it, without case."),
    ("result", "The outcome, as the rows name it, without case."),
    ("override", "Whether a state that an action is changing is set too, which cancels the action."),
    ("dryRun", "Whether the import is only checked: the report says what it would do, with the mapping of names, and nothing is written."),
    ("sort", "Up to three columns, each with `-` before it for the greatest first: `-cpuP95,workSpId`. Rows without a value come last; of a text the first bytes count, without case of ASCII letters."),
    ("fields", "The columns of the rows, in the order in which they are wanted. Default: all."),
    ("step", "The length of a step, as a duration such as `5m` or `1h`. It is raised to whole seconds, for the fleet to whole hours, and until there are at most 500 steps; `warnings` says so. A step begins at a multiple of itself since 1970."),
    ("queryTimeline workSpaceId", "Id of the workspace."),
    ("queryTimeline from", "The begin: a date-time, or a time before now such as `-24h`. Default: 7 days before `to`."),
    ("queryAdvice advice", "The kind of advice, without case: a value such as `idle`, a list such as `in.idle,oversized`, or `ne.` and what it is not. Default: all."),
    ("queryAdviceTotals from", "The begin, widened to a whole day (UTC): a date-time, or a time before now such as `-30d`, the default."),
    ("queryAdvice from", "The begin, widened to a whole day (UTC): a date-time, or a time before now such as `-30d`, the default."),
    ("queryProcesses from", "The begin: a date-time, or a time before now such as `-24h`, the default."),
    ("queryProcesses instanceId", "The instance, as it names itself. Default: all."),
    ("querySeries instanceId", "The one instance, as its records name it. Absent: the fleet."),
    ("metrics", "Of `cpu`, `memory`, `rootVolume`, `userVolume`, `diskReads`, `diskWrites`, `networkReceived`, `networkSent`, `uptime`; of the fleet only the first two. Default: `cpu,memory`."),
    ("querySeries from", "The begin: a date-time, or a time before now such as `-24h`, `-7d` or `-90m`. Default: 24 hours before `to`."),
    ("queryStartup from", "The begin: a date-time, or a time before now such as `-24h`, `-7d` or `-90m`. Default: 7 days before `to`."),
    ("queryHeatmap from", "The begin: a date-time, or a time before now such as `-24h`, `-7d` or `-90m`. Default: 28 days before `to`."),
    ("of", "What is counted: `activity`, records of activity, which is also the default; or `reporting`, desktops that reported a user."),
    ("offset", "How far the clocks of the time zone are ahead of UTC, such as `+01:00` or `-05:30`, at most 14 hours; `Z` for UTC, which is also the default. What is of an hour (UTC) counts in the hour of the time zone in which that begins."),
    ("query from", "The begin: a date-time, or a time before now such as `-24h`, `-7d` or `-90m`."),
    ("query to", "The end, excluded: a date-time, or a time before now such as `-1h`. Default: now."),
    ("window", "The time before now that `cpuAvg`, `cpuP95`, `memoryP95` and `healthScore` are of, as a duration such as `24h` or `30d`, also written `-24h`; widened to whole days (UTC). Default: none; these columns are null then."),
    ("queryWorkspaces lastSeen", "Time of the newest statistics: `gt.`, `ge.`, `lt.` or `le.` and a time, a date-time or a time before now; `null`, or `ne.null`; several separated by commas must all hold, such as `lt.-1h`."),
    ("queryWorkspaces cpu", "Processor load in the newest statistics, in percent: `gt.`, `ge.`, `lt.` or `le.` and a number with at most two decimals; `null`, or `ne.null`; several separated by commas must all hold, such as `gt.80` or `ge.20,lt.40`. Statistics of before `alerts.silent_after` count as none."),
    ("queryWorkspaces memory", "Memory in use, likewise."),
    ("queryWorkspaces rootVolume", "Used part of the root volume, likewise."),
    ("queryWorkspaces userVolume", "Used part of the user volume, likewise."),
    ("queryWorkspaces uptimeSeconds", "Time since the desktop started, in seconds, likewise."),
    ("queryWorkspaces cpuAvg", "Mean processor load in the `window`, compared as `cpu` is."),
    ("queryWorkspaces cpuP95", "95th percentile of the processor load in the `window`, likewise."),
    ("queryWorkspaces memoryP95", "95th percentile of the memory in use in the `window`, likewise."),
    ("queryWorkspaces healthScore", "Health score in the `window`, likewise."),
    ("queryWorkspaces clockAheadSeconds", "Seconds that the clock of the desktop is ahead, compared as `cpu` is."),
    ("queryWorkspaces asOf", "Time of statistics that are not current, compared as `lastSeen` is: `null` selects desktops whose figures are current, or that have none."),
    ("metric", "The metric: `cpu`, `memory`, `rootVolume`, `userVolume`, `diskReads`, `diskWrites`, `networkReceived`, `networkSent`, `uptime`, `startupTotal` or `healthScore`."),
    ("statistic", "What is made of its samples: `p95`, `p50`, `avg`, `max`, `min` or `last`, as far as the metric has it. Default: the first of these that it has."),
    ("queryTop from", "The begin, by default 24 hours before the end, widened to a whole day (UTC): a date-time, or a time before now such as `-24h`."),
    ("query workSpId", "Id of the workspaces, exactly: a value; a list such as `in.ws-1,ws-2`, of at most 500 ids, which are looked up without reading the fleet; or `ne.` and what it is not."),
    ("query state", "State of the workspaces: a value, without case; a list such as `in.STOPPED,ERROR`, of at most 100 values; or `ne.` and what it is not."),
    ("query username", "User of the workspaces, likewise; a domain is ignored."),
    ("query region", "Cloud region of the workspaces, likewise."),
    ("query directoryId", "Directory of the workspaces, likewise."),
    ("query runningMode", "Running mode of the workspaces, likewise."),
    ("query computeTypeName", "Compute type of the workspaces, likewise."),
    ("after", "Number of an event: those after it are returned. Absent: a page begins with the oldest event that is kept, a stream now."),
    ("export", "Whether the page is read for an export: then the audit has a row `QueryExport`, which counts the pages that say so."),
    ("force", "Whether the last admin key is revoked too."),
];

fn text(route: &Route, name: &str) -> &'static str {
    let own = format!("{} {name}", route.operation_id);
    let find = |key: &str| TEXTS.iter().find(|(text, _)| *text == key);
    let question = || find(&format!("query {name}")).filter(|_| route.path.starts_with("/query/"));
    let found = find(&own).or_else(question).or_else(|| find(name));
    found
        .unwrap_or_else(|| panic!("{own} has no text in tests/src/openapi/parameters.rs"))
        .1
}

/// The parameters of a route; their examples are those of the `target`.
pub(super) fn of_route(route: &Route, target: &str) -> Vec<Value> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut parameters = Vec::new();
    for (name, value) in route.path.split('/').zip(path.split('/')) {
        if let Some(name) = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'))
        {
            parameters.push(path_parameter(route, name, value));
        }
    }
    for param in route.parameters() {
        let value = query
            .split('&')
            .find_map(|pair| pair.strip_prefix(param.name)?.strip_prefix('='));
        parameters.push(query_parameter(route, param, value));
    }
    // As the interface document has it. The header is better, so it is a security scheme first.
    if route.access != Access::Telemetry && route.path.starts_with("/api/") {
        parameters.push(json!({"$ref": "#/components/parameters/apiKey"}));
    }
    if route.answer == Answer::Events {
        parameters.push(json!({"$ref": "#/components/parameters/lastEventId"}));
    }
    if route.body != RequestBody::None {
        parameters.push(json!({"$ref": "#/components/parameters/contentEncoding"}));
    }
    parameters
}

/// The parameters that several operations share.
pub(super) fn shared() -> Value {
    json!({
        "apiKey": {
            "name": "apiKey",
            "in": "query",
            "description": "The key of the caller, where it is not sent in a header. Headers are better: addresses end up in logs.",
            "schema": {"type": "string"},
        },
        "lastEventId": {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "For a stream: the `id` of the last event that was received, which counts before `after`.",
            "schema": {"type": "integer", "format": "int64", "minimum": 0},
        },
        "contentEncoding": {
            "name": "Content-Encoding",
            "in": "header",
            "description": "`gzip` for a compressed body. The limit of the body holds for it as sent and decoded.",
            "schema": {"type": "string", "default": "identity", "x-extensible-enum": ["gzip", "identity"]},
        },
    })
}

fn path_parameter(route: &Route, name: &str, value: &str) -> Value {
    let (schema, example) = if name == "id" {
        let number: u64 = value.parse().expect("the example has a number");
        (
            json!({"type": "integer", "format": "int64", "minimum": 0}),
            json!(number),
        )
    } else {
        (
            json!({"type": "string", "minLength": 1, "maxLength": WORKSPACE_ID_MAX}),
            json!(value),
        )
    };
    json!({"name": name, "in": "path", "required": true, "description": text(route, name), "schema": schema, "example": example})
}

fn query_parameter(route: &Route, param: &Param, value: Option<&str>) -> Value {
    let mut schema = match param.kind {
        ParamKind::Text | ParamKind::Moment | ParamKind::Duration => json!({"type": "string"}),
        ParamKind::Time => json!({"type": "string", "format": "date-time"}),
        ParamKind::Number => json!({"type": "integer", "format": "int64", "minimum": 0}),
        ParamKind::Flag => json!({"type": "boolean", "default": false}),
        ParamKind::Int32 { default, .. } => {
            json!({"type": "integer", "format": "int32", "default": default})
        }
    };
    // The bounds of the type itself are no constraint.
    if let ParamKind::Int32 { min, max, .. } = param.kind {
        if min != i32::MIN {
            schema["minimum"] = json!(min);
        }
        if max != i32::MAX {
            schema["maximum"] = json!(max);
        }
    }
    let mut parameter = json!({
        "name": param.name,
        "in": "query",
        "required": param.required,
        "description": text(route, param.name),
        "schema": schema,
    });
    if let Some(value) = value {
        let number = matches!(param.kind, ParamKind::Int32 { .. } | ParamKind::Number);
        parameter["example"] = if number {
            json!(value.parse::<i64>().expect("the example has a number"))
        } else {
            json!(value.replace("%5C", "\\"))
        };
    }
    parameter
}
