import type { Answer, Engine, EngineOptions, Workspace } from "./index.js";
import type { RuleAfter, RuleCode, RuleLatency, RuleOperation, RuleStatus, RuleStorage, RuleTimes } from "./testing/table.js";
import type { WebRequest, WebRequestInit, WebResponse, WebUrl } from "./web.js";

export type { OperationId, StorageFault } from "./testing/table.js";

/** What a double is opened with, beside the options of an engine. */
export interface DoubleOptions extends Omit<EngineOptions, "clock" | "restore" | "storage"> {
    /** The time at which the clock begins and stands; default 2026-01-01 00:00 UTC. */
    clock?: Date | string | number;
    /** The source of keys and trace ids; default 1. */
    seed?: number;
}

/** Requests of an operation that are refused or held back; at least one of `code`, `status` and `latency`. */
export interface OperationRule {
    operation: RuleOperation;
    code?: RuleCode;
    status?: RuleStatus;
    times?: RuleTimes;
    after?: RuleAfter;
    latency?: RuleLatency;
}

/** A storage that fails. `latency` is for `slow`, which needs it. */
export interface StorageRule {
    storage: RuleStorage;
    times?: RuleTimes;
    after?: RuleAfter;
    latency?: RuleLatency;
}

/** A fault; the docs of its members are in `testing/table.d.ts`. */
export type Rule = OperationRule | StorageRule;

/** One request and its response. No member has a key. */
export interface Exchange {
    /** Operation id; absent where no operation has that path and method. */
    operation?: string;
    method: string;
    /** Path and query, without `apiKey`. */
    url: string;
    /** `accept`, `content-type`, `last-event-id` and `traceparent`. */
    headers?: Record<string, string>;
    body?: string;
    status: number;
    responseHeaders?: Record<string, string>;
    responseBody?: string;
}

/** Exchanges in the order of their responses. As JSON it is a list of them. */
export class Journal {
    constructor(exchanges?: Exchange[]);
    exchanges: Exchange[];
    exchangesOf(operation: string): Exchange[];
    /** The bodies of the requests of an operation, in order. */
    bodies(operation: string): string[];
    /** The operation ids of all exchanges, in order. */
    operations(): string[];
    /** Throws unless the operation was requested exactly `count` times. */
    assertCount(operation: string, count: number): void;
    /** Throws unless these operations were requested in this order; others may stand between them. */
    assertOrder(operations: readonly string[]): void;
    toJSON(): Exchange[];
}

/** A double on a port. */
export interface ServedDouble {
    /** Such as `http://127.0.0.1:40123`. */
    readonly url: string;
    /** Resolves once no connection is left; those that are open are cut. */
    stop(): Promise<void>;
}

/** A double of the service in memory, whose time, faults and storage a test controls. Its clock stands until `advance`. */
export class Double {
    private constructor();
    static open(options?: DoubleOptions): Promise<Double>;
    /** The engine inside, whose methods meet no rule for an operation and are not in the journal. `reset` and `restart` replace it. */
    readonly engine: Engine;
    /** A key of scope `admin`, the same for the same seed. */
    readonly key: string;
    readonly now: Date;
    /** The newest exchanges, without keys. */
    readonly journal: Journal;
    fetch(input: WebRequest | WebUrl | string, init?: WebRequestInit): Promise<WebResponse>;
    /** Throws where a rule has a latency, for which it cannot wait. */
    handle(method: string, url: string, headers?: Parameters<Engine["handle"]>[2], body?: string | Uint8Array | null): Answer;
    /** Moves the clock, ends latencies of as much, and runs upkeep. */
    advance(milliseconds: number): Promise<void>;
    /** Adds rules after those there are. Throws at the first one that is not valid, and adds none. */
    fail(rules: Rule | readonly Rule[]): void;
    clearRules(): void;
    clearJournal(): void;
    /** From now on a request of the journal, by method, URL and body, has the recorded response. The engine handles all others. */
    replay(journal: Journal | readonly Exchange[]): void;
    /** Makes it as it was when it was opened: no data, no rules, no journal, the first time, the same key. */
    reset(): Promise<void>;
    /** Cuts the power and starts the engine again on what was durable. */
    restart(): Promise<void>;
    /** Serves it on a port of Node's `http`; by default a free one of 127.0.0.1. */
    serve(options?: { port?: number; host?: string }): Promise<ServedDouble>;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
}

/** The first `count` desktops of a fleet that is the same everywhere: `ws-000000001` of `user1`, and so on. */
export function fleet(count: number): Workspace[];

/** A `fetch` that sends to a real service, and the journal of its exchanges, to be replayed. */
export function record(
    origin: string,
    options?: { fetch?: (request: any) => Promise<any> },
): { readonly journal: Journal; fetch(input: WebRequest | WebUrl | string, init?: WebRequestInit): Promise<WebResponse> };
