//! Three servers over one log behind a balancer that takes them in turn: what one acknowledged, the next one knows, whatever it is.
#![cfg(all(unix, feature = "postgres", feature = "nats"))]

use crate::fleet::Fleet;
use crate::load::Client;
use crate::servers::nats::Nats;
use crate::servers::network::Host;
use crate::servers::postgres::Postgres;

const TURNS: usize = 60;
/// A key is revoked in one of so many turns: an address may send few bad keys in a minute.
const REVOKED: usize = 6;

/// A connection to each node; each request goes to the next.
struct Balancer {
    clients: Vec<Client>,
    next: usize,
}

impl Balancer {
    fn new(fleet: &Fleet, key: &str) -> Self {
        let connect = |node| Client::connect(fleet.address(node), key).unwrap();
        Self {
            clients: (0..fleet.nodes.len()).map(connect).collect(),
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

/// Requests whose answer was another one than one server would have given.
fn stale(log: String) -> Vec<String> {
    let fleet = Fleet::start(log, vec![Host::local(); 3]);
    let mut desk = Balancer::new(&fleet, fleet.admin());
    let mut stale = Vec::new();
    for turn in 0..TURNS {
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
        let mut reader = Balancer::new(&fleet, issued["key"].as_str().unwrap());
        reader.next = desk.next;
        let list = "GET /api/Information/GetAllWorkSpaces";
        has(&mut reader, list, 200, "workSpaces");
        desk.next = reader.next;
        if turn % REVOKED == 0 {
            desk.accepted(&format!("DELETE /operator/keys/{}", issued["id"]), "");
            reader.next = desk.next;
            has(&mut reader, list, 401, "");
        }
    }
    stale
}

#[test]
fn nodes_over_postgres_in_turn_answer_as_one() {
    let Some(postgres) = Postgres::start() else {
        return;
    };
    assert_eq!(stale(postgres.url()), Vec::<String>::new());
}

#[test]
fn nodes_over_jetstream_in_turn_answer_as_one() {
    let Some(nats) = Nats::start() else {
        return;
    };
    assert_eq!(stale(nats.url()), Vec::<String>::new());
}
