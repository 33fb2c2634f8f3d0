//! `cluster`: looks after the nodes of a fleet, as one of them sees it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use bytes::Bytes;
use deskfleet_server::cluster::FleetStatus;
use deskfleet_server::visible;
use serde_json::Value;

use super::args::ClusterCommand;
use super::client::Client;
use super::cluster_restore;
use super::doctor;
use super::failure::Failure;
use super::output::{counted, data, say};
use super::server_args::NodeArgs;
use super::store;

const PATH: &str = "/operator/cluster";

pub(super) fn run(command: ClusterCommand) -> Result<(), Failure> {
    match command {
        ClusterCommand::Leave { file } => leave(&file),
        ClusterCommand::Restore(args) => cluster_restore::run(&args),
        ClusterCommand::Status { json, peer } => status(peer, json),
        ClusterCommand::Doctor { peer } => doctor::run(peer).and_then(fail_for),
        ClusterCommand::Settings { changes, peer } => settings(peer, changes),
        ClusterCommand::Finalize { peer } => finalize(peer),
        ClusterCommand::Forget { node, peer } => forget(peer, &node),
    }
}

fn builder() -> deskfleet::EngineBuilder {
    deskfleet::Engine::builder()
        .random(getrandom::fill)
        .clock(std::time::SystemTime::now)
}

/// `cluster leave`: a store of its own.
fn leave(file: &Path) -> Result<(), Failure> {
    store::must_exist(file, "name the file of a node")?;
    let left = builder().leave_fleet(file).map_err(|error| {
        store::explain(error, file, "Stop the node first, or take a backup of it.")
    })?;
    let outcome = if left {
        "is a store of its own now"
    } else {
        "was no file of a node; nothing was changed"
    };
    say!("{} {outcome}.", file.display());
    if left {
        say_what_it_brings(file)?;
    }
    Ok(())
}

/// Says which actions a provider would carry out, and which settings the fleet had that are not the defaults. Another fleet that begins with the
/// store has them; a server that serves it alone has its own.
fn say_what_it_brings(file: &Path) -> Result<(), Failure> {
    let engine = builder().open_read_only(file)?;
    let settings = engine.fleet_settings()?.unwrap_or_default();
    let pending = engine.pending_actions()?.into_iter();
    let pending = pending.filter(|action| action.due_at.is_none()).count() as u64;
    engine.close()?;
    if pending > 0 {
        say!(
            "It has {} that a provider carries out as soon as it is served, also if that was done meanwhile: stop all providers first, and end those with \
             POST /operator/actions/{{id}}/complete or /fail.",
            counted(pending, "pending action")
        );
    }
    let defaults = deskfleet::settings::values(&mut deskfleet::Config::default());
    let differ = settings
        .iter()
        .filter(|setting| !defaults.contains(setting));
    let lines: Vec<_> = differ
        .map(|(name, value)| format!("  {name} = {value}"))
        .collect();
    if !lines.is_empty() {
        say!(
            "Its fleet had these settings, which a new fleet takes over. To serve the store alone put them into deskfleet.toml first: by shorter \
             retention telemetry is removed.\n{}",
            lines.join("\n")
        );
    }
    Ok(())
}

/// `cluster status`: fails where something is wrong with the fleet. Warnings of nodes do not fail it: they serve.
fn status(peer: NodeArgs, json: bool) -> Result<(), Failure> {
    let (body, fleet) = Client::new(peer.url, &peer.files)?.fleet()?;
    if json {
        data(String::from_utf8_lossy(&body))?;
    } else {
        data(text(&fleet).trim_end())?;
    }
    fail_for(fleet.problems.len())
}

/// Fails where something is wrong with the fleet.
fn fail_for(problems: usize) -> Result<(), Failure> {
    match problems {
        0 => Ok(()),
        1 => Err(Failure("something is wrong with the fleet".to_owned())),
        many => Err(Failure(format!("{many} things are wrong with the fleet"))),
    }
}

/// `cluster settings`: prints the settings of the fleet, as they are after the changes.
fn settings(peer: NodeArgs, changes: Vec<(String, Value)>) -> Result<(), Failure> {
    let client = Client::new(peer.url, &peer.files)?;
    let path = format!("{PATH}/settings");
    let body = if changes.is_empty() {
        client.get(&path)?
    } else {
        client.post_json(&path, &object(changes)?)?
    };
    let settings: BTreeMap<String, Value> = serde_json::from_slice(&body).map_err(|error| {
        Failure::caused(
            format_args!("{} returned no settings", client.url()),
            &error,
        )
    })?;
    for (name, value) in settings {
        data(format_args!("{name} = {value}"))?;
    }
    Ok(())
}

/// The changes as JSON. Two values for one setting are refused: one of them is a mistake.
fn object(changes: Vec<(String, Value)>) -> Result<Value, Failure> {
    let mut object = serde_json::Map::new();
    for (name, value) in changes {
        if object.contains_key(&name) {
            return Err(Failure(format!(
                "{} is given twice; nothing was changed",
                visible(&name)
            )));
        }
        object.insert(name, value);
    }
    Ok(object.into())
}

/// `cluster finalize`.
fn finalize(peer: NodeArgs) -> Result<(), Failure> {
    let client = Client::new(peer.url, &peer.files)?;
    let before = client.fleet()?.1.status.rules;
    client.post_json(&format!("{PATH}/finalize"), &serde_json::json!({}))?;
    let (_, fleet) = client.fleet()?;
    let rules = fleet.status.rules;
    let newer = fleet.status.nodes.iter().find(|node| node.rules > rules);
    if let Some(newer) = newer.filter(|_| rules == before) {
        return Err(Failure(format!(
            "{} knows no newer rules than {rules}, so nothing was changed: upgrade it, or name a node that knows rules {}, such as {}",
            client.url(),
            newer.rules,
            visible(&newer.node)
        )));
    }
    say!("The nodes write by rules {rules}.");
    Ok(())
}

/// `cluster forget`.
fn forget(peer: NodeArgs, node: &str) -> Result<(), Failure> {
    let client = Client::new(peer.url, &peer.files)?;
    client.delete(&format!("{PATH}/nodes/{node}"))?;
    say!("{node} is off the list; where it still runs it reports itself again.");
    Ok(())
}

impl Client {
    /// The nodes of the fleet, as the server at the address sees them, with the body of its response.
    pub(super) fn fleet(&self) -> Result<(Bytes, FleetStatus), Failure> {
        let body = self.get(PATH)?;
        let fleet = serde_json::from_slice(&body).map_err(|error| {
            let what = format_args!("{} returned no list of nodes", self.url());
            Failure::caused(what, &error)
        })?;
        Ok((body, fleet))
    }
}

/// For people: a line for the fleet, a table of its nodes, and what is wrong.
fn text(fleet: &FleetStatus) -> String {
    let status = &fleet.status;
    let mut text = String::new();
    let name = status.fleet.as_deref().unwrap_or("without an entry");
    let log = match status.log {
        Some(log) if log.last >= log.first => {
            format!("the log has entries {} to {}", log.first, log.last)
        }
        Some(_) => "the log has no entries".to_owned(),
        None => "the log cannot be reached".to_owned(),
    };
    let nodes = counted(status.nodes.len() as u64, "node");
    let rules = fleet.same_rules().map(|known| match status.rules {
        rules @ 1.. if rules < known => format!(
            ", all nodes know rules {known} and write by rules {rules}: `deskfleet cluster finalize` ends the upgrade"
        ),
        _ => format!(", all nodes know rules {known}"),
    });
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "Fleet {name}: {nodes}, {log}{}.",
        rules.unwrap_or_default()
    );
    let head = [
        "NODE", "POSITION", "LAG", "REPORTED", "RULES", "VERSION", "STATE",
    ];
    let head = head.map(str::to_owned);
    let rows = status.nodes.iter().map(|node| {
        [
            visible(&node.node),
            node.position.to_string(),
            node.lag.to_string(),
            format!("{} s ago", fleet.seconds_silent(node)),
            known(node.rules > 0, node.rules.to_string()),
            known(!node.version.is_empty(), visible(&node.version)),
            fleet.state(node).to_owned(),
        ]
    });
    let rows: Vec<_> = std::iter::once(head).chain(rows).collect();
    let widths: [usize; 7] = std::array::from_fn(|column| {
        let lengths = rows.iter().filter_map(|row| row.get(column));
        lengths.map(String::len).max().unwrap_or_default()
    });
    if rows.len() > 1 {
        for row in &rows {
            let cells = row.iter().zip(widths);
            let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    for problem in &fleet.problems {
        let _ = writeln!(text, "! {}", visible(problem));
    }
    for warning in fleet.warnings() {
        let _ = writeln!(text, "warning: {}", visible(&warning));
    }
    text
}

/// `-` for what a node did not say yet.
fn known(is_known: bool, text: String) -> String {
    if is_known { text } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_line_for_each_node_problem_and_warning() {
        let fleet = serde_json::json!({
            "node": "n-1", "fleet": "00ff", "position": 12, "positionAt": null, "log": {"first": 1, "last": 12}, "problem": null,
            "nodes": [
                {"node": "n-1", "reportedAt": "2026-11-22T08:02:00Z", "position": 12, "durable": 12, "lag": 0, "chain": "a", "rules": 1,
                 "version": "0.1.0", "halted": null, "warnings": ["BackupOld"]},
                {"node": "node-2", "reportedAt": "2026-11-22T08:00:00Z", "position": 4, "durable": 4, "lag": 8, "chain": "b", "rules": 1,
                 "version": "0.1.0", "halted": null},
                {"node": "n-3", "reportedAt": "2026-11-22T08:01:58Z", "position": 0, "durable": 0, "lag": 12, "chain": "", "rules": 0,
                 "version": "", "halted": null},
            ],
            "problems": ["node-2 said nothing for 120 s."],
        });
        let fleet: FleetStatus = serde_json::from_value(fleet).unwrap();
        let expected = "\
Fleet 00ff: 3 nodes, the log has entries 1 to 12, all nodes know rules 1.
NODE    POSITION  LAG  REPORTED   RULES  VERSION  STATE
n-1     12        0    0 s ago    1      0.1.0    degraded
node-2  4         8    120 s ago  1      0.1.0    silent
n-3     0         12   2 s ago    -      -        joining
! node-2 said nothing for 120 s.
warning: n-1 has warnings: BackupOld. `deskfleet status` with its address says why and what to do.
";
        assert_eq!(text(&fleet), expected);
    }

    #[test]
    fn setting_that_is_given_twice_is_refused() {
        let change = |name: &str, value: u64| (name.to_owned(), value.into());
        let one = object(vec![change("a", 1), change("b", 2)]).unwrap();
        assert_eq!(one, serde_json::json!({ "a": 1, "b": 2 }));
        for second in [1, 2] {
            let twice = object(vec![change("a", 1), change("b", 2), change("a", second)]);
            assert_eq!(
                twice.unwrap_err().to_string(),
                "a is given twice; nothing was changed"
            );
        }
    }

    #[test]
    fn text_says_how_an_upgrade_is_ended() {
        let node = serde_json::json!({
            "node": "n-1", "reportedAt": "2026-11-22T08:02:00Z", "position": 12, "durable": 12, "lag": 0, "chain": "a", "rules": 5,
            "version": "0.2.0", "halted": null,
        });
        let fleet = serde_json::json!({
            "node": "n-1", "fleet": "00ff", "position": 12, "positionAt": null, "log": {"first": 1, "last": 12}, "problem": null,
            "rules": 4, "nodes": [node], "problems": [],
        });
        let mut fleet: FleetStatus = serde_json::from_value(fleet).unwrap();
        assert!(text(&fleet).contains(
            ", all nodes know rules 5 and write by rules 4: `deskfleet cluster finalize` ends the upgrade.\n"
        ));
        fleet.status.rules = 5;
        assert!(text(&fleet).contains(", all nodes know rules 5.\n"));
    }
}
