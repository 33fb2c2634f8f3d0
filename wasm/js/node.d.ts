import type { Storage } from "./index.js";
import type { WebUrl } from "./web.js";

/**
 * A file, for Node, Deno and Bun. It is synced with `fdatasync`, and locked by a file `….lock` beside it, which names the thread
 * that has it. The lock of a thread that has ended is free; where that cannot be seen, as in another container, the lock is free
 * when nobody has renewed it for 15 s. An engine whose lock was taken or removed refuses writes with `StorageLocked`.
 */
export function fileStorage(
    path: string | WebUrl,
    options?: {
        /** Takes the lock from whoever has it. Use it when you know that the owner has ended. */
        breakLock?: boolean;
    },
): Storage;
