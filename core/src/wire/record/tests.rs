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
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "a float field stores the nearest float, and a float with a fraction of zeros is compared as one"
)]
fn is_same(value: &FieldValue<'_>, sent: &Value) -> bool {
    match value {
        FieldValue::Null => sent.is_null(),
        // `serde_json` takes -0 and what has a fraction of zeros for a float.
        FieldValue::Int(value) => {
            let is_same = |sent: f64| sent.fract() == 0.0 && sent == *value as f64;
            sent.as_i64() == Some(*value) || sent.is_f64() && sent.as_f64().is_some_and(is_same)
        }
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
fn integer_may_have_a_fraction_of_zeros_and_no_other() {
    let read = |text: &str| {
        let mut record = RecordRef::empty(Stream::Stats);
        let text = format!(r#"{{"physicalMemory":{text},"id":1}}"#);
        let read = read_record(text.as_bytes(), &mut record);
        read.map(|()| {
            record.fields().find_map(|(spec, value)| match value {
                Some(FieldValue::Int(value)) if spec.name == "physicalMemory" => Some(*value),
                _ => None,
            })
        })
    };
    for (text, value) in [
        ("4294967296.0", 4_294_967_296),
        ("-7.000", -7),
        ("0.0", 0),
        ("9223372036854775807.0", i64::MAX),
        ("9223372036854775807.00000000000000000000", i64::MAX),
    ] {
        assert_eq!(read(text).unwrap(), Some(value), "{text}");
    }
    for (text, message) in [
        (
            "1.5",
            "invalid type: floating point `1.5`, expected an integer (int64), written without an exponent and without a fraction other than zeros",
        ),
        (
            "1e3",
            "invalid type: floating point `1000.0`, expected an integer (int64), written without an exponent and without a fraction other than zeros",
        ),
        (
            "1.0e0",
            "invalid type: floating point `1.0`, expected an integer (int64), written without an exponent and without a fraction other than zeros",
        ),
        (
            "9223372036854775808.0",
            "the number is out of range for an integer (int64)",
        ),
        ("1.", "invalid number"),
        ("1,5", "key must be a string"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.0.found, message, "{text}");
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

/// The stream of a record of a batch and the members that are ignored, or the path and the message of its error.
fn batch_record(
    text: &str,
    bare: Option<Stream>,
) -> Result<(Stream, Vec<String>), (String, String)> {
    let mut ignored = Vec::new();
    let mut record = RecordRef::empty(Stream::Stats);
    let unknown = &mut |_: Option<Stream>, name: &str| ignored.push(name.to_owned());
    match read_batch_record(text.as_bytes(), bare, &mut record, unknown) {
        Ok(()) => Ok((record.stream(), ignored)),
        Err(error) => Err((error.0.path, error.0.found)),
    }
}

#[test]
fn record_of_a_batch_has_exactly_one_stream_and_other_members_are_ignored() {
    for (text, stream, ignored) in [
        (r#"{"startup":{}}"#, Stream::Startup, ""),
        (
            r#" { "Processes" : { "processes" : [ ] } } "#,
            Stream::Processes,
            "",
        ),
        (
            r#"{"date":1.5,"STATS":{"other":1},"host":{"name":"x"}}"#,
            Stream::Stats,
            "date other host",
        ),
        (
            r#"{"activity":"x","processes":[],"stats":{}}"#,
            Stream::Stats,
            "",
        ),
    ] {
        let ignored: Vec<_> = ignored.split_whitespace().map(str::to_owned).collect();
        assert_eq!(batch_record(text, None), Ok((stream, ignored)), "{text}");
    }
    for (text, path, message) in [
        ("{}", "$", "?stream=stats"),
        (
            "[]",
            "$",
            "expected an object with one of stats, activity, startup, processes",
        ),
        (r#"{"unknown":{}}"#, "$", "?stream=stats"),
        (
            r#"{"instanceId":"i","processorInUse":1}"#,
            "$",
            "?stream=stats",
        ),
        (r#"{"activity":"Logon"}"#, "$", "?stream=stats"),
        (r#"{"processes":[{}]}"#, "$", "?stream=stats"),
        (r#"{"stats":5}"#, "$.stats", "integer `5`"),
        (r#"{"processes":null}"#, "$.processes", "null"),
        (r#"{"stats":{},"stats":{}}"#, "$", "exactly one of"),
        (r#"{"stats":{},"x":1,"activity":{}}"#, "$", "exactly one of"),
        (r#"{"x":1,"X":2,"stats":{}}"#, "$.x", "given twice"),
        (r#"{"x":{"y":tru},"stats":{}}"#, "$.x", "expected ident"),
        (r#"{"stats":{}} {}"#, "$", "trailing characters"),
        (r#"{"stats":{"ID":"7"}}"#, "$.stats.id", "a string"),
        (
            r#"{"processes":{"processes":[{},{"processCount":0.5}]}}"#,
            "$.processes.processes[1].processCount",
            "floating point",
        ),
    ] {
        let (found, wording) = batch_record(text, None).unwrap_err();
        assert_eq!(found, path, "{text}");
        assert!(wording.contains(message), "{text} {wording}");
    }
}

#[test]
fn bare_record_of_a_batch_is_of_the_stream_that_is_named() {
    for (bare, text, ignored) in [
        (
            Stream::Stats,
            r#"{"date":1,"instanceId":"i","host":"h"}"#,
            "date host",
        ),
        (Stream::Stats, r#"{"date":1,"stats":{"id":1}}"#, "date"),
        (Stream::Stats, r#"{"Stats":{}}"#, ""),
        (
            Stream::Stats,
            r#"{"id":1,"stats":"x","activity":[]}"#,
            "stats activity",
        ),
        (Stream::Activity, r#"{"activity":"Logon"}"#, ""),
        (
            Stream::Activity,
            r#"{"activity":{"activity":"Logon"},"host":1}"#,
            "host",
        ),
        (
            Stream::Processes,
            r#"{"processes":[{"processName":"a"}],"x":1}"#,
            "x",
        ),
        (Stream::Processes, r#"{"processes":{"processes":[]}}"#, ""),
        (Stream::Startup, r#"{"totalMs":1}"#, ""),
    ] {
        let (stream, mut found) = batch_record(text, Some(bare)).unwrap();
        found.dedup();
        assert_eq!(
            (stream, found.join(" ")),
            (bare, ignored.to_owned()),
            "{text}"
        );
    }
}

#[test]
fn bare_record_of_a_batch_with_an_error_says_where() {
    for (bare, text, path, message) in [
        (Stream::Stats, "{}", "$", "none of the members"),
        (
            Stream::Stats,
            r#"{"records":[]}"#,
            "$",
            "none of the members",
        ),
        (Stream::Stats, "5", "$", "expected an object"),
        (Stream::Stats, r#"{"id":"1"}"#, "$.id", "a string"),
        (
            Stream::Stats,
            r#"{"activity":{}}"#,
            "$",
            "of activity, but ?stream= names stats",
        ),
        (
            Stream::Stats,
            r#"{"stats":{},"activity":{}}"#,
            "$",
            "exactly one of",
        ),
        (
            Stream::Processes,
            r#"{"processes":{"processes":5}}"#,
            "$.processes.processes",
            "integer",
        ),
        (
            Stream::Processes,
            r#"{"processes":5}"#,
            "$.processes",
            "integer",
        ),
    ] {
        let (found, wording) = batch_record(text, Some(bare)).unwrap_err();
        assert_eq!(found, path, "{text}");
        assert!(wording.contains(message), "{text} {wording}");
    }
}

#[test]
fn error_says_what_a_sender_probably_did() {
    let hint = |text: &[u8]| {
        let mut record = RecordRef::empty(Stream::Stats);
        read_record(text, &mut record).unwrap_err().message()
    };
    for text in [&br#"{"processorInUse":1,5}"#[..], br#"{"x":-0,25,"id":1}"#] {
        let message = hint(text);
        assert!(
            message.ends_with(" A decimal comma is not JSON: write 1.5 for 1,5."),
            "{message}"
        );
    }
    for text in [
        &b"{\"username\":\"M\xfcller\"}"[..],
        b"{\"id\":\"x\",\"username\":\"M\xfcller\"}",
    ] {
        let message = hint(text);
        assert!(
            message.ends_with(" The text is not UTF-8: save and send it as UTF-8."),
            "{message}"
        );
    }
    for text in [
        &br#"{"id":1,"#[..],
        br#"{"id":1 ,5}"#,
        br#"{"id":"1"}"#,
        "{\"ä\":1,\"id\":x}".as_bytes(),
    ] {
        assert!(hint(text).ends_with('.'), "{}", hint(text));
        assert!(!hint(text).contains(". "), "{}", hint(text));
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
                let message = error.message();
                let message = message.strip_suffix(error.0.hint);
                assert_eq!(message, Some(&*located(&expected)), "{shown}");
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
