import type { Storage } from "./index.js";

/** What is used of `ctx.storage` of a Durable Object that has SQLite. */
export interface DurableObjectStorageLike {
    readonly sql: { exec(query: string, ...bindings: any[]): { toArray(): Array<Record<string, any>> } };
    transactionSync<T>(run: () => T): T;
}

/**
 * The SQLite database of a Durable Object: rows of 16 KiB in the tables `deskfleet_rows` and `deskfleet_store`.
 *
 * What was synced lasts once the object's output gate opens, and no answer leaves the object before that. Open the engine in
 * the constructor, inside `ctx.blockConcurrencyWhile`.
 */
export function durableObjectStorage(
    storage: DurableObjectStorageLike,
    options?: {
        /** How many bytes the engine may take; default 10 GB, what Cloudflare gives an object. */
        maxBytes?: number;
    },
): Storage;
