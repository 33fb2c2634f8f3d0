//! Servers that share a log in PostgreSQL: each serves the same fleet.
#![cfg(all(unix, feature = "postgres"))]

mod archive;
mod conditions;
mod cut_copies;
mod cut_off;
mod node_starts;

use std::process::Output;
use std::time::{Duration, Instant};

use crate::gate::Gate;
use crate::load::{Client, Place, Served, command, done};
use crate::servers::postgres::Postgres;
use rustix::process::Signal;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
const PASSWORD: &str = "pass-word-of-the-log";

/// A log, and an admin key of the fleet that shares it.
struct Fleet {
    postgres: Postgres,
    gate: Gate,
    admin: String,
}

impl Fleet {
    /// `None` where there is no PostgreSQL.
    fn begin() -> Option<Self> {
        let postgres = Postgres::start_alone()?;
        let mut fleet = Self {
            gate: Gate::before(postgres.port()),
            postgres,
            admin: String::new(),
        };
        let first = tempfile::tempdir().unwrap();
        let issued = format!(
            "keys issue --name admin --scope admin --set cluster.log={}",
            fleet.url()
        );
        done(first.path(), &issued)
            .trim()
            .clone_into(&mut fleet.admin);
        Some(fleet)
    }

    /// Through the gate, with a password that PostgreSQL does not ask for here.
    fn url(&self) -> String {
        let port = self.gate.port();
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/postgres")
    }

    /// A folder for a node that has no store yet.
    fn node_folder(&self) -> Place {
        let place = Place {
            folder: tempfile::tempdir().unwrap(),
            admin: self.admin.clone(),
        };
        std::fs::write(place.file("admin.key"), &self.admin).unwrap();
        place
    }

    /// Each node has a name of its own: that of its folder.
    fn options(&self, place: &Place) -> String {
        let name = place.path().file_name().unwrap().to_str().unwrap();
        format!("--log {} --node n{name}", self.url())
    }

    fn serve(&self, place: &Place) -> Served {
        place.serve_with(&self.options(place))
    }

    /// The output of a node that does not start.
    fn refused(&self, place: &Place, options: &str) -> String {
        let line = format!(
            "serve --listen 127.0.0.1:0 {} {options}",
            self.options(place)
        );
        message(&command(place.path(), &line).output().unwrap())
    }

    /// The message of a node whose options do not suit each other.
    fn usage(&self, place: &Place, options: &str) -> String {
        let line = format!(
            "serve --listen 127.0.0.1:0 {} {options}",
            self.options(place)
        );
        let output = command(place.path(), &line).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    }

    fn client(&self, served: &Served) -> Client {
        Client::connect(served.address, &self.admin).unwrap()
    }
}

/// Standard error of a command that failed.
fn message(output: &Output) -> String {
    let message = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(!message.contains(PASSWORD), "{message}");
    message
}

fn put(client: &mut Client, id: &str) -> u16 {
    let body = format!(r#"{{"workSpId":"{id}","state":"AVAILABLE"}}"#);
    let put = format!("PUT /operator/workspaces/{id}");
    client.ask(&put, &body).unwrap().0
}

fn has(client: &mut Client, id: &str) -> bool {
    let (status, _) = client
        .ask(&format!("GET /operator/workspaces/{id}"), "")
        .unwrap();
    status == 200
}

fn readyz(client: &mut Client) -> (u16, String) {
    client.ask("GET /readyz", "").unwrap()
}

/// Asks until it is so.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nodes_serve_what_each_of_them_was_sent_also_after_a_kill() {
    let Some(fleet) = Fleet::begin() else { return };
    let places = [(); 3].map(|()| fleet.node_folder());
    let mut nodes = places.each_ref().map(|place| fleet.serve(place));
    let mut clients = nodes.each_ref().map(|node| fleet.client(node));
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(put(client, &format!("ws-{number}")), 200);
    }
    for client in &mut clients {
        for number in 0..3 {
            wait_until(|| has(client, &format!("ws-{number}")));
        }
        let (status, message) = readyz(client);
        assert!(
            status == 200 && message.contains(" behind the log"),
            "{message}"
        );
    }
    let (_, metrics) = clients[0].ask("GET /metrics", "").unwrap();
    for name in [
        "position",
        "last",
        "lag_seconds",
        "append_duration_seconds_count",
    ] {
        assert!(
            metrics.contains(&format!("\ndeskfleet_log_{name} ")),
            "{metrics}"
        );
    }
    nodes[1].kill();
    assert_eq!(put(&mut clients[2], "ws-3"), 200);
    nodes[1] = fleet.serve(&places[1]);
    assert!(
        has(&mut fleet.client(&nodes[1]), "ws-3"),
        "it caught up before it listened"
    );
    // Through no node: the file is in use.
    assert!(
        fleet
            .refused(&places[1], "")
            .contains("open in another process")
    );
    for mut node in nodes {
        let message = node.terminate().join("\n");
        assert!(!message.contains(PASSWORD), "{message}");
    }
}

#[test]
fn node_without_its_log_serves_reads_and_writes_again_when_it_is_back() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let mut node = fleet.serve(&place);
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    fleet.gate.close();
    node.wait_for("the log of the fleet is lost");
    assert!(has(&mut client, "ws-1"));
    assert_eq!(put(&mut client, "ws-2"), 503);
    fleet.gate.open();
    node.wait_for("is there again");
    assert_eq!(put(&mut client, "ws-2"), 200);
    fleet.gate.close();
    node.terminate();

    let mut node = fleet.serve(&place);
    let mut client = fleet.client(&node);
    assert!(has(&mut client, "ws-2"));
    let (status, message) = readyz(&mut client);
    assert_eq!(status, 503);
    assert!(message.starts_with("LogUnavailable: "), "{message}");
    fleet.gate.open();
    wait_until(|| readyz(&mut client).0 == 200);
    assert_eq!(put(&mut client, "ws-3"), 200);
    let message = node.terminate().join("\n");
    assert!(!message.contains(PASSWORD), "{message}");
}

#[test]
fn node_joins_with_a_copy_of_another() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, late, new] = [(); 3].map(|()| fleet.node_folder());
    let node = fleet.serve(&first);
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    fleet.serve(&late).terminate();
    for number in 2..9 {
        assert_eq!(put(&mut client, &format!("ws-{number}")), 200);
    }
    // The node may be about to apply the last one.
    let behind = fleet.postgres.sql("SELECT seq - 2 FROM df_head");
    fleet
        .postgres
        .sql(&format!("DELETE FROM df_log WHERE seq < {behind}"));

    let join = format!("--join http://{} --join-key-file admin.key", node.address);
    let alone = fleet.refused(&late, "");
    assert!(
        alone.contains("was trimmed") && alone.contains("--join"),
        "{alone}"
    );
    let fresh = fleet.refused(&new, "");
    assert!(fresh.contains("--join"), "{fresh}");
    for place in [&late, &new] {
        let gone = fleet.refused(place, "--join http://127.0.0.1:1 --join-key-file admin.key");
        let sentence =
            "this node cannot begin with a copy of http://127.0.0.1:1, the node of --join: ";
        assert!(
            gone.contains(sentence) && gone.contains("give --join the address of another"),
            "{gone}"
        );
    }
    std::fs::write(new.file("wrong.key"), "dfk_wrong").unwrap();
    std::fs::remove_file(new.file("deskfleet.redb")).unwrap();
    let key = fleet.refused(&new, &join.replace("admin.key", "wrong.key"));
    assert!(key.contains("401"), "{key}");
    for place in [&late, &new] {
        let joined = place.serve_with(&format!("{} {join}", fleet.options(place)));
        let mut client = fleet.client(&joined);
        assert!((1..9).all(|number| has(&mut client, &format!("ws-{number}"))));
        wait_until(|| readyz(&mut client).0 == 200);
        let names = std::fs::read_dir(place.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let kept = names
            .filter(|name| name.starts_with("deskfleet.redb."))
            .count();
        assert_eq!(
            kept,
            usize::from(std::ptr::eq(place, &raw const late)),
            "the old file"
        );
    }
}

/// Takes the last entries away, as a failover does that lost what was acknowledged.
fn lose_after(fleet: &Fleet, last: u64) {
    let lose = format!("DELETE FROM df_log WHERE seq > {last}; UPDATE df_head SET seq = {last}");
    fleet.postgres.sql(&lose);
}

#[test]
fn node_that_has_halted_is_not_copied() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, behind, beside, by_log, refused] = [(); 5].map(|()| fleet.node_folder());
    let sentence = "this node cannot begin with a copy of ";
    let node = fleet.serve(&first);
    drop(fleet.serve(&behind));
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-0"), 200);
    assert_eq!(put(&mut client, "ws-1"), 200);
    let kept: u64 = fleet
        .postgres
        .sql("SELECT seq FROM df_head")
        .trim()
        .parse()
        .unwrap();
    assert_eq!(put(&mut client, "ws-2"), 200);
    let join = format!("--join http://{} --join-key-file admin.key", node.address);

    // The node does not know yet that an entry is lost, and another one reaches the log by another way: it has all that counts.
    fleet.gate.close();
    node.wait_for("the log of the fleet is lost");
    lose_after(&fleet, kept);
    let url = |port: u16| format!("@127.0.0.1:{port}/");
    let (gate, direct) = (url(fleet.gate.port()), url(fleet.postgres.port()));
    let begins_by_log = |place: &Place, options: &str| {
        let joined = place.serve_with(&format!("{options} {join}"));
        let warned = &joined.before;
        assert!(
            warned.contains(sentence) && warned.contains("the log alone has to do"),
            "{warned}"
        );
        assert!(!warned.contains("Copied "), "{warned}");
        let mut client = fleet.client(&joined);
        assert!(has(&mut client, "ws-1") && !has(&mut client, "ws-2"));
    };
    begins_by_log(&beside, &fleet.options(&beside).replace(&gate, &direct));

    fleet.gate.open();
    node.wait_for("APPLIES NOTHING MORE");
    begins_by_log(&by_log, &fleet.options(&by_log));
    fleet
        .postgres
        .sql(&format!("DELETE FROM df_log WHERE seq < {kept}"));
    let halted = fleet.refused(&refused, &join);
    assert!(
        halted.contains(sentence) && halted.contains("the log ends at"),
        "{halted}"
    );
    // One whose store is too old keeps it where it is: there is nothing to put in its place.
    let files = || {
        let files = std::fs::read_dir(behind.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let halted = fleet.refused(&behind, &join);
    assert!(halted.contains(sentence), "{halted}");
    assert_eq!(files(), before);
}

#[test]
fn file_of_a_node_is_served_alone_only_after_it_left() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let by_a_provider = format!(
        "{} --set actions.driver=host --configure-fleet",
        fleet.options(&place)
    );
    let mut node = place.serve_with(&by_a_provider);
    let mut client = fleet.client(&node);
    assert_eq!(put(&mut client, "ws-1"), 200);
    let reboot = "POST /api/Actions/RebootWorkSpace?workSpaceId=ws-1";
    assert_eq!(client.ask(reboot, "").unwrap().0, 200);
    node.terminate();
    let alone = command(place.path(), "serve --listen 127.0.0.1:0").output();
    let alone = message(&alone.unwrap());
    assert!(
        alone.contains("--log") && alone.contains("deskfleet cluster leave"),
        "{alone}"
    );
    assert!(done(place.path(), "export workspaces").contains("ws-1"));
    let left = command(place.path(), "cluster leave deskfleet.redb").output();
    let left = String::from_utf8(left.unwrap().stderr).unwrap();
    for line in [
        "It has 1 pending action that a provider",
        "\n  actions.driver = \"host\"",
    ] {
        assert!(left.contains(line), "{left}");
    }
    let served = place.serve();
    assert!(has(&mut fleet.client(&served), "ws-1"));
}

#[test]
fn settings_of_the_fleet_are_those_of_its_first_node_until_it_is_configured() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, second] = [(); 2].map(|()| fleet.node_folder());
    let own = "--set retention_days.stats=7";
    let start = |place: &Place, options: &str| {
        let mut node = place.serve_with(&format!("{} {options}", fleet.options(place)));
        let before = node.before.clone();
        node.terminate();
        before
    };
    let warned = start(&first, own);
    let line = "retention_days.stats=7 is set here, but the fleet has retention_days.stats=30";
    assert!(warned.contains(line), "{warned}");
    let configured = start(&second, &format!("{own} --configure-fleet"));
    assert!(!configured.contains("is set here"), "{configured}");
    assert!(!start(&first, own).contains("is set here"));
    assert!(start(&first, "").contains("retention_days.stats=30 is set here"));
}

#[test]
fn configuration_that_is_loaded_again_is_compared_with_the_fleet() {
    let Some(fleet) = Fleet::begin() else { return };
    let place = fleet.node_folder();
    let node = fleet.serve(&place);
    let change = "actions.durations.reboot=1m30s";
    let address = node.address;
    let line = format!("cluster settings {change} --url http://{address} --key-file admin.key");
    done(place.path(), &line);
    let mut client = fleet.client(&node);
    let mut differs = || {
        let (_, listed) = client.ask("GET /query/conditions", "").unwrap();
        listed.contains("SettingsDiffer")
    };
    assert!(differs());
    let reload = |toml: &str, line: &str| {
        std::fs::write(place.file("deskfleet.toml"), toml).unwrap();
        node.signal(Signal::HUP);
        node.wait_for(line);
    };
    reload(
        "actions.durations.reboot = \"5m\"\n",
        "actions.durations.reboot=5m is set here, but the fleet has actions.durations.reboot=1m30s",
    );
    assert!(differs());
    reload(
        "actions.durations.reboot = \"1m30s\"\n",
        "The configuration was loaded again; nothing changed.",
    );
    wait_until(|| !differs());
}

#[test]
fn settings_of_the_fleet_are_changed_on_running_nodes() {
    let Some(fleet) = Fleet::begin() else { return };
    let places = [(); 2].map(|()| fleet.node_folder());
    let nodes = places.each_ref().map(|place| fleet.serve(place));
    let [first, second] = nodes.each_ref().map(|node| node.address);
    let place = &places[0];
    let settings = |address, changes: &str| {
        format!("cluster settings {changes} --url http://{address} --key-file admin.key")
    };
    let change = "retention_days.stats=7 actions.durations.reboot=1m30s";
    let printed = done(place.path(), &settings(first, change));
    let lines = [
        "retention_days.stats = 7\n",
        "actions.durations.reboot = \"1m30s\"\n",
    ];
    assert!(lines.iter().all(|line| printed.contains(line)), "{printed}");
    wait_until(|| done(place.path(), &settings(second, "")) == printed);
    // Each node was started with the default.
    let mut client = fleet.client(&nodes[1]);
    let (_, listed) = client.ask("GET /query/conditions", "").unwrap();
    assert!(listed.contains("SettingsDiffer"), "{listed}");
    for (change, sentence) in [
        ("retention_days.stats=never", "retention_days.stats is "),
        ("limits.queue_records=10", "a setting of each node"),
        (
            "server.listen=127.0.0.1:1",
            "all others are of each node, in its deskfleet.toml",
        ),
        (
            "retention_days.stats=3 retention_days.stats=4",
            "retention_days.stats is given twice",
        ),
        ("retention.stats=3", "did you mean retention_days.stats?"),
    ] {
        let output = command(place.path(), &settings(first, change)).output();
        let refused = message(&output.unwrap());
        assert!(refused.contains(sentence), "{refused}");
    }
    let (_, audit) = client
        .ask("GET /operator/audit?action=ConfigureFleet", "")
        .unwrap();
    let row = "\"detail\":\"actions.durations.reboot=1m30s, retention_days.stats=7\",\"apiKeyName\":\"admin\"";
    assert!(audit.contains(row), "{audit}");
    let of_the_audit = "{\"retention_days.audit\": 1}";
    for body in [
        of_the_audit,
        "",
        "[]",
        "{}",
        "null",
        "{\"retention_days.stats\": [7]}",
    ] {
        let (status, text) = client.ask("POST /operator/cluster/settings", body).unwrap();
        assert_eq!(status, 400, "{body}: {text}");
    }
    assert_eq!(done(place.path(), &settings(second, "")), printed);
}

/// What the doctor prints of a fleet that has problems, as it is asked on this node.
fn doctor(place: &Place, node: &Served) -> String {
    let line = format!(
        "cluster doctor --url http://{} --key-file admin.key",
        node.address
    );
    let output = command(place.path(), &line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn doctor_says_what_to_type() {
    let Some(fleet) = Fleet::begin() else { return };
    let [first, second] = [(); 2].map(|()| fleet.node_folder());
    let nodes = [&first, &second].map(|place| fleet.serve(place));
    let names = [&first, &second].map(|place| {
        let options = fleet.options(place);
        options.rsplit_once(' ').unwrap().1.to_owned()
    });
    // One server of PostgreSQL has no standby.
    let text = doctor(&first, &nodes[0]);
    assert!(text.starts_with("warning LogUnsafe since "), "{text}");
    assert!(text.contains("\n    psql "), "{text}");
    // The other one reports the same of itself, with what to type under it.
    let mut text = String::new();
    let warned = format!("{} has warnings: LogUnsafe.", names[1]);
    wait_until(|| {
        text = doctor(&first, &nodes[0]);
        text.contains(&warned)
    });
    assert_eq!(text.matches("\n    psql ").count(), 2, "{text}");

    assert_eq!(put(&mut fleet.client(&nodes[0]), "ws-1"), 200);
    let last = fleet.postgres.sql("SELECT seq FROM df_head");
    let last: u64 = last.trim().parse().unwrap();
    wait_until(|| has(&mut fleet.client(&nodes[1]), "ws-1"));
    // No node has it in memory any more.
    for mut node in nodes {
        node.terminate();
    }
    lose_after(&fleet, last - 1);
    let nodes = [&first, &second].map(|place| fleet.serve(place));
    let mut text = String::new();
    wait_until(|| {
        text = doctor(&first, &nodes[0]);
        text.contains("critical NoNodeGoesOn")
    });
    let under = |code: &str| {
        let mut lines = text.lines();
        lines.find(|line| line.contains(&format!(" {code} since ")));
        let commands = lines.take_while(|line| line.starts_with("    "));
        commands.collect::<Vec<_>>().join("\n")
    };
    assert!(text.starts_with("critical NoNodeGoesOn "), "{text}");
    let first = under("NoNodeGoesOn");
    assert!(
        first.contains("deskfleet cluster leave kept.redb"),
        "{text}"
    );
    // A restart does not help any more.
    assert_eq!(under("Halted") + &under("NodesHalted"), "", "{text}");
    let halted = format!("{} applies nothing more", names[1]);
    assert!(text.contains(&halted), "{text}");
    // What it refuses is no damage of its store.
    let mut client = fleet.client(&nodes[0]);
    for (line, body) in [
        (
            "POST /operator/cluster/settings",
            r#"{"retention_days.stats":7}"#,
        ),
        (
            "POST /operator/leases",
            r#"{"provider":"p","instance":"i","seconds":5}"#,
        ),
    ] {
        let (status, answer) = client.ask(line, body).unwrap();
        assert!(
            status == 503 && answer.contains("applies nothing more"),
            "{line}: {status} {answer}"
        );
    }
    let (_, message) = readyz(&mut client);
    assert!(!message.contains("Corrupted"), "{message}");
}
