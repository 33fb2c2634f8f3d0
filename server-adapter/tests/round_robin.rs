//! Three servers over one log behind a balancer that takes them in turn: what one acknowledged, the next one knows, whatever it is.
#![cfg(all(target_os = "linux", feature = "postgres", feature = "nats"))]

use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fleet::Fleet;
use crate::load::Client;
use crate::proxies::is_installed;
use crate::servers::nats::Nats;
use crate::servers::network::Host;
use crate::servers::ports::free_ports;
use crate::servers::postgres::Postgres;

const TURNS: usize = 30;
/// A key is revoked in each third turn, because an address may send few bad keys in a minute.
const REVOKED: usize = 3;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(180);
/// Half of the longest that a read waits for the log.
const SLOW: Duration = Duration::from_millis(500);
const HAPROXY: &str = include_str!("../docs/cluster/haproxy.cfg");

/// A connection to each address; each request goes to the next.
struct Balancer {
    clients: Vec<Client>,
    next: usize,
}

impl Balancer {
    fn new(addresses: &[SocketAddr], key: &str) -> Self {
        let connect = |address: &SocketAddr| Client::connect(*address, key).unwrap();
        Self {
            clients: addresses.iter().map(connect).collect(),
            next: 0,
        }
    }

    fn ask(&mut self, line: &str, body: &str) -> (u16, String) {
        self.next = (self.next + 1) % self.clients.len();
        self.clients[self.next].ask(line, body).unwrap()
    }

    fn accepted(&mut self, line: &str, body: &str) -> String {
        let (status, answer) = self.ask(line, body);
        assert!(
            matches!(status, 200 | 201 | 204),
            "{line}: {status} {answer}"
        );
        answer
    }
}

fn fleet(log: String) -> (Fleet, Vec<SocketAddr>) {
    let fleet = Fleet::start(log, vec![Host::local(); 3]);
    let addresses = (0..3).map(|node| fleet.address(node)).collect();
    (fleet, addresses)
}

/// Requests whose answer was another one than one server would have given.
fn stale(addresses: &[SocketAddr], admin: &str) -> Vec<String> {
    let mut desk = Balancer::new(addresses, admin);
    let mut stale = Vec::new();
    let begun = Instant::now();
    let (mut checked, mut turn, mut slow) = (0, 0, None);
    while checked < TURNS {
        assert!(begun.elapsed() < PATIENCE, "the log is too slow");
        turn += 1;
        let (before, at) = (stale.len(), Instant::now());
        let id = format!("ws-{turn}");
        let workspace = format!("/operator/workspaces/{id}");
        let mut has = |desk: &mut Balancer, line: &str, status: u16, part: &str| {
            let found = desk.ask(line, "");
            if found.0 != status || !found.1.contains(part) {
                stale.push(format!("{line}: {} {}", found.0, found.1));
            }
        };
        desk.accepted(
            &format!("PUT {workspace}"),
            r#"{"state":"AVAILABLE","username":"jdoe"}"#,
        );
        has(&mut desk, &format!("GET {workspace}"), 200, "AVAILABLE");
        desk.accepted(
            &format!("POST /api/Actions/RebootWorkSpace?workSpaceId={id}&requester=Ada"),
            "",
        );
        has(&mut desk, &format!("GET {workspace}"), 200, "REBOOTING");
        desk.accepted(
            &format!("PUT {workspace}/litigation-hold"),
            r#"{"matter":"Doe"}"#,
        );
        let held = "GET /api/Information/GetWorkSpacesOnLitigationHold?limit=500";
        has(&mut desk, held, 200, &format!("\"{id}\""));
        desk.accepted(
            "POST /api/Stats/PostActivity",
            &format!(
                r#"{{"id":{turn},"instanceId":"{id}","username":"user-{turn}","activity":"Logon","activityTime":"{}"}}"#,
                deskfleet::Timestamp::from(std::time::SystemTime::now())
            ),
        );
        let user = format!("GET /api/Information/GetUserInformation?username=user-{turn}");
        has(&mut desk, &user, 200, "Logon");

        let issued = desk.accepted(
            "POST /operator/keys",
            &format!(r#"{{"name":"key-{turn}","scopes":["read"]}}"#),
        );
        let issued: serde_json::Value = serde_json::from_str(&issued).unwrap();
        let mut reader = Balancer::new(addresses, issued["key"].as_str().unwrap());
        reader.next = desk.next;
        let list = "GET /api/Information/GetAllWorkSpaces";
        has(&mut reader, list, 200, "workSpaces");
        desk.next = reader.next;
        if turn % REVOKED == 0 {
            desk.accepted(&format!("DELETE /operator/keys/{}", issued["id"]), "");
            reader.next = desk.next;
            has(&mut reader, list, 401, "");
        }
        // A read does not wait longer than a second for the log, nor for the next second: on a busy machine that is no failure.
        if at.elapsed() > SLOW {
            slow = Some(Instant::now());
        }
        if slow.is_some_and(|slow| slow.elapsed() < 4 * SLOW) {
            stale.truncate(before);
        } else {
            checked += 1;
        }
    }
    stale
}

/// The program `haproxy` with the configuration of the documentation; it is killed when this is dropped.
struct Haproxy {
    child: Child,
    folder: tempfile::TempDir,
}

impl Haproxy {
    /// Before these nodes, without TLS. Returns the address at which it listens.
    fn start(nodes: &[SocketAddr]) -> (Self, SocketAddr) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("haproxy.cfg");
        let address = SocketAddr::from(([127, 0, 0, 1], free_ports(1)[0]));
        let (before, after) = HAPROXY.split_once("bind ").unwrap();
        let after = after.split_once('\n').unwrap().1;
        let mut configuration = format!("{before}bind {address}\n{after}");
        configuration = configuration.replace("Host fleet.example.com", "Host localhost");
        // Without the rights of root.
        for line in ["user haproxy", "group haproxy", "chroot /var/lib/haproxy"] {
            assert!(configuration.contains(line));
            configuration = configuration.replace(line, "");
        }
        for (number, node) in (1..).zip(nodes) {
            let name = format!("node-{number}.example.com:8080");
            assert!(configuration.contains(&name));
            configuration = configuration.replace(&name, &node.to_string());
        }
        std::fs::write(&file, configuration).unwrap();
        let child = Command::new("haproxy")
            .args(["-db", "-f"])
            .arg(&file)
            .stdout(std::fs::File::create(folder.path().join("log")).unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut started = Self { child, folder };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert_eq!(started.child.try_wait().unwrap(), None, "HAProxy has ended");
            assert!(begun.elapsed() < PATIENCE, "HAProxy does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        (started, address)
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn nodes_over_postgres_in_turn_answer_as_one() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    let (fleet, nodes) = fleet(postgres.url());
    assert_eq!(stale(&nodes, fleet.admin()), Vec::<String>::new());
}

#[test]
fn nodes_over_jetstream_in_turn_answer_as_one() {
    let Some(nats) = Nats::start() else {
        return;
    };
    let (fleet, nodes) = fleet(nats.url());
    assert_eq!(stale(&nodes, fleet.admin()), Vec::<String>::new());
}

/// Also while one of them is killed, and reads while the log is lost.
#[test]
fn nodes_behind_haproxy_answer_as_one() {
    if !is_installed("haproxy") {
        return;
    }
    let Some(mut postgres) = Postgres::start() else {
        return;
    };
    let (mut fleet, nodes) = fleet(postgres.url());
    let (haproxy, address) = Haproxy::start(&nodes);
    assert_eq!(stale(&[address], fleet.admin()), Vec::<String>::new());

    let mut desk = Balancer::new(&[address], fleet.admin());
    assert_eq!(desk.ask("GET /metrics", "").0, 404);
    assert_eq!(desk.ask("GET /nowhere%3FapiKey=dfk_secret", "").0, 404);
    fleet.nodes[1].as_mut().unwrap().kill();
    for turn in 0..TURNS {
        let workspace = format!("/operator/workspaces/killed-{turn}");
        desk.accepted(&format!("PUT {workspace}"), "{}");
        desk.accepted(&format!("GET {workspace}"), "");
    }

    postgres.kill_primary();
    let begun = Instant::now();
    let read = "GET /operator/workspaces/killed-0";
    // Longer than the nodes take to be unready.
    while begun.elapsed() < Duration::from_secs(15) {
        desk.accepted(read, "");
        std::thread::sleep(Duration::from_millis(100));
    }
    let refused = desk.ask("PUT /operator/workspaces/lost", "{}");
    assert!(
        refused.0 == 503 && refused.1.contains("StorageUnavailable"),
        "{refused:?}"
    );
    let log = std::fs::read_to_string(haproxy.folder.path().join("log")).unwrap();
    assert!(log.contains("nodes/node-1") && log.contains("unready/node-1"));
    assert!(!log.contains("dfk_"), "{log}");
}
