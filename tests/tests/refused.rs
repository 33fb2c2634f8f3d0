//! Writes on a failing disk: a refused write never appears, now or after any crash; an indeterminate one appears as a
//! whole or not at all; and the outbox returns nothing that a crash could undo.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deskfleet::{ActionRequest, Engine, ErrorKind, ManualClock};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use deskfleet_tests::crash::facts::Facts;
use deskfleet_tests::crash::image::{Fate, Platter};
use deskfleet_tests::crash::judge::judge;
use deskfleet_tests::crash::recording::Recorder;
use deskfleet_tests::crash::workload::Scene;
use deskfleet_tests::crash::{Setup, setups};
use deskfleet_tests::disk::{Disk, Fault, Operation};
use deskfleet_tests::files::{Contents, FileId, Files, Part, Queue};
use deskfleet_tests::posting::{ids, post};

fn open(setup: &Setup, disk: &impl Files) -> Engine {
    let builder = Engine::builder().clock(ManualClock::new(NOW.parse().unwrap()));
    setup
        .queue
        .open(builder.seed(7), &setup.config, disk)
        .unwrap()
}

fn act(engine: &Engine) -> deskfleet::Result<()> {
    engine.act(ActionRequest::reboot("ws-0")).map(drop)
}

fn put(engine: &Engine, id: &str) -> deskfleet::Result<()> {
    engine.put_workspace(desk(id, "AVAILABLE", "jdoe"))
}

fn record(engine: &Engine, id: i32) -> deskfleet::Result<()> {
    engine.record(stats("ws-0", "jdoe", id, NOW))
}

/// An engine with a workspace.
fn begun(setup: &Setup, disk: &impl Files) -> Engine {
    let engine = open(setup, disk);
    put(&engine, "ws-0").unwrap();
    engine
}

/// A write on a disk that fails.
struct Case {
    setup: Setup,
    about: &'static str,
    write: fn(&Engine) -> deskfleet::Result<()>,
    /// The part that it is written to, and that fails.
    part: Part,
    /// Whether telemetry was posted before.
    posted: bool,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let both = Queue::ALL.into_iter().flat_map(setups);
        both.flat_map(|setup| {
            let of_queue = match setup.queue {
                Queue::Table => Part::Store,
                Queue::Folder => Part::Queue,
            };
            let case = |about, write, part, posted| Self {
                setup: setup.clone(),
                about,
                write,
                part,
                posted,
            };
            [
                case("an action", act, Part::Store, false),
                case(
                    "the first record",
                    |engine| record(engine, 1),
                    of_queue,
                    false,
                ),
                case("another record", |engine| record(engine, 1), of_queue, true),
            ]
        })
    }

    fn begun(&self, disk: &impl Files) -> Engine {
        let engine = begun(&self.setup, disk);
        if self.posted {
            record(&engine, 0).unwrap();
        }
        engine
    }

    fn next(engine: &Engine) -> [Facts; 2] {
        put(engine, "ws-1").unwrap();
        let put = Facts::read(engine).unwrap();
        record(engine, 2).unwrap();
        [put, Facts::read(engine).unwrap()]
    }
}

/// The possible contents: whether the write was accepted, and how many of the next ones were made.
struct Expected([[Facts; 3]; 2]);

impl Expected {
    fn new(case: &Case) -> Self {
        let facts = |accepted: bool| {
            let engine = case.begun(&Recorder::default());
            if accepted {
                (case.write)(&engine).unwrap();
            }
            let before = Facts::read(&engine).unwrap();
            let [first, second] = Case::next(&engine);
            [before, first, second]
        };
        Self([facts(false), facts(true)])
    }

    /// Judges an image, in which the write may be there or not, as `accepted` says, and the next ones as well.
    fn judge(&self, image: &Contents, accepted: &[bool], case: &Case, what: &str) {
        let between = |[before, after]: [&Facts; 2]| {
            let scene = Scene {
                step: what.to_owned(),
                start: 0,
                end: 0,
                now: NOW.parse().unwrap(),
                before: before.clone(),
                after: after.clone(),
                others: Vec::new(),
                whole: true,
                taken: (0, 0),
            };
            judge(image.clone(), &scene, &case.setup)
        };
        let wrong = |accepted: &bool| {
            let [none, first, second] = &self.0[usize::from(*accepted)];
            let judged = between([none, first]).or_else(|_| between([first, second]));
            judged.err()
        };
        let wrongs: Option<Vec<_>> = accepted.iter().map(wrong).collect();
        if let Some(wrongs) = wrongs {
            panic!("{what}: {}", wrongs.join("\n"));
        }
    }
}

/// The possible states of the write after that response.
fn possible(result: &deskfleet::Result<()>) -> &'static [bool] {
    match result.as_ref().map_err(deskfleet::EngineError::kind) {
        Ok(()) => &[true],
        Err(ErrorKind::StorageUnavailable) => &[false],
        Err(ErrorKind::Indeterminate) => &[false, true],
        Err(other) => panic!("{other:?}"),
    }
}

/// One failure; returns the possible states of the write, or `None` when the disk did not fail.
fn fails(
    case: &Case,
    expected: &Expected,
    (operation, n, lasts): (Operation, u64, bool),
) -> Option<&'static [bool]> {
    let (name, about) = (&case.setup.name, case.about);
    let what = format!("{name}, {about}, {operation:?} {n}, lasts: {lasts}");
    let disk = Recorder::default();
    let engine = case.begun(&disk);
    disk.fail_part(case.part, operation, n, lasts);
    let result = (case.write)(&engine);
    let accepted = possible(&result);
    let answered = disk.len();
    if disk.repair() == 0 {
        assert!(result.is_ok(), "{what}");
        return None;
    }
    let seen = Facts::read(&engine).unwrap();
    let right = |accepted: &&bool| seen == expected.0[usize::from(**accepted)][0];
    assert!(
        accepted.iter().any(|accepted| right(&accepted)),
        "{what}: {seen:?}"
    );
    Case::next(&engine);
    let log = disk.log();
    let stored = [Fate::Lost, Fate::Kept, Fate::Mixed(n), Fate::Torn(n)];
    let end = log.len();
    for cut in [answered, answered + 2, usize::midpoint(answered, end), end] {
        for of_failed_syncs in stored {
            let mut platter = Platter::default();
            platter.take_all(&log[..cut.min(end)], of_failed_syncs);
            for fate in [Fate::Lost, Fate::Kept, Fate::Mixed(n + 1)] {
                let what = format!("{what}, cut at {cut}: {of_failed_syncs}, {fate}");
                expected.judge(&platter.image(fate), accepted, case, &what);
            }
        }
    }
    Some(accepted)
}

#[test]
fn write_refused_for_good_never_appears_and_one_in_doubt_appears_whole() {
    for case in Case::all() {
        let expected = Expected::new(&case);
        let (mut refused, mut doubtful) = (0, 0);
        for operation in [
            Operation::Write,
            Operation::Sync,
            Operation::SetLen,
            Operation::Create,
            Operation::Open,
        ] {
            for lasts in [false, true] {
                let each = |n| fails(&case, &expected, (operation, n, lasts));
                for accepted in (0..).map_while(each) {
                    refused += usize::from(accepted == [false]);
                    doubtful += usize::from(accepted.len() == 2);
                }
            }
        }
        let what = format!("{}, {}", case.setup.name, case.about);
        assert!(
            refused + doubtful > 1 && doubtful > 0,
            "{what}: {refused} {doubtful}"
        );
        assert!(
            refused > 0 || case.part == Part::Queue,
            "{what}: {refused} {doubtful}"
        );
    }
}

/// A page that cannot be written leaves no doubt: the pointer to it was not written either.
#[test]
fn write_on_a_full_disk_is_refused_for_good() {
    for setup in Queue::ALL.into_iter().flat_map(setups) {
        let name = &setup.name;
        for left in 0..40 {
            let disk = Disk::crashing();
            let engine = begun(&setup, &disk);
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
    for setup in Queue::ALL.into_iter().flat_map(setups) {
        let name = &setup.name;
        let disk = Disk::crashing();
        let engine = begun(&setup, &disk);
        let syncs = disk.syncs();
        // The last sync of a commit is the one that leaves doubt.
        let last = u64::from(!name.starts_with("one-phase"));
        disk.fail(Fault::From(Operation::Sync, last));
        assert_eq!(act(&engine).unwrap_err().kind(), ErrorKind::Indeterminate);
        assert_eq!(disk.syncs() - syncs, last, "{name}");
        let asked = engine.pending_actions().map_err(|error| error.kind());
        assert_eq!(asked, Err(ErrorKind::StorageUnavailable), "{name}");
        disk.fail(Fault::None);
        let handed_out = engine.pending_actions().unwrap().len();
        drop(engine);
        disk.lose_unsynced();
        let after = open(&setup, &disk);
        assert_eq!(after.pending_actions().unwrap().len(), handed_out, "{name}");
    }
}

/// A disk whose next operation on this part panics, if it is to.
#[derive(Debug, Clone)]
struct Panicking(Disk, Part, Arc<AtomicBool>);

impl Panicking {
    fn panic_once(&self, part: Part) {
        assert!(
            part != self.1 || !self.2.swap(false, Ordering::SeqCst),
            "the disk panics, as the test wants it"
        );
    }
}

impl Files for Panicking {
    fn len(&self, file: FileId) -> std::io::Result<u64> {
        Files::len(&self.0, file)
    }

    fn read(&self, file: FileId, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        self.0.read(file, offset, out)
    }

    fn set_len(&self, file: FileId, len: u64) -> std::io::Result<()> {
        self.0.set_len(file, len)
    }

    fn sync(&self, file: FileId) -> std::io::Result<()> {
        self.panic_once(file.part());
        self.0.sync(file)
    }

    fn write(&self, file: FileId, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.panic_once(file.part());
        self.0.write(file, offset, data)
    }

    fn create(&self) -> std::io::Result<()> {
        self.0.create()
    }

    fn list(&self) -> std::io::Result<Option<Vec<u32>>> {
        self.0.list()
    }

    fn open_segment(&self, number: u32) -> std::io::Result<FileId> {
        self.panic_once(Part::Queue);
        self.0.open_segment(number)
    }

    fn remove(&self, number: u32) -> std::io::Result<()> {
        self.0.remove(number)
    }

    fn remove_folder(&self) -> std::io::Result<()> {
        self.0.remove_folder()
    }
}

#[test]
fn backend_that_panics_is_a_disk_that_fails() {
    for setup in Queue::ALL.into_iter().flat_map(setups) {
        let name = &setup.name;
        let part = match setup.queue {
            Queue::Table => Part::Store,
            Queue::Folder => Part::Queue,
        };
        let (disk, panics) = (Disk::new(), Arc::new(AtomicBool::new(false)));
        let engine = begun(&setup, &Panicking(disk, part, Arc::clone(&panics)));
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
