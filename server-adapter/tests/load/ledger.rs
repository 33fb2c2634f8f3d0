//! What was acknowledged, what may be there besides, and whether a store agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Client;

/// Fails a test instead of hanging; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that a write makes true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fact {
    Record {
        instance: String,
        id: u32,
        body: String,
    },
    Batch {
        instance: String,
        ids: Range<u32>,
    },
    Workspace(String),
    /// Of this workspace.
    Action(String),
    Held(String),
    Released(String),
    /// By its name.
    Key(String),
    Revoked(String),
}

/// What the clients of one round know.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Acknowledged.
    pub(crate) durable: Vec<Fact>,
    /// Sent and not answered: there as a whole, or not at all.
    pub(crate) open: Vec<Fact>,
    /// The secrets of keys.
    pub(crate) secrets: BTreeMap<String, String>,
}

impl Fact {
    /// The number of telemetry records in it.
    pub(crate) fn records(&self) -> usize {
        match self {
            Self::Record { .. } => 1,
            Self::Batch { ids, .. } => ids.len(),
            Self::Workspace(_)
            | Self::Action(_)
            | Self::Held(_)
            | Self::Released(_)
            | Self::Key(_)
            | Self::Revoked(_) => 0,
        }
    }
}

impl Ledger {
    /// Notes that `fact` may be true from now on, and is true once `write` has its response.
    pub(super) fn write<T>(
        &mut self,
        fact: Fact,
        write: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match write() {
            Ok(answer) => {
                self.durable.push(fact);
                Ok(answer)
            }
            Err(gone) => {
                self.open.push(fact);
                Err(gone)
            }
        }
    }

    /// Both together.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.durable.extend(other.durable);
        self.open.extend(other.open);
        self.secrets.extend(other.secrets);
        self
    }

    /// Compares with what the server at `address` holds; panics where they disagree.
    pub(crate) fn check(&self, address: SocketAddr, admin: &str) {
        let mut client = Client::connect(address, admin).unwrap();
        self.send_open_records_again(&mut client);
        self.check_kept(address, admin);
        self.check_actions(&mut client);
        // One of them only: the bound on bad keys applies here too.
        let revoked = self.durable.iter().find_map(|fact| {
            let Fact::Revoked(name) = fact else {
                return None;
            };
            self.secrets.get(name)
        });
        if let Some(secret) = revoked {
            assert_eq!(listing(address, secret), 401, "a revoked key is accepted");
        }
    }

    /// The same without the audit, of which only the newest rows can be read.
    pub(crate) fn check_kept(&self, address: SocketAddr, admin: &str) {
        let mut client = Client::connect(address, admin).unwrap();
        self.check_records(&mut client);
        self.check_workspaces(&mut client);
        self.check_keys(address, &mut client);
    }

    fn is_durable(&self, fact: &Fact) -> bool {
        self.durable.contains(fact)
    }

    fn is_possible(&self, fact: &Fact) -> bool {
        self.is_durable(fact) || self.open.contains(fact)
    }

    /// What an agent does when its post got no response, or 503: it sends it again. The record must not be there twice then.
    fn send_open_records_again(&self, client: &mut Client) {
        let deadline = Instant::now() + PATIENCE;
        for fact in &self.open {
            let Fact::Record { body, .. } = fact else {
                continue;
            };
            while client.ask("POST /api/Stats/Post", body).unwrap().0 == 503 {
                assert!(Instant::now() < deadline, "the server refuses all posts");
                sleep(Duration::from_millis(100));
            }
            client.accepted("POST /api/Stats/Post", body).unwrap();
        }
    }

    fn check_records(&self, client: &mut Client) {
        let mut expected: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        let mut whole_or_not: BTreeMap<&str, Range<u32>> = BTreeMap::new();
        for fact in self.durable.iter().chain(&self.open) {
            match fact {
                Fact::Record { instance, id, .. } => {
                    expected.entry(instance).or_default().insert((*id).into());
                }
                Fact::Batch { instance, ids } if self.open.contains(fact) => {
                    expected.entry(instance).or_default();
                    whole_or_not.insert(instance, ids.clone());
                }
                Fact::Batch { instance, ids } => {
                    let ids = ids.clone().map(u64::from);
                    expected.entry(instance).or_default().extend(ids);
                }
                Fact::Workspace(_)
                | Fact::Action(_)
                | Fact::Held(_)
                | Fact::Released(_)
                | Fact::Key(_)
                | Fact::Revoked(_) => {}
            }
        }
        for (instance, mut ids) in expected {
            let found = recorded(client, instance);
            if let Some(open) = whole_or_not.get(instance) {
                let open: BTreeSet<u64> = open.clone().map(u64::from).collect();
                if found.len() > ids.len() {
                    ids.extend(open);
                }
            }
            let mut sorted = found.clone();
            sorted.sort_unstable();
            let ids: Vec<u64> = ids.into_iter().collect();
            assert_eq!(sorted, ids, "records of {instance}");
        }
    }

    fn check_workspaces(&self, client: &mut Client) {
        for fact in self.durable.iter().chain(&self.open) {
            let (Fact::Workspace(id) | Fact::Held(id) | Fact::Released(id)) = fact else {
                continue;
            };
            let (status, body) = client
                .ask(&format!("GET /operator/workspaces/{id}"), "")
                .unwrap();
            let there = status == 200;
            let put = Fact::Workspace(id.clone());
            assert!(there || !self.is_durable(&put), "{id} is lost: {status}");
            assert!(!there || self.is_possible(&put), "{id} was never put");
            let view: Value = serde_json::from_str(&body).unwrap();
            let matter = view
                .pointer("/litigationHold/matter")
                .and_then(Value::as_str);
            let (held, released) = (Fact::Held(id.clone()), Fact::Released(id.clone()));
            match matter {
                Some(matter) => {
                    assert_eq!(matter, format!("m-{id}"));
                    assert!(
                        self.is_possible(&held) && !self.is_durable(&released),
                        "{id}"
                    );
                }
                None => assert!(
                    !self.is_durable(&held) || self.is_possible(&released),
                    "the hold of {id} is lost"
                ),
            }
        }
    }

    /// Each acknowledged action has one row, one in flight at most one, and no number is used twice.
    fn check_actions(&self, client: &mut Client) {
        let rows = client.json("GET /api/Information/GetAdminActivity?numberOfActivities=10000");
        let rows = rows.as_array().unwrap();
        let numbers: Vec<_> = rows
            .iter()
            .map(|row| row.get("id").unwrap().as_u64())
            .collect();
        assert!(numbers.is_sorted_by(|a, b| a > b), "numbers of audit rows");
        for fact in self.durable.iter().chain(&self.open) {
            let Fact::Action(id) = fact else { continue };
            let requester = format!("r-{id}");
            let found = rows
                .iter()
                .filter(|row| row.get("requester").unwrap().as_str() == Some(&requester))
                .count();
            let least = usize::from(self.is_durable(fact));
            assert!((least..=1).contains(&found), "{id}: {found} rows");
            let view = client.json(&format!("GET /operator/workspaces/{id}"));
            let state = view.pointer("/workSpace/state").and_then(Value::as_str);
            // An accepted action may have ended by now.
            let possible = ["AVAILABLE", "REBOOTING"].into_iter().take(found + 1);
            assert!(
                possible.map(Some).any(|possible| possible == state),
                "{id}: {state:?}"
            );
        }
    }

    fn check_keys(&self, address: SocketAddr, client: &mut Client) {
        let listed = client.json("GET /operator/keys");
        let listed = listed.get("keys").unwrap().as_array().unwrap();
        let numbers: BTreeSet<_> = listed
            .iter()
            .map(|key| key.get("id").unwrap().as_u64())
            .collect();
        assert_eq!(numbers.len(), listed.len(), "numbers of keys");
        for fact in self.durable.iter().chain(&self.open) {
            let Fact::Key(name) = fact else { continue };
            let found: Vec<_> = listed
                .iter()
                .filter(|key| key.get("name").unwrap().as_str() == Some(name))
                .collect();
            let least = usize::from(self.is_durable(fact));
            assert!(
                (least..=1).contains(&found.len()),
                "{name}: {}",
                found.len()
            );
            let revoked = Fact::Revoked(name.clone());
            let (Some(key), Some(secret)) = (found.first(), self.secrets.get(name)) else {
                continue;
            };
            let is_revoked = key.get("revoked").unwrap().is_string();
            assert!(is_revoked || !self.is_durable(&revoked), "{name} is back");
            assert!(!is_revoked || self.is_possible(&revoked), "{name} is gone");
            if !is_revoked {
                assert_eq!(listing(address, secret), 200, "{name}");
            }
        }
    }
}

/// The status of a listing with this key.
fn listing(address: SocketAddr, secret: &str) -> u16 {
    let mut client = Client::connect(address, secret).unwrap();
    let list = "GET /api/Information/GetAllWorkSpaces?limit=1";
    client.ask(list, "").unwrap().0
}

/// The ids of all records of an instance, unordered.
fn recorded(client: &mut Client, instance: &str) -> Vec<u64> {
    let mut ids = Vec::new();
    let mut token = String::new();
    loop {
        let line = format!("GET /operator/telemetry/stats?instanceId={instance}&limit=500{token}");
        let page = client.json(&line);
        let records = page.get("records").unwrap().as_array().unwrap();
        ids.extend(
            records
                .iter()
                .map(|record| record.get("id").unwrap().as_u64().unwrap()),
        );
        match page.get("nextToken").and_then(Value::as_str) {
            Some(next) => token = format!("&nextToken={next}"),
            None => return ids,
        }
    }
}
