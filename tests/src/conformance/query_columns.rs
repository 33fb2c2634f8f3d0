//! `GET /query/workspaces?format=columns`

use super::case::{Case, call};
use super::query_workspaces::various;

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    vec![columns()]
}

/// A page of columns is for loading a fleet: it takes more rows, in the order of the ids.
fn columns() -> Case {
    let get = |query: &str| {
        call(&format!(
            "GET read /query/workspaces?format=columns&fields=workSpId,state,cpu{query}"
        ))
    };
    let columns = |ids: &str, states: &str, numbers: &str, count: usize, end: &str| {
        format!(
            r#"{{"columns":{{"workSpId":[{ids}],"state":[{states}],"cpu":[{numbers}]}},"count":{count},{end},"at":"2026-11-20T12:00:00Z","warnings":[]}}"#
        )
    };
    let last = r#""nextToken":null,"hasMore":false"#;
    let outside = |query: &str, max: i32| {
        get(query).refused("InvalidParameter").error(
            "limit",
            format!("The field limit must be between 1 and {max}."),
        )
    };
    Case::new("q workspaces", "columns")
        .call(get("").gives(columns("", "", "", 0, last)))
        .puts(various())
        .call(
            get("&limit=3")
                .gives(columns(
                    r#""ws-1","ws-2","ws-3""#,
                    r#""AVAILABLE","STOPPED","ERROR""#,
                    "null,null,null",
                    3,
                    r#""nextToken":"«c»","hasMore":true"#,
                ))
                .answers("content-type", "application/json; charset=utf-8"),
        )
        .call(get("&limit=5000&nextToken=«c»").gives(columns(
            r#""ws-4","ws-5""#,
            r#""AVAILABLE",null"#,
            "null,null",
            2,
            last,
        )))
        .call(
            get("&limit=500&sort=-state&workSpId=in.ws-1,ws-2").gives(columns(
                r#""ws-2","ws-1""#,
                r#""STOPPED","AVAILABLE""#,
                "null,null",
                2,
                last,
            )),
        )
        .call(outside("&limit=5001", 5000))
        .call(outside("&limit=501&sort=state", 500))
        .call(
            call("GET read /query/workspaces?format=json&limit=501")
                .refused("InvalidParameter")
                .error("limit", "The field limit must be between 1 and 500."),
        )
}
