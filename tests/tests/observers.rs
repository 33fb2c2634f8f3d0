//! Observers that call the engine: whatever they call, on whatever event, beside whatever other threads do, nobody waits for ever.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use deskfleet::{
    Action, ActionRequest, ActivityRecord, Attempt, AuditAction, AuditQuery, CommitDriver, Config,
    Engine, Event, FailedState, HistoryQuery, ManualClock, NewKey, Record, ResponseBody, Scope,
    Stream, Upkeep, Workspace, WorkspaceList, WorkspacePatch, WorkspaceQuery,
    query::{ExportFormat, ExportQuery, HoldsQuery},
};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::posting::post;
use deskfleet_tests::transport::block_on;
use http::Request;
use tempfile::TempDir;

/// Longer than anything here takes on a busy host.
const PATIENCE: Duration = Duration::from_secs(300);
const MIB: u64 = 1024 * 1024;

/// An engine on a file, and what its host can do to it.
struct World {
    engine: OnceLock<Engine>,
    folder: TempDir,
    clock: ManualClock,
    free: AtomicU64,
    /// The probe of free space panics.
    panics: AtomicBool,
    /// The source of randomness fails.
    is_random: AtomicBool,
    /// Events that are still to call everything, and what they are.
    left: AtomicUsize,
    wanted: fn(&Event<'_>) -> bool,
    copies: AtomicUsize,
}

impl World {
    fn engine(&self) -> &Engine {
        self.engine.get().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("fleet.redb")
    }

    fn key(&self) -> NewKey {
        let name = format!("key {}", self.copies.fetch_add(1, Ordering::SeqCst));
        NewKey::new(name, [Scope::Admin])
    }

    /// Calls everything, whatever it returns: another thread may have closed the engine.
    fn call_everything(&self) {
        read_everything(self.engine());
        self.write_everything();
        upkeep(self);
    }

    fn write_everything(&self) {
        let engine = self.engine();
        let record = || ActivityRecord {
            instance_id: "i-9".into(),
            ..ActivityRecord::default()
        };
        let _ = engine.record(record());
        let _ = engine.record_async(record()).map(block_on);
        let _ = engine.record_all(&[record().into()]);
        let _ = engine.record_batch(engine.batch());
        let _ = block_on(engine.record_batch_async(engine.batch()));
        let desk = || Workspace {
            id: "ws-9".into(),
            username: Some("jdoe".into()),
            ..Workspace::default()
        };
        let _ = engine.put_workspace(desk());
        let _ = engine.override_workspace(desk());
        let _ = engine.put_workspaces(vec![desk()]);
        let _ = engine.import_workspaces([WorkspacePatch {
            id: "ws-8".into(),
            ..WorkspacePatch::default()
        }]);
        let mut import = engine.import();
        let _ = import.push(b"{\"workSpId\":\"ws-7\"}");
        let _ = import.finish();
        let _ = engine.place_hold("ws-9", "m", None);
        let _ = engine.release_hold("ws-9");
        let _ = engine.act(ActionRequest::reboot("ws-9"));
        let id = block_on(engine.act_async(ActionRequest::new(Action::Reboot, "ws-8")));
        let id = id.ok().flatten().unwrap_or(0);
        let _ = engine.dispatch_action(id, Attempt::new(1, "p"));
        let _ = engine.note_action(id, 1, "n");
        let _ = engine.complete_action(id);
        let _ = engine.fail_action(id, FailedState::Error, None);
        let _ = engine.remove_workspace("ws-9");
        let _ = engine.audit_access(AuditAction::BackUp, None, None, None);
        let issued = engine.issue_key(self.key()).map(|issued| issued.info.id);
        let _ = engine.issue_key_shown(self.key(), |_| Ok::<_, deskfleet::EngineError>(()));
        let _ = engine.revoke_key(issued.clone().unwrap_or(0));
        let _ = engine.force_revoke_key(issued.unwrap_or(0));
        let _ = engine.handle(post(9, 9));
        let _ = block_on(engine.call(post(9, 10)));
        let _ = block_on(engine.respond(post(9, 11)));
        let (head, body) = post(9, 12).into_parts();
        let mut exchange = engine.begin(head);
        exchange.push(&body);
        let _ = block_on(exchange.finish());
    }
}

fn read_everything(engine: &Engine) {
    for (question, query) in [
        ("fleet", ""),
        ("workspaces", ""),
        ("workspaces", "sort=-lastSeen"),
        ("holds", ""),
        ("top", "metric=cpu"),
        ("processes", ""),
        ("timeline", "workSpId=ws-9"),
        ("advice", ""),
        ("series", "metrics=cpu"),
        ("startup", ""),
        ("heatmap", ""),
    ] {
        let _ = engine.ask(question, query, b"");
    }
    let _ = engine.query_fleet();
    let _ = engine.query(&HoldsQuery::default());
    let stats = || ExportQuery {
        stream: Stream::Stats,
        from: None,
        to: None,
        instance_id: None,
    };
    let _ = engine.export(stats()).count();
    let _ = engine
        .export_body(stats(), ExportFormat::Csv)
        .map(ResponseBody::into_bytes);
    let history = || HistoryQuery::new(Stream::Stats, "i-0");
    let _ = engine.history(&history());
    let _ = engine.all_history(history()).count();
    let _ = engine.user("jdoe");
    let _ = engine.activity_24_hours();
    let _ = engine.workspace("ws-9");
    let _ = engine.workspaces(&WorkspaceQuery::default());
    let _ = engine.all_workspaces(WorkspaceList::All).count();
    let _ = engine.pending_actions();
    let _ = engine.actions(&deskfleet::ActionQuery::default());
    let _ = engine.unattended_actions();
    let _ = engine.admin_activity(10);
    let _ = engine.audit(&AuditQuery::default());
    let _ = engine.all_audit(AuditQuery::default()).count();
    let _ = (
        engine.keys(),
        engine.has_key(),
        engine.metrics(),
        engine.now(),
    );
    let _ = (
        engine.fleet_counts(),
        engine.store_status(),
        engine.queue_count(),
    );
    let _ = (
        engine.ready(),
        engine.is_ready(),
        engine.config().limits.events,
    );
    let _ = engine.events(Some(0)).next();
}

fn upkeep(world: &World) {
    let engine = world.engine();
    engine.commit_pending();
    let _ = engine.file_pending();
    let _ = engine.maintain();
    let _ = engine.maintain_while(|| true);
    let _ = engine.apply_retention();
    let _ = engine.check();
    let _ = engine.compact();
    let copy = world.copies.fetch_add(1, Ordering::SeqCst);
    let _ = engine.backup(world.folder.path().join(format!("copy-{copy}")));
    let _ = engine.backup_to(deskfleet::backends::MemoryBackend::new());
}

/// Runs `trigger` on two threads. The first two events that are `wanted` call everything, the second of them also closes the engine.
fn run(driver: CommitDriver, wanted: fn(&Event<'_>) -> bool, trigger: fn(&World, usize)) -> usize {
    let (done, result) = mpsc::channel();
    thread::spawn(move || {
        let world = Arc::new(World {
            engine: OnceLock::new(),
            folder: tempfile::tempdir().unwrap(),
            clock: ManualClock::new(NOW.parse().unwrap()),
            free: AtomicU64::new(64 * MIB),
            panics: AtomicBool::new(false),
            is_random: AtomicBool::new(true),
            left: AtomicUsize::new(0),
            wanted,
            copies: AtomicUsize::new(0),
        });
        let mut config = Config::default();
        config.commit_driver = driver;
        let [observed, probed, asked] = [(); 3].map(|()| Arc::clone(&world));
        let builder = Engine::builder()
            .clock(world.clock.clone())
            .config(config)
            .upkeep(Upkeep::Host);
        let builder = builder
            .random(move |bytes| {
                bytes.fill(u8::try_from(bytes.len()).unwrap_or(7));
                asked
                    .is_random
                    .load(Ordering::SeqCst)
                    .then_some(())
                    .ok_or(())
            })
            .free_space(move || {
                assert!(
                    !probed.panics.swap(false, Ordering::SeqCst),
                    "as the test wants it"
                );
                Some(probed.free.load(Ordering::SeqCst))
            })
            .observer(move |event: &Event<'_>| observe(&observed, event));
        world
            .engine
            .set(builder.open(world.file()).unwrap())
            .unwrap();
        // More than one step of filing.
        let records = (0..600).map(|id| {
            let instance_id = format!("i-{}", id % 50).as_str().into();
            Record::from(ActivityRecord {
                id: Some(id),
                instance_id,
                ..ActivityRecord::default()
            })
        });
        world
            .engine()
            .record_all(&records.collect::<Vec<_>>())
            .unwrap();
        world.left.store(2, Ordering::SeqCst);
        thread::scope(|scope| {
            for number in 0..2 {
                let world = &world;
                scope.spawn(move || trigger(world, number));
            }
        });
        let _ = world.engine().close();
        done.send(2 - world.left.load(Ordering::SeqCst))
    });
    result
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|error| panic!("{driver:?}: {error}"))
}

fn observe(world: &World, event: &Event<'_>) {
    let left = &world.left;
    let take = |left: usize| left.checked_sub(1);
    if !(world.wanted)(event) || world.engine.get().is_none() {
        return;
    }
    if let Ok(before) = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
        world.call_everything();
        if before == 1 {
            let _ = world.engine().close();
        }
    }
}

/// Runs with both drivers; the event happens at least once.
fn run_all(wanted: fn(&Event<'_>) -> bool, trigger: fn(&World, usize)) {
    for driver in [CommitDriver::Caller, CommitDriver::Thread] {
        assert!(
            run(driver, wanted, trigger) > 0,
            "{driver:?}: it never happened"
        );
    }
}

#[test]
fn observer_of_commits_may_call_everything_while_questions_file() {
    run_all(
        |event| matches!(event, Event::Committed { .. }),
        |world, _| drop(world.engine().query_fleet()),
    );
}

#[test]
fn observer_of_commits_may_call_everything_while_sorted_rows_file() {
    run_all(
        |event| matches!(event, Event::Committed { .. }),
        |world, _| drop(world.engine().ask("workspaces", "sort=-lastSeen", b"")),
    );
}

#[test]
fn observer_of_filing_may_call_everything() {
    run_all(
        |event| matches!(event, Event::Filed { .. }),
        |world, _| drop(world.engine().file_pending()),
    );
}

#[test]
fn observer_of_posts_may_call_everything() {
    run_all(
        |event| matches!(event, Event::Committed { .. }),
        |world, _| drop(world.engine().handle(post(0, 1))),
    );
}

#[test]
fn observer_of_failed_commits_may_call_everything() {
    run_all(
        |event| matches!(event, Event::CommitFailed { .. }),
        |world, _| {
            world.free.store(0, Ordering::SeqCst);
            drop(world.engine().handle(post(0, 1)));
            drop(world.engine().query_fleet());
        },
    );
}

/// Asks for the keys, or issues one, with little space and no randomness.
fn ask_for_keys(world: &World, method: &str) {
    let Ok(issued) = world.engine().issue_key(world.key()) else {
        return;
    };
    world.free.store(5 * MIB, Ordering::SeqCst);
    world.is_random.store(false, Ordering::SeqCst);
    let request = Request::builder().method(method).uri("/operator/keys");
    let request = request
        .header("x-api-key", issued.secret)
        .header("content-type", "application/json");
    let body = Bytes::from_static(b"{\"name\":\"n\",\"scopes\":[\"read\"]}");
    drop(world.engine().handle(request.body(body).unwrap()));
}

#[test]
fn observer_of_the_rest_may_call_everything() {
    run_all(
        |event| matches!(event, Event::Unaudited { .. }),
        |world, _| ask_for_keys(world, "GET"),
    );
    run_all(
        |event| matches!(event, Event::Internal { .. }),
        |world, _| ask_for_keys(world, "POST"),
    );
    run_all(
        |event| matches!(event, Event::RetentionBehind { .. }),
        |world, number| {
            // Only one moves the clock, so that one of the looks is an hour after the one before.
            if number == 0 {
                world.clock.advance_seconds(10 * 86_400);
                drop(world.engine().maintain());
                world.clock.advance_seconds(3600);
            }
            drop(world.engine().maintain());
        },
    );
    run_all(
        |event| matches!(event, Event::FileDisplaced { .. } | Event::FileReturned),
        |world, number| {
            let away = world.folder.path().join("away");
            if number == 0 {
                fs::rename(world.file(), &away).unwrap();
            }
            drop(world.engine().maintain());
            if number == 0 {
                fs::rename(&away, world.file()).unwrap();
            }
            drop(world.engine().maintain());
        },
    );
    let restarted = |event: &Event<'_>| matches!(event, Event::WriterThreadRestarted { .. });
    let trigger = |world: &World, _| {
        world.panics.store(true, Ordering::SeqCst);
        drop(world.engine().handle(post(0, 1)));
    };
    assert!(run(CommitDriver::Thread, restarted, trigger) > 0);
}
