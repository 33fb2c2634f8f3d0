import type { Storage } from "./index.js";

/**
 * A file, for Node, Deno and Bun. It is synced with `fdatasync`, and locked by a file `….lock` beside it, which a process that
 * was killed leaves behind and the next takes over.
 */
export function fileStorage(
    path: string | URL,
    options?: {
        /** Takes the lock of a machine or container that is gone. Two engines on one file destroy it. */
        breakLock?: boolean;
    },
): Storage;
