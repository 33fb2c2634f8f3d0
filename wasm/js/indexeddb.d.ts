import type { Storage } from "./index.js";

/**
 * A copy in memory of an IndexedDB database, for service workers, which cannot open files; it is read as a whole on
 * opening. Changes are written in one strictly durable transaction before a response is returned. One engine at a time:
 * another one waits up to 5 s, then fails with `StorageLocked`. `persisted` is as for `opfsStorage`.
 */
export function indexedDbStorage(name: string): Promise<Storage>;
