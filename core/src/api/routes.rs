//! THE table: every endpoint of the interface document, then the operator surface, then questions about the fleet.
//!
//! The router, the key check, the body limits, the generator of the OpenAPI document and the conformance suite all read these rows.

use crate::model::{Action, AuditAction, Question, Scope, Stream};
use crate::view::query::Ask;
use crate::view::query::advice::{AdviceQuery, AdviceTotalsQuery};
use crate::view::query::heatmap::HeatmapQuery;
use crate::view::query::holds::HoldsQuery;
use crate::view::query::processes::ProcessesQuery;
use crate::view::query::series::SeriesQuery;
use crate::view::query::startup::StartupQuery;
use crate::view::query::timeline::TimelineQuery;
use crate::view::query::top::TopQuery;
use crate::view::query::workspaces::WorkspaceRowsQuery;
use crate::wire::problem::Code;

use super::endpoint::{Access, Answer, Handler, Method, RequestBody, Route};
use super::parameters::{
    ACTION, FIGURES, FORMAT, GROUPS, NUMBER_OF_ACTIVITIES, PAGING, PAGING_OF_COLUMNS, Param, RANGE,
    SHAPE, SORT, TIMES, WORKSPACES, duration, flag, moment, number, required, text,
};
use super::{Call, Handled, actions, events, information, operator, outbox, query, stats};

const ACTION_PROBLEMS: &[Code] = &[
    Code::WorkSpaceNotFound,
    Code::AmbiguousWorkSpace,
    Code::InvalidResourceState,
    Code::OperationInProgress,
];
const ACTION_PROBLEMS_UNDER_HOLD: &[Code] = &[
    Code::WorkSpaceNotFound,
    Code::AmbiguousWorkSpace,
    Code::InvalidResourceState,
    Code::OperationInProgress,
    Code::LitigationHold,
];

/// A read with the scope of the Information area.
const fn information(
    operation_id: &'static str,
    path: &'static str,
    handle: fn(&Call<'_>) -> Handled,
    answer: Answer,
) -> Route {
    let access = Access::Key(Scope::Read);
    let handler = Handler::Call(handle);
    Route::new(operation_id, (Method::Get, path), access, handler, answer).slow()
}

const fn action(
    action: Action,
    operation_id: &'static str,
    path: &'static str,
    problems: &'static [Code],
) -> Route {
    let access = Access::Key(Scope::Act);
    let handler = Handler::Action(actions::act, action);
    Route::new(
        operation_id,
        (Method::Post, path),
        access,
        handler,
        Answer::Empty,
    )
    .query(&[ACTION])
    .audited(AuditAction::Lifecycle(action))
    .problems(problems)
}

const fn stats(
    operation_id: &'static str,
    path: &'static str,
    handle: fn(&Call<'_>) -> Handled,
    answer: Answer,
) -> Route {
    let handler = Handler::Call(handle);
    Route::new(
        operation_id,
        (Method::Get, path),
        Access::Telemetry,
        handler,
        answer,
    )
}

const fn post(stream: Stream, operation_id: &'static str, path: &'static str) -> Route {
    let handler = Handler::Stream(stats::post, stream);
    let access = Access::Telemetry;
    Route::new(
        operation_id,
        (Method::Post, path),
        access,
        handler,
        Answer::Empty,
    )
    .body(RequestBody::Record(stream))
    .problems(&[Code::QueueFull])
}

const fn operator(
    operation_id: &'static str,
    method: Method,
    path: &'static str,
    handle: fn(&Call<'_>) -> Handled,
    answer: Answer,
) -> Route {
    let access = Access::Key(Scope::Admin);
    Route::new(
        operation_id,
        (method, path),
        access,
        Handler::Call(handle),
        answer,
    )
}

/// A question about the fleet whose parameters are in the query.
const fn question<Q>(operation_id: &'static str, path: &'static str) -> Route
where
    Q: Ask,
    Q::Answer: query::Page,
{
    let answer = Answer::Rows(Q::QUESTION);
    information(operation_id, path, query::rows::<Q>, answer)
}

const HISTORY: &[&[Param]] = &[&[required("instanceId")], TIMES, PAGING];

/// Histories are read with the scope of the Information area.
const fn history(stream: Stream, operation_id: &'static str, path: &'static str) -> Route {
    let access = Access::Key(Scope::Read);
    let handler = Handler::Stream(operator::history, stream);
    let answer = Answer::History(stream);
    Route::new(operation_id, (Method::Get, path), access, handler, answer)
        .query(HISTORY)
        .slow()
}

/// Every endpoint, in the order of the interface document, then the operator surface, then the questions about the fleet.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    information("getUserInformation", "/api/Information/GetUserInformation", information::get_user_information, Answer::User).query(&[&[text("username")]]).problems(&[Code::UserNotFound]),
    information("get24HourActivity", "/api/Information/Get24HourActivity", information::get_24_hour_activity, Answer::Activities),
    information("getAdminActivity", "/api/Information/GetAdminActivity", information::get_admin_activity, Answer::AuditRows).query(&[&[NUMBER_OF_ACTIVITIES]]).or_audit(),
    Route::new("removeWorkSpaceDbEntry", (Method::Post, "/api/Information/RemoveWorkSpaceDbEntry"), Access::Key(Scope::Act), Handler::Call(information::remove_work_space_db_entry), Answer::Removed)
        .query(&[&[text("workSpaceId")]]).audited(AuditAction::RemoveWorkspace).problems(&[Code::WorkSpaceNotFound, Code::LitigationHold, Code::OperationInProgress]),
    information("getAllWorkSpaces", "/api/Information/GetAllWorkSpaces", information::get_all_work_spaces, Answer::NegotiatedPage).query(&[PAGING]),
    information("getWorkSpacesOnLitigationHold", "/api/Information/GetWorkSpacesOnLitigationHold", information::get_work_spaces_on_litigation_hold, Answer::NegotiatedPage).query(&[PAGING]).or_audit(),

    action(Action::Reboot, "rebootWorkSpace", "/api/Actions/RebootWorkSpace", ACTION_PROBLEMS),
    action(Action::RecoveryReboot, "recoveryRebootWorkSpace", "/api/Actions/RecoveryRebootWorkSpace", ACTION_PROBLEMS),
    action(Action::Rebuild, "rebuildWorkSpace", "/api/Actions/RebuildWorkSpace", ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Restore, "restoreWorkSpace", "/api/Actions/RestoreWorkSpace", ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Terminate, "terminateWorkSpace", "/api/Actions/TerminateWorkSpace", ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Start, "startWorkSpace", "/api/Actions/StartWorkSpace", ACTION_PROBLEMS),
    action(Action::ChangeComputeType, "changeComputeType", "/api/Actions/ChangeComputeType", &[Code::WorkSpaceNotFound, Code::InvalidResourceState, Code::OperationInProgress, Code::UnsupportedConfiguration])
        .query(&[&[text("workSpaceId"), text("requester"), text("computeType")]]),

    post(Stream::Stats, "postStats", "/api/Stats/Post"),
    stats("testStats", "/api/Stats/Test", stats::test, Answer::Empty),
    stats("getQueueCount", "/api/Stats/queue/count", stats::queue_count, Answer::Count),
    post(Stream::Activity, "postActivity", "/api/Stats/PostActivity"),
    post(Stream::Startup, "postStartupMetrics", "/api/Stats/PostStartupMetrics"),
    post(Stream::Processes, "postProcesses", "/api/Stats/PostProcesses"),

    operator("listWorkspaces", Method::Get, "/operator/workspaces", operator::list_workspaces, Answer::Page).query(&[WORKSPACES, PAGING]).exported().slow(),
    operator("importWorkspaces", Method::Post, "/operator/workspaces", operator::import_workspaces, Answer::Imported).query(&[&[flag("dryRun")]]).body(RequestBody::Workspaces).audited(AuditAction::ImportWorkspaces),
    operator("getWorkspace", Method::Get, "/operator/workspaces/{workSpId}", operator::get_workspace, Answer::WorkspaceView).problems(&[Code::WorkSpaceNotFound]),
    operator("putWorkspace", Method::Put, "/operator/workspaces/{workSpId}", operator::put_workspace, Answer::WorkspaceView).query(&[&[flag("override")]]).body(RequestBody::Workspace)
        .audited(AuditAction::UpdateWorkspace).problems(&[Code::OperationInProgress, Code::LitigationHold]),
    operator("placeLitigationHold", Method::Put, "/operator/workspaces/{workSpId}/litigation-hold", operator::place_hold, Answer::WorkspaceView).body(RequestBody::Hold)
        .audited(AuditAction::PlaceHold).problems(&[Code::WorkSpaceNotFound]),
    operator("releaseLitigationHold", Method::Delete, "/operator/workspaces/{workSpId}/litigation-hold", operator::release_hold, Answer::WorkspaceView)
        .audited(AuditAction::ReleaseHold).problems(&[Code::WorkSpaceNotFound, Code::NotFound]),
    operator("postTelemetryBatch", Method::Post, "/operator/telemetry", operator::post_batch, Answer::Accepted).access(Scope::Ingest).query(&[&[text("stream")]]).body(RequestBody::Batch).problems(&[Code::QueueFull]),
    operator("removeTelemetry", Method::Delete, "/operator/telemetry", operator::remove_telemetry, Answer::RemovedTelemetry).query(&[&[text("instance"), text("stream"), moment("before")]])
        .audited(AuditAction::RemoveTelemetry).slow().problems(&[Code::LitigationHold]),
    history(Stream::Stats, "getStatsHistory", "/operator/telemetry/stats"),
    history(Stream::Activity, "getActivityHistory", "/operator/telemetry/activity"),
    history(Stream::Startup, "getStartupHistory", "/operator/telemetry/startup"),
    history(Stream::Processes, "getProcessesHistory", "/operator/telemetry/processes"),
    operator("listActions", Method::Get, "/operator/actions", outbox::list, Answer::Actions).query(&[&[text("state"), text("workSpaceId")], PAGING]).slow(),
    Route::new("startActions", (Method::Post, "/operator/actions"), Access::Key(Scope::Act), Handler::Call(outbox::start_batch), Answer::ActionBatch).body(RequestBody::ActionBatch).problems(&[Code::Throttled]),
    operator("listBatches", Method::Get, "/operator/batches", outbox::list_batches, Answer::ActionBatches).access(Scope::Read).slow(),
    operator("getBatch", Method::Get, "/operator/batches/{id}", outbox::batch, Answer::ActionBatch).access(Scope::Read).problems(&[Code::NotFound]),
    operator("stopBatch", Method::Post, "/operator/batches/{id}/stop", outbox::stop_batch, Answer::ActionBatch).access(Scope::Act).problems(&[Code::NotFound]),
    operator("dispatchAction", Method::Post, "/operator/actions/{id}/dispatch", outbox::dispatch, Answer::Action).body(RequestBody::ActionDispatch)
        .problems(&[Code::NotFound, Code::InvalidResourceState, Code::Cancelled, Code::LitigationHold]),
    operator("noteAction", Method::Post, "/operator/actions/{id}/note", outbox::note_action, Answer::Empty).body(RequestBody::ActionNote).problems(&[Code::NotFound, Code::InvalidResourceState, Code::Cancelled]),
    operator("completeAction", Method::Post, "/operator/actions/{id}/complete", outbox::complete, Answer::Empty).problems(&[Code::NotFound, Code::InvalidResourceState]),
    operator("failAction", Method::Post, "/operator/actions/{id}/fail", outbox::fail, Answer::Empty).body(RequestBody::ActionFailure).problems(&[Code::NotFound, Code::InvalidResourceState]),
    operator("listAudit", Method::Get, "/operator/audit", operator::list_audit, Answer::Audit).access(Scope::Audit)
        .query(&[TIMES, &[text("workSpaceId"), text("requester"), text("action"), text("result"), number("batchId")], PAGING]).exported().slow(),
    operator("getStore", Method::Get, "/operator/store", operator::store, Answer::Store),
    operator("listKeys", Method::Get, "/operator/keys", operator::list_keys, Answer::Keys).audited(AuditAction::ListKeys).slow(),
    operator("issueKey", Method::Post, "/operator/keys", operator::issue_key, Answer::IssuedKey).body(RequestBody::NewKey).audited(AuditAction::IssueKey).problems(&[Code::DuplicateKeyName]),
    operator("revokeKey", Method::Delete, "/operator/keys/{id}", operator::revoke_key, Answer::Empty).query(&[&[flag("force")]])
        .audited(AuditAction::RevokeKey).problems(&[Code::NotFound, Code::LastAdminKey]),

    Route::new("getKey", (Method::Get, "/query/key"), Access::Key(Scope::Read), Handler::Call(query::key), Answer::Key).or_audit(),
    information("queryFleet", "/query/fleet", query::fleet, Answer::Rows(Question::Fleet)),
    question::<WorkspaceRowsQuery>("queryWorkspaces", "/query/workspaces").query(&[&[text("workSpId")], WORKSPACES, FIGURES, &[duration("window"), SORT], SHAPE, PAGING_OF_COLUMNS]).exported(),
    question::<HoldsQuery>("queryHolds", "/query/holds").query(&[&[text("workSpId")], WORKSPACES, &[SORT], SHAPE, PAGING]).exported().or_audit(),
    question::<TopQuery>("queryTop", "/query/top").query(&[&[required("metric"), text("statistic")], RANGE, SHAPE, PAGING]),
    Route::new("previewAction", (Method::Post, "/query/preview"), Access::Key(Scope::Act), Handler::Call(query::preview), Answer::Rows(Question::Preview)).query(&[SHAPE]).body(RequestBody::Preview).slow(),
    question::<ProcessesQuery>("queryProcesses", "/query/processes").query(&[&[text("instanceId")], RANGE, &[SORT], SHAPE, PAGING]),
    question::<TimelineQuery>("queryTimeline", "/query/timeline").query(&[&[required("workSpaceId")], RANGE, SHAPE, PAGING]).problems(&[Code::WorkSpaceNotFound]),
    question::<AdviceQuery>("queryAdvice", "/query/advice").query(&[&[text("advice")], RANGE, &[text("workSpId")], WORKSPACES, SHAPE, PAGING]),
    question::<AdviceTotalsQuery>("queryAdviceTotals", "/query/advice/totals").query(&[RANGE, &[text("workSpId")], WORKSPACES, SHAPE]),
    question::<SeriesQuery>("querySeries", "/query/series").query(&[&[text("instanceId"), text("metrics")], RANGE, &[duration("step")], GROUPS, SHAPE]),
    question::<StartupQuery>("queryStartup", "/query/startup").query(&[RANGE, &[duration("step")], GROUPS, SHAPE]),
    question::<HeatmapQuery>("queryHeatmap", "/query/heatmap").query(&[&[text("of")], RANGE, &[text("offset")], SHAPE]),
    information("queryConditions", "/query/conditions", query::conditions, Answer::Rows(Question::Conditions)).query(&[SHAPE]),
    information("getEvents", "/query/events", events::get_events, Answer::Events).query(&[&[number("after")], PAGING]),
    information("queryMetrics", "/query/metrics", query::metrics, Answer::Rows(Question::Metrics)),
    information("queryExport", "/query/export", query::export, Answer::Export).query(&[&[required("stream")], RANGE, &[text("instanceId")], &[FORMAT]]).audited(AuditAction::QueryExport),
];
