//! Responses in chunks: the same bytes as in one piece, each record once whatever happens between two chunks, and
//! chunks of bounded size.

use std::collections::BTreeMap;

use bytes::Bytes;
use deskfleet::{
    ActivityRecord, Engine, ManualClock, NewKey, Record, ResponseBody, Scope, Workspace,
};
use deskfleet_tests::transport::block_on;
use http::Request;
use serde_json::Value;

/// The maximum of a chunk: 64 KiB, and the item that exceeds it.
const CHUNK_MAX: usize = 64 * 1024 + 4096;
const DAY: &str = "/api/Information/Get24HourActivity";

struct Stage {
    engine: Engine,
    clock: ManualClock,
    key: String,
}

fn stage() -> Stage {
    let clock = ManualClock::new("2026-11-20T12:00:00Z".parse().unwrap());
    let engine = Engine::builder()
        .clock(clock.clone())
        .seed(1)
        .open_in_memory()
        .unwrap();
    let key = engine
        .issue_key(NewKey::new("admin", [Scope::Admin]))
        .unwrap();
    Stage {
        engine,
        clock,
        key: key.secret,
    }
}

impl Stage {
    fn request(&self, target: &str) -> Request<Bytes> {
        let request = Request::get(target).header("x-api-key", &self.key);
        request.body(Bytes::new()).unwrap()
    }

    fn body(&self, target: &str) -> ResponseBody {
        let response = block_on(self.engine.respond(self.request(target)));
        assert_eq!(response.status(), 200);
        response.into_body()
    }

    fn whole(&self, target: &str) -> Bytes {
        self.engine.handle(self.request(target)).into_body()
    }

    fn file_all(&self) {
        while self.engine.file_pending().unwrap() > 0 {}
    }
}

/// Reads a body to its end; calls `between` after each chunk.
fn read(mut body: ResponseBody, mut between: impl FnMut()) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(chunk) = body.next_chunk().unwrap() {
        assert!(
            !chunk.is_empty() && chunk.len() <= CHUNK_MAX,
            "{}",
            chunk.len()
        );
        whole.extend_from_slice(&chunk);
        between();
    }
    assert_eq!(body.next_chunk().unwrap(), None);
    whole
}

fn activity(id: i32, instance: u32, time: Option<&str>) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        id: Some(id),
        username: format!("user{instance}").as_str().into(),
        activity: "Logon".into(),
        activity_time: time.map(|time| time.parse().unwrap()),
        instance_id: format!("ws-{instance:06}").as_str().into(),
        ..ActivityRecord::default()
    }))
}

/// The number of times that each id appears; checks the order.
fn ids(body: &[u8]) -> BTreeMap<i64, usize> {
    let items: Vec<Value> = serde_json::from_slice(body).unwrap();
    let mut ids = BTreeMap::new();
    let mut last = String::from("9999");
    for item in items {
        let time = item["activityTime"].as_str().unwrap().to_owned();
        assert!(time <= last, "{time} after {last}");
        last = time;
        *ids.entry(item["id"].as_i64().unwrap()).or_default() += 1;
    }
    ids
}

fn once_each(ids: &BTreeMap<i64, usize>, count: i64) {
    assert_eq!(ids.len(), usize::try_from(count).unwrap());
    assert!(ids.values().all(|times| *times == 1));
}

/// A pseudo-random time within the day, derived from `id`.
fn scattered(id: i32) -> String {
    let second = id.wrapping_mul(48_271).rem_euclid(43_000);
    let (hour, rest) = (second / 3600, second % 3600);
    format!("2026-11-20T{hour:02}:{:02}:{:02}Z", rest / 60, rest % 60)
}

/// Records of many instances over a day, half of them filed.
fn scattered_day(stage: &Stage, count: i32) {
    for part in 0..2 {
        let ids = (0..count).filter(|id| id % 2 == part);
        let records: Vec<_> = ids
            .map(|id| activity(id, id.unsigned_abs() % 700, Some(&scattered(id))))
            .collect();
        stage.engine.record_all(&records).unwrap();
        if part == 0 {
            stage.file_all();
        }
    }
}

#[test]
fn response_in_chunks_equals_the_whole_response() {
    let stage = stage();
    scattered_day(&stage, 20_000);
    let whole = stage.whole(DAY);
    let mut chunks = 0;
    let body = stage.body(DAY);
    assert_eq!(body.len(), None, "the length is unknown");
    let read = read(body, || chunks += 1);
    assert!(read == whole, "the same bytes");
    assert!(chunks >= whole.len() / CHUNK_MAX && chunks > 20, "{chunks}");
    once_each(&ids(&whole), 20_000);
}

#[test]
fn audit_in_chunks_equals_the_whole_response() {
    let stage = stage();
    let workspace = Workspace {
        id: "ws-1".into(),
        ..Workspace::default()
    };
    stage.engine.put_workspace(workspace).unwrap();
    let hold = || stage.engine.place_hold("ws-1", "Doe v. Roe", None).unwrap();
    for _ in 0..1000 {
        hold();
    }
    let target = "/api/Information/GetAdminActivity?numberOfActivities=10000";
    let mut chunks = 0;
    let first = stage.whole(target);
    // Records added meanwhile are newer than the first chunk and do not appear.
    let read = read(stage.body(target), || {
        chunks += 1;
        hold();
    });
    assert!(read == first && chunks > 2, "{chunks}");
}

#[test]
fn records_of_one_time_appear_once_each() {
    let stage = stage();
    let time = Some("2026-11-20T11:00:00Z");
    let records: Vec<_> = (0..20_000)
        .map(|id| activity(id, id.unsigned_abs() % 20_000, time))
        .collect();
    stage.engine.record_all(&records).unwrap();
    for _ in 0..2 {
        once_each(&ids(&read(stage.body(DAY), || ())), 20_000);
        stage.file_all();
    }
}

#[test]
fn equal_records_without_a_time_all_appear() {
    let stage = stage();
    let records = vec![activity(7, 1, None); 15_000];
    stage.engine.record_all(&records).unwrap();
    for _ in 0..2 {
        assert_eq!(ids(&read(stage.body(DAY), || ()))[&7], 15_000);
        stage.file_all();
    }
}

#[test]
fn retries_in_the_queue_do_not_appear_again() {
    let stage = stage();
    let records: Vec<_> = (0..20_000)
        .map(|id| activity(id, id.unsigned_abs() % 3, Some(&scattered(id))))
        .collect();
    for round in 0..3 {
        stage.engine.record_all(&records).unwrap();
        once_each(&ids(&read(stage.body(DAY), || ())), 20_000);
        stage.clock.advance_seconds(60);
        if round == 0 {
            stage.file_all();
        }
    }
}

#[test]
fn records_appear_once_while_filed_retried_and_sealed() {
    let stage = stage();
    scattered_day(&stage, 20_000);
    let mut round = 0;
    let read = read(stage.body(DAY), || {
        round += 1;
        match round % 3 {
            0 => {
                stage.engine.file_pending().unwrap();
            }
            1 => {
                let id = round * 97;
                let retry = activity(id, id.unsigned_abs() % 700, Some(&scattered(id)));
                stage.engine.record(retry).unwrap();
            }
            _ => {
                stage.clock.advance_seconds(1800);
                stage.engine.maintain().unwrap();
            }
        }
    });
    once_each(&ids(&read), 20_000);
}

#[test]
fn concurrent_readers_get_the_same_bytes() {
    let stage = stage();
    scattered_day(&stage, 20_000);
    let whole = stage.whole(DAY);
    let mut bodies: Vec<_> = (0..4).map(|_| (stage.body(DAY), Vec::new())).collect();
    // At different speeds, so that some use windows that others have left.
    let mut left = bodies.len();
    while left > 0 {
        left = 0;
        for (speed, (body, read)) in bodies.iter_mut().enumerate() {
            for _ in 0..=speed * 3 {
                if let Some(chunk) = body.next_chunk().unwrap() {
                    read.extend_from_slice(&chunk);
                    left += 1;
                }
            }
        }
    }
    for (_, read) in bodies {
        assert!(read == whole);
    }
}

#[test]
fn record_acknowledged_before_a_read_is_in_its_response() {
    let stage = stage();
    scattered_day(&stage, 20_000);
    let mut first = stage.body(DAY);
    first.next_chunk().unwrap();
    // The first reader has a window that lacks this one.
    stage
        .engine
        .record(activity(-1, 1, Some("2026-11-20T00:00:01Z")))
        .unwrap();
    stage
        .engine
        .record(activity(-2, 1, Some("2026-11-20T11:56:00Z")))
        .unwrap();
    let second = ids(&read(stage.body(DAY), || {
        first.next_chunk().unwrap();
    }));
    assert_eq!((second[&-1], second[&-2]), (1, 1));
    once_each(&second, 20_002);
}

#[test]
fn body_whose_read_fails_ends_with_an_error() {
    let stage = stage();
    scattered_day(&stage, 5000);
    let mut body = stage.body(DAY);
    assert!(body.next_chunk().unwrap().is_some());
    stage.engine.close().unwrap();
    assert!(body.next_chunk().is_err());
    assert_eq!(body.next_chunk().unwrap(), None);
    let whole = stage.engine.handle(stage.request(DAY));
    assert_eq!(
        whole.status(),
        503,
        "a response that has not begun is a refusal"
    );
}

#[test]
fn head_of_a_response_in_chunks_has_no_length() {
    let stage = stage();
    scattered_day(&stage, 5000);
    for (count, length) in [(3, true), (5000, false)] {
        let target = match count {
            3 => "/api/Information/GetAdminActivity",
            _ => DAY,
        };
        let mut request = stage.request(target);
        *request.method_mut() = http::Method::HEAD;
        let response = stage.engine.handle(request);
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers().contains_key("content-length"), length);
        assert_eq!(
            response.headers()["content-type"],
            "application/json; charset=utf-8"
        );
        assert!(response.body().is_empty());
    }
}
