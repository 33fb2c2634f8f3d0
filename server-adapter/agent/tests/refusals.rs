//! What an agent says and does where the server, or something before it, refuses.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use deskfleet::{Config, Stream};

use crate::agents::Fleet;
use crate::certificates::{authority, expired_certificate, has};

#[test]
fn wrong_key_is_named_and_the_records_are_sent_after_it_is_changed() {
    let fleet = Fleet::new();
    fs::write(fleet.file("key"), "dfk_wrong").unwrap();
    let output = fleet.once(&fleet.url());
    assert_eq!(output.status.code(), Some(1));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("the server refuses the key of key"), "{log}");
    assert!(
        log.contains("deskfleet keys issue --name agent --scope ingest"),
        "{log}"
    );
    assert!(log.contains("2 records in the spool"), "{log}");
    fleet.issue_key("second");
    assert!(fleet.once(&fleet.url()).status.success());
    assert_eq!(fleet.records(Stream::Stats).len(), 2);
}

#[test]
fn record_that_the_server_refuses_is_set_aside_and_blocks_no_other() {
    let fleet = Fleet::new();
    assert!(fleet.once(&fleet.url()).status.success());
    fleet.report(&"x".repeat(50));
    // The server takes no name of 51 characters; the agent makes none, so this one is written by hand.
    let file = crate::agents::segments(&fleet.file("spool")).remove(0);
    let name = file.with_file_name("0-hand.spool");
    let json = format!(
        "{{\"activity\":{{\"instanceId\":\"ws-104\",\"username\":\"{}\"}}}}",
        "x".repeat(51)
    );
    fs::write(name, format!("{:08x} {json}\n", crc32(json.as_bytes()))).unwrap();
    let output = fleet.once(&fleet.url());
    assert!(output.status.success(), "{output:?}");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("the server refuses 1 record: "), "{log}");
    let refused = fs::read_to_string(fleet.file("spool/refused.ndjson")).unwrap();
    assert!(refused.contains(&json), "{refused}");
    assert_eq!(fleet.locks(), ["x".repeat(50)]);
    assert!(fleet.spool_is_empty());
}

/// The checksum of a line of the spool.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn expired_certificate_of_the_server_is_named_with_what_to_do() {
    if !has(&["openssl"]) {
        return;
    }
    let fleet = Fleet::new();
    let folder = fleet.file("");
    authority(&folder, "ca");
    expired_certificate(&folder, "old", "ca");
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut server = Command::new("openssl")
        .args([
            "s_server",
            "-quiet",
            "-cert",
            "old.pem",
            "-key",
            "old.key",
            "-accept",
            &port.to_string(),
        ])
        .current_dir(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let url = format!("https://localhost:{port}");
    let arguments = [
        "--once",
        "--url",
        &url,
        "--key-file",
        "key",
        "--ca",
        "ca.pem",
    ];
    let log = loop {
        let output = fleet.agent(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let log = String::from_utf8(output.stderr).unwrap();
        if !log.contains("Connection refused") {
            break log;
        }
    };
    let _ = server.kill();
    let _ = server.wait();
    assert!(log.contains("renew the certificate of the server"), "{log}");
    assert!(!fleet.spool_is_empty());
    assert!(fleet.once(&fleet.url()).status.success());
}

/// Responds to `count` requests with the same text; returns the address.
fn fake_server(count: usize, response: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming().take(count) {
            let mut client = client.unwrap();
            let pause = Some(Duration::from_millis(500));
            client.set_read_timeout(pause).unwrap();
            // The whole request, or what came until it paused.
            let _ = client.read_to_end(&mut Vec::new());
            client.write_all(response.as_bytes()).unwrap();
        }
    });
    url
}

#[test]
fn batch_that_is_too_large_for_the_server_is_sent_in_parts() {
    let mut config = Config::default();
    config.limits.batch_body_bytes = 1200;
    let fleet = Fleet::from_parts(SystemTime::now, config);
    assert!(fleet.once(&fleet.url()).status.success());
    let users: Vec<String> = (0..30).map(|number| format!("user{number:02}")).collect();
    for user in &users {
        fleet.report(user);
    }
    let output = fleet.once(&fleet.url());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fleet.locks(), users);
    assert_eq!(fleet.records(Stream::Stats).len(), 2);
}

#[test]
fn record_that_is_too_large_alone_is_set_aside() {
    let response =
        "HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    // Both records together, then each alone.
    let url = fake_server(3, response.to_owned());
    let fleet = Fleet::new();
    let output = fleet.once(&url);
    assert!(output.status.success(), "{output:?}");
    let refused = fs::read_to_string(fleet.file("spool/refused.ndjson")).unwrap();
    assert_eq!(refused.matches("too large").count(), 2, "{refused}");
    assert!(fleet.spool_is_empty());
}

#[test]
fn difference_of_the_clocks_is_named_in_minutes() {
    let earlier = SystemTime::now() - Duration::from_secs(2 * 3600 + 5);
    let body = "{\"accepted\":2,\"rejected\":0,\"errors\":[],\"warnings\":[]}";
    let response = format!(
        "HTTP/1.1 200 OK\r\ndate: {}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        httpdate::fmt_http_date(earlier),
        body.len()
    );
    let url = fake_server(1, response);
    let fleet = Fleet::new();
    let output = fleet.once(&url);
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    assert!(
        log.contains("the clock of this machine is 120 minutes ahead of that of the server"),
        "{log}"
    );
}

#[test]
fn something_else_at_the_address_is_named() {
    let fleet = Fleet::new();
    let output = fleet.once(&format!("{}/elsewhere", fleet.url()));
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("404 NotFound"), "{log}");
    assert!(!fleet.spool_is_empty());
}

#[test]
fn command_without_a_server_or_a_key_says_how_to_name_it() {
    let fleet = Fleet::new();
    for (arguments, advice) in [
        (&["--once"][..], "name the server with --url"),
        (
            &["--once", "--url", "http://127.0.0.1:1"],
            "name its file with --key-file",
        ),
        (
            &[
                "--once",
                "--url",
                "http://127.0.0.1:1",
                "--key-file",
                "missing",
            ],
            "cannot read missing",
        ),
    ] {
        let output = fleet.agent(arguments).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && log.contains(advice),
            "{log}"
        );
    }
    let output = fleet.agent(&["--url", "fleet"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
