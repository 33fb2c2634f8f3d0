//! Posting to an engine and reading back its records: for the suites about commits.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{
    CommitDriver, Config, Engine, EngineBuilder, HistoryQuery, ManualClock, Received, Record,
    StorageBackend, Stream, Upkeep,
};
use http::Request;

use crate::conformance::case::NOW;
use crate::files::{Files, Queue};

fn prepared(driver: CommitDriver) -> (EngineBuilder, Config) {
    let clock = ManualClock::new(NOW.parse().unwrap());
    let mut config = Config::default();
    config.commit_driver = driver;
    (
        Engine::builder().clock(clock).seed(7).upkeep(Upkeep::Host),
        config,
    )
}

/// An engine with this commit driver, on this backend.
pub fn engine(driver: CommitDriver, backend: impl StorageBackend) -> Engine {
    let (builder, config) = prepared(driver);
    builder.config(config).open_backend(backend).unwrap()
}

/// An engine with this commit driver and its queue here, on this disk.
pub fn engine_on(driver: CommitDriver, queue: Queue, disk: &impl Files) -> Engine {
    let (builder, config) = prepared(driver);
    queue.open(builder, &config, disk).unwrap()
}

/// A request that posts statistics of an instance with a unique number.
pub fn post(instance: usize, id: usize) -> Request<Bytes> {
    let body =
        format!(r#"{{"id":{id},"updatetime":"2026-11-20T11:00:00Z","instanceId":"i-{instance}"}}"#);
    let request = Request::post("/api/Stats/Post").header("content-type", "application/json");
    request.body(body.into()).unwrap()
}

/// The ids of an instance's records.
pub fn ids(engine: &Engine, instance: usize) -> Vec<usize> {
    let page = engine
        .history(&HistoryQuery {
            limit: 500,
            ..HistoryQuery::new(Stream::Stats, format!("i-{instance}"))
        })
        .unwrap();
    assert_eq!(page.next_token, None);
    let id = |received: &Received| match &received.record {
        Record::Stats(record) => usize::try_from(record.id.unwrap()).unwrap(),
        other @ (Record::Activity(_) | Record::Startup(_) | Record::Processes(_)) => {
            panic!("{other:?} among statistics")
        }
    };
    let mut ids: Vec<_> = page.records.iter().map(id).collect();
    ids.sort_unstable();
    ids
}

/// Sends all under [`CommitDriver::Host`], commits once, and checks that all have the same status, which it returns.
pub fn batch_status(engine: &Engine, requests: &[Request<Bytes>]) -> u16 {
    let mut context = Context::from_waker(Waker::noop());
    let mut futures: Vec<_> = requests
        .iter()
        .map(|request| Box::pin(engine.call(request.clone())))
        .collect();
    let pending = futures
        .iter_mut()
        .all(|future| future.as_mut().poll(&mut context).is_pending());
    assert!(pending, "nothing is durable before the host commits");
    engine.commit_pending();
    let statuses: Vec<_> = futures
        .iter_mut()
        .map(|future| match future.as_mut().poll(&mut context) {
            Poll::Ready(response) => response.status().as_u16(),
            Poll::Pending => panic!("the commit is over, but not answered"),
        })
        .collect();
    let status = statuses.first().copied().expect("a batch of at least one");
    let one = statuses.iter().all(|other| *other == status);
    assert!(
        one && matches!(status, 200 | 503),
        "a batch is one: {statuses:?}"
    );
    status
}
