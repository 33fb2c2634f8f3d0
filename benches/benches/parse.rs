//! Reading a Stats record of about 600 bytes: with the usual parsers, and with the engine, which also checks and
//! encodes it.
//!
//! Owned means a struct whose texts are allocated, borrowed one whose texts point into the body unless they contain
//! escapes. simd-json writes into the body; the copy for that is not counted.

#![expect(clippy::expect_used, reason = "a bench that cannot run must stop")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hint::black_box;

use bytes::Bytes;
use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main,
};
use deskfleet::Stream;
use deskfleet_benches::{StatsRow, open, stats_json};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// More than a branch predictor remembers.
const BODIES: u64 = 512;
/// After this many records the batch is replaced by a new one; the time of both is included.
const RECORDS_A_BATCH: usize = 1000;

/// A text that points into the body. `Option<Cow<str>>` never would: serde makes an owned text of any `Cow` inside an
/// `Option`.
#[derive(Debug)]
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// The fields of [`StatsRow`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "filled for the cost of filling them, and not read"
)]
struct StatsView<'a> {
    id: Option<i32>,
    #[serde(borrow)]
    compute_type_name: Option<Text<'a>>,
    #[serde(borrow)]
    updatetime: Option<Text<'a>>,
    #[serde(borrow)]
    username: Option<Text<'a>>,
    processor_count: Option<i32>,
    processor_in_use: Option<i32>,
    physical_memory: Option<i64>,
    available_physical_memory: Option<i64>,
    virtual_memory: Option<i64>,
    available_virtual_memory: Option<i64>,
    memory_in_use: Option<i64>,
    root_total: Option<i64>,
    root_available: Option<i64>,
    user_total: Option<i64>,
    user_available: Option<i64>,
    disk_reads: Option<f32>,
    disk_writes: Option<f32>,
    network_received: Option<f32>,
    network_sent: Option<f32>,
    uptime: Option<f64>,
    #[serde(borrow)]
    os_version: Option<Text<'a>>,
    #[serde(borrow)]
    tenant_id: Option<Text<'a>>,
    #[serde(borrow)]
    instance_id: Option<Text<'a>>,
}

impl StatsView<'_> {
    fn borrows(&self) -> bool {
        matches!(&self.username, Some(Text(Cow::Borrowed(_))))
    }
}

fn parse(criterion: &mut Criterion) {
    let bodies: Vec<_> = (0..BODIES).map(stats_json).collect();
    let first = bodies.first().expect("a body");
    let mut group = criterion.benchmark_group("parse");
    group.throughput(Throughput::Bytes(first.len() as u64));
    let mut next = bodies.iter().cycle();
    let mut next = || next.next().expect("a body");

    group.bench_function("copy", |bencher| {
        bencher.iter_with_large_drop(|| next().to_vec());
    });
    group.bench_function("serde_json_owned", |bencher| {
        bencher.iter(|| {
            black_box::<StatsRow>(serde_json::from_slice(next()).expect("a record"));
        });
    });
    group.bench_function("serde_json_borrowed", |bencher| {
        bencher.iter(|| {
            // One check of the whole instead of one for each text.
            let text = std::str::from_utf8(next()).expect("UTF-8");
            let view: StatsView<'_> = serde_json::from_str(text).expect("a record");
            black_box(&view);
        });
    });
    group.bench_function("sonic_rs_owned", |bencher| {
        bencher.iter(|| {
            black_box::<StatsRow>(sonic_rs::from_slice(next()).expect("a record"));
        });
    });
    group.bench_function("sonic_rs_borrowed", |bencher| {
        bencher.iter(|| {
            let view: StatsView<'_> = sonic_rs::from_slice(next()).expect("a record");
            black_box(&view);
        });
    });
    group.bench_function("simd_json_owned", |bencher| {
        bencher.iter_batched_ref(
            || next().to_vec(),
            |body| {
                black_box::<StatsRow>(simd_json::from_slice(body).expect("a record"));
            },
            BatchSize::SmallInput,
        );
    });
    group.bench_function("simd_json_borrowed", |bencher| {
        bencher.iter_batched_ref(
            || next().to_vec(),
            |body| {
                let view: StatsView<'_> = simd_json::from_slice(body).expect("a record");
                black_box(&view);
            },
            BatchSize::SmallInput,
        );
    });
    encode(&mut group, &bodies);
    group.finish();
    all_agree(first);
}

/// Parses, validates and writes into a block of the queue: all the work on a record before its commit.
fn encode(group: &mut BenchmarkGroup<'_, WallTime>, bodies: &[Bytes]) {
    let engine = open(None, |_| {}).engine;
    let canonical: Vec<Vec<u8>> = bodies.iter().map(|body| body.to_vec()).collect();
    let ordered = |name: fn(&str) -> String| {
        bodies
            .iter()
            .map(|body| by_alphabet(body, name))
            .collect::<Vec<_>>()
    };
    for (name, bodies) in [
        ("push_json", canonical),
        ("push_json_other_order", ordered(str::to_owned)),
        ("push_json_pascal_case", ordered(pascal_case)),
    ] {
        let mut next = bodies.iter().cycle();
        let mut batch = engine.batch();
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                if batch.len() == RECORDS_A_BATCH {
                    batch = engine.batch();
                }
                let body = next.next().expect("a body");
                batch.push_json(Stream::Stats, body).expect("a record");
            });
        });
    }
}

/// The same object with its members sorted by name; `name` maps each name.
fn by_alphabet(body: &[u8], name: fn(&str) -> String) -> Vec<u8> {
    let object: BTreeMap<&str, &RawValue> = serde_json::from_slice(body).expect("a record");
    let members = object
        .into_iter()
        .map(|(key, value)| format!("\"{}\":{value}", name(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(",")).into_bytes()
}

fn pascal_case(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_ascii_uppercase() + rest
}

/// All parsers read the same values, and the borrowing ones borrow.
fn all_agree(body: &Bytes) {
    let owned = StatsRow::parse(body);
    assert_eq!(
        sonic_rs::from_slice::<StatsRow>(body).ok(),
        Some(owned.clone())
    );
    let mut copy = body.to_vec();
    assert_eq!(
        simd_json::from_slice::<StatsRow>(&mut copy).ok(),
        Some(owned)
    );
    let view: StatsView<'_> = serde_json::from_slice(body).expect("a record");
    assert!(view.borrows(), "serde_json");
    let view: StatsView<'_> = sonic_rs::from_slice(body).expect("a record");
    assert!(view.borrows(), "sonic-rs");
    let mut copy = body.to_vec();
    let view: StatsView<'_> = simd_json::from_slice(&mut copy).expect("a record");
    assert!(view.borrows(), "simd-json");
}

criterion_group!(benches, parse);
criterion_main!(benches);
