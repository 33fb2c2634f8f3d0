//! JSON bodies of records: the parser beside `serde_json`, and the codecs between them and history.

use std::cell::RefCell;

use deskfleet::fields::{FieldSpec, FieldValue};
use deskfleet::{Engine, HistoryQuery, ManualClock, Received, Record, Stream};
use serde_json::Value;

use super::subject;

/// Records of one engine before the next replaces it.
const USES_MAX: u32 = 64;

struct Place {
    engine: Engine,
    clock: ManualClock,
    uses: u32,
}

thread_local! {
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// The first byte selects the stream, the rest is the body of a record, which may begin with a byte order mark. An accepted
/// record must be the one that `serde_json` reads, and must be returned as it was sent, from the queue and from history.
///
/// # Panics
/// When another record is read or returned.
pub fn body(input: &[u8]) {
    let Some((first, text)) = input.split_first() else {
        return;
    };
    let stream = Stream::ALL[usize::from(*first) % Stream::ALL.len()];
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
        record_twice(place, stream, text);
    });
}

fn record_twice(place: &mut Place, stream: Stream, text: &[u8]) {
    let mut batch = place.engine.batch();
    if batch.push_json(stream, text).is_err() {
        return;
    }
    batch
        .push_json(stream, text)
        .expect("accepted a moment ago");
    place.uses += 1;
    place.clock.advance_seconds(1);
    let unmarked = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let sent: Value = serde_json::from_slice(unmarked).expect("an accepted body is JSON");
    let before = held(place, stream, &sent);
    place.engine.record_batch(batch).expect("room in memory");
    let queued = held(place, stream, &sent);
    check(&before, &queued, &sent);
    place.engine.file_pending().expect("room in memory");
    let filed = held(place, stream, &sent);
    let texts = |records: &[Received]| {
        let mut texts: Vec<_> = records.iter().map(|held| format!("{held:?}")).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts(&queued), texts(&filed), "queued and filed differ");
}

/// The new records are what was sent: twice, or once when it has a time, or none when it was there before.
fn check(before: &[Received], after: &[Received], sent: &Value) {
    let new = after.iter().filter(|held| !before.contains(held));
    let new: Vec<_> = new.collect();
    let timed = after
        .iter()
        .any(|held| is_as_sent(&held.record, sent) && held.record.sent_time().is_some());
    let counts: &[usize] = if timed { &[0, 1] } else { &[2] };
    assert!(counts.contains(&new.len()), "{new:?} of {sent}");
    for held in new {
        assert!(is_as_sent(&held.record, sent), "{held:?} of {sent}");
    }
    assert!(
        after.iter().any(|held| is_as_sent(&held.record, sent)),
        "{sent} is not held"
    );
}

/// The member of this name, in any case.
fn member<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    let mut members = object.as_object().into_iter().flatten();
    members
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// The records of the instance that was sent.
fn held(place: &Place, stream: Stream, sent: &Value) -> Vec<Received> {
    let instance = member(sent, "instanceId").and_then(Value::as_str);
    let page = place.engine.history(&HistoryQuery {
        limit: 500,
        ..HistoryQuery::new(stream, instance.unwrap_or(""))
    });
    let page = page.expect("an engine in memory reads");
    assert_eq!(page.next_token, None);
    page.records
}

/// Whether every field is stored as it was sent.
fn is_as_sent(held: &Record, sent: &Value) -> bool {
    let fields = held.fields();
    let as_sent =
        |(index, spec): (usize, &FieldSpec)| match (fields.get(index), member(sent, spec.name)) {
            (None, None) | (Some(FieldValue::Null), Some(Value::Null)) => true,
            (None, Some(_)) | (Some(_), None | Some(Value::Null)) | (Some(FieldValue::Null), _) => {
                false
            }
            (Some(FieldValue::Int(held)), Some(sent)) => sent.as_i64() == Some(held),
            (Some(FieldValue::Double(held)), Some(sent)) => {
                sent.as_f64().map(f64::to_bits) == Some(held.to_bits())
            }
            (Some(FieldValue::Float(held)), Some(sent)) => held.is_finite() && sent.is_number(),
            (Some(FieldValue::Text(held)), Some(sent)) => sent.as_str() == Some(&*held),
            (Some(FieldValue::Time(held)), Some(sent)) => {
                let sent = sent.as_str().and_then(|text| text.parse().ok());
                sent == Some(held)
            }
            (Some(FieldValue::Items(held)), Some(sent)) => {
                sent.as_array().map(Vec::len) == Some(held.len())
            }
        };
    fields.specs().iter().enumerate().all(as_sent)
}
