//! The engine as a test double: the test controls time and randomness, so a run repeats byte for byte.
//!
//! `cargo run --example test_double -p deskfleet`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::fmt::Write;

use bytes::Bytes;
use deskfleet::{Engine, ManualClock, NewKey, Scope, Timestamp, Workspace};
use http::Request;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let first = transcript(7)?;
    println!("{first}");
    // The same seed and the same requests give the same bytes; another seed gives other keys and trace ids.
    assert_eq!(transcript(7)?, first);
    assert_ne!(transcript(8)?, first);
    Ok(())
}

/// What a client of the fleet sees while a desktop reboots.
fn transcript(seed: u64) -> Result<String, Box<dyn Error>> {
    let start: Timestamp = "2026-11-20T08:00:00Z".parse()?;
    let clock = ManualClock::new(start);
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(seed)
        .open_in_memory()?;
    engine.put_workspace(Workspace {
        id: "ws-1".into(),
        username: Some("jdoe".into()),
        state: Some("AVAILABLE".into()),
        ..Workspace::default()
    })?;
    let key = engine.issue_key(NewKey::new("test", [Scope::Read, Scope::Act]))?;

    let mut transcript = String::new();
    let mut ask = |method: &str, path: &str| -> Result<(), Box<dyn Error>> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("x-api-key", &key.secret)
            .body(Bytes::new())?;
        let response = engine.handle(request);
        let body = str::from_utf8(response.body())?;
        writeln!(
            transcript,
            "{method} {path} -> {} {body}",
            response.status()
        )?;
        Ok(())
    };

    ask("POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-1")?;
    // The clock stands still: the reboot runs as long as the test wants.
    ask("GET", "/api/Information/GetAllWorkSpaces")?;
    ask("POST", "/api/Actions/RebuildWorkSpace?workSpaceId=ws-1")?;
    clock.advance_seconds(120);
    ask("GET", "/api/Information/GetAllWorkSpaces")?;
    ask(
        "GET",
        "/api/Information/GetAdminActivity?numberOfActivities=2",
    )?;
    // The seed determines the key too.
    transcript += &key.secret;
    Ok(transcript)
}
