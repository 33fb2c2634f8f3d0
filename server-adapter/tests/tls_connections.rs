//! Connections of a server with `--tls-cert`: those without a handshake, and what bounds the others.
#![cfg(all(target_os = "linux", feature = "tls"))]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::https::{Client, PATIENCE, TLS, certificate_folder, connect, curl, read_until, text};
use rustix::process::{Resource, getrlimit, setrlimit};

#[test]
fn clear_text_is_refused_in_clear_text() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(TLS);
    for request in [
        "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut socket = TcpStream::connect(served.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(request.as_bytes()).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut response = String::new();
        socket.read_to_string(&mut response).unwrap();
        assert!(
            response.starts_with("HTTP/1.1 400 Bad Request\r\n"),
            "{response}"
        );
        assert!(response.ends_with("\r\n\r\nThis port speaks TLS: use https:// and not http.\n"));
    }
    let mut socket = TcpStream::connect(served.address).unwrap();
    socket.write_all(&[0; 64]).unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    served.wait_for("no TLS with 127.0.0.1");
}

#[test]
fn unfinished_handshakes_hold_nobody_up_and_end() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(&format!("{TLS} --quiet --set server.head_timeout=2s"));
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    setrlimit(Resource::Nofile, files).unwrap();
    let begun: Vec<_> = (0..1000)
        .map(|number| {
            let mut socket = TcpStream::connect(served.address).unwrap();
            socket.set_read_timeout(Some(PATIENCE)).unwrap();
            // Nothing at all, or the beginning of a record.
            if number % 2 == 0 {
                socket.write_all(&[22, 3, 1, 2, 0, 1]).unwrap();
            }
            socket
        })
        .collect();
    let output = curl(&place, &served, "", "/livez");
    assert!(output.status.success(), "{}", text(&output.stderr));
    for mut socket in begun {
        let ended = socket.read(&mut [0]).map_err(|error| error.kind());
        assert!(
            matches!(ended, Ok(0) | Err(ErrorKind::ConnectionReset)),
            "{ended:?}"
        );
    }
}

#[test]
fn unfinished_handshakes_give_their_places_to_new_connections() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(&format!("{TLS} --connections-per-source 16"));
    let held: Vec<_> = (0..16)
        .map(|_| TcpStream::connect(served.address).unwrap())
        .collect();
    // A connection is spared for its first second.
    let output = curl(
        &place,
        &served,
        "--retry 60 --retry-delay 1 --retry-all-errors",
        "/livez",
    );
    assert!(
        output.status.success(),
        "{} held: {}",
        held.len(),
        text(&output.stderr)
    );
}

#[test]
fn client_that_closes_its_side_of_tls_gets_the_response() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(TLS);
    let mut client = connect(&place, &served);
    let record = r#"{"instanceId":"ws-1"}"#;
    let length = record.len();
    let post = format!(
        "POST /api/Stats/Post HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{record}"
    );
    client.write_all(post.as_bytes()).unwrap();
    client.conn.send_close_notify();
    client.flush().unwrap();
    client.sock.shutdown(std::net::Shutdown::Write).unwrap();
    read_until(&mut client, "HTTP/1.1 200");
}

#[test]
fn events_arrive_over_tls_and_end_with_the_server() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let mut served = place.serve_with(TLS);
    let get = |target: &str, more: &str| {
        let key = &place.admin;
        format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n{more}\r\n")
    };
    let mut events = connect(&place, &served);
    let request = get("/query/events", "accept: text/event-stream\r\n");
    events.write_all(request.as_bytes()).unwrap();
    read_until(&mut events, "text/event-stream");
    let record = r#"{"workSpId":"ws-1","computerName":"PC-1"}"#;
    let put = format!(
        "PUT /operator/workspaces/ws-1 HTTP/1.1\r\nhost: localhost\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{record}",
        place.admin,
        record.len()
    );
    let mut other = connect(&place, &served);
    other.write_all(put.as_bytes()).unwrap();
    read_until(&mut other, "HTTP/1.1 20");
    read_until(&mut events, "ws-1");
    served.terminate();
    // Each ends with what TLS ends with, and not in the middle.
    for mut stream in [events, other] {
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
}

#[test]
fn connection_that_rests_over_tls_ends_as_tls_ends() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let mut served = place.serve_with(&format!("{TLS} --set server.idle_timeout=300ms"));
    let livez = "GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let ends = |requests: usize, stream: &mut Client| {
        for _ in 0..requests {
            stream.write_all(livez.as_bytes()).unwrap();
            read_until(stream, "HTTP/1.1 200");
        }
        stream.read_to_end(&mut Vec::new()).unwrap();
    };
    for requests in [0, 1] {
        ends(requests, &mut connect(&place, &served));
    }
    let mut unused = connect(&place, &served);
    served.terminate();
    ends(0, &mut unused);
}

#[test]
fn unread_responses_over_tls_end_the_connection() {
    let Some(place) = certificate_folder() else {
        return;
    };
    let served = place.serve_with(&format!("{TLS} --quiet --set server.write_timeout=500ms"));
    let mut stream = connect(&place, &served);
    let request = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let count = 100;
    stream.write_all(request.repeat(count).as_bytes()).unwrap();
    // The connection ends by itself: nothing of it is read before.
    let connections = || {
        let metrics = curl(&place, &served, "", "/metrics").stdout;
        let metrics = String::from_utf8(metrics).unwrap();
        let mut lines = metrics.lines();
        let line = lines.find(|line| line.starts_with("deskfleet_connections "));
        line.unwrap().ends_with(" 1")
    };
    while !connections() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut read = Vec::new();
    stream.read_to_end(&mut read).unwrap_err();
    assert!(read.len() < count * include_bytes!("../openapi.json").len());
}
