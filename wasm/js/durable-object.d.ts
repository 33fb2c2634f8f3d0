import type { Storage } from "./index.js";

/** The used part of `ctx.storage` of a Durable Object with SQLite. */
export interface DurableObjectStorageLike {
    readonly sql: { exec(query: string, ...bindings: any[]): { toArray(): Array<Record<string, any>> } };
    transactionSync<T>(run: () => T): T;
}

/**
 * The SQLite database of a Durable Object: rows of 16 KiB in the tables `deskfleet_rows` and `deskfleet_store`.
 *
 * What was synced is durable once the object's output gate opens, and no response leaves the object before that. Open
 * the engine in the constructor, inside `ctx.blockConcurrencyWhile`.
 */
export function durableObjectStorage(
    storage: DurableObjectStorageLike,
    options?: {
        /** Most bytes of the store; default 10 GB, Cloudflare's limit for an object. */
        maxBytes?: number;
    },
): Storage;
