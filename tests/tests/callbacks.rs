//! Injected code and futures that misbehave: observers that panic, write or close, clocks that panic, futures that are
//! never polled. No caller waits for ever.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use deskfleet::{CommitDriver, Config, Engine, Event, NewKey, Scope, StorageBackend, Workspace};
use deskfleet_tests::crash::recording::Recorder;
use deskfleet_tests::disk::Disk;
use deskfleet_tests::files::{Contents, FileOf, Part};
use deskfleet_tests::posting::{engine, ids, post};
use deskfleet_tests::transport::block_on;
use http::{Request, StatusCode};

/// Longer than anything here takes on a busy host.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `work` on its own thread; panics when it does not end.
fn ends<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|error| panic!("{what}: {error}"))
}

fn observed(driver: CommitDriver, observer: impl Fn(&Event<'_>) + Send + Sync + 'static) -> Engine {
    let mut config = Config::default();
    config.commit_driver = driver;
    Engine::builder()
        .clock(SystemTime::now)
        .seed(7)
        .config(config)
        .observer(observer)
        .open_in_memory()
        .unwrap()
}

#[test]
fn observer_panic_leaves_no_writer_waiting() {
    for driver in [CommitDriver::Caller, CommitDriver::Thread] {
        for round in 0..10 {
            let left = AtomicUsize::new(1);
            let engine = observed(driver, move |_| {
                let panics =
                    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
                assert!(panics.is_err(), "once, as the test wants it");
            });
            let work = move || {
                thread::scope(|scope| {
                    for instance in 0..4 {
                        let engine = &engine;
                        scope.spawn(move || {
                            for id in 0..25 {
                                let status = engine.handle(post(instance, id)).status();
                                assert_eq!(status, 200);
                            }
                        });
                    }
                });
            };
            ends(&format!("{driver:?}, round {round}"), work);
        }
    }
}

#[test]
fn writer_thread_after_a_panic_goes_on_and_reports_it() {
    let panics = Arc::new(AtomicBool::new(false));
    let message = Arc::new(Mutex::new(Vec::new()));
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Thread;
    let engine = Engine::builder()
        .clock(SystemTime::now)
        .free_space({
            let panics = Arc::clone(&panics);
            move || {
                assert!(!panics.load(Ordering::SeqCst), "as the test wants it");
                None
            }
        })
        .observer({
            let message = Arc::clone(&message);
            move |event: &Event<'_>| {
                if let Event::WriterThreadRestarted { panic } = event {
                    message.lock().unwrap().push((*panic).to_owned());
                }
            }
        })
        .seed(7)
        .config(config)
        .open_in_memory()
        .unwrap();
    let statuses = ends("writes around a panic", move || {
        let mut statuses = Vec::new();
        for panic in [false, true, true, false] {
            panics.store(panic, Ordering::SeqCst);
            statuses.push(engine.handle(post(0, statuses.len())).status().as_u16());
        }
        assert_eq!(ids(&engine, 0), [0, 3]);
        statuses
    });
    assert_eq!((statuses[0], statuses[3]), (200, 200));
    assert!(statuses[1] >= 500 && statuses[2] >= 500, "{statuses:?}");
    let message = message.lock().unwrap();
    assert_eq!(message.len(), 2);
    assert!(message[0].contains("as the test wants it"), "{message:?}");
}

/// `let f = engine.call(..)`, then a write that blocks, then `f.await`.
#[test]
fn blocking_write_beside_an_unpolled_future_completes() {
    for driver in [CommitDriver::Caller, CommitDriver::Thread] {
        ends("a write beside an unpolled future", move || {
            let engine = engine(driver, Disk::new().backend());
            let unpolled = engine.call(post(0, 0));
            thread::scope(|scope| {
                for instance in 1..5 {
                    let engine = &engine;
                    scope.spawn(move || {
                        for id in 0..50 {
                            assert_eq!(engine.handle(post(instance, id)).status(), 200);
                            drop(engine.call(post(instance, 100 + id)));
                        }
                    });
                }
            });
            assert_eq!(block_on(unpolled).status(), 200);
        });
    }
}

/// Two tasks: the first polled a future once and waits for the second, whose future shares the commit.
#[test]
fn future_abandoned_after_a_poll_delays_no_other() {
    for driver in [CommitDriver::Caller, CommitDriver::Thread] {
        ends("a future beside one that is left alone", move || {
            let engine = engine(driver, Disk::new().backend());
            for id in 0..200 {
                let mut left_alone = Box::pin(engine.call(post(0, id)));
                let mut context = Context::from_waker(Waker::noop());
                let _ = left_alone.as_mut().poll(&mut context);
                assert_eq!(block_on(engine.call(post(1, id))).status(), 200);
                drop(left_alone);
            }
        });
    }
}

#[test]
fn observer_may_write_and_read() {
    for driver in [
        CommitDriver::Caller,
        CommitDriver::Thread,
        CommitDriver::Host,
    ] {
        ends("an observer that writes", move || {
            let shared: Arc<Mutex<Option<Engine>>> = Arc::default();
            let once = AtomicBool::new(true);
            let (done, finished) = mpsc::channel();
            let done = Mutex::new(done);
            let engine = observed(driver, {
                let shared = Arc::clone(&shared);
                move |_| {
                    let engine = shared.lock().unwrap().clone();
                    if let Some(engine) = engine
                        && once.swap(false, Ordering::SeqCst)
                    {
                        let status = engine.handle(post(1, 1)).status().as_u16();
                        let seen = (status, ids(&engine, 1));
                        done.lock().unwrap().send(seen).unwrap();
                    }
                }
            });
            *shared.lock().unwrap() = Some(engine.clone());
            assert_eq!(engine.handle(post(0, 0)).status(), 200);
            assert_eq!(finished.recv_timeout(PATIENCE), Ok((200, vec![1])));
            *shared.lock().unwrap() = None;
        });
    }
}

#[test]
fn observer_may_close_the_engine_or_drop_the_last_clone() {
    for driver in [CommitDriver::Caller, CommitDriver::Thread] {
        for closes in [true, false] {
            ends("an observer that closes", move || {
                let shared: Arc<Mutex<Option<Engine>>> = Arc::default();
                let (done, finished) = mpsc::channel();
                let done = Mutex::new(done);
                let engine = observed(driver, {
                    let shared = Arc::clone(&shared);
                    move |_| {
                        let Some(engine) = shared.lock().unwrap().take() else {
                            return;
                        };
                        if closes {
                            engine.close().unwrap();
                        }
                        drop(engine);
                        done.lock().unwrap().send(()).unwrap();
                    }
                });
                *shared.lock().unwrap() = Some(engine.clone());
                let future = engine.call(post(0, 0));
                drop(engine);
                assert_eq!(block_on(future).status(), 200);
                finished
                    .recv_timeout(PATIENCE)
                    .expect("the observer returns");
            });
        }
    }
}

/// A disk whose syncs wait while the lock is held.
#[derive(Debug)]
struct Stuck(FileOf<Disk>, Arc<Mutex<()>>);

impl StorageBackend for Stuck {
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
        drop(self.1.lock().unwrap());
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.0.write(offset, data)
    }
}

/// `call` does not wait for the running commit, however long the disk takes.
#[test]
fn call_returns_while_the_engines_thread_waits_for_the_disk() {
    let sync = Arc::new(Mutex::new(()));
    let engine = engine(
        CommitDriver::Thread,
        Stuck(Disk::new().backend(), Arc::clone(&sync)),
    );
    let key = engine.issue_key(NewKey::new("admin", [Scope::Admin]));
    let key = key.unwrap().secret;
    let held = sync.lock().unwrap();
    let waiting = engine.call(post(0, 0));
    // The thread has taken it and waits for the disk.
    thread::sleep(Duration::from_millis(50));
    let calls = {
        let engine = engine.clone();
        move || {
            let mut calls = vec![engine.call(post(0, 1))];
            for (method, target) in [
                ("GET", "/api/Stats/queue/count"),
                ("GET", "/api/Information/GetAllWorkSpaces"),
                ("GET", "/api/Information/Get24HourActivity"),
                ("GET", "/api/Information/GetUserInformation?username=jdoe"),
                ("GET", "/operator/keys"),
                ("GET", "/operator/actions"),
                ("GET", "/operator/telemetry/stats?instanceId=i-0"),
                ("POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-1"),
                ("DELETE", "/operator/keys/99"),
            ] {
                let request = Request::builder().method(method).uri(target);
                let request = request.header("x-api-key", &key).body(Bytes::new());
                calls.push(engine.call(request.unwrap()));
            }
            calls
        }
    };
    let calls = ends("calls beside a commit", calls);
    drop(held);
    assert_eq!(block_on(waiting).status(), 200);
    for call in calls {
        assert!(block_on(call).status() < StatusCode::INTERNAL_SERVER_ERROR);
    }
    engine.close().unwrap();
}

/// An engine with two threads that commit, whose observers call `observed` at the same time, once each: the one has applied a write,
/// which waited for the sync of a filing, and the other has appended a record meanwhile.
fn both_observers(
    observed: impl Fn(&Engine, usize) + Send + Sync + 'static,
) -> (deskfleet::Result<()>, StatusCode) {
    ends("two observers", move || {
        let of_observer: Arc<OnceLock<Engine>> = Arc::default();
        let seen = Mutex::new(Vec::new());
        let has_begun = Arc::new(AtomicBool::new(false));
        let begun = Arc::clone(&has_begun);
        let (both, shared) = (Barrier::new(2), Arc::clone(&of_observer));
        let mut config = Config::default();
        config.commit_driver = CommitDriver::Thread;
        let disk = Recorder::holding(Contents::default());
        let opened = Engine::builder()
            .clock(SystemTime::now)
            .seed(7)
            .config(config)
            .observer(move |event: &Event<'_>| {
                let this = thread::current();
                if !matches!(event, Event::Committed { .. })
                    || this.name() != Some("deskfleet-commit")
                {
                    return;
                }
                let Some(engine) = shared.get() else {
                    return begun.store(true, Ordering::SeqCst);
                };
                let mut known = seen.lock().unwrap();
                if known.contains(&this.id()) {
                    return;
                }
                let place = known.len();
                known.push(this.id());
                drop(known);
                both.wait();
                observed(engine, place);
            })
            .open_backend_with_queue(disk.backend(), disk.folder())
            .unwrap();
        assert_eq!(opened.handle(post(1, 0)).status(), StatusCode::OK);
        while !has_begun.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        of_observer.set(opened.clone()).unwrap();
        let (written, outcomes) = mpsc::channel();
        disk.before_sync(Part::Store, 0, {
            let (engine, disk) = (opened.clone(), disk.clone());
            move || {
                let syncs = disk.syncs(Part::Queue);
                let putting = engine.clone();
                let put = thread::spawn(move || {
                    let workspace = Workspace {
                        id: "ws-1".into(),
                        ..Workspace::default()
                    };
                    putting.put_workspace(workspace)
                });
                while disk.syncs(Part::Queue) == syncs {
                    thread::yield_now();
                }
                let posted = engine.handle(post(1, 1)).status();
                written.send((put, posted)).unwrap();
            }
        });
        // Where an observer closes the engine, there may be nothing to file any more.
        let _ = opened.file_pending();
        let (put, posted) = outcomes.recv().unwrap();
        let put = put.join().unwrap();
        opened.close().unwrap();
        (put, posted)
    })
}

#[test]
fn observers_on_both_threads_may_write() {
    let (put, posted) = both_observers(|engine, place| {
        if place == 0 {
            engine
                .put_workspace(Workspace {
                    id: "ws-2".into(),
                    ..Workspace::default()
                })
                .unwrap();
        } else {
            assert_eq!(engine.handle(post(1, 2)).status(), StatusCode::OK);
        }
    });
    put.unwrap();
    assert_eq!(posted, StatusCode::OK);
}

#[test]
fn observers_on_both_threads_may_close_the_engine() {
    let (put, posted) = both_observers(|engine, _| engine.close().unwrap());
    put.unwrap();
    assert_eq!(posted, StatusCode::OK);
}
