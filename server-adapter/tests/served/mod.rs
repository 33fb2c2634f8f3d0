//! A server over an engine in memory, with an admin key.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::time::SystemTime;

use deskfleet::{ActivityRecord, Config, Engine, NewKey, Record, Scope};
use deskfleet_server::{RunningServer, ServerOptions, spawn};

use crate::client::Client;

pub(crate) struct Served {
    pub(crate) engine: Engine,
    pub(crate) key: String,
    pub(crate) server: RunningServer,
}

pub(crate) fn served(options: ServerOptions, configure: impl FnOnce(&mut Config)) -> Served {
    let mut config = Config::default();
    configure(&mut config);
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .seed(1)
        .config(config)
        .open_in_memory()
        .unwrap();
    let new = NewKey::new("admin", [Scope::Admin]);
    let key = engine.issue_key(new).unwrap().secret;
    let server = spawn(engine.clone(), options).unwrap();
    Served {
        engine,
        key,
        server,
    }
}

impl Served {
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.server.addr())
    }
}

/// Activities that make a response of about 20 MB, more than sockets buffer.
pub(crate) fn large_day(engine: &Engine) {
    let filler = "x".repeat(2000);
    for _ in 0..10 {
        let record = |id| {
            Record::Activity(Box::new(ActivityRecord {
                id: Some(id),
                tenant_id: filler.as_str().into(),
                ..ActivityRecord::default()
            }))
        };
        let records: Vec<_> = (0..1000).map(record).collect();
        engine.record_all(&records).unwrap();
    }
}
