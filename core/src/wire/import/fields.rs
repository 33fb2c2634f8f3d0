//! The fields of a record of an inventory, whatever they are called there and however their values are written.

use std::borrow::Cow;

use crate::limits::JSON_DEPTH_MAX;
use crate::model::{
    ComputeType, FieldSpec, FieldValue, Fields as _, Nullable, Protocol, RunningMode, State,
    WorkspacePatch, canonical,
};
use crate::wire::record::{is_json, name_end, read_members_of, read_object, wrong_value};
use crate::wire::tokens::{ARRAY, OBJECT, Read, Tokens};

use super::names::{LineNames, Meaning, is_type_name, may_be_id, own_name, shown};

/// What JSON calls a name.
const MEMBER: &str = "member";

/// A record that is read member by member, or cell by cell.
#[derive(Debug, Default)]
pub(super) struct RecordFields {
    patch: WorkspacePatch,
    /// What the text calls the fields that it has.
    given: [Option<Cow<'static, str>>; WorkspacePatch::FIELDS.len()],
    /// Values of the fields that are not given.
    fallbacks: [Option<String>; WorkspacePatch::FIELDS.len()],
    /// An unknown name that may mean the id.
    id_name: Option<String>,
}

impl RecordFields {
    /// Takes the value of what the text calls `name`; `None` is null, and so is an empty text.
    ///
    /// # Errors
    /// A sentence without its full stop where the value contradicts another one.
    pub(super) fn take(
        &mut self,
        meaning: Meaning,
        name: &str,
        value: Option<&str>,
        names: &mut LineNames<'_>,
    ) -> Result<(), String> {
        let value = value.filter(|text| !text.is_empty());
        match (meaning, value) {
            (Meaning::Field(_), Some(text)) if is_type_name(text) => {
                names.warn_unread(name, value);
                Ok(())
            }
            (Meaning::Field(index), Some(text))
                if own_name(index) == "protocol" && list(text).next().is_none() =>
            {
                Ok(())
            }
            (Meaning::Field(index), _) => self.set(index, name, value),
            (Meaning::Fallback(index), Some(text)) => {
                let fallback = match own_name(index) {
                    "state" if !is_yes(text) => None,
                    "state" => canonical::<State>("TERMINATED"),
                    _ => canonical::<RunningMode>(text),
                };
                if let Some(place) = self.fallbacks.get_mut(index) {
                    *place = fallback;
                }
                Ok(())
            }
            (Meaning::Properties, Some(text)) => read_properties(text, name, self, names),
            _ => Ok(()),
        }
    }

    /// Takes the value of a field that the text calls `name`; `None` is null.
    ///
    /// # Errors
    /// A sentence without its full stop where another member means the same field, and has another value.
    fn set(&mut self, index: usize, name: &str, value: Option<&str>) -> Result<(), String> {
        let value = value.map(|value| stored(own_name(index), value));
        let value = value.map_or(FieldValue::Null, FieldValue::Text);
        let Some(given) = self.given.get_mut(index) else {
            return Ok(());
        };
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

    /// A message where no name means the id.
    pub(super) fn missing_id(&self) -> Option<String> {
        let is_missing = self.given.first().is_none_or(Option::is_none);
        let end = || match &self.id_name {
            None => ".".to_owned(),
            Some(name) => format!("; is it {}?", shown(name)),
        };
        is_missing.then(|| format!("no member is workSpId or WorkspaceId{}", end()))
    }

    /// The record.
    pub(super) fn finish(mut self) -> WorkspacePatch {
        let fallbacks = self.fallbacks.into_iter().zip(&self.given).enumerate();
        for (index, (fallback, given)) in fallbacks {
            if let (Some(value), None) = (fallback, given) {
                self.patch.set(index, FieldValue::Text(value.into()));
            }
        }
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
        "protocol" => canonical::<Protocol>(value)
            .or_else(|| list(value).next().and_then(canonical::<Protocol>)),
        _ => None,
    };
    known.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// The values of a list that is the text of a cell.
fn list(text: &str) -> impl Iterator<Item = &str> {
    let all = text.split([',', ';', ' ', '[', ']', '{', '}', '"', '\'']);
    all.filter(|one| !one.is_empty())
}

fn is_yes(text: &str) -> bool {
    ["yes", "true"]
        .iter()
        .any(|yes| text.eq_ignore_ascii_case(yes))
}

/// Whether a number or a boolean may be meant as the text of a field. Neither is an id or a value of a vocabulary.
fn takes_scalars(spec: &FieldSpec) -> bool {
    matches!(
        spec.name,
        "account" | "computerName" | "directoryId" | "region" | "username"
    )
}

/// Reads an object of JSON.
pub(super) fn read_json(text: &[u8], names: &mut LineNames<'_>) -> Read<RecordFields> {
    let mut fields = RecordFields::default();
    read_object(text, &mut |name, is_duplicate, tokens| {
        let meaning = names.meaning(MEMBER, name);
        if meaning == Meaning::Unknown && fields.id_name.is_none() && may_be_id(name) {
            fields.id_name = Some(name.to_owned());
        }
        let next = (meaning == Meaning::Properties).then(|| value_begin(tokens));
        match next.flatten() {
            Some(b'{') => {}
            Some(b'[' | b't' | b'f' | b'-' | b'0'..=b'9') => {
                names.warn_unread(name, None);
                return None;
            }
            _ => {
                let fields = &mut fields;
                return member(fields, meaning, name, is_duplicate, tokens, 1, names);
            }
        }
        let inner = &mut |inner: &str, is_duplicate: bool, tokens: &mut Tokens<'_>| {
            let whole = format!("{name}.{inner}");
            let meaning = names.meaning(MEMBER, &whole);
            if meaning == Meaning::Properties {
                return None;
            }
            let fields = &mut fields;
            member(fields, meaning, &whole, is_duplicate, tokens, 2, names)
        };
        let read = name_end(tokens, is_duplicate).and_then(|()| read_members_of(tokens, 2, inner));
        Some(read)
    })?;
    Ok(fields)
}

/// Reads the object of properties that is a text: JSON, or what PowerShell (`@{a=b; c=d}`) and Python (`{'a': 'b'}`) write.
fn read_properties(
    text: &str,
    name: &str,
    fields: &mut RecordFields,
    names: &mut LineNames<'_>,
) -> Result<(), String> {
    if text.starts_with('{') && is_json(text.as_bytes()) {
        let read = read_object(text.as_bytes(), &mut |inner, is_duplicate, tokens| {
            let whole = format!("{name}.{inner}");
            let meaning = names.meaning(MEMBER, &whole);
            if meaning == Meaning::Properties {
                return None;
            }
            member(fields, meaning, &whole, is_duplicate, tokens, 1, names)
        });
        return read.map_err(|error| format!("{}: {}", shown(name), error.0.found));
    }
    let Some(pairs) = pairs(text) else {
        names.warn_unread(name, Some(text));
        return Ok(());
    };
    for (inner, value) in pairs {
        let whole = format!("{name}.{inner}");
        let meaning = names.meaning(MEMBER, &whole);
        if meaning != Meaning::Properties && !matches!(value, "" | "None") {
            fields.take(meaning, &whole, Some(value), names)?;
        }
    }
    Ok(())
}

/// The names and values of an object as PowerShell or Python writes it; `None` where the text is neither.
fn pairs(text: &str) -> Option<Vec<(&str, &str)>> {
    let (inside, between, after_name) = match text.strip_prefix("@{") {
        Some(inside) => (inside, ';', '='),
        None => (text.strip_prefix('{')?, ',', ':'),
    };
    let inside = inside.strip_suffix('}')?;
    let mut depth = 0_usize;
    let parts = inside.split(|char| {
        match char {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == between && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    let pairs = parts.map(|part| {
        let (name, value) = part.split_once(after_name)?;
        Some((unquoted(name), unquoted(value)))
    });
    pairs.collect()
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['\'', '"'])
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
    names: &mut LineNames<'_>,
) -> Option<Read<()>> {
    let spec = match meaning {
        Meaning::Field(index) => Some(WorkspacePatch::FIELDS.get(index)?),
        Meaning::Fallback(_) | Meaning::Properties if value_begin(tokens) == Some(b'"') => None,
        Meaning::Fallback(_) | Meaning::Properties | Meaning::Ignored | Meaning::Unknown => {
            return None;
        }
    };
    let mut read = || {
        name_end(tokens, is_duplicate)?;
        let value = match spec {
            Some(spec) => value(tokens, spec, depth, true)?,
            None => text(tokens)?,
        };
        let taken = match value {
            Nullable::Absent => return Ok(()),
            Nullable::Null => fields.take(meaning, name, None, names),
            Nullable::Value(text) => fields.take(meaning, name, Some(&text), names),
        };
        taken.map_err(|message| tokens.error_after(&OBJECT, message))
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

/// Reads a string.
fn text(tokens: &mut Tokens<'_>) -> Read<Nullable<String>> {
    // A string is read where it begins: after the white space that PowerShell writes before it.
    tokens.peek();
    let start = tokens.remaining();
    if let Some(text) = tokens.string() {
        return Ok(Nullable::Value(text.into_owned()));
    }
    tokens.back_to(start);
    tokens.skip(1).map(|()| Nullable::Absent)
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
