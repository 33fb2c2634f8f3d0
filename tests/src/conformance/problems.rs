//! Problem bodies and other responses that the documents show in full, byte for byte.

use super::case::{Case, call};
use super::fixtures::desk;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        conflict(),
        validation(),
        forbidden(),
        limits(),
        actions(),
        test(),
    ]
}

/// The example of section 2, with its text.
fn conflict() -> Case {
    Case::new("2 409", "the contract's example")
        .put(desk("ws-8k2m4n6p1", "STOPPED", "jdoe"))
        .call(call("POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-8k2m4n6p1").with_status(409).gives(
            r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.10","title":"Conflict","status":409,"detail":"WorkSpace ws-8k2m4n6p1 is STOPPED; RebootWorkSpace needs AVAILABLE, UNHEALTHY, IMPAIRED or REBOOTING.","traceId":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00","code":"InvalidResourceState"}"#,
        ))
}

/// The three kinds of validation errors, each with its documented field name.
fn validation() -> Case {
    let stats = |body: String| {
        call("POST - /api/Stats/Post")
            .json(body)
            .refused("InvalidBody")
    };
    Case::new("2 400", "the names of the fields")
        .call(
            call("GET read /api/Information/GetAllWorkSpaces?limit=0")
                .refused("InvalidParameter")
                .error("limit", "The field limit must be between 1 and 500."),
        )
        .call(
            call("GET read /api/Information/GetAllWorkSpaces?limit=abc")
                .refused("InvalidParameter")
                .error("limit", "The value 'abc' is not valid."),
        )
        .call(
            stats(format!(r#"{{"computeTypeName":"{}"}}"#, "x".repeat(26))).error(
                "ComputeTypeName",
                "The field ComputeTypeName must be a string with a maximum length of 25.",
            ),
        )
        .call(stats(r#"{"id":"1"}"#.to_owned()).error_holding("$.id", &["line 1", "byte"]))
}

fn forbidden() -> Case {
    Case::new("2 403", "a good key without the right")
        .call(call("POST read /api/Actions/RebootWorkSpace").refused("InsufficientScope"))
        .call(call("GET act /api/Information/GetAllWorkSpaces").refused("InsufficientScope"))
        .call(call("GET read /operator/keys").refused("InsufficientScope"))
        .call(call("GET ingest /api/Information/GetAllWorkSpaces").refused("InsufficientScope"))
}

/// The document's table of limits: the last value that is accepted and the first that is not.
fn limits() -> Case {
    let mut case = Case::new("i Limits", "the table of the document");
    for path in ["GetAllWorkSpaces", "GetWorkSpacesOnLitigationHold"] {
        for (limit, good) in [("0", false), ("1", true), ("500", true), ("501", false)] {
            let call = call(&format!("GET read /api/Information/{path}?limit={limit}"));
            case = case.call(if good {
                call.gives_any()
            } else {
                call.refused("InvalidParameter")
            });
        }
    }
    for (path, field, max) in [
        ("Post", "computeTypeName", 25),
        ("PostActivity", "computeTypeName", 25),
        ("Post", "username", 50),
        ("PostActivity", "username", 50),
        ("Post", "instanceId", 50),
        ("PostActivity", "instanceId", 50),
        ("Post", "osVersion", 20),
    ] {
        let post = |length: usize| {
            call(&format!("POST - /api/Stats/{path}"))
                .json(format!(r#"{{"{field}":"{}"}}"#, "é".repeat(length)))
        };
        case = case
            .call(post(max))
            .call(post(max + 1).refused("InvalidBody"));
    }
    case
}

/// "All POST, no body, response 200 with no content."
fn actions() -> Case {
    let mut case = Case::new("i Actions", "200 with no content");
    for (action, state) in [
        ("RebootWorkSpace", "AVAILABLE"),
        ("RecoveryRebootWorkSpace", "AVAILABLE"),
        ("RebuildWorkSpace", "AVAILABLE"),
        ("RestoreWorkSpace", "AVAILABLE"),
        ("TerminateWorkSpace", "AVAILABLE"),
        ("StartWorkSpace", "STOPPED"),
        ("ChangeComputeType", "AVAILABLE"),
    ] {
        let target = format!(
            "POST act /api/Actions/{action}?samAccount=jdoe&workSpaceId=ws-1&requester=me&computeType=POWER"
        );
        case = case
            .reset(&desk("ws-1", state, "jdoe"))
            .call(call(&target).empty(200).lacks("content-type"));
    }
    case
}

fn test() -> Case {
    Case::new("5 Test", "empty, whatever is asked beside")
        .call(
            call("GET - /api/Stats/Test")
                .empty(200)
                .lacks("content-type"),
        )
        .call(
            call("GET - /api/Stats/Test?x=1")
                .header("accept", "text/html")
                .empty(200),
        )
}
