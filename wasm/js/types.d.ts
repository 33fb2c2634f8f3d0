// Written by `cargo openapi`; the texts are the documentation of the Rust types.

/** An action on many workspaces, and how far it is. */
export interface ActionBatch {
    /** Number of the batch, which the audit rows and events of its actions have too; never used twice. */
    batchId: number;
    /** The action. */
    action: BatchAction;
    /** The new type of a `ChangeComputeType`. */
    computeType: string | null;
    /** Who asked; null for the key. */
    requester: string | null;
    /** Name of the key that started it; null where the host itself did. */
    apiKeyName: string | null;
    /** How many actions run at once. */
    atOnce: number;
    /** How many are refused or fail until no further one begins; null for any number. */
    stopAfterFailures: number | null;
    /** When it was started. */
    startedAt: string;
    /** When its last action ended; null while it runs. */
    endedAt: string | null;
    /** Why no further action begins; null where all have begun or will. */
    stopped: BatchStop | null;
    /** How many have not begun. */
    waiting: number;
    /** How many run. */
    running: number;
    /** How many ended as intended, or had nothing to do. */
    succeeded: number;
    /** How many were refused, failed or were cancelled. */
    failed: number;
    /** The workspaces, in their order; empty in a list of batches. */
    rows: BatchItem[];
}

/** The batches of actions that run, and the newest that have ended; newest first, without their workspaces. */
export interface ActionBatchList {
    /** The batches. */
    batches: ActionBatch[];
}

/** An action to start on many workspaces. */
export interface ActionBatchRequest {
    /** The action. */
    action: BatchAction;
    /** `workSpId` of each workspace, each once, in the order in which they begin. */
    workSpaceIds: string[];
    /** How many actions run at once; absent or null: all. */
    atOnce?: number | null;
    /** The new compute type of a `ChangeComputeType`, in any case; other actions ignore it. */
    computeType?: string | null;
    /** Who asked, in free text for the audit; absent or null: the name of the key. */
    requester?: string | null;
    /** How many are refused or fail until no further one begins; absent or null: any number. */
    stopAfterFailures?: number | null;
}

/** An attempt of a provider to make an action happen. */
export interface ActionDispatch {
    /** Name of the provider, 1 to 256 code points. */
    provider: string;
    /** Number of the attempt: one more than the action has had. The last attempt once more changes nothing. */
    attempt: number;
    /** Distinguishes two processes of that name: a text that each chooses at random, 1 to 256 code points. Without it they may both begin the same attempt. */
    instance?: string | null;
}

/** How an action failed. */
export interface ActionFailure {
    /** What happened, for the audit; at most 256 code points. */
    detail?: string | null;
    /** The state that the action leaves the workspace in; absent or null: `ERROR`. */
    state?: FailedState | null;
}

/** What a provider notes of an attempt. */
export interface ActionNote {
    /** Number of the attempt, which must be the last one. */
    attempt: number;
    /** What its support will ask for, 1 to 256 code points. */
    requestId: string;
}

/** Something a user did: a logon, a lock, a disconnect. Every field is optional. */
export interface ActivityRecord {
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who acted. */
    username?: string | null;
    /** What happened, for example `Logon`. */
    activity?: string | null;
    /** When it happened. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    activityTime?: string;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
    /** Tenant that the instance belongs to. */
    tenantId?: string | null;
}

/** One page of the history of one instance, oldest first. */
export interface ActivityRecordPage {
    /** The records of this page; fewer than `limit` where they are large. */
    records: ReceivedActivityRecord[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** One row of the audit: a call that changed the fleet, handed out data, or was refused. */
export interface AdminActivity {
    /** Number of the row; never used twice. */
    id: number;
    /** When the call was made. */
    activityTime: string;
    /** Who asked, in free text: the parameter `requester` of the call, else the name of the key. */
    requester: string;
    /** What was asked for. */
    action: AuditAction;
    /** `workSpId` of the workspace, as named in the call or found by its account. */
    workSpaceId: string | null;
    /** User of the workspace at that time. */
    username: string | null;
    /** Computer name of the workspace at that time. */
    computerName: string | null;
    /** The outcome. */
    result: AuditResult;
    /** State before the call. */
    previousState: string | null;
    /** State after it; while an action runs, the transitional one. */
    newState: string | null;
    /** When the action ended, or was refused. */
    completedTime: string | null;
    /** Code of the refusal and the key that it is about, what the host said of a failure, what changed of an identity, or what was handed out; then how many calls the row counts. */
    detail: string | null;
    /** Name of the key used, or of the caller that a host has authenticated otherwise; null where the host itself acted. A client can choose `requester`, and never this. */
    apiKeyName: string | null;
    /** Number of the batch that the action is of. Left out where it is of none. */
    batchId?: number | null;
    /** Whether the clock ends the action, and no provider carries it out: nothing happens to a desktop. Left out where it does not. */
    simulated?: boolean;
}

/** An advice about a desktop. */
export interface AdviceRow {
    /** Id of the workspace. */
    workSpId: string;
    /** User that it belongs to. */
    username: string | null;
    /** `idle`, it never reported or nobody used it; `alwaysOnCheaper` or `autoStopCheaper`, the other running mode costs less; `overloaded`, its health score is not good; `oversized`, half of it would do. */
    advice: string;
    /** Hours that its use costs in a month of 30 days under `AUTO_STOP`; null where it never reported. */
    hours: number | null;
    /** Hours a month above which `ALWAYS_ON` costs less; null where none is known of its compute type. */
    limitHours: number | null;
    /** What it is judged by, in a sentence. */
    evidence: string;
    /** Always true: the future is not known. */
    estimate: boolean;
    /** What following it saves in a month of 30 days, in the currency of the prices of `cost.prices`: for `idle` the whole desktop. Null where a price is not known, and of `overloaded`. */
    savingPerMonth: number | null;
}

/** One page of rows. */
export interface AdviceRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: AdviceRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** How many desktops have an advice, in the whole fleet or what is filtered. */
export interface AdviceTotalRow {
    /** The advice, as in the rows of `/query/advice`. */
    advice: string;
    /** How many desktops have it. */
    desktops: number;
    /** Of how many of them it is known what following it saves: those with a price. */
    priced: number;
    /** The sum of what following it saves in a month, of the priced ones; null where there are none. */
    savingPerMonth: number | null;
}

/** One page of rows. */
export interface AdviceTotalRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: AdviceTotalRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** What was asked for: a lifecycle action, by the last segment of its path, or a change by the operator. */
export type AuditAction =
    | "RebootWorkSpace"
    | "RecoveryRebootWorkSpace"
    | "RebuildWorkSpace"
    | "RestoreWorkSpace"
    | "TerminateWorkSpace"
    | "StartWorkSpace"
    | "ChangeComputeType"
    | "RemoveWorkSpaceDbEntry"
    | "PlaceLitigationHold"
    | "ReleaseLitigationHold"
    | "IssueKey"
    | "RevokeKey"
    | "ImportWorkSpaces"
    | "UpdateWorkSpace"
    | "BackUp"
    | "DownloadBackup"
    | "QueryExport"
    | "ListKeys"
    | "StartOnCopy"
    | "RemoveTelemetry"
    | "StopBatch"
    | "ConfigureFleet";

/** One page of the audit, newest first. */
export interface AuditPage {
    /** The rows of this page. */
    activities: AuditRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/**
 * The outcome of an audited call.
 *
 * - `Accepted`: Accepted and still running.
 * - `Completed`: Done.
 * - `Failed`: Accepted, then failed.
 * - `Refused`: Refused; `detail` begins with the code of the problem.
 * - `NoChange`: Accepted, with nothing to do.
 * - `Cancelled`: Accepted, then cancelled by another action.
 */
export type AuditResult = "Accepted" | "Completed" | "Failed" | "Refused" | "NoChange" | "Cancelled";

/** One row of the audit, with the number of the key. */
export interface AuditRow {
    /** Number of the row; never used twice. */
    id: number;
    /** When the call was made. */
    activityTime: string;
    /** Who asked, in free text: the parameter `requester` of the call, else the name of the key. */
    requester: string;
    /** What was asked for. */
    action: AuditAction;
    /** `workSpId` of the workspace, as named in the call or found by its account. */
    workSpaceId: string | null;
    /** User of the workspace at that time. */
    username: string | null;
    /** Computer name of the workspace at that time. */
    computerName: string | null;
    /** The outcome. */
    result: AuditResult;
    /** State before the call. */
    previousState: string | null;
    /** State after it; while an action runs, the transitional one. */
    newState: string | null;
    /** When the action ended, or was refused. */
    completedTime: string | null;
    /** Code of the refusal and the key that it is about, what the host said of a failure, what changed of an identity, or what was handed out; then how many calls the row counts. */
    detail: string | null;
    /** Name of the key used, or of the caller that a host has authenticated otherwise; null where the host itself acted. A client can choose `requester`, and never this. */
    apiKeyName: string | null;
    /** Number of the key used; null where the host itself acted, and in rows that a version without it wrote. */
    apiKeyId: number | null;
    /** Number of the batch that the action is of. Left out where it is of none. */
    batchId?: number | null;
    /** Whether the clock ends the action, and no provider carries it out: nothing happens to a desktop. Left out where it does not. */
    simulated?: boolean;
}

/** An action that a batch can start and that a key can be limited to: a lifecycle action, or `RemoveWorkSpaceDbEntry`. A request may write it in any case, and may end it before `WorkSpace`: `Reboot`. */
export type BatchAction =
    | "RebootWorkSpace"
    | "RecoveryRebootWorkSpace"
    | "RebuildWorkSpace"
    | "RestoreWorkSpace"
    | "TerminateWorkSpace"
    | "StartWorkSpace"
    | "ChangeComputeType"
    | "RemoveWorkSpaceDbEntry";

/** A workspace of a batch. */
export interface BatchItem {
    /** `workSpId` of the workspace, as the batch named it. */
    workSpaceId: string;
    /** What came of it: `Accepted` while the action runs; null where it has not begun. */
    result: AuditResult | null;
    /** Code of the refusal; null where it was not refused. */
    code: string | null;
    /** Number of the action; null where none began. */
    actionId: number | null;
}

/** The outcome of a telemetry batch. */
export interface BatchResult {
    /** Records accepted, and durable. */
    accepted: number;
    /** Records refused. */
    rejected: number;
    /** The first 100 errors, in the order of the lines. */
    errors: LineError[];
    /** What was read but probably not meant, each once: members that were ignored, for example. */
    warnings: LineWarning[];
}

/**
 * Why no further action of a batch begins.
 *
 * - `Requested`: Somebody stopped it.
 * - `Failures`: As many as `stopAfterFailures` were refused or failed.
 * - `Throttled`: The key may start no further destructive action in this hour.
 * - `KeyEnded`: The key was revoked or has expired.
 */
export type BatchStop = "Requested" | "Failures" | "Throttled" | "KeyEnded";

/** The hardware of a workspace, in upper case. The graphics families may have a size, for example `GRAPHICS_G6_4XLARGE`. An unknown value is kept as given. */
export type ComputeType =
    | "VALUE"
    | "STANDARD"
    | "PERFORMANCE"
    | "POWER"
    | "POWERPRO"
    | "GRAPHICS"
    | "GRAPHICSPRO"
    | "GRAPHICS_G4DN"
    | "GRAPHICSPRO_G4DN"
    | "GENERALPURPOSE_4XLARGE"
    | "GENERALPURPOSE_8XLARGE"
    | "GRAPHICS_G6"
    | "GRAPHICS_GR6"
    | "GRAPHICS_G6F"
    | "GRAPHICS_GR6F"
    | "GRAPHICS_G7"
    | (string & {});

/** Something that is wrong now. */
export interface Condition {
    /** What it is, for programs: one word, such as `FleetSilent`. There is at most one condition of each code. */
    code: string;
    /** `info`, `warning` or `critical`. */
    severity: string;
    /** Since when it lasts, as far as that was observed. */
    since: string;
    /** What is wrong and what to do, in a sentence or two. */
    text: string;
    /** How many desktops, actions or keys it is about; null where it is about none. */
    count: number | null;
    /** The first ten of them: ids of workspaces, numbers of actions. Keys are not named. */
    subjects: string[];
}

/** One page of rows. */
export interface Conditions {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: Condition[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** What an event says beside its type, workspace and user. The members that its type does not have are absent; new versions may add some. */
export interface EventDetail {
    /** The action, by the last segment of its path. */
    action?: string | null;
    /** Number of the action, which is that of its audit row. */
    actionId?: number | null;
    /** `action.dispatched`: number of the attempt, from 1. */
    attempt?: number | null;
    /** `import.committed`: the audit row of the import; absent where the import has none. */
    auditId?: number | null;
    /** Number of the batch that the action is of; absent where it is of none. */
    batchId?: number | null;
    /** Name of the key that asked for it; `host` for the host itself. Absent where the clock or upkeep did it. */
    by?: string | null;
    /** `import.committed`: workspaces that this part changed. */
    changed?: number | null;
    /** `condition.raised`, `condition.cleared`: its code. */
    code?: string | null;
    /** `action.completed`: when it ended. The event is written with a later call about the workspace or by upkeep. */
    completedTime?: string | null;
    /** Compute type that the action changes to. */
    computeType?: string | null;
    /** `condition.raised`: how many desktops, actions or keys it is about. */
    count?: number | null;
    /** `import.committed`: workspaces that this part created. */
    created?: number | null;
    /** `telemetry.filed`: records that were acknowledged and could not be read any more; absent where there are none. They are in no history. */
    damaged?: number | null;
    /** `action.accepted`: when the clock ends it; absent where the host does. */
    dueAt?: string | null;
    /** `key.issued`: when it expires; absent for never. */
    expires?: string | null;
    /** `workspace.changed`: the members that changed, by their names. */
    fields?: string[] | null;
    /** `workspace.changed`: whether the workspace was created. */
    isNew?: boolean | null;
    /** Number of the key that was issued or revoked. */
    keyId?: number | null;
    /** `import.committed`: true where each workspace of this part that was created or changed has a `workspace.changed` before it; absent where the part had more than 100, and those alone have one whose state or user changed. */
    listed?: boolean | null;
    /** `action.failed`: what the host said of it. */
    message?: string | null;
    /** Its name. */
    name?: string | null;
    /** `resync`: number of the oldest event that is kept, or of the next one. */
    oldest?: number | null;
    /** State before the change. */
    previousState?: string | null;
    /** `action.dispatched`: who began the attempt. */
    provider?: string | null;
    /** `workspace.removed`: `Removed` by a call, or `Expired` after its time as TERMINATED. */
    reason?: string | null;
    /** `telemetry.filed`: records, exact repetitions included. */
    records?: number | null;
    /** `hold.placed`: whether there was a hold already. */
    replaced?: boolean | null;
    /** `action.failed`: `Failed`, or `Cancelled` by another action or by a replaced state. */
    result?: string | null;
    /** `key.issued`: its scopes. */
    scopes?: Scope[] | null;
    /** Its severity. */
    severity?: string | null;
    /** Since when it lasts, or lasted. */
    since?: string | null;
    /** State after the change. */
    state?: string | null;
    /** `condition.raised`: the first ten of them, as `/query/conditions` has them. */
    subjects?: string[] | null;
    /** `condition.raised`: what is wrong and what to do. */
    text?: string | null;
    /** `condition.cleared`: until when it lasted. */
    until?: string | null;
}

/** What an event reports. `resync`: events are missing, as those after the position that was asked for are no longer kept; read the fleet again, and go on after the number of this event. */
export type EventType =
    | "workspace.changed"
    | "workspace.removed"
    | "action.accepted"
    | "action.completed"
    | "action.failed"
    | "hold.placed"
    | "hold.released"
    | "key.issued"
    | "key.revoked"
    | "import.committed"
    | "telemetry.filed"
    | "action.dispatched"
    | "condition.raised"
    | "condition.cleared"
    | "resync";

/** A line of an export: a record of the stream that was asked for. */
export type ExportedRecord = ReceivedStatsRecord | ReceivedActivityRecord | ReceivedStartupRecord | ReceivedProcessReport;

/**
 * The state a failed action leaves the workspace in.
 *
 * - `ERROR`: It cannot be used before it is repaired.
 * - `UNHEALTHY`: It runs, but does not respond to health checks.
 */
export type FailedState = "ERROR" | "UNHEALTHY";

/** One event of the log: a change of the fleet that is durable. */
export interface FleetEvent {
    /** Number of the event; later events have greater ones, and none is used twice. That of a `resync` is the position to go on after. */
    id: number;
    /** When it was written. */
    at: string;
    /** What happened. */
    type: EventType;
    /** `workSpId` of the workspace, where it is about one. */
    workSpaceId: string | null;
    /** User of the workspace after the change; of a removed one, the last. */
    username: string | null;
    /** More about it, by its type. */
    detail: EventDetail;
}

/** One page of rows. */
export interface FleetEvents {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: FleetEvent[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** The fleet in numbers. */
export interface FleetSummary {
    /** Listed workspaces. */
    workSpaces: number;
    /** Workspaces by state; those in none that is known are `other`. */
    byState: Record<string, number>;
    /** Workspaces by running mode; `unknown` where it is not known. Of this and the maps below, values beyond the first 200 are `other`. */
    byRunningMode: Record<string, number>;
    /** Workspaces by compute type. */
    byComputeType: Record<string, number>;
    /** Workspaces by region. */
    byRegion: Record<string, number>;
    /** Workspaces by protocol. */
    byProtocol: Record<string, number>;
    /** Workspaces on litigation hold. */
    onHold: number;
    /** Workspaces on which an action runs. */
    inTransition: number;
    /** Instances that sent telemetry in the last 15 minutes; where more than 1000 records are queued, as far as it is filed. */
    reporting15m: number;
    /** Instances that sent telemetry in the last 24 hours, likewise. */
    reporting24h: number;
    /** Records committed per second, over the last minute; since this engine was opened. */
    recordsPerSecond: number;
    /** Records that are not filed yet. */
    queued: number;
    /** The length of the store, in bytes. */
    storeBytes: number;
    /** The moment of the answer. */
    at: string;
}

/** An hour of the week. */
export interface HeatmapCell {
    /** Day of the week, 1 to 7; Monday is 1. */
    weekday: number;
    /** Hour of the day, 0 to 23. */
    hour: number;
    /** Activity records, or desktops that reported a user, each once in an hour. */
    count: number;
    /** Different users of the desktops that are counted, on the days on which they are. */
    users: number;
}

/** One page of rows. */
export interface HeatmapCells {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: HeatmapCell[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** A litigation hold with its workspace. */
export interface HoldRow {
    /** Id of the workspace. */
    workSpId: string;
    /** Name of its computer. */
    computerName: string | null;
    /** User that it belongs to. */
    username: string | null;
    /** The legal matter. */
    matter: string;
    /** The reason, if one was given. */
    reason: string | null;
    /** Who placed it: the name of the key, or `host`. */
    placedBy: string;
    /** When it was placed. */
    placedAt: string;
}

/** One page of rows. */
export interface HoldRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: HoldRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** What an import has done. */
export interface ImportReport {
    /** Records that were applied, or of a dry run would be. */
    upserted: number;
    /** Records that were refused, each with an error. */
    rejected: number;
    /** Of the applied records, those that are durable: all of them once the import has ended. */
    committed: number;
    /** The first 100 errors, in the order of the records. */
    errors: LineError[];
    /** What was read but probably not meant, at most 20. */
    warnings: LineWarning[];
    /** Of a dry run: how the names of members or columns are understood, in the order in which they appear; those of members of `WorkspaceProperties` have that name before them. At most 256. */
    mapping?: NameMapping[];
}

/** An API key just issued, with its secret, which exists nowhere else: the store keeps only its SHA-256. */
export interface IssuedKey {
    /** Number of the key. */
    id: number;
    /** Name, for people and the audit; 1 to 256 code points. */
    name: string;
    /** What it may do. */
    scopes: Scope[];
    /** When it was issued. */
    created: string;
    /** When it stops being accepted; null: never. */
    expires: string | null;
    /** When it was last accepted, to the minute; null: never. */
    lastUsed: string | null;
    /** When it was revoked; null: it was not. */
    revoked: string | null;
    /** The actions that the key may start, among them `RemoveWorkSpaceDbEntry`; null: all. */
    actions: BatchAction[] | null;
    /** The workspaces on which it may start them; null: all. */
    filter: KeyFilter | null;
    /** How many of Rebuild, Restore, Terminate and `RemoveWorkSpaceDbEntry` it may start in an hour; null: any number. */
    destructivePerHour: number | null;
    /** The secret to hand out, `dfk_…`. It is returned only here. */
    key: string;
}

/** The workspaces on which a key may start actions. Each member is a value, `in.A,B` for one of several or `ne.A` for any other, compared without case. */
export interface KeyFilter {
    /** Directory; absent: any. */
    directoryId?: string | null;
    /** Cloud region; absent: any. */
    region?: string | null;
}

/** An API key without its secret. */
export interface KeyInfo {
    /** Number of the key. */
    id: number;
    /** Name, for people and the audit; 1 to 256 code points. */
    name: string;
    /** What it may do. */
    scopes: Scope[];
    /** When it was issued. */
    created: string;
    /** When it stops being accepted; null: never. */
    expires: string | null;
    /** When it was last accepted, to the minute; null: never. */
    lastUsed: string | null;
    /** When it was revoked; null: it was not. */
    revoked: string | null;
    /** The actions that the key may start, among them `RemoveWorkSpaceDbEntry`; null: all. */
    actions: BatchAction[] | null;
    /** The workspaces on which it may start them; null: all. */
    filter: KeyFilter | null;
    /** How many of Rebuild, Restore, Terminate and `RemoveWorkSpaceDbEntry` it may start in an hour; null: any number. */
    destructivePerHour: number | null;
}

/** All API keys, revoked and expired ones too, in the order of their numbers. */
export interface KeyList {
    /** The keys, without their secrets. */
    keys: KeyInfo[];
}

/** A line of a bulk request that was refused. */
export interface LineError {
    /** Number of the line, from 1; in a JSON array, the position of the element. */
    line: number;
    /** What is wrong. A refusal by a rule begins with its code: `OperationInProgress: …`, `LitigationHold: …`. */
    message: string;
    /** Of an import: the byte of the line or element at which the error is, counted from 1; in CSV, the number of the cell. */
    column?: number;
}

/** Something in an import that was read but probably not meant, such as a misspelled name. */
export interface LineWarning {
    /** Number of the line on which it was first, counted as that of an error. */
    line: number;
    /** What it is. */
    message: string;
}

/** Why a workspace must be kept, and since when. */
export interface LitigationHold {
    /** The legal matter; at most 256 code points. */
    matter: string;
    /** The reason, if one was given; at most 256 code points. */
    reason: string | null;
    /** Who placed it: the name of the key, or `host`. */
    placedBy: string;
    /** When it was placed. */
    placedAt: string;
}

/** How an import understood a name. */
export interface NameMapping {
    /** The name of the member or column, as the text has it. */
    from: string;
    /** The field that it means; null where it is ignored. */
    to: string | null;
}

/** A telemetry record below the name of its stream: exactly one of these members. Others are ignored. */
export interface NamedRecord {
    activity?: ActivityRecord;
    processes?: ProcessReport;
    startup?: StartupRecord;
    stats?: StatsRecord;
}

/** A litigation hold to place. */
export interface NewHold {
    /** The legal matter; 1 to 256 code points. */
    matter: string;
    /** The reason; at most 256 code points. */
    reason?: string | null;
}

/** An API key to issue. */
export interface NewKey {
    /** Name, for people and the audit; 1 to 256 code points. */
    name: string;
    /** What it may do; not empty. */
    scopes: Scope[];
    /** The actions that the key may start, among them `RemoveWorkSpaceDbEntry`; null: all. */
    actions?: BatchAction[] | null;
    /** How many of Rebuild, Restore, Terminate and `RemoveWorkSpaceDbEntry` it may start in an hour; null: any number. */
    destructivePerHour?: number | null;
    /** When it stops being accepted; absent or null: never. */
    expires?: string | null;
    /** The workspaces on which it may start them; null: all. */
    filter?: KeyFilter | null;
}

/** An accepted action that has not ended: a row of the outbox. */
export interface PendingAction {
    /** Number of the action, also that of its audit row. */
    id: number;
    /** What was asked for. */
    action: WorkSpaceAction;
    /** `workSpId` of the workspace. */
    workSpaceId: string;
    /** When it was accepted. */
    requestedAt: string;
    /** When the clock ends it; null where the host does. */
    dueAt: string | null;
    /** The new compute type of a `ChangeComputeType`; null for other actions. */
    computeType: string | null;
    /** How many times it was dispatched: how many attempts providers have begun. */
    attempts: number;
    /** When it was dispatched last; null where it was not. */
    lastAttemptAt: string | null;
    /** Who dispatched it last; null where nobody did. */
    provider: string | null;
    /** What the provider noted of that attempt, such as a request id that its support asks for; null where it noted nothing. */
    note: string | null;
}

/** One page of the actions that have not ended, in the order of their numbers. */
export interface PendingActionList {
    /** The actions of this page. */
    actions: PendingAction[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** An action to preview, and the workspaces. */
export interface PreviewRequest {
    /** The action. */
    action: WorkSpaceAction;
    /** `workSpId` of each workspace. */
    workSpaceIds: string[];
    /** The new compute type of a `ChangeComputeType`, in any case; other actions ignore it. */
    computeType?: string | null;
}

/** What an action would do to a workspace now. */
export interface PreviewRow {
    /** `workSpId` of the workspace. */
    workSpaceId: string;
    /** What the action would return: `Accepted`, `NoChange` or `Refused`. */
    outcome: string;
    /** Code of the refusal; null where the action would not be refused. */
    code: string | null;
    /** The state of the workspace now; null where there is no such workspace or the state is unknown. */
    state: string | null;
    /** The state while the action would run; null where it would not be accepted. */
    wouldBecome: string | null;
    /** Whether the clock would end the action, and nothing would happen to the desktop. */
    simulated: boolean;
}

/** One page of rows. */
export interface PreviewRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: PreviewRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/**
 * What was wrong with a request, for programs. These strings do not change; more may be added.
 *
 * - `InvalidParameter`: A query parameter is missing, malformed or out of range; `errors` names it.
 * - `InvalidBody`: The body cannot be read, or a value in it is not valid; `errors` says where.
 * - `InvalidRequest`: The request itself is malformed. Only servers return it.
 * - `InvalidApiKey`: The key is missing, unknown, revoked or expired; which of them is not said.
 * - `InsufficientScope`: The key is good but lacks the scope that the endpoint needs.
 * - `NotFound`: There is no such endpoint, or nothing of that number.
 * - `WorkSpaceNotFound`: The workspace is unknown or was not named, or does not belong to `samAccount`.
 * - `UserNotFound`: Neither a workspace nor telemetry knows the user, or none was named.
 * - `MethodNotAllowed`: The path has other methods; `Allow` lists them.
 * - `RequestTimeout`: The request came too slowly. Only servers return it.
 * - `InvalidResourceState`: The state of the workspace, or of the pending action, does not allow this; `detail` names what does.
 * - `Cancelled`: The pending action was cancelled, by another action or by a replaced state: do not carry it out.
 * - `OperationInProgress`: Another action runs on the workspace; or another backup is being written.
 * - `LitigationHold`: The workspace is on litigation hold, which forbids this.
 * - `AmbiguousWorkSpace`: The user of `samAccount` has several live workspaces; name one with `workSpaceId`.
 * - `UnsupportedConfiguration`: The workspace cannot change from its compute type to that one; or the server was started without what this needs.
 * - `DuplicateKeyName`: A live key of that name exists.
 * - `LastAdminKey`: The key is the last live one with scope `admin` that does not expire; `force=true` revokes it all the same.
 * - `PayloadTooLarge`: The body is larger than the configured limit.
 * - `UriTooLong`: The path and the query are longer than the configured limit, by default 8 KiB.
 * - `UnsupportedMediaType`: The `Content-Type` or the `Content-Encoding` of the body is not supported.
 * - `MisdirectedRequest`: The request names a host that this server does not serve. Only servers return it.
 * - `Throttled`: Too many requests with this key, or too many with bad keys from this address; `Retry-After` says when to try again.
 * - `HeadersTooLarge`: The headers are larger than the configured limit, by default 16 KiB.
 * - `Internal`: A failure inside; the log of the host has the cause.
 * - `QueueFull`: The telemetry queue is full; nothing was accepted. Try again after `Retry-After` seconds.
 * - `StorageUnavailable`: The store cannot be read or written now. Nothing was written.
 * - `Indeterminate`: The store failed while this was written: it may take effect or not. Read before you try again.
 * - `LowDisk`: The disk is nearly full; this was not written.
 * - `ServerBusy`: The server has as many requests as it may. Only servers return it.
 */
export type ProblemCode =
    | "InvalidParameter"
    | "InvalidBody"
    | "InvalidRequest"
    | "InvalidApiKey"
    | "InsufficientScope"
    | "NotFound"
    | "WorkSpaceNotFound"
    | "UserNotFound"
    | "MethodNotAllowed"
    | "RequestTimeout"
    | "InvalidResourceState"
    | "Cancelled"
    | "OperationInProgress"
    | "LitigationHold"
    | "AmbiguousWorkSpace"
    | "UnsupportedConfiguration"
    | "DuplicateKeyName"
    | "LastAdminKey"
    | "PayloadTooLarge"
    | "UriTooLong"
    | "UnsupportedMediaType"
    | "MisdirectedRequest"
    | "Throttled"
    | "HeadersTooLarge"
    | "Internal"
    | "QueueFull"
    | "StorageUnavailable"
    | "Indeterminate"
    | "LowDisk"
    | "ServerBusy";

/** Why a request was refused: problem details (RFC 9457). Decide by `code`; the texts may change. */
export interface ProblemDetails {
    /** The section of the RFC that defines the status. */
    type: string;
    /** The reason phrase of the status, for people. */
    title: string;
    /** The HTTP status. */
    status: number;
    /** W3C trace id: that of the request's `traceparent`, or a new one. */
    traceId: string;
    /** What was wrong with this request, for programs. */
    code: ProblemCode;
    /** What was wrong with this request, for people. */
    detail?: string;
}

/** The processes of one name in a process report, summed. Every field is optional. */
export interface ProcessItem {
    /** Name of the executable, for example `outlook.exe`. */
    processName?: string;
    /** Processor load of these processes together, in percent. */
    processorUsage?: number;
    /** Memory of these processes together, in bytes. */
    memoryUsage?: number;
    /** Number of processes of that name. */
    processCount?: number;
    /** User who runs them. */
    username?: string;
}

/** What runs on an instance at one moment. Every field is optional. */
export interface ProcessReport {
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who was logged on. */
    username?: string | null;
    /** When the report was made. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    createdDate?: string;
    /** The processes by name, at most 4096 items. */
    processes?: ProcessItem[];
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** One page of the history of one instance, oldest first. */
export interface ProcessReportPage {
    /** The records of this page; fewer than `limit` where they are large. */
    records: ReceivedProcessReport[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** A process by its name. */
export interface ProcessRow {
    /** Name of the executable, of a long one its begin. */
    processName: string;
    /** Instances that reported it. */
    machines: number;
    /** Reports that name it. */
    reports: number;
    /** Mean processor load of a report that says it, in percent. */
    cpuAvg: number | null;
    /** Greatest processor load, in percent. */
    cpuMax: number | null;
    /** Mean memory of a report that says it, in bytes. */
    memoryAvg: number | null;
    /** Greatest memory, in bytes. */
    memoryMax: number | null;
}

/** One page of rows. */
export interface ProcessRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: ProcessRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/**
 * The streaming protocol of a workspace. An unknown value is kept as given.
 *
 * - `PCOIP`: PC over IP.
 * - `WSP`: Amazon DCV, formerly the WorkSpaces Streaming Protocol.
 */
export type Protocol = "PCOIP" | "WSP" | (string & {});

/** A record as posted, with the time of receipt. */
export interface ReceivedActivityRecord {
    /** When the record was accepted. */
    receivedAt: string;
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who acted. */
    username?: string | null;
    /** What happened, for example `Logon`. */
    activity?: string | null;
    /** When it happened. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    activityTime?: string;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
    /** Tenant that the instance belongs to. */
    tenantId?: string | null;
}

/** A record as posted, with the time of receipt. */
export interface ReceivedProcessReport {
    /** When the record was accepted. */
    receivedAt: string;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who was logged on. */
    username?: string | null;
    /** When the report was made. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    createdDate?: string;
    /** The processes by name, at most 4096 items. */
    processes?: ProcessItem[];
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** A record as posted, with the time of receipt. */
export interface ReceivedStartupRecord {
    /** When the record was accepted. */
    receivedAt: string;
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who logged on. */
    username?: string | null;
    /** When the logon began. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    baselineUtc?: string;
    /** Time to load the profile, in milliseconds. */
    profileMs?: number;
    /** Time to apply group policy, in milliseconds. */
    groupPolicyMs?: number;
    /** Time to start the shell, in milliseconds. */
    shellMs?: number;
    /** Time of the whole logon, in milliseconds. */
    totalMs?: number;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** A record as posted, with the time of receipt. */
export interface ReceivedStatsRecord {
    /** When the record was accepted. */
    receivedAt: string;
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** When the statistics were taken. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    updatetime?: string;
    /** User who was logged on. */
    username?: string | null;
    /** Number of logical processors of the instance. */
    processorCount?: number;
    /** Processor load, in percent. */
    processorInUse?: number;
    /** Size of the physical memory, in bytes. */
    physicalMemory?: number;
    /** Available physical memory, in bytes. */
    availablePhysicalMemory?: number;
    /** Size of the virtual memory, in bytes. */
    virtualMemory?: number;
    /** Available virtual memory, in bytes. */
    availableVirtualMemory?: number;
    /** Memory in use, in bytes. */
    memoryInUse?: number;
    /** Size of the root volume, in bytes. */
    rootTotal?: number;
    /** Free space on the root volume, in bytes. */
    rootAvailable?: number;
    /** Size of the user volume, in bytes. */
    userTotal?: number;
    /** Free space on the user volume, in bytes. */
    userAvailable?: number;
    /** Disk reads, in operations per second. */
    diskReads?: number;
    /** Disk writes, in operations per second. */
    diskWrites?: number;
    /** Network traffic received, in bytes per second. */
    networkReceived?: number;
    /** Network traffic sent, in bytes per second. */
    networkSent?: number;
    /** Time since the instance started, in seconds. */
    uptime?: number | null;
    /** Version of the operating system, for example `10.0.17763`. */
    osVersion?: string | null;
    /** Tenant that the instance belongs to. */
    tenantId?: string | null;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** How many records were removed. */
export interface RemovedTelemetry {
    /** Records that were removed. */
    removed: number;
    /** Selected records that were kept, as they may belong to a workspace on litigation hold: of history those of the same instance, stream and day as one that does. */
    kept: number;
}

/** The record of a workspace was removed; the desktop itself was not touched. */
export interface RemovedWorkSpace {
    /** `workSpId` of the workspace. */
    workSpaceId: string;
    /** Always true. */
    removed: boolean;
}

/** The API key of a request, without its secret. */
export interface RequestKey {
    /** Number of the key. */
    id: number;
    /** Its name. */
    name: string;
    /** What it may do. */
    scopes: Scope[];
    /** When it was issued. */
    created: string;
    /** When it stops being accepted; null: never. */
    expires: string | null;
    /** The actions that the key may start, among them `RemoveWorkSpaceDbEntry`; null: all. */
    actions: BatchAction[] | null;
    /** The workspaces on which it may start them; null: all. */
    filter: KeyFilter | null;
    /** How many of Rebuild, Restore, Terminate and `RemoveWorkSpaceDbEntry` it may start in an hour; null: any number. */
    destructivePerHour: number | null;
}

/**
 * When a workspace runs. An unknown value is kept as given.
 *
 * - `AUTO_STOP`: It stops after some time without a user.
 * - `ALWAYS_ON`: It runs always.
 * - `MANUAL`: It is started and stopped by hand.
 */
export type RunningMode = "AUTO_STOP" | "ALWAYS_ON" | "MANUAL" | (string & {});

/**
 * One right a key can carry.
 *
 * - `read`: The Information GET endpoints, the histories, how batches of actions stand, and all of `/query` but previews: rows of the fleet, its export, events and metrics.
 * - `act`: The Actions endpoints, `RemoveWorkSpaceDbEntry`, and batches of actions with their previews.
 * - `admin`: The operator surface; includes `read`, `act` and `audit`.
 * - `ingest`: Telemetry batches, and the Stats endpoints where the host requires a key for them.
 * - `audit`: The audit and the litigation holds, and nothing else of the fleet.
 */
export type Scope = "read" | "act" | "admin" | "ingest" | "audit";

/** A series. */
export interface Series {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: SeriesPoint[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
    /** Length of a step, in seconds: that of `step`, or more. */
    stepSeconds: number;
}

/** One step of a series: `at`, `count`, and for each metric that was asked for its values. */
export interface SeriesPoint {
    /** When the step begins, a multiple of its length since 1970. */
    at: string;
    /** Stats records in the step; 0 where there are none, and all values are null. */
    count: number;
    /** Mean processor load, in percent. */
    cpuAvg?: number | null;
    /** Greatest processor load, in percent. */
    cpuMax?: number | null;
    /** Least processor load, in percent. */
    cpuMin?: number | null;
    /** Median of the processor load, in percent. */
    cpuP50?: number | null;
    /** 95th percentile of the processor load, in percent. */
    cpuP95?: number | null;
    /** Mean disk reads, in operations per second. */
    diskReadsAvg?: number | null;
    /** Greatest disk reads, in operations per second. */
    diskReadsMax?: number | null;
    /** Least disk reads, in operations per second. */
    diskReadsMin?: number | null;
    /** Mean disk writes, in operations per second. */
    diskWritesAvg?: number | null;
    /** Greatest disk writes, in operations per second. */
    diskWritesMax?: number | null;
    /** Least disk writes, in operations per second. */
    diskWritesMin?: number | null;
    /** Mean memory in use, in percent. */
    memoryAvg?: number | null;
    /** Greatest memory in use, in percent. */
    memoryMax?: number | null;
    /** Least memory in use, in percent. */
    memoryMin?: number | null;
    /** Median of the memory in use, in percent. */
    memoryP50?: number | null;
    /** 95th percentile of the memory in use, in percent. */
    memoryP95?: number | null;
    /** Mean traffic received, in bytes per second. */
    networkReceivedAvg?: number | null;
    /** Greatest traffic received, in bytes per second. */
    networkReceivedMax?: number | null;
    /** Least traffic received, in bytes per second. */
    networkReceivedMin?: number | null;
    /** Mean traffic sent, in bytes per second. */
    networkSentAvg?: number | null;
    /** Greatest traffic sent, in bytes per second. */
    networkSentMax?: number | null;
    /** Least traffic sent, in bytes per second. */
    networkSentMin?: number | null;
    /** Mean used part of the root volume, in percent. */
    rootVolumeAvg?: number | null;
    /** Greatest used part of the root volume, in percent. */
    rootVolumeMax?: number | null;
    /** Least used part of the root volume, in percent. */
    rootVolumeMin?: number | null;
    /** Mean time since the instance started, in seconds. */
    uptimeAvg?: number | null;
    /** Greatest time since the instance started, in seconds. */
    uptimeMax?: number | null;
    /** Least time since the instance started, in seconds. */
    uptimeMin?: number | null;
    /** Mean used part of the user volume, in percent. */
    userVolumeAvg?: number | null;
    /** Greatest used part of the user volume, in percent. */
    userVolumeMax?: number | null;
    /** Least used part of the user volume, in percent. */
    userVolumeMin?: number | null;
}

/** A startup that took long. */
export interface SlowStartup {
    /** The instance. */
    instanceId: string;
    /** Its user; empty for none. */
    username: string;
    /** When it was filed. */
    at: string;
    /** How long it took, in milliseconds. */
    totalMs: number;
}

/** The startups of one step. */
export interface StartupPoint {
    /** When the step begins, a multiple of its length since 1970. */
    at: string;
    /** Startups in the step; 0 where there are none, and all other values are null. */
    count: number;
    /** Median of the whole startup, in milliseconds. */
    totalP50: number | null;
    /** 90th percentile of the whole startup, in milliseconds. */
    totalP90: number | null;
    /** 95th percentile of the whole startup, in milliseconds. */
    totalP95: number | null;
    /** 99th percentile of the whole startup, in milliseconds. */
    totalP99: number | null;
    /** Median of loading the profile, in milliseconds. */
    profileP50: number | null;
    /** 90th percentile of loading the profile, in milliseconds. */
    profileP90: number | null;
    /** 95th percentile of loading the profile, in milliseconds. */
    profileP95: number | null;
    /** 99th percentile of loading the profile, in milliseconds. */
    profileP99: number | null;
    /** Median of applying group policies, in milliseconds. */
    groupPolicyP50: number | null;
    /** 90th percentile of applying group policies, in milliseconds. */
    groupPolicyP90: number | null;
    /** 95th percentile of applying group policies, in milliseconds. */
    groupPolicyP95: number | null;
    /** 99th percentile of applying group policies, in milliseconds. */
    groupPolicyP99: number | null;
    /** Median of starting the shell, in milliseconds. */
    shellP50: number | null;
    /** 90th percentile of starting the shell, in milliseconds. */
    shellP90: number | null;
    /** 95th percentile of starting the shell, in milliseconds. */
    shellP95: number | null;
    /** 99th percentile of starting the shell, in milliseconds. */
    shellP99: number | null;
    /** Median of the rest, which none of the three took, in milliseconds. */
    unattributedP50: number | null;
    /** 90th percentile of the rest, which none of the three took, in milliseconds. */
    unattributedP90: number | null;
    /** 95th percentile of the rest, which none of the three took, in milliseconds. */
    unattributedP95: number | null;
    /** 99th percentile of the rest, which none of the three took, in milliseconds. */
    unattributedP99: number | null;
}

/** How long the phases of one logon took. Every field is optional. */
export interface StartupRecord {
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who logged on. */
    username?: string | null;
    /** When the logon began. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    baselineUtc?: string;
    /** Time to load the profile, in milliseconds. */
    profileMs?: number;
    /** Time to apply group policy, in milliseconds. */
    groupPolicyMs?: number;
    /** Time to start the shell, in milliseconds. */
    shellMs?: number;
    /** Time of the whole logon, in milliseconds. */
    totalMs?: number;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** One page of the history of one instance, oldest first. */
export interface StartupRecordPage {
    /** The records of this page; fewer than `limit` where they are large. */
    records: ReceivedStartupRecord[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** How long startups took. */
export interface StartupReport {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: StartupPoint[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
    /** Length of a step, in seconds: that of `step`, or more. */
    stepSeconds: number;
    /** The slowest startups of all steps, slowest first, at most ten. */
    slowest: SlowStartup[];
}

/** Resource statistics of one workspace instance. Every field is optional; values are stored as sent, odd ones too. */
export interface StatsRecord {
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** When the statistics were taken. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    updatetime?: string;
    /** User who was logged on. */
    username?: string | null;
    /** Number of logical processors of the instance. */
    processorCount?: number;
    /** Processor load, in percent. */
    processorInUse?: number;
    /** Size of the physical memory, in bytes. */
    physicalMemory?: number;
    /** Available physical memory, in bytes. */
    availablePhysicalMemory?: number;
    /** Size of the virtual memory, in bytes. */
    virtualMemory?: number;
    /** Available virtual memory, in bytes. */
    availableVirtualMemory?: number;
    /** Memory in use, in bytes. */
    memoryInUse?: number;
    /** Size of the root volume, in bytes. */
    rootTotal?: number;
    /** Free space on the root volume, in bytes. */
    rootAvailable?: number;
    /** Size of the user volume, in bytes. */
    userTotal?: number;
    /** Free space on the user volume, in bytes. */
    userAvailable?: number;
    /** Disk reads, in operations per second. */
    diskReads?: number;
    /** Disk writes, in operations per second. */
    diskWrites?: number;
    /** Network traffic received, in bytes per second. */
    networkReceived?: number;
    /** Network traffic sent, in bytes per second. */
    networkSent?: number;
    /** Time since the instance started, in seconds. */
    uptime?: number | null;
    /** Version of the operating system, for example `10.0.17763`. */
    osVersion?: string | null;
    /** Tenant that the instance belongs to. */
    tenantId?: string | null;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
}

/** One page of the history of one instance, oldest first. */
export interface StatsRecordPage {
    /** The records of this page; fewer than `limit` where they are large. */
    records: ReceivedStatsRecord[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** How much is stored, and how far upkeep has come. */
export interface StoreStatus {
    /** The length of the file, or of the memory in its place. */
    bytes: number;
    /** Free bytes of the medium, where the host reports them. */
    freeBytes: number | null;
    /** Telemetry records that were accepted and are not filed yet. */
    queueRecords: number;
    /** The bytes that these records take. */
    queueBytes: number;
    /** When the first of these records was received. */
    oldestQueued: string | null;
    /** The time up to which retention was applied: that of the last removal of old data; null before the first. */
    retentionApplied: string | null;
    /** The actions that are simulated: the clock ends them, and nothing happens to a desktop. */
    simulated: WorkSpaceAction[];
}

/** A line of a telemetry batch: a record below the name of its stream. With the query parameter `stream`, a record of that stream may be the line itself. */
export type TelemetryLine = NamedRecord | StatsRecord | ActivityRecord | StartupRecord | ProcessReport;

/** Something that happened to a desktop. */
export interface TimelineRow {
    /** When. */
    at: string;
    /** `audit`, a call; `state`, it had another state from then on; `hold`, a litigation hold was placed or released; `activity`, of a user; `startup`, a logon. */
    kind: string;
    /** What: the action, the state, the activity. */
    title: string;
    /** More of it: the outcome of a call, the state before, how long a startup took. */
    detail: string | null;
    /** Who: the requester of a call, the user. */
    by: string | null;
    /** Number of the row of the audit that says so. */
    auditId: number | null;
}

/** One page of rows. */
export interface TimelineRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: TimelineRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** A desktop and its value of a metric. */
export interface TopRow {
    /** Id of the workspace that the instance is; null where none is known by its name. */
    workSpId: string | null;
    /** The instance as its agent names it. */
    instanceId: string;
    /** User in its newest statistics; null where they name none. */
    username: string | null;
    /** The metric that was asked for. */
    metric: string;
    /** The statistic of it; null for `healthScore`. */
    statistic: string | null;
    /** The value, in the unit of the metric. */
    value: number;
    /** Samples that it is made of; null for `healthScore`. */
    samples: number | null;
}

/** One page of rows. */
export interface TopRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: TopRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}

/** An activity as posted, with the workspace it belongs to. */
export interface UserActivity {
    /** Number that the agent gave the record; stored, not interpreted. */
    id?: number;
    /** Compute type of the instance, for example `STANDARD`. */
    computeTypeName?: string | null;
    /** User who acted. */
    username?: string | null;
    /** What happened, for example `Logon`. */
    activity?: string | null;
    /** When it happened. The time of receipt counts where this is absent or more than 5 minutes ahead. */
    activityTime?: string;
    /** Instance that posts: a `workSpId` or a computer name. History is kept for each instance. */
    instanceId?: string | null;
    /** Tenant that the instance belongs to. */
    tenantId?: string | null;
    /** Name of its computer; absent where it has none. */
    computerName?: string;
    /** `workSpId` of the workspace that the instance names, else of the only one of the user; absent where there is none. */
    workSpId?: string;
}

/** A user: the workspaces and the newest telemetry. */
export interface UserInformation {
    /** Name of the user, as the workspaces have it, else as telemetry had it. */
    username: string;
    /** The workspaces of the user, in the order of `workSpId`. */
    workSpaces: WorkSpaceDetails[];
    /** Whether one of them is on litigation hold. */
    litigationHold: boolean;
    /** What the user did last, for example `Logon`; null where nothing is known. */
    lastActivity: string | null;
    /** When that was. */
    lastActivityTime: string | null;
    /** The newest time of any telemetry record of the user. */
    lastSeen: string | null;
    /** The newest statistics of the user, as posted. */
    lastStats: StatsRecord | null;
    /** The newest startup timings of the user, as posted. */
    lastStartup: StartupRecord | null;
}

/** Why a request was refused: problem details with the fields that are wrong. */
export interface ValidationProblemDetails {
    /** The section of the RFC that defines the status. */
    type: string;
    /** The reason phrase of the status, for people. */
    title: string;
    /** The HTTP status. */
    status: number;
    /** W3C trace id: that of the request's `traceparent`, or a new one. */
    traceId: string;
    /** What was wrong with this request, for programs. */
    code: ProblemCode;
    /** What was wrong with this request, for people. */
    detail?: string;
    /** The messages of each field that is wrong: a query parameter by its name, a member of the body by its path, such as `$.id`. */
    errors?: Record<string, string[]>;
}

/**
 * A lifecycle action, by the last segment of its path.
 *
 * - `RebootWorkSpace`: Restarts the system.
 * - `RecoveryRebootWorkSpace`: Moves to a new host, with the same volumes and id.
 * - `RebuildWorkSpace`: Makes the system anew from its image.
 * - `RestoreWorkSpace`: Takes the volumes from the last backup.
 * - `TerminateWorkSpace`: Deletes the workspace.
 * - `StartWorkSpace`: Starts a stopped workspace.
 * - `ChangeComputeType`: Changes the hardware.
 */
export type WorkSpaceAction =
    | "RebootWorkSpace"
    | "RecoveryRebootWorkSpace"
    | "RebuildWorkSpace"
    | "RestoreWorkSpace"
    | "TerminateWorkSpace"
    | "StartWorkSpace"
    | "ChangeComputeType";

/** One page of workspaces, in the order of `workSpId`. */
export interface WorkSpaceApiResponse {
    /** The workspaces of this page. */
    workSpaces: WorkSpaceDetails[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
}

/** One workspace: a virtual desktop, as the inventory has it. */
export interface WorkSpaceDetails {
    /** Identifier, for example `ws-8k2m4n6p1`; 1 to 64 code points, compared exactly. */
    workSpId: string;
    /** Name of the computer, for example `WSAMZN-4F7Q2L9A`. */
    computerName: string | null;
    /** Cloud account that it runs in. */
    account: string | null;
    /** Cloud region that it runs in, for example `eu-central-1`. */
    region: string | null;
    /** Directory that the user belongs to, for example `d-9067a1b2c3`. */
    directoryId: string | null;
    /** When it runs. */
    runningMode: RunningMode | null;
    /** Its hardware. */
    computeTypeName: ComputeType | null;
    /** Its streaming protocol. */
    protocol: Protocol | null;
    /** User that it belongs to. */
    username: string | null;
    /** Its state. */
    state: WorkSpaceState | null;
}

/** A workspace to create or to replace. Members that are left out are null. `workSpId` may be left out where the path has it. */
export interface WorkSpaceInput {
    /** Identifier, for example `ws-8k2m4n6p1`; 1 to 64 code points, compared exactly. */
    workSpId?: string;
    /** Name of the computer, for example `WSAMZN-4F7Q2L9A`. */
    computerName?: string | null;
    /** Cloud account that it runs in. */
    account?: string | null;
    /** Cloud region that it runs in, for example `eu-central-1`. */
    region?: string | null;
    /** Directory that the user belongs to, for example `d-9067a1b2c3`. */
    directoryId?: string | null;
    /** When it runs. */
    runningMode?: RunningMode | null;
    /** Its hardware. */
    computeTypeName?: ComputeType | null;
    /** Its streaming protocol. */
    protocol?: Protocol | null;
    /** User that it belongs to. */
    username?: string | null;
    /** Its state. */
    state?: WorkSpaceState | null;
}

/** A change of a workspace, or a new one. What is left out stays as it is, and null becomes null. */
export interface WorkSpacePatch {
    /** Identifier, for example `ws-8k2m4n6p1`; 1 to 64 code points, compared exactly. */
    workSpId: string;
    /** Name of the computer, for example `WSAMZN-4F7Q2L9A`. */
    computerName?: string | null;
    /** Cloud account that it runs in. */
    account?: string | null;
    /** Cloud region that it runs in, for example `eu-central-1`. */
    region?: string | null;
    /** Directory that the user belongs to, for example `d-9067a1b2c3`. */
    directoryId?: string | null;
    /** When it runs. */
    runningMode?: RunningMode | null;
    /** Its hardware. */
    computeTypeName?: ComputeType | null;
    /** Its streaming protocol. */
    protocol?: Protocol | null;
    /** User that it belongs to. */
    username?: string | null;
    /** Its state. */
    state?: WorkSpaceState | null;
}

/**
 * The state of a workspace. An unknown value is kept as given.
 *
 * - `PENDING`: It is being created.
 * - `AVAILABLE`: It runs, or can be connected to.
 * - `IMPAIRED`: It runs, but does not react as it should.
 * - `UNHEALTHY`: It does not respond to health checks.
 * - `REBOOTING`: It restarts, after `RebootWorkSpace` or `RecoveryRebootWorkSpace`.
 * - `STARTING`: It starts, after `StartWorkSpace`.
 * - `REBUILDING`: Its system is made anew from the image, after `RebuildWorkSpace`.
 * - `RESTORING`: Its volumes are taken from the last backup, after `RestoreWorkSpace`.
 * - `MAINTENANCE`: The cloud provider maintains it.
 * - `ADMIN_MAINTENANCE`: An administrator maintains it.
 * - `TERMINATING`: It is being deleted, after `TerminateWorkSpace`.
 * - `TERMINATED`: It is deleted; its record stays listed for 7 days.
 * - `SUSPENDED`: It is suspended.
 * - `UPDATING`: Its compute type changes, after `ChangeComputeType`.
 * - `STOPPING`: It is being stopped.
 * - `STOPPED`: It is stopped; `StartWorkSpace` starts it.
 * - `ERROR`: Creating it or an action on it failed.
 */
export type WorkSpaceState =
    | "PENDING"
    | "AVAILABLE"
    | "IMPAIRED"
    | "UNHEALTHY"
    | "REBOOTING"
    | "STARTING"
    | "REBUILDING"
    | "RESTORING"
    | "MAINTENANCE"
    | "ADMIN_MAINTENANCE"
    | "TERMINATING"
    | "TERMINATED"
    | "SUSPENDED"
    | "UPDATING"
    | "STOPPING"
    | "STOPPED"
    | "ERROR"
    | (string & {});

/** One workspace with its running action and its hold, at one moment. */
export interface WorkSpaceView {
    /** The record, with the state at that moment. */
    workSpace: WorkSpaceDetails;
    /** The action that runs; null where none does. */
    transition: PendingAction | null;
    /** The litigation hold; null where none is placed. */
    litigationHold: LitigationHold | null;
}

/** A workspace with its hold, its running action and its newest telemetry. */
export interface WorkspaceRow {
    /** Id of the workspace. */
    workSpId: string;
    /** Name of its computer. */
    computerName: string | null;
    /** User that it belongs to. */
    username: string | null;
    /** Its state. */
    state: string | null;
    /** When it runs and is billed. */
    runningMode: string | null;
    /** Its hardware. */
    computeTypeName: string | null;
    /** Cloud region. */
    region: string | null;
    /** Directory of its user. */
    directoryId: string | null;
    /** Whether it is on litigation hold. */
    onHold: boolean;
    /** The action that runs, for example `RebootWorkSpace`; null where none does. */
    transition: string | null;
    /** Time of the newest statistics. */
    lastSeen: string | null;
    /** Processor load in the newest statistics, in percent. */
    cpu: number | null;
    /** Memory in use in the newest statistics, in percent. */
    memory: number | null;
    /** Used part of the root volume in the newest statistics, in percent. */
    rootVolume: number | null;
    /** Used part of the user volume in the newest statistics, in percent. */
    userVolume: number | null;
    /** Time since the desktop started in the newest statistics, in seconds. */
    uptimeSeconds: number | null;
    /** Mean processor load, in percent. */
    cpuAvg: number | null;
    /** 95th percentile of the processor load, in percent. */
    cpuP95: number | null;
    /** 95th percentile of the memory in use, in percent. */
    memoryP95: number | null;
    /** The share of its active time in which it was not overloaded, in percent. */
    healthScore: number | null;
    /** Seconds that the clock of the desktop was ahead of that of the server in the newest statistics, which stand at their receipt for that; null where it was not more than 5 minutes ahead. */
    clockAheadSeconds: number | null;
    /** Time of the newest statistics, where that is longer ago than `alerts.silent_after`: the figures of the row are of then, and are none to filters and sorts. Null where they are current. */
    asOf: string | null;
}

/** One page of rows. */
export interface WorkspaceRows {
    /** The rows of this page. Those of a CSV and of NDJSON are the same. */
    rows: WorkspaceRow[];
    /** Token of the next page, to pass as `nextToken`; null on the last page. Opaque, at most 512 characters. */
    nextToken: string | null;
    /** Whether there is a next page. */
    hasMore: boolean;
    /** The moment of the answer. */
    at: string;
    /** What the answer leaves out or widens, a sentence each. */
    warnings: string[];
}
