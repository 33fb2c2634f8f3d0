import { watchKeeping } from "../browser/keeping.js";
import { storeName } from "../browser/name.js";
import { DeskfleetError } from "../errors.js";

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
    return {
        get persisted() {
            return keeping.kept;
        },
        len: () => handle.getSize(),
        read(offset, into) {
            all("read", into, (rest, done) => handle.read(rest, { at: offset + done }));
        },
        write(offset, from) {
            all("write", from, (rest, done) => handle.write(rest, { at: offset + done }));
        },
        setLen(bytes) {
            const before = handle.getSize();
            handle.truncate(bytes);
            keeping.grew(bytes - before);
        },
        sync: () => handle.flush(),
        close: () => handle.close(),
        freeBytes: () => keeping.freeBytes(),
    };
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

/** Moves all of `bytes`, in several steps if the browser moves fewer at once. */
function all(verb, bytes, move) {
    for (let done = 0; done < bytes.length; ) {
        const moved = move(done === 0 ? bytes : bytes.subarray(done), done);
        if (!(moved > 0)) throw new RangeError(`the browser ${verb === "read" ? "read" : "wrote"} ${done} of ${bytes.length} bytes`);
        done += moved;
    }
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
