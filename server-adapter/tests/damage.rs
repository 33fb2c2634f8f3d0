//! Damaged telemetry, and a file that another program writes into, as an operator meets them.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::load::{Client, Place, Served, done};
use rustix::process::Signal;

/// How long a state is waited for; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

fn post(client: &mut Client, id: usize) -> (u16, String) {
    let body = format!(r#"{{"id":{id},"instanceId":"i-1"}}"#);
    client.ask("POST /api/Stats/Post", &body).unwrap()
}

/// Inverts the first byte of the newest block in the segments of a queue, if there is one.
fn damage(queue: &Path) {
    for segment in fs::read_dir(queue).into_iter().flatten() {
        let segment = segment.unwrap().path();
        // It may be removed meanwhile.
        let bytes = fs::read(&segment).unwrap_or_default();
        let Some(tag) = bytes
            .get(512..520)
            .filter(|_| bytes.starts_with(b"dfqueue"))
        else {
            continue;
        };
        let sectors = (0_u64..).step_by(512).zip(bytes.chunks(512)).skip(1);
        let newest = sectors.filter(|(_, sector)| sector.starts_with(tag)).last();
        let (start, sector) = newest.unwrap();
        let file = fs::OpenOptions::new().write(true).open(&segment).unwrap();
        file.write_all_at(&[!sector.get(36).unwrap()], start + 36)
            .unwrap();
    }
}

fn readyz(client: &mut Client) -> (u16, String) {
    client.ask("GET /readyz", "").unwrap()
}

/// Asks again and again until `/readyz` is as wanted; `meanwhile` runs before each.
fn wait_until_ready_is(
    client: &mut Client,
    status: u16,
    mut meanwhile: impl FnMut(&mut Client),
) -> String {
    let begun = Instant::now();
    loop {
        meanwhile(client);
        let (found, message) = readyz(client);
        if found == status {
            return message;
        }
        assert!(begun.elapsed() < PATIENCE, "{found} {message}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn connect(served: &Served, place: &Place) -> Client {
    Client::connect(served.address, &place.admin).unwrap()
}

#[test]
fn server_with_damaged_telemetry_says_so_serves_the_rest_stops_and_starts() {
    let place = Place::new();
    let (queue, aside) = (
        place.file("deskfleet.redb-queue"),
        place.file("deskfleet.redb-damaged"),
    );
    let mut served = place.serve();
    let mut client = connect(&served, &place);
    let mut posted = 0;
    // What was filed before it was damaged is not lost; then comes more.
    let message = wait_until_ready_is(&mut client, 503, |client| {
        posted += 1;
        assert_eq!(post(client, posted).0, 200);
        damage(&queue);
    });
    assert!(message.starts_with("Corrupted: "), "{message}");
    for part in [
        "no restart is needed",
        "stop the server, run `deskfleet check`",
    ] {
        assert!(message.contains(part), "{message}");
    }
    served.wait_for("DAMAGED");
    damage(&queue);
    served.terminate();
    assert!(!queue.exists());
    assert!(done_check(&place).contains("-damaged"));
    let served = place.serve();
    let mut client = connect(&served, &place);
    assert_eq!(readyz(&mut client).0, 503);
    client.accepted("GET /operator/keys", "").unwrap();
    let kept = fs::read_to_string(&aside).unwrap();
    assert!(
        kept.lines().all(|line| line.starts_with("{\"block\":")),
        "{kept}"
    );
    fs::rename(&aside, place.file("looked-at")).unwrap();
    assert_eq!(readyz(&mut client).0, 200);
    assert_eq!(post(&mut client, 0).0, 200);
}

fn done_check(place: &Place) -> String {
    let output = crate::load::command(place.path(), "check")
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(0));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn server_whose_file_is_overwritten_by_a_backup_leaves_it_alone() {
    let place = Place::new();
    done(place.path(), "backup copy.redb");
    let mut served = place.serve();
    let mut client = connect(&served, &place);
    let workspace = r#"{"state":"AVAILABLE"}"#;
    client
        .accepted("PUT /operator/workspaces/ws-1", workspace)
        .unwrap();
    let (file, copy) = (place.file("deskfleet.redb"), place.file("copy.redb"));
    wait_until_ready_is(&mut client, 503, |_| {
        fs::copy(&copy, &file).unwrap();
    });
    let put = client
        .ask("PUT /operator/workspaces/ws-2", workspace)
        .unwrap();
    assert_eq!(put.0, 503, "{}", put.1);
    served.wait_for("another program wrote");
    served.signal(Signal::TERM);
    assert_ne!(served.child.wait().unwrap().code(), Some(0));
    assert!(fs::read(&file).unwrap() == fs::read(&copy).unwrap());
    let served = place.serve();
    let mut client = connect(&served, &place);
    assert_eq!(readyz(&mut client).0, 200);
    client
        .accepted("PUT /operator/workspaces/ws-2", workspace)
        .unwrap();
}
