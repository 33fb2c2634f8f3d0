import type { Engine, EngineOptions, Storage } from "./index.js";
import type { WebUrl, WebWorker } from "./web.js";

/**
 * A file in the origin's private file system, for an engine in a dedicated worker. Waits up to 5 s for a tab that is
 * just closing, then fails with `StorageLocked`. `persisted` is true if the browser promised to keep the data of this
 * origin; otherwise the data still outlives the tab and the browser, but may be evicted when the disk is full.
 */
export function opfsStorage(name: string): Promise<Storage>;

export interface ConnectOptions extends Omit<EngineOptions, "storage" | "clock"> {
    /** The name of the store, by default `deskfleet.redb`. */
    name?: string;
    /**
     * Where to keep the data when the browser has no files for this page: in some private windows, in old browsers and, only with `"memory"`, in an
     * insecure origin. `engine.storageKind` says which it became. Without it `connect` fails there with `StorageUnavailable`.
     */
    fallback?: "indexeddb" | "memory";
    /**
     * Runs `deskfleet/opfs-worker`, if the package cannot start it by itself: the URL of its script, or a function that
     * makes a worker. A `Worker` works until it ends, which it does when the browser freezes the page.
     */
    worker?: (() => WebWorker) | WebWorker | WebUrl | string;
}

/**
 * An engine in a worker, as a page sees it. All tabs of an origin that connect to one name share one engine: that of
 * the first tab, with its options. When that tab is closed, another opens the store. A call that was pending then is
 * repeated if that changes nothing; otherwise it returns 503 or rejects with `Indeterminate`, because it may have been
 * made or not. The same holds for a page that the browser freezes or keeps in its back/forward cache: its worker ends,
 * and it joins again when it is shown. Calls to a tab that has not responded for 15 s are refused: with
 * `StorageUnavailable` if they only read or were not sent.
 */
export interface ConnectedEngine
    extends Pick<
        Engine,
        | "fetch"
        | "putWorkspaces"
        | "importWorkspaces"
        | "placeHold"
        | "releaseHold"
        | "issueKey"
        | "revokeKey"
        | "ask"
        | "query"
        | "keys"
        | "actions"
        | "pendingActions"
        | "dispatchAction"
        | "noteAction"
        | "completeAction"
        | "failAction"
        | "removeTelemetry"
        | "queueCount"
        | "events"
        | "readEvents"
        | "filePending"
        | "maintain"
        | "snapshot"
        | "settled"
        | "storageKind"
    > {
    /** Advances the clock of the engine that all tabs share, until another tab takes over. */
    advanceClock(milliseconds: number): void;
    /** Whether the browser promised to keep the data, as of its last answer. */
    persisted(): boolean;
    /** Asks the browser to keep the data, which may ask the user; returns whether it does. */
    persist(): Promise<boolean>;
    /** Deletes all data of the store, for all tabs, and begins an empty one. */
    wipe(): Promise<void>;
    /** Waits for pending calls and ends the worker of this tab. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** Opens the store of this origin in a dedicated worker, or joins the tab that has it open. */
export function connect(options?: ConnectOptions): Promise<ConnectedEngine>;
