//! A key and a query are searched for in all output and files, after the whole life of a server.
#![cfg(unix)]

use std::path::Path;

use crate::client::Client;
use crate::load::{Place, done};

/// In the query of every request, in an unknown parameter.
const QUERY: &str = "canary-in-the-query";
/// A key that was never issued, like a mistyped one.
const WRONG: &str = "dfk_canaryThatWasNeverIssued";

/// The requests to the server: responses of every kind, each with its key and its query.
fn answers(client: &mut Client, key: &str) -> Vec<String> {
    let mut answers = Vec::new();
    let query = |key: &str| format!("apiKey={key}&x={QUERY}");
    for key in [key, WRONG] {
        for (method, target) in [
            ("GET", "/api/Information/GetAllWorkSpaces?"),
            ("GET", "/api/Information/GetAllWorkSpaces?limit=0&"),
            ("GET", "/api/Information/GetUserInformation?username=jdoe&"),
            ("POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-1&"),
            ("POST", "/api/Actions/RebootWorkSpace?workSpaceId=none&"),
            (
                "POST",
                "/api/Information/RemoveWorkSpaceDbEntry?workSpaceId=none&",
            ),
            ("DELETE", "/operator/keys/4711?"),
            ("GET", "/api/Stats/Test?"),
            ("PATCH", "/api/Stats/Test?"),
            ("GET", "/nowhere?"),
            ("GET", "/livez?"),
        ] {
            let target = format!("{target}{}", query(key));
            let answer = client.ask(method, &target, "content-length: 0\r\n");
            answers.push(answer.head + &answer.body);
        }
        for headers in [
            format!("x-api-key: {key}\r\n"),
            format!("authorization: Bearer {key}\r\n"),
            format!("authorization: Basic {key}\r\n"),
            format!(
                "cookie: apiKey={key}\r\nreferer: http://localhost/?{}\r\n",
                query(key)
            ),
        ] {
            let answer = client.ask("GET", "/api/Information/GetAdminActivity", &headers);
            answers.push(answer.head + &answer.body);
        }
        let target = format!("/api/Stats/Post?{}", query(key));
        for body in [r#"{"instanceId":"ws-1"}"#, "{", r#"{"id":"x"}"#] {
            let answer = client.post(&target, "", body);
            answers.push(answer.head + &answer.body);
        }
        // As the path of a client that joined its parts wrongly.
        for path in [
            format!("/{key}?{}", query(key)),
            format!("/x%3f{}", query(key)),
        ] {
            let answer = client.ask("GET", &path, "");
            answers.push(answer.head + &answer.body);
        }
    }
    for page in ["/", "/metrics", "/openapi.json", "/readyz"] {
        answers.push(client.ask("GET", page, "").body);
    }
    answers
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes
        .windows(secret.len())
        .any(|window| window == secret.as_bytes())
}

#[test]
fn key_and_query_string_appear_in_no_output() {
    let place = Place::new();
    std::fs::write(
        place.file("fleet.json"),
        r#"{"workSpId":"ws-1","state":"AVAILABLE"}"#,
    )
    .unwrap();
    done(place.path(), "import fleet.json");
    let mut served = place.serve_with("");
    let mut client = Client::connect(served.address);
    let told = answers(&mut client, &place.admin);
    assert!(told.iter().any(|answer| answer.starts_with("http/1.1 200")));
    drop(client);
    let message = served.terminate().join("\n");
    assert!(
        message.contains("/api/Actions/RebootWorkSpace rebootWorkSpace 200"),
        "{message}"
    );

    let listed = done(place.path(), "keys list");
    let checked = done(place.path(), "check");
    done(place.path(), "backup copy.redb");
    done(place.path(), "compact");

    let read = |name: &str| std::fs::read(place.path().join(Path::new(name))).unwrap();
    let kept = [read("deskfleet.redb"), read("copy.redb")];
    assert!(
        kept.iter().all(|file| holds(file, "ws-1")),
        "the search finds what is there"
    );
    let secret = place.admin.strip_prefix("dfk_").unwrap();
    for canary in [secret, QUERY, WRONG, "canaryThat"] {
        for file in &kept {
            assert!(!holds(file, canary), "a file holds {canary}");
        }
        for text in told.iter().chain([&message, &listed, &checked]) {
            // The client reads responses in lower case.
            let found = text.contains(canary) || text.contains(&canary.to_lowercase());
            assert!(!found, "{canary} in {text}");
        }
    }
}
