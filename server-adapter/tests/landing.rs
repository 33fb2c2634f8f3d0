//! `/`: JSON for programs; for browsers, where there is no console, a page; and the icon.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod client;

use std::time::SystemTime;

use client::Client;
use deskfleet::Engine;
use deskfleet_server::{RunningServer, ServerOptions, spawn};

fn server() -> RunningServer {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = builder.open_in_memory().unwrap();
    spawn(engine, ServerOptions::default()).unwrap()
}

const BROWSER: &str = "accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n";

#[test]
fn root_returns_json_to_programs_with_links_that_work() {
    let server = server();
    let mut client = Client::connect(server.addr());
    for accept in ["", "accept: */*\r\n", "accept: application/json\r\n"] {
        let answer = client.ask("GET", "/", accept);
        assert_eq!(answer.status, 200);
        assert_eq!(
            answer.header("content-type"),
            Some("application/json; charset=utf-8")
        );
        assert_eq!(answer.header("vary"), Some("accept"));
        let document = answer.json();
        assert_eq!(document["name"], "deskfleet");
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        let links = document["links"].as_object().unwrap();
        assert!(links.len() >= 4);
        for link in links.values() {
            assert_eq!(
                client.ask("GET", link.as_str().unwrap(), "").status,
                200,
                "{link}"
            );
        }
    }
    assert_eq!(client.ask("POST", "/", "content-length: 0\r\n").status, 405);
    assert_eq!(client.ask("HEAD", "/", BROWSER).body, "");
}

#[cfg(not(feature = "console"))]
#[test]
fn root_returns_browsers_a_page_that_loads_nothing_from_elsewhere() {
    let server = server();
    let mut client = Client::connect(server.addr());
    let answer = client.ask("GET", "/", BROWSER);
    assert_eq!(
        answer.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let page = &answer.body;
    assert!(
        page.contains(concat!("version ", env!("CARGO_PKG_VERSION"))),
        "{page}"
    );
    for wanted in [
        "<html lang=\"en\">",
        "name=\"viewport\"",
        "prefers-color-scheme:dark",
        "<main>",
        "<h1>",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    for unwanted in [
        "<script",
        " style=",
        " onclick",
        "http:",
        "https:",
        "url(",
        "@import",
        "{version}",
    ] {
        assert!(!page.contains(unwanted), "{unwanted}");
    }
    let links = page
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let mut count = 0;
    for link in links {
        count += 1;
        assert_eq!(client.ask("GET", link, "").status, 200, "{link}");
    }
    assert_eq!(count, 4);
}

#[cfg(not(feature = "console"))]
#[test]
fn policy_of_the_page_allows_its_own_style_and_nothing_else() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\n{BROWSER}connection: close\r\n\r\n"
    ));
    // Not lower case, as a hash is not.
    let message = String::from_utf8(client.read_to_end()).unwrap();
    let style = message
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "content-security-policy: default-src 'none'; img-src 'self'; style-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    );
    assert!(message.contains(&policy), "{policy}\n{message}");
}

#[test]
fn icon_is_an_image_that_may_be_cached() {
    let server = server();
    let answer = Client::connect(server.addr()).ask("GET", "/favicon.ico", "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
    assert_eq!(
        answer.header("cache-control"),
        Some("public, max-age=86400")
    );
    assert!(answer.body.starts_with("<svg ") && answer.body.len() < 1024);
}
