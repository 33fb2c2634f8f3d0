//! Reads JSON into records by their field tables: documented types only, names in any case, no duplicate members.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::limits::PROCESS_ITEMS_MAX;
use crate::model::{
    FIELDS_MAX, FieldKind, FieldSpec, FieldValue, Fields, ProcessItem, RecordRef, Stream,
};

use crate::nearest::nearest;

use super::tokens::{ARRAY, JsonError, OBJECT, Read, Tokens};

/// A member of an array of strings.
const TEXT: FieldSpec = FieldSpec {
    name: "",
    kind: FieldKind::Text,
    nullable: false,
    length_max: None,
    #[cfg(feature = "schema")]
    doc: "",
    comma_and_key: b"",
};

/// Reads the JSON object `text` into `record`, which must be empty.
pub(crate) fn read_record<'a>(text: &'a [u8], record: &mut RecordRef<'a>) -> Read<()> {
    let (specs, values) = record.table_mut();
    read(text, |tokens| object(tokens, specs, values, 1))
}

/// Reads the JSON object `text` into `fields`, which must be empty.
pub(crate) fn read_fields(text: &[u8], fields: &mut dyn Fields) -> Read<()> {
    read_members(text, fields, &mut |_, _, _| None)
}

/// Reads the JSON object `text`, each member by `member`.
pub(super) fn read_object(text: &[u8], member: OtherMember<'_>) -> Read<()> {
    read(text, |tokens| read_members_of(tokens, 1, member))
}

/// Reads the object that comes next, each member by `member`. `depth` is the nesting depth of the object itself.
pub(super) fn read_members_of(
    tokens: &mut Tokens<'_>,
    depth: usize,
    member: OtherMember<'_>,
) -> Read<()> {
    object_and_others(tokens, &[], &mut [], depth, member)
}

/// A member of a body that is no field of a table. Absent and null leave it as it is.
pub(crate) enum Member<'m> {
    /// An array of strings.
    Texts(&'m mut Option<Vec<String>>),
    /// An object by its table, and whether it was there.
    Object(&'m mut dyn Fields, &'m mut bool),
}

/// As [`read_fields`]; reads also these members.
pub(crate) fn read_fields_and(
    text: &[u8],
    fields: &mut dyn Fields,
    members: &mut [(&'static str, Member<'_>)],
) -> Read<()> {
    read_members(text, fields, &mut |name, is_duplicate, tokens| {
        read_one_of(members, name, is_duplicate, tokens)
    })
}

/// As [`read_fields_and`]; refuses all other members.
pub(crate) fn read_known_fields(
    text: &[u8],
    fields: &mut dyn Fields,
    members: &mut [(&'static str, Member<'_>)],
) -> Read<()> {
    let specs = fields.specs().iter().map(|spec| spec.name);
    let known: Vec<_> = specs.chain(members.iter().map(|(name, _)| *name)).collect();
    read_members(text, fields, &mut |name, is_duplicate, tokens| {
        let read = read_one_of(members, name, is_duplicate, tokens);
        Some(read.unwrap_or_else(|| Err(unknown_member(name, &known, tokens))))
    })
}

/// The error of a member that is not one of `known`.
fn unknown_member(name: &str, known: &[&str], tokens: &Tokens<'_>) -> JsonError {
    let advice = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("only {}", known.join(", ")),
    };
    tokens.error(format_args!("there is no member {name}, {advice}"))
}

/// Reads the member of that name, if it is one of these.
fn read_one_of(
    members: &mut [(&'static str, Member<'_>)],
    name: &str,
    is_duplicate: bool,
    tokens: &mut Tokens<'_>,
) -> Option<Read<()>> {
    let mut members = members.iter_mut();
    let (known, member) = members.find(|(known, _)| name.eq_ignore_ascii_case(known))?;
    let read = name_end(tokens, is_duplicate).and_then(|()| read_member(tokens, member));
    Some(read.map_err(|error| error.within(format_args!(".{known}"))))
}

fn read_member(tokens: &mut Tokens<'_>, member: &mut Member<'_>) -> Read<()> {
    if tokens.peek() == Some(b'n') && tokens.eat(b"null") {
        return Ok(());
    }
    match member {
        Member::Texts(all) => **all = Some(texts(tokens)?),
        Member::Object(fields, is_there) => {
            let specs = fields.specs();
            let mut values = [const { None }; FIELDS_MAX];
            // A misspelled member would be a condition that does not hold.
            let known: Vec<_> = specs.iter().map(|spec| spec.name).collect();
            let unknown: OtherMember<'_> =
                &mut |name, _, tokens| Some(Err(unknown_member(name, &known, tokens)));
            object_and_others(tokens, specs, &mut values, 2, unknown)?;
            store(values, *fields);
            **is_there = true;
        }
    }
    Ok(())
}

fn read_members(text: &[u8], fields: &mut dyn Fields, other: OtherMember<'_>) -> Read<()> {
    let specs = fields.specs();
    let mut values = [const { None }; FIELDS_MAX];
    read(text, |tokens| {
        object_and_others(tokens, specs, &mut values, 1, other)
    })?;
    store(values, fields);
    Ok(())
}

/// Reads what follows the name of a member that is in no table, and may be given twice; `None`: it is to be skipped.
pub(super) type OtherMember<'o> =
    &'o mut dyn FnMut(&str, bool, &mut Tokens<'_>) -> Option<Read<()>>;

/// Takes the name of a member that is ignored.
type Ignored<'i> = &'i mut dyn FnMut(Option<Stream>, &str);

fn store<const N: usize>(values: [Option<FieldValue<'_>>; N], fields: &mut dyn Fields) {
    for (index, value) in values.into_iter().enumerate() {
        if let Some(value) = value {
            fields.set(index, value);
        }
    }
}

/// Reads the JSON object `text`, a record of a batch: `{"stats":{…}}`, or where `bare` names a stream, the members of its records as well.
/// Resets `record` to the stream that is found. `unknown` gets the names of the members that are ignored, each with the stream of the record
/// that it is in, or beside which it is.
pub(crate) fn read_batch_record<'a>(
    text: &'a [u8],
    bare: Option<Stream>,
    record: &mut RecordRef<'a>,
    unknown: Ignored<'_>,
) -> Read<()> {
    if let Some(stream) = bare {
        let mut is_wrapped = false;
        let read = read_bare(text, stream, record, &mut is_wrapped, unknown);
        if !is_wrapped {
            return read;
        }
    }
    read(text, |tokens| wrapped(tokens, bare, record, unknown))
}

/// Whether `text` is one JSON value.
pub(crate) fn is_json(text: &[u8]) -> bool {
    read(text, |tokens| tokens.skip(1)).is_ok()
}

fn read<'a>(text: &'a [u8], value: impl FnOnce(&mut Tokens<'a>) -> Read<()>) -> Read<()> {
    let mut tokens = Tokens::new(text);
    let read = value(&mut tokens).and_then(|()| tokens.expect_end());
    read.map_err(|error| error.within(format_args!("$")))
}

/// Reads the members of a record of `stream`, unless a member holds a record below the name of a stream.
fn read_bare<'a>(
    text: &'a [u8],
    stream: Stream,
    record: &mut RecordRef<'a>,
    is_wrapped: &mut bool,
    unknown: Ignored<'_>,
) -> Read<()> {
    *record = RecordRef::empty(stream);
    let (specs, values) = record.table_mut();
    let other: OtherMember<'_> = &mut |name, _, tokens| {
        let mut ahead = *tokens;
        // No field of a record is an object.
        if named_stream(name).is_some() && ahead.colon().is_ok() && ahead.peek() == Some(b'{') {
            *is_wrapped = true;
            return Some(Err(tokens.error("a record below the name of a stream")));
        }
        unknown(Some(stream), name);
        None
    };
    let read = read(text, |tokens| {
        object_and_others(tokens, specs, values, 1, other)?;
        if values.iter().all(Option::is_none) {
            let name = stream.name();
            let message = format_args!("none of the members is one of a record of {name}");
            return Err(tokens.error(message));
        }
        Ok(())
    });
    // Two streams have a field of their own name.
    *is_wrapped |= read.as_ref().is_err_and(|error| {
        let is_own = error.0.path.strip_prefix("$.") == Some(stream.name());
        is_own && error.0.found.starts_with("invalid type: map")
    });
    read
}

fn named_stream(name: &str) -> Option<Stream> {
    let mut streams = Stream::ALL.into_iter();
    streams.find(|stream| stream.name().eq_ignore_ascii_case(name))
}

/// Reads an object that has a record below the name of its stream.
fn wrapped<'a>(
    tokens: &mut Tokens<'a>,
    bare: Option<Stream>,
    record: &mut RecordRef<'a>,
    unknown: Ignored<'_>,
) -> Read<()> {
    const EXPECTED: &str = "an object with one of stats, activity, startup, processes";
    open_object(tokens, EXPECTED)?;
    let mut others = BTreeSet::new();
    let mut found = None;
    let mut first = true;
    while tokens.next_in(&OBJECT, first)? {
        first = false;
        let name = tokens.name()?;
        let Some(stream) = named_stream(&name) else {
            unknown(None, &name);
            let lower = name.to_ascii_lowercase();
            skip_member(tokens, others.contains(&lower), 2)
                .map_err(|error| error.within(format_args!(".{lower}")))?;
            others.insert(lower);
            continue;
        };
        if found.is_some() {
            let message = "a record is exactly one of stats, activity, startup, processes";
            return Err(tokens.error_after(&OBJECT, message));
        }
        if let Some(bare) = bare.filter(|bare| *bare != stream) {
            let (stream, bare) = (stream.name(), bare.name());
            let message = format_args!("the record is of {stream}, but ?stream= names {bare}");
            return Err(tokens.error(message));
        }
        let in_stream = |error: JsonError| error.within(format_args!(".{}", stream.name()));
        tokens.colon().map_err(in_stream)?;
        // Two streams have a field of their own name.
        if matches!(
            (stream, tokens.peek()),
            (Stream::Activity, Some(b'"')) | (Stream::Processes, Some(b'['))
        ) {
            tokens.skip(2).map_err(in_stream)?;
            continue;
        }
        found = Some(stream);
        *record = RecordRef::empty(stream);
        let (specs, values) = record.table_mut();
        let other: OtherMember<'_> = &mut |name, _, _| {
            unknown(Some(stream), name);
            None
        };
        object_and_others(tokens, specs, values, 2, other).map_err(in_stream)?;
    }
    if found.is_none() {
        let message = "no member is one of stats, activity, startup, processes; for records without the name of their stream, \
            say which it is with ?stream=stats, activity, startup or processes";
        return Err(tokens.error(message));
    }
    Ok(())
}

/// Reads the brace that begins an object.
fn open_object(tokens: &mut Tokens<'_>, expected: &str) -> Read<()> {
    let found = match tokens.peek() {
        _ if tokens.open(&OBJECT) => return Ok(()),
        Some(b'[') => "sequence".to_owned(),
        _ => tokens.described_scalar()?,
    };
    Err(tokens.error(format_args!("invalid type: {found}, expected {expected}")))
}

/// Reads an object into `values`, which must be absent, by the table `specs`; skips other members.
fn object<'a>(
    tokens: &mut Tokens<'a>,
    specs: &[FieldSpec],
    values: &mut [Option<FieldValue<'a>>],
    depth: usize,
) -> Read<()> {
    object_and_others(tokens, specs, values, depth, &mut |_, _, _| None)
}

/// As [`object`]; `other` may read the other members.
fn object_and_others<'a>(
    tokens: &mut Tokens<'a>,
    specs: &[FieldSpec],
    values: &mut [Option<FieldValue<'a>>],
    depth: usize,
    other: OtherMember<'_>,
) -> Read<()> {
    open_object(tokens, "an object")?;
    let mut unknown = BTreeSet::new();
    // Agents send the members in the order of the table, and most write no white space.
    let mut expected = 0;
    let mut first = true;
    loop {
        let next = specs.get(expected).zip(values.get_mut(expected));
        let next = next.filter(|(_, value)| value.is_none());
        let is_compact = next.as_ref().is_some_and(|(spec, _)| {
            tokens.eat(if first {
                spec.key()
            } else {
                spec.comma_and_key
            })
        });
        if !is_compact && !tokens.next_in(&OBJECT, first)? {
            return Ok(());
        }
        first = false;
        let is_expected = |(spec, _): &(&FieldSpec, _)| is_compact || tokens.eat(spec.key());
        let (spec, value) = if let Some(next) = next.filter(is_expected) {
            next
        } else {
            let name = tokens.name()?;
            let mut known = specs.iter().zip(values.iter_mut()).enumerate();
            let known = known.find(|(_, (spec, _))| spec.name.eq_ignore_ascii_case(&name));
            let Some((index, (spec, value))) = known else {
                let lower = name.to_ascii_lowercase();
                let in_member = |error: JsonError| error.within(format_args!(".{lower}"));
                let is_duplicate = unknown.contains(&lower);
                let read = other(&name, is_duplicate, tokens);
                let skip = || skip_member(tokens, is_duplicate, depth + 1).map_err(in_member);
                read.unwrap_or_else(skip)?;
                unknown.insert(lower);
                continue;
            };
            name_end(tokens, value.is_some())
                .map_err(|error| error.within(format_args!(".{}", spec.name)))?;
            expected = index;
            (spec, value)
        };
        let read = read_value(tokens, spec, depth);
        *value = Some(read.map_err(|error| error.within(format_args!(".{}", spec.name)))?);
        expected += 1;
    }
}

/// Skips the value of a member that is not in the table.
fn skip_member(tokens: &mut Tokens<'_>, is_duplicate: bool, depth: usize) -> Read<()> {
    name_end(tokens, is_duplicate)?;
    tokens.skip(depth)
}

/// Reads the colon after a name.
pub(super) fn name_end(tokens: &mut Tokens<'_>, is_duplicate: bool) -> Read<()> {
    if is_duplicate {
        return Err(tokens.error_after(&OBJECT, "the property is given twice"));
    }
    tokens.colon()
}

#[inline]
fn read_value<'a>(tokens: &mut Tokens<'a>, spec: &FieldSpec, depth: usize) -> Read<FieldValue<'a>> {
    let next = tokens.peek();
    let start = tokens.remaining();
    let value = match spec.kind {
        _ if next == Some(b'n') => {
            let is_null = spec.nullable && tokens.eat(b"null");
            is_null.then_some(FieldValue::Null)
        }
        FieldKind::Int32 => tokens
            .integer()
            .filter(|value| i32::try_from(*value).is_ok())
            .map(FieldValue::Int),
        FieldKind::Int64 => tokens.integer().map(FieldValue::Int),
        FieldKind::Float => tokens.double().and_then(float).map(FieldValue::Float),
        FieldKind::Double => tokens.double().map(FieldValue::Double),
        FieldKind::Text => tokens.string().map(FieldValue::Text),
        FieldKind::Time => tokens
            .string()
            .and_then(|text| text.parse().ok())
            .map(FieldValue::Time),
        FieldKind::Items if next == Some(b'[') => {
            let items = items(tokens, depth + 1)?;
            Some(FieldValue::Items(Cow::Owned(items)))
        }
        FieldKind::Items => None,
    };
    value.ok_or_else(|| {
        tokens.back_to(start);
        if spec.kind == FieldKind::Int32 && tokens.integer().is_some() {
            return tokens.error_after(&OBJECT, out_of_range(spec.kind));
        }
        tokens.back_to(start);
        wrong_value(tokens, spec)
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float field keeps the nearest float; too large is refused"
)]
fn float(value: f64) -> Option<f32> {
    let value = value as f32;
    value.is_finite().then_some(value)
}

fn items(tokens: &mut Tokens<'_>, depth: usize) -> Read<Vec<ProcessItem>> {
    tokens.open(&ARRAY);
    let mut items = Vec::new();
    loop {
        let mut item = ProcessItem::default();
        let read = next_item(tokens, &mut item, items.is_empty(), depth + 1);
        if !read.map_err(|error| error.within(format_args!("[{}]", items.len())))? {
            return Ok(items);
        }
        if items.len() == PROCESS_ITEMS_MAX {
            let message = format_args!("more than {PROCESS_ITEMS_MAX} process items");
            return Err(tokens.error_after(&ARRAY, message));
        }
        items.push(item);
    }
}

/// Reads the next process item; returns `false` at the end.
fn next_item(
    tokens: &mut Tokens<'_>,
    item: &mut ProcessItem,
    first: bool,
    depth: usize,
) -> Read<bool> {
    if !tokens.next_in(&ARRAY, first)? {
        return Ok(false);
    }
    let mut values = [const { None }; ProcessItem::FIELDS.len()];
    object(tokens, ProcessItem::FIELDS, &mut values, depth)?;
    store(values, item);
    Ok(true)
}

/// Reads an array of strings.
fn texts(tokens: &mut Tokens<'_>) -> Read<Vec<String>> {
    let next = tokens.peek();
    if !tokens.open(&ARRAY) {
        let found = match next {
            Some(b'{') => "map".to_owned(),
            Some(b'"') => "a string".to_owned(),
            _ => tokens.described_scalar()?,
        };
        let message = format_args!("invalid type: {found}, expected an array of strings");
        return Err(tokens.error(message));
    }
    let mut texts = Vec::new();
    while tokens.next_in(&ARRAY, texts.is_empty())? {
        tokens.peek();
        let start = tokens.remaining();
        let Some(text) = tokens.string() else {
            tokens.back_to(start);
            let wrong = wrong_value(tokens, &TEXT);
            return Err(wrong.within(format_args!("[{}]", texts.len())));
        };
        texts.push(text.into_owned());
    }
    Ok(texts)
}

/// The error of a value of the wrong kind, or out of range.
#[cold]
pub(super) fn wrong_value(tokens: &mut Tokens<'_>, spec: &FieldSpec) -> JsonError {
    let next = tokens.peek();
    let start = tokens.remaining();
    let (brackets, found) = match next {
        Some(b'[') => (Some(ARRAY), "sequence".to_owned()),
        Some(b'{') => (Some(OBJECT), "map".to_owned()),
        _ => match tokens.described_scalar() {
            Ok(found) => (None, found),
            Err(error) => return error,
        },
    };
    let is_number = matches!(next, Some(b'-' | b'0'..=b'9'));
    let has_zero_fraction = tokens.since(start).split(|byte| *byte == b'.').nth(1);
    let has_zero_fraction = has_zero_fraction.is_some_and(|of| of.iter().all(|byte| *byte == b'0'));
    let wrong = match (spec.kind, next) {
        (FieldKind::Int32 | FieldKind::Int64, _) if found.starts_with("integer") => {
            return tokens.error(out_of_range(spec.kind));
        }
        (FieldKind::Int32 | FieldKind::Int64, _) if has_zero_fraction => {
            return tokens.error(out_of_range(spec.kind));
        }
        (FieldKind::Float | FieldKind::Double, _) if is_number => {
            return tokens.error(out_of_range(spec.kind));
        }
        (FieldKind::Time, Some(b'"')) => "invalid value: a string",
        (_, Some(b'"')) => "invalid type: a string",
        _ => &format!("invalid type: {found}"),
    };
    let or_null = if spec.nullable { " or null" } else { "" };
    let is_integer = matches!(spec.kind, FieldKind::Int32 | FieldKind::Int64);
    let form = if is_integer && is_number {
        ", written without an exponent and without a fraction other than zeros"
    } else {
        ""
    };
    let message = format_args!("{wrong}, expected {}{or_null}{form}", kind_name(spec.kind));
    match brackets {
        Some(brackets) => {
            tokens.open(&brackets);
            tokens.error_after(&brackets, message)
        }
        None => tokens.error(message),
    }
}

fn out_of_range(kind: FieldKind) -> String {
    format!("the number is out of range for {}", kind_name(kind))
}

fn kind_name(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Int32 => "an integer (int32)",
        FieldKind::Int64 => "an integer (int64)",
        FieldKind::Float => "a number (float)",
        FieldKind::Double => "a number (double)",
        FieldKind::Text => "a string",
        FieldKind::Time => "a date-time such as 2026-11-20T08:00:00Z",
        FieldKind::Items => "an array of process items",
    }
}

#[cfg(test)]
mod tests;
