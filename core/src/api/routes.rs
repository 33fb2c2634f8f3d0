//! THE table: every endpoint of the interface document, then the operator surface, then questions about the fleet.
//!
//! The router, the key check, the body limits, the generator of the OpenAPI document and the conformance suite all read these rows.

use crate::model::{Action, AuditAction, Question, Scope, Stream};
use crate::wire::problem::Code;

use super::endpoint::{Access, Answer, Endpoint, Method, Param, RequestBody, Route, Work};
use super::parameters::{
    ACTION_FILTERS, ACTION_PARAMS, ADVICE_PARAMS, AUDIT_FILTERS, CHANGE_PARAMS, EVENT_PARAMS,
    EXPORT_PARAMS, FORCE, HEATMAP, HISTORY_PARAMS, HOLDS, NUMBER_OF_ACTIVITIES, OVERRIDE, PAGING,
    PREVIEW_PARAMS, PROCESSES_PARAMS, REMOVAL_PARAMS, SERIES, STARTUPS, TIMELINE_PARAMS,
    TOP_PARAMS, WORKSPACE_FILTERS, WORKSPACE_ROWS, text,
};

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

const fn information(
    endpoint: Endpoint,
    operation_id: &'static str,
    path: &'static str,
    query: &'static [Param],
    answer: Answer,
    problems: &'static [Code],
) -> Route {
    Route {
        endpoint,
        operation_id,
        method: Method::Get,
        path,
        access: Access::Key(Scope::Read),
        query,
        body: RequestBody::None,
        answer,
        work: Work::Slow,
        audited: None,
        problems,
    }
}

const fn action(
    action: Action,
    operation_id: &'static str,
    path: &'static str,
    query: &'static [Param],
    problems: &'static [Code],
) -> Route {
    Route {
        endpoint: Endpoint::Act(action),
        operation_id,
        method: Method::Post,
        path,
        access: Access::Key(Scope::Act),
        query,
        body: RequestBody::None,
        answer: Answer::Empty,
        work: Work::Quick,
        audited: Some(AuditAction::Lifecycle(action)),
        problems,
    }
}

const fn stats(
    endpoint: Endpoint,
    operation_id: &'static str,
    method: Method,
    path: &'static str,
    body: RequestBody,
    answer: Answer,
) -> Route {
    Route {
        endpoint,
        operation_id,
        method,
        path,
        access: Access::Telemetry,
        query: &[],
        body,
        answer,
        work: Work::Quick,
        audited: None,
        problems: match body {
            RequestBody::Record(_) => &[Code::QueueFull],
            RequestBody::None
            | RequestBody::Batch
            | RequestBody::Workspace
            | RequestBody::Workspaces
            | RequestBody::Hold
            | RequestBody::NewKey
            | RequestBody::ActionFailure
            | RequestBody::ActionDispatch
            | RequestBody::ActionNote
            | RequestBody::Preview => &[],
        },
    }
}

const fn operator(
    endpoint: Endpoint,
    operation_id: &'static str,
    method: Method,
    path: &'static str,
    body: RequestBody,
    answer: Answer,
    problems: &'static [Code],
) -> Route {
    Route {
        endpoint,
        operation_id,
        method,
        path,
        access: Access::Key(Scope::Admin),
        query: &[],
        body,
        answer,
        work: Work::Quick,
        audited: None,
        problems,
    }
}

const fn with_query(mut route: Route, query: &'static [Param]) -> Route {
    route.query = query;
    route
}

const fn audited(action: AuditAction, mut route: Route) -> Route {
    route.audited = Some(action);
    route
}

const fn slow(mut route: Route) -> Route {
    route.work = Work::Slow;
    route
}

/// Histories are read with the scope of the Information area.
const fn history(stream: Stream, operation_id: &'static str, path: &'static str) -> Route {
    let answer = Answer::History(stream);
    let endpoint = Endpoint::History(stream);
    information(endpoint, operation_id, path, HISTORY_PARAMS, answer, &[])
}

/// Questions about the fleet are read with the scope of the Information area.
const fn question(
    question: Question,
    operation_id: &'static str,
    path: &'static str,
    query: &'static [Param],
) -> Route {
    let answer = Answer::Rows(question);
    let endpoint = Endpoint::Query(question);
    information(endpoint, operation_id, path, query, answer, &[])
}

/// Every endpoint, in the order of the interface document, then the operator surface, then the questions about the fleet.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    information(Endpoint::GetUserInformation, "getUserInformation", "/api/Information/GetUserInformation", &[text("username")], Answer::User, &[Code::UserNotFound]),
    information(Endpoint::Get24HourActivity, "get24HourActivity", "/api/Information/Get24HourActivity", &[], Answer::Activities, &[]),
    information(Endpoint::GetAdminActivity, "getAdminActivity", "/api/Information/GetAdminActivity", &[NUMBER_OF_ACTIVITIES], Answer::AuditRows, &[]),
    Route {
        endpoint: Endpoint::RemoveWorkSpaceDbEntry,
        operation_id: "removeWorkSpaceDbEntry",
        method: Method::Post,
        path: "/api/Information/RemoveWorkSpaceDbEntry",
        access: Access::Key(Scope::Act),
        query: &[text("workSpaceId")],
        body: RequestBody::None,
        answer: Answer::Removed,
        work: Work::Quick,
        audited: Some(AuditAction::RemoveWorkspace),
        problems: &[Code::WorkSpaceNotFound, Code::LitigationHold, Code::OperationInProgress],
    },
    information(Endpoint::GetAllWorkSpaces, "getAllWorkSpaces", "/api/Information/GetAllWorkSpaces", PAGING, Answer::NegotiatedPage, &[]),
    information(Endpoint::GetWorkSpacesOnLitigationHold, "getWorkSpacesOnLitigationHold", "/api/Information/GetWorkSpacesOnLitigationHold", PAGING, Answer::NegotiatedPage, &[]),

    action(Action::Reboot, "rebootWorkSpace", "/api/Actions/RebootWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS),
    action(Action::RecoveryReboot, "recoveryRebootWorkSpace", "/api/Actions/RecoveryRebootWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS),
    action(Action::Rebuild, "rebuildWorkSpace", "/api/Actions/RebuildWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Restore, "restoreWorkSpace", "/api/Actions/RestoreWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Terminate, "terminateWorkSpace", "/api/Actions/TerminateWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS_UNDER_HOLD),
    action(Action::Start, "startWorkSpace", "/api/Actions/StartWorkSpace", ACTION_PARAMS, ACTION_PROBLEMS),
    action(Action::ChangeComputeType, "changeComputeType", "/api/Actions/ChangeComputeType", CHANGE_PARAMS,
        &[Code::WorkSpaceNotFound, Code::InvalidResourceState, Code::OperationInProgress, Code::UnsupportedConfiguration]),

    stats(Endpoint::Post(Stream::Stats), "postStats", Method::Post, "/api/Stats/Post", RequestBody::Record(Stream::Stats), Answer::Empty),
    stats(Endpoint::Test, "testStats", Method::Get, "/api/Stats/Test", RequestBody::None, Answer::Empty),
    stats(Endpoint::QueueCount, "getQueueCount", Method::Get, "/api/Stats/queue/count", RequestBody::None, Answer::Count),
    stats(Endpoint::Post(Stream::Activity), "postActivity", Method::Post, "/api/Stats/PostActivity", RequestBody::Record(Stream::Activity), Answer::Empty),
    stats(Endpoint::Post(Stream::Startup), "postStartupMetrics", Method::Post, "/api/Stats/PostStartupMetrics", RequestBody::Record(Stream::Startup), Answer::Empty),
    stats(Endpoint::Post(Stream::Processes), "postProcesses", Method::Post, "/api/Stats/PostProcesses", RequestBody::Record(Stream::Processes), Answer::Empty),

    slow(with_query(operator(Endpoint::ListWorkspaces, "listWorkspaces", Method::Get, "/operator/workspaces", RequestBody::None, Answer::Page, &[]), WORKSPACE_FILTERS)),
    audited(AuditAction::ImportWorkspaces, operator(Endpoint::ImportWorkspaces, "importWorkspaces", Method::Post, "/operator/workspaces", RequestBody::Workspaces, Answer::Imported, &[])),
    operator(Endpoint::GetWorkspace, "getWorkspace", Method::Get, "/operator/workspaces/{workSpId}", RequestBody::None, Answer::WorkspaceView, &[Code::WorkSpaceNotFound]),
    audited(AuditAction::UpdateWorkspace, with_query(operator(Endpoint::PutWorkspace, "putWorkspace", Method::Put, "/operator/workspaces/{workSpId}", RequestBody::Workspace, Answer::WorkspaceView, &[Code::OperationInProgress, Code::LitigationHold]), &[OVERRIDE])),
    audited(AuditAction::PlaceHold, operator(Endpoint::PlaceHold, "placeLitigationHold", Method::Put, "/operator/workspaces/{workSpId}/litigation-hold", RequestBody::Hold, Answer::WorkspaceView, &[Code::WorkSpaceNotFound])),
    audited(AuditAction::ReleaseHold, operator(Endpoint::ReleaseHold, "releaseLitigationHold", Method::Delete, "/operator/workspaces/{workSpId}/litigation-hold", RequestBody::None, Answer::WorkspaceView, &[Code::WorkSpaceNotFound, Code::NotFound])),
    operator(Endpoint::PostBatch, "postTelemetryBatch", Method::Post, "/operator/telemetry", RequestBody::Batch, Answer::Accepted, &[Code::QueueFull]),
    slow(audited(AuditAction::RemoveTelemetry, with_query(operator(Endpoint::RemoveTelemetry, "removeTelemetry", Method::Delete, "/operator/telemetry", RequestBody::None, Answer::RemovedTelemetry, &[Code::LitigationHold]), REMOVAL_PARAMS))),
    history(Stream::Stats, "getStatsHistory", "/operator/telemetry/stats"),
    history(Stream::Activity, "getActivityHistory", "/operator/telemetry/activity"),
    history(Stream::Startup, "getStartupHistory", "/operator/telemetry/startup"),
    history(Stream::Processes, "getProcessesHistory", "/operator/telemetry/processes"),
    slow(with_query(operator(Endpoint::ListActions, "listActions", Method::Get, "/operator/actions", RequestBody::None, Answer::Actions, &[]), ACTION_FILTERS)),
    operator(Endpoint::DispatchAction, "dispatchAction", Method::Post, "/operator/actions/{id}/dispatch", RequestBody::ActionDispatch, Answer::Action, &[Code::NotFound, Code::InvalidResourceState, Code::Cancelled, Code::LitigationHold]),
    operator(Endpoint::NoteAction, "noteAction", Method::Post, "/operator/actions/{id}/note", RequestBody::ActionNote, Answer::Empty, &[Code::NotFound, Code::InvalidResourceState, Code::Cancelled]),
    operator(Endpoint::CompleteAction, "completeAction", Method::Post, "/operator/actions/{id}/complete", RequestBody::None, Answer::Empty, &[Code::NotFound, Code::InvalidResourceState]),
    operator(Endpoint::FailAction, "failAction", Method::Post, "/operator/actions/{id}/fail", RequestBody::ActionFailure, Answer::Empty, &[Code::NotFound, Code::InvalidResourceState]),
    slow(with_query(operator(Endpoint::ListAudit, "listAudit", Method::Get, "/operator/audit", RequestBody::None, Answer::Audit, &[]), AUDIT_FILTERS)),
    slow(audited(AuditAction::ListKeys, operator(Endpoint::ListKeys, "listKeys", Method::Get, "/operator/keys", RequestBody::None, Answer::Keys, &[]))),
    audited(AuditAction::IssueKey, operator(Endpoint::IssueKey, "issueKey", Method::Post, "/operator/keys", RequestBody::NewKey, Answer::IssuedKey, &[Code::DuplicateKeyName])),
    audited(AuditAction::RevokeKey, with_query(operator(Endpoint::RevokeKey, "revokeKey", Method::Delete, "/operator/keys/{id}", RequestBody::None, Answer::Empty, &[Code::NotFound, Code::LastAdminKey]), &[FORCE])),

    Route {
        work: Work::Quick,
        ..information(Endpoint::GetKey, "getKey", "/query/key", &[], Answer::Key, &[])
    },
    question(Question::Fleet, "queryFleet", "/query/fleet", &[]),
    question(Question::Workspaces, "queryWorkspaces", "/query/workspaces", WORKSPACE_ROWS),
    question(Question::Holds, "queryHolds", "/query/holds", HOLDS),
    question(Question::Top, "queryTop", "/query/top", TOP_PARAMS),
    Route {
        method: Method::Post,
        access: Access::Key(Scope::Act),
        body: RequestBody::Preview,
        ..question(Question::Preview, "previewAction", "/query/preview", PREVIEW_PARAMS)
    },
    question(Question::Processes, "queryProcesses", "/query/processes", PROCESSES_PARAMS),
    Route {
        problems: &[Code::WorkSpaceNotFound],
        ..question(Question::Timeline, "queryTimeline", "/query/timeline", TIMELINE_PARAMS)
    },
    question(Question::Advice, "queryAdvice", "/query/advice", ADVICE_PARAMS),
    question(Question::Series, "querySeries", "/query/series", SERIES),
    question(Question::Startup, "queryStartup", "/query/startup", STARTUPS),
    question(Question::Heatmap, "queryHeatmap", "/query/heatmap", HEATMAP),
    information(Endpoint::GetEvents, "getEvents", "/query/events", EVENT_PARAMS, Answer::Events, &[]),
    question(Question::Metrics, "queryMetrics", "/query/metrics", &[]),
    audited(AuditAction::QueryExport, information(Endpoint::Export, "queryExport", "/query/export", EXPORT_PARAMS, Answer::Export, &[])),
];
