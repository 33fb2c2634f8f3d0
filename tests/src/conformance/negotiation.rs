//! The content type of the paged lists; nothing else is negotiated.

use super::case::{Case, call};
use super::fixtures::{desk, page};

/// `Accept`, and the expected media type.
#[rustfmt::skip]
const ACCEPT: &[(&str, &str)] = &[
    ("*/*",                                         "application/json"),
    ("application/json",                            "application/json"),
    ("application/*",                               "application/json"),
    ("text/plain",                                  "text/plain"),
    ("text/json",                                   "text/json"),
    ("text/*",                                      "text/plain"),
    ("TEXT/PLAIN",                                  "text/plain"),
    ("Text/Json",                                   "text/json"),
    ("text/plain, application/json, text/json",     "application/json"),
    ("text/plain, text/json, application/json",     "application/json"),
    ("text/plain,application/json;q=0.9",           "text/plain"),
    ("text/plain;q=0.9, application/json;q=0.5",    "text/plain"),
    ("text/json;q=0.8, text/plain;q=0.7",           "text/json"),
    ("text/plain;q=0.1, */*",                       "application/json"),
    ("application/json;q=0, text/plain;q=0.001",    "text/plain"),
    ("text/html, text/plain;q=0.3",                 "text/plain"),
    ("text/html, application/xhtml+xml",            "application/json"),
    ("image/png",                                   "application/json"),
    ("application/problem+json",                    "application/json"),
    ("text/plain ; q=0.5 , text/json ; q=0.6",      "text/json"),
];

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let row = "5 content negotiation";
    let one = [desk("ws-1", "AVAILABLE", "jdoe")];
    let mut cases = Vec::new();
    for path in ["GetAllWorkSpaces", "GetWorkSpacesOnLitigationHold"] {
        let target = format!("GET read /api/Information/{path}");
        let list = || call(&target).gives(page(&one, ""));
        let start = Case::new(row, format!("Accept of {path}"))
            .puts(one.clone())
            .hold("ws-1");
        let start = start.call(list().answers("content-type", "application/json; charset=utf-8"));
        cases.push(ACCEPT.iter().fold(start, |case, (accept, media)| {
            let media = format!("{media}; charset=utf-8");
            case.call(
                list()
                    .header("accept", accept)
                    .answers("content-type", &media),
            )
        }));
    }
    let plain = |line: &str| call(line).header("accept", "text/plain");
    let json = "application/json; charset=utf-8";
    cases.push(
        Case::new(row, "only the two lists are negotiated")
            .call(
                plain("GET read /api/Information/Get24HourActivity")
                    .gives("[]")
                    .answers("content-type", json),
            )
            .call(
                plain("GET read /api/Information/GetAdminActivity?numberOfActivities=0")
                    .gives("[]")
                    .answers("content-type", json),
            )
            .call(
                plain("GET - /api/Stats/queue/count")
                    .gives("0")
                    .answers("content-type", json),
            )
            .call(
                plain("GET read /api/Information/GetAllWorkSpaces?limit=0")
                    .refused("InvalidParameter"),
            ),
    );
    cases
}
