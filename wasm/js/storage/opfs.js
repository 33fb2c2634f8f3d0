import { watchKeeping } from "../browser/keeping.js";
import { storeName } from "../browser/name.js";
import { DeskfleetError } from "../errors.js";
import { moveAll } from "./moved.js";

/** A tab that was just closed or reloaded releases its file a little later. */
const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * A file in the origin's private file system, in a dedicated worker.
 * @param {string} name
 * @returns {Promise<import("../index.js").Storage>}
 */
export async function opfsStorage(name) {
    storeName(name);
    if (typeof globalThis.FileSystemSyncAccessHandle !== "function" || typeof navigator.storage?.getDirectory !== "function") {
        throw new DeskfleetError(
            "StorageUnavailable",
            "files can be opened here only in a dedicated worker of a secure origin (https or localhost); in a page, use connect",
        );
    }
    const handle = await openPatiently(name);
    const keeping = await watchKeeping();
    /** Whether something was written since the file was last found. */
    let unseen = false;
    /** @type {DeskfleetError | undefined} */
    let lost;
    const mustExist = () => {
        if (lost) throw lost;
    };
    return {
        kind: "opfs",
        get persisted() {
            return keeping.kept;
        },
        len: () => handle.getSize(),
        read(offset, into) {
            mustExist();
            moveAll("read", into.length, (done) => handle.read(rest(into, done), { at: offset + done }));
        },
        write(offset, from) {
            mustExist();
            unseen = true;
            moveAll("write", from.length, (done) => handle.write(rest(from, done), { at: offset + done }));
        },
        setLen(bytes) {
            mustExist();
            unseen = true;
            const before = handle.getSize();
            handle.truncate(bytes);
            keeping.grew(bytes - before);
        },
        sync: () => handle.flush(),
        /** Rejects when the file is gone: its handle stays open and takes writes when a user clears the data of the site. */
        async settled() {
            mustExist();
            if (!unseen) return;
            unseen = false;
            try {
                await (await navigator.storage.getDirectory()).getFileHandle(name);
            } catch (error) {
                if (error?.name === "NotFoundError") lost = cleared(name, error);
                unseen = true;
                throw lost ?? unavailable(name, error);
            }
        },
        close: () => handle.close(),
        freeBytes: () => keeping.freeBytes(),
    };
}

/** Whether the browser has files for this page: not in an insecure origin, in some private windows and in old browsers. */
export async function hasPrivateFiles() {
    if (typeof globalThis.FileSystemSyncAccessHandle !== "function") return false;
    try {
        await navigator.storage.getDirectory();
        return true;
    } catch {
        return false;
    }
}

/** Deletes the file of a store that is not open. @param {string} name */
export async function removeFile(name) {
    const folder = await navigator.storage.getDirectory();
    try {
        await folder.removeEntry(storeName(name));
    } catch (error) {
        if (error?.name === "NotFoundError") return;
        throw unavailable(name, error);
    }
}

async function openPatiently(name) {
    let pause = FIRST_PAUSE_MS;
    for (const began = Date.now(); ; ) {
        try {
            const folder = await navigator.storage.getDirectory();
            const file = await folder.getFileHandle(name, { create: true });
            return await file.createSyncAccessHandle();
        } catch (error) {
            if (error?.name !== "NoModificationAllowedError" && error?.name !== "InvalidStateError") throw unavailable(name, error);
            if (Math.abs(Date.now() - began) > PATIENCE_MS) throw locked(name, error);
        }
        await new Promise((resume) => setTimeout(resume, pause));
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
}

function rest(bytes, done) {
    return done === 0 ? bytes : bytes.subarray(done);
}

function cleared(name, cause) {
    return new DeskfleetError("StorageUnavailable", `the data of this site was cleared, and the store ${name} with it; reload the page to begin an empty one`, { cause });
}

function locked(name, cause) {
    return new DeskfleetError(
        "StorageLocked",
        `the store ${name} is open in another tab or worker; close it there, or let all tabs use connect, which shares it`,
        { cause },
    );
}

function unavailable(name, cause) {
    return new DeskfleetError("StorageUnavailable", `the store ${name} cannot be opened: ${cause?.message ?? cause}`, { cause });
}
