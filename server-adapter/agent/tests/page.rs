//! The minimal agent of `docs/agent.md`.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use deskfleet::{Record, Stream};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::agents::{Fleet, INSTANCE};
use crate::certificates::has;
use crate::faulty_proxy::{Fault, FaultyProxy};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/agent.md");

#[test]
fn agent_of_the_page_keeps_its_records_while_the_server_is_away() {
    if !has(&["curl"]) {
        return;
    }
    let fleet = Fleet::new();
    let proxy = FaultyProxy::new(fleet.addr(), Fault::ResponseLost);
    let page = fs::read_to_string(PAGE).unwrap();
    let script = page.split("```sh\n#!/bin/sh\n").nth(1).unwrap();
    let script = script.split("```").next().unwrap();
    let mut agent = Command::new("sh")
        .args(["-c", script])
        .env("URL", proxy.url())
        .env("KEY", fs::read_to_string(fleet.file("key")).unwrap())
        .env("INSTANCE", INSTANCE)
        .env("EVERY", "1")
        .current_dir(fleet.file(""))
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    proxy.wait_for_connections(2);
    proxy.set(Fault::None);
    let begun = Instant::now();
    let records = loop {
        let records = fleet.records(Stream::Stats);
        if records.len() >= 4 || begun.elapsed() > Duration::from_secs(30) {
            break records;
        }
        sleep(Duration::from_millis(100));
    };
    let _ = kill_process_group(Pid::from_child(&agent), Signal::KILL);
    let _ = agent.wait();
    assert!(records.len() >= 4, "{records:?}");
    let mut times = Vec::new();
    for record in &records {
        let Record::Stats(stats) = record else {
            panic!("{record:?}");
        };
        assert!(
            (0..=100).contains(&stats.processor_in_use.unwrap()),
            "{stats:?}"
        );
        assert!(
            stats.memory_in_use.unwrap() > 0 && *stats.uptime.value().unwrap() > 0.0,
            "{stats:?}"
        );
        times.push(stats.update_time);
    }
    times.dedup();
    assert_eq!(times.len(), records.len(), "a record was stored twice");
}
