//! The format on disk: files of old versions open; those of a newer one are refused and unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::{
    AuditResult, Engine, EngineBuilder, ErrorKind, HistoryQuery, ManualClock, SeriesQuery, Stream,
    WorkspaceRowsQuery,
};
use redb::{Database, ReadableDatabase as _, TableDefinition};

const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");

/// The current format.
const FORMAT: u32 = 4;

/// A writable copy of the fixture of a format.
fn copied(format: u32, folder: &Path) -> PathBuf {
    let path = folder.join("fleet.redb");
    let fixture = format!("fixtures/format-{format}.redb");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    fs::copy(&fixture, &path).unwrap();
    let queue = |path: &Path| PathBuf::from(format!("{}-queue", path.display()));
    if queue(&fixture).exists() {
        fs::create_dir(queue(&path)).unwrap();
        let segment = "000000.segment";
        let copy = queue(&path).join(segment);
        fs::copy(queue(&fixture).join(segment), &copy).unwrap();
        // The fixture leaves out the zeros at its end.
        let file = fs::File::options().write(true).open(copy).unwrap();
        file.set_len(4 * 1024 * 1024).unwrap();
    }
    path
}

/// An engine a few minutes after the fixtures were written.
fn builder() -> EngineBuilder {
    let clock = ManualClock::new("2026-11-20T08:12:00Z".parse().unwrap());
    Engine::builder().clock(clock).seed(2)
}

fn stored_format(path: &Path) -> u32 {
    let database = Database::open(path).unwrap();
    let meta = database.begin_read().unwrap().open_table(META).unwrap();
    let format = meta.get(&b"format"[..]).unwrap().unwrap();
    u32::from_le_bytes(format.value().try_into().unwrap())
}

#[test]
fn file_of_format_1_keeps_its_data_and_becomes_the_current_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(1, folder.path());
    assert_eq!(stored_format(&path), 1);
    let engine = builder().open(&path).unwrap();
    check_contents(&engine, (3, 1, 4, 8), 0);
    engine.close().unwrap();
    assert_eq!(stored_format(&path), FORMAT);
    check_contents(&builder().open(&path).unwrap(), (3, 1, 4, 8), 0);
}

#[test]
fn file_of_format_2_3_or_4_keeps_its_data_and_has_the_current_format() {
    for (format, workspaces, later) in [(2, 7, 1), (3, 7, 5), (4, 8, 9)] {
        let folder = tempfile::tempdir().unwrap();
        let path = copied(format, folder.path());
        if format == 2 {
            assert_eq!(stored_format(&path), format);
        }
        let engine = builder().open(&path).unwrap();
        check_names(&engine, workspaces, later);
        engine.close().unwrap();
        assert_eq!(stored_format(&path), FORMAT);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        check_names(&builder().open(&path).unwrap(), workspaces, later);
    }
}

#[test]
fn questions_about_an_older_file_say_that_its_rollups_are_being_built() {
    for format in [1, 2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let engine = builder().open(copied(format, folder.path())).unwrap();
        let is_said = || {
            let warnings = engine.query_series(&SeriesQuery::default()).unwrap();
            let warnings = warnings.points.warnings;
            warnings.iter().any(|said| said.contains("being built"))
        };
        assert!(is_said(), "{format}");
        engine.maintain().unwrap();
        assert!(!is_said(), "{format}");
    }
}

/// The content of the fixtures from format 2 on, whose queue is in the file or beside it.
fn check_names(engine: &Engine, workspaces: u64, later: u32) {
    check_contents(engine, (workspaces, 1, 1, 18), later);
    let refused = engine.admin_activity(1).unwrap().remove(0);
    assert_eq!(
        refused.detail.as_deref(),
        Some("WorkSpaceNotFound (2 times)")
    );
    let user = engine.user("CORP\\zoe\u{308}").unwrap().unwrap();
    assert_eq!(user.workspaces[0].id, "ws-12");
    assert_eq!(user.last_seen.unwrap().to_string(), "2026-11-20T08:11:00Z");
}

/// The content of every fixture; `later` rows of the audit come after it.
fn check_contents(engine: &Engine, counts: (u64, u64, u64, u64), later: u32) {
    let report = engine.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(
        (
            report.workspaces,
            report.keys,
            report.queued_records,
            report.history_records
        ),
        counts
    );

    for (id, state) in [
        ("ws-1", "AVAILABLE"),
        ("ws-2", "UPDATING"),
        ("ws-3", "AVAILABLE"),
    ] {
        let workspace = engine.workspace(id).unwrap().unwrap().workspace;
        assert_eq!(workspace.state.as_deref(), Some(state), "{id}");
    }
    let running = engine
        .workspace("ws-2")
        .unwrap()
        .unwrap()
        .transition
        .unwrap();
    assert_eq!(running.compute_type.as_deref(), Some("POWER"));
    assert_eq!(running.due_at.unwrap().to_string(), "2026-11-20T08:22:00Z");
    let hold = engine
        .workspace("ws-3")
        .unwrap()
        .unwrap()
        .litigation_hold
        .unwrap();
    assert_eq!(
        (hold.matter.as_str(), hold.reason.as_deref()),
        ("Doe v. Corp", Some("discovery"))
    );

    let keys = engine.keys();
    assert_eq!(keys[0].name, "service-desk");
    assert!(keys[0].revoked.is_some());
    let results: Vec<_> = engine
        .admin_activity(20)
        .unwrap()
        .into_iter()
        .skip(usize::try_from(later).unwrap())
        .map(|row| row.result)
        .collect();
    let (running, ended) = results.split_first().unwrap();
    assert_eq!(*running, AuditResult::Accepted);
    assert!(ended.len() >= 4, "{ended:?}");
    assert!(ended.iter().all(|result| *result == AuditResult::Completed));

    for stream in Stream::ALL {
        let page = engine
            .history(&HistoryQuery {
                limit: 10,
                ..HistoryQuery::new(stream, "ws-1")
            })
            .unwrap();
        assert_eq!(page.records.len(), 3, "{stream:?}");
    }
    let user = engine.user("user1").unwrap().unwrap();
    assert_eq!(user.last_seen.unwrap().to_string(), "2026-11-20T08:04:00Z");
    assert!(user.last_stats.is_some() && user.last_startup.is_some());
}

#[test]
fn old_file_after_opening_and_filing_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(1, folder.path());
    let engine = builder().open(&path).unwrap();
    engine.maintain().unwrap();
    engine.close().unwrap();
    let engine = builder().open(&path).unwrap();
    let report = engine.check().unwrap();
    assert_eq!(
        (
            report.problems.len(),
            report.queued_records,
            report.history_records
        ),
        (0, 0, 12)
    );
}

#[test]
fn old_file_after_upkeep_has_rollups_of_its_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(1, folder.path());
    let engine = builder().open(&path).unwrap();
    let query = WorkspaceRowsQuery {
        window: Some(Duration::from_secs(3600)),
        ..WorkspaceRowsQuery::default()
    };
    let rows = engine.query_workspaces(&query).unwrap();
    assert_eq!(rows.rows[0].last_seen, None);
    assert!(rows.warnings[0].contains("still being built"), "{rows:?}");
    engine.maintain().unwrap();
    let rows = engine.query_workspaces(&query).unwrap();
    assert_eq!(
        rows.warnings,
        ["The answer is of whole days (UTC), from 2026-11-20T00:00:00Z to 2026-11-21T00:00:00Z."]
    );
    let seen = rows.rows[0].last_seen.unwrap();
    assert_eq!(seen.to_string(), "2026-11-20T08:04:00Z");
    assert_eq!(engine.check().unwrap().problems, Vec::<String>::new());
}

#[test]
fn newer_format_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(1, folder.path());
    set_format(&path, FORMAT + 1);
    let before = fs::read(&path).unwrap();
    let error = builder().open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NewerFormat);
    let said = error.to_string();
    assert!(
        said.contains("fleet.redb") && said.contains("format 5"),
        "{said}"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn newer_format_not_closed_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = copied(1, folder.path());
    set_format(&path, FORMAT + 1);
    // A copy of an open database is what a crash leaves.
    let database = Database::create(&path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(META)
        .unwrap()
        .insert(&b"crash"[..], &b"1"[..])
        .unwrap();
    transaction.commit().unwrap();
    let crashed = folder.path().join("crashed.redb");
    fs::copy(&path, &crashed).unwrap();
    drop(database);
    let before = fs::read(&crashed).unwrap();
    assert_eq!(
        builder().open(&crashed).unwrap_err().kind(),
        ErrorKind::NewerFormat
    );
    assert_eq!(fs::read(&crashed).unwrap(), before);
}

fn set_format(path: &Path, format: u32) {
    let database = Database::create(path).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut meta = transaction.open_table(META).unwrap();
        meta.insert(&b"format"[..], &format.to_le_bytes()[..])
            .unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn format_document_names_the_current_version() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/docs/format.md");
    let text = fs::read_to_string(document).unwrap();
    assert!(
        text.contains(&format!("# Format {FORMAT}\n")),
        "core/docs/format.md describes another version"
    );
}
