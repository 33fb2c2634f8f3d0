//! The parser compared with `serde_json`: what it accepts, its values, and its error messages.

use serde_json::Value;

use crate::model::Record;
use crate::random::SplitMix;
use crate::wire::tokens::located;

use super::*;

const STATS: &str = r#"{"id":7,"computeTypeName":"STANDARD","updatetime":"2026-11-20T08:00:00.5Z","username":"jd\u00f6\\e","physicalMemory":17179869184,"diskReads":12.5,"diskWrites":0.1,"networkSent":1e3,"uptime":null,"osVersion":"10.0","tenantId":"","x":[{"y":[1,-2.5e3,true,null,"\ud83d\ude00"]}],"instanceId":"ws-1"}"#;
const PROCESSES: &str = r#"{"username":"jdöe","createdDate":"2026-11-20","processes":[{"processName":"a.exe","processorUsage":1.5,"memoryUsage":-0.25e-3,"processCount":2},{},{"username":"x","z":[]}],"instanceId":"ws-1"}"#;

/// The beginnings of the messages about a table; all others are about the grammar.
const OWN_MESSAGES: [&str; 6] = [
    "invalid type: ",
    "invalid value: ",
    "the number is out of range",
    "the property is given twice",
    "nested deeper than 32 levels",
    "more than 4096 process items",
];

/// Replacements for a few bytes of a text.
const PIECES: [&[u8]; 36] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"fals",
    b"-",
    b"0",
    b"1",
    b".",
    b"e9",
    b"E+",
    b" ",
    b"\n",
    b"\x01",
    b"\xff",
    b"9999999999",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"-0",
    b"1e39",
    b"1e400",
    b"\"id\":1",
    b"\"ID\":3000000000,",
    b"\"x\":",
    b"\"x\":{},",
    b"\"abc\"",
    b"\\u12",
    b"\"\\ud800\"",
    b"\xc3\xa4",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

/// Reads `text`, and compares an accepted record with the value that `serde_json` reads.
fn read_checked(stream: Stream, text: &[u8]) -> Result<(), JsonError> {
    let mut record = RecordRef::empty(stream);
    read_record(text, &mut record)?;
    let sent: Value = serde_json::from_slice(text).expect("an accepted record is JSON");
    for (spec, value) in record.fields() {
        assert!(is_sent(value, &sent, spec), "{} of {sent}", spec.name);
    }
    Ok(())
}

/// Whether `value` is that of the member of its name, or both are absent.
fn is_sent(value: Option<&FieldValue<'_>>, object: &Value, spec: &FieldSpec) -> bool {
    let mut members = object.as_object().unwrap().iter();
    let sent = members.find(|(name, _)| name.eq_ignore_ascii_case(spec.name));
    match (value, sent) {
        (Some(value), Some((_, sent))) => is_same(value, sent),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float field stores the nearest float"
)]
fn is_same(value: &FieldValue<'_>, sent: &Value) -> bool {
    match value {
        FieldValue::Null => sent.is_null(),
        // `serde_json` takes -0 for a float.
        FieldValue::Int(0) => {
            let is_negative = |sent: f64| sent == 0.0 && sent.is_sign_negative();
            sent.as_i64() == Some(0) || sent.as_f64().is_some_and(is_negative)
        }
        FieldValue::Int(value) => sent.as_i64() == Some(*value),
        FieldValue::Float(value) => sent.as_f64().map(|sent| sent as f32) == Some(*value),
        FieldValue::Double(value) => sent.as_f64().map(f64::to_bits) == Some(value.to_bits()),
        FieldValue::Text(value) => sent.as_str() == Some(value),
        FieldValue::Time(value) => sent.as_str().unwrap().parse() == Ok(*value),
        FieldValue::Items(items) => {
            let sent = sent.as_array().unwrap();
            let of_item = |(item, sent): (&ProcessItem, &Value)| {
                let mut fields = item.specs().iter().enumerate();
                fields.all(|(index, spec)| is_sent(item.get(index).as_ref(), sent, spec))
            };
            items.len() == sent.len() && items.iter().zip(sent).all(of_item)
        }
    }
}

#[test]
fn record_in_any_spacing_order_and_case_reads_the_same() {
    for (stream, text) in [(Stream::Stats, STATS), (Stream::Processes, PROCESSES)] {
        let read = |text: &str| {
            let mut record = RecordRef::empty(stream);
            read_record(text.as_bytes(), &mut record).unwrap();
            format!("{record:?}")
        };
        let spaced = text
            .replace(',', " ,\n")
            .replace(':', "\t: ")
            .replace("08\t: 00\t: 00", "08:00:00");
        let (first, rest) = text[1..].split_once(',').unwrap();
        let rest = rest.strip_suffix('}').unwrap();
        let turned = format!("{{{rest},{first}}}");
        let upper = text.replace("\"username\"", "\"USERNAME\"");
        let marked = format!("\u{feff}{text}");
        for other in [&spaced, &turned, &upper, &marked] {
            assert_eq!(read(other), read(text), "{other}");
            read_checked(stream, other.trim_start_matches('\u{feff}').as_bytes()).unwrap();
        }
    }
}

#[test]
fn text_without_escapes_is_borrowed() {
    let mut record = RecordRef::empty(Stream::Stats);
    read_record(STATS.as_bytes(), &mut record).unwrap();
    let is_borrowed = |name| {
        let (_, value) = record.fields().find(|(spec, _)| spec.name == name).unwrap();
        matches!(value, Some(FieldValue::Text(Cow::Borrowed(_))))
    };
    assert!(is_borrowed("computeTypeName") && is_borrowed("instanceId"));
    assert!(!is_borrowed("username"), "it has escapes");
}

#[test]
fn line_holds_exactly_one_record() {
    let line = |text: &str| {
        let mut record = RecordRef::empty(Stream::Stats);
        let read = read_line(text.as_bytes(), &mut record);
        read.map(|()| record.stream()).map_err(|error| error.0.path)
    };
    assert_eq!(line(r#"{"startup":{}}"#), Ok(Stream::Startup));
    assert_eq!(
        line(r#" { "Processes" : { "processes" : [ ] } } "#),
        Ok(Stream::Processes)
    );
    for (text, path) in [
        ("{}", "$"),
        ("[]", "$"),
        (r#"{"unknown":{}}"#, "$"),
        (r#"{"stats":{},"stats":{}}"#, "$"),
        (r#"{"stats":{}} {}"#, "$"),
        (r#"{"stats":{"ID":"7"}}"#, "$.stats.id"),
        (
            r#"{"processes":{"processes":[{},{"processCount":0.5}]}}"#,
            "$.processes.processes[1].processCount",
        ),
    ] {
        assert_eq!(line(text), Err(path.to_owned()), "{text}");
    }
}

#[test]
fn mutated_record_is_accepted_or_refused_as_by_serde_json() {
    let random = SplitMix::new(3);
    let pick = |below: usize| usize::try_from(random.next() % below as u64).unwrap();
    let (mut accepted, mut of_grammar, mut own) = (0, 0, 0);
    for _ in 0..60_000 {
        let (stream, text) = if pick(2) == 0 {
            (Stream::Stats, STATS)
        } else {
            (Stream::Processes, PROCESSES)
        };
        let mut text = text.as_bytes().to_vec();
        for _ in 0..=pick(3) {
            let from = pick(text.len());
            let to = (from + pick(4)).min(text.len());
            text.splice(from..to, PIECES[pick(PIECES.len())].iter().copied());
        }
        let shown = String::from_utf8_lossy(&text);
        match read_checked(stream, &text) {
            Ok(()) => accepted += 1,
            Err(error)
                if OWN_MESSAGES
                    .iter()
                    .any(|own| error.message().starts_with(own)) =>
            {
                own += 1;
            }
            Err(error) => {
                of_grammar += 1;
                let expected = serde_json::from_slice::<Value>(&text).expect_err(&shown);
                assert_eq!(error.message(), located(&expected), "{shown}");
            }
        }
    }
    assert!(
        accepted > 1000 && of_grammar > 1000 && own > 1000,
        "{accepted} {of_grammar} {own}"
    );
}

#[test]
fn owned_record_has_the_values_of_the_borrowed_one() {
    for (stream, text) in [(Stream::Stats, STATS), (Stream::Processes, PROCESSES)] {
        let mut borrowed = RecordRef::empty(stream);
        read_record(text.as_bytes(), &mut borrowed).unwrap();
        let mut owned: Record = stream.empty_record();
        read_fields(text.as_bytes(), owned.fields_mut()).unwrap();
        for (index, (spec, value)) in borrowed.fields().enumerate() {
            assert_eq!(owned.fields().get(index).as_ref(), value, "{}", spec.name);
        }
    }
}
