//! Bodies of operator requests, and lines of bulk requests.

use std::fmt;

use crate::domain::{action_batches, key_limits, keys, validation};
use crate::limits::{IMPORT_WARNINGS_MAX, LINE_ERRORS_MAX, PREVIEW_IDS_MAX};
use crate::model::field::record;
use crate::model::{
    Action, ActionBatchRequest, Attempt, AuditAction, FailedState, KeyFilter, KeyLimits, LineError,
    LineWarning, NewKey, Nullable, RecordRef, Rejection, Scope, State, Stream, Workspace,
    WorkspacePatch,
};
use crate::nearest::nearest;
use crate::timestamp::Timestamp;

use crate::view::query::preview::PreviewQuery;

use super::problem::{Code, Problem};
use super::record::{
    Member, is_json, read_batch_record, read_fields, read_fields_and, read_known_fields,
    read_record,
};
use super::tokens::JsonError;

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
    pub(crate) struct FailureBody {
        /// `ERROR` or `UNHEALTHY`
        state: Nullable<String> = "state",
        /// What happened.
        detail: Nullable<String> = "detail",
    }
}

record! {
    /// An attempt that a provider begins.
    pub(crate) struct DispatchBody {
        /// Who begins it.
        provider: Option<String> = "provider",
        /// Its number.
        attempt: Option<i32> = "attempt",
        /// Which process of that name.
        instance: Nullable<String> = "instance",
    }
}

record! {
    /// What a provider notes of an attempt.
    pub(crate) struct NoteBody {
        /// The number of the attempt.
        attempt: Option<i32> = "attempt",
        /// What the cloud calls it.
        request_id: Option<String> = "requestId",
    }
}

record! {
    /// A key to issue, but for its scopes, actions and filter.
    struct KeyBody {
        /// What it is called.
        name: Option<String> = "name",
        /// When it is no longer accepted.
        expires: Nullable<Timestamp> = "expires",
        /// How many destructive actions it may start in an hour.
        destructive_per_hour: Nullable<i64> = "destructivePerHour",
    }
}

record! {
    /// The workspaces of a key.
    struct FilterBody {
        /// Their region.
        region: Nullable<String> = "region",
        /// Their directory.
        directory_id: Nullable<String> = "directoryId",
    }
}

record! {
    /// An action to preview, but for the workspaces.
    struct PreviewBody {
        /// Its name.
        action: Option<String> = "action",
        /// The new compute type of a change of that.
        compute_type: Nullable<String> = "computeType",
    }
}

record! {
    /// An action on many workspaces, but for those.
    struct BatchBody {
        /// Its name.
        action: Option<String> = "action",
        /// The new compute type of a change of that.
        compute_type: Nullable<String> = "computeType",
        /// Who asked.
        requester: Nullable<String> = "requester",
        /// How many run at once.
        at_once: Nullable<i64> = "atOnce",
        /// How many fail until no further one begins.
        stop_after_failures: Nullable<i64> = "stopAfterFailures",
    }
}

/// Why a body was refused: places or fields, each with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InvalidBody(Vec<(String, String)>);

impl InvalidBody {
    fn at_path(place: impl Into<String>, message: impl Into<String>) -> Self {
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
        let message = error.message();
        Self::at_path(error.0.path, message)
    }
}

fn invalid(field: &str, message: impl Into<String>) -> InvalidBody {
    InvalidBody::at_path(format!("$.{field}"), message)
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

/// Reads the workspace `id`. The body may omit the id; if it has one, both must be equal.
pub(crate) fn workspace_body(text: &[u8], id: &str) -> Result<Workspace, InvalidBody> {
    let mut body = WorkspacePatch::default();
    read_fields(text, &mut body)?;
    if body.id.value().is_some_and(|given| given != id) {
        return Err(invalid(
            "workSpId",
            "The value differs from that of the path.",
        ));
    }
    let mut workspace = Workspace {
        id: id.to_owned(),
        ..Workspace::default()
    };
    body.apply_to(&mut workspace);
    validation::workspace(&workspace.values())?;
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
    let state = match body.state.value().map(|state| State::named(state)) {
        None | Some(Some(State::Error)) => FailedState::Error,
        Some(Some(State::Unhealthy)) => FailedState::Unhealthy,
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

/// Reads who begins which attempt of an action.
pub(crate) fn dispatch_body(text: &[u8]) -> Result<Attempt, InvalidBody> {
    let mut body = DispatchBody::default();
    read_fields(text, &mut body)?;
    let provider = body.provider.unwrap_or_default();
    validation::short_text("provider", &provider)?;
    let number = attempt_number(body.attempt)?;
    let instance = body.instance.value().cloned();
    if let Some(instance) = &instance {
        validation::short_text("instance", instance)?;
    }
    Ok(Attempt {
        number,
        provider,
        instance,
    })
}

fn attempt_number(attempt: Option<i32>) -> Result<u32, InvalidBody> {
    let number = attempt.and_then(|attempt| u32::try_from(attempt).ok());
    number.filter(|number| *number > 0).ok_or_else(|| {
        let wording = "The field attempt must be the number of the attempt, from 1.";
        invalid("attempt", wording)
    })
}

/// Reads what a provider notes of which attempt of an action.
pub(crate) fn note_body(text: &[u8]) -> Result<(u32, String), InvalidBody> {
    let mut body = NoteBody::default();
    read_fields(text, &mut body)?;
    let note = body.request_id.unwrap_or_default();
    validation::short_text("requestId", &note)?;
    Ok((attempt_number(body.attempt)?, note))
}

/// Reads a key to issue at `now`.
pub(crate) fn key_body(text: &[u8], now: Timestamp) -> Result<NewKey, InvalidBody> {
    let (mut body, mut filter) = (KeyBody::default(), FilterBody::default());
    let (mut scopes, mut actions, mut is_filtered) = (None, None, false);
    let mut members = [
        ("scopes", Member::Texts(&mut scopes)),
        ("actions", Member::Texts(&mut actions)),
        ("filter", Member::Object(&mut filter, &mut is_filtered)),
    ];
    // Without a limit whose name is misspelled the key could do more than it is meant to.
    read_known_fields(text, &mut body, &mut members)?;
    let expires = body.expires.value().copied();
    let name = body.name.unwrap_or_default();
    keys::check_name(&name)?;
    if !keys::is_unexpired(expires, now) {
        return Err(invalid("expires", keys::EXPIRED));
    }
    let scopes = scopes.unwrap_or_default();
    let known: Option<Vec<Scope>> = scopes.iter().map(|scope| Scope::named(scope)).collect();
    let Some(scopes) = known.filter(|known| !known.is_empty()) else {
        let all = Scope::ALL.map(Scope::as_str).join(", ");
        let wording =
            format!("The field scopes must list at least one of {all}, and nothing else.");
        return Err(invalid("scopes", wording));
    };
    let per_hour = body.destructive_per_hour.value();
    let destructive_per_hour = per_hour.map(|count| u32::try_from(*count)).transpose();
    let destructive_per_hour = destructive_per_hour.map_err(|_| {
        let wording = "The field destructivePerHour must be a whole number from 0.";
        invalid("destructivePerHour", wording)
    })?;
    let limits = KeyLimits {
        actions: actions.as_deref().map(limited_actions),
        filter: is_filtered.then(|| KeyFilter {
            region: filter.region.value().cloned(),
            directory_id: filter.directory_id.value().cloned(),
        }),
        destructive_per_hour,
    };
    let key = NewKey::new(name, scopes).expiring(expires).limited(limits);
    key_limits::check(&key.limits, key.scopes)?;
    Ok(key)
}

/// No action at all, which the check of the limits refuses, where one is unknown.
fn limited_actions(names: &[String]) -> Vec<AuditAction> {
    let wanted: Option<Vec<_>> = names
        .iter()
        .map(|name| AuditAction::limitable(name))
        .collect();
    let wanted = wanted.unwrap_or_default();
    // In their order, each once.
    let mut known = AuditAction::LIMITABLE.to_vec();
    known.retain(|action| wanted.contains(action));
    known
}

/// Reads which action to preview, on which workspaces.
pub(crate) fn preview_body(text: &[u8]) -> Result<PreviewQuery, InvalidBody> {
    let mut body = PreviewBody::default();
    let mut workspace_ids = None;
    let mut members = [("workSpaceIds", Member::Texts(&mut workspace_ids))];
    read_fields_and(text, &mut body, &mut members)?;
    let workspace_ids = workspace_ids.unwrap_or_default();
    let name = body.action.unwrap_or_default();
    let mut named = Action::named(&name);
    if let Some(AuditAction::Lifecycle(action)) = AuditAction::limitable(&name) {
        named = Some(action);
    }
    let Some(action) = named else {
        let known: Vec<&str> = Action::ALL.iter().map(|action| action.as_str()).collect();
        let wording = format!("The field action must be one of {}.", known.join(", "));
        return Err(invalid("action", wording));
    };
    if !(1..=PREVIEW_IDS_MAX).contains(&workspace_ids.len()) {
        let wording = format!("The field workSpaceIds must list 1 to {PREVIEW_IDS_MAX} ids.");
        return Err(invalid("workSpaceIds", wording));
    }
    Ok(PreviewQuery {
        action,
        workspace_ids,
        compute_type: body.compute_type.value().cloned(),
    })
}

/// Reads which action to start, on which workspaces.
pub(crate) fn batch_body(text: &[u8]) -> Result<ActionBatchRequest, InvalidBody> {
    let mut body = BatchBody::default();
    let mut workspace_ids = None;
    let mut members = [("workSpaceIds", Member::Texts(&mut workspace_ids))];
    // A misspelled `atOnce` would begin all of them.
    read_known_fields(text, &mut body, &mut members)?;
    let name = body.action.unwrap_or_default();
    let action = AuditAction::limitable(&name).ok_or_else(|| {
        let wording = format!(
            "The field action must be one of {}.",
            key_limits::action_names()
        );
        invalid("action", wording)
    })?;
    // What is no number from 1 is 0, which the check refuses.
    let count = |field: &Nullable<i64>| {
        let count = field.value();
        count.map(|count| u32::try_from(*count).unwrap_or_default())
    };
    let mut request = ActionBatchRequest::new(action, workspace_ids.unwrap_or_default());
    request.at_once = count(&body.at_once);
    request.stop_after_failures = count(&body.stop_after_failures);
    request.compute_type = body.compute_type.value().cloned();
    request.requester = body.requester.value().cloned();
    action_batches::check(&request)?;
    Ok(request)
}

/// The errors of a bulk request: the number of refused lines, and the first errors, in the order of their lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineErrors {
    first: Vec<LineError>,
    count: u64,
}

impl LineErrors {
    pub(crate) fn add(&mut self, line: u64, column: Option<u64>, message: String) {
        self.count += 1;
        // Nearly always the last one.
        let place = self.first.partition_point(|earlier| earlier.line <= line);
        if place < LINE_ERRORS_MAX {
            let error = LineError {
                line,
                column,
                message,
            };
            self.first.insert(place, error);
            self.first.truncate(LINE_ERRORS_MAX);
        }
    }

    /// The refusal of a body of which nothing was accepted; `message` says why as a whole.
    pub(crate) fn into_problem(self, message: &str) -> Problem {
        let errors = self.first.into_iter();
        let errors = errors.map(|error| (format!("line {}", error.line), error.message));
        Problem::all_invalid(Code::InvalidBody, errors.collect()).after(message)
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

/// Warnings of unknown members that a bulk request has at most: there are two others, of clocks.
const UNKNOWN_MAX: usize = IMPORT_WARNINGS_MAX - 2;

/// The warnings of a bulk request: each once, with the first line that has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineWarnings(Vec<LineWarning>);

impl LineWarnings {
    /// Adds a warning, unless it is there already or there are [`IMPORT_WARNINGS_MAX`].
    pub(crate) fn warn(&mut self, line: u64, message: &str) {
        let is_new = self.0.iter().all(|known| known.message != message);
        if is_new && self.0.len() < IMPORT_WARNINGS_MAX {
            let message = message.to_owned();
            self.0.push(LineWarning { line, message });
        }
    }

    /// Warns of a member that is ignored, with the one of `known` that it most likely means; its name is compared without case. Such
    /// warnings leave room for others.
    fn warn_ignored(
        &mut self,
        line: u64,
        name: &str,
        known: &mut dyn Iterator<Item = &'static str>,
    ) {
        const WARNING: &str = "unknown member ";
        const MEANT: &str = "; did you mean ";
        let unknown = |warning: &LineWarning| warning.message.starts_with(WARNING);
        if self.0.iter().filter(|warning| unknown(warning)).count() >= UNKNOWN_MAX {
            return;
        }
        let end = name.char_indices().nth(64);
        let name = end.map_or(name, |(end, _)| name.get(..end).unwrap_or(name));
        let is_known = |known: &LineWarning| {
            let known = known.message.strip_prefix(WARNING);
            let known = known.and_then(|known| known.split_at_checked(name.len()));
            known.is_some_and(|(known, rest)| {
                known.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.starts_with(MEANT))
            })
        };
        if !self.0.iter().any(is_known) {
            // What shippers add is a word of many names, such as `date`.
            let meant = nearest(name, known).filter(|known| known.len() < 2 * name.len());
            let meant = meant.map(|known| format!("{MEANT}{known}?"));
            self.warn(
                line,
                &format!("{WARNING}{name}{}", meant.unwrap_or_default()),
            );
        }
    }

    /// All of them, in the order found.
    pub(crate) fn all(&self) -> &[LineWarning] {
        &self.0
    }

    /// The memory they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let each = |warning: &LineWarning| size_of::<LineWarning>() + warning.message.capacity();
        self.0.iter().map(each).sum()
    }
}

/// Reads a record of a telemetry batch into `record`, which it resets. `bare` is the stream of records that are not below the name of theirs.
/// An error is the reason and the message for the client.
pub(crate) fn batch_record<'a>(
    (line, text): (u64, &'a [u8]),
    bare: Option<Stream>,
    record: &mut RecordRef<'a>,
    warnings: &mut LineWarnings,
) -> Result<(), (Rejection, String)> {
    let ignored = &mut |stream: Option<Stream>, name: &str| {
        let fields = stream
            .map_or(&[][..], Stream::fields)
            .iter()
            .map(|spec| spec.name);
        let streams = Stream::ALL.into_iter().map(Stream::name);
        warnings.warn_ignored(line, name, &mut fields.chain(streams));
    };
    read_batch_record(text, bare, record, ignored).map_err(|error| {
        let message = format!("{}: {}", error.0.path, error.message());
        (rejection(text), message)
    })?;
    match validation::record(record).first() {
        None => Ok(()),
        Some((spec, max)) => {
            let message = validation::too_long(&pascal_case(spec.name), *max);
            Err((Rejection::Field, message))
        }
    }
}

/// Why the record `text`, which has an error, is refused.
pub(crate) fn rejection(text: &[u8]) -> Rejection {
    if is_json(text) {
        Rejection::Field
    } else {
        Rejection::Json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_members_leave_room_for_other_warnings() {
        let mut warnings = LineWarnings::default();
        for line in 1..100 {
            let (name, again) = (format!("member{line}"), format!("MEMBER{line}"));
            for name in [name, again] {
                warnings.warn_ignored(line, &name, &mut ["member10", "x"].into_iter());
            }
        }
        warnings.warn(1000, "late");
        warnings.warn(1001, "ahead");
        warnings.warn(1002, "late");
        let all = warnings.all();
        assert_eq!(all.len(), IMPORT_WARNINGS_MAX);
        let message = |place: usize| all.get(place).map_or("", |warning| &warning.message);
        assert_eq!(message(0), "unknown member member1; did you mean member10?");
        let end = [UNKNOWN_MAX, UNKNOWN_MAX + 1].map(message);
        assert_eq!(end, ["late", "ahead"]);
    }
}
