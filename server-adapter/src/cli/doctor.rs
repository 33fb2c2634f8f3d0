//! `cluster doctor`: what is wrong with a fleet, with the commands to type.

use deskfleet_server::cluster::{FLEET_CONDITIONS, FleetStatus, NONE_GOES_ON};
use deskfleet_server::visible;

use super::client::Client;
use super::failure::Failure;
use super::output::data;
use super::server_args::NodeArgs;
use super::status::{self, Shown};

/// The conditions of which the code of the halt says what to do.
const HALTS: [&str; 2] = ["Halted", "NodesHalted"];
/// The condition of which the warnings of the nodes say what to do.
const DEGRADED: &str = "NodesDegraded";

/// What to type about a condition, or about the halt of a node. `NODE` is the node that it is about, `PEER` the options of the doctor itself. The
/// paths, the unit and the servers of the log are those of the documents; a line says which of them to replace.
fn advice(code: &str) -> &'static [&'static str] {
    match code {
        "LogLostEntries" => &[
            "systemctl start deskfleet-node     # on each machine whose node is stopped: it may have what the log lost",
            "systemctl restart deskfleet-node   # then on NODE; remove no file",
        ],
        "OtherLog" => &[
            "grep -A 9 '^.cluster.' /var/lib/deskfleet/deskfleet.toml   # on NODE: does `log` have the address and the ?fleet= of the others?",
            "systemctl restart deskfleet-node                           # then on NODE",
            "deskfleet cluster leave /var/lib/deskfleet/deskfleet.redb   # on NODE, instead, if that is a restored file that shall begin a new fleet: stop the node before",
        ],
        "Trimmed" => &[
            "systemctl restart deskfleet-node   # on NODE, with `join` naming another node: it keeps its file and copies that node's",
        ],
        "NewerRules" | "RulesDiffer" => &[
            "install -m 755 deskfleet /usr/local/bin/ && systemctl restart deskfleet-node   # on NODE, with the newest version of the nodes",
            "deskfleet cluster finalize PEER   # once all nodes have it",
        ],
        "DamagedEntry" => &[
            "journalctl -u deskfleet-node -n 100   # on NODE; keep its file, and report this as a bug",
        ],
        "NoNodeGoesOn" => &[
            "systemctl stop deskfleet-node   # on all machines",
            "cd /var/lib/deskfleet && cp -p deskfleet.redb kept.redb && deskfleet cluster leave kept.redb && mv deskfleet.redb old.redb && mv kept.redb deskfleet.redb   # on NODE",
            "# Give `log` on all machines a ?fleet=NAME that it never had, and `archive`, if it is set, an empty folder.",
            "systemctl start deskfleet-node   # on NODE first, and write a backup there; on the others once their files are moved away and `join` names NODE",
        ],
        "LogBehind" => {
            &["journalctl -u deskfleet-node -n 50   # on NODE: why it does not catch up"]
        }
        "LogUnavailable" | "NodeUnreported" => &[
            "journalctl -u deskfleet-node -n 50   # on NODE: what the log says",
            "pg_isready -h db1.example.com -p 5432            # with the address of each server of the log, if that is PostgreSQL",
            "curl -s http://n1.example.com:8222/healthz       # with the address of each of them, if it is JetStream",
        ],
        "LogTakenOver" => &[
            "systemctl start deskfleet-node   # on each machine whose node is stopped; the rest ends by itself",
        ],
        "LogUnsafe" | "LogRestored" => &[
            "psql -h db1.example.com -c 'SHOW synchronous_standby_names' -U fleet fleet   # PostgreSQL, with the address of its primary: must not be empty",
            "curl -s 'http://n1.example.com:8222/jsz?config=true' | grep sync_always      # JetStream, with the address of each server: must be true",
        ],
        "ArchiveFailing" => &["journalctl -u deskfleet-node | grep archive   # on NODE"],
        "ArchiveGap" => &[
            "systemctl kill --signal=SIGUSR1 deskfleet-node   # on NODE: writes a backup, from which the archive goes on",
        ],
        "WrongClock" => &["timedatectl set-ntp true && timedatectl timesync-status   # on NODE"],
        "NodeNameTaken" => &[
            "systemctl stop deskfleet-node   # on one of the two machines that have the name NODE; then give it another `node`, and no copied file",
        ],
        "SettingsDiffer" => &[
            "deskfleet cluster settings PEER   # those of the fleet, to compare; NAME=VALUE there changes one",
        ],
        "NodesSilent" => &[
            "systemctl restart deskfleet-node     # on NODE",
            "deskfleet cluster forget NODE PEER   # if it is gone for good",
        ],
        "NodesUnready" | DEGRADED => &[
            "deskfleet status --url http://NODE:8080 --key-file admin.key   # with the address of NODE",
        ],
        "NodesDiffer" => &[
            "systemctl restart deskfleet-node   # on NODE: the one that applies nothing more then is the wrong one",
        ],
        "LowDisk" => &["df -h /var/lib/deskfleet && ls -lhS /var/lib/deskfleet   # on NODE"],
        _ => &[],
    }
}

/// Prints what is wrong with the fleet and with the node that is asked. Returns how many things are.
pub(super) fn run(peer: NodeArgs) -> Result<usize, Failure> {
    let options = options(&peer);
    let client = Client::new(peer.url, &peer.files)?;
    let fleet = client.fleet()?.1;
    let own = std::slice::from_ref(&fleet.status.node);
    let mut own_conditions = status::conditions(&client)?;
    // What this node knows of the others is some seconds old.
    own_conditions.retain(|condition| !FLEET_CONDITIONS.contains(&&*condition.code));
    let of_fleet: Vec<_> = fleet.conditions().into_iter().map(Shown::from).collect();
    // Where no node goes on, a restart of one does not help, and what to do comes first.
    let (none_goes_on, of_fleet): (Vec<_>, Vec<_>) = of_fleet
        .iter()
        .map(|condition| (condition, &*condition.subjects))
        .partition(|(condition, _)| condition.code == NONE_GOES_ON);
    let is_over = !none_goes_on.is_empty();
    let own_conditions = own_conditions.iter().map(|condition| (condition, own));
    let all = none_goes_on
        .into_iter()
        .chain(own_conditions)
        .chain(of_fleet);
    let mut count = 0;
    for (condition, nodes) in all {
        count += 1;
        data(condition)?;
        if is_over && HALTS.contains(&&*condition.code) {
            continue;
        }
        for line in lines(&condition.code, nodes, &options, &fleet) {
            data(format_args!("    {line}"))?;
        }
    }
    if count == 0 {
        data(format_args!(
            "ok: nothing is wrong with the fleet, as {} sees it",
            visible(&fleet.status.node)
        ))?;
    }
    Ok(count)
}

/// The commands, once for each node where they name it.
fn lines(code: &str, nodes: &[String], options: &str, fleet: &FleetStatus) -> Vec<String> {
    if HALTS.contains(&code) {
        let of_node = |node: &String| {
            // A node that has another log is not in the list of that.
            let own = (fleet.status.node == *node).then_some(&fleet.status.halt_code);
            let known = fleet.status.nodes.iter().find(|of| of.node == *node);
            let halt = own.or_else(|| known.map(|of| &of.halt_code));
            halt.and_then(|halt| halt.as_deref())
                .map_or_else(Vec::new, |halt| {
                    lines(halt, std::slice::from_ref(node), options, fleet)
                })
        };
        return nodes.iter().flat_map(of_node).collect();
    }
    if code == DEGRADED {
        let of_node = |node: &String| {
            let known = fleet.status.nodes.iter().find(|of| of.node == *node);
            let warnings = known.map_or(&[] as &[_], |of| &of.warnings);
            let mut all: Vec<_> = warnings.iter().map(|code| advice(code)).collect();
            // Its server says what the doctor does not.
            if all.iter().any(|lines| lines.is_empty()) {
                all.push(advice(DEGRADED));
            }
            filled(&all.concat(), std::slice::from_ref(node), options)
        };
        return nodes.iter().flat_map(of_node).collect();
    }
    filled(advice(code), nodes, options)
}

/// The lines with the names filled in.
fn filled(lines: &[&str], nodes: &[String], options: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines {
        let filled = |node: &str| line.replace("NODE", node).replace("PEER", options);
        if line.contains("NODE") {
            all.extend(nodes.iter().map(|node| filled(&visible(node))));
        } else {
            all.push(filled(""));
        }
    }
    all
}

/// The options that name the node and its key, as they were given.
fn options(peer: &NodeArgs) -> String {
    let mut options = format!("--url {}", peer.url);
    let files = &peer.files;
    for (name, file) in [
        ("--key-file", &files.key_file),
        ("--ca", &files.ca),
        ("--client-cert", &files.client_cert),
        ("--client-key", &files.client_key),
    ] {
        if let Some(file) = file {
            options = format!("{options} {name} {}", file.display());
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> FleetStatus {
        let node = |name: &str, code: Option<&str>| {
            serde_json::json!({
                "node": name, "reportedAt": "2026-11-22T08:02:00Z", "position": 12, "durable": 12, "lag": 0, "chain": "a", "rules": 5,
                "version": "0.2.0", "halted": code, "haltCode": code,
            })
        };
        let fleet = serde_json::json!({
            "node": "n-1", "fleet": "00ff", "position": 12, "positionAt": null, "log": {"first": 1, "last": 12}, "problem": null,
            "nodes": [node("n-1", None), node("n-2", Some("Trimmed")), node("n-3", Some("a later code"))], "problems": [],
        });
        serde_json::from_value(fleet).unwrap()
    }

    #[test]
    fn commands_name_each_node_and_the_node_that_was_asked() {
        let nodes = ["n-2".to_owned(), "n-3".to_owned()];
        let lines = |code| lines(code, &nodes, "--url http://n-1", &fleet());
        let expected = [
            "systemctl restart deskfleet-node     # on n-2",
            "systemctl restart deskfleet-node     # on n-3",
            "deskfleet cluster forget n-2 --url http://n-1   # if it is gone for good",
            "deskfleet cluster forget n-3 --url http://n-1   # if it is gone for good",
        ];
        assert_eq!(lines("NodesSilent"), expected);
        assert_eq!(lines("KeysExpire"), Vec::<String>::new());
        let halted = lines("NodesHalted");
        assert_eq!(halted.len(), 1, "{halted:?}");
        assert!(halted[0].contains("on n-2, with `join`"), "{halted:?}");
    }

    #[test]
    fn warnings_of_a_node_have_the_commands_of_their_codes() {
        let mut fleet = fleet();
        let names = ["n-2".to_owned(), "n-3".to_owned()];
        for node in &mut fleet.status.nodes {
            node.warnings = match &*node.node {
                "n-2" => vec!["ArchiveFailing".to_owned(), "LowDisk".to_owned()],
                _ => vec!["CertificateExpires".to_owned()],
            };
        }
        let expected = [
            "journalctl -u deskfleet-node | grep archive   # on n-2",
            "df -h /var/lib/deskfleet && ls -lhS /var/lib/deskfleet   # on n-2",
            "deskfleet status --url http://n-3:8080 --key-file admin.key   # with the address of n-3",
        ];
        assert_eq!(lines(DEGRADED, &names, "", &fleet), expected);
    }

    #[test]
    fn each_condition_of_a_fleet_has_commands() {
        for code in FLEET_CONDITIONS {
            assert!(HALTS.contains(&code) || !advice(code).is_empty(), "{code}");
        }
        let mut fleet = fleet();
        for code in [
            "LogLostEntries",
            "OtherLog",
            "Trimmed",
            "NewerRules",
            "DamagedEntry",
        ] {
            fleet.status.halt_code = Some(code.to_owned());
            let own = lines("Halted", &["n-1".to_owned()], "", &fleet);
            assert!(own.iter().any(|line| line.contains("n-1")), "{code}");
        }
    }
}
