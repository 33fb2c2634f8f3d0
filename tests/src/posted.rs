//! Records in any order, some of them posted more than once, some filed and some pending: for suites that compare answers with a recomputation.

use deskfleet::{Engine, ManualClock, Nullable, Record, Timestamp};
use proptest::prelude::*;

use crate::conformance::case::NOW;

const DAY: i64 = 24 * 60 * 60;

/// The moment of the engine.
pub fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// An engine without records.
pub fn engine() -> Engine {
    let builder = Engine::builder().clock(ManualClock::new(now())).seed(5);
    builder.open_in_memory().unwrap()
}

/// A value of a record.
pub fn text(text: &str) -> Nullable<String> {
    Nullable::Value(text.to_owned())
}

/// A record, how often it is posted, and whether what is pending is filed after it.
#[derive(Debug, Clone)]
pub struct Sent<R> {
    record: R,
    times: usize,
    then_filed: bool,
}

/// Posts records in their order; returns those that are different, with a number that makes them so.
pub fn post<R: Clone + Into<Record>>(engine: &Engine, sent: &[Sent<R>]) -> Vec<R> {
    for sent in sent {
        for _ in 0..sent.times {
            engine.record(sent.record.clone()).unwrap();
        }
        if sent.then_filed {
            engine.file_pending().unwrap();
        }
    }
    sent.iter().map(|sent| sent.record.clone()).collect()
}

/// Up to 80 records of three days, in any order, each with a number of its own.
pub fn sent<R: Clone + std::fmt::Debug + 'static>(
    record: impl Strategy<Value = R> + 'static,
    number: fn(&mut R) -> &mut Option<i32>,
) -> impl Strategy<Value = Vec<Sent<R>>> {
    let one = (record, 1_usize..3, prop::bool::weighted(0.2));
    prop::collection::vec(one, 0..80).prop_map(move |all| {
        let numbered = all.into_iter().zip(0..);
        let sent = numbered.map(|((mut record, times, then_filed), id)| {
            *number(&mut record) = Some(id);
            Sent {
                record,
                times,
                then_filed,
            }
        });
        sent.collect()
    })
}

/// A moment of the last three days before now, which is not in a range that ends now.
pub fn ago() -> impl Strategy<Value = Timestamp> {
    (1..3 * DAY).prop_map(|seconds| now().plus_seconds(-seconds))
}
