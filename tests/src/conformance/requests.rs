//! How requests are read: paths, methods, query strings, sizes.

use super::case::{Case, call};
use super::documents::{Documented, ENDPOINTS};
use super::fixtures::{desk, details, fleet, page};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        paths(),
        no_such_paths(),
        no_front_page(),
        path_parameters(),
        query_names(),
        escapes(),
        traces(),
    ];
    cases.extend([long_targets(), large_headers(), order()]);
    cases
}

/// The path of an endpoint with values for its parameters.
pub(super) fn concrete(endpoint: &Documented) -> String {
    endpoint.path.replace("{}", "4711")
}

/// In any case and with one trailing slash, each path is known: it is open, or 401 without a key.
fn paths() -> Case {
    let mut case = Case::new(
        "1 paths",
        "every path in other cases, with one slash behind",
    );
    for endpoint in ENDPOINTS {
        let path = concrete(endpoint);
        for spelling in [
            path.clone(),
            path.to_lowercase(),
            path.to_uppercase(),
            format!("{path}/"),
        ] {
            let line = call(&format!("{} - {spelling}", endpoint.method));
            case = case.call(match (endpoint.scope, endpoint.body) {
                ("", true) => line.refused("UnsupportedMediaType"),
                ("", false) => line.gives_any(),
                _ => line.refused("InvalidApiKey"),
            });
        }
    }
    case
}

fn no_such_paths() -> Case {
    let mut case = Case::new("1 paths", "anything else is 404, key or none");
    for endpoint in ENDPOINTS {
        let path = concrete(endpoint);
        for other in [
            format!("{path}//"),
            format!("/{path}"),
            format!("/v1{path}"),
            format!("{path}x/y"),
            format!("{path}/y/z"),
        ] {
            case = case.call(call(&format!("{} - {other}", endpoint.method)).refused("NotFound"));
        }
    }
    for other in [
        "/api",
        "/api/",
        "/api/Stats",
        "/api/Stats/",
        "/api/Stats/queue",
        "/api/Actions",
        "/api/Information",
        "/api/Stats/%54est",
        "/api/Stats/Test.json",
        "/api//Stats/Test",
        "/api/Stats/./Test",
        "/api/Stats/x/../Test",
        "/operator",
        "/operator/telemetry/other",
        "/operator/actions/1",
        "/operator/actions/1/other",
        "/operator/workspaces/ws-1/hold",
        "/api/Actions/StopWorkSpace",
        "/api/Stats/queue/counts",
        "/favicon.png",
    ] {
        case = case
            .call(call(&format!("GET - {other}")).refused("NotFound"))
            .call(call(&format!("POST admin {other}")).refused("NotFound"));
    }
    case
}

/// The server has one.
fn no_front_page() -> Case {
    Case::new("1 paths", "there is no page at /")
        .engine_only()
        .call(call("GET - /").refused("NotFound"))
        .call(call("POST admin /").refused("NotFound"))
}

/// The parameters of a path keep their case and are decoded once.
fn path_parameters() -> Case {
    let workspace = desk("Ws-%41/ü", "AVAILABLE", "jdoe");
    let view = format!(
        r#"{{"workSpace":{},"transition":null,"litigationHold":null}}"#,
        details(&workspace)
    );
    let get = |path: &str| call(&format!("GET admin {path}"));
    Case::new("1 paths", "parameters of a path")
        .put(workspace)
        .call(get("/operator/workspaces/Ws-%2541%2F%C3%BC").gives(&*view))
        .call(get("/OPERATOR/WorkSpaces/%57s-%2541%2f%c3%bc/").gives(&*view))
        .call(get("/operator/workspaces/ws-%2541%2F%C3%BC").refused("WorkSpaceNotFound"))
        .call(get("/operator/workspaces/Ws-%41%2F%C3%BC").refused("WorkSpaceNotFound"))
        .call(
            get("/operator/workspaces/Ws-%ZZ")
                .gives_any()
                .with_status(404),
        )
        .call(
            get("/operator/workspaces/Ws-%4")
                .gives_any()
                .with_status(404),
        )
        .call(
            get("/operator/workspaces/Ws-%FF")
                .gives_any()
                .with_status(404),
        )
}

/// Names in any case, unknown ones ignored, the first of several, `+` and escapes.
#[rustfmt::skip]
fn query_names() -> Case {
    let all: Vec<_> = fleet(5).collect();
    let mut case = Case::new("1 query names", "spellings").puts(fleet(5));
    for query in [
        "limit=2", "LIMIT=2", "Limit=2", "l%69mit=2", "%4CIMIT=2", "limit=2&limit=3", "limit=2&limit=abc", "LiMiT=2&limit=0",
        "x=1&limit=2", "limit=2&x", "limit=2&", "&&limit=2", "limit=%32", "limits=9&limit=2", "=5&limit=2", "limit=2&x=;&y=a=b",
        "limit=2&nextToken2=x", "LIMIT=&limit=2", "limit=2&nextToken=", "limit=2&_=1790000000000", "limit=2&x=%00", "limit=2#fragment",
    ] {
        let call = call(&format!("GET read /api/Information/GetAllWorkSpaces?{query}"));
        case = case.call(call.gives(page(&all[..2], "«_»")));
    }
    for (query, value) in [("limit=abc&limit=2", "abc"), ("limit=+2", " 2"), ("limit=2;x=1", "2;x=1"), ("limit=%2532", "%32")] {
        let call = call(&format!("GET read /api/Information/GetAllWorkSpaces?{query}"));
        case = case.call(call.refused("InvalidParameter").error("limit", format!("The value '{value}' is not valid.")));
    }
    for name in ["apiKey", "apikey", "APIKEY", "ApiKey", "api%4Bey"] {
        let target = format!("GET - /api/Information/GetAllWorkSpaces?limit=5&{name}=«read»&{name}=other");
        case = case.call(call(&target).gives(page(&all, "")));
    }
    case
}

/// A bad escape or invalid UTF-8 anywhere in the query is 400 on every endpoint, after the key.
fn escapes() -> Case {
    let mut case = Case::new("1 query names", "bad escapes");
    for bad in [
        "x=%",
        "x=%4",
        "x=%ZZ",
        "x=%FF",
        "x=%C3%28",
        "x=%ED%A0%80",
        "%ZZ=1",
        "%FF",
        "limit=2&x=%G0",
        "x=a%",
    ] {
        for endpoint in ENDPOINTS {
            let key = if endpoint.scope.is_empty() {
                "-"
            } else {
                endpoint.key()
            };
            let line = format!("{} {key} {}?{bad}", endpoint.method, concrete(endpoint));
            case = case.call(call(&line).refused("InvalidParameter"));
        }
    }
    let named = |line: &str, name: &str| {
        call(line)
            .refused("InvalidParameter")
            .error_holding(name, &[])
    };
    case.call(named(
        "GET read /api/Information/GetAllWorkSpaces?limit=%FF",
        "limit",
    ))
    .call(named(
        "GET read /api/Information/GetAllWorkSpaces?%ZZ=1",
        "query",
    ))
    .call(named(
        "POST act /api/Actions/RebootWorkSpace?requester=%Z",
        "requester",
    ))
    .call(call("GET - /api/Information/GetAllWorkSpaces?x=%ZZ").refused("InvalidApiKey"))
    .call(call("GET - /api/Information/GetAllWorkSpaces?apiKey=%ZZ").refused("InvalidApiKey"))
    .call(call("GET read /api/Nothing?x=%ZZ").refused("NotFound"))
}

/// The trace id of a valid `traceparent` is used; otherwise the engine makes one.
fn traces() -> Case {
    let missing = || call("GET - /api/Nothing").refused("NotFound");
    Case::new("2 problem details", "traceId")
        .call(missing())
        .call(missing().header(
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ))
        .call(missing().header(
            "traceparent",
            "00-ffffffffffffffffffffffffffffffff-ffffffffffffffff-ff",
        ))
}

/// 8 KiB of target, to the byte.
fn long_targets() -> Case {
    let padded = |start: &str, bytes: usize| format!("{start}{}", "x".repeat(bytes - start.len()));
    let test = |bytes: usize| call(&format!("GET - {}", padded("/api/Stats/Test?x=", bytes)));
    Case::new("2 413 415 414 431", "a target of 8 KiB and one byte more")
        .call(test(8192))
        .call(test(8193).refused("UriTooLong"))
        .call(call(&format!("GET - {}", padded("/nothing/", 8192))).refused("NotFound"))
        .call(call(&format!("GET - {}", padded("/nothing/", 8193))).refused("UriTooLong"))
        .call(call(&format!("PATCH - {}", padded("/api/Stats/Test?", 9000))).refused("UriTooLong"))
}

fn large_headers() -> Case {
    let test = |bytes: usize| call("GET - /api/Stats/Test").header("x-large", &"x".repeat(bytes));
    Case::new(
        "2 413 415 414 431",
        "headers of well under and well over 16 KiB",
    )
    .call(test(15_000))
    .call(test(17_000).refused("HeadersTooLarge"))
    .call(
        call("GET - /api/Nothing")
            .header("x-large", &"x".repeat(17_000))
            .refused("HeadersTooLarge"),
    )
}

/// Route, key, scope, query, content type, size, body, resource, rule: the first check that fails decides the response.
fn order() -> Case {
    let put = |key: &str, query: &str| {
        call(&format!(
            "PUT {key} /operator/workspaces/ws-9/litigation-hold{query}"
        ))
    };
    let large = || "x".repeat(64 * 1024 + 1);
    Case::new(
        "2 order of checks",
        "one request that is repaired step by step",
    )
    .config(|config| config.limits.key_requests_per_minute = Some(100))
    .call(
        call("PATCH - /operator/workspaces/ws-9/holds?x=%ZZ")
            .body("text/plain", large())
            .refused("NotFound"),
    )
    .call(
        call("PATCH - /operator/workspaces/ws-9/litigation-hold?x=%ZZ")
            .body("text/plain", large())
            .refused("MethodNotAllowed"),
    )
    .call(
        put("-", "?x=%ZZ")
            .body("text/plain", large())
            .refused("InvalidApiKey"),
    )
    .call(
        put("read", "?x=%ZZ")
            .body("text/plain", large())
            .refused("InsufficientScope"),
    )
    .call(
        put("admin", "?x=%ZZ")
            .body("text/plain", large())
            .refused("InvalidParameter"),
    )
    .call(
        put("admin", "")
            .body("text/plain", large())
            .refused("UnsupportedMediaType"),
    )
    .call(
        put("admin", "")
            .body("application/json", large())
            .refused("PayloadTooLarge"),
    )
    .call(
        put("admin", "")
            .body("application/json", "x")
            .refused("InvalidBody"),
    )
    .call(
        put("admin", "")
            .body("application/json", r#"{"matter":"A"}"#)
            .refused("WorkSpaceNotFound"),
    )
    .put(desk("ws-9", "AVAILABLE", "jdoe"))
    .call(
        put("admin", "")
            .body("application/json", r#"{"matter":"A"}"#)
            .gives_any(),
    )
}
