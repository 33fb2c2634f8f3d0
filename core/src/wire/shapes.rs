//! The shapes of the bodies that are written and read member by member, for their JSON Schemas. Each has its members in the order
//! in which they are written; tests compare real bodies with them.

#![expect(
    dead_code,
    reason = "the schemas are read off the types; no value is made"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::limits::{
    BATCH_IDS_MAX, IMPORT_WARNINGS_MAX, LINE_ERRORS_MAX, PREVIEW_IDS_MAX, TEXT_MAX,
};
use crate::model::{
    Action, ActionBatch, ActivityRecord, AuditEntry, BatchAction, FailedState, KeyInfo, LineError,
    LineWarning, PendingAction, ProcessReport, StartupRecord, StatsRecord, Workspace,
};
use crate::timestamp::Timestamp;
use crate::view::query::series::SeriesPoint;
use crate::view::query::startup::{SlowStartup, StartupPoint};

use super::problem::Code;

/// One page of workspaces, in the order of `workSpId`.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct WorkSpaceApiResponse {
    /// The workspaces of this page.
    work_spaces: Vec<Workspace>,
    /// Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters.
    next_token: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// A user: the workspaces and the newest telemetry.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct UserInformation {
    /// Name of the user, as the workspaces have it, else as telemetry had it.
    username: String,
    /// The workspaces of the user, in the order of `workSpId`.
    work_spaces: Vec<Workspace>,
    /// Whether one of them is on litigation hold.
    litigation_hold: bool,
    /// What the user did last, for example `Logon`; null where nothing is known.
    last_activity: Option<String>,
    /// When that was.
    last_activity_time: Option<Timestamp>,
    /// The newest time of any telemetry record of the user.
    last_seen: Option<Timestamp>,
    /// The newest statistics of the user, as posted.
    last_stats: Option<StatsRecord>,
    /// The newest startup timings of the user, as posted.
    last_startup: Option<StartupRecord>,
}

/// An activity as posted, with the workspace it belongs to.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct UserActivity {
    #[schemars(flatten)]
    record: ActivityRecord,
    /// `workSpId` of the workspace that the instance names, else of the only one of the user; absent where there is none.
    #[schemars(skip_serializing_if = "String::is_empty")]
    work_sp_id: String,
    /// Name of its computer; absent where it has none.
    #[schemars(skip_serializing_if = "String::is_empty")]
    computer_name: String,
}

/// The record of a workspace was removed; the desktop itself was not touched.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct RemovedWorkSpace {
    /// `workSpId` of the workspace.
    work_space_id: String,
    /// Always true.
    removed: bool,
}

/// One page of the history of one instance, oldest first.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "{R}Page")]
pub(crate) struct HistoryPage<R> {
    /// The records of this page; fewer than `limit` where they are large.
    records: Vec<Received<R>>,
    /// Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters.
    next_token: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// A record as posted, with the time of receipt.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "Received{R}")]
pub(crate) struct Received<R> {
    #[schemars(flatten)]
    record: R,
    /// When the record was accepted.
    received_at: Timestamp,
}

/// A line of an export: a record of the stream that was asked for.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(clippy::large_enum_variant, reason = "no value is made")]
pub(crate) enum ExportedRecord {
    Stats(Received<StatsRecord>),
    Activity(Received<ActivityRecord>),
    Startup(Received<StartupRecord>),
    Processes(Received<ProcessReport>),
}

/// The outcome of a telemetry batch.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct BatchResult {
    /// Records accepted, and durable.
    accepted: u64,
    /// Records refused.
    rejected: u64,
    /// The first 100 errors, in the order of the lines.
    #[schemars(length(max = LINE_ERRORS_MAX))]
    errors: Vec<LineError>,
    /// What was read but probably not meant, each once: members that were ignored, for example.
    #[schemars(length(max = IMPORT_WARNINGS_MAX))]
    warnings: Vec<LineWarning>,
}

/// One page of the actions that have not ended, in the order of their numbers.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct PendingActionList {
    /// The actions of this page.
    actions: Vec<PendingAction>,
    /// Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters.
    next_token: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// One page of the audit, newest first.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct AuditPage {
    /// The rows of this page.
    activities: Vec<AuditRow>,
    /// Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters.
    next_token: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// One row of the audit, with the number of the key.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct AuditRow {
    #[schemars(flatten)]
    row: AuditEntry,
    /// Number of the key used; null where the host itself acted, and in rows that a version without it wrote.
    api_key_id: Option<u64>,
}

/// One page of rows.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "{R}s")]
pub(crate) struct RowPage<R> {
    /// The rows of this page. Those of a CSV and of NDJSON are the same.
    rows: Vec<R>,
    /// Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters.
    next_token: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
    /// The moment of the answer.
    at: Timestamp,
    /// What the answer leaves out or widens, a sentence each.
    warnings: Vec<String>,
}

/// A series.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "Series")]
pub(crate) struct SeriesPage {
    #[schemars(flatten)]
    page: RowPage<SeriesPoint>,
    /// Length of a step, in seconds: that of `step`, or more.
    step_seconds: i64,
}

/// How long startups took.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "StartupReport")]
pub(crate) struct StartupPage {
    #[schemars(flatten)]
    page: RowPage<StartupPoint>,
    /// Length of a step, in seconds: that of `step`, or more.
    step_seconds: i64,
    /// The slowest startups of all steps, slowest first, at most ten.
    slowest: Vec<SlowStartup>,
}

/// All API keys, revoked and expired ones too, in the order of their numbers.
#[derive(JsonSchema)]
pub(crate) struct KeyList {
    /// The keys, without their secrets.
    keys: Vec<KeyInfo>,
}

/// A litigation hold to place.
#[derive(JsonSchema)]
pub(crate) struct NewHold {
    /// The legal matter; 1 to 256 code points.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    matter: String,
    /// The reason; at most 256 code points.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    reason: Option<String>,
}

/// An action to preview, and the workspaces.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "PreviewRequest")]
pub(crate) struct NewPreview {
    /// The action.
    action: Action,
    /// `workSpId` of each workspace.
    #[schemars(length(min = 1, max = PREVIEW_IDS_MAX))]
    work_space_ids: Vec<String>,
    /// The new compute type of a `ChangeComputeType`, in any case; other actions ignore it.
    compute_type: Option<String>,
}

/// An action to start on many workspaces.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", rename = "ActionBatchRequest")]
pub(crate) struct NewActionBatch {
    /// The action.
    action: BatchAction,
    /// `workSpId` of each workspace, each once, in the order in which they begin.
    #[schemars(length(min = 1, max = BATCH_IDS_MAX))]
    work_space_ids: Vec<String>,
    /// The new compute type of a `ChangeComputeType`, in any case; other actions ignore it.
    compute_type: Option<String>,
    /// Who asked, in free text for the audit; absent or null: the name of the key.
    requester: Option<String>,
    /// How many actions run at once; absent or null: all.
    #[schemars(range(min = 1))]
    at_once: Option<u32>,
    /// How many are refused or fail until no further one begins; absent or null: any number.
    #[schemars(range(min = 1))]
    stop_after_failures: Option<u32>,
}

/// The batches of actions that run, and the newest that have ended; newest first, without their workspaces.
#[derive(JsonSchema)]
pub(crate) struct ActionBatchList {
    /// The batches.
    batches: Vec<ActionBatch>,
}

/// How an action failed.
#[derive(JsonSchema)]
pub(crate) struct ActionFailure {
    /// The state that the action leaves the workspace in; absent or null: `ERROR`.
    state: Option<FailedState>,
    /// What happened, for the audit; at most 256 code points.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    detail: Option<String>,
}

/// An attempt of a provider to make an action happen.
#[derive(JsonSchema)]
pub(crate) struct ActionDispatch {
    /// Name of the provider, 1 to 256 code points.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    provider: String,
    /// Number of the attempt: one more than the action has had. The last attempt once more changes nothing.
    #[schemars(range(min = 1))]
    attempt: u32,
    /// Distinguishes two processes of that name: a text that each chooses at random, 1 to 256 code points. Without it they may both begin
    /// the same attempt.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    instance: Option<String>,
}

/// What a provider notes of an attempt.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct ActionNote {
    /// Number of the attempt, which must be the last one.
    #[schemars(range(min = 1))]
    attempt: u32,
    /// What its support will ask for, 1 to 256 code points.
    #[schemars(length(min = 1, max = TEXT_MAX))]
    request_id: String,
}

/// Why a request was refused: problem details (RFC 9457). Decide by `code`; the texts may change.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct ProblemDetails {
    /// The section of the RFC that defines the status.
    #[schemars(url)]
    r#type: String,
    /// The reason phrase of the status, for people.
    title: String,
    /// The HTTP status.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// What was wrong with this request, for people.
    #[schemars(skip_serializing_if = "String::is_empty")]
    detail: String,
    /// W3C trace id: that of the request's `traceparent`, or a new one.
    #[schemars(regex(pattern = "^00-[0-9a-f]{32}-[0-9a-f]{16}-00$"))]
    trace_id: String,
    /// What was wrong with this request, for programs.
    code: Code,
}

/// Why a request was refused: problem details with the fields that are wrong.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(crate) struct ValidationProblemDetails {
    #[schemars(flatten)]
    problem: ProblemDetails,
    /// The messages of each field that is wrong: a query parameter by its name, a member of the body by its path, such as `$.id`.
    #[schemars(skip_serializing_if = "BTreeMap::is_empty")]
    errors: BTreeMap<String, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::super::body::{FailureBody, HoldBody};
    use super::*;

    #[test]
    fn request_shapes_have_the_members_that_are_read() {
        for (schema, read) in [
            (schemars::schema_for!(NewHold), HoldBody::FIELDS),
            (schemars::schema_for!(ActionFailure), FailureBody::FIELDS),
        ] {
            let mut read: Vec<_> = read.iter().map(|field| field.name).collect();
            read.sort_unstable();
            let properties = schema.get("properties").unwrap().as_object().unwrap();
            assert_eq!(properties.keys().collect::<Vec<_>>(), read);
        }
    }
}
