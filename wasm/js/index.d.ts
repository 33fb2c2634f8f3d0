import type { WasmModule, WebHeaders, WebRequest, WebRequestInit, WebResponse, WebUrl } from "./web.js";

/** Where an engine keeps its bytes. All methods are synchronous and throw when they cannot do what they are asked. */
export interface Storage {
    /** How many bytes there are. */
    len(): number;
    /** Fills all of `into`. The view is the engine's memory: do not keep it. */
    read(offset: number, into: Uint8Array): void | number;
    /** Stores a copy of all of `from`. The view is the engine's memory: do not keep it. */
    write(offset: number, from: Uint8Array): void | number;
    /** Cuts the storage, or lengthens it by zeros. */
    setLen(bytes: number): void;
    /** Returns once all that was written will outlive a crash, as far as this storage can tell. */
    sync(): void;
    /** Gives everything back. The engine calls it once, also when opening fails. */
    close(): void | Promise<void>;
    /** Whether what was synced outlives the process or the tab. Default false. */
    readonly persisted?: boolean;
    /**
     * For a storage whose durability takes time: resolves once all that was synced will last. When it rejects, what was written is
     * refused with `Indeterminate`, what was read with `StorageUnavailable`.
     */
    settled?(): Promise<void> | void;
    /** How many bytes are free on the medium; below 32 MiB writes are refused. */
    freeBytes?(): number;
}

/** The codes of the interface, and those of this package. */
export type ErrorCode =
    | "InvalidParameter"
    | "InvalidBody"
    | "InvalidApiKey"
    | "InsufficientScope"
    | "NotFound"
    | "WorkSpaceNotFound"
    | "UserNotFound"
    | "MethodNotAllowed"
    | "InvalidResourceState"
    | "OperationInProgress"
    | "LitigationHold"
    | "AmbiguousWorkSpace"
    | "UnsupportedConfiguration"
    | "PayloadTooLarge"
    | "UnsupportedMediaType"
    | "UriTooLong"
    | "HeadersTooLarge"
    | "Throttled"
    | "QueueFull"
    /** The storage failed, and a write was certainly not carried out. */
    | "StorageUnavailable"
    /** The storage failed while it made a write durable, or the engine was lost: the write may take effect or not. */
    | "Indeterminate"
    | "LowDisk"
    | "Internal"
    /** An argument or an option is not what it should be. */
    | "InvalidArgument"
    /** The engine was called from a callback of its own clock or storage. */
    | "ReentrantCall"
    /** The engine was closed. */
    | "EngineClosed"
    /** The engine stopped at a bug or for want of memory; open another on the same storage. */
    | "EngineCrashed"
    /** The WebAssembly module cannot be fetched, or may not be compiled here; the message tells what to do. */
    | "ModuleUnavailable"
    /** Another engine has the storage open, or took it. */
    | "StorageLocked"
    /** The storage holds something that is no store of ours; it was left untouched. */
    | "ForeignFile"
    /** The store was written by a newer version; it was left untouched. */
    | "NewerFormat"
    /** The store is damaged. */
    | "Corrupted";

/** What every failure of this package is. */
export class DeskfleetError extends Error {
    constructor(code: ErrorCode, message: string, more?: { cause?: unknown; parameter?: string; retryAfter?: number });
    /** Does not change between versions; `message` may. */
    readonly code: ErrorCode;
    /** The parameter that was wrong, of an `InvalidParameter`. */
    readonly parameter?: string;
    /** Seconds after which another try is worth it, of a `QueueFull`. */
    readonly retryAfter?: number;
}

/** Sizes and rates; each has the engine's default when left out. */
export interface Limits {
    recordBodyBytes?: number;
    processesBodyBytes?: number;
    batchBodyBytes?: number;
    uriBytes?: number;
    headersBytes?: number;
    queueRecords?: number;
    queueHighWater?: number;
    keyRequestsPerMinute?: number;
    freeBytesMin?: number;
    /** The page cache; default 8 MiB. */
    cacheBytes?: number;
}

/** How long an action takes when the clock ends it, in seconds. */
export interface ActionSeconds {
    reboot?: number;
    recoveryReboot?: number;
    rebuild?: number;
    restore?: number;
    terminate?: number;
    start?: number;
    changeComputeType?: number;
}

/** How long history is kept, in days. */
export interface RetentionDays {
    stats?: number;
    activity?: number;
    startup?: number;
    processes?: number;
    audit?: number;
}

export interface EngineOptions {
    /** Where the engine keeps its bytes; memory when left out. The engine closes it. */
    storage?: Storage | Promise<Storage>;
    /** The time in milliseconds since 1970, asked once for each call; `Date.now` when left out. */
    clock?: () => number;
    /**
     * Makes keys and trace ids repeatable, for tests: whoever knows the seed knows the keys. A store that has issued keys goes on
     * from their number, so that no secret is issued twice.
     */
    seed?: number;
    limits?: Limits;
    actionSeconds?: ActionSeconds;
    retentionDays?: RetentionDays;
    /** Who ends an action: the clock, or only the host with `completeAction` and `failAction`. Default `"clock"`. */
    actionDriver?: "clock" | "host";
    /** Whether the Stats endpoints need a key with scope `ingest`. Default false. */
    requireIngestKey?: boolean;
    /** A snapshot to begin with; the storage must hold nothing yet. */
    restore?: Uint8Array;
    /** The module, where the package cannot load it itself. */
    wasm?: WasmModule | ArrayBuffer | ArrayBufferView;
}

export interface Workspace {
    workSpId: string;
    computerName?: string | null;
    account?: string | null;
    region?: string | null;
    directoryId?: string | null;
    runningMode?: string | null;
    computeTypeName?: string | null;
    protocol?: string | null;
    username?: string | null;
    state?: string | null;
}

export type Scope = "read" | "act" | "admin" | "ingest";

/** A key without its secret; times as in the interface, in UTC. */
export interface KeyInfo {
    id: number;
    name: string;
    scopes: Scope[];
    created: string;
    expires: string | null;
    lastUsed: string | null;
    revoked: string | null;
}

export interface IssuedKey extends KeyInfo {
    /** The key to hand out; it is shown only here. */
    key: string;
}

export interface PendingAction {
    id: number;
    action: string;
    workSpaceId: string;
    requestedAt: string;
    dueAt: string | null;
    computeType: string | null;
}

/** An answer of {@link Engine.handle}. */
export interface Answer {
    status: number;
    /** Names in lower case. */
    headers: Record<string, string>;
    body: Uint8Array;
}

/**
 * A fleet engine. Methods that answer a promise resolve once what they wrote is durable, as far as the storage can tell.
 * All of them fail with a {@link DeskfleetError}.
 */
export class Engine {
    private constructor();
    /** Opens what the storage holds, or begins a new store on it. */
    static open(options?: EngineOptions): Promise<Engine>;
    /** Opens a new store that begins as a snapshot was. */
    static restore(bytes: Uint8Array, options?: EngineOptions): Promise<Engine>;
    /**
     * Answers a request, given as one, or as an address and what else a request is made of; of the address only the path and the
     * query count. Writes of one turn of the event loop share a commit. Every refusal is an answer. A signal that is aborted
     * before the body is there rejects with its reason, and nothing is written; later it has no effect.
     */
    fetch(input: WebRequest | WebUrl | string, init?: WebRequestInit): Promise<WebResponse>;
    /**
     * Answers a request at once, committing for it. On a storage with `settled`, await {@link settled} before you tell anyone.
     * @param url a path with its query, or absolute
     */
    handle(
        method: string,
        url: string,
        headers?: Record<string, string> | WebHeaders | Iterable<[string, string]>,
        body?: Uint8Array | string,
    ): Answer;
    /** Creates or replaces workspaces, all or nothing in each 1000; answers how many. */
    putWorkspaces(workspaces: Workspace[]): Promise<number>;
    placeHold(workSpaceId: string, hold: { matter: string; reason?: string }): Promise<void>;
    releaseHold(workSpaceId: string): Promise<void>;
    issueKey(key: { name: string; scopes: Scope[]; expires?: string | Date }): Promise<IssuedKey>;
    revokeKey(id: number): Promise<void>;
    keys(): Promise<KeyInfo[]>;
    /** The outbox: the actions that have not ended. */
    pendingActions(): Promise<PendingAction[]>;
    completeAction(id: number): Promise<void>;
    failAction(id: number, how?: { state?: "ERROR" | "UNHEALTHY"; detail?: string }): Promise<void>;
    /** Telemetry records that are not filed yet. */
    queueCount(): Promise<number>;
    /** Files all queued telemetry into history; answers how many records. */
    filePending(): Promise<number>;
    /** Does what is due: ends actions, files telemetry, applies retention. Call it once a second or so. */
    maintain(): Promise<void>;
    /** Moves the engine's clock ahead of the host's, for tests and simulations. */
    advanceClock(milliseconds: number): void;
    /** A copy of the store, for `Engine.restore`. */
    snapshot(): Promise<Uint8Array>;
    /** Whether what is answered outlives the process or the tab. */
    persisted(): boolean;
    /** Resolves once all that was written will last; rejects with `Indeterminate` when the storage cannot say so. */
    settled(): Promise<void>;
    /**
     * Answers what was asked before, commits it and closes the storage. A request whose body has not come after a second is
     * refused with `EngineClosed`.
     */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** Bytes in memory; what is in it ends with it. */
export function memoryStorage(): Storage;
