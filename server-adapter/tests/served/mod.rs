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
    day_of(engine, |_| filler.clone());
}

/// The same that make a file of that length.
pub(crate) fn incompressible_day(engine: &Engine) {
    day_of(engine, |number| {
        let mut number = u64::from(number.unsigned_abs());
        let digits = (0..125).map(|_| {
            // Knuth's constants.
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            format!("{number:016x}")
        });
        digits.collect()
    });
}

fn day_of(engine: &Engine, filler: impl Fn(i32) -> String) {
    for batch in 0..10 {
        let record = |id| {
            Record::Activity(Box::new(ActivityRecord {
                id: Some(id),
                tenant_id: filler(batch * 1000 + id).into(),
                ..ActivityRecord::default()
            }))
        };
        let records: Vec<_> = (0..1000).map(record).collect();
        engine.record_all(&records).unwrap();
    }
}
