//! Imports of many workspaces, and what they and a put may change.

use deskfleet::Workspace;

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::{desk, details, fleet, full, page, workspace};
use super::lifecycle::{ACTIONS, act, is};

const ROW: &str = "7 bulk upsert";
const MERGES: &str = "9 bulk import";
const AUDIT: &str = "9 audit of imports";
const NDJSON: &str = "application/x-ndjson";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        bulk_lines(),
        bulk_array(),
        bulk_shapes(),
        more_than_a_part(),
        bulk_first_byte(),
        bulk_errors(),
        bulk_bad(),
        merges(),
        saved_page(),
        csv(),
        other_encodings(),
        warnings(),
        other_names(),
        other_spellings(),
        dry_run(),
        refused_dry_run(),
        running_action(),
        under_hold(),
        put_under_hold(),
        audited(),
        broken_after_parts(),
    ]
}

fn bulk(content_type: &str, body: impl Into<Vec<u8>>) -> Call {
    call("POST admin /operator/workspaces").body(content_type, body)
}

/// A report of an import without warnings.
fn report(upserted: u64, rejected: u64, errors: &str) -> String {
    format!(
        r#"{{"upserted":{upserted},"rejected":{rejected},"committed":{upserted},"errors":[{errors}],"warnings":[]}}"#
    )
}

fn all(workspaces: &[Workspace]) -> Call {
    call("GET read /api/Information/GetAllWorkSpaces").gives(page(workspaces, ""))
}

fn bulk_lines() -> Case {
    let lines = format!(
        "{}\n\n{}\r\n{}",
        details(&full("ws-1")),
        details(&workspace("ws-2")),
        details(&workspace("ws-3"))
    );
    let mut case = Case::new(ROW, "NDJSON by its content types");
    for content_type in [
        NDJSON,
        "application/ndjson",
        "application/jsonl",
        "application/x-ndjson; charset=utf-8",
    ] {
        case = case.call(bulk(content_type, &*lines).gives(report(3, 0, "")));
    }
    case.call(all(&[full("ws-1"), workspace("ws-2"), workspace("ws-3")]))
}

fn bulk_array() -> Case {
    let array = format!(
        "[{},\n{}]",
        details(&full("ws-1")),
        details(&workspace("ws-2"))
    );
    Case::new(ROW, "a JSON array")
        .call(bulk("application/json", array).gives(report(2, 0, "")))
        .call(bulk("application/json", "[]").gives(report(0, 0, "")))
        .call(all(&[full("ws-1"), workspace("ws-2")]))
}

/// The same two records in every shape.
fn bulk_shapes() -> Case {
    let one = details(&full("ws-1"));
    let two = details(&workspace("ws-2"));
    let pretty = two
        .replace(',', ",\n  ")
        .replace('{', "{\n  ")
        .replace('}', "\n}");
    let mut case = Case::new(ROW, "JSON in every shape");
    for text in [
        format!("{one}{two}"),
        format!("{one}\n{pretty}\n"),
        format!("{one},\n{two},\n"),
        format!("[{one}]\n[{two}]"),
        format!(
            r#"{{"workSpaces":[{one}],"nextToken":"t"}}{{"workSpaces":[{two}],"nextToken":null}}"#
        ),
        format!(r#"{{"Workspaces":{one}}}{{"rows":[{two}],"count":1}}"#),
        format!(r#"[{{"items":[{one}]}},{{"value":[{two}],"Count":1}}]"#),
    ] {
        case = case
            .call(bulk("application/json", &*text).gives(report(2, 0, "")))
            .call(bulk(NDJSON, &*text).gives(report(2, 0, "")))
            .call(bulk("", text).gives(report(2, 0, "")));
    }
    case.call(bulk("application/json", &*one).gives(report(1, 0, "")))
        .call(all(&[full("ws-1"), workspace("ws-2")]))
}

fn more_than_a_part() -> Case {
    let many: Vec<_> = fleet(1204).collect();
    let lines = many.iter().map(details).collect::<Vec<_>>().join("\n");
    let pages = "GET read /api/Information/GetAllWorkSpaces?limit=500";
    Case::new(ROW, "more than 1000, some there before")
        .put(full("ws-0001"))
        .call(bulk(NDJSON, lines).gives(report(1204, 0, "")))
        .call(call(pages).gives(page(&many[..500], "«t»")))
        .call(call(&format!("{pages}&nextToken=«t»")).gives(page(&many[500..1000], "«u»")))
        .call(call(&format!("{pages}&nextToken=«u»")).gives(page(&many[1000..], "")))
}

/// Without a type that decides it, the first byte does.
fn bulk_first_byte() -> Case {
    let one = details(&workspace("ws-1"));
    let done = || report(1, 0, "");
    Case::new(ROW, "told apart by the first byte")
        .call(bulk("", format!("[{one}]")).gives(done()))
        .call(bulk("", &*one).gives(done()))
        .call(bulk("text/plain", format!("[{one}]")).gives(done()))
        .call(bulk("application/octet-stream", format!("{one}\n")).gives(done()))
        .call(bulk("", "workSpId,state\nws-1,AVAILABLE").gives(done()))
        .call(bulk(NDJSON, format!("\u{feff}[{one}]")).gives(done()))
        .call(bulk("", format!("\u{1e}{one}\n")).gives(done()))
}

/// A bad line does not affect the others; it is reported with the number of the line, or of the element in an array.
fn bulk_errors() -> Case {
    let good = |id: &str| details(&workspace(id));
    let lines = [
        good("ws-1"),
        "{".to_owned(),
        r#"{"state":"AVAILABLE"}"#.to_owned(),
        r#"{"workSpId":"ws-4","state":5}"#.to_owned(),
        good("ws-5"),
    ];
    let array = format!("[{},5,{}]", good("ws-6"), good("ws-7"));
    let error = |line: u64, column: u64, message: &str| {
        format!(r#"{{"line":{line},"column":{column},"message":"{message}"}}"#)
    };
    let errors = [
        error(2, 1, "«_»"),
        error(3, 1, "$: no member is workSpId or WorkspaceId."),
        error(
            4,
            28,
            "$.state: invalid type: integer `5`, expected a string or null.",
        ),
    ]
    .join(",");
    let many = vec!["{}"; 150].join("\n");
    let hundred: Vec<_> = (1..=100).map(|line| error(line, 1, "«_»")).collect();
    Case::new(ROW, "errors by line")
        .call(bulk(NDJSON, lines.join("\n")).gives_json(report(2, 3, &errors)))
        .call(bulk("application/json", array).gives_json(report(2, 1, &error(2, 1, "«_»"))))
        .call(bulk(NDJSON, many).gives_json(report(0, 150, &hundred.join(","))))
        .call(all(&["ws-1", "ws-5", "ws-6", "ws-7"].map(workspace)))
}

/// An invalid array is refused as a whole.
fn bulk_bad() -> Case {
    let case = Case::new(ROW, "an array that is none");
    ["", "[", "{}", "[{}", "[{},]", "5", "[{}] x"]
        .into_iter()
        .fold(case, |case, bad| {
            case.call(bulk("application/json", bad).refused("InvalidBody"))
        })
        .call(all(&[]))
}

fn merges() -> Case {
    let changed = Workspace {
        username: None,
        region: Some("us-east-1".into()),
        ..full("ws-1")
    };
    let new = Workspace {
        id: "ws-2".into(),
        ..Workspace::default()
    };
    let lines = "{\"workSpId\":\"ws-1\",\"username\":null,\"REGION\":\"us-east-1\"}\n{\"workSpId\":\"ws-2\"}";
    Case::new(MERGES, "absent is unchanged, null is null, an id is enough")
        .put(full("ws-1"))
        .call(bulk(NDJSON, lines).gives(report(2, 0, "")))
        .call(all(&[changed, new]))
}

/// A page of `GetAllWorkSpaces` is imported as it was saved.
fn saved_page() -> Case {
    let workspaces = [full("ws-1"), workspace("ws-2")];
    let page = page(&workspaces, "next");
    Case::new(MERGES, "a saved page")
        .call(bulk("application/json", &*page).gives(report(2, 0, "")))
        .call(bulk("", &*page).gives(report(2, 0, "")))
        .call(all(&workspaces))
}

fn csv() -> Case {
    let text = "\u{feff}WorkSpId,username,state\r\nws-1,\"Doe, J\",\r\nws-2,,stopped\r\nws-3\r\n";
    let one = Workspace {
        username: Some("Doe, J".into()),
        ..full("ws-1")
    };
    let two = Workspace {
        id: "ws-2".into(),
        state: Some("STOPPED".into()),
        ..Workspace::default()
    };
    let error = r#"{"line":4,"column":1,"message":"The line has 1 cells, the first line 3."}"#;
    Case::new(MERGES, "CSV, whose empty cells leave a field unchanged")
        .put(full("ws-1"))
        .call(bulk("text/csv; charset=utf-8", text).gives(report(2, 1, error)))
        .call(bulk("text/csv", "username\njdoe\n").refused("InvalidBody"))
        .call(all(&[one, two]))
}

fn other_encodings() -> Case {
    let case = Case::new(MERGES, "gzip that is not declared, and UTF-16");
    [&b"\x1f\x8b\x08\x00"[..], b"\xff\xfe[\x00", b"[\x00]\x00"]
        .into_iter()
        .fold(case, |case, body| {
            case.call(bulk(NDJSON, body).refused("InvalidBody"))
        })
}

fn warnings() -> Case {
    let lines = "{\"workSpId\":\"ws-1\",\"userName2\":\"jdoe\"}\n{\"workSpId\":\"ws-2\",\"userName2\":1,\"x\":{}}";
    let values = "workSpId,state,runningMode,protocol\nws-1,availabel,ALWAYSON,RDP\nws-2,availabel,auto_stop,wsp\nws-3,On fire,,";
    Case::new(MERGES, "unknown members and values are reported once")
        .call(bulk(NDJSON, lines).gives(
            r#"{"upserted":2,"rejected":0,"committed":2,"errors":[],"warnings":[{"line":1,"message":"unknown member userName2; did you mean username?"},{"line":2,"message":"unknown member x"}]}"#,
        ))
        .call(bulk("text/csv", values).gives(
            r#"{"upserted":3,"rejected":0,"committed":3,"errors":[],"warnings":[{"line":2,"message":"unknown state availabel; did you mean AVAILABLE?"},{"line":2,"message":"unknown protocol RDP; it is kept as it is"},{"line":4,"message":"unknown state On fire; it is kept as it is"}]}"#,
        ))
}

/// Names of Amazon WorkSpaces and of tools that list them.
fn other_names() -> Case {
    let described = r#"{"WorkspaceId":"ws-1","DirectoryId":"d-9067012345","UserName":"jdoe","IpAddress":"10.0.0.1","State":"AVAILABLE","ComputerName":"WSAMZN-4F7Q2L9A","WorkspaceProperties":{"RunningMode":"AUTO_STOP","RootVolumeSizeGib":80,"ComputeTypeName":"STANDARD","Protocols":["WSP"]},"Region":"eu-central-1","AccountId":123456789012}"#;
    let constants = r#"{"workspace_id":"ws-1","directory_id":"d-9067012345","user_name":"jdoe","state":{"Value":"AVAILABLE"},"computer_name":"WSAMZN-4F7Q2L9A","workspace_properties":{"RunningMode":{"Value":"AUTO_STOP"},"ComputeTypeName":{"Value":"STANDARD"},"Protocols":["WSP"]},"region":"eu-central-1","account_id":"123456789012"}"#;
    let csv = "#TYPE Selected.Workspace\r\nWorkspaceId;UserName;ComputerName;State;DirectoryId;WorkspaceProperties.RunningMode;WorkspaceProperties.ComputeTypeName;WorkspaceProperties.Protocols;Region;AccountId\r\n\
        ws-1 ; jdoe;WSAMZN-4F7Q2L9A;AVAILABLE;d-9067012345;AutoStop;Standard;DCV;eu-central-1;123456789012\r\n;;;;;;;;;\r\n";
    let twice = r#"{"workSpId":"ws-1","WorkspaceId":"ws-2"}"#;
    let error = r#"{"line":1,"column":40,"message":"$.WorkspaceId: workSpId and WorkspaceId both mean workSpId, and have different values: leave one of them out."}"#;
    let mut case = Case::new(MERGES, "by the names of other tools");
    for (content_type, text) in [(NDJSON, described), (NDJSON, constants), ("text/csv", csv)] {
        case = case
            .call(bulk(content_type, text).gives(report(1, 0, "")))
            .call(all(&[full("ws-1")]))
            .reset(&workspace("ws-1"));
    }
    case.call(bulk(NDJSON, twice).gives(report(0, 1, error)))
}

/// Values as other surfaces spell them are stored, and found by filters, in the canonical spelling.
fn other_spellings() -> Case {
    let lines = r#"{"workSpId":"ws-1","state":"admin maintenance","runningMode":"AlwaysOn","computeTypeName":"Power Pro","protocol":"DCV"}"#;
    let stored = Workspace {
        id: "ws-1".into(),
        state: Some("ADMIN_MAINTENANCE".into()),
        running_mode: Some("ALWAYS_ON".into()),
        compute_type_name: Some("POWERPRO".into()),
        protocol: Some("WSP".into()),
        ..Workspace::default()
    };
    let mut case = Case::new("4 values", "in the spelling of other surfaces")
        .call(bulk(NDJSON, lines).gives(report(1, 0, "")))
        .call(all(std::slice::from_ref(&stored)));
    for filter in [
        "state=Admin-Maintenance",
        "runningMode=always+on",
        "computeTypeName=power.pro",
    ] {
        let list = call(&format!("GET admin /operator/workspaces?{filter}"));
        case = case.call(list.gives(page(std::slice::from_ref(&stored), "")));
    }
    case
}

/// What an import would do, and how it understands the names; nothing is written.
fn dry_run() -> Case {
    let lines = [
        r#"{"WorkspaceId":"ws-1","state":"STOPPED","colour":1}"#,
        r#"{"WorkspaceId":"ws-2","UserName":"other"}"#,
        r#"{"WorkspaceId":"ws-3","State":"AVAILABLE"}"#,
        r#"{"WorkspaceId":"WS-3"}"#,
        r#"{"WorkspaceId":"ws-3"}"#,
        "x",
    ];
    let answer = r#"{"upserted":2,"rejected":4,"committed":0,"errors":[{"line":1,"column":1,"message":"OperationInProgress: WorkSpace ws-1 is REBOOTING; its state can be changed once that has ended."},{"line":2,"column":1,"message":"LitigationHold: WorkSpace ws-2 is on litigation hold; username cannot be changed before the hold is released."},{"line":4,"column":1,"message":"InvalidParameter: The id WS-3 is that of WorkSpace ws-3 in another spelling; use that one."},{"line":6,"column":1,"message":"$: expected value."}],"warnings":[{"line":1,"message":"unknown member colour"}],"mapping":[{"from":"WorkspaceId","to":"workSpId"},{"from":"state","to":"state"},{"from":"colour","to":null},{"from":"UserName","to":"username"},{"from":"State","to":"state"}]}"#;
    let dry_run = |value: &str| {
        let target = format!("POST admin /operator/workspaces?dryRun={value}");
        call(&target).body(NDJSON, lines.join("\n"))
    };
    // Read as an absent one, an empty value would write.
    let empty = |query: &str| {
        let target = format!("POST admin /operator/workspaces?{query}");
        let call = call(&target).body(NDJSON, lines.join("\n"));
        call.refused("InvalidParameter")
            .error_holding("dryRun", &["The value is empty: send dryRun=true"])
    };
    let bad = dry_run("maybe").refused("InvalidParameter");
    Case::new(MERGES, "that is only checked")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .put(desk("ws-2", "AVAILABLE", "jdoe"))
        .hold("ws-2")
        .call(act(&ACTIONS[0]))
        .call(dry_run("true").gives(answer))
        .call(call("GET admin /operator/workspaces/ws-3").refused("WorkSpaceNotFound"))
        .call(
            call("GET admin /operator/audit?action=ImportWorkSpaces")
                .gives(r#"{"activities":[],"nextToken":null,"hasMore":false}"#),
        )
        .call(bad.error_holding("dryRun", &["The value 'maybe' is not valid."]))
        .call(empty("dryRun="))
        .call(empty("dryRun"))
        .call(call("GET admin /operator/workspaces/ws-3").refused("WorkSpaceNotFound"))
}

/// Of dry runs that are refused the audit has those whose key may not import.
fn refused_dry_run() -> Case {
    let dry_run = |key: &str| {
        let target = format!("POST {key} /operator/workspaces?dryRun=true");
        call(&target).body("application/json", "[")
    };
    let refused = |code: &str| {
        format!(
            r#"{{"activities":[{{"id":«_»,"activityTime":"«_»","requester":"«_»","action":"ImportWorkSpaces","workSpaceId":null,"username":null,"computerName":null,"result":"Refused","previousState":null,"newState":null,"completedTime":null,"detail":"{code}","apiKeyName":"«_»","apiKeyId":«_»}}],"nextToken":null,"hasMore":false}}"#
        )
    };
    let rows = || call("GET admin /operator/audit?action=ImportWorkSpaces");
    Case::new(MERGES, "that is only checked, and refused")
        .call(dry_run("admin").refused("InvalidBody"))
        .call(rows().gives(r#"{"activities":[],"nextToken":null,"hasMore":false}"#))
        .call(dry_run("read").refused("InsufficientScope"))
        .call(rows().gives(refused("InsufficientScope")))
}

/// A state that an action is changing is refused; everything else goes in, and the action goes on.
fn running_action() -> Case {
    let lines = [
        r#"{"workSpId":"ws-1","state":"STOPPED","username":"other"}"#,
        r#"{"workSpId":"ws-1","state":null}"#,
        r#"{"workSpId":"ws-1","state":"Rebooting"}"#,
        r#"{"workSpId":"ws-1","region":"us-east-1"}"#,
        r#"{"workSpId":"ws-2"}"#,
    ];
    let wording = "OperationInProgress: WorkSpace ws-1 is REBOOTING; its state can be changed once that has ended.";
    let errors =
        [1, 2].map(|line| format!(r#"{{"line":{line},"column":1,"message":"{wording}"}}"#));
    let after = Workspace {
        region: Some("us-east-1".into()),
        ..desk("ws-1", "AVAILABLE", "jdoe")
    };
    let two = Workspace {
        id: "ws-2".into(),
        ..Workspace::default()
    };
    Case::new(MERGES, "of a workspace whose state an action is changing")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(act(&ACTIONS[0]))
        .call(bulk(NDJSON, lines.join("\n")).gives(report(3, 2, &errors.join(","))))
        .clock(120)
        .call(all(&[after, two]))
}

/// Neither whose a held workspace is, nor its end.
fn under_hold() -> Case {
    let refused = [
        (
            r#""username":"other""#,
            "username cannot be changed before the hold is released.",
        ),
        (
            r#""username":null"#,
            "username cannot be changed before the hold is released.",
        ),
        (
            r#""computerName":"PC""#,
            "computerName cannot be changed before the hold is released.",
        ),
        (
            r#""directoryId":"d""#,
            "directoryId cannot be changed before the hold is released.",
        ),
        (
            r#""state":"terminated""#,
            "it cannot become TERMINATED before the hold is released.",
        ),
    ];
    let mut case = Case::new(MERGES, "of a workspace on hold")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .hold("ws-1");
    for (member, wording) in refused {
        let line = format!(r#"{{"workSpId":"ws-1","region":"us-east-1",{member}}}"#);
        let error = format!(
            r#"{{"line":1,"column":1,"message":"LitigationHold: WorkSpace ws-1 is on litigation hold; {wording}"}}"#
        );
        case = case.call(bulk(NDJSON, line).gives(report(0, 1, &error)));
    }
    let line = r#"{"workSpId":"ws-1","username":"JDOE","state":"STOPPED","region":"eu-west-1"}"#;
    let after = Workspace {
        region: Some("eu-west-1".into()),
        username: Some("JDOE".into()),
        ..desk("ws-1", "STOPPED", "jdoe")
    };
    case.call(bulk(NDJSON, line).gives(report(1, 0, "")))
        .call(all(&[after]))
}

fn put_under_hold() -> Case {
    let put = |body: &str| call("PUT admin /operator/workspaces/ws-1?override=true").json(body);
    let kept = r#"{"username":"jdoe","computerName":"PC-ws-1","state":"STOPPED"}"#;
    let refused = Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        ..Row::refused("UpdateWorkSpace", "LitigationHold").before("AVAILABLE")
    };
    Case::new("9 PUT of one workspace", "of a workspace on hold")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .hold("ws-1")
        .call(put(r#"{"state":"TERMINATED"}"#).refused("LitigationHold"))
        .call(newest(&[refused]))
        .call(put("{}").refused("LitigationHold"))
        .call(is("AVAILABLE", "STANDARD"))
        .call(put(kept).gives_any())
        .call(put(&kept.replace("STOPPED", "TERMINATED")).refused("LitigationHold"))
        .call(call("DELETE admin /operator/workspaces/ws-1/litigation-hold").gives_any())
        .call(put("{}").gives_any())
}

/// One row for the import, and one for each workspace that was there and whose state or identity changed.
fn audited() -> Case {
    let row = |action, detail: &str| Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        detail: detail.to_owned(),
        ..Row::new(action, "Completed").completed(super::case::NOW)
    };
    let import = |detail: &str| row("ImportWorkSpaces", detail).unknown_workspace("null");
    let lines = [
        r#"{"workSpId":"ws-1","state":"STOPPED","region":"us-east-1"}"#,
        r#"{"workSpId":"ws-1","username":"asmith","computerName":"PC-9","directoryId":"d-1"}"#,
        r#"{"workSpId":"ws-1","account":"1"}"#,
        r#"{"workSpId":"ws-2","username":"jdoe","state":"AVAILABLE"}"#,
        "x",
    ];
    let refused = Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        ..Row::refused("ImportWorkSpaces", "InvalidBody").unknown_workspace("null")
    };
    Case::new(
        AUDIT,
        "one row for it, and one for each change of state or identity",
    )
    .put(desk("ws-1", "AVAILABLE", "jdoe"))
    .call(bulk(NDJSON, lines.join("\n")).gives_any())
    .call(newest(&[
        import("\"1 created, 3 updated, 1 rejected\""),
        row(
            "UpdateWorkSpace",
            "\"username changed from jdoe to asmith; computerName changed from PC-ws-1 to PC-9; directoryId changed from null to d-1\"",
        )
        .states("STOPPED", "STOPPED"),
        row("UpdateWorkSpace", "null").states("AVAILABLE", "STOPPED"),
    ]))
    .call(bulk("application/json", "[]").gives_any())
    .call(newest(&[import("\"0 created, 0 updated, 0 rejected\"")]))
    .call(bulk("application/json", "[").refused("InvalidBody"))
    .call(newest(&[refused]))
}

/// Of a body that breaks off whole thousands are kept.
fn broken_after_parts() -> Case {
    let many: Vec<_> = fleet(2500).map(|workspace| details(&workspace)).collect();
    let failed = Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        completed: "«_»".to_owned(),
        detail: "\"2000 created, 0 updated, 0 rejected\"".to_owned(),
        ..Row::new("ImportWorkSpaces", "Failed").unknown_workspace("null")
    };
    Case::new(MERGES, "a body that breaks off after 2500")
        .call(bulk("", format!("[{}", many.join(","))).refused("InvalidBody"))
        .call(newest(&[failed]))
        .call(call("GET admin /operator/workspaces/ws-2000").gives_any())
        .call(call("GET admin /operator/workspaces/ws-2001").refused("WorkSpaceNotFound"))
}
