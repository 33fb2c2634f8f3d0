//! Blocks of every stream: what is written is read again, and damage is refused.

use crate::error::Result;
use crate::model::{
    ActivityRecord, Nullable, ProcessItem, ProcessReport, Received, Record, RecordRef,
    StartupRecord, StatsRecord,
};
use crate::store::telemetry::rows::Rows;
use crate::timestamp::Timestamp;

use super::*;

const NOW: i64 = 1_790_000_000;

fn received_record(record: Record, seconds: i64, filed_at: Option<Timestamp>) -> Received {
    let received_at = Timestamp::from_unix_seconds(NOW).plus_seconds(seconds);
    Received {
        record,
        received_at,
        filed_at: filed_at.unwrap_or(received_at),
    }
}

fn stats(change: impl FnOnce(&mut StatsRecord)) -> Record {
    let mut stats = StatsRecord {
        id: Some(i32::MIN),
        username: "jdoe".into(),
        update_time: Some(Timestamp::from_unix_seconds(NOW - 5)),
        physical_memory: Some(i64::MAX),
        disk_reads: Some(0.1),
        uptime: 1.5e300.into(),
        os_version: Nullable::Null,
        ..StatsRecord::default()
    };
    change(&mut stats);
    Record::Stats(Box::new(stats))
}

fn samples() -> Vec<Received> {
    let now = Timestamp::from_unix_seconds(NOW);
    let activity = ActivityRecord {
        activity: "Logon".into(),
        username: "jdoe".into(),
        ..ActivityRecord::default()
    };
    let startup = StartupRecord {
        baseline_utc: Some(Timestamp::MAX),
        ..StartupRecord::default()
    };
    let item = ProcessItem {
        process_name: Some("a.exe".into()),
        process_count: Some(3),
        processor_usage: Some(12.5),
        ..ProcessItem::default()
    };
    let processes = ProcessReport {
        processes: Some(vec![item.clone(), ProcessItem::default(), item]),
        created_date: Some(Timestamp::MIN),
        ..ProcessReport::default()
    };
    vec![
        received_record(stats(|_| {}), 0, Some(now.plus_seconds(-5))),
        received_record(Record::Activity(Box::new(activity)), 1, None),
        received_record(stats(|_| {}), 1, Some(now.plus_seconds(-5))),
        received_record(Record::Startup(Box::new(startup)), -1, None),
        received_record(
            Record::Processes(Box::new(processes)),
            2,
            Some(Timestamp::MIN),
        ),
        received_record(stats(|stats| stats.id = None), 3, None),
    ]
}

/// Values next to every limit of the ways to write them, one after the other.
fn borders() -> Vec<Received> {
    let integers = [
        0,
        1,
        -1,
        4096,
        -4096,
        4097,
        1 << 62,
        -1 << 62,
        i64::MAX,
        i64::MIN,
    ];
    let floats = [
        0.0,
        -0.0,
        0.01,
        99.99,
        1e30,
        f32::MIN_POSITIVE,
        f32::MAX,
        0.1 + 0.2,
    ];
    let doubles = [
        0.0,
        -0.0,
        0.01,
        1e15,
        1e16,
        f64::MIN_POSITIVE,
        f64::MAX,
        0.1 + 0.2,
    ];
    let texts = ["", "ä", "äb", "äö", "ö", "ws-1", "ws-12", "ws-1"];
    let times = [0, 1, -1, 10_000, 10_001, i64::MAX, i64::MIN];
    let mut records = Vec::new();
    let mut push =
        |change: &dyn Fn(&mut StatsRecord)| records.push(received_record(stats(change), 0, None));
    for value in integers {
        push(&|stats| stats.root_total = Some(value));
    }
    for value in floats {
        push(&|stats| stats.disk_reads = Some(value));
    }
    for value in doubles {
        push(&|stats| stats.uptime = value.into());
    }
    for value in texts {
        push(&|stats| stats.instance_id = value.into());
        push(&|stats| stats.tenant_id = Nullable::Value(value.repeat(40)));
    }
    for value in times {
        push(&|stats| stats.update_time = Some(Timestamp::from_ticks(value)));
    }
    for value in [0, -1, i32::MAX, i32::MIN] {
        push(&|stats| stats.processor_in_use = Some(value));
    }
    records
}

fn encode(records: &[Received]) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    for record in records {
        let borrowed = RecordRef::from_record(&record.record);
        encoder.push(&borrowed, record.received_at, record.filed_at);
    }
    encoder.finish()
}

fn decode(block: &[u8]) -> Result<Vec<Received>> {
    let mut rows = Rows::default();
    decode_into(block, &mut rows)?;
    (0..rows.len()).map(|row| rows.received(row)).collect()
}

#[test]
fn block_of_every_stream_roundtrips() {
    let records = samples();
    let block = encode(&records);
    assert_eq!(counts(&block).unwrap().records, records.len());
    assert_eq!(decode(&block).unwrap(), records);
}

#[test]
fn block_of_values_at_every_limit_roundtrips_bit_by_bit() {
    let records = borders();
    for (read, written) in decode(&encode(&records)).unwrap().iter().zip(&records) {
        // Their debug texts differ where `==` sees no difference: in the sign of zeros.
        assert_eq!(format!("{read:?}"), format!("{written:?}"));
    }
}

#[test]
fn encoder_after_finish_starts_an_independent_block() {
    let mut encoder = BlockEncoder::default();
    for _ in 0..2 {
        for record in samples() {
            let borrowed = RecordRef::from_record(&record.record);
            encoder.push(&borrowed, record.received_at, record.filed_at);
        }
        assert_eq!(encoder.finish(), encode(&samples()));
    }
}

#[test]
fn record_equal_to_the_last_takes_two_bytes() {
    let first = received_record(stats(|_| {}), 0, None);
    let block = |count| encode(&vec![first.clone(); count]).len();
    // The second says that all values are those of the first; the third that its presence is that of the second.
    assert_eq!(block(4) - block(3), 2);
    assert_eq!(block(3) - block(2), 2);
}

#[test]
fn truncated_block_is_refused() {
    let block = encode(&[samples(), borders()].concat());
    for length in 0..block.len() {
        assert!(decode(&block[..length]).is_err(), "{length}");
    }
}

#[test]
fn block_with_a_flipped_bit_is_refused_or_decodes() {
    let block = encode(&[samples(), borders()].concat());
    for bit in 0..block.len() * 8 {
        let mut flipped = block.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = decode(&flipped);
    }
}

#[test]
fn block_with_more_text_than_its_head_says_is_refused() {
    let mut block = encode(&vec![received_record(stats(|_| {}), 0, None); 3]);
    let texts = 3 * "jdoe".len();
    assert_eq!(counts(&block).unwrap().text_bytes, texts);
    block[COUNTS_AT + 4] = u8::try_from(texts - 1).unwrap();
    assert!(decode(&block).is_err());
}
