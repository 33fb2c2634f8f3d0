import type { ActionDispatch, ActionFailure, ActionNote, FleetEvent, ImportReport, IssuedKey, KeyInfo, NewHold, NewKey, PendingAction, PendingActionList, ProblemCode, RemovedTelemetry, WorkSpaceInput, WorkSpacePatch } from "./types.js";
import type { Questions } from "./query.js";
import type { WasmModule, WebHeaders, WebRequest, WebRequestInit, WebResponse, WebUrl } from "./web.js";

export type * from "./query.js";
export type * from "./types.js";

/** Which page of which actions that have not ended: those that pass every filter. */
export interface ActionQuery {
    /** `pending`, all, which is also the default; `waiting`, those that no provider has begun; or `dispatched`, the others. */
    state?: "pending" | "waiting" | "dispatched" | null;
    /** The action on this workspace, compared exactly. */
    workSpaceId?: string | null;
    /** Most actions on the page, at least 1; default 50. */
    limit?: number | null;
    /** The token of the page before. */
    nextToken?: string | null;
}

/** Which telemetry to remove: what meets every member that is given. */
export interface TelemetrySelection {
    /** Records of this instance: the `workSpId` or computer name that they name, in any case and spelling. */
    instanceId?: string | null;
    /** Records of this stream. */
    stream?: "stats" | "activity" | "startup" | "processes" | null;
    /**
     * Records whose day (UTC) is before that of this time: a date-time, or a time before now such as `-30d`. The day of a record is that of the
     * time it carries, or of its receipt where it carries none that is believed.
     */
    before?: string | Date | null;
}

/** Where an engine keeps its bytes. All methods are synchronous and throw when they fail. */
export interface Storage {
    /** The length in bytes. */
    len(): number;
    /** Fills all of `into`. The view is the engine's memory: do not keep it. */
    read(offset: number, into: Uint8Array): void | number;
    /** Stores a copy of all of `from`. The view is the engine's memory: do not keep it. */
    write(offset: number, from: Uint8Array): void | number;
    /** Truncates the storage, or extends it with zeros. */
    setLen(bytes: number): void;
    /** Returns once all that was written survives a crash, as far as this storage can ensure it. */
    sync(): void;
    /** Releases all resources. The engine calls it once, also when opening fails. */
    close(): void | Promise<void>;
    /** What it is, for `engine.storageKind`. */
    readonly kind?: string;
    /** Whether synced data outlives the process or the tab. Default false. */
    readonly persisted?: boolean;
    /**
     * For a storage whose durability takes time: resolves once everything that was synced is durable. When it rejects,
     * pending writes are refused with `Indeterminate`, pending reads with `StorageUnavailable`.
     */
    settled?(): Promise<void> | void;
    /** Free bytes on the medium; below 32 MiB writes are refused. */
    freeBytes?(): number;
}

/** The codes of the interface, and those of this package. */
export type ErrorCode =
    | ProblemCode
    /** An argument or an option is not valid. */
    | "InvalidArgument"
    /** The engine was called from a callback of its own clock or storage. */
    | "ReentrantCall"
    /** The engine was closed. */
    | "EngineClosed"
    /** The engine stopped because of a bug or lack of memory; open another on the same storage. */
    | "EngineCrashed"
    /** The WebAssembly module cannot be fetched, or may not be compiled here; the message says what to do. */
    | "ModuleUnavailable"
    /** Another engine has the storage open, or took it. */
    | "StorageLocked"
    /** The storage holds something other than a store; it was left untouched. */
    | "ForeignFile"
    /** The store was written by a newer version; it was left untouched. */
    | "NewerFormat"
    /** The store is damaged. */
    | "Corrupted";

/** Every failure of this package. */
export class DeskfleetError extends Error {
    constructor(code: ErrorCode, message: string, more?: { cause?: unknown; parameter?: string; retryAfter?: number });
    /** Does not change between versions; `message` may. */
    readonly code: ErrorCode;
    /** The wrong parameter, of an `InvalidParameter`. */
    readonly parameter?: string;
    /** Seconds after which to retry, of a `QueueFull`. */
    readonly retryAfter?: number;
}

/** Bytes: a number, or text such as `"64 KiB"`. */
export type Bytes = number | string;

/** A time: seconds, or text such as `"1h30m"` or `"500ms"`. */
export type Time = number | string;

/** Sizes and rates; each defaults to the engine's value. */
export interface Limits {
    recordBodyBytes?: Bytes;
    processesBodyBytes?: Bytes;
    batchBodyBytes?: Bytes;
    uriBytes?: Bytes;
    headersBytes?: Bytes;
    queueRecords?: number;
    queueHighWater?: number;
    /** Events that are kept. */
    events?: number;
    /** Default `"none"`. */
    keyRequestsPerMinute?: number | "none";
    freeBytesMin?: Bytes;
    /** The page cache; default 8 MiB. */
    cacheBytes?: Bytes;
}

/** How actions end. */
export interface Actions {
    /** Who ends an action: the clock, or only the host with `completeAction` and `failAction`. Default `"clock"`. */
    driver?: "clock" | "host";
    /** The same for the actions of one kind; `"none"` is the default: as `driver` says. */
    drivers?: ActionDrivers;
    durations?: ActionDurations;
}

/** Who ends the actions of each kind. */
export interface ActionDrivers {
    reboot?: "clock" | "host" | "none";
    recoveryReboot?: "clock" | "host" | "none";
    rebuild?: "clock" | "host" | "none";
    restore?: "clock" | "host" | "none";
    terminate?: "clock" | "host" | "none";
    start?: "clock" | "host" | "none";
    changeComputeType?: "clock" | "host" | "none";
}

/** How long an action takes when the clock ends it. */
export interface ActionDurations {
    reboot?: Time;
    recoveryReboot?: Time;
    rebuild?: Time;
    restore?: Time;
    terminate?: Time;
    start?: Time;
    changeComputeType?: Time;
}

/** How long history is kept, in days. */
export interface RetentionDays {
    stats?: number;
    activity?: number;
    startup?: number;
    processes?: number;
    audit?: number;
    rollups?: number;
    events?: number;
}

/** What advice about cost counts with. */
export interface Cost {
    /** How long an `AUTO_STOP` desktop is billed after its user has left; default 1 hour. */
    autoStopTimeout?: Time;
    /** What compute types cost: of each its name, a month with `ALWAYS_ON`, a month with `AUTO_STOP`, an hour of that, such as `"STANDARD 35 9.75 0.30"`. */
    prices?: readonly string[];
    /** From how many hours a month `ALWAYS_ON` is cheaper, where its price is not known. */
    hourLimits?: HourLimits;
}

/** The hours a month above which a desktop is cheaper with `ALWAYS_ON`, by compute type. */
export interface HourLimits {
    value?: number;
    standard?: number;
    performance?: number;
    power?: number;
    powerpro?: number;
    graphicsG4dn?: number;
    graphicsproG4dn?: number;
}

export interface EngineOptions {
    /** Where the engine keeps its bytes; memory when left out. The engine closes it. */
    storage?: Storage | Promise<Storage>;
    /** Returns the time in milliseconds since 1970, called once per call; default `() => Date.now()`. */
    clock?: () => number;
    /**
     * Makes keys and trace ids repeatable, for tests. The seed reveals the keys. A store that has issued keys continues
     * from their number, so that no secret is issued twice.
     */
    seed?: number;
    limits?: Limits;
    actions?: Actions;
    retentionDays?: RetentionDays;
    cost?: Cost;
    /** Whether the Stats endpoints need a key with scope `ingest`. Default false. */
    requireIngestKey?: boolean;
    /** How many syncs make a commit durable; `quickRepair` always takes two. Default `"one"`. */
    commitPhases?: "one" | "two";
    /** Whether a store opens quickly after a crash, for slower commits. Default true. */
    quickRepair?: boolean;
    /** Whether a store is opened without comparing its checksums: quick, but damage goes unnoticed. Default false. */
    trustFile?: boolean;
    /** A snapshot to begin with; the storage must be empty. */
    restore?: Uint8Array;
    /** The module, if the package cannot load it itself. */
    wasm?: WasmModule | ArrayBuffer | ArrayBufferView;
}

/** A workspace to store. */
export type Workspace = WorkSpaceInput & { workSpId: string };

/** The result of {@link Engine.handle}. */
export interface Answer {
    status: number;
    /** Names in lower case. */
    headers: Record<string, string>;
    body: Uint8Array;
}

/**
 * A fleet engine. Methods that return a promise resolve once what they wrote is durable, as far as the storage can
 * ensure it. All of them fail with a {@link DeskfleetError}.
 */
export class Engine {
    private constructor();
    /** Opens the store in the storage, or creates a new one. */
    static open(options?: EngineOptions): Promise<Engine>;
    /** Creates a new store from a snapshot. */
    static restore(bytes: Uint8Array, options?: EngineOptions): Promise<Engine>;
    /**
     * Responds to a request, given as a `Request`, or as an address and the options of one; of the address only the
     * path and the query count. Writes of one turn of the event loop share a commit. Every refusal is a response. A
     * signal that is aborted before the body has arrived rejects with its reason, and nothing is written; later it has
     * no effect.
     */
    fetch(input: WebRequest | WebUrl | string, init?: WebRequestInit): Promise<WebResponse>;
    /**
     * Responds to a request at once, with a commit of its own. On a storage with `settled`, await {@link settled}
     * before acting on it.
     * @param url a path with its query, or absolute
     */
    handle(
        method: string,
        url: string,
        headers?: Record<string, string> | WebHeaders | Iterable<[string, string]>,
        body?: Uint8Array | string,
    ): Answer;
    /**
     * Creates or replaces workspaces, all or nothing in each 1000; returns how many. Rejects with `OperationInProgress` when an
     * action is changing the state of one, with `InvalidArgument` when a member is misspelled, with `LitigationHold` when a hold protects the identity or the state of one.
     */
    putWorkspaces(workspaces: Workspace[]): Promise<number>;
    /** Creates and changes workspaces, each by itself: what is absent stays as it is, and `null` becomes null. */
    importWorkspaces(changes: WorkSpacePatch[]): Promise<ImportReport>;
    placeHold(workSpaceId: string, hold: NewHold): Promise<void>;
    releaseHold(workSpaceId: string): Promise<void>;
    issueKey(key: Omit<NewKey, "expires"> & { expires?: string | Date | null }): Promise<IssuedKey>;
    /** Of the last accepted key with scope `admin` that does not expire only with `force`. */
    revokeKey(id: number, how?: { force?: boolean }): Promise<void>;
    keys(): Promise<KeyInfo[]>;
    /** One page of the outbox. */
    actions(query?: ActionQuery): Promise<PendingActionList>;
    /** The whole outbox: the actions that have not ended. */
    pendingActions(): Promise<PendingAction[]>;
    /**
     * Notes that a provider begins an attempt to make an action happen, of which `attempt` is the number: one more than the action has had. Begin
     * only once it resolves: rejects with `Cancelled`, `LitigationHold`, `InvalidResourceState` or `NotFound` when the action must not be carried out.
     * The last attempt again, by the same provider and instance, changes nothing.
     */
    dispatchAction(id: number, how: ActionDispatch): Promise<PendingAction>;
    /** Notes what the provider's support will ask for; the audit has it at the end. */
    noteAction(id: number, note: ActionNote): Promise<void>;
    completeAction(id: number): Promise<void>;
    failAction(id: number, how?: ActionFailure): Promise<void>;
    /**
     * Removes the records that meet every given member, at least one of which is required, and what was made of them alone. Rejects with
     * `LitigationHold` when the instance is on hold; what may belong to another held workspace is kept and counted.
     */
    removeTelemetry(selection: TelemetrySelection): Promise<RemovedTelemetry>;
    /** Questions about the fleet, each as a method. */
    readonly query: Questions;
    /** Asks a question about the fleet by its name. */
    ask<Name extends keyof Questions>(question: Name, parameters?: Parameters<Questions[Name]>[0]): ReturnType<Questions[Name]>;
    /**
     * The event log from a position on: what there is, and then what comes, until the loop is left or the engine is closed. A loop
     * that falls behind what is kept gets one event `resync`.
     * @param options.after the id of the last event that is known; from now on when left out, from the first one with 0
     */
    events(options?: { after?: number | null }): EventIterator;
    /** At most 100 events after a position, and the position to go on after; none when it is left out, which returns that of now. */
    readEvents(after?: number | null): Promise<{ events: FleetEvent[]; position: number }>;
    /** Telemetry records that are not filed yet. */
    queueCount(): Promise<number>;
    /** Files all queued telemetry into history; returns the number of records. */
    filePending(): Promise<number>;
    /** Runs due maintenance: ends actions, files telemetry, applies retention. Call it about once a second. */
    maintain(): Promise<void>;
    /** Moves the engine's clock ahead of the host's, for tests and simulations. */
    advanceClock(milliseconds: number): void;
    /** A copy of the store, for `Engine.restore`. */
    snapshot(): Promise<Uint8Array>;
    /** Whether acknowledged data outlives the process or the tab. */
    persisted(): boolean;
    /** Where the data is: `"memory"`, `"file"`, `"opfs"`, `"indexeddb"`, `"durable-object"`, the `kind` of your own storage, or `"custom"`. */
    readonly storageKind: string;
    /**
     * Resolves once all that was written is durable; rejects with `Indeterminate` when the storage cannot ensure
     * it.
     */
    settled(): Promise<void>;
    /**
     * Completes earlier calls, commits them and closes the storage. A request whose body has not arrived after a second
     * is refused with `EngineClosed`.
     */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** Events as they happen, for `for await`. */
export interface EventIterator extends AsyncIterableIterator<FleetEvent> {
    /** Ends it, also while it waits. */
    return(value?: unknown): Promise<IteratorResult<FleetEvent>>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** Bytes in memory; they end with it. */
export function memoryStorage(): Storage;
