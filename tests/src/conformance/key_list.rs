//! The keys endpoints of the operator surface.

use deskfleet::Scope;

use super::audit::Row;
use super::case::{Call, Case, call};

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![
        issued_and_listed(),
        issue_bodies(),
        issue_lengths(),
        expiry_in_the_past(),
        names_in_use(),
        last_admin(),
        revoke_twice(),
        last_use(),
        of_the_request(),
    ]
}

/// The list after a key was issued: in the order of the ids, without secrets.
fn issued_and_listed() -> Case {
    let member = |id: &str, name: &str, scopes: &str, created: &str, expires: &str| {
        format!(
            r#""id":{id},"name":"{name}","scopes":[{scopes}],"created":"{created}","expires":{expires},"lastUsed":«_»,"revoked":null,"actions":null,"filter":null,"destructivePerHour":null"#
        )
    };
    let fixed = [
        ("operator-desk", "admin"),
        ("reader", "read"),
        ("service-desk", "act"),
        ("agents", "ingest"),
    ]
    .map(|(name, scope)| {
        format!(
            "{{{}}}",
            member("«_»", name, &format!("{scope:?}"), super::case::NOW, "null")
        )
    });
    let night = member(
        "«id»",
        "night",
        r#""read","act""#,
        "2026-11-20T12:00:30Z",
        r#""2026-12-01T00:00:00Z""#,
    );
    Case::new("7 keys", "issued, used, listed")
        .clock(30)
        .call(
            call("POST admin /operator/keys")
                .json(r#"{"name":"night","scopes":["act","read"],"expires":"2026-12-01"}"#)
                .with_status(201)
                .gives(format!(
                    r#"{{{},"key":"«night»"}}"#,
                    night.replace("«_»", "null")
                )),
        )
        .call(call("GET - /api/Information/Get24HourActivity?apiKey=«night»").gives("[]"))
        .call(
            call("POST - /api/Actions/RebootWorkSpace?apiKey=«night»").refused("WorkSpaceNotFound"),
        )
        .call(call("GET - /operator/keys?apiKey=«night»").refused("InsufficientScope"))
        .call(
            call("GET admin /operator/keys")
                .gives(format!(r#"{{"keys":[{},{{{night}}}]}}"#, fixed.join(","))),
        )
        .call(call("DELETE admin /operator/keys/«id»"))
        .call(call("GET admin /operator/keys").gives(format!(
            r#"{{"keys":[{},{{{}}}]}}"#,
            fixed.join(","),
            night.replace(r#""revoked":null"#, r#""revoked":"2026-11-20T12:00:30Z""#)
        )))
}

fn issue(body: &str) -> Call {
    call("POST admin /operator/keys").json(body)
}

fn issue_bodies() -> Case {
    let mut case = Case::new("7 keys", "bodies");
    for bad in [
        "",
        "{}",
        "[]",
        "null",
        "{",
        r#"{"name":"n"}"#,
        r#"{"scopes":["read"]}"#,
        r#"{"name":"n","scopes":[]}"#,
        r#"{"name":"n","scopes":["write"]}"#,
        r#"{"name":"n","scopes":"read"}"#,
        r#"{"name":"n","scopes":[1]}"#,
        r#"{"name":"n","scopes":null}"#,
        r#"{"name":null,"scopes":["read"]}"#,
        r#"{"name":"","scopes":["read"]}"#,
        r#"{"name":5,"scopes":["read"]}"#,
        r#"{"name":"n","scopes":["read"],"expires":"never"}"#,
        r#"{"name":"n","scopes":["read"],"expires":5}"#,
        r#"{"name":"n","Name":"n","scopes":["read"]}"#,
        r#"{"name":"n","scopes":["read"],"SCOPES":["admin"]}"#,
        r#"{"name":"n","scopes":["read"],"other":1,"OTHER":2}"#,
        r#"["n",["admin"],null]"#,
    ] {
        case = case.call(issue(bad).refused("InvalidBody"));
    }
    for (bad, place) in [
        (r#"{"name":5,"scopes":["read"]}"#, "$.name"),
        (r#"{"name":"n","scopes":"read"}"#, "$.scopes"),
        (r#"{"name":"n","SCOPES":["read",1]}"#, "$.scopes[1]"),
        (r#"{"name":"n","scopes":["read"],"expires":5}"#, "$.expires"),
    ] {
        let refused = issue(bad).refused("InvalidBody");
        case = case.call(refused.error_holding(place, &["expected"]));
    }
    let deep = format!("{}{}", "[".repeat(32), "]".repeat(32));
    let deep = issue(&format!(r#"{{"name":"n","scopes":["read"],"z":{deep}}}"#));
    case = case.call(deep.refused("InvalidBody"));
    for content_type in ["", "text/plain", "application/x-ndjson"] {
        let typed = call("POST admin /operator/keys")
            .body(content_type, r#"{"name":"n","scopes":["read"]}"#);
        case = case.call(typed.refused("UnsupportedMediaType"));
    }
    case = case.call(
        issue(r#"{"name":"r","scopes":["read"],"EXPIRES":"2027-01-01"}"#)
            .with_status(201)
            .gives(r#"{"id":«_»,"name":"r","scopes":["read"],"created":"«_»","expires":"2027-01-01T00:00:00Z","lastUsed":null,"revoked":null,"actions":null,"filter":null,"destructivePerHour":null,"key":"«_»"}"#),
    );
    for good in [
        r#"{"name":"n","scopes":["read"]}"#,
        r#"{"name":"o","scopes":["read"],"expires":null}"#,
        r#"{"Name":"p","Scopes":["read","act","admin","ingest"],"Expires":"2027-01-01"}"#,
        r#"{"NAME":"q","sCoPeS":["read"]}"#,
        "{\n  \"name\": \"s\",\n  \"scopes\": [ \"read\" , \"act\" ],\n  \"expires\": null\n}",
    ] {
        case = case.call(issue(good).with_status(201).gives_any());
    }
    case
}

fn issue_lengths() -> Case {
    let named = |length: usize| {
        issue(&format!(
            r#"{{"name":"{}","scopes":["read"]}}"#,
            "é".repeat(length)
        ))
    };
    Case::new("7 keys", "a name of 256 code points, not one more")
        .call(named(256).with_status(201).gives_any())
        .call(named(257).refused("InvalidBody"))
}

/// A key that would never be accepted is not issued: it must expire later than now.
fn expiry_in_the_past() -> Case {
    let until = |time: &str| {
        issue(&format!(
            r#"{{"name":"n","scopes":["read"],"expires":"{time}"}}"#
        ))
    };
    let case = ["2026-11-20T11:59:59Z", super::case::NOW, "0001-01-01"]
        .into_iter()
        .fold(
            Case::new("9 keys", "an expiry in the past"),
            |case, past| {
                let call = until(past).refused("InvalidBody");
                case.call(call.error(
                    "$.expires",
                    "The field expires must be a time in the future.",
                ))
            },
        );
    case.call(super::audit::newest(&[Row {
        detail: "\"InvalidBody (3 times)\"".to_owned(),
        ..refused_row("IssueKey", "InvalidBody")
    }]))
    .call(
        until("2026-11-20T12:00:00.0000001Z")
            .with_status(201)
            .gives_any(),
    )
}

/// A row of a change of keys by the operator that was refused.
fn refused_row(action: &'static str, code: &str) -> Row {
    Row {
        requester: "operator-desk".to_owned(),
        key: "\"operator-desk\"",
        ..Row::refused(action, code).unknown_workspace("null")
    }
}

/// A name, compared without case, is free once its key is revoked or has expired.
fn names_in_use() -> Case {
    let named =
        |name: &str, more: &str| issue(&format!(r#"{{"name":"{name}","scopes":["act"]{more}}}"#));
    let free = |name: &str| named(name, "").with_status(201).gives_any();
    let taken = |name: &str| named(name, "").refused("DuplicateKeyName");
    Case::new("9 keys", "two live keys of one name")
        .call(taken("reader"))
        .call(taken("READER"))
        .call(taken("reader"))
        .call(super::audit::newest(&[
            refused_row("IssueKey", "DuplicateKeyName: READER"),
            refused_row("IssueKey", "DuplicateKeyName: reader (2 times)"),
        ]))
        .call(named("Host", "").refused("InvalidBody").error(
            "$.name",
            "The field name must not be host: the audit calls the host itself so.",
        ))
        .call(named("reader ", "").refused("InvalidBody"))
        .call(named("re\u{430}der", "").refused("InvalidBody"))
        .call(named("\u{202e}reader", "").refused("InvalidBody"))
        .call(call("DELETE admin /operator/keys/«read id»"))
        .call(free("Reader"))
        .call(taken("reader"))
        .call(
            named("night", r#","expires":"2026-11-20T12:01:00Z""#)
                .with_status(201)
                .gives_any(),
        )
        .clock(59)
        .call(taken("night"))
        .clock(1)
        .call(free("night"))
}

/// The last live key with scope `admin` that does not expire is revoked only by force.
fn last_admin() -> Case {
    let revoke = |query: &str| call(&format!("DELETE admin /operator/keys/«admin id»{query}"));
    let last = |query: &str| revoke(query).refused("LastAdminKey");
    Case::new("9 keys", "the last key with scope admin")
        .call(last(""))
        .call(last("?force=false"))
        .call(last("?force="))
        .call(super::audit::newest(&[refused_row(
            "RevokeKey",
            "LastAdminKey: operator-desk (3 times)",
        )]))
        .call(revoke("?force=yes").refused("InvalidParameter").error(
            "force",
            "The value 'yes' is not valid. Send one of true, false.",
        ))
        .key("second", &[Scope::Admin], Some("2026-11-20T12:01:00Z"))
        .call(last(""))
        .clock(60)
        .call(last(""))
        .call(call("DELETE admin /operator/keys/«second id»"))
        .key("third", &[Scope::Admin, Scope::Read], None)
        .call(revoke(""))
        .call(call("DELETE third /operator/keys/«admin id»"))
        .call(call("DELETE third /operator/keys/«third id»").refused("LastAdminKey"))
        .call(call("DELETE third /operator/keys/«third id»?force=TRUE"))
        .call(call("GET third /operator/keys").refused("InvalidApiKey"))
}

fn revoke_twice() -> Case {
    let case = Case::new("7 keys", "revoked twice, unknown")
        .call(call("DELETE admin /operator/keys/«read id»"))
        .clock(60)
        .call(call("DELETE admin /operator/keys/«read id»"));
    let unknown = [
        ("999999", "NotFound: key 999999"),
        ("0", "NotFound: key 0"),
        ("x", "NotFound"),
        ("-1", "NotFound (2 times)"),
        ("99999999999999999999999", "NotFound (3 times)"),
    ];
    // The key of the reader is revoked.
    let newest = |row: Row| {
        call("GET admin /api/Information/GetAdminActivity?numberOfActivities=1")
            .gives(format!("[{}]", row.text()))
    };
    let at = |row: Row| Row {
        time: "2026-11-20T12:01:00Z",
        ..row
    };
    let case = unknown.into_iter().fold(case, |case, (id, detail)| {
        case.call(call(&format!("DELETE admin /operator/keys/{id}")).refused("NotFound"))
            .call(newest(at(refused_row("RevokeKey", detail))))
    });
    let without_scope = Row {
        requester: "service-desk".to_owned(),
        key: "\"service-desk\"",
        ..at(refused_row("RevokeKey", "InsufficientScope: key 2"))
    };
    case.call(call("DELETE act /operator/keys/2").refused("InsufficientScope"))
        .call(newest(without_scope))
}

/// A client learns the scopes of its own key, and nothing of others.
fn of_the_request() -> Case {
    let own = |key: &str| call(&format!("GET {key} /query/key"));
    let found = |id: &str, name: &str, scopes: &str, expires: &str| {
        format!(
            r#"{{"id":«{id} id»,"name":"{name}","scopes":[{scopes}],"created":"{}","expires":{expires},"actions":null,"filter":null,"destructivePerHour":null}}"#,
            super::case::NOW
        )
    };
    Case::new("q key", "the key of the request")
        .call(own("admin").gives(found("admin", "operator-desk", r#""admin""#, "null")))
        .call(own("read").gives(found("read", "reader", r#""read""#, "null")))
        .key(
            "night",
            &[Scope::Act, Scope::Read],
            Some("2026-11-20T12:01:00Z"),
        )
        .call(own("night").gives(found(
            "night",
            "night",
            r#""read","act""#,
            "\"2026-11-20T12:01:00Z\"",
        )))
        .call(own("act").refused("InsufficientScope"))
        .call(own("ingest").refused("InsufficientScope"))
        .call(own("-").refused("InvalidApiKey"))
        .call(
            call("GET read /query/key?id=1")
                .refused("InvalidParameter")
                .error(
                    "query",
                    "There is no parameter 'id'. This question has no parameters.",
                ),
        )
        .clock(60)
        .call(own("night").refused("InvalidApiKey"))
}

/// A key that was never used has null; a used one has a time, also after that was stored.
fn last_use() -> Case {
    let key = |scope: &str, used: &str| {
        format!(
            r#"{{"id":«_»,"name":"«_»","scopes":["{scope}"],"created":"2026-11-20T12:00:00Z","expires":null,"lastUsed":{used},"revoked":null,"actions":null,"filter":null,"destructivePerHour":null}}"#
        )
    };
    let list = |read: &str, admin: &str| {
        let keys = [
            key("admin", admin),
            key("read", read),
            key("act", "null"),
            key("ingest", "null"),
        ];
        call("GET admin /operator/keys").gives(format!(r#"{{"keys":[{}]}}"#, keys.join(",")))
    };
    Case::new("3 keys", "last used")
        .call(list("null", "«_»"))
        .clock(120)
        .call(call("GET read /api/Information/Get24HourActivity").gives("[]"))
        .maintain()
        .call(list("\"2026-11-20T12:02:00Z\"", "\"«_»\""))
}
