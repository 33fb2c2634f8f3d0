//! `export` of telemetry: of a file, and through a running server.
#![cfg(unix)]
#![expect(clippy::format_push_string, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::LazyLock;
use std::time::SystemTime;

use crate::load::{Client, Place, Served, command, done};
use serde_json::Value;

const STREAMS: [&str; 4] = ["stats", "activity", "startup", "processes"];

/// The date of a day before today: the server removes what is too old.
fn day(ago: u32) -> String {
    /// Midnight may pass while this runs.
    static TODAY: LazyLock<u32> =
        LazyLock::new(|| deskfleet::Timestamp::from(SystemTime::now()).day());
    let day = deskfleet::Timestamp::from_day(*TODAY - ago).to_string();
    day.split('T').next().unwrap().to_owned()
}

/// A server that has accepted some records of each stream of three instances over three days, and a file `key`.
fn served() -> (Place, Served) {
    let place = Place::new();
    fs::write(place.file("key"), format!("{}\n", place.admin)).unwrap();
    let served = place.serve();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let mut lines = String::new();
    for number in 0..600 {
        let instance = format!("ws-{}", number % 3);
        let ago = [5, 4, 3, 2][number / 7 % 4];
        let time = format!("{}T{:02}:00:00Z", day(ago), number % 24);
        let common = format!(r#""username":"=u,\"{number}\"\n","instanceId":"{instance}""#);
        lines.push_str(&match number % 4 {
            0 => format!(r#"{{"stats":{{"id":{number},"updatetime":"{time}","diskReads":0.1,{common}}}}}"#),
            1 => format!(r#"{{"activity":{{"id":{number},"activityTime":"{time}",{common}}}}}"#),
            2 => format!(r#"{{"startup":{{"id":{number},"baselineUtc":"{time}","totalMs":7,{common}}}}}"#),
            _ => format!(r#"{{"processes":{{"createdDate":"{time}","processes":[{{"processName":"a"}},{{"processName":"b"}}],{common}}}}}"#),
        });
        lines.push('\n');
    }
    let accepted = client.accepted("POST /operator/telemetry", &lines).unwrap();
    assert!(accepted.contains(r#""accepted":600"#), "{accepted}");
    (place, served)
}

fn through(place: &Place, served: &Served, line: &str) -> Command {
    let line = format!("{line} --key-file key --url http://{}", served.address);
    command(place.path(), &line)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn telemetry_of_a_file_is_that_of_its_server_also_while_it_is_queued() {
    let (place, mut served) = served();
    let mut client = Client::connect(served.address, &place.admin).unwrap();
    let exports: Vec<_> = ["ndjson", "csv"]
        .into_iter()
        .flat_map(|format| STREAMS.map(|stream| format!("export {stream} --format {format}")))
        .collect();
    let of_server: Vec<_> = exports
        .iter()
        .map(|line| {
            let output = through(&place, &served, line).output().unwrap();
            let message = text(&output.stderr);
            let rows = if line.contains("processes --format csv") {
                300
            } else {
                150
            };
            assert_eq!(message, format!("{rows} rows written to standard output\n"));
            text(&output.stdout).to_owned()
        })
        .collect();
    let late = r#"{"id":-1,"instanceId":"ws-9"}"#;
    client.accepted("POST /api/Stats/Post", late).unwrap();
    served.kill();
    for (line, of_server) in exports.iter().zip(&of_server) {
        let of_file = done(place.path(), line);
        let added = of_file.strip_prefix(of_server.as_str()).unwrap();
        assert_eq!(!added.is_empty(), line.contains("stats"), "{line}: {added}");
    }
    let ids: Vec<Value> = of_server[0]
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids.len(), 150);
    done(place.path(), "check");
}

#[test]
fn options_select_time_and_instance() {
    let (place, served) = served();
    let (from, to) = (day(4), format!("{}T12:00:00Z", day(3)));
    let time = &format!("export stats --from {from} --to {to} --instance ws-0");
    let output = through(&place, &served, time).output().unwrap();
    let of_server = text(&output.stdout);
    assert!(of_server.lines().count() > 2);
    for line in of_server.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let time = record["updatetime"].as_str().unwrap();
        assert!((from.as_str()..to.as_str()).contains(&time), "{time}");
        assert_eq!(record["instanceId"], "ws-0");
    }
    let none = through(
        &place,
        &served,
        "export stats --from -1h --to -1m --output none",
    )
    .output();
    assert!(none.unwrap().status.success());
    assert_eq!(fs::read(place.file("none")).unwrap(), b"");
    let strange = through(&place, &served, "export stats --instance a&b%+ä")
        .output()
        .unwrap();
    assert!(strange.status.success() && strange.stdout.is_empty());
    let audit = through(&place, &served, "export audit --from -1h")
        .output()
        .unwrap();
    // The exports themselves have a row a minute.
    let others = text(&audit.stdout)
        .lines()
        .filter(|line| !line.contains("\"QueryExport\""));
    assert_eq!(others.count(), 1);
    let audit = through(&place, &served, "export audit --to -1h")
        .output()
        .unwrap();
    assert_eq!(text(&audit.stdout), "");
    let of_server = of_server.to_owned();
    drop(served);
    assert_eq!(done(place.path(), time), of_server);
    assert_eq!(done(place.path(), &format!("{time} --output -")), of_server);
    assert_eq!(done(place.path(), "export audit --to -1h"), "");
}

#[test]
fn response_that_breaks_off_leaves_the_file_as_it_was() {
    let place = Place::new();
    fs::write(place.file("key"), &place.admin).unwrap();
    fs::write(place.file("kept"), "an earlier export").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = socket.read(&mut request).unwrap();
        let response = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}\n\r\n";
        socket.write_all(response.as_bytes()).unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let line = format!("export stats --key-file key --url http://{address} --output kept");
    let output = command(place.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("broke off"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(
        fs::read_to_string(place.file("kept")).unwrap(),
        "an earlier export"
    );
    assert!(!place.file("kept.part").exists());
    let request = server.join().unwrap();
    assert!(request.starts_with("GET /query/export?stream=stats&format=ndjson HTTP/1.1"));
}
