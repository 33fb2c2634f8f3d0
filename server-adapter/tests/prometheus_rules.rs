//! `docs/prometheus-rules.yml`: alerts about metrics that exist, each tested by promtool.

use std::fs;
use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::dashboard::{NODE_PREFIX, families, promtool, scrape, series, server};
use tempfile::TempDir;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name)
}

/// The values of a key of the rules, such as `expr`.
fn values<'t>(rules: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let lines = rules
        .lines()
        .map(|line| line.trim().trim_start_matches("- "));
    lines.filter_map(move |line| line.strip_prefix(key)?.strip_prefix(": "))
}

#[test]
fn rules_name_metrics_that_exist_and_have_a_severity_and_a_text() {
    let rules = fs::read_to_string(file("prometheus-rules.yml")).unwrap();
    let folder = TempDir::new().unwrap();
    let (server, _engine) = server(&folder);
    let mut client = Client::connect(server.addr());
    let text = scrape(&mut client, "deskfleet_maintenance_last_success");
    let families = families(&text);
    let expressions = rules.lines().filter(|line| !line.contains("description:"));
    let mut named = 0;
    for name in expressions.flat_map(series) {
        let is_known = families.contains_key(name) || name.starts_with(NODE_PREFIX);
        assert!(is_known, "{name} is no metric");
        named += 1;
    }
    let alerts = values(&rules, "alert").count();
    assert!(alerts > 0 && named >= alerts - 1);
    for key in ["labels", "summary", "description"] {
        assert_eq!(values(&rules, key).count(), alerts, "{key}");
    }
    let tests = fs::read_to_string(file("prometheus-rules.test.yml")).unwrap();
    for alert in values(&rules, "alert") {
        assert!(tests.contains(&format!("\"{alert}\"")), "{alert}");
    }
}

#[test]
fn promtool_tests_each_rule() {
    let tests = file("prometheus-rules.test.yml");
    promtool(&["test", "rules", tests.to_str().unwrap()], "");
}
