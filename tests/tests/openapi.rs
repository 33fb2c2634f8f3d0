//! The files that `cargo openapi` writes, and the list of the console, which has the same operations.

use std::collections::BTreeSet;
use std::path::Path;

use deskfleet_tests::openapi::FILES;
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../server-adapter/openapi.json");
const CONSOLE: &str = include_str!("../../server-adapter/console/app/endpoints.js");

#[test]
fn written_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, text) in FILES {
        let written = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            written == text(),
            "{path} is out of date: run `cargo openapi`"
        );
    }
}

#[test]
fn endpoints_of_the_console_are_those_of_the_document() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let mut documented = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let (method, summary) = (method.to_uppercase(), &operation["summary"]);
            documented.insert(format!("{method} {path} {}", summary.as_str().unwrap()));
        }
    }
    let listed = CONSOLE.lines().filter_map(|line| {
        let (method, rest) = line.split_once(" /")?;
        let (target, summary) = rest.split_once(' ')?;
        let path = target.split('?').next()?;
        let is_method = method.bytes().all(|byte| byte.is_ascii_uppercase());
        is_method.then(|| format!("{method} /{path} {summary}"))
    });
    let listed: BTreeSet<String> = listed.collect();
    let missing: Vec<&String> = documented.symmetric_difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "`LIST` in server-adapter/console/app/endpoints.js and the document do not agree on {missing:#?}"
    );
}
