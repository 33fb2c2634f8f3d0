//! `GET /operator/audit`: filters and pages.

use super::audit::Row;
use super::case::{Call, Case, NOW, call};
use super::fixtures::desk;

const ROW: &str = "9 audit reads";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![rows(), filters(), times(), ended(), wrong(), pages()]
}

fn list(query: &str) -> Call {
    call(&format!("GET admin /operator/audit{query}"))
}

/// A page of rows, each with the number of its key; `next` is a pattern, empty on the last page.
fn page(rows: &[(&Row, &str)], next: &str) -> String {
    let items = rows.iter().map(|(row, key)| {
        let text = row.text();
        let open = text.strip_suffix('}').unwrap_or(&text);
        format!("{open},\"apiKeyId\":{key}}}")
    });
    let items = items.collect::<Vec<_>>().join(",");
    if next.is_empty() {
        return format!(r#"{{"activities":[{items}],"nextToken":null,"hasMore":false}}"#);
    }
    format!(r#"{{"activities":[{items}],"nextToken":"{next}","hasMore":true}}"#)
}

/// The rows of a refused start of a workspace that does not exist, by the service desk.
fn refused(workspace: &'static str) -> Row {
    Row::refused("StartWorkSpace", "WorkSpaceNotFound").unknown_workspace(workspace)
}

fn start(query: &str) -> Call {
    call(&format!("POST act /api/Actions/StartWorkSpace{query}")).refused("WorkSpaceNotFound")
}

/// Rows are those of `GetAdminActivity`, with the number of the key; the host has none.
fn rows() -> Case {
    let hold = Row {
        requester: "host".to_owned(),
        key: "null",
        completed: format!("{NOW:?}"),
        ..Row::new("PlaceLitigationHold", "Completed").states("AVAILABLE", "AVAILABLE")
    };
    Case::new(ROW, "newest first, with the number of the key")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .hold("ws-1")
        .call(start("?workSpaceId=ws-9"))
        .call(list("?limit=2").gives(page(
            &[(&refused("\"ws-9\""), "«act id»"), (&hold, "null")],
            "«_»",
        )))
        .call(super::audit::newest(&[refused("\"ws-9\""), hold]))
}

/// Every filter alone and with others. Names are compared without case; an empty value is no filter.
fn filters() -> Case {
    let nine = refused("\"ws-9\"");
    let ada = Row {
        requester: "Ada".to_owned(),
        ..nine.clone()
    };
    let eight = refused("\"Ws-8\"");
    let scope = Row {
        requester: "reader".to_owned(),
        key: "\"reader\"",
        ..Row::refused("RebootWorkSpace", "InsufficientScope").unknown_workspace("\"ws-9\"")
    };
    let all = [
        (&scope, "«read id»"),
        (&eight, "«act id»"),
        (&ada, "«act id»"),
        (&nine, "«act id»"),
    ];
    let mut case = Case::new(ROW, "filters")
        .call(start("?workSpaceId=ws-9"))
        .call(start("?workSpaceId=ws-9&requester=Ada"))
        .call(start("?workSpaceId=Ws-8"))
        .call(
            call("POST read /api/Actions/RebootWorkSpace?workSpaceId=ws-9")
                .refused("InsufficientScope"),
        );
    for (query, found) in [
        ("result=Refused", &[0, 1, 2, 3][..]),
        (
            "RESULT=refused&action=&requester=&workSpaceId=",
            &[0, 1, 2, 3],
        ),
        ("action=StartWorkSpace", &[1, 2, 3]),
        ("action=startworkspace&workSpaceId=ws-9", &[2, 3]),
        ("workSpaceId=WS-8", &[1]),
        ("workSpaceId=ws", &[]),
        ("requester=ada", &[2]),
        ("requester=reader&workSpaceId=ws-9", &[0]),
        ("requester=service-desk", &[1, 3]),
        ("requester=service-desk&action=RebootWorkSpace", &[]),
        ("action=RevokeKey", &[]),
        ("result=Failed", &[]),
    ] {
        let found: Vec<_> = found.iter().map(|index| all[*index]).collect();
        case = case.call(list(&format!("?{query}")).gives(page(&found, "")));
    }
    case
}

/// `from` is inclusive, `to` exclusive; both look at the time of the call.
fn times() -> Case {
    let later = Row {
        time: "2026-11-20T12:01:00Z",
        ..refused("\"ws-9\"")
    };
    let latest = Row {
        time: "2026-11-20T12:02:00Z",
        ..later.clone()
    };
    let both = [(&latest, "«act id»"), (&later, "«act id»")];
    Case::new(ROW, "from and to")
        .clock(60)
        .call(start("?workSpaceId=ws-9"))
        .clock(60)
        .call(start("?workSpaceId=ws-9"))
        .call(list("?from=2026-11-20T12:00:01Z").gives(page(&both, "")))
        .call(
            list("?from=2026-11-20T12:01:00Z&to=2026-11-20T12:02:00Z").gives(page(&both[1..], "")),
        )
        .call(
            list("?from=2026-11-20T12:01:01Z&to=2026-11-20T12:02:00.0000001Z")
                .gives(page(&both[..1], "")),
        )
        .call(list("?to=2026-11-20T12:00:00Z").gives(page(&[], "")))
        .call(list("?from=2026-11-20T12:02:00Z&to=2026-11-20T12:01:00Z").gives(page(&[], "")))
}

/// An action that has ended by the clock is found by its outcome, whether or not that is written.
fn ended() -> Case {
    let running = Row::new("RebootWorkSpace", "Accepted").states("AVAILABLE", "REBOOTING");
    let done = Row::new("RebootWorkSpace", "Completed")
        .states("AVAILABLE", "AVAILABLE")
        .completed("2026-11-20T12:02:00Z");
    let of = |result: &str| list(&format!("?action=RebootWorkSpace&result={result}"));
    Case::new(ROW, "the result as it is now")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .call(of("Accepted").gives(page(&[(&running, "«act id»")], "")))
        .call(of("Completed").gives(page(&[], "")))
        .clock(120)
        .call(of("Accepted").gives(page(&[], "")))
        .call(of("Completed").gives(page(&[(&done, "«act id»")], "")))
        .maintain()
        .call(of("Completed").gives(page(&[(&done, "«act id»")], "")))
}

fn wrong() -> Case {
    let mut case = Case::new(ROW, "wrong values");
    for (name, value, message) in [
        (
            "action",
            "RebotWorkSpace",
            "The value 'RebotWorkSpace' is not valid. Did you mean 'RebootWorkSpace'?",
        ),
        (
            "action",
            "Host",
            "The value 'Host' is not valid. Send one of RebootWorkSpace, RecoveryRebootWorkSpace, RebuildWorkSpace, RestoreWorkSpace, TerminateWorkSpace, StartWorkSpace, ChangeComputeType, RemoveWorkSpaceDbEntry, PlaceLitigationHold, ReleaseLitigationHold, IssueKey, RevokeKey, ImportWorkSpaces, UpdateWorkSpace, BackUp, DownloadBackup, QueryExport, ListKeys, StartOnCopy, RemoveTelemetry, StopBatch, ConfigureFleet.",
        ),
        (
            "result",
            "complete",
            "The value 'complete' is not valid. Did you mean 'Completed'?",
        ),
        (
            "result",
            "0",
            "The value '0' is not valid. Send one of Accepted, Completed, Failed, Refused, NoChange, Cancelled.",
        ),
        ("from", "yesterday", "The value 'yesterday' is not valid."),
        ("to", "2026-13-01", "The value '2026-13-01' is not valid."),
        ("limit", "0", "The field limit must be between 1 and 500."),
        ("limit", "501", "The field limit must be between 1 and 500."),
        (
            "nextToken",
            "x",
            "The value is not a token of this endpoint.",
        ),
    ] {
        let call = list(&format!("?{name}={value}")).refused("InvalidParameter");
        case = case.call(call.error(name, message));
    }
    case
}

/// Pages of 50 unless a limit is given; rows that are written meanwhile are on none of them.
fn pages() -> Case {
    let row = Row {
        time: "«_»",
        ..refused("\"ws-9\"")
    };
    let rows = |count: usize| vec![(&row, "«act id»"); count];
    let of = |query: &str| list(&format!("?workSpaceId=ws-9{query}"));
    let case = (0..51).fold(Case::new(ROW, "pages"), |case, _| {
        case.clock(60).call(start("?workSpaceId=ws-9"))
    });
    case.call(of("").gives(page(&rows(50), "«a»")))
        .clock(60)
        .call(start("?workSpaceId=ws-9"))
        .call(of("&nextToken=«a»").gives(page(&rows(1), "")))
        .call(of("&limit=500").gives(page(&rows(52), "")))
        .call(of("&limit=52").gives(page(&rows(52), "")))
        .call(of("&limit=26").gives(page(&rows(26), "«b»")))
        .call(of("&limit=26&nextToken=«b»").gives(page(&rows(26), "")))
        .call(of("&limit=2&nextToken=«b»&result=Completed").gives(page(&[], "")))
}
