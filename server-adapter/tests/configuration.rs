//! The configuration of the server as a process: where it comes from, and SIGHUP.
#![cfg(unix)]

use std::fs;

use crate::client::Client;
use crate::load::{Place, Served, command, done};
use rustix::process::Signal;

/// Writes the file that the server loads unless another one is named.
fn configure(place: &Place, text: &str) {
    fs::write(place.file("deskfleet.toml"), text).unwrap();
}

/// The statuses of `/livez` under two host names.
fn livez(served: &Served) -> [u16; 2] {
    ["a.example", "b.example"].map(|host| {
        let mut client = Client::connect(served.address);
        client.send(format!("GET /livez HTTP/1.1\r\nhost: {host}\r\n\r\n"));
        client.answer_to("GET").status
    })
}

#[test]
fn file_in_the_working_folder_configures_server_and_commands() {
    let place = Place::new();
    fs::rename(place.file("deskfleet.redb"), place.file("fleet.redb")).unwrap();
    configure(
        &place,
        "data = 'fleet.redb'\nrequire_ingest_key = true\nlimits.record_body_bytes = 100\nlog.format = 'off'\n",
    );
    let ingest = done(place.path(), "keys issue --name agents --scope ingest");
    let key = format!("x-api-key: {}\r\n", ingest.trim());
    let served = place.serve_with("--set limits.record_body_bytes=200");
    let mut client = Client::connect(served.address);
    for (key, length, status) in [("", 0, 401), (&*key, 120, 200), (&*key, 220, 413)] {
        let record = format!(r#"{{"instanceId":"ws-1"}}{}"#, " ".repeat(length));
        let answer = client.post("/api/Stats/Post", key, &record);
        assert_eq!(answer.status, status, "{answer:?}");
        if status == 413 {
            client = Client::connect(served.address);
        }
    }
    let mut config = command(place.path(), "config");
    config.env("DESKFLEET_LIMITS__RECORD_BODY_BYTES", "300");
    let printed = String::from_utf8(config.output().unwrap().stdout).unwrap();
    for line in [
        "require_ingest_key = true # deskfleet.toml:2\n",
        "record_body_bytes = 300 # environment: DESKFLEET_LIMITS__RECORD_BODY_BYTES\n",
    ] {
        assert!(printed.contains(line), "{printed}");
    }
}

#[test]
fn config_into_the_file_in_force_is_an_error() {
    let place = Place::new();
    let into = |name: &str| {
        let file = fs::File::create(place.file(name)).unwrap();
        command(place.path(), "config")
            .stdout(file)
            .output()
            .unwrap()
    };
    let output = into("deskfleet.toml");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("standard output is deskfleet.toml"),
        "{message}"
    );
    assert!(into("new.toml").status.success());
    fs::rename(place.file("new.toml"), place.file("deskfleet.toml")).unwrap();
    done(place.path(), "config --config /dev/null");
    done(place.path(), "check");
}

#[test]
fn invalid_configuration_is_wrong_usage_and_names_its_place() {
    let place = Place::new();
    configure(&place, "[limits]\nqueue_record = 5\n");
    for line in ["serve", "check", "config", "keys list"] {
        let output = command(place.path(), line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "deskfleet.toml:2: there is no setting limits.queue_record; did you mean limits.queue_records?\n"
        );
    }
    // To monitoring 2 means that something is critical.
    for line in ["status", "status --nope --config /dev/null"] {
        let output = command(place.path(), line).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}");
    }
    for line in ["man", "--help", "check --config /dev/null"] {
        done(place.path(), line);
    }
    let mut check = command(place.path(), "check --config /dev/null");
    check.env("DESKFLEET_KEY", "of another kind");
    check.env("DESKFLEET_COLOUR", "red");
    assert_eq!(
        String::from_utf8(check.output().unwrap().stderr).unwrap(),
        "DESKFLEET_COLOUR: there is no setting colour\n"
    );
}

#[test]
fn sighup_applies_what_can_change_and_names_what_cannot() {
    let place = Place::new();
    configure(&place, "server.hosts = ['a.example']\nlog.format = 'off'\n");
    let mut served = place.serve_with("");
    assert_eq!(livez(&served), [200, 421]);
    configure(
        &place,
        "server.hosts = ['b.example']\nlog.format = 'json'\nlimits.queue_records = 7\n",
    );
    served.signal(Signal::HUP);
    served.wait_for(r#"server.hosts is [\"b.example\"] now."#);
    served.wait_for(r#""level":"info","message":"log.format is \"json\" now.""#);
    served.wait_for("limits.queue_records is 7 in the configuration; restart to apply it.");
    assert_eq!(livez(&served), [421, 200]);
    served.wait_for(r#""path":"/livez""#);

    configure(&place, "server.hosts = ['a.example']\nlog.format = 'jsn'\n");
    served.signal(Signal::HUP);
    served.wait_for(r#"deskfleet.toml:2: log.format is \"jsn\""#);
    assert_eq!(livez(&served), [421, 200]);

    configure(
        &place,
        "server.hosts = ['b.example']\nlog.format = 'json'\n",
    );
    served.signal(Signal::HUP);
    served.wait_for("The configuration was loaded again; nothing changed.");

    fs::remove_file(place.file("deskfleet.toml")).unwrap();
    served.signal(Signal::HUP);
    served.wait_for("deskfleet.toml is gone");
    assert_eq!(livez(&served), [421, 200]);
    served.terminate();
}
