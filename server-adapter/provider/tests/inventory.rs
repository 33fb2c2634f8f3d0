//! `deskfleet-provider aws` with its scans, over a real server and a fake of Amazon WorkSpaces.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::fleets::{Fleet, PATIENCE, Provider};
use deskfleet::{Action, AuditResult};
use serde_json::json;

/// Each action, through the fake of Amazon WorkSpaces, and the inventory with it.
#[test]
fn amazon_carries_out_each_action_and_the_inventory_follows() {
    let Some(aws) = crate::clouds::Aws::fake() else {
        return;
    };
    let fleet = Fleet::new(&["ws-gone00000"]);
    let ids: Vec<String> = (0..7).map(|number| format!("ws-{number:09}")).collect();
    let desktop = |id: &String| {
        let state = if id.ends_with('5') {
            "STOPPED"
        } else {
            "AVAILABLE"
        };
        (id.clone(), json!({"state": state}))
    };
    let desktops: serde_json::Map<_, _> = ids.iter().map(desktop).collect();
    aws.control(&json!({"desktops": desktops, "seconds": 0.5}));
    let (id, secret) = aws.key("all");
    let url = aws.url();
    let line = [
        "aws",
        "--apply",
        "--region",
        "us-east-1",
        "--endpoint",
        &url,
        "--rate",
        "100",
        "--burst",
        "100",
        "--scan-every",
        "500ms",
        "--settle",
        "1s",
    ];
    let mut command = fleet.command(&line);
    command
        .env("AWS_ACCESS_KEY_ID", id)
        .env("AWS_SECRET_ACCESS_KEY", secret);
    let log = fleet.folder.path().join("provider.log");
    command.stderr(std::fs::File::create(&log).unwrap());
    let _provider = Provider(command.spawn().unwrap());
    let begun = Instant::now();
    let known = |id: &str| fleet.server.engine.workspace(id).unwrap();
    while ids.iter().any(|id| known(id).is_none()) {
        assert!(begun.elapsed() < PATIENCE, "the first scan");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut numbers = Vec::new();
    for (id, action) in ids.iter().zip(Action::ALL) {
        numbers.push(fleet.act(*action, id));
    }
    fleet.wait_until_done();
    for (number, action) in numbers.iter().zip(Action::ALL) {
        let (result, _, detail) = fleet.end_of(*number);
        assert_eq!(result, AuditResult::Completed, "{action}: {detail}");
        // A recovery reboot stops and starts.
        let attempts = if *action == Action::RecoveryReboot {
            "aws-us-east-1, 2 attempts"
        } else {
            "aws-us-east-1, 1 attempt"
        };
        assert!(detail.starts_with(attempts), "{action}: {detail}");
    }
    follow_the_cloud(&fleet, &aws, &ids, &log);
}

/// It describes desktops, and claims no action that it could carry out.
#[test]
fn inventory_only_keeps_the_inventory_and_leaves_actions_alone() {
    let Some(aws) = crate::clouds::Aws::fake() else {
        return;
    };
    let fleet = Fleet::new(&["ws-000000001"]);
    aws.control(&json!({"desktops": {"ws-000000001": {"state": "STOPPED"}, "ws-000000002": {"state": "AVAILABLE"}}}));
    let action = fleet.act(Action::Reboot, "ws-000000001");
    let (id, secret) = aws.key("all");
    let url = aws.url();
    let line = [
        "aws",
        "--inventory-only",
        "--region",
        "us-east-1",
        "--endpoint",
        &url,
        "--scan-every",
        "500ms",
    ];
    let mut command = fleet.command(&line);
    command
        .env("AWS_ACCESS_KEY_ID", id)
        .env("AWS_SECRET_ACCESS_KEY", secret);
    let log = fleet.folder.path().join("provider.log");
    command.stderr(std::fs::File::create(&log).unwrap());
    let _provider = Provider(command.spawn().unwrap());
    fleet.wait("a scan", || {
        fleet
            .server
            .engine
            .workspace("ws-000000002")
            .unwrap()
            .is_some()
    });
    let log = || std::fs::read_to_string(&log).unwrap();
    // Two more scans: nothing is claimed meanwhile.
    fleet.wait("more scans", || {
        log().matches("scanned the cloud").count() > 2
    });
    let pending = fleet.pending();
    assert_eq!((pending[0].id, pending[0].attempts), (action, 0));
    assert_eq!(fleet.state("ws-000000001"), "REBOOTING");
    assert!(!log().contains("apply"), "{}", log());
    let output = fleet.ended(&["aws", "--inventory-only", "--apply"]);
    assert_eq!(output.status.code(), Some(2));
}

/// What is gone there, and what the credentials of another account show.
fn follow_the_cloud(fleet: &Fleet, aws: &crate::clouds::Aws, ids: &[String], log: &Path) {
    let begun = Instant::now();
    let known = |id: &str| fleet.server.engine.workspace(id).unwrap();
    let (first, rest) = ids.split_first().unwrap();
    aws.control(&json!({"gone": [first]}));
    while fleet.state(first) != "TERMINATED" {
        assert!(begun.elapsed() < PATIENCE, "what is missing in two scans");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Of no account, and never seen there: it may be another's.
    assert_eq!(fleet.state("ws-gone00000"), "AVAILABLE");

    // As the credentials of another account show it: none of these desktops, and one of its own.
    aws.control(&json!({"gone": rest, "desktops": {"ws-another00": {}}}));
    let log = || std::fs::read_to_string(log).unwrap();
    while !log().contains("it shows none of the desktops") {
        assert!(begun.elapsed() < PATIENCE, "{}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(known("ws-another00").is_none());
    let terminated = ids
        .iter()
        .filter(|id| fleet.state(id) == "TERMINATED")
        .count();
    // By its action, and the one that was gone alone.
    assert_eq!(terminated, 2);
}
