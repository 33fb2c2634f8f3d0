//! Codes for the console: guessed, sent by a page of another site, too large.

use super::{Attack, closed, open};

pub(super) fn attacks() -> Vec<Attack> {
    let guess = "A".repeat(43);
    let code = format!("{{\"code\":\"{guess}\"}}");
    let json = "content-type: application/json\r\n";
    let cross_site = "origin: https://evil.example\r\nsec-fetch-site: cross-site\r\n";
    vec![
        open(
            "a guessed code for the console",
            post("", json, &code),
            "401",
        ),
        open(
            "a code for the console in the address",
            post(&format!("?code={guess}"), json, "{}"),
            "400",
        ),
        open(
            "a code for the console as text/plain, which any web page can make a browser send",
            post(
                "",
                &format!("{cross_site}content-type: text/plain\r\n"),
                &code,
            ),
            "415",
        ),
        open(
            "a code for the console as a form",
            post(
                "",
                &format!("{cross_site}content-type: application/x-www-form-urlencoded\r\n"),
                &format!("code={guess}"),
            ),
            "415",
        ),
        open(
            "an array of codes for the console",
            post("", json, &format!("[{code},{code}]")),
            "400",
        ),
        closed(
            "2 000 bytes for the console",
            post("", json, &code.replace('A', &"A".repeat(45))),
            "413, closed",
        ),
    ]
}

fn post(query: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /console/session{query} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}
