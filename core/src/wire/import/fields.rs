//! The fields of a record of an inventory, whatever they are called there and however their values are written.

use std::borrow::Cow;

use crate::limits::JSON_DEPTH_MAX;
use crate::model::{
    ComputeType, FieldSpec, FieldValue, Fields as _, Nullable, Protocol, RunningMode, State,
    WorkspacePatch, canonical,
};
use crate::wire::record::{name_end, read_members_of, read_object, wrong_value};
use crate::wire::tokens::{ARRAY, OBJECT, Read, Tokens};

use super::names::{Meaning, Names, is_type_name, own_name, shown};

/// What JSON calls a name.
const MEMBER: &str = "member";

/// A record that is read member by member, or cell by cell.
#[derive(Debug, Default)]
pub(super) struct RecordFields {
    patch: WorkspacePatch,
    /// What the text calls the fields that it has.
    given: [Option<Cow<'static, str>>; WorkspacePatch::FIELDS.len()],
}

impl RecordFields {
    /// Takes the value of a field that the text calls `name`; `None` is null.
    ///
    /// # Errors
    /// A sentence without its full stop where another member means the same field, and has another value.
    pub(super) fn set(
        &mut self,
        index: usize,
        name: &str,
        value: Option<&str>,
    ) -> Result<(), String> {
        let value = value.map(|value| stored(own_name(index), value));
        let value = value.map_or(FieldValue::Null, FieldValue::Text);
        let Some(given) = self.given.get_mut(index) else {
            return Ok(());
        };
        if let FieldValue::Text(text) = &value
            && is_type_name(text)
        {
            return Ok(());
        }
        if let Some(first) = given {
            if self.patch.get(index).as_ref() == Some(&value) {
                return Ok(());
            }
            return Err(format!(
                "{first} and {} both mean {}, and have different values: leave one of them out",
                shown(name),
                own_name(index)
            ));
        }
        let own = own_name(index);
        *given = Some(if own == name {
            own.into()
        } else {
            shown(name).into()
        });
        self.patch.set(index, value);
        Ok(())
    }

    /// The record.
    pub(super) fn finish(self) -> WorkspacePatch {
        self.patch
    }
}

/// A value in its canonical spelling, where its field has a vocabulary and knows it.
fn stored<'v>(field: &str, value: &'v str) -> Cow<'v, str> {
    let known = match field {
        "state" => canonical::<State>(value),
        "runningMode" => canonical::<RunningMode>(value),
        "computeTypeName" => canonical::<ComputeType>(value),
        // A list as the text of a cell: the first one counts.
        "protocol" => canonical::<Protocol>(value).or_else(|| {
            let mut all = value.split([',', ';', ' ', '[', ']', '"', '\'']);
            all.find(|one| !one.is_empty())
                .and_then(canonical::<Protocol>)
        }),
        _ => None,
    };
    known.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// Whether a number or a boolean may be meant as the text of a field. Neither is an id or a value of a vocabulary.
fn takes_scalars(spec: &FieldSpec) -> bool {
    matches!(
        spec.name,
        "account" | "computerName" | "directoryId" | "region" | "username"
    )
}

/// Reads an object of JSON. `warn` gets hints at names that are met for the first time.
pub(super) fn read_json(
    text: &[u8],
    names: &mut Names,
    warn: &mut dyn FnMut(String),
) -> Read<WorkspacePatch> {
    let mut fields = RecordFields::default();
    read_object(text, &mut |name, is_duplicate, tokens| {
        let meaning = names.meaning(MEMBER, name, warn);
        let next = (meaning == Meaning::Properties).then(|| value_begin(tokens));
        match next.flatten() {
            Some(b'{') => {}
            Some(b'"') => {
                names.warn_type_name(name, warn);
                return None;
            }
            _ => return member(&mut fields, meaning, name, is_duplicate, tokens, 1),
        }
        let inner = &mut |inner: &str, is_duplicate: bool, tokens: &mut Tokens<'_>| {
            let whole = format!("{name}.{inner}");
            let meaning = names.meaning(MEMBER, &whole, warn);
            member(&mut fields, meaning, &whole, is_duplicate, tokens, 2)
        };
        let read = name_end(tokens, is_duplicate).and_then(|()| read_members_of(tokens, 2, inner));
        Some(read)
    })?;
    Ok(fields.finish())
}

/// Reads the object of properties that a CSV has as the text of a cell.
pub(super) fn read_properties(
    text: &str,
    column: &str,
    fields: &mut RecordFields,
    names: &mut Names,
    warn: &mut dyn FnMut(String),
) -> Result<(), String> {
    let read = read_object(text.as_bytes(), &mut |inner, is_duplicate, tokens| {
        let whole = format!("{column}.{inner}");
        let meaning = names.meaning(MEMBER, &whole, warn);
        member(fields, meaning, &whole, is_duplicate, tokens, 1)
    });
    read.map_err(|error| format!("{}: {}", shown(column), error.0.found))
}

/// The first byte of the value after the colon that comes next.
fn value_begin(tokens: &mut Tokens<'_>) -> Option<u8> {
    let start = tokens.remaining();
    let next = tokens.colon().ok().and_then(|()| tokens.peek());
    tokens.back_to(start);
    next
}

/// Reads what follows a name; `None`: it is to be skipped.
fn member(
    fields: &mut RecordFields,
    meaning: Meaning,
    name: &str,
    is_duplicate: bool,
    tokens: &mut Tokens<'_>,
    depth: usize,
) -> Option<Read<()>> {
    let Meaning::Field(index) = meaning else {
        return None;
    };
    let spec = WorkspacePatch::FIELDS.get(index)?;
    let mut read = || {
        name_end(tokens, is_duplicate)?;
        let set = match value(tokens, spec, depth, true)? {
            Nullable::Absent => return Ok(()),
            Nullable::Null => fields.set(index, name, None),
            Nullable::Value(text) => fields.set(index, name, Some(&text)),
        };
        set.map_err(|message| tokens.error_after(&OBJECT, message))
    };
    let read = read();
    Some(read.map_err(|error| error.within(format_args!(".{}", shown(name)))))
}

/// Reads a value as a text: numbers and booleans where they may be meant as one, the constants of an SDK (`{"Value": "STANDARD"}`), and
/// the first protocol of a list, which is absent where the list is empty.
fn value(
    tokens: &mut Tokens<'_>,
    spec: &FieldSpec,
    depth: usize,
    may_be_constant: bool,
) -> Read<Nullable<String>> {
    let next = tokens.peek();
    let start = tokens.remaining();
    let takes_scalars = takes_scalars(spec);
    let text = match next {
        Some(b'n') if tokens.eat(b"null") => return Ok(Nullable::Null),
        Some(b'"') => tokens.string().map(Cow::into_owned),
        Some(b't') if takes_scalars && tokens.eat(b"true") => Some("true".to_owned()),
        Some(b'f') if takes_scalars && tokens.eat(b"false") => Some("false".to_owned()),
        Some(b'-' | b'0'..=b'9') if takes_scalars => number(tokens, spec),
        // Skipping refuses it.
        Some(b'{' | b'[') if depth >= JSON_DEPTH_MAX => {
            return tokens.skip(depth + 1).map(|()| Nullable::Absent);
        }
        Some(b'{') if may_be_constant => return constant(tokens, spec, depth),
        Some(b'[') if spec.name == "protocol" => return first_of_list(tokens, spec, depth),
        _ => None,
    };
    text.map(Nullable::Value).ok_or_else(|| {
        tokens.back_to(start);
        wrong_value(tokens, spec)
    })
}

/// Reads a number as its text. Only an account may have an exponent: a spreadsheet has written it, and it is kept with a warning.
fn number(tokens: &mut Tokens<'_>, spec: &FieldSpec) -> Option<String> {
    let start = tokens.remaining();
    if let Some(integer) = tokens.integer() {
        return Some(integer.to_string());
    }
    tokens.back_to(start);
    tokens.double().filter(|_| spec.name == "account")?;
    let text = std::str::from_utf8(tokens.since(start)).ok()?;
    Some(text.to_owned())
}

/// Reads an object whose member `Value` is the value.
fn constant(tokens: &mut Tokens<'_>, spec: &FieldSpec, depth: usize) -> Read<Nullable<String>> {
    let mut found = None;
    read_members_of(tokens, depth + 1, &mut |name, is_duplicate, tokens| {
        let is_value = name.eq_ignore_ascii_case("value");
        is_value.then(|| {
            name_end(tokens, is_duplicate)?;
            found = Some(value(tokens, spec, depth + 1, false)?);
            Ok(())
        })
    })?;
    let missing = || {
        let message = "an object without a member Value, expected a string or null";
        tokens.error_after(&OBJECT, message)
    };
    found.ok_or_else(missing)
}

/// Reads a list, of which the first value counts.
fn first_of_list(
    tokens: &mut Tokens<'_>,
    spec: &FieldSpec,
    depth: usize,
) -> Read<Nullable<String>> {
    tokens.open(&ARRAY);
    let mut first = Nullable::Absent;
    let mut is_first = true;
    while tokens.next_in(&ARRAY, is_first)? {
        match tokens.peek() {
            // A list in a list has no first value.
            Some(byte) if is_first && byte != b'[' => {
                first = value(tokens, spec, depth + 1, true)?;
            }
            _ => tokens.skip(depth + 1)?,
        }
        is_first = false;
    }
    Ok(first)
}

#[cfg(test)]
mod tests;
