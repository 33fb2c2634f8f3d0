//! `check` names what is broken as precisely as possible, and changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use deskfleet::{CheckReport, Config, Engine, ErrorKind, ManualClock, Timestamp};
use deskfleet_tests::conformance::fixtures::stats;
use deskfleet_tests::crash::image::Fate;
use deskfleet_tests::crash::workload::{Step, record, steps};
use deskfleet_tests::crash::{Setup, image_at, setups};
use deskfleet_tests::files::Queue;
use deskfleet_tests::model::op::START;
use redb::{Database, ReadableTable as _, TableDefinition};
use tempfile::TempDir;

/// A file with something in every table, as a crash leaves it.
fn crashed_store() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("fleet.redb");
    let steps: Vec<_> = steps()
        .into_iter()
        .take_while(|step| !matches!(step, Step::Compact))
        .collect();
    let setup = Setup {
        config: Config::default(),
        ..setups(Queue::Table).swap_remove(0)
    };
    let recording = record(&steps, &setup);
    let image = image_at(&recording, recording.log.len(), Fate::Kept);
    fs::write(&path, image.store).unwrap();
    (folder, path)
}

fn open(path: &Path, trust_file: bool) -> deskfleet::Result<Engine> {
    let mut config = Config::default();
    config.trust_file = trust_file;
    let now: Timestamp = START.parse().unwrap();
    let builder = Engine::builder().clock(ManualClock::new(now)).seed(3);
    builder.config(config).open(path)
}

/// Checks a file, which must stay the same to the byte.
fn checked(path: &Path) -> CheckReport {
    let before = fs::read(path).unwrap();
    let report = Engine::check_file(path).unwrap();
    assert!(fs::read(path).unwrap() == before, "a check writes nothing");
    report
}

#[test]
fn check_of_a_whole_file_finds_nothing_and_changes_nothing() {
    let (_folder, path) = crashed_store();
    let crashed = checked(&path);
    assert_eq!(crashed.problems, Vec::<String>::new());
    assert!(crashed.workspaces > 0 && crashed.queued_records > 0 && crashed.history_records > 0);
    assert!(crashed.audit_rows > 0 && crashed.keys > 0 && crashed.events > 0);
    open(&path, false).unwrap().close().unwrap();
    assert_eq!(checked(&path), crashed, "closed as crashed");
}

/// Overwrites the last value of a table with garbage under valid checksums, as a bug would.
fn spoil(path: &Path, table: &str) {
    let database = Database::open(path).unwrap();
    let write = database.begin_write().unwrap();
    {
        let definition = TableDefinition::<&[u8], &[u8]>::new(table);
        let mut table = write.open_table(definition).unwrap();
        let key = table.last().unwrap().unwrap().0.value().to_vec();
        table.insert(key.as_slice(), [0xff; 3].as_slice()).unwrap();
    }
    write.commit().unwrap();
}

#[test]
fn check_names_an_unreadable_value() {
    // In `meta` the last value is the position of sealing: any bytes are valid.
    for (table, named) in [
        ("workspaces", "workspace ws-3"),
        ("holds", "the hold on ws-0"),
        ("pending", "action "),
        ("audit", "audit row "),
        ("keys", "key "),
        ("queue", "block "),
        ("history", "history of "),
        ("users", "user "),
        ("recent", "recent activities "),
        ("events", "event "),
    ] {
        let (_folder, path) = crashed_store();
        spoil(&path, table);
        let report = checked(&path);
        let problems = report.problems.join("\n");
        assert!(problems.contains(named), "{table}: {problems}");
    }
}

#[test]
fn check_names_a_wrong_index() {
    for (table, named) in [
        ("workspaces_by_user", "WorkspacesByUser"),
        ("holds", "hold"),
        ("pending", "outbox"),
    ] {
        let (_folder, path) = crashed_store();
        let database = Database::open(&path).unwrap();
        let write = database.begin_write().unwrap();
        let definition = TableDefinition::<&[u8], &[u8]>::new(table);
        write.open_table(definition).unwrap().pop_last().unwrap();
        write.commit().unwrap();
        drop(database);
        let problems = checked(&path).problems.join("\n");
        assert!(problems.contains(named), "{table}: {problems}");
    }
}

/// Numbers that would be used twice.
#[test]
fn check_names_a_sequence_that_would_repeat() {
    let (_folder, path) = crashed_store();
    let database = Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    let meta = TableDefinition::<&[u8], &[u8]>::new("meta");
    let one = 1_u64.to_le_bytes();
    for sequence in ["next_audit", "next_event"] {
        write
            .open_table(meta)
            .unwrap()
            .insert(sequence.as_bytes(), one.as_slice())
            .unwrap();
    }
    write.commit().unwrap();
    drop(database);
    let problems = checked(&path).problems.join("\n");
    for sequence in ["Audit", "Event"] {
        let named = format!("{sequence} would give out 1 again");
        assert!(problems.contains(&named), "{problems}");
    }
}

/// Bits flipped in the pages of a closed file: refused on opening, opened if the host trusts the file, and checked in
/// either case.
#[test]
fn check_names_damaged_pages() {
    let (_folder, path) = crashed_store();
    open(&path, false).unwrap().close().unwrap();
    let whole = fs::read(&path).unwrap();
    let (mut refused, mut trusted, mut named) = (0, 0, 0);
    let taken = (4096..whole.len()).filter(|at| whole[*at] != 0);
    for byte in taken.step_by(199) {
        let mut damaged = whole.clone();
        damaged[byte] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let Ok(report) = Engine::check_file(&path) else {
            // The names of the tables are damaged: a check, which trusts the file, finds none of ours.
            let refused = open(&path, false).map_err(|error| error.kind());
            assert_eq!(refused.err(), Some(ErrorKind::Corrupted));
            continue;
        };
        let Err(error) = open(&path, false) else {
            continue;
        };
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
        assert!(
            fs::read(&path).unwrap() == damaged,
            "refused and left alone"
        );
        refused += 1;
        assert!(
            !report.problems.is_empty(),
            "byte {byte} is refused, but has no problem"
        );
        named += usize::from(report.problems.len() > 1);
        trusted += usize::from(open(&path, true).is_ok());
    }
    eprintln!("{refused} refused, {trusted} opened with trust, a row named in {named}");
    assert!(refused > 20 && trusted > 10 && named > 5);
}

/// The store and the segments beside it, as a crash leaves them.
fn crashed_with_segments(folder: &Path) -> (PathBuf, PathBuf) {
    let (running, path) = (folder.join("running.redb"), folder.join("fleet.redb"));
    let engine = open(&running, false).unwrap();
    for id in 0..6 {
        engine.record(stats("ws-1", "jdoe", id, START)).unwrap();
    }
    let queue = |path: &Path| PathBuf::from(format!("{}-queue", path.display()));
    fs::copy(&running, &path).unwrap();
    fs::create_dir(queue(&path)).unwrap();
    let segments: Vec<_> = fs::read_dir(queue(&running)).unwrap().collect();
    let begun = segments.into_iter().map(|segment| segment.unwrap().path());
    let mut begun = begun.filter(|path| fs::read(path).unwrap().starts_with(b"dfqueue"));
    let (first, none) = (begun.next().unwrap(), begun.next());
    assert_eq!(none, None, "one segment");
    let segment = queue(&path).join(first.file_name().unwrap());
    fs::copy(&first, &segment).unwrap();
    (path, segment)
}

/// Bits flipped in a segment: what is refused on opening, or not ready then, is named, what is not has nothing wrong, and no byte changes.
#[test]
fn check_names_a_damaged_segment() {
    let folder = TempDir::new().unwrap();
    let (path, segment) = crashed_with_segments(folder.path());
    let whole = fs::read(&segment).unwrap();
    assert_eq!(checked(&path).queued_records, 6);
    let (mut refused, mut lacking, mut harmless) = (0, 0, 0);
    let taken = (0..whole.len()).filter(|at| whole[*at] != 0);
    for byte in taken.step_by(17) {
        let mut damaged = whole.clone();
        damaged[byte] ^= 0x10;
        fs::write(&segment, &damaged).unwrap();
        let report = checked(&path);
        assert!(
            fs::read(&segment).unwrap() == damaged,
            "a check writes nothing"
        );
        let opened = open_to_read(&path);
        assert!(fs::read(&segment).unwrap() == damaged, "opened to read");
        let named = report
            .problems
            .iter()
            .any(|problem| problem.contains("segment 0"));
        let message = format!("byte {byte}: {:?}", report.problems);
        assert_eq!(report.problems.is_empty(), !named, "{message}");
        match opened.map(|engine| engine.unready()) {
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupted, "byte {byte}: {error}");
                assert!(named, "{message}");
                refused += 1;
            }
            Ok(conditions) if conditions.is_empty() => {
                assert!(!named, "{message}");
                harmless += 1;
            }
            Ok(conditions) => {
                let codes: Vec<_> = conditions
                    .iter()
                    .map(|condition| &*condition.code)
                    .collect();
                assert_eq!(codes, ["Corrupted"], "byte {byte}");
                assert!(named, "{message}");
                lacking += 1;
            }
        }
    }
    assert!(
        refused > 0 && lacking > 10 && harmless > 0,
        "{refused} refused, {lacking} with damaged blocks, {harmless} harmless"
    );
}

fn open_to_read(path: &Path) -> deskfleet::Result<Engine> {
    let now: Timestamp = START.parse().unwrap();
    let builder = Engine::builder().clock(ManualClock::new(now)).seed(3);
    builder.open_read_only(path)
}
