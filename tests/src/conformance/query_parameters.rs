//! What all questions about the fleet have in common: unknown parameters are refused, and `format` says how rows are written.

use super::case::{Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![unknown(), accepted(), format()]
}

/// A misspelled filter would select the whole fleet.
fn unknown() -> Case {
    [
        (
            "fleet",
            "region=eu",
            "'region'. This question has no parameters.",
        ),
        ("metrics", "x", "'x'. This question has no parameters."),
        ("workspaces", "stat=ERROR", "'stat'. Did you mean 'state'?"),
        (
            "workspaces",
            "state=ERROR&api_key=x",
            "'api_key'. Did you mean 'apiKey'?",
        ),
        (
            "top",
            "metric=cpu&limits=1",
            "'limits'. Did you mean 'limit'?",
        ),
        ("top", "metrics=cpu", "'metrics'. Did you mean 'metric'?"),
        (
            "series",
            "instance=i",
            "'instance'. Did you mean 'instanceId'?",
        ),
        ("startup", "form=-1d", "'form'. Did you mean 'from'?"),
        (
            "heatmap",
            "off%73ett=Z",
            "'offsett'. Did you mean 'offset'?",
        ),
        ("processes", "sorted=cpu", "'sorted'. Did you mean 'sort'?"),
        (
            "timeline",
            "workSpaceId=ws-1&colour=red",
            "'colour'. This question has workSpaceId, from, to, fields, format, limit, nextToken.",
        ),
        ("holds", "hold=x", "'hold'. This question has workSpId, state, username, region, directoryId, runningMode, computeTypeName, q, sort, fields, format, limit, nextToken, export."),
        ("advice", "regions=eu", "'regions'. Did you mean 'region'?"),
        ("events", "afer=1", "'afer'. Did you mean 'after'?"),
        (
            "export",
            "stream=stats&instanceid=i&until=-1h",
            "'until'. This question has stream, from, to, instanceId, format.",
        ),
    ]
    .into_iter()
    .fold(
        Case::new("q parameters", "unknown parameters").put(desk("ws-1", "AVAILABLE", "jdoe")),
        |case, (path, query, message)| {
            case.call(
                call(&format!("GET read /query/{path}?{query}"))
                    .refused("InvalidParameter")
                    .error("query", format!("There is no parameter {message}")),
            )
        },
    )
}

/// Names are compared without case; the paths of the interface and of the operator ignore unknown ones.
fn accepted() -> Case {
    Case::new(
        "q parameters",
        "known parameters in any case, and other paths",
    )
    .call(call("GET read /query/workspaces?STATE=x&FIELDS=state&&").gives_any())
    .call(call("GET read /query/fleet?apikey=x&APIKEY=y").gives_any())
    .call(call("GET read /api/Information/Get24HourActivity?x=y").gives_any())
    .call(call("GET admin /operator/workspaces?x=y").gives_any())
}

/// `format` goes before `Accept`.
fn format() -> Case {
    let get = |format: &str| {
        call(&format!(
            "GET read /query/workspaces?fields=workSpId,username&format={format}"
        ))
    };
    let csv = "workSpId,username\r\nws-1,jdoe\r\n";
    let line = "{\"workSpId\":\"ws-1\",\"username\":\"jdoe\"}\n";
    let case = Case::new("q rows", "format")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(
            get("csv")
                .gives(csv)
                .answers("content-type", "text/csv; charset=utf-8"),
        )
        .call(get("CSV").header("accept", "application/json").gives(csv))
        .call(get("ndjson").header("accept", "text/csv").gives(line))
        .call(get("").header("accept", "text/csv").gives(csv))
        .call(
            get("json")
                .header("accept", "text/csv")
                .gives_any()
                .answers("content-type", "application/json; charset=utf-8"),
        );
    [
        "workspaces",
        "top?metric=cpu",
        "series",
        "startup",
        "heatmap",
        "processes",
        "timeline?workSpaceId=ws-1",
        "advice",
        "holds",
    ]
    .into_iter()
    .fold(case, |case, path| {
        let sign = if path.contains('?') { '&' } else { '?' };
        let get = |format: &str| call(&format!("GET read /query/{path}{sign}format={format}"));
        let csv = get("csv").gives_any();
        case.call(csv.answers("content-type", "text/csv; charset=utf-8"))
            .call(get("xml").refused("InvalidParameter").error(
                "format",
                "The value 'xml' is not valid. Send one of json, csv, ndjson, columns.",
            ))
    })
}
