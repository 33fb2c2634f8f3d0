//! What an agent sends of this machine, compared with what the kernel shows.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;

use deskfleet::{Record, Stream};

use crate::agents::{Fleet, INSTANCE};

/// A number of bytes in `/proc/meminfo`.
fn memory(name: &str) -> i64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    let number: i64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    number * 1024
}

/// Processor time in use, and all of it, in ticks.
fn processor_ticks() -> (f64, f64) {
    let text = fs::read_to_string("/proc/stat").unwrap();
    let line = text.lines().next().unwrap();
    let ticks: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .map(|word| word.parse().unwrap())
        .collect();
    let all: f64 = ticks[..8].iter().sum();
    (all - ticks[3] - ticks[4], all)
}

fn assert_near(name: &str, found: i64, expected: i64, tolerance: i64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{name}: {found}, and the kernel says {expected}"
    );
}

#[test]
fn once_sends_the_figures_that_proc_shows() {
    let fleet = Fleet::new();
    let before = processor_ticks();
    let output = fleet.once(&fleet.url());
    let after = processor_ticks();
    assert!(output.status.success(), "{output:?}");
    let records = fleet.records(Stream::Stats);
    let [Record::Stats(stats)] = records.as_slice() else {
        panic!("{records:?}");
    };
    let busy = 100.0 * (after.0 - before.0) / (after.1 - before.1);
    let load = f64::from(stats.processor_in_use.unwrap());
    assert!(
        (0.0..=100.0).contains(&load) && (load - busy).abs() < 50.0,
        "{load} and {busy}"
    );
    let processors = std::thread::available_parallelism().unwrap().get();
    assert!(usize::try_from(stats.processor_count.unwrap()).unwrap() >= processors);
    let total = memory("MemTotal");
    assert_near("physicalMemory", stats.physical_memory.unwrap(), total, 0);
    let available = stats.available_physical_memory.unwrap();
    assert_near(
        "availablePhysicalMemory",
        available,
        memory("MemAvailable"),
        total / 5,
    );
    assert_eq!(stats.memory_in_use, Some(total - available));
    assert_near(
        "virtualMemory",
        stats.virtual_memory.unwrap(),
        total + memory("SwapTotal"),
        0,
    );
    let uptime = fs::read_to_string("/proc/uptime").unwrap();
    let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    assert!((stats.uptime.value().unwrap() - uptime).abs() < 60.0);
    assert!(stats.network_received.unwrap() >= 0.0 && stats.network_sent.unwrap() >= 0.0);
    assert_eq!(
        stats.instance_id.value().map(String::as_str),
        Some(INSTANCE)
    );
    assert_eq!(
        stats.os_version.value().is_some(),
        fs::exists("/etc/os-release").unwrap()
    );
}

#[test]
fn processes_are_at_most_fifty_names_without_their_arguments() {
    let fleet = Fleet::new();
    assert!(fleet.once(&fleet.url()).status.success());
    let records = fleet.records(Stream::Processes);
    let [Record::Processes(report)] = records.as_slice() else {
        panic!("{records:?}");
    };
    let items = report.processes.as_ref().unwrap();
    assert!((1..=50).contains(&items.len()), "{}", items.len());
    let mut sum = 0.0;
    for item in items {
        // The kernel keeps 15 bytes of a name.
        assert!(item.process_name.as_ref().unwrap().len() <= 15, "{item:?}");
        assert!(
            item.process_count.unwrap() >= 1 && item.memory_usage.unwrap() > 0.0,
            "{item:?}"
        );
        sum += item.processor_usage.unwrap();
    }
    assert!((0.0..=110.0).contains(&sum), "{sum}");
}

#[test]
fn dry_run_prints_what_would_be_sent_and_needs_no_server() {
    let fleet = Fleet::new();
    let output = fleet.agent(&["--once", "--dry-run"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let mut batch = fleet.engine.batch();
    for line in lines.lines() {
        let record: BTreeMap<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        let (name, record) = record.first_key_value().unwrap();
        let stream = Stream::ALL
            .into_iter()
            .find(|stream| stream.name() == name)
            .unwrap();
        batch
            .push_json(stream, record.to_string().as_bytes())
            .unwrap();
    }
    assert!(lines.lines().count() >= 2, "{lines}");
    assert!(!fleet.file("spool").exists());
}
