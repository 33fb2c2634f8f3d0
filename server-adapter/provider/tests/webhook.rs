//! `deskfleet-provider webhook` over a real server and a web service.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::fleets::{Fleet, PATIENCE};
use deskfleet::{Action, AuditResult};
use serde_json::Value;

/// A web service that gives these answers, in turn, and hands out what it got.
fn service(answers: &'static [&'static str]) -> (SocketAddr, Receiver<(Vec<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (got, requests) = channel();
    std::thread::spawn(move || {
        let mut turn = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(request) = request(&mut stream) {
                let answer = answers[turn.min(answers.len() - 1)];
                turn += 1;
                if got.send(request).is_err() {
                    return;
                }
                if answer.is_empty() {
                    break;
                }
                write!(
                    stream.get_mut(),
                    "HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n"
                )
                .unwrap();
            }
        }
    });
    (address, requests)
}

fn request(stream: &mut BufReader<TcpStream>) -> Option<(Vec<String>, String)> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = header(&head, "content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

fn header<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let line = head
        .iter()
        .find_map(|line| line.split_once(": ").filter(|(found, _)| *found == name));
    line.map(|(_, value)| value)
}

#[test]
fn web_service_makes_actions_happen_at_once_or_later() {
    let fleet = Fleet::new(&["ws-1"]);
    fleet.file("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (address, requests) =
        service(&["503 Service Unavailable", "202 Accepted", "204 No Content"]);
    let target = format!("http://{address}/hook");
    let line = [
        "webhook",
        "--apply",
        "--secret-file",
        "secret",
        "--fleet",
        "f",
        "--target",
        &target,
    ];
    let first = fleet.act(Action::Rebuild, "ws-1");
    let provider = fleet.start(&line);
    let (head, body) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(head[0], "POST /hook HTTP/1.1");
    let id = format!("f-{first}");
    assert_eq!(header(&head, "webhook-id"), Some(&*id));
    assert!(
        header(&head, "webhook-signature")
            .unwrap()
            .starts_with("v1,")
    );
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["data"]["workSpaceId"], "ws-1");
    assert_eq!(body["data"]["action"], "RebuildWorkSpace");
    // 503, then 202: under way, also for a provider that starts anew.
    let (head, _) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(header(&head, "webhook-id"), Some(&*id));
    let begun = Instant::now();
    while fleet.pending()[0].note.is_none() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(provider);
    let _provider = fleet.start(&line);
    assert!(requests.recv_timeout(Duration::from_millis(500)).is_err());
    assert_eq!(fleet.pending()[0].attempts, 2);
    fleet.server.engine.complete_action(first).unwrap();
    assert_eq!(
        fleet.end_of(first).2,
        format!("webhook, 2 attempts, request {id}")
    );
    let second = fleet.act(Action::Reboot, "ws-1");
    fleet.wait_until_done();
    assert_eq!(fleet.end_of(second).0, AuditResult::Completed);
}

/// The connection breaks off after the request: whether it was carried out is unknown.
#[test]
fn lost_answer_of_a_web_service_is_repeated_only_where_that_does_no_harm() {
    let fleet = Fleet::new(&["ws-1", "ws-2"]);
    fleet.file("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let (address, _requests) = service(&["", "200 OK"]);
    let target = format!("http://{address}/");
    let line = [
        "webhook",
        "--fleet",
        "test",
        "--apply",
        "--secret-file",
        "secret",
        "--target",
        &target,
    ];
    let rebuild = fleet.act(Action::Rebuild, "ws-1");
    let _provider = fleet.start(&line);
    fleet.wait_until_done();
    let (result, _, detail) = fleet.end_of(rebuild);
    assert_eq!(result, AuditResult::Failed);
    assert!(detail.starts_with("Unknown: "), "{detail}");
    let reboot = fleet.act(Action::Reboot, "ws-2");
    fleet.wait_until_done();
    assert_eq!(fleet.end_of(reboot).0, AuditResult::Completed);
}
