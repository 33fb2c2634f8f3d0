//! What the double of the package shares with that of the crate: the members of a rule, the operations, and the refusals.

use bytes::Bytes;
use deskfleet::Code;
use deskfleet::routes::ROUTES;
use deskfleet::testing::{
    CONTROLS, Double, DoubleOptions, MEMBERS, MemberKind, Rule, StorageFault,
};
use http::Request;
use serde_json::{Map, Value, json};

const HEAD: &str = "// Made by `cargo openapi` from core/src/testing and the route table.\n";

/// The text of `wasm/js/testing/table.js`.
#[must_use]
pub(super) fn script() -> String {
    let mut text = HEAD.to_owned();
    let members = MEMBERS.iter().map(|member| {
        let (kind, least, most) = match member.kind {
            MemberKind::Operation => ("operation", None, None),
            MemberKind::Storage => ("storage", None, None),
            MemberKind::Code => ("code", None, None),
            MemberKind::Count(least, most) => ("count", Some(least), Some(most)),
        };
        json!({ "name": member.name, "kind": kind, "least": least, "most": most })
    });
    text += &list("MEMBERS", members);
    text += &list("FAULTS", faults().into_iter().map(Value::from));
    let operations = ROUTES
        .iter()
        .map(|route| json!([route.operation_id, route.method.as_str(), route.path]));
    text += &list("OPERATIONS", operations);
    text += &list("REFUSALS", Code::ALL.iter().map(|code| refusal(*code)));
    let controls = CONTROLS
        .iter()
        .map(|control| json!(format!("{} {}", control.method, control.path)));
    text += &list("CONTROLS", controls);
    let clock = DoubleOptions::default().clock.to_string();
    text + &format!("export const CLOCK = {};\n", json!(clock))
}

/// The text of `wasm/js/testing/table.d.ts`.
#[must_use]
pub(super) fn types() -> String {
    let ids = ROUTES.iter().map(|route| route.operation_id.to_owned());
    let mut text = HEAD.to_owned();
    text += &union(
        "An operation id of the OpenAPI document.",
        "OperationId",
        ids,
    );
    text += &union("How a storage fails.", "StorageFault", faults());
    for member in MEMBERS {
        let (meaning, name) = (member.text, type_name(member.name));
        text = format!("{text}/** {meaning} */\nexport type {name} = ");
        text += match member.kind {
            MemberKind::Operation => "OperationId | \"*\";\n",
            MemberKind::Storage => "StorageFault;\n",
            MemberKind::Code => "import(\"../types.js\").ProblemCode;\n",
            MemberKind::Count(..) => "number;\n",
        };
    }
    text
}

fn type_name(member: &str) -> String {
    let (first, rest) = member.split_at(1);
    format!("Rule{}{rest}", first.to_uppercase())
}

fn faults() -> Vec<String> {
    let all = StorageFault::ALL.iter();
    all.map(|fault| fault.as_str().to_owned()).collect()
}

fn union(text: &str, name: &str, values: impl IntoIterator<Item = String>) -> String {
    let values = values.into_iter().map(|value| format!("\n    | {value:?}"));
    format!(
        "/** {text} */\nexport type {name} ={};\n",
        values.collect::<String>()
    )
}

fn list(name: &str, items: impl Iterator<Item = Value>) -> String {
    let lines: Vec<_> = items.map(|item| format!("    {item},\n")).collect();
    format!("export const {name} = [\n{}];\n", lines.concat())
}

/// A refusal as the double sends it, without its trace id.
fn refusal(code: Code) -> Value {
    let double = Double::open(DoubleOptions::default()).expect("the defaults are valid");
    let rule = Rule::operation("*").code(code);
    double.fail(rule).expect("the rule is valid");
    let request = Request::get("/").body(Bytes::new()).expect("a request");
    let response = double.handle(request);
    let headers = response.headers().iter().map(|(name, value)| {
        let value = value.to_str().expect("visible ASCII");
        (name.to_string(), Value::from(value))
    });
    let headers: Map<String, Value> = headers.collect();
    let body = std::str::from_utf8(response.body()).expect("UTF-8");
    let (before, rest) = body.split_once("\"traceId\":\"").expect("a trace id");
    let (_, after) = rest.split_once('"').expect("its end");
    json!({
        "code": code.as_str(),
        "status": response.status().as_u16(),
        "headers": headers,
        "body": [format!("{before}\"traceId\":\""), format!("\"{after}")],
    })
}
