//! The writes of the clients, each with one request at a time, until the server is gone.

use std::io;
use std::time::{Duration, SystemTime};

use deskfleet::Timestamp;

use super::Client;
use super::ledger::{Fact, Ledger};

/// Records in one batch.
pub(super) const BATCH: u32 = 25;

type Work = fn(&mut Client, &str, &mut Ledger) -> io::Result<()>;

/// Every kind of write; telemetry twice, so that commits are shared.
pub(super) const ALL: [Work; 6] = [records, records, batches, actions, holds, keys];

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// The body of one record. Its time is that of the first, so that sending it again is a repetition.
pub(super) fn record(instance: &str, id: u32, time: Timestamp) -> String {
    let time = time.plus_seconds(i64::from(id % 3600) - 3600);
    format!(r#"{{"id":{id},"instanceId":"{instance}","username":"jdoe","updatetime":"{time}"}}"#)
}

fn records(client: &mut Client, name: &str, ledger: &mut Ledger) -> io::Result<()> {
    let instance = format!("s-{name}");
    let time = now();
    for id in 0.. {
        let body = record(&instance, id, time);
        let fact = Fact::Record {
            instance: instance.clone(),
            id,
            body: body.clone(),
        };
        ledger.write(fact, || client.accepted("POST /api/Stats/Post", &body))?;
    }
    Ok(())
}

fn batches(client: &mut Client, name: &str, ledger: &mut Ledger) -> io::Result<()> {
    let instance = format!("b-{name}");
    let time = now();
    for first in (0..).step_by(BATCH as usize) {
        let ids = first..first + BATCH;
        let lines: Vec<String> = ids
            .clone()
            .map(|id| format!(r#"{{"stats":{}}}"#, record(&instance, id, time)))
            .collect();
        let body = lines.join("\n");
        let instance = instance.clone();
        ledger.write(Fact::Batch { instance, ids }, || {
            let answer = client.accepted("POST /operator/telemetry", &body)?;
            assert!(answer.contains(r#""rejected":0"#), "{answer}");
            Ok(answer)
        })?;
    }
    Ok(())
}

fn put(client: &mut Client, id: &str, ledger: &mut Ledger) -> io::Result<()> {
    let body = r#"{"state":"AVAILABLE","username":"jdoe"}"#;
    let line = format!("PUT /operator/workspaces/{id}");
    ledger.write(Fact::Workspace(id.to_owned()), || {
        client.accepted(&line, body)
    })?;
    Ok(())
}

fn actions(client: &mut Client, name: &str, ledger: &mut Ledger) -> io::Result<()> {
    for number in 0.. {
        let id = format!("a-{name}-{number}");
        put(client, &id, ledger)?;
        let line = format!("POST /api/Actions/RebootWorkSpace?workSpaceId={id}&requester=r-{id}");
        ledger.write(Fact::Action(id), || client.accepted(&line, ""))?;
    }
    Ok(())
}

fn holds(client: &mut Client, name: &str, ledger: &mut Ledger) -> io::Result<()> {
    for number in 0.. {
        let id = format!("h-{name}-{number}");
        put(client, &id, ledger)?;
        let line = format!("/operator/workspaces/{id}/litigation-hold");
        let matter = format!(r#"{{"matter":"m-{id}"}}"#);
        ledger.write(Fact::Held(id.clone()), || {
            client.accepted(&format!("PUT {line}"), &matter)
        })?;
        if number % 2 == 1 {
            ledger.write(Fact::Released(id), || {
                client.accepted(&format!("DELETE {line}"), "")
            })?;
        }
    }
    Ok(())
}

/// Fewer than the others: every key is listed in every round.
fn keys(client: &mut Client, name: &str, ledger: &mut Ledger) -> io::Result<()> {
    for number in 0.. {
        let key = format!("k-{name}-{number}");
        let body = format!(r#"{{"name":"{key}","scopes":["read"]}}"#);
        let answer = ledger.write(Fact::Key(key.clone()), || {
            client.accepted("POST /operator/keys", &body)
        })?;
        let issued: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let secret = issued.get("key").and_then(|key| key.as_str()).unwrap();
        ledger.secrets.insert(key.clone(), secret.to_owned());
        if number % 4 == 3 {
            let id = issued.get("id").unwrap();
            ledger.write(Fact::Revoked(key), || {
                client.accepted(&format!("DELETE /operator/keys/{id}"), "")
            })?;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
