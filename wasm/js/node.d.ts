import type { Storage } from "./index.js";
import type { WebUrl } from "./web.js";

/**
 * A file, for Node, Deno and Bun. It is synced with `fdatasync`, and locked by a file `….lock` beside it, which names
 * the owning thread. The lock of a thread that has ended is free. If the owner cannot be looked up, as in another
 * container, the lock is free when it was not renewed for 15 s. An engine whose lock was taken or removed refuses
 * writes with `StorageLocked`.
 */
export function fileStorage(
    path: string | WebUrl,
    options?: {
        /** Takes the lock from its owner. It asserts that the owner has ended. */
        breakLock?: boolean;
    },
): Storage;
