import { indexedDbStorage, removeDatabase } from "../storage/indexeddb.js";
import { memoryStorage } from "../storage/memory.js";
import { hasPrivateFiles, opfsStorage, removeFile } from "../storage/opfs.js";

/**
 * Opens the store of a name: a file or, where the browser has none for this page, what `fallback` says. A file that exists and cannot be opened is
 * never replaced, because the fallback would begin a second store.
 * @param {string} name @param {"indexeddb" | "memory"} [fallback]
 */
export async function openStore(name, fallback) {
    if (fallback === undefined || (await hasPrivateFiles())) return opfsStorage(name);
    return fallback === "indexeddb" ? indexedDbStorage(name) : memoryStorage();
}

/** Deletes the data of a store that is not open. @param {string} name @param {string} kind of its storage */
export async function removeStore(name, kind) {
    if (kind === "indexeddb") await removeDatabase(name);
    else if (kind === "opfs") await removeFile(name);
}
