//! Keys that are limited to some actions, some workspaces, or a number of destructive actions in an hour; and what is simulated.

use deskfleet::{ActionDriver, Workspace};

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        actions(),
        filter(),
        rate(),
        wrong(),
        shown(),
        simulated(),
        carried_out(),
    ]
}

/// Issues a key; `kept` are its limits as they are stored.
fn issue(name: &str, limits: &str, kept: &str) -> Call {
    let body = format!(r#"{{"name":"{name}","scopes":["act","read"],{limits}}}"#);
    call("POST admin /operator/keys")
        .json(body)
        .gives(format!(
            r#"{{"id":«_»,"name":"{name}","scopes":["read","act"],"created":"«_»","expires":null,"lastUsed":null,"revoked":null,{kept},"key":"«{name}»"}}"#
        ))
        .with_status(201)
}

fn act(action: &str, id: &str, key: &str) -> Call {
    call(&format!(
        "POST - /api/Actions/{action}?workSpaceId={id}&requester=ann&apiKey=«{key}»"
    ))
}

fn in_region(id: &str, region: &str, directory: &str) -> Workspace {
    Workspace {
        region: Some(region.to_owned()),
        directory_id: Some(directory.to_owned()),
        ..desk(id, "AVAILABLE", "jdoe")
    }
}

/// An excluded action is refused before its workspace is looked up, and audited with workspace and requester.
fn actions() -> Case {
    let refused = Row {
        requester: "ann".to_owned(),
        username: "null",
        computer: "null",
        previous: "null".to_owned(),
        key: "\"helpdesk\"",
        ..Row::refused("TerminateWorkSpace", "InsufficientScope")
    };
    let issued = Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        completed: "«_»".to_owned(),
        detail: r#""helpdesk, limited to actions RebootWorkSpace, StartWorkSpace""#.to_owned(),
        ..Row::new("IssueKey", "Completed").unknown_workspace("null")
    };
    Case::new("10 keys", "actions")
        .puts([desk("ws-1", "AVAILABLE", "jdoe")])
        .call(issue(
            "helpdesk",
            r#""actions":["rebootworkspace","Start"]"#,
            r#""actions":["RebootWorkSpace","StartWorkSpace"],"filter":null,"destructivePerHour":null"#,
        ))
        .call(newest(&[issued]))
        .call(act("TerminateWorkSpace", "ws-1", "helpdesk").refused("InsufficientScope"))
        .call(newest(&[refused]))
        .call(act("RebuildWorkSpace", "none", "helpdesk").refused("InsufficientScope"))
        .call(
            call(
                "POST - /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-1&apiKey=«helpdesk»",
            )
            .refused("InsufficientScope"),
        )
        .call(act("RebootWorkSpace", "ws-1", "helpdesk"))
}

/// The filter compares as lists do, and applies to actions and the removal alone.
fn filter() -> Case {
    let excluded = Row {
        requester: "ann".to_owned(),
        key: "\"emea\"",
        username: "\"jdoe\"",
        computer: "\"PC-ws-2\"",
        workspace: "\"ws-2\"",
        previous: "\"AVAILABLE\"".to_owned(),
        ..Row::refused("RebootWorkSpace", "InsufficientScope")
    };
    let preview = r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-2"]}"#;
    Case::new("10 keys", "filter")
        .puts([
            in_region("ws-1", "EU-West-1", "d-1"),
            in_region("ws-2", "us-east-1", "d-1"),
            in_region("ws-3", "eu-central-1", "d-2"),
        ])
        .call(issue(
            "emea",
            r#""filter":{"region":"in.eu-west-1,eu-central-1","directoryId":"ne.d-2"}"#,
            r#""actions":null,"filter":{"region":"in.eu-west-1,eu-central-1","directoryId":"ne.d-2"},"destructivePerHour":null"#,
        ))
        .call(act("RebootWorkSpace", "ws-2", "emea").refused("InsufficientScope"))
        .call(newest(&[excluded]))
        .call(act("RebootWorkSpace", "ws-3", "emea").refused("InsufficientScope"))
        .call(
            call("POST - /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-2&apiKey=«emea»")
                .refused("InsufficientScope"),
        )
        .call(call("POST - /query/preview?apiKey=«emea»").json(preview).gives(
            r#"{"rows":[{"workSpaceId":"ws-2","outcome":"Refused","code":"InsufficientScope","state":"AVAILABLE","wouldBecome":null,"simulated":true}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
        .call(act("RebootWorkSpace", "ws-1", "emea"))
        .call(
            call("GET - /query/workspaces?fields=workSpId&workSpId=ws-2&apiKey=«emea»").gives_any(),
        )
}

/// What a preview shows the key `careful` of `ws-3`: a code, or that it is accepted.
fn preview(action: &str, code: &str) -> Call {
    call("POST - /query/preview?fields=code&apiKey=«careful»")
        .json(format!(r#"{{"action":"{action}","workSpaceIds":["ws-3"]}}"#))
        .gives(format!(
            r#"{{"rows":[{{"code":"{code}"}}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}}"#
        ))
}

/// Destructive actions that are accepted count, refused ones and those that change nothing do not.
fn rate() -> Case {
    let refused = Row {
        requester: "ann".to_owned(),
        key: "\"careful\"",
        workspace: "\"ws-3\"",
        computer: "\"PC-ws-3\"",
        previous: "\"AVAILABLE\"".to_owned(),
        time: "2026-11-20T12:00:10Z",
        ..Row::refused("TerminateWorkSpace", "Throttled")
    };
    Case::new("10 keys", "destructive actions in an hour")
        .puts([
            desk("ws-1", "AVAILABLE", "jdoe"),
            desk("ws-2", "AVAILABLE", "jdoe"),
            desk("ws-3", "AVAILABLE", "jdoe"),
            desk("ws-4", "TERMINATED", "jdoe"),
        ])
        .call(issue(
            "careful",
            r#""destructivePerHour":2.0"#,
            r#""actions":null,"filter":null,"destructivePerHour":2"#,
        ))
        .call(act("TerminateWorkSpace", "none", "careful").refused("WorkSpaceNotFound"))
        .call(act("TerminateWorkSpace", "ws-4", "careful"))
        .call(act("RebuildWorkSpace", "ws-1", "careful"))
        .call(
            call(
                "POST - /api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-2&apiKey=«careful»",
            )
            .gives_any(),
        )
        .clock(10)
        .call(
            act("TerminateWorkSpace", "ws-3", "careful")
                .refused("Throttled")
                .answers("retry-after", "3590"),
        )
        .call(newest(&[refused]))
        .call(preview("RebuildWorkSpace", "Throttled"))
        .call(act("RebootWorkSpace", "ws-3", "careful"))
        .clock(3600)
        .call(act("TerminateWorkSpace", "ws-3", "careful"))
}

fn wrong() -> Case {
    let wrong = |limits: &str, field: &str| {
        let body = format!(r#"{{"name":"n","scopes":["act"],{limits}}}"#);
        call("POST admin /operator/keys")
            .json(body)
            .refused("InvalidBody")
            .error_holding(field, &[])
    };
    let of_scopes = |scopes: &str| {
        let body = format!(r#"{{"name":"n","scopes":[{scopes}],"destructivePerHour":2}}"#);
        let call = call("POST admin /operator/keys").json(body);
        call.refused("InvalidBody")
            .error_holding("$.scopes", &["beside limits"])
    };
    let misspelled = |limits: &str, meant: &str| {
        let body = format!(r#"{{"name":"n","scopes":["act"],{limits}}}"#);
        call("POST admin /operator/keys")
            .json(body)
            .refused("InvalidBody")
            .error_holding("$", &[meant])
    };
    Case::new("10 keys", "limits that cannot be meant")
        .call(of_scopes(r#""admin""#))
        .call(of_scopes(r#""act","admin""#))
        .call(of_scopes(r#""read","ingest""#))
        .call(misspelled(
            r#""destructivePerHours":2"#,
            "did you mean destructivePerHour?",
        ))
        .call(misspelled(
            r#""action":["Reboot"]"#,
            "did you mean actions?",
        ))
        .call(misspelled(r#""colour":"red""#, "only name, expires"))
        .call(wrong(r#""actions":[]"#, "$.actions"))
        .call(wrong(r#""actions":["Reboot","Fly"]"#, "$.actions"))
        .call(wrong(r#""actions":"Reboot""#, "$.actions"))
        .call(wrong(r#""actions":[5]"#, "$.actions[0]"))
        .call(wrong(
            r#""actions":["Reboot"],"ACTIONS":["Start"]"#,
            "$.actions",
        ))
        .call(wrong(r#""filter":{}"#, "$.filter"))
        .call(wrong(r#""filter":{"colour":"red"}"#, "$.filter"))
        .call(wrong(
            r#""filter":{"region":"eu","directory":"d-1"}"#,
            "$.filter",
        ))
        .call(wrong(
            r#""filter":{"region":"eu-1,eu-2"}"#,
            "$.filter.region",
        ))
        .call(wrong(
            r#""filter":{"region":"in.eu-1, eu-2"}"#,
            "$.filter.region",
        ))
        .call(wrong(r#""filter":[]"#, "$.filter"))
        .call(wrong(r#""filter":{"region":5}"#, "$.filter.region"))
        .call(wrong(r#""filter":{"region":"in."}"#, "$.filter.region"))
        .call(wrong(r#""destructivePerHour":-1"#, "$.destructivePerHour"))
        .call(wrong(r#""destructivePerHour":1.5"#, "$.destructivePerHour"))
        .call(wrong(
            r#""destructivePerHour":4294967296"#,
            "$.destructivePerHour",
        ))
}

/// A key is shown its own limits; null limits nothing.
fn shown() -> Case {
    const NONE: &str = r#""actions":null,"filter":null,"destructivePerHour":null"#;
    let limits = r#""actions":["remove","Reboot"],"filter":{"REGION":"eu","directoryId":null},"destructivePerHour":0"#;
    let kept = r#""actions":["RebootWorkSpace","RemoveWorkSpaceDbEntry"],"filter":{"region":"eu"},"destructivePerHour":0"#;
    let key = |name: &str, limits: &str| {
        format!(
            r#"{{"id":«_»,"name":"{name}","scopes":["read","act"],"created":"2026-11-20T12:00:00Z","expires":null,{limits}}}"#
        )
    };
    Case::new("10 keys", "shown")
        .call(issue("limited", limits, kept))
        .call(issue("free", NONE, NONE))
        .call(call("GET - /query/key?apiKey=«limited»").gives(key("limited", kept)))
        .call(call("GET - /query/key?apiKey=«free»").gives(key("free", NONE)))
}

const ALL: &str = r#"["RebootWorkSpace","RecoveryRebootWorkSpace","RebuildWorkSpace","RestoreWorkSpace","TerminateWorkSpace","StartWorkSpace","ChangeComputeType"]"#;

fn store(simulated: &str) -> Call {
    call("GET admin /operator/store").gives(format!(
        r#"{{"bytes":«_»,"freeBytes":«_»,"queueRecords":0,"queueBytes":0,"oldestQueued":null,"retentionApplied":"«_»","simulated":{simulated}}}"#
    ))
}

/// An action that the clock ends is simulated, and remains so after it has ended.
fn simulated() -> Case {
    let row = Row::new("RebootWorkSpace", "Accepted").states("AVAILABLE", "REBOOTING");
    Case::new("10 simulated", "by the clock")
        .puts([desk("ws-1", "AVAILABLE", "jdoe")])
        .call(store(ALL))
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .call(newest(std::slice::from_ref(&row)))
        .clock(600)
        .call(newest(&[Row {
            result: "Completed",
            ..row.states("AVAILABLE", "AVAILABLE")
        }
        .completed("«_»")]))
}

/// What a provider ends is not.
fn carried_out() -> Case {
    let row = Row::new("RebootWorkSpace", "Accepted")
        .states("AVAILABLE", "REBOOTING")
        .carried_out();
    let preview = r#"{"action":"RebootWorkSpace","workSpaceIds":["ws-2"]}"#;
    Case::new("10 simulated", "by a provider")
        .config(|config| config.actions.driver = ActionDriver::Host)
        .puts([desk("ws-1", "AVAILABLE", "jdoe")])
        .call(store("[]"))
        .call(call("POST act /query/preview").json(preview).gives(
            r#"{"rows":[{"workSpaceId":"ws-2","outcome":"Refused","code":"WorkSpaceNotFound","state":null,"wouldBecome":null,"simulated":false}],"nextToken":null,"hasMore":false,"at":"«_»","warnings":[]}"#,
        ))
        .call(call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1"))
        .call(newest(&[row]))
}
