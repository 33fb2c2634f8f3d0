//! What is written is read again, and nothing else is.

mod fixture;
pub(super) mod samples;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::config::Config;
use crate::error::{EngineError, ErrorKind};
use crate::limits::LOG_ENTRY_BYTES;
use crate::model::{ActivityRecord, Record, RecordRef};
use crate::store::table::{ALL_KEYS, Read, Step, Table};
use crate::store::telemetry::arrivals::Arrivals;
use crate::store::{Store, StoreOptions};

use super::entry::{EntryReader, EntryWriter, RULES};
use super::*;
use samples::{Sample, any_sample, now};

fn body_of<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> Vec<u8> {
    let mut entry = EntryWriter::new(RULES);
    for sample in samples {
        assert!(entry.push(sample.tag, &sample.bytes));
    }
    entry.finish()
}

fn read(body: &[u8]) -> Result<Vec<(Tag, Box<dyn AnyMutation>)>> {
    let entry = EntryReader::new(body, RULES)?;
    let read = entry.map(|logged| logged.and_then(|logged| Ok((logged.tag, logged.decode_any()?))));
    read.collect()
}

fn bytes_of(mutation: &dyn AnyMutation) -> Vec<u8> {
    let mut encoder = Encoder::default();
    mutation.encode_any(&mut encoder);
    encoder.finish()
}

/// Whether it was read, or why not; any other error is none of the reader's.
fn is_read(body: &[u8]) -> bool {
    match read(body).map_err(|error| error.kind()) {
        Ok(_) => true,
        Err(ErrorKind::Corrupted | ErrorKind::NewerFormat) => false,
        Err(kind) => panic!("{kind:?}"),
    }
}

fn kind_of(body: &[u8]) -> ErrorKind {
    read(body).unwrap_err().kind()
}

/// Every row of every table, and the outcome of each mutation, once they are applied in one transaction.
fn applied(
    mutations: impl Iterator<Item = Box<dyn AnyMutation>>,
) -> (Vec<Vec<u8>>, Vec<Option<EngineError>>) {
    let config = Config::default();
    let store = Store::open_in_memory(StoreOptions::from_config(&config, now())).unwrap();
    let outcomes = store.write(WriteClass::Fleet, |tables| {
        let mut context = Context::new(tables, &config, now());
        mutations
            .map(|mutation| Ok(mutation.apply_any(&mut context)?.err()))
            .collect::<Result<_>>()
    });
    let mut rows = Vec::new();
    let snapshot = store.snapshot().unwrap();
    for table in Table::ALL {
        let row = |key: &[u8], value: &[u8]| {
            rows.push([key, value].concat());
            Ok(Step::Continue(()))
        };
        snapshot.scan(table, ALL_KEYS, row).unwrap();
    }
    (rows, outcomes.unwrap())
}

proptest! {
    #[test]
    fn entry_returns_its_mutations(samples in vec(any_sample(), 0..6)) {
        let read = read(&body_of(&samples)).unwrap();
        prop_assert_eq!(read.len(), samples.len());
        for ((tag, mutation), sample) in read.iter().zip(&samples) {
            prop_assert_eq!(*tag, sample.tag);
            prop_assert_eq!(format!("{mutation:?}"), format!("{:?}", sample.mutation));
            prop_assert_eq!(bytes_of(&**mutation), sample.bytes.clone());
        }
    }

    #[test]
    fn damaged_entry_is_read_or_refused(samples in vec(any_sample(), 1..3), change in 1..=u8::MAX) {
        let body = body_of(&samples);
        let ends = samples.iter().scan(body_of([]).len(), |end, sample| {
            *end += body_of([sample]).len() - body_of([]).len();
            Some(*end)
        });
        let ends: Vec<_> = ends.collect();
        for length in 0..body.len() {
            let whole = length == body_of([]).len() || ends.contains(&length);
            prop_assert_eq!(is_read(&body[..length]), whole, "{}", length);
        }
        prop_assert!(!is_read(&[body.as_slice(), &[change]].concat()));
        for place in 0..body.len() {
            let mut damaged = body.clone();
            damaged[place] ^= change;
            is_read(&damaged);
        }
    }

    #[test]
    fn decoded_mutations_leave_the_same_tables(samples in vec(any_sample(), 0..40)) {
        let decoded = read(&body_of(&samples)).unwrap();
        let decoded = applied(decoded.into_iter().map(|(_, mutation)| mutation));
        let original = applied(samples.into_iter().map(|sample| sample.mutation));
        prop_assert_eq!(decoded.0, original.0);
        prop_assert_eq!(format!("{:?}", decoded.1), format!("{:?}", original.1));
    }
}

#[test]
fn mutation_of_a_known_type_is_that_type() {
    let body = body_of([&Sample::new(CompleteAction(300))]);
    let logged = EntryReader::new(&body, RULES)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(logged.decode::<CompleteAction>().unwrap().0, 300);
    for other in [
        logged.decode::<RevokeKey>().map(drop),
        logged.decode::<Maintenance>().map(drop),
    ] {
        assert_eq!(other.unwrap_err().kind(), ErrorKind::Corrupted);
    }
}

#[test]
fn mutation_with_the_bytes_of_another_is_not_that_one() {
    let body = body_of([&Sample::new(CompleteAction(0))]);
    let logged = EntryReader::new(&body, RULES)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let other = logged.decode::<TouchKeys>().unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Corrupted);
}

#[test]
fn entry_ends_before_it_is_too_long() {
    let mut entry = EntryWriter::new(RULES);
    assert!(entry.push(Tag::Telemetry, &vec![0; LOG_ENTRY_BYTES / 2]));
    // Of the head, the first mutation with its head, and the head of the second.
    let left = LOG_ENTRY_BYTES - (3 + 4 + LOG_ENTRY_BYTES / 2) - 4;
    assert!(!entry.push(Tag::Telemetry, &vec![0; left + 1]));
    assert!(entry.push(Tag::Telemetry, &vec![0; left]));
    assert_eq!(entry.finish().len(), LOG_ENTRY_BYTES);
}

#[test]
fn parts_of_telemetry_hold_all_of_it_and_fit_an_entry_each() {
    let mut arrivals = Arrivals::default();
    for number in 0..50 {
        let record = Record::Activity(Box::new(ActivityRecord {
            activity: char::from(b'0' + number).to_string().repeat(40_000).into(),
            ..ActivityRecord::default()
        }));
        arrivals.push(&RecordRef::from_record(&record), now(), now());
    }
    let arrivals = arrivals.take();
    let blocks: Vec<_> = arrivals.blocks().map(<[u8]>::to_vec).collect();
    let parts: Vec<_> = Telemetry::in_parts(arrivals).collect();
    assert_eq!(parts.iter().map(|part| part.0.records()).sum::<u64>(), 50);
    let blocks_of_parts = parts.iter().flat_map(|part| part.0.blocks());
    assert!(blocks_of_parts.eq(blocks.iter()));
    let bodies: Vec<_> = parts
        .into_iter()
        .map(|part| body_of([&Sample::new(part)]))
        .collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| body.len() <= LOG_ENTRY_BYTES));
}

#[test]
fn mutation_that_is_too_long_has_an_entry_of_its_own() {
    let mut entry = EntryWriter::new(RULES);
    assert!(entry.push(Tag::Telemetry, &vec![0; LOG_ENTRY_BYTES + 1]));
    assert!(!entry.push(Tag::CompleteAction, &[1]));
}

#[test]
fn entry_of_a_newer_version_is_not_called_damaged() {
    let [low, high] = RULES.to_le_bytes();
    let [newer_low, newer_high] = (RULES + 1).to_le_bytes();
    let good = [3, 1, 7];
    let entry = |head: &[u8], mutation: &[u8]| [head, mutation].concat();
    assert!(is_read(&entry(&[1, low, high], &good)));
    assert!(is_read(&entry(&[1, 0, 0], &good)));
    for newer in [
        entry(&[2], &[]),
        entry(&[1, newer_low, newer_high], &good),
        entry(&[1, low, high], &[250, 1, 7]),
    ] {
        assert_eq!(kind_of(&newer), ErrorKind::NewerFormat, "{newer:?}");
    }
    for damaged in [
        entry(&[], &[]),
        entry(&[0, low, high], &good),
        entry(&[1, low], &[]),
        entry(&[1, low, high], &[250]),
        entry(&[1, low, high], &[250, 2, 7]),
        entry(&[1, low, high], &[3, 0]),
        entry(&[1, low, high], &[3, 2, 7, 7]),
    ] {
        assert_eq!(kind_of(&damaged), ErrorKind::Corrupted, "{damaged:?}");
    }
}

#[test]
fn reader_ends_at_an_error() {
    let body = [body_of([]), vec![3, 9, 3, 1, 7]].concat();
    assert_eq!(EntryReader::new(&body, RULES).unwrap().count(), 1);
}
