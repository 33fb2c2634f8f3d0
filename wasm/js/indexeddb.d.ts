import type { Storage } from "./index.js";

/**
 * A copy in memory of what an IndexedDB database holds, for service workers, where no file can be opened; all of it is read at
 * opening. What changed is written in one strictly durable transaction before an answer is given. One engine at a time: another
 * that opens it waits up to 5 s, then fails with `StorageLocked`. `persisted` is as for `opfsStorage`.
 */
export function indexedDbStorage(name: string): Promise<Storage>;
