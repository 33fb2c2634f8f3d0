//! Servers that share a log in PostgreSQL: each serves the same fleet.
#![cfg(all(unix, feature = "postgres"))]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod load;
#[allow(
    clippy::pedantic,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    dead_code,
    missing_debug_implementations,
    unreachable_pub,
    reason = "servers for several suites, each of which needs a part"
)]
#[path = "../../tests/src/servers/postgres.rs"]
mod postgres;

use std::time::{Duration, Instant};

use load::{Client, Place, Served, done};
use postgres::Postgres;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);
const PASSWORD: &str = "pass-word-of-the-log";

/// A log, and an admin key of the fleet that shares it.
struct Fleet {
    postgres: Postgres,
    admin: String,
}

impl Fleet {
    /// `None` where there is no PostgreSQL.
    fn begin() -> Option<Self> {
        let postgres = Postgres::start_alone()?;
        let mut fleet = Self {
            postgres,
            admin: String::new(),
        };
        let first = tempfile::tempdir().unwrap();
        let issued = format!(
            "keys issue --name admin --scope admin --set cluster.log={}",
            fleet.url()
        );
        fleet.admin = done(first.path(), &issued).trim().to_owned();
        Some(fleet)
    }

    /// With a password, which PostgreSQL does not ask for here.
    fn url(&self) -> String {
        self.postgres
            .url()
            .replacen("@", &format!(":{PASSWORD}@"), 1)
    }

    /// A folder for a node that has no store yet.
    fn place(&self) -> Place {
        Place {
            folder: tempfile::tempdir().unwrap(),
            admin: self.admin.clone(),
        }
    }

    fn serve(&self, place: &Place, options: &str) -> Served {
        place.serve_with(&format!("--log {} --node n {options}", self.url()))
    }

    fn client(&self, served: &Served) -> Client {
        Client::connect(served.address, &self.admin).unwrap()
    }
}

fn put(client: &mut Client, id: &str) {
    let body = format!(r#"{{"workSpId":"{id}","state":"AVAILABLE"}}"#);
    let put = format!("PUT /operator/workspaces/{id}");
    client.accepted(&put, &body).unwrap();
}

/// Asks until `is_there`.
fn wait_until(mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < PATIENCE, "it does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn has(client: &mut Client, id: &str) -> bool {
    let (status, _) = client
        .ask(&format!("GET /operator/workspaces/{id}"), "")
        .unwrap();
    status == 200
}

#[test]
fn nodes_serve_what_each_of_them_was_sent() {
    let Some(fleet) = Fleet::begin() else { return };
    let places = [(); 3].map(|()| fleet.place());
    let nodes = places.each_ref().map(|place| fleet.serve(place, ""));
    let mut clients = nodes.each_ref().map(|node| fleet.client(node));
    for (number, client) in clients.iter_mut().enumerate() {
        put(client, &format!("ws-{number}"));
    }
    for client in &mut clients {
        for number in 0..3 {
            wait_until(|| has(client, &format!("ws-{number}")));
        }
        let (status, said) = client.ask("GET /readyz", "").unwrap();
        assert_eq!(status, 200, "{said}");
        assert!(said.contains(" behind the log"), "{said}");
    }
    for mut node in nodes {
        let said = node.terminate().join("\n");
        assert!(!said.contains(PASSWORD), "{said}");
    }
}
