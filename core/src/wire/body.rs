//! Bodies of operator requests, and lines of bulk requests.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::domain::{keys, validation};
use crate::limits::LINE_ERRORS_MAX;
use crate::model::field::record;
use crate::model::{
    FailedState, FieldValue, Fields, NewKey, Nullable, RecordRef, Scope, Workspace,
};
use crate::timestamp::Timestamp;

use super::problem::{Code, Problem};
use super::record::{read_fields, read_line, read_record};
use super::tokens::{JsonError, located};

record! {
    /// `WorkSpaceDetails` as a body.
    pub(crate) struct WorkspaceBody {
        /// `workSpId`
        id: Nullable<String> = "workSpId",
        /// `computerName`
        computer_name: Nullable<String> = "computerName",
        /// `account`
        account: Nullable<String> = "account",
        /// `region`
        region: Nullable<String> = "region",
        /// `directoryId`
        directory_id: Nullable<String> = "directoryId",
        /// `runningMode`
        running_mode: Nullable<String> = "runningMode",
        /// `computeTypeName`
        compute_type_name: Nullable<String> = "computeTypeName",
        /// `protocol`
        protocol: Nullable<String> = "protocol",
        /// `username`
        username: Nullable<String> = "username",
        /// `state`
        state: Nullable<String> = "state",
    }
}

record! {
    /// A hold to place.
    pub(crate) struct HoldBody {
        /// The legal matter.
        matter: Option<String> = "matter",
        /// Why.
        reason: Nullable<String> = "reason",
    }
}

record! {
    /// How an action failed.
    struct FailureBody {
        /// `ERROR` or `UNHEALTHY`
        state: Nullable<String> = "state",
        /// What happened.
        detail: Nullable<String> = "detail",
    }
}

/// Why a body was refused: places or fields, each with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidBody(Vec<(String, String)>);

impl InvalidBody {
    fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self(vec![(place.into(), message.into())])
    }
}

/// In one line, for an error of a line or of the typed API.
impl fmt::Display for InvalidBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (place, message)) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{place}: {message}")?;
        }
        Ok(())
    }
}

impl From<InvalidBody> for Problem {
    fn from(InvalidBody(errors): InvalidBody) -> Self {
        Self::all_invalid(Code::InvalidBody, errors)
    }
}

impl From<JsonError> for InvalidBody {
    fn from(error: JsonError) -> Self {
        Self::at(error.0.path, error.0.message)
    }
}

fn invalid(field: &str, message: impl Into<String>) -> InvalidBody {
    InvalidBody::at(format!("$.{field}"), message)
}

impl From<validation::Violation> for InvalidBody {
    fn from(violation: validation::Violation) -> Self {
        invalid(violation.field, violation.message)
    }
}

/// Reads a telemetry record into `record`, which must be empty.
pub(crate) fn record_body<'a>(
    text: &'a [u8],
    record: &mut RecordRef<'a>,
) -> Result<(), InvalidBody> {
    read_record(text, record)?;
    let too_long = validation::record(record);
    if too_long.is_empty() {
        return Ok(());
    }
    let errors = too_long.into_iter().map(|(spec, max)| {
        let name = pascal_case(spec.name);
        let message = validation::too_long(&name, max);
        (name, message)
    });
    Err(InvalidBody(errors.collect()))
}

fn pascal_case(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(chars)
        .collect()
}

/// Reads a workspace. With `id`, the body may omit its own id; if it has one, both must be equal.
pub(crate) fn workspace_body(text: &[u8], id: Option<&str>) -> Result<Workspace, InvalidBody> {
    let mut body = WorkspaceBody::default();
    read_fields(text, &mut body)?;
    let texts: [_; Workspace::FIELDS.len()] = std::array::from_fn(|index| match body.get(index) {
        Some(FieldValue::Text(text)) => Some(text),
        _ => None,
    });
    let mut values = texts.each_ref().map(Option::as_deref);
    let [given, ..] = &mut values;
    *given = given.or(id);
    if id.is_some_and(|id| *given != Some(id)) {
        return Err(invalid(
            "workSpId",
            "The value differs from that of the path.",
        ));
    }
    let workspace = Workspace::of_values(values);
    validation::workspace(&workspace)?;
    Ok(workspace)
}

/// Reads a hold to place.
pub(crate) fn hold_body(text: &[u8]) -> Result<(String, Option<String>), InvalidBody> {
    let mut body = HoldBody::default();
    read_fields(text, &mut body)?;
    let matter = body.matter.unwrap_or_default();
    validation::short_text("matter", &matter)?;
    let reason = body.reason.value().cloned();
    if let Some(reason) = &reason {
        validation::short_text("reason", reason)?;
    }
    Ok((matter, reason))
}

/// Reads how an action failed; an empty body means `ERROR` and no detail.
pub(crate) fn failure_body(text: &[u8]) -> Result<(FailedState, Option<String>), InvalidBody> {
    let mut body = FailureBody::default();
    if !text.is_empty() {
        read_fields(text, &mut body)?;
    }
    let state = match body
        .state
        .value()
        .map(|state| state.to_ascii_uppercase())
        .as_deref()
    {
        None | Some("ERROR") => FailedState::Error,
        Some("UNHEALTHY") => FailedState::Unhealthy,
        Some(_) => {
            return Err(invalid(
                "state",
                "The field state must be ERROR or UNHEALTHY.",
            ));
        }
    };
    let detail = body.detail.value().cloned();
    if let Some(detail) = &detail {
        validation::short_text("detail", detail)?;
    }
    Ok((state, detail))
}

/// Reads a key to issue at `now`.
pub(crate) fn key_body(text: &[u8], now: Timestamp) -> Result<NewKey, InvalidBody> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(alias = "Name")]
        name: Option<String>,
        #[serde(alias = "Scopes")]
        scopes: Option<Vec<String>>,
        #[serde(alias = "Expires")]
        expires: Option<Timestamp>,
    }
    let body: Body =
        serde_json::from_slice(text).map_err(|error| InvalidBody::at("$", located(&error)))?;
    let name = body.name.unwrap_or_default();
    validation::short_text("name", &name)?;
    if !keys::is_unexpired(body.expires, now) {
        return Err(invalid("expires", keys::EXPIRED));
    }
    let scopes = body.scopes.unwrap_or_default();
    let known: Option<Vec<Scope>> = scopes.iter().map(|scope| Scope::named(scope)).collect();
    match known {
        Some(known) if !known.is_empty() => Ok(NewKey {
            name,
            scopes: known.into_iter().collect(),
            expires: body.expires,
        }),
        _ => Err(invalid(
            "scopes",
            "The field scopes must list at least one of read, act, admin, ingest, and nothing else.",
        )),
    }
}

/// A line of a bulk request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LineError {
    /// Counted from 1; in a JSON array, the position of the element.
    pub(crate) line: u64,
    pub(crate) message: String,
}

/// The errors of a bulk request: the number of refused lines, and the first errors.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineErrors {
    first: Vec<LineError>,
    count: u64,
}

impl LineErrors {
    pub(crate) fn add(&mut self, line: u64, message: String) {
        if self.first.len() < LINE_ERRORS_MAX {
            self.first.push(LineError { line, message });
        }
        self.count += 1;
    }

    /// The first [`LINE_ERRORS_MAX`].
    pub(crate) fn first(&self) -> &[LineError] {
        &self.first
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The memory they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let each = |error: &LineError| size_of::<LineError>() + error.message.capacity();
        self.first.iter().map(each).sum()
    }
}

/// The values of the valid lines of a bulk request, and the errors of the others.
pub(crate) type Lines<T> = (Vec<T>, LineErrors);

/// Reads the workspaces of a bulk upsert: a JSON array if the content type is JSON (`is_json`) or the text begins with `[`, else
/// one object per line.
pub(crate) fn workspace_lines(text: &[u8], is_json: bool) -> Result<Lines<Workspace>, InvalidBody> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let read = |text: &[u8]| workspace_body(text, None).map_err(|wrong| wrong.to_string());
    if !is_json && text.trim_ascii_start().first() != Some(&b'[') {
        return Ok(read_lines(ndjson(text), read));
    }
    let items: Vec<&RawValue> = serde_json::from_slice(text).map_err(|error| {
        InvalidBody::at("$", format!("{error}; nothing of the array was stored."))
    })?;
    let items = (1..).zip(items.into_iter().map(|item| item.get().as_bytes()));
    Ok(read_lines(items, read))
}

/// Reads a line of a telemetry batch into `record`, which it resets. An error is the message for the client.
pub(crate) fn batch_line<'a>(text: &'a [u8], record: &mut RecordRef<'a>) -> Result<(), String> {
    read_line(text, record).map_err(|error| format!("{}: {}", error.0.path, error.0.message))?;
    match validation::record(record).first() {
        None => Ok(()),
        Some((spec, max)) => Err(validation::too_long(&pascal_case(spec.name), *max)),
    }
}

/// The lines of a text that are not blank, with their numbers from 1.
fn ndjson(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..)
        .zip(text.split(|byte| *byte == b'\n'))
        .filter(|(_, line)| !is_blank(line))
}

/// Whether a line is blank; blank lines are skipped.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn read_lines<'t, T>(
    lines: impl Iterator<Item = (u64, &'t [u8])>,
    read: impl Fn(&[u8]) -> Result<T, String>,
) -> Lines<T> {
    let (mut accepted, mut refused) = (Vec::new(), LineErrors::default());
    for (line, text) in lines {
        match read(text) {
            Ok(value) => accepted.push(value),
            Err(message) => refused.add(line, message),
        }
    }
    (accepted, refused)
}
