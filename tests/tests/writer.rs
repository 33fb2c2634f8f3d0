//! Group commit: many callers, three drivers, refused mutations beside successful ones.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use bytes::Bytes;
use deskfleet::{CommitDriver, Config, Engine, ManualClock, ResponseFuture};
use deskfleet_tests::conformance::case::NOW;
use deskfleet_tests::conformance::fixtures::{desk, stats};
use deskfleet_tests::disk::Disk;
use deskfleet_tests::posting::{engine, ids, post};
use deskfleet_tests::transport::block_on;
use http::{Request, Response};

const THREADS: usize = 8;
const POSTS: usize = 25;

fn action(id: &str) -> deskfleet::ActionRequest {
    deskfleet::ActionRequest {
        action: deskfleet::Action::Reboot,
        workspace_id: Some(id.to_owned()),
        sam_account: None,
        requester: None,
        compute_type: None,
    }
}

/// Every thread posts; every acknowledged record must be stored, once.
fn many_callers(
    driver: CommitDriver,
    send: impl Fn(&Engine, Request<Bytes>) -> Response<Bytes> + Sync,
) {
    let engine = engine(driver, Disk::new().backend());
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for instance in 0..THREADS {
            let (engine, start, send) = (engine.clone(), &start, &send);
            scope.spawn(move || {
                start.wait();
                for id in 0..POSTS {
                    assert_eq!(send(&engine, post(instance, id)).status(), 200);
                    assert!(
                        ids(&engine, instance).contains(&id),
                        "an answered record is read back"
                    );
                }
            });
        }
    });
    for instance in 0..THREADS {
        assert_eq!(ids(&engine, instance), (0..POSTS).collect::<Vec<_>>());
    }
    assert_eq!(engine.queue_count(), (THREADS * POSTS) as u64);
}

#[test]
fn concurrent_posts_through_handle_are_all_stored() {
    many_callers(CommitDriver::Caller, |engine, request| {
        engine.handle(request)
    });
}

#[test]
fn concurrent_posts_through_handle_with_a_writer_thread_are_all_stored() {
    many_callers(CommitDriver::Thread, |engine, request| {
        engine.handle(request)
    });
}

#[test]
fn concurrent_posts_through_call_are_all_stored() {
    many_callers(CommitDriver::Caller, |engine, request| {
        block_on(engine.call(request))
    });
}

#[test]
fn concurrent_posts_through_call_with_a_writer_thread_are_all_stored() {
    many_callers(CommitDriver::Thread, |engine, request| {
        block_on(engine.call(request))
    });
}

/// A waker that records whether it was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The host's loop: futures are pending until it commits, then one commit wakes all of them.
#[test]
fn host_commit_covers_all_pending_writes() {
    let disk = Disk::new();
    let engine = engine(CommitDriver::Host, disk.backend());
    let mut futures: Vec<_> = (0..20)
        .map(|id| Box::pin(engine.call(post(0, id))))
        .collect();
    let woken: Vec<_> = futures.iter().map(|_| Arc::new(Woken::default())).collect();
    for (future, woken) in futures.iter_mut().zip(&woken) {
        let waker = Waker::from(Arc::clone(woken));
        assert!(
            future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending(),
            "nothing is durable yet"
        );
    }
    let syncs = disk.syncs();
    assert_eq!(engine.commit_pending(), 20);
    let one_commit = disk.syncs() - syncs;
    for (future, woken) in futures.iter_mut().zip(&woken) {
        assert!(
            woken.0.load(Ordering::SeqCst),
            "the commit wakes the pending futures"
        );
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(response) => assert_eq!(response.status(), 200),
            Poll::Pending => panic!("committed, but not answered"),
        }
    }
    assert_eq!(engine.commit_pending(), 0, "nothing is pending");
    assert_eq!(
        disk.syncs() - syncs,
        one_commit,
        "nothing to commit, nothing to sync"
    );
    let lone = Box::pin(engine.call(post(0, 20)));
    let mut lone = lone;
    assert!(
        lone.as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending()
    );
    let before = disk.syncs();
    assert_eq!(engine.commit_pending(), 1);
    assert_eq!(
        disk.syncs() - before,
        one_commit,
        "one record costs the syncs that twenty cost"
    );
    assert_eq!(ids(&engine, 0).len(), 21);
}

/// Reads do not wait for the host.
#[test]
fn reads_under_the_host_driver_are_ready_at_once() {
    let engine = engine(CommitDriver::Host, Disk::new().backend());
    let mut test =
        Box::pin(engine.call(Request::get("/api/Stats/Test").body(Bytes::new()).unwrap()));
    match test.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => assert_eq!(response.status(), 200),
        Poll::Pending => panic!("a read waits for a commit"),
    }
}

/// A dropped future does not affect the others, and its write is made or not: never in part.
#[test]
fn dropped_future_leaves_the_other_writes() {
    let engine = engine(CommitDriver::Host, Disk::new().backend());
    let mut dropped = Box::pin(engine.call(post(0, 0)));
    let mut kept = Box::pin(engine.call(post(1, 0)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    assert!(kept.as_mut().poll(&mut context).is_pending());
    drop(dropped);
    engine.commit_pending();
    match kept.as_mut().poll(&mut context) {
        Poll::Ready(response) => assert_eq!(response.status(), 200),
        Poll::Pending => panic!("committed, but not answered"),
    }
    assert_eq!(ids(&engine, 1), [0]);
    assert!(ids(&engine, 0).len() <= 1);
}

/// Ten records for six places: the first six are stored, the others are refused at once.
#[test]
fn full_queue_refuses_records_and_commits_the_rest_of_the_batch() {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let mut config = Config::default();
    config.commit_driver = CommitDriver::Host;
    config.limits.queue_records = 6;
    let engine = Engine::builder()
        .clock(clock)
        .seed(7)
        .config(config)
        .open_backend(Disk::new().backend())
        .unwrap();
    let mut futures: Vec<_> = (0..10)
        .map(|id| Box::pin(engine.call(post(0, id))))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut status =
        |future: &mut Pin<Box<ResponseFuture>>| match future.as_mut().poll(&mut context) {
            Poll::Ready(response) => Some(response.status().as_u16()),
            Poll::Pending => None,
        };
    let (held, refused) = futures.split_at_mut(6);
    assert!(held.iter_mut().all(|future| status(future).is_none()));
    assert!(refused.iter_mut().all(|future| status(future) == Some(503)));
    engine.commit_pending();
    assert!(held.iter_mut().all(|future| status(future) == Some(200)));
    assert_eq!(ids(&engine, 0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn concurrent_actions_get_their_own_outcomes() {
    let engine = engine(CommitDriver::Caller, Disk::new().backend());
    for id in ["ws-0", "ws-1"] {
        engine.put_workspace(desk(id, "AVAILABLE", id)).unwrap();
    }
    let start = Barrier::new(THREADS);
    let accepted: Vec<bool> = thread::scope(|scope| {
        let spawn = |number: usize| {
            let (engine, start) = (engine.clone(), &start);
            scope.spawn(move || {
                start.wait();
                engine
                    .record(stats("i-0", "jdoe", i32::try_from(number).unwrap(), NOW))
                    .unwrap();
                engine.act(action(&format!("ws-{}", number % 4))).is_ok()
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(
        accepted.iter().filter(|accepted| **accepted).count(),
        2,
        "one reboot for each workspace there is"
    );
    assert_eq!(ids(&engine, 0).len(), THREADS);
    assert_eq!(engine.pending_actions().unwrap().len(), 2);
}
