//! Methods: which each path allows, and HEAD.

use super::case::{Call, Case, call};
use super::documents::ENDPOINTS;
use super::fixtures::{desk, details, page};
use super::requests::concrete;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![methods(), head(), head_refused()]
}

/// The methods that each path allows, as in `Allow`.
#[rustfmt::skip]
fn allowed(path: &str) -> &'static str {
    let methods: Vec<_> = ENDPOINTS.iter().filter(|endpoint| endpoint.path == path).map(|endpoint| endpoint.method).collect();
    match methods.as_slice() {
        ["GET"] => "GET, HEAD",
        ["POST"] => "POST",
        ["DELETE"] => "DELETE",
        ["GET", "POST"] => "GET, HEAD, POST",
        ["GET", "PUT"] => "GET, HEAD, PUT",
        ["PUT", "DELETE"] => "PUT, DELETE",
        ["POST", "DELETE"] => "POST, DELETE",
        other => panic!("no Allow typed for {other:?}"),
    }
}

/// Every other method on every path, before the key is checked.
fn methods() -> Case {
    let mut case = Case::new("2 405", "every other method on every path");
    for endpoint in ENDPOINTS {
        let allow = allowed(endpoint.path);
        for method in [
            "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "REPORT", "get",
        ] {
            if !allow.split(", ").any(|allowed| allowed == method) {
                let line = format!("{method} - {}", concrete(endpoint));
                case = case.call(
                    call(&line)
                        .refused("MethodNotAllowed")
                        .answers("allow", allow),
                );
            }
        }
    }
    case
}

fn lengthy(line: &str, text: &str) -> [Call; 2] {
    let headers = |call: Call| call.answers("content-type", "application/json; charset=utf-8");
    let get = headers(call(&format!("GET {line}"))).gives(text);
    let head =
        headers(call(&format!("HEAD {line}"))).answers("content-length", &text.len().to_string());
    [
        get,
        head.answers("cache-control", "no-store")
            .answers("x-content-type-options", "nosniff"),
    ]
}

/// HEAD returns the status and headers of GET, with its length, and no body.
fn head() -> Case {
    let workspace = desk("ws-1", "AVAILABLE", "jdoe");
    let one = page(std::slice::from_ref(&workspace), "");
    let view = format!(
        r#"{{"workSpace":{},"transition":null,"litigationHold":null}}"#,
        details(&workspace)
    );
    let user = format!(
        r#"{{"username":"jdoe","workSpaces":[{}],"litigationHold":false,"lastActivity":null,"lastActivityTime":null,"lastSeen":null,"lastStats":null,"lastStartup":null}}"#,
        details(&workspace)
    );
    let none = r#"{"records":[],"nextToken":null,"hasMore":false}"#;
    let rows = [
        ("read /api/Information/GetAllWorkSpaces", &*one),
        (
            "read /api/Information/GetWorkSpacesOnLitigationHold",
            r#"{"workSpaces":[],"nextToken":null,"hasMore":false}"#,
        ),
        (
            "read /api/Information/GetUserInformation?username=jdoe",
            &*user,
        ),
        ("read /api/Information/Get24HourActivity", "[]"),
        (
            "read /api/Information/GetAdminActivity?numberOfActivities=0",
            "[]",
        ),
        ("- /api/Stats/queue/count", "0"),
        ("admin /operator/workspaces", &*one),
        ("admin /operator/workspaces/ws-1", &*view),
        ("admin /operator/telemetry/stats?instanceId=i", none),
        ("admin /operator/telemetry/activity?instanceId=i", none),
        ("admin /operator/telemetry/startup?instanceId=i", none),
        ("admin /operator/telemetry/processes?instanceId=i", none),
        (
            "admin /operator/actions",
            r#"{"actions":[],"nextToken":null,"hasMore":false}"#,
        ),
        ("read /operator/batches", r#"{"batches":[]}"#),
    ];
    let case = Case::new("1 methods", "HEAD")
        .put(workspace)
        .call(call("HEAD - /api/Stats/Test"));
    let case = case.call(
        call("HEAD admin /operator/keys")
            .answers("content-type", "application/json; charset=utf-8"),
    );
    rows.into_iter()
        .flat_map(|(line, text)| lengthy(line, text))
        .fold(case, Case::call)
}

fn head_refused() -> Case {
    Case::new(
        "1 methods",
        "HEAD that is refused has the status and no body",
    )
    .call(call("HEAD - /api/Information/GetAllWorkSpaces").refused("InvalidApiKey"))
    .call(call("HEAD read /api/Information/GetAllWorkSpaces?limit=0").refused("InvalidParameter"))
    .call(call("HEAD read /operator/keys").refused("InsufficientScope"))
    .call(call("HEAD - /api/Nothing").refused("NotFound"))
    .call(
        call("HEAD - /api/Stats/Post")
            .refused("MethodNotAllowed")
            .answers("allow", "POST"),
    )
}
