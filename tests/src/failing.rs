//! Engines on disks that fail, and what they acknowledged.

use bytes::Bytes;
use deskfleet::{Engine, EngineError, ErrorKind, ManualClock};
use http::Response;

use crate::conformance::case::NOW;
use crate::conformance::fixtures::desk;
use crate::crash::{Setup, setups};
use crate::disk::{Disk, Fault};
use crate::files::{Part, Queue};
use crate::posting::{ids, post};

/// The profile of which every part fails alone.
pub const PROFILE: &str = "one-phase";

/// An engine on a disk that fails.
#[derive(Debug, Clone)]
pub struct Case {
    /// The engine.
    pub setup: Setup,
    /// The part that fails, if not both.
    pub part: Option<Part>,
    /// Whether telemetry was posted before.
    pub posted: bool,
    /// Whether reads go on.
    pub reads_work: bool,
    /// Whether the file grows and shrinks as well.
    pub large: bool,
}

impl Case {
    /// The same for every profile and queue, and of one profile for every part.
    pub fn all(reads_work: bool, large: bool) -> impl Iterator<Item = Self> {
        let cases = move |setup: Setup| -> Vec<Self> {
            let case = |(part, posted)| Self {
                setup: setup.clone(),
                part,
                posted,
                reads_work,
                large,
            };
            let parts = match setup.queue {
                Queue::Table => vec![(None, true)],
                Queue::Folder if !setup.name.starts_with(PROFILE) => vec![(None, true)],
                Queue::Folder => vec![
                    (None, true),
                    (None, false),
                    (Some(Part::Store), true),
                    (Some(Part::Queue), true),
                ],
            };
            parts.into_iter().map(case).collect()
        };
        Queue::ALL.into_iter().flat_map(setups).flat_map(cases)
    }

    /// An engine that caches next to nothing, so that it reads its disk.
    pub fn engine(&self, disk: &Disk) -> Engine {
        let mut config = self.setup.config.clone();
        config.limits.cache_bytes = 0;
        let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
        self.setup
            .queue
            .open(builder.seed(7), &config, disk)
            .unwrap()
    }

    /// Closes the engine on its disk, which works. What is left is one file, with all that was acknowledged.
    pub fn close(&self, store: &Engine, disk: &Disk, acknowledged: &Acknowledged, what: &str) {
        store.close().unwrap();
        assert_eq!(
            disk.contents().queue,
            None,
            "{what}: closed, it is one file"
        );
        acknowledged.demand(&self.engine(disk), &format!("{what}, closed"));
    }

    /// Sets when the disk fails next, in the part of the case.
    pub fn fail(&self, disk: &Disk, fault: Fault) {
        match self.part {
            Some(part) => disk.fail_part(part, fault),
            None => disk.fail(fault),
        }
    }
}

/// The status of a response, which is 200, or 503 with `Retry-After`.
pub fn status(response: &Response<Bytes>) -> u16 {
    let status = response.status().as_u16();
    assert!(matches!(status, 200 | 503), "{status}");
    let retry = response.headers().contains_key("retry-after");
    assert_eq!(retry, status == 503, "a 503 has Retry-After");
    status
}

/// The result of a write on a failing disk.
pub fn failure_of_the_disk(error: &EngineError) {
    let kind = error.kind();
    assert!(
        matches!(
            kind,
            ErrorKind::StorageUnavailable | ErrorKind::Indeterminate
        ),
        "{error}"
    );
}

/// What was acknowledged.
#[derive(Debug, Default, Clone)]
pub struct Acknowledged {
    /// The ids of records.
    pub records: Vec<usize>,
    /// The ids of workspaces.
    pub desks: Vec<String>,
}

impl Acknowledged {
    /// Posts a record; returns whether it was acknowledged.
    pub fn post(&mut self, engine: &Engine, id: usize) -> bool {
        let good = status(&engine.handle(post(0, id))) == 200;
        if good {
            self.records.push(id);
        }
        good
    }

    /// Stores a workspace; returns whether it was acknowledged.
    pub fn put(&mut self, engine: &Engine, id: &str) -> bool {
        match engine.put_workspace(desk(id, "AVAILABLE", "jdoe")) {
            Ok(()) => self.desks.push(id.to_owned()),
            Err(error) => {
                failure_of_the_disk(&error);
                return false;
            }
        }
        true
    }

    /// All of it is there, and the store is whole.
    pub fn demand(&self, engine: &Engine, what: &str) {
        let held = ids(engine, 0);
        assert!(
            self.records.iter().all(|id| held.contains(id)),
            "{what}: acknowledged {:?}, held {held:?}",
            self.records
        );
        for id in &self.desks {
            assert!(
                engine.workspace(id).unwrap().is_some(),
                "{what}: {id} is lost"
            );
        }
        let problems = engine.check().unwrap().problems;
        assert_eq!(problems, Vec::<String>::new(), "{what}");
    }
}
