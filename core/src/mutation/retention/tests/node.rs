//! A store that does what the entries of a log say.

use std::collections::BTreeMap;

use super::super::*;
use super::start;
use crate::config::Config;
use crate::model::{Workspace, WriteClass};
use crate::mutation::{Caller, Mutation, PutWorkspace};
use crate::store::meta;
use crate::store::table::ALL_KEYS;
use crate::store::telemetry::filing::Pass;
use crate::store::telemetry::rows::Rows;
use crate::store::telemetry::sealing;
use crate::store::{Store, StoreOptions};

pub(super) struct Node(pub(super) Store);

impl Node {
    pub(super) fn new(config: &Config) -> Self {
        let node = Self(Store::open_in_memory(StoreOptions::from_config(config, start())).unwrap());
        for (id, computer, user) in [("ws-1", "pc-1", "ann"), ("ws-2", "pc-2", "bob")] {
            let workspace = Workspace {
                id: id.into(),
                computer_name: Some(computer.into()),
                username: Some(user.into()),
                ..Workspace::default()
            };
            let put = PutWorkspace {
                workspace,
                cancels_action: false,
                by: Caller::HOST,
            };
            node.apply(config, start(), put);
        }
        node
    }

    pub(super) fn apply<M: Mutation>(&self, config: &Config, now: Timestamp, mutation: M) {
        let written = self.0.write(WriteClass::Essential, |tables| {
            // A refusal is one on every node.
            mutation
                .apply(&mut Context::new(tables, config, now))
                .map(drop)
        });
        written.unwrap();
    }

    pub(super) fn file(&self, rows: usize, slices: usize) {
        let snapshot = || self.0.snapshot().unwrap();
        let begun = meta::filed(&snapshot()).unwrap().pass;
        let blocks = self.0.queue().oldest_blocks(begun.as_ref());
        let slice_max = Work::new(rows, usize::MAX);
        let Some(mut pass) = Pass::begin(&snapshot(), blocks, slice_max, None).unwrap() else {
            return;
        };
        for _ in 0..slices {
            let Some(slice) = pass.next_slice(&snapshot()).unwrap() else {
                break;
            };
            self.0
                .write(WriteClass::Essential, |tables| slice.apply(tables))
                .unwrap();
        }
    }

    pub(super) fn file_all(&self) {
        while self.0.queued() > 0 {
            self.file(250, usize::MAX);
        }
    }

    pub(super) fn seal(&self, now: Timestamp) {
        let next = || sealing::prepare(&self.0.snapshot().unwrap(), now.day() - 1).unwrap();
        while let Some(sealing) = next() {
            self.0
                .write(WriteClass::Essential, |tables| sealing.apply(tables))
                .unwrap();
        }
    }

    /// The records of each bucket, and the rows of all other tables that nodes share.
    pub(super) fn contents(&self) -> BTreeMap<(&'static str, Vec<u8>), Vec<String>> {
        let snapshot = self.0.snapshot().unwrap();
        let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
        history::scan_keys(&snapshot, ALL_KEYS, &mut |part| {
            let mut rows = Rows::default();
            part.add_to(&mut rows)?;
            let records = all.entry(("history", history::key_bucket(part.key).to_vec()));
            let records = records.or_default();
            for row in 0..rows.len() {
                records.push(format!("{:?}", rows.received(row)?));
            }
            Ok(())
        })
        .unwrap();
        for records in all.values_mut() {
            records.sort_unstable();
        }
        let shared = [
            ("users", Table::Users),
            ("daily", Table::Daily),
            ("hourly", Table::Hourly),
            ("latest", Table::Latest),
            ("audit", Table::Audit),
            ("holds", Table::Holds),
            ("workspaces", Table::Workspaces),
            ("events", Table::Events),
        ];
        for (name, table) in shared {
            snapshot
                .scan(table, ALL_KEYS, |key, value| {
                    all.insert(
                        (name, key.to_vec()),
                        vec![String::from_utf8_lossy(value).into()],
                    );
                    Ok(Step::Continue(()))
                })
                .unwrap();
        }
        all
    }
}
