//! `core/docs/routes.md`, which is in the documentation of the crate, has every endpoint.

use std::fmt::Write as _;

use deskfleet::routes::{Access, ROUTES};

const DOCUMENT: &str = include_str!("../../core/docs/routes.md");

#[test]
fn page_of_the_endpoints_is_that_of_the_table() {
    let mut page = String::from("| | path | operation id | scope |\n|---|---|---|---|\n");
    for route in ROUTES {
        let scope = match route.access {
            Access::Telemetry => "none, or `ingest`".to_owned(),
            Access::Key(scope) => format!("`{}`", scope.as_str()),
            Access::KeyOrAudit(scope) => format!("`{}` or `audit`", scope.as_str()),
        };
        let (method, path) = (route.method.as_str(), route.path);
        writeln!(
            page,
            "| {method} | `{path}` | `{}` | {scope} |",
            route.operation_id
        )
        .unwrap();
    }
    assert_eq!(
        DOCUMENT, page,
        "write this page into core/docs/routes.md:\n{page}"
    );
}
