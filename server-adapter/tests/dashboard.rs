//! `/metrics` and `docs/grafana-dashboard.json`: each shows what the other has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Write as _, stderr};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::client::Client;
use deskfleet::{ActionRequest, CommitDriver, Config, Engine, State, Upkeep, Workspace};
use deskfleet_server::{
    Backups, HeartbeatOptions, Metrics, NotificationOptions, Notifications, Prepared,
    RunningServer, ServerOptions, spawn,
};
use serde_json::Value;
use tempfile::TempDir;

const DASHBOARD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/grafana-dashboard.json");
/// What the metrics of a node of a fleet begin with; other servers have none.
pub(crate) const NODE_PREFIX: &str = "deskfleet_log_";
const PREFIX: &str = "deskfleet_";
/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server over a file, after a request, an action, a commit and a round of maintenance: every metric has a value.
pub(crate) fn server(folder: &TempDir) -> (RunningServer, Engine) {
    let metrics = Metrics::default();
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .upkeep(Upkeep::Host)
        .free_space(|| Some(1 << 40))
        .observer(metrics.clone())
        .open(folder.path().join("fleet.redb"))
        .unwrap();
    for (id, state) in [
        ("ws-1", "AVAILABLE"),
        ("ws-2", "AVAILABLE"),
        ("ws-3", "On fire"),
    ] {
        let workspace = Workspace {
            id: id.into(),
            state: Some(state.into()),
            ..Workspace::default()
        };
        engine.put_workspace(workspace).unwrap();
    }
    engine.act(ActionRequest::reboot("ws-1")).unwrap();
    engine.place_hold("ws-2", "Doe v. Roe", None).unwrap();
    let backups = Backups::new(folder.path().to_owned(), |_| {}).unwrap();
    backups.write(&engine).unwrap();
    let options = ServerOptions {
        backups: Some(backups),
        maintain_every: Some(Duration::from_millis(1)),
        ..Default::default()
    };
    let heartbeat = HeartbeatOptions {
        url: Some("http://127.0.0.1:9/".to_owned()),
        ..HeartbeatOptions::default()
    };
    let options_of_notifications = NotificationOptions {
        heartbeat,
        ..NotificationOptions::default()
    };
    let notifications = Notifications::new(engine.clone(), metrics.clone(), None);
    let prepared = Prepared::read(&options_of_notifications).unwrap();
    notifications.replace(prepared).unwrap();
    notifications.stop();
    let options = ServerOptions { metrics, ..options };
    (spawn(engine.clone(), options).unwrap(), engine)
}

/// The page, once it has a line that begins so.
pub(crate) fn scrape(client: &mut Client, begin: &str) -> String {
    let patience = std::time::Instant::now() + PATIENCE;
    loop {
        let text = client.ask("GET", "/metrics", "").body;
        if text.lines().any(|line| line.starts_with(begin)) {
            return text;
        }
        assert!(std::time::Instant::now() < patience, "{begin}\n{text}");
    }
}

/// The types of the families, by their names.
pub(crate) fn families(text: &str) -> BTreeMap<&str, &str> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.map(|line| line.split_once(' ').unwrap()).collect()
}

/// The names of series in an expression.
pub(crate) fn series(expression: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = expression.split(move |c| !is_name(c));
    words.filter(|word| word.starts_with(PREFIX))
}

fn dashboard() -> Value {
    serde_json::from_str(&fs::read_to_string(DASHBOARD).unwrap()).unwrap()
}

/// The panels that are not headings.
fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    let all = dashboard["panels"].as_array().unwrap().iter();
    all.filter(|panel| panel["type"] != "row")
}

fn expressions(dashboard: &Value) -> Vec<&str> {
    panels(dashboard)
        .flat_map(|panel| panel["targets"].as_array().unwrap())
        .map(|target| target["expr"].as_str().unwrap())
        .collect()
}

#[test]
fn dashboard_shows_metrics_that_exist_and_all_of_them() {
    let folder = TempDir::new().unwrap();
    let (server, _engine) = server(&folder);
    let mut client = Client::connect(server.addr());
    let text = scrape(&mut client, "deskfleet_maintenance_last_success");
    let families = families(&text);
    let dashboard = dashboard();
    let mut shown = BTreeSet::new();
    let names = expressions(&dashboard).into_iter().flat_map(series);
    for name in names.filter(|name| !name.starts_with(NODE_PREFIX)) {
        let family = ["_bucket", "_sum", "_count"]
            .into_iter()
            .filter_map(|suffix| name.strip_suffix(suffix))
            .find(|family| families.get(family) == Some(&"histogram"))
            .unwrap_or(name);
        assert!(families.contains_key(family), "{name} is no metric");
        shown.insert(family);
    }
    for family in families.keys() {
        assert!(shown.contains(family), "{family} is not shown");
    }
}

#[test]
fn panels_of_the_dashboard_are_described_and_have_units() {
    let dashboard = dashboard();
    let mut ids = BTreeSet::new();
    for panel in panels(&dashboard) {
        let title = &panel["title"];
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        assert!(
            panel["description"].as_str().unwrap().ends_with('.'),
            "{title}"
        );
        assert!(
            panel["fieldConfig"]["defaults"]["unit"].is_string(),
            "{title}"
        );
        let legends = panel["targets"].as_array().unwrap().iter();
        assert!(
            legends.clone().all(|target| target["legendFormat"] != ""),
            "{title}"
        );
    }
    assert!(
        expressions(&dashboard)
            .iter()
            .all(|e| e.contains("{instance=~\"$instance\""))
    );
}

#[test]
fn scrape_shows_the_fleet_the_store_and_upkeep() {
    let folder = TempDir::new().unwrap();
    let (server, engine) = server(&folder);
    let mut client = Client::connect(server.addr());
    let text = scrape(&mut client, "deskfleet_maintenance_last_success");
    let mut lines = vec![
        "deskfleet_ready 1".to_owned(),
        "deskfleet_workspaces{state=\"other\"} 1".to_owned(),
        "deskfleet_workspaces_held 1".to_owned(),
        "deskfleet_actions_running 1".to_owned(),
        "deskfleet_actions_unattended 0".to_owned(),
        "deskfleet_actions_stalled 0".to_owned(),
        "deskfleet_disk_free_bytes 1099511627776".to_owned(),
        "deskfleet_queue_records 0".to_owned(),
        "deskfleet_queue_bytes 0".to_owned(),
        "deskfleet_oldest_queued_record_age_seconds 0".to_owned(),
        "deskfleet_connections 1".to_owned(),
        "deskfleet_connections_max 900".to_owned(),
        "deskfleet_maintenance_failures_total 0".to_owned(),
    ];
    for state in State::ALL {
        let count = u8::from(matches!(state, State::Available | State::Rebooting));
        lines.push(format!("deskfleet_workspaces{{state=\"{state}\"}} {count}"));
    }
    for line in &lines {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    for positive in [
        "oldest_action_age_seconds",
        "store_bytes",
        "commit_duration_seconds_count",
    ] {
        let value = text.lines().find_map(|line| {
            line.strip_prefix(PREFIX)?
                .strip_prefix(positive)?
                .trim()
                .parse::<f64>()
                .ok()
        });
        assert!(value.unwrap() > 0.0, "{positive}\n{text}");
    }
    // What changed later is seen, though reading it pauses.
    engine.remove_workspace("ws-3").unwrap();
    scrape(&mut client, "deskfleet_workspaces{state=\"other\"} 0");
    engine.close().unwrap();
    scrape(&mut client, "deskfleet_ready 0");
}

/// Runs promtool with this input; `None` where it is not installed.
pub(crate) fn promtool(arguments: &[&str], input: &str) -> Option<String> {
    let started = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = started else {
        // Written past the capture of the test runner: a skipped test must not look like one that passed.
        let _ = writeln!(stderr(), "SKIPPED a check by promtool: it is not installed");
        return None;
    };
    promtool
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = promtool.wait_with_output().unwrap();
    let message = [output.stdout, output.stderr].concat();
    let message = String::from_utf8(message).unwrap();
    assert!(output.status.success(), "{message}\n{input}");
    Some(message)
}

#[test]
fn promtool_accepts_the_scrape_and_the_expressions() {
    let folder = TempDir::new().unwrap();
    let (server, _engine) = server(&folder);
    let mut client = Client::connect(server.addr());
    let text = scrape(&mut client, "deskfleet_maintenance_last_success");
    if let Some(message) = promtool(&["check", "metrics"], &text) {
        assert_eq!(message, "", "advice");
    }
    let dashboard = dashboard();
    let rules = expressions(&dashboard)
        .into_iter()
        .enumerate()
        .map(|(number, expression)| {
            let expression = expression
                .replace("$__rate_interval", "5m")
                .replace("$instance", ".*");
            serde_json::json!({"record": format!("rule_{number}"), "expr": expression})
        });
    let rules: Vec<Value> = rules.collect();
    // JSON is YAML.
    let rules = serde_json::json!({"groups": [{"name": "dashboard", "rules": rules}]});
    let file = folder.path().join("rules.yml");
    fs::write(&file, rules.to_string()).unwrap();
    promtool(&["check", "rules", file.to_str().unwrap()], "");
}
