//! Writes on a failing disk: a refused write never appears, now or after any crash; an indeterminate one appears as a
//! whole or not at all; and the outbox returns nothing that a crash could undo.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deskfleet::{ActionRequest, Config, Engine, ErrorKind, ManualClock, StorageBackend};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::desk;
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::image::{Fate, Platter};
use deskfleet_tests::crash::judge::judge;
use deskfleet_tests::crash::profiles;
use deskfleet_tests::crash::recording::Recorder;
use deskfleet_tests::crash::workload::Scene;
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::posting::{ids, post};

fn open(config: &Config, backend: impl StorageBackend) -> Engine {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    let builder = builder.seed(7).config(config.clone());
    builder.open_backend(backend).unwrap()
}

fn act(engine: &Engine) -> deskfleet::Result<()> {
    engine.act(ActionRequest::reboot("ws-0")).map(drop)
}

fn put(engine: &Engine, id: &str) -> deskfleet::Result<()> {
    engine.put_workspace(desk(id, "AVAILABLE", "jdoe"))
}

/// An engine with a workspace.
fn begun(config: &Config, backend: impl StorageBackend) -> Engine {
    let engine = open(config, backend);
    put(&engine, "ws-0").unwrap();
    engine
}

/// The possible contents: whether the action was accepted, and whether the next write was made.
struct Expected([[Facts; 2]; 2]);

impl Expected {
    fn new(config: &Config) -> Self {
        let facts = |acted: bool| {
            let engine = begun(config, Recorder::default().backend());
            if acted {
                act(&engine).unwrap();
            }
            let before = Facts::of(&engine).unwrap();
            put(&engine, "ws-1").unwrap();
            [before, Facts::of(&engine).unwrap()]
        };
        Self([facts(false), facts(true)])
    }

    /// Judges an image, in which the action may be there or not, as `acted` says, and the next write as well.
    fn judge(&self, image: &[u8], acted: &[bool], config: &Config, what: &str) {
        let wrong = |acted: &bool| {
            let [before, after] = &self.0[usize::from(*acted)];
            let scene = Scene {
                step: what.to_owned(),
                start: 0,
                end: 0,
                now: NOW.parse().unwrap(),
                before: before.clone(),
                after: after.clone(),
                whole: true,
                taken: (0, 0),
            };
            judge(image.to_vec(), &scene, config).err()
        };
        let wrongs: Option<Vec<_>> = acted.iter().map(wrong).collect();
        if let Some(wrongs) = wrongs {
            panic!("{what}: {}", wrongs.join("\n"));
        }
    }
}

/// The possible states of the action after that response.
fn possible(result: &deskfleet::Result<()>) -> &'static [bool] {
    match result.as_ref().map_err(deskfleet::EngineError::kind) {
        Ok(()) => &[true],
        Err(ErrorKind::StorageUnavailable) => &[false],
        Err(ErrorKind::Indeterminate) => &[false, true],
        Err(other) => panic!("{other:?}"),
    }
}

/// One failure; returns the possible states of the action, or `None` when the disk did not fail.
fn fails(
    (name, config): (&str, &Config),
    expected: &Expected,
    (operation, n, lasts): (Operation, u64, bool),
) -> Option<&'static [bool]> {
    let what = format!("{name}, {operation:?} {n}, lasts: {lasts}");
    let disk = Recorder::default();
    let engine = begun(config, disk.backend());
    disk.fail(operation, n, lasts);
    let result = act(&engine);
    let acted = possible(&result);
    let answered = disk.len();
    if disk.repair() == 0 {
        assert!(result.is_ok(), "{what}");
        return None;
    }
    let seen = Facts::of(&engine).unwrap();
    let right = |acted: &&bool| seen == expected.0[usize::from(**acted)][0];
    assert!(acted.iter().any(|acted| right(&acted)), "{what}: {seen:?}");
    put(&engine, "ws-1").unwrap();
    let log = disk.log();
    let stored = [Fate::Lost, Fate::Kept, Fate::Mixed(n), Fate::Torn(n)];
    let end = log.len();
    for cut in [answered, answered + 2, usize::midpoint(answered, end), end] {
        for of_failed_syncs in stored {
            let mut platter = Platter::default();
            platter.take_all(&log[..cut.min(end)], of_failed_syncs);
            for fate in [Fate::Lost, Fate::Kept, Fate::Mixed(n + 1)] {
                let what = format!("{what}, cut at {cut}: {of_failed_syncs}, {fate}");
                expected.judge(&platter.image(fate), acted, config, &what);
            }
        }
    }
    Some(acted)
}

#[test]
fn write_refused_for_good_never_appears_and_one_in_doubt_appears_whole() {
    for (name, config) in profiles() {
        let expected = Expected::new(&config);
        let (mut refused, mut doubtful) = (0, 0);
        for operation in [Operation::Write, Operation::Sync] {
            for lasts in [false, true] {
                let each = |n| fails((name, &config), &expected, (operation, n, lasts));
                for acted in (0..).map_while(each) {
                    refused += usize::from(acted == [false]);
                    doubtful += usize::from(acted.len() == 2);
                }
            }
        }
        assert!(refused > 0 && doubtful > 0, "{name}: {refused} {doubtful}");
    }
}

/// A page that cannot be written leaves no doubt: the pointer to it was not written either.
#[test]
fn write_on_a_full_disk_is_refused_for_good() {
    for (name, config) in profiles() {
        for left in 0..40 {
            let disk = Disk::crashing();
            let engine = begun(&config, disk.backend());
            disk.fail(Fault::Full(left));
            let result = engine.record_all(&vec![large_record(); 40]);
            if disk.failed() == 0 {
                assert!(left > 0, "{name}: it was never full");
                break;
            }
            let kind = result.unwrap_err().kind();
            assert_eq!(kind, ErrorKind::StorageUnavailable, "{name}, {left}");
        }
    }
}

fn large_record() -> deskfleet::Record {
    deskfleet::Record::Activity(Box::new(deskfleet::ActivityRecord {
        activity: deskfleet::Nullable::Value("x".repeat(60_000)),
        ..deskfleet::ActivityRecord::default()
    }))
}

#[test]
fn outbox_returns_only_durable_actions() {
    for (name, config) in profiles() {
        let disk = Disk::crashing();
        let engine = begun(&config, disk.backend());
        let syncs = disk.syncs();
        // The last sync of a commit is the one that leaves doubt.
        let last = u64::from(name != "one-phase");
        disk.fail(Fault::From(Operation::Sync, last));
        assert_eq!(act(&engine).unwrap_err().kind(), ErrorKind::Indeterminate);
        assert_eq!(disk.syncs() - syncs, last, "{name}");
        let asked = engine.pending_actions().map_err(|error| error.kind());
        assert_eq!(asked, Err(ErrorKind::StorageUnavailable), "{name}");
        disk.fail(Fault::None);
        let handed_out = engine.pending_actions().unwrap().len();
        drop(engine);
        disk.lose_unsynced();
        let after = open(&config, disk.backend());
        assert_eq!(after.pending_actions().unwrap().len(), handed_out, "{name}");
    }
}

/// A backend that panics, once.
#[derive(Debug)]
struct Panicking(deskfleet_tests::disk::DiskBackend, Arc<AtomicBool>);

impl Panicking {
    fn panic_once(&self) {
        assert!(
            !self.1.swap(false, Ordering::SeqCst),
            "the backend panics, as the test wants it"
        );
    }
}

impl StorageBackend for Panicking {
    fn len(&self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> std::io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> std::io::Result<()> {
        self.panic_once();
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.panic_once();
        self.0.write(offset, data)
    }
}

#[test]
fn backend_that_panics_is_a_disk_that_fails() {
    for (name, config) in profiles() {
        let (disk, panics) = (Disk::new(), Arc::new(AtomicBool::new(false)));
        let engine = begun(&config, Panicking(disk.backend(), Arc::clone(&panics)));
        for id in 0..5 {
            panics.store(true, Ordering::SeqCst);
            let refused = engine.handle(post(0, id));
            assert_eq!(refused.status(), 503, "{name}: {refused:?}");
            assert_eq!(engine.handle(post(1, id)).status(), 200, "{name}");
        }
        assert_eq!(ids(&engine, 1), [0, 1, 2, 3, 4]);
        assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
    }
}
