// Made by `cargo openapi` from core/src/testing and the route table.
/** An operation id of the OpenAPI document. */
export type OperationId =
    | "getUserInformation"
    | "get24HourActivity"
    | "getAdminActivity"
    | "removeWorkSpaceDbEntry"
    | "getAllWorkSpaces"
    | "getWorkSpacesOnLitigationHold"
    | "rebootWorkSpace"
    | "recoveryRebootWorkSpace"
    | "rebuildWorkSpace"
    | "restoreWorkSpace"
    | "terminateWorkSpace"
    | "startWorkSpace"
    | "changeComputeType"
    | "postStats"
    | "testStats"
    | "getQueueCount"
    | "postActivity"
    | "postStartupMetrics"
    | "postProcesses"
    | "listWorkspaces"
    | "importWorkspaces"
    | "getWorkspace"
    | "putWorkspace"
    | "placeLitigationHold"
    | "releaseLitigationHold"
    | "postTelemetryBatch"
    | "removeTelemetry"
    | "getStatsHistory"
    | "getActivityHistory"
    | "getStartupHistory"
    | "getProcessesHistory"
    | "listActions"
    | "startActions"
    | "listBatches"
    | "getBatch"
    | "stopBatch"
    | "dispatchAction"
    | "noteAction"
    | "completeAction"
    | "failAction"
    | "listAudit"
    | "getStore"
    | "listKeys"
    | "issueKey"
    | "revokeKey"
    | "getKey"
    | "queryFleet"
    | "queryWorkspaces"
    | "queryHolds"
    | "queryTop"
    | "previewAction"
    | "queryProcesses"
    | "queryTimeline"
    | "queryAdvice"
    | "queryAdviceTotals"
    | "querySeries"
    | "queryStartup"
    | "queryHeatmap"
    | "queryConditions"
    | "getEvents"
    | "queryMetrics"
    | "queryExport";
/** How a storage fails. */
export type StorageFault =
    | "full"
    | "slow"
    | "torn"
    | "lost-sync";
/** Operation id of the requests that the rule meets, or `*` for every request. */
export type RuleOperation = OperationId | "*";
/** How the storage fails, in place of `operation`. */
export type RuleStorage = StorageFault;
/** Code of the refusal; its status and its body are those of the engine. */
export type RuleCode = import("../types.js").ProblemCode;
/** Status of an empty response, as a proxy sends it; beside `code` it must be the status of the code. */
export type RuleStatus = number;
/** How often the rule applies; without it until the double is reset. */
export type RuleTimes = number;
/** How many requests, writes or syncs it lets through first; 0 without it. */
export type RuleAfter = number;
/** Milliseconds that a response, or a sync of `slow`, is held back; less when the clock of the double is advanced meanwhile. */
export type RuleLatency = number;
