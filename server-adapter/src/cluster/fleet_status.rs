//! The problems of a fleet, and what to do.

use std::collections::BTreeMap;

use deskfleet::limits::CONDITION_SUBJECTS_MAX;
use deskfleet::{
    Condition, Engine, EngineError, Severity, Timestamp,
    cluster::{ClusterStatus, NodeStatus},
};
use serde::{Deserialize, Serialize};

/// Seconds without a report after which a node counts as silent; it reports once a second.
const SILENT_SECONDS: u64 = 60;

/// The code of nodes that are not ready.
const UNREADY: &str = "NodesUnready";
/// The code of nodes that are ready and have other conditions.
const DEGRADED: &str = "NodesDegraded";
/// The code of a fleet without a node that applies the log.
pub const NONE_GOES_ON: &str = "NoNodeGoesOn";

/// The codes of the conditions that a fleet has, beside those of each node.
pub const FLEET_CONDITIONS: [&str; 7] = [
    "NodesSilent",
    "NodesHalted",
    UNREADY,
    DEGRADED,
    NONE_GOES_ON,
    "NodesDiffer",
    "RulesDiffer",
];

/// The fleet as one of its nodes sees it, with its problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FleetStatus {
    /// The fleet.
    #[serde(flatten)]
    pub status: ClusterStatus,
    /// A sentence for each problem, with what to do; empty without problems. What nodes only warn of is in [`Self::warnings`].
    pub problems: Vec<String>,
}

/// Something that is wrong with nodes of a fleet.
#[derive(Debug)]
struct Problem {
    /// The code of its condition.
    code: &'static str,
    nodes: Vec<String>,
    text: String,
}

impl FleetStatus {
    /// The fleet as a node sees it; `None` without a log. It asks the log, which can take long.
    pub(crate) fn read(engine: &Engine) -> Result<Option<Self>, EngineError> {
        Ok(engine.cluster_status()?.map(Self::new))
    }

    /// Finds the problems of a fleet.
    #[must_use]
    pub fn new(mut status: ClusterStatus) -> Self {
        for node in &mut status.nodes {
            node.warnings.retain(|code| is_of_node(code));
        }
        let mut problems = Vec::new();
        if let Some(problem) = &status.problem {
            problems.push(format!("{}: {problem}.", status.node));
        }
        let found = found(&status).into_iter();
        let found = found.filter(|problem| problem.code != DEGRADED);
        problems.extend(found.map(|problem| problem.text));
        Self { status, problems }
    }

    /// A sentence for each node that is ready and has other conditions, with what to do.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let found = found(&self.status).into_iter();
        let found = found.filter(|problem| problem.code == DEGRADED);
        found.map(|problem| problem.text).collect()
    }

    /// The problems of the other nodes as conditions: of each kind one, with the text of the first. Those of this node itself are in the list of
    /// its engine.
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        let now = newest_report(&self.status.nodes).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut all: Vec<Condition> = Vec::new();
        for Problem { code, nodes, text } in found(&self.status) {
            if [UNREADY, DEGRADED].contains(&code) && nodes.contains(&self.status.node) {
                continue;
            }
            if let Some(known) = all.iter_mut().find(|known| known.code == code) {
                known.count = known.count.map(|count| count + nodes.len() as u64);
                known.subjects.extend(nodes);
            } else {
                let severity = if code == NONE_GOES_ON {
                    Severity::Critical
                } else {
                    Severity::Warning
                };
                let condition = Condition::new(code, severity, text, now);
                all.push(condition.about(nodes.len() as u64, nodes));
            }
        }
        for condition in &mut all {
            condition.subjects.truncate(CONDITION_SUBJECTS_MAX);
        }
        all
    }

    /// The seconds between the report of `node` and the newest report of all nodes. This node reports every second, so only the
    /// clock of the log matters.
    #[must_use]
    pub fn seconds_silent(&self, node: &NodeStatus) -> u64 {
        seconds_silent(node, newest_report(&self.status.nodes))
    }

    /// The rules of all started nodes; `None` if they differ.
    #[must_use]
    pub fn same_rules(&self) -> Option<u16> {
        let nodes = self.status.nodes.iter();
        let mut known = nodes.filter(|node| !is_joining(node));
        let first = known.next()?.rules;
        known.all(|node| node.rules == first).then_some(first)
    }

    /// `ok`, `degraded`, `unready`, `joining`, `silent` or `halted`.
    #[must_use]
    pub fn state(&self, node: &NodeStatus) -> &'static str {
        if node.halted.is_some() {
            "halted"
        } else if is_joining(node) {
            "joining"
        } else if self.seconds_silent(node) >= SILENT_SECONDS {
            "silent"
        } else if !node.unready.is_empty() {
            "unready"
        } else if !node.warnings.is_empty() {
            "degraded"
        } else {
            "ok"
        }
    }
}

/// Everything that is wrong with nodes, but for what this node says of itself.
fn found(status: &ClusterStatus) -> Vec<Problem> {
    let now = newest_report(&status.nodes);
    let nodes = status.nodes.iter();
    let mut all: Vec<_> = nodes
        .filter_map(|node| problem_of(node, &status.node, now))
        .collect();
    all.extend(none_goes_on(&status.nodes));
    all.extend(apart(&status.nodes));
    all.extend(mixed_rules(status));
    all
}

/// Whether a condition is of the node that reports it: the host of a node also lists what is wrong with others.
fn is_of_node(code: &str) -> bool {
    // A node that reports has the log again, or has just started, and takes reports.
    !FLEET_CONDITIONS.contains(&code) && !["LogUnavailable", "NodeUnreported"].contains(&code)
}

/// Whether a node copies the store of another: it reports that once before it starts, without rules.
fn is_joining(node: &NodeStatus) -> bool {
    node.rules == 0
}

/// The time of the newest report; `None` without any.
fn newest_report(nodes: &[NodeStatus]) -> Option<Timestamp> {
    nodes.iter().map(|node| node.reported_at).max()
}

fn seconds_silent(node: &NodeStatus, now: Option<Timestamp>) -> u64 {
    now.map_or(0, |now| now.duration_since(node.reported_at).as_secs())
}

/// The problem of one node. The fleet's own problem already covers `own`, the node that reports.
fn problem_of(node: &NodeStatus, own: &str, now: Option<Timestamp>) -> Option<Problem> {
    let name = &node.node;
    let problem = |code, text| Problem {
        code,
        nodes: vec![name.clone()],
        text,
    };
    if let Some(halted) = &node.halted {
        let text = || format!("{name} applies nothing more: {halted}.");
        return (name != own).then(|| problem("NodesHalted", text()));
    }
    let silent = seconds_silent(node, now);
    if silent < SILENT_SECONDS {
        let [unready, warnings] = [&node.unready, &node.warnings].map(|codes| codes.join(", "));
        return if !unready.is_empty() {
            let text = format!(
                "{name} refuses writes, or some: {unready}. Its /readyz, and `deskfleet status` with its address, say why and what to do."
            );
            Some(problem(UNREADY, text))
        } else if !warnings.is_empty() && !is_joining(node) {
            let text = format!(
                "{name} has warnings: {warnings}. `deskfleet status` with its address says why and what to do."
            );
            Some(problem(DEGRADED, text))
        } else {
            None
        };
    }
    let advice = format!(
        "start it again, or take it off the list with `deskfleet cluster forget {name}` if it is gone for good."
    );
    let text = if is_joining(node) {
        format!(
            "{name} began to copy the store of another node {silent} s ago. If it does so no longer, {advice}"
        )
    } else {
        format!("{name} said nothing for {silent} s: {advice}")
    };
    Some(problem("NodesSilent", text))
}

/// What to do when no node applies the log any more because it lost entries.
fn none_goes_on(nodes: &[NodeStatus]) -> Option<Problem> {
    let highest = nodes.iter().max_by_key(|node| node.position)?;
    let has_lost = |node: &NodeStatus| node.halt_code.as_deref() == Some("LogLostEntries");
    nodes.iter().all(has_lost).then(|| Problem {
            code: NONE_GOES_ON,
            nodes: vec![highest.node.clone()],
            text: format!(
                "No node goes on. {} has the highest position, {}: nothing that it applied is lost if it begins a new log. Stop all nodes, run \
                 `deskfleet cluster leave` on a copy of its file, and start it first, with another ?fleet=NAME in the URL of the log and an empty folder for \
                 its archive, if it keeps one; the others then join it without a file.",
                highest.node, highest.position
            ),
        })
}

/// Nodes at one position that applied different entries. A halted one is named already, with what to do.
fn apart(nodes: &[NodeStatus]) -> Vec<Problem> {
    let mut first_at: BTreeMap<u64, &NodeStatus> = BTreeMap::new();
    let mut problems = Vec::new();
    let running = nodes.iter().filter(|node| node.halted.is_none());
    for node in running.filter(|node| !node.chain.is_empty()) {
        let first = *first_at.entry(node.position).or_insert(node);
        if first.chain != node.chain {
            let text = format!(
                "{} and {} differ at entry {}: one of them applied entries that the log has lost since, and returns other data than the \
                 rest. Restart both: the one that applies nothing more then is the wrong one. If both go on, it is the one that differs from \
                 most other nodes. Stop it, keep its file, and start it without a file and with --join and the address of a node \
                 that is right.",
                first.node, node.node, node.position
            );
            problems.push(Problem {
                code: "NodesDiffer",
                nodes: vec![first.node.clone(), node.node.clone()],
                text,
            });
        }
    }
    problems
}

/// Nodes that know different rules.
fn mixed_rules(status: &ClusterStatus) -> Option<Problem> {
    let nodes = &status.nodes;
    let newest = nodes.iter().map(|node| node.rules).max()?;
    let older = nodes
        .iter()
        .filter(|node| node.rules != newest && !is_joining(node));
    let nodes: Vec<_> = older.map(|node| node.node.clone()).collect();
    let consequence = if status.rules < newest {
        format!(
            "The fleet writes by rules {} until `deskfleet cluster finalize`",
            status.rules
        )
    } else {
        "A node stops at an entry whose rules it does not know".to_owned()
    };
    (!nodes.is_empty()).then(|| Problem {
        code: "RulesDiffer",
        text: format!(
            "Not all nodes know rules {newest}: upgrade {}. {consequence}.",
            nodes.join(", ")
        ),
        nodes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, at: &str, position: u64) -> NodeStatus {
        NodeStatus {
            node: name.to_owned(),
            reported_at: at.parse().unwrap(),
            position,
            durable: position,
            lag: 9 - position,
            chain: format!("chain-{position}"),
            rules: 2,
            version: "1.0.0".to_owned(),
            halted: None,
            halt_code: None,
            unready: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn fleet(nodes: Vec<NodeStatus>) -> FleetStatus {
        FleetStatus::new(ClusterStatus {
            node: "n-1".to_owned(),
            fleet: None,
            position: 9,
            position_at: None,
            log: None,
            problem: None,
            halt_code: None,
            rules: 2,
            nodes,
        })
    }

    #[test]
    fn fleet_whose_nodes_report_the_same_has_no_problems() {
        let nodes = vec![
            node("n-1", "2026-11-22T08:00:59Z", 9),
            node("n-2", "2026-11-22T08:00:00Z", 9),
            node("n-3", "2026-11-22T08:00:58Z", 4),
        ];
        let fleet = fleet(nodes);
        assert_eq!(fleet.problems, Vec::<String>::new());
        assert!(
            fleet
                .status
                .nodes
                .iter()
                .all(|node| fleet.state(node) == "ok")
        );
    }

    #[test]
    fn node_that_copies_a_store_is_joining_and_not_of_older_rules() {
        let joining = |at| NodeStatus {
            chain: String::new(),
            rules: 0,
            version: String::new(),
            ..node("n-2", at, 0)
        };
        let first = || node("n-1", "2026-11-22T08:01:00Z", 9);
        let fleet_of = |at| fleet(vec![first(), joining(at)]);
        let begun = fleet_of("2026-11-22T08:00:59Z");
        assert_eq!(begun.problems, Vec::<String>::new());
        assert_eq!(begun.same_rules(), Some(2));
        let long = fleet_of("2026-11-22T08:00:00Z");
        assert_eq!(long.problems.len(), 1);
        assert!(
            long.problems[0].starts_with("n-2 began to copy the store of another node 60 s ago."),
            "{:?}",
            long.problems
        );
        for fleet in [begun, long] {
            assert_eq!(fleet.state(&fleet.status.nodes[1]), "joining");
        }
    }

    #[test]
    fn each_problem_of_a_fleet_names_its_node() {
        let mut silent = node("n-2", "2026-11-22T08:00:00Z", 9);
        silent.chain = "other".to_owned();
        let mut halted = node("n-3", "2026-11-22T08:00:59Z", 3);
        halted.halted = Some("a newer entry".to_owned());
        let mut old = node("n-4", "2026-11-22T08:00:59Z", 4);
        old.rules = 1;
        let mut full = node("n-5", "2026-11-22T08:00:59Z", 5);
        full.unready = vec!["LowDisk".to_owned(), "FilingFailed".to_owned()];
        let fleet = fleet(vec![
            node("n-1", "2026-11-22T08:01:00Z", 9),
            silent,
            halted,
            old,
            full,
        ]);
        let starts = [
            "n-2 said nothing for 60 s",
            "n-3 applies nothing more: a newer entry.",
            "n-5 refuses writes, or some: LowDisk, FilingFailed.",
            "n-1 and n-2 differ at entry 9",
            "Not all nodes know rules 2: upgrade n-4.",
        ];
        assert_eq!(fleet.problems.len(), starts.len(), "{:?}", fleet.problems);
        for (problem, start) in fleet.problems.iter().zip(starts) {
            assert!(problem.starts_with(start), "{problem}");
        }
        let states: Vec<_> = fleet
            .status
            .nodes
            .iter()
            .map(|node| fleet.state(node))
            .collect();
        assert_eq!(states, ["ok", "silent", "halted", "ok", "unready"]);
        let conditions = fleet.conditions();
        let found = conditions.iter();
        let found: Vec<_> = found
            .map(|of| (&*of.code, of.count, of.subjects.join(" ")))
            .collect();
        let expected = [
            ("NodesSilent", "n-2"),
            ("NodesHalted", "n-3"),
            ("NodesUnready", "n-5"),
            ("NodesDiffer", "n-1 n-2"),
            ("RulesDiffer", "n-4"),
        ];
        let expected = expected.map(|(code, nodes)| {
            let count = nodes.split(' ').count() as u64;
            (code, Some(count), nodes.to_owned())
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn node_with_warnings_is_degraded_and_no_problem() {
        let warned = |name: &str, codes: &[&str]| NodeStatus {
            warnings: codes.iter().map(|&code| code.to_owned()).collect(),
            ..node(name, "2026-11-22T08:01:00Z", 9)
        };
        let unready = NodeStatus {
            unready: vec!["FilingFailed".to_owned()],
            ..warned("n-4", &["LowDisk"])
        };
        let silent = NodeStatus {
            reported_at: "2026-11-22T08:00:00Z".parse().unwrap(),
            ..warned("n-5", &["LowDisk"])
        };
        let fleet = fleet(vec![
            warned("n-1", &["BackupOld"]),
            warned("n-2", &["ArchiveFailing", "NodesDegraded", "LowDisk"]),
            // What its host says of others, and what its report itself refutes.
            warned("n-3", &["NodesSilent", "LogUnavailable"]),
            unready,
            silent,
        ]);
        let nodes = &fleet.status.nodes;
        let states = nodes.iter().map(|node| fleet.state(node));
        let expected = ["degraded", "degraded", "ok", "unready", "silent"];
        assert_eq!(states.collect::<Vec<_>>(), expected);
        let text = |name, codes| {
            format!(
                "{name} has warnings: {codes}. `deskfleet status` with its address says why and what to do."
            )
        };
        let other = text("n-2", "ArchiveFailing, LowDisk");
        assert_eq!(fleet.warnings(), [text("n-1", "BackupOld"), other.clone()]);
        assert_eq!(fleet.problems.len(), 2, "{:?}", fleet.problems);
        // The list of the node that is asked has its own.
        let conditions = fleet.conditions().into_iter();
        let degraded: Vec<_> = conditions.filter(|of| of.code == DEGRADED).collect();
        assert_eq!(degraded.len(), 1);
        assert_eq!(
            (
                degraded[0].severity,
                &degraded[0].text,
                &degraded[0].subjects
            ),
            (Severity::Warning, &other, &vec!["n-2".to_owned()])
        );
    }
}
