//! Chunks of every stream: what is written is read again, and damage is refused.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::{
    ActivityRecord, Nullable, ProcessItem, ProcessReport, Received, Record, StartupRecord,
    StatsRecord,
};

use super::*;

/// The records as rows, as filing has them.
fn rows(records: &[Received]) -> (Rows, Vec<u32>) {
    let mut rows = Rows::default();
    for received in records {
        rows.add(received);
    }
    let order = (0..u32::try_from(records.len()).unwrap()).collect();
    (rows, order)
}

fn encode(records: &[Received]) -> Vec<u8> {
    let (rows, order) = rows(records);
    let mut out = Encoder::default();
    ChunkWriter::default().write(&mut out, &rows, &order);
    out.finish()
}

fn decode_all(chunk: &[u8]) -> Result<Vec<Received>> {
    let mut rows = Rows::default();
    decode_into(chunk, &mut rows)?;
    (0..rows.len()).map(|row| rows.received(row)).collect()
}

/// Records alike, down to the bits of their floats.
fn assert_same(left: &[Received], right: &[Received]) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(right) {
        let times = |received: &Received| (received.filed_at, received.received_at);
        assert_eq!(times(left), times(right));
        // The debug text of a float differs for -0 and 0, and is that of no other float.
        assert_eq!(format!("{:?}", left.record), format!("{:?}", right.record));
    }
}

fn stats(number: i32) -> Record {
    let step = i64::from(number);
    Record::Stats(Box::new(StatsRecord {
        id: Some(number),
        username: "jdoe".into(),
        update_time: Some(Timestamp::from_unix_seconds(1_790_000_000 + 300 * step)),
        physical_memory: Some(1 << 32),
        available_physical_memory: Some((step * step % 77) << 12),
        memory_in_use: Some((1 << 32) - ((step * step % 77) << 12)),
        root_total: Some(if number % 3 == 0 { i64::MAX } else { i64::MIN }),
        disk_reads: (number % 2 == 0).then_some(0.25),
        disk_writes: Some(-0.0),
        uptime: if number % 5 == 0 {
            Nullable::Null
        } else {
            Nullable::Value(0.1 + f64::from(number))
        },
        os_version: Nullable::Null,
        instance_id: "ws-1".into(),
        ..StatsRecord::default()
    }))
}

fn processes(number: i32) -> Record {
    let item = |name: &str| ProcessItem {
        process_name: Some(name.to_owned()),
        processor_usage: Some(f64::from(number) / 4.0),
        memory_usage: (number % 2 == 0).then_some(1e300),
        process_count: Some(i64::from(number)),
        ..ProcessItem::default()
    };
    Record::Processes(Box::new(ProcessReport {
        created_date: Some(Timestamp::from_unix_seconds(1_790_000_000)),
        processes: match number % 3 {
            0 => None,
            1 => Some(Vec::new()),
            _ => Some(vec![item("a.exe"), ProcessItem::default(), item("b.exe")]),
        },
        ..ProcessReport::default()
    }))
}

fn startup(number: i32) -> Record {
    Record::Startup(Box::new(StartupRecord {
        baseline_utc: Some(Timestamp::MAX),
        total_ms: Some(number),
        ..StartupRecord::default()
    }))
}

fn activity(number: i32) -> Record {
    Record::Activity(Box::new(ActivityRecord {
        activity: Nullable::Value(format!("Logon {}", number % 4)),
        activity_time: (number % 4 > 0).then_some(Timestamp::MIN),
        ..ActivityRecord::default()
    }))
}

fn received(records: impl Iterator<Item = Record>) -> Vec<Received> {
    let mut filed_at = Timestamp::from_unix_seconds(1_790_000_000);
    let mut received = Vec::new();
    for record in records {
        let late = i64::try_from(received.len() % 3).unwrap();
        received.push(Received {
            record,
            received_at: filed_at.plus_seconds(late),
            filed_at,
        });
        filed_at = filed_at.plus_seconds(300 + late);
    }
    received
}

fn samples() -> [Vec<Received>; 6] {
    [
        received((0..100).map(stats)),
        received((0..40).map(processes)),
        received((0..40).map(startup)),
        received((0..40).map(activity)),
        received((7..8).map(stats)),
        Vec::new(),
    ]
}

#[test]
fn chunk_of_every_stream_roundtrips() {
    for records in samples() {
        let (rows, order) = rows(&records);
        assert_eq!(fitting(&rows, &order), records.len());
        let chunk = encode(&records);
        assert_eq!(count(&chunk).unwrap(), records.len());
        assert_same(&decode_all(&chunk).unwrap(), &records);
    }
}

#[test]
fn names_and_times_are_read_without_the_rest() {
    for records in samples() {
        let chunk = encode(&records);
        let sent: Vec<_> = records.iter().map(|r| r.record.sent_time()).collect();
        assert_eq!(sent_times(&chunk).unwrap(), sent);
        let order: Vec<_> = records.iter().map(crate::model::history_order).collect();
        assert_eq!(orders(&chunk).unwrap(), order);
        let distinct = |name: fn(&Record) -> &str| -> BTreeSet<&str> {
            let names = records.iter().map(|r| name(&r.record));
            names.filter(|name| !name.is_empty()).collect()
        };
        let expected = [distinct(Record::instance_id), distinct(Record::username)];
        assert_eq!(names(&chunk).unwrap().map(BTreeSet::from_iter), expected);
    }
    let none = encode(&[]);
    assert_eq!(names(&none).unwrap(), [Vec::<&str>::new(), Vec::new()]);
}

#[test]
fn truncated_chunk_is_refused() {
    for records in samples() {
        let chunk = encode(&records);
        for length in 0..chunk.len() {
            assert!(decode_all(&chunk[..length]).is_err(), "{length}");
        }
        assert!(decode_all(&[chunk, vec![0]].concat()).is_err());
    }
}

#[test]
fn chunk_with_a_flipped_bit_is_refused_or_decodes() {
    for records in samples() {
        let chunk = encode(&records);
        for bit in 0..chunk.len() * 8 {
            let mut flipped = chunk.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(records) = decode_all(&flipped) {
                assert!(records.len() <= CHUNK_RECORDS_MAX);
            }
            let _ = (names(&flipped), sent_times(&flipped), orders(&flipped));
        }
    }
}

#[test]
fn chunk_with_excessive_counts_is_refused() {
    let mut out = Encoder::default();
    out.u8(VERSION);
    out.varint(1 << 40);
    out.u8(1);
    assert!(decode_all(&out.finish()).is_err());
    let many = (0..6).map(|_| {
        Record::Processes(Box::new(ProcessReport {
            processes: Some(vec![ProcessItem::default(); CHUNK_ITEMS_MAX / 4]),
            ..ProcessReport::default()
        }))
    });
    let many = received(many);
    let (rows, order) = rows(&many);
    assert_eq!(fitting(&rows, &order), 4);
    assert_same(&decode_all(&encode(&many[..4])).unwrap(), &many[..4]);
    assert!(decode_all(&encode(&many)).is_err());
}

#[test]
fn quiet_day_takes_less_than_a_byte_a_record() {
    let quiet = |number: i32| {
        let Record::Stats(mut record) = stats(number) else {
            unreachable!()
        };
        record.available_physical_memory = Some(1 << 31);
        record.memory_in_use = None;
        record.root_total = None;
        record.uptime = Nullable::Value(f64::from(number) * 300.0);
        record.disk_reads = Some(0.1);
        Record::Stats(record)
    };
    let mut records = received((0..288).map(quiet));
    for received in &mut records {
        received.filed_at = received.record.sent_time().unwrap();
        received.received_at = received.filed_at.plus_seconds(1);
    }
    let chunk = encode(&records);
    assert!(chunk.len() < 288, "{} bytes", chunk.len());
}

prop_compose! {
    /// Stats of hostile numbers, alike more often than not.
    fn any_stats()(
        id in prop_oneof![Just(None), any::<i32>().prop_map(Some), Just(Some(5))],
        integer in prop_oneof![Just(None), any::<i64>().prop_map(Some), (0..9_i64).prop_map(Some)],
        bits in prop_oneof![any::<u32>(), Just(0x8000_0000), Just(0), Just(0.1_f32.to_bits())],
        wide in prop_oneof![any::<u64>(), Just(1), Just(2.5_f64.to_bits())],
        text in prop_oneof![Just(Nullable::Absent), Just(Nullable::Null), ".{0,5}".prop_map(Nullable::Value)],
        time in any::<Option<i64>>(),
    ) -> Record {
        Record::Stats(Box::new(StatsRecord {
            id,
            username: text,
            physical_memory: integer,
            virtual_memory: integer.map(|integer| integer.wrapping_add(7)),
            memory_in_use: integer.map(|integer| 7_i64.wrapping_sub(integer)),
            disk_reads: Some(f32::from_bits(bits)),
            uptime: if bits == 0 { Nullable::Null } else { Nullable::Value(f64::from_bits(wide)) },
            update_time: time.map(Timestamp::from_ticks),
            ..StatsRecord::default()
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunk_of_arbitrary_records_roundtrips(
        records in vec((any_stats(), any::<i64>(), any::<i64>()), 0..40),
    ) {
        let received = |(record, received_at, filed_at)| Received {
            record,
            received_at: Timestamp::from_ticks(received_at),
            filed_at: Timestamp::from_ticks(filed_at),
        };
        let mut records: Vec<_> = records.into_iter().map(received).collect();
        records.sort_by_key(crate::model::history_order);
        assert_same(&decode_all(&encode(&records)).unwrap(), &records);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_decode(bytes in vec(any::<u8>(), 0..200)) {
        for stream in 1..=4 {
            let head = [VERSION, 9, stream];
            let chunk = [&head[..], &bytes].concat();
            let mut rows = Rows::default();
            if decode_into(&chunk, &mut rows).is_ok() {
                assert_eq!(decode_all(&chunk).map(|records| records.len()).ok(), Some(rows.len()));
            }
        }
    }
}
