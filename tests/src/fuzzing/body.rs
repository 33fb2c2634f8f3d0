//! JSON bodies of records, read in two ways, and the codecs they pass on their way into history.

use std::cell::RefCell;

use deskfleet::{Engine, EngineError, FieldValue, ManualClock, Received, Record, Stream};
use serde_json::Value;

use super::{START_SECONDS, subject};

/// Records one engine takes before the next begins anew.
const USES_MAX: u32 = 64;

struct Place {
    engine: Engine,
    clock: ManualClock,
    uses: u32,
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The first byte names the stream, the rest is the body of a record. A body in the form agents send is read in one pass;
/// behind a byte order mark it is read by the exact reader: both must say the same. What is taken must be what was sent, out
/// of the queue and out of history.
///
/// # Panics
/// When the readers disagree, or a record changes on its way.
pub fn body(input: &[u8]) {
    let Some((first, text)) = input.split_first() else {
        return;
    };
    let stream = Stream::ALL[usize::from(*first) % Stream::ALL.len()];
    if text.starts_with(b"\xef\xbb\xbf") {
        return;
    }
    PLACE.with_borrow_mut(|slot| {
        let place = slot.take_if(|place| place.uses >= USES_MAX);
        drop(place);
        let place = slot.get_or_insert_with(|| {
            let subject = subject();
            Place {
                engine: subject.engine,
                clock: subject.clock,
                uses: 0,
            }
        });
        read_twice(place, stream, text);
    });
}

fn read_twice(place: &mut Place, stream: Stream, text: &[u8]) {
    let marked = [b"\xef\xbb\xbf", text].concat();
    let mut batch = place.engine.batch();
    let said = |read: &Result<(), EngineError>| read.as_ref().map_err(ToString::to_string).copied();
    let plain = said(&batch.push_json(stream, text));
    // A body of the greatest size is too large with a mark.
    if marked.len() > 64 * 1024 {
        return;
    }
    let exact = said(&batch.push_json(stream, &marked));
    assert_eq!(plain, exact, "the readers disagree");
    if plain.is_err() {
        return;
    }
    place.uses += 1;
    place.clock.advance_seconds(1);
    drop(batch);
    let mut batch = place.engine.batch();
    for text in [text, &marked] {
        batch.push_json(stream, text).expect("taken a moment ago");
    }
    place.engine.record_batch(batch).expect("room in memory");

    let sent: Value = serde_json::from_slice(text).expect("what is taken is JSON");
    let instance = member(&sent, "instanceId").and_then(Value::as_str);
    let queued = received_now(place, stream, instance.unwrap_or(""));
    let first = queued.first().expect("what is taken is there");
    compare(&first.record, &sent);
    let alike = queued.iter().all(|held| same(held, first));
    assert!(alike && queued.len() <= 2, "{queued:?}");
    place.engine.file_pending().expect("room in memory");
    let filed = received_now(place, stream, instance.unwrap_or(""));
    assert_eq!(queued.len(), filed.len(), "{filed:?}");
    let alike = filed.iter().all(|held| same(held, first));
    assert!(alike, "queued {first:?}, filed {filed:?}");
}

/// Texts tell apart what `==` does not: zeros by their sign.
fn same(left: &Received, right: &Received) -> bool {
    left == right && format!("{left:?}") == format!("{right:?}")
}

/// The member of this name, in whatever case.
fn member<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let mut members = object.as_object().into_iter().flatten();
    members
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

fn received_now(place: &Place, stream: Stream, instance: &str) -> Vec<Received> {
    let now = deskfleet::Clock::now(&place.clock);
    assert!(now.ticks() > START_SECONDS, "a clock that runs");
    let page = place
        .engine
        .history(stream, instance, None, None, 500, None);
    let page = page.expect("an engine in memory reads");
    assert_eq!(page.next_token, None);
    let mut records = page.records;
    records.retain(|held| held.received_at == now);
    records
}

/// What is held is what was sent.
fn compare(held: &Record, sent: &Value) {
    let fields = held.fields();
    for (index, spec) in fields.specs().iter().enumerate() {
        let value = member(sent, spec.name);
        match (fields.get(index), value) {
            (None, None) | (Some(FieldValue::Null), Some(Value::Null)) => {}
            (Some(FieldValue::Int(held)), Some(sent)) => {
                assert_eq!(Some(held), sent.as_i64(), "{}", spec.name);
            }
            (Some(FieldValue::Double(held)), Some(sent)) => {
                let sent = sent.as_f64().map(f64::to_bits);
                assert_eq!(Some(held.to_bits()), sent, "{}", spec.name);
            }
            (Some(FieldValue::Text(held)), Some(sent)) => {
                assert_eq!(Some(&*held), sent.as_str(), "{}", spec.name);
            }
            (Some(FieldValue::Time(held)), Some(sent)) => {
                let sent = sent.as_str().and_then(|text| text.parse().ok());
                assert_eq!(Some(held), sent, "{}", spec.name);
            }
            (Some(FieldValue::Items(held)), Some(sent)) => {
                assert_eq!(Some(held.len()), sent.as_array().map(Vec::len));
            }
            (Some(FieldValue::Float(held)), Some(sent)) => {
                assert!(held.is_finite() && sent.is_number(), "{}", spec.name);
            }
            (held, sent) => panic!("{}: {held:?} of {sent:?}", spec.name),
        }
    }
}
