//! API keys: scopes, carriers, expiry and revocation; and the keys endpoints of the operator surface.

use deskfleet::Scope;

use super::case::{Call, Case, call};
use super::documents::{Documented, ENDPOINTS};
use super::fixtures::{desk, page};
use super::requests::concrete;

const LIST: &str = "/api/Information/GetAllWorkSpaces";

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<_> = ENDPOINTS.iter().map(scopes).collect();
    cases.push(stats_are_open());
    cases.push(ingest_key());
    cases.extend([
        carriers(),
        first_carrier_counts(),
        unknown_keys(),
        expiry(),
        revocation(),
        checked_first(),
    ]);
    cases.push(nothing_secret());
    cases
}

fn list(query: &str) -> Call {
    call(&format!("GET - {LIST}{query}"))
}

fn listed(call: Call) -> Call {
    call.gives(page(&[], ""))
}

/// A request that reaches the own refusal or response of each endpoint, and its status.
fn sample(endpoint: &Documented, key: &str) -> (Call, u16) {
    let line = format!("{} {key} {}", endpoint.method, concrete(endpoint));
    let status = match endpoint.path {
        "/api/Information/GetUserInformation" | "/api/Information/RemoveWorkSpaceDbEntry" => 404,
        "/api/Actions/ChangeComputeType" => 400,
        path if path.starts_with("/api/Actions/") => 404,
        "/operator/workspaces" if endpoint.method == "POST" => 200,
        "/operator/telemetry" if endpoint.method == "DELETE" => 400,
        "/operator/telemetry" => 200,
        "/operator/actions/{}/fail" => 404,
        path if path.starts_with("/operator/telemetry/") => 400,
        // What a question cannot be without.
        "/query/export" | "/query/timeline" | "/query/top" => 400,
        _ if endpoint.body => 415,
        "/operator/workspaces" | "/operator/actions" | "/operator/audit" | "/operator/keys" => 200,
        path if path.contains("{}") => 404,
        _ => 200,
    };
    (call(&line), status)
}

/// Without a key 401, with a key without the scope 403, with the scope the endpoint's response.
fn scopes(endpoint: &Documented) -> Case {
    let mut case = Case::new("3 scopes", format!("{} {}", endpoint.method, endpoint.path)).key(
        "audit",
        &[Scope::Audit],
        None,
    );
    for key in ["-", "read", "act", "admin", "ingest", "audit"] {
        let granted = match endpoint.scope {
            "read" => matches!(key, "read" | "admin"),
            "read or audit" => matches!(key, "read" | "admin" | "audit"),
            "audit" => matches!(key, "admin" | "audit"),
            "act" => matches!(key, "act" | "admin"),
            "admin" => key == "admin",
            "ingest" => matches!(key, "ingest" | "admin"),
            _ => true,
        };
        let (call, status) = sample(endpoint, key);
        case = case.call(match (granted, key) {
            (true, _) => call.gives_any().with_status(status),
            (false, "-") => call.refused("InvalidApiKey"),
            (false, _) => call.refused("InsufficientScope"),
        });
    }
    case
}

/// The Stats endpoints ignore keys, even bad ones.
fn stats_are_open() -> Case {
    let mut case = Case::new("i Authentication", "the Stats endpoints take no key");
    for endpoint in ENDPOINTS
        .iter()
        .filter(|endpoint| endpoint.scope.is_empty())
    {
        let send = |line: &str, header: Option<&str>| {
            let call = call(&format!("{} {line}", endpoint.method));
            let call = match header {
                Some(value) => call.header("x-api-key", value),
                None => call,
            };
            if endpoint.body {
                call.json("{}")
            } else {
                call.gives_any()
            }
        };
        case = case
            .call(send(&format!("- {}", endpoint.path), None))
            .call(send(&format!("- {}?apiKey=dfk_wrong", endpoint.path), None))
            .call(send(&format!("- {}", endpoint.path), Some("dfk_wrong")))
            .call(send(&format!("read {}", endpoint.path), None));
    }
    case
}

/// With `require_ingest_key` every Stats endpoint needs a key with scope `ingest`, in any carrier.
fn ingest_key() -> Case {
    let mut case = Case::new("3 ingest", "required by configuration")
        .config(|config| config.require_ingest_key = true)
        .key("both", &[Scope::Read, Scope::Ingest], None);
    for endpoint in ENDPOINTS
        .iter()
        .filter(|endpoint| endpoint.scope.is_empty())
    {
        let send = |key: &str| {
            let call = call(&format!("{} {key} {}", endpoint.method, endpoint.path));
            if endpoint.body {
                call.json("{}")
            } else {
                call.gives_any()
            }
        };
        case = case.call(send("-").refused("InvalidApiKey"));
        for key in ["read", "act", "admin"] {
            case = case.call(send(key).refused("InsufficientScope"));
        }
        case = case
            .call(send("ingest"))
            .call(send("both"))
            .call(send("-").header("x-api-key", "«ingest»"))
            .call(send("-").header("authorization", "Bearer «ingest»"));
    }
    case.call(
        call("POST - /api/Stats/Post")
            .body("text/plain", "x")
            .refused("InvalidApiKey"),
    )
}

fn carriers() -> Case {
    Case::new("3 carriers", "query, X-Api-Key, Bearer")
        .call(listed(list("?apiKey=«read»")))
        .call(listed(list("").header("X-Api-Key", "«read»")))
        .call(listed(list("").header("Authorization", "Bearer «read»")))
        .call(listed(list("").header("Authorization", "bearer «read»")))
        .call(
            list("")
                .header("Authorization", "Basic «read»")
                .refused("InvalidApiKey"),
        )
        .call(
            list("")
                .header("Authorization", "«read»")
                .refused("InvalidApiKey"),
        )
        .call(
            list("")
                .header("Authorization", "Bearer")
                .refused("InvalidApiKey"),
        )
        .call(
            list("")
                .header("Api-Key", "«read»")
                .refused("InvalidApiKey"),
        )
        .call(
            list("")
                .header("Cookie", "apiKey=«read»")
                .refused("InvalidApiKey"),
        )
        .call(call("GET - /operator/keys?apiKey=«admin»").gives_any())
        .call(
            call("GET - /operator/keys")
                .header("Authorization", "Bearer «admin»")
                .gives_any(),
        )
}

/// Looked for in `X-Api-Key`, then `Authorization: Bearer`, then the query; the first one found counts, good or bad.
fn first_carrier_counts() -> Case {
    Case::new("3 carriers", "the first one found counts")
        .call(
            list("?apiKey=«read»")
                .header("X-Api-Key", "dfk_wrong")
                .refused("InvalidApiKey"),
        )
        .call(
            list("?apiKey=«read»")
                .header("Authorization", "Bearer dfk_wrong")
                .refused("InvalidApiKey"),
        )
        .call(
            list("")
                .header("Authorization", "Bearer «read»")
                .header("X-Api-Key", "dfk_wrong")
                .refused("InvalidApiKey"),
        )
        .call(listed(
            list("?apiKey=dfk_wrong").header("X-Api-Key", "«read»"),
        ))
        .call(listed(
            list("?apiKey=dfk_wrong").header("Authorization", "Bearer «read»"),
        ))
        .call(listed(
            list("")
                .header("Authorization", "Bearer dfk_wrong")
                .header("X-Api-Key", "«read»"),
        ))
        .call(list("?apiKey=dfk_wrong&apiKey=«read»").refused("InvalidApiKey"))
        .call(
            list("?apiKey=«ingest»")
                .header("X-Api-Key", "«read»")
                .gives(page(&[], "")),
        )
        .call(
            list("?apiKey=«read»")
                .header("X-Api-Key", "«ingest»")
                .refused("InsufficientScope"),
        )
}

/// Missing, empty, and unknown keys of every kind.
fn unknown_keys() -> Case {
    let case =
        Case::new("2 401", "missing, empty, unknown").call(list("").refused("InvalidApiKey"));
    [
        "",
        "=",
        "=x",
        "=dfk_",
        "=«read»x",
        "=x«read»",
        "=dfk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "=%FF",
        "=«read»+",
        "=%ZZ",
    ]
    .into_iter()
    .fold(case, |case, value| {
        case.call(list(&format!("?apiKey{value}")).refused("InvalidApiKey"))
    })
}

fn expiry() -> Case {
    let late = || list("?apiKey=«short»");
    Case::new("3 keys", "a key is accepted until it expires")
        .key("short", &[Scope::Read], Some("2026-11-20T12:01:00Z"))
        .call(listed(late()))
        .clock(59)
        .call(listed(late()))
        .clock(1)
        .call(late().refused("InvalidApiKey"))
        .clock(1)
        .call(late().refused("InvalidApiKey"))
        .clock(-60)
        .call(listed(late()))
}

fn revocation() -> Case {
    Case::new("3 keys", "a revoked key is no key")
        .call(listed(list("?apiKey=«read»")))
        .call(call("DELETE admin /operator/keys/«read id»"))
        .call(list("?apiKey=«read»").refused("InvalidApiKey"))
        .call(
            list("")
                .header("X-Api-Key", "«read»")
                .refused("InvalidApiKey"),
        )
        .call(listed(list("?apiKey=«admin»")))
        .call(call("DELETE admin /operator/keys/«admin id»?force=true"))
        .call(call("GET admin /operator/keys").refused("InvalidApiKey"))
}

fn checked_first() -> Case {
    Case::new("2 order of checks", "the key before the parameters")
        .call(list("?limit=0").refused("InvalidApiKey"))
        .call(list("?limit=%ZZ&nextToken=x").refused("InvalidApiKey"))
        .call(
            call("POST - /api/Actions/ChangeComputeType?computeType=HUGE").refused("InvalidApiKey"),
        )
        .call(
            call("POST read /api/Actions/ChangeComputeType?computeType=HUGE")
                .refused("InsufficientScope"),
        )
        .call(
            call("PUT read /operator/workspaces/ws-1")
                .body("text/plain", "x")
                .refused("InsufficientScope"),
        )
        .call(
            call("GET act /api/Information/GetAllWorkSpaces?limit=0").refused("InsufficientScope"),
        )
}

/// No response repeats a key or a query: the runner searches every response of every case for the secrets, and these
/// cases provoke it.
fn nothing_secret() -> Case {
    Case::new("2 secrets", "keys in the wrong places")
        .put(desk("ws-1", "AVAILABLE", "jdoe"))
        .call(call("GET - /api/Nothing?apiKey=«read»").refused("NotFound"))
        .call(call("PATCH - /api/Stats/Test?apiKey=«read»").refused("MethodNotAllowed"))
        .call(call(
            "POST act /api/Actions/RebootWorkSpace?workSpaceId=ws-1",
        ))
        .call(call("GET read /api/Information/GetAdminActivity").gives_any())
        .call(call("GET admin /operator/keys").gives_any())
        .call(call("DELETE read /operator/keys/1").refused("InsufficientScope"))
}
