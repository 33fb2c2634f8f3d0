//! The format on disk: files of its formats open; those of older and of newer ones are refused and unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskfleet::{
    AuditResult, Engine, EngineBuilder, ErrorKind, HistoryQuery, ManualClock, Stream,
    query::WorkspaceRowsQuery,
};
use redb::{Database, ReadableDatabase as _, TableDefinition};

const META: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("meta");

/// The current format.
const FORMAT: u32 = 7;
/// The oldest format that is read.
const OLDEST_FORMAT: u32 = 5;

/// Audit rows of the fixture after those of the running action.
const AUDIT_ROWS_LATER: usize = 9;

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
fn file_of_each_format_keeps_its_data_and_becomes_the_current_format() {
    for format in OLDEST_FORMAT..=FORMAT {
        let folder = tempfile::tempdir().unwrap();
        let path = copied(format, folder.path());
        assert_eq!(stored_format(&path), format);
        let engine = builder().open(&path).unwrap();
        check_contents(&engine);
        engine.close().unwrap();
        assert_eq!(stored_format(&path), FORMAT);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let engine = builder().open(&path).unwrap();
        check_contents(&engine);
        engine.maintain().unwrap();
        check_filed(&engine);
    }
}

/// What `write_fixture` writes.
fn check_contents(engine: &Engine) {
    let report = engine.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.workspaces, report.keys), (8, 1));
    assert_eq!((report.queued_records, report.history_records), (1, 18));
    let refused = engine.admin_activity(1).unwrap().remove(0);
    assert_eq!(
        refused.detail.as_deref(),
        Some("WorkSpaceNotFound (2 times)")
    );
    let user = engine.user("CORP\\zoe\u{308}").unwrap().unwrap();
    assert_eq!(user.workspaces[0].id, "ws-12");
    assert_eq!(user.last_seen.unwrap().to_string(), "2026-11-20T08:11:00Z");

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
        .skip(AUDIT_ROWS_LATER)
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

/// The same once the queue is filed.
fn check_filed(engine: &Engine) {
    let report = engine.check().unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.queued_records, report.history_records), (0, 19));
    let query = WorkspaceRowsQuery {
        window: Some(Duration::from_secs(3600)),
        ..WorkspaceRowsQuery::default()
    };
    let rows = engine.query(&query).unwrap();
    let seen = rows.rows[0].last_seen.unwrap();
    assert_eq!(seen.to_string(), "2026-11-20T08:04:00Z");
}

#[test]
fn older_or_newer_format_is_refused_and_unchanged() {
    for (format, kind, advice) in [
        (
            OLDEST_FORMAT - 1,
            ErrorKind::ForeignFile,
            "export it with the build that wrote it",
        ),
        (FORMAT + 1, ErrorKind::NewerFormat, "use a newer deskfleet"),
    ] {
        for crashes in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = copied(FORMAT, folder.path());
            set_format(&path, format);
            if crashes {
                leave_unclosed(&path);
            }
            let before = fs::read(&path).unwrap();
            let error = builder().open(&path).unwrap_err();
            assert_eq!(error.kind(), kind);
            let message = error.to_string();
            for part in ["fleet.redb", &format!("format {format}"), advice] {
                assert!(message.contains(part), "{message}");
            }
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }
}

/// Makes the file one that was not closed: a copy of an open database is what a crash leaves.
fn leave_unclosed(path: &Path) {
    let database = Database::create(path).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction
        .open_table(META)
        .unwrap()
        .insert(&b"crash"[..], &b"1"[..])
        .unwrap();
    transaction.commit().unwrap();
    let crashed = fs::read(path).unwrap();
    drop(database);
    fs::write(path, crashed).unwrap();
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
