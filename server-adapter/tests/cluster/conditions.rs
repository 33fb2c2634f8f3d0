//! The conditions of a node: in its list, its metrics and by its webhook, with its log in PostgreSQL.

use super::{Fleet, readyz, wait_until};
use crate::load::command;
use crate::notifications::{Monitor, Posted, configure, webhook};
use serde_json::Value;

/// The next message about the condition.
fn next(monitor: &Monitor, code: &str) -> (Posted, Value) {
    loop {
        let posted = monitor.next();
        posted.verify();
        let detail = posted.json()["data"]["detail"].clone();
        if detail["code"] == code {
            return (posted, detail);
        }
    }
}

#[test]
fn node_reports_its_conditions_by_webhook_also_across_a_restart() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let monitor = Monitor::start();
    configure(&place, &webhook(&monitor, "events = ['condition.*']"));
    let options = format!("{} --quiet --set alerts.every=1s", fleet.options(&place));
    let mut node = place.serve_with(&options);
    let mut client = fleet.client(&node);
    // One server of PostgreSQL has no standby.
    let (_, unsafe_log) = next(&monitor, "LogUnsafe");
    assert_eq!(unsafe_log["severity"], "warning");
    fleet.gate.close();
    let (raised, detail) = next(&monitor, "LogUnavailable");
    assert_eq!(raised.json()["type"], "condition.raised");
    assert_eq!(detail["severity"], "critical");
    let name = detail["node"].as_str().unwrap();
    assert!(fleet.options(&place).ends_with(name), "{name}");
    let (status, message) = readyz(&mut client);
    assert!(
        status == 503 && message.starts_with("LogUnavailable: "),
        "{message}"
    );
    let (_, listed) = client.ask("GET /query/conditions", "").unwrap();
    assert!(
        listed.contains(r#""code":"LogUnavailable","severity":"critical""#),
        "{listed}"
    );
    let (_, metrics) = client.ask("GET /metrics", "").unwrap();
    for line in [
        r#"deskfleet_condition{code="LogUnavailable",severity="critical"} 1"#,
        "deskfleet_ready 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
    let status = format!("status --url http://{} --key-file admin.key", node.address);
    let output = command(place.path(), &status).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    node.terminate();

    let mut node = place.serve_with(&options);
    let mut client = fleet.client(&node);
    assert_eq!(readyz(&mut client).0, 503);
    fleet.gate.open();
    // It was not raised again meanwhile.
    let (cleared, over) = next(&monitor, "LogUnavailable");
    assert_eq!(cleared.json()["type"], "condition.cleared");
    assert_ne!(cleared.id(), raised.id());
    assert_eq!(over["since"], detail["since"]);
    assert_eq!(over["until"], cleared.json()["timestamp"]);
    assert_eq!(over.get("text"), None);
    wait_until(|| readyz(&mut client).0 == 200);
    let status = format!("status --url http://{} --key-file admin.key", node.address);
    let output = command(place.path(), &status).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the log is unsafe");
    node.terminate();
}

#[test]
fn node_of_other_settings_says_so() {
    let Some(fleet) = Fleet::begin() else { return };
    let places = [(); 2].map(|()| fleet.node_folder());
    let first = fleet.serve(&places[0]);
    let other = format!(
        "{} --set retention_days.stats=9 --set alerts.every=1s",
        fleet.options(&places[1])
    );
    let other = places[1].serve_with(&other);
    let status = |place: &std::path::Path, address| {
        let line = format!("status --url http://{address} --key-file admin.key");
        let output = command(place, &line).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = status(places[1].path(), other.address);
    assert!(
        text.contains("warning SettingsDiffer ") && text.contains("(1: retention_days.stats)"),
        "{text}"
    );
    let text = status(places[0].path(), first.address);
    assert!(!text.contains("SettingsDiffer"), "{text}");
}
