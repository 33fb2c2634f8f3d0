//! A swarm of synthetic agents, which were offline for a while, against a server that goes away and comes back.

use std::thread;
use std::time::Duration;

use deskfleet::{HistoryQuery, Stream};

use crate::agents::Fleet;
use crate::faulty_proxy::{Fault, FaultyProxy};

const AGENTS: &str = "20";

#[test]
fn every_record_of_a_swarm_arrives_once_though_the_server_goes_away() {
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::ResponseLost);
    let inventory = fleet
        .agent(&["swarm", "--agents", AGENTS, "--inventory"])
        .output()
        .unwrap();
    let inventory = String::from_utf8(inventory.stdout).unwrap();
    let ids: Vec<String> = inventory
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["workSpId"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let output = thread::scope(|scope| {
        let swarm = scope.spawn(|| {
            let arguments = [
                "swarm",
                "--agents",
                AGENTS,
                "--minutes",
                "0",
                "--backlog-days",
                "1",
                "--key-file",
                "key",
                "--url",
                &proxy.url(),
            ];
            fleet.agent(&arguments).output().unwrap()
        });
        // Each agent sends its first records within half a minute.
        proxy.wait_for_connections(5);
        proxy.set(Fault::Closed);
        thread::sleep(Duration::from_millis(500));
        proxy.set(Fault::None);
        swarm.join().unwrap()
    });
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{log}");
    fleet.engine.maintain().unwrap();
    let mut stored = 0;
    for id in &ids {
        for stream in Stream::ALL {
            stored += fleet
                .engine
                .all_history(HistoryQuery::new(stream, id.as_str()))
                .count();
        }
    }
    // A day of each has 288 samples at least.
    assert!(stored >= 20 * 288, "{stored}");
    assert!(
        log.contains(&format!("{stored} records measured, {stored} accepted")),
        "{stored}: {log}"
    );
}
