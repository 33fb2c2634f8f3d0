import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";
import { lockBeside } from "./lock.js";

/**
 * A file, for Node, Deno and Bun: synced with `fdatasync`, locked by a file beside it.
 * @param {string | URL} file
 * @param {{ breakLock?: boolean }} [options]
 * @returns {import("../index.js").Storage}
 */
export function fileStorage(file, options = {}) {
    const name = nameOf(file);
    const unlock = lockBeside(name, options.breakLock === true);
    /** @type {number | undefined} */
    let handle;
    try {
        handle = openOrCreate(name);
    } catch (error) {
        unlock();
        throw cannotOpen(name, error);
    }
    return {
        persisted: true,
        len: () => fs.fstatSync(handle).size,
        read(offset, into) {
            all(into.length, (done) => fs.readSync(handle, into, done, into.length - done, offset + done));
        },
        write(offset, from) {
            all(from.length, (done) => fs.writeSync(handle, from, done, from.length - done, offset + done));
        },
        setLen: (bytes) => fs.ftruncateSync(handle, bytes),
        sync: () => fs.fdatasyncSync(handle),
        close() {
            if (handle === undefined) return;
            const open = handle;
            handle = undefined;
            try {
                fs.closeSync(open);
            } finally {
                unlock();
            }
        },
        freeBytes() {
            const { bavail, bsize } = fs.statfsSync(name);
            return bavail * bsize;
        },
    };
}

/** The one name of a file, whatever links lead to it: its lock stands beside that. */
function nameOf(file) {
    if (typeof file !== "string" && !(file instanceof URL)) {
        throw invalidArgument(`the path of a store must be a string or a URL, not ${kindOf(file)}`);
    }
    const name = path.resolve(file instanceof URL ? fileURLToPath(file) : file);
    try {
        return fs.existsSync(name) ? fs.realpathSync(name) : path.join(fs.realpathSync(path.dirname(name)), path.basename(name));
    } catch (error) {
        throw cannotOpen(name, error);
    }
}

function openOrCreate(name) {
    try {
        return fs.openSync(name, "r+");
    } catch (error) {
        if (error?.code !== "ENOENT") throw error;
    }
    const handle = fs.openSync(name, "wx+", 0o666);
    syncFolder(path.dirname(name));
    return handle;
}

/** Makes the name of a new file as durable as its content, where the system lets a folder be synced. */
function syncFolder(folder) {
    try {
        const handle = fs.openSync(folder, "r");
        try {
            fs.fsyncSync(handle);
        } finally {
            fs.closeSync(handle);
        }
    } catch {
        // Windows has no such thing.
    }
}

/** Moves `length` bytes, however few the system moves at once. */
function all(length, move) {
    for (let done = 0; done < length; ) {
        const moved = move(done);
        if (moved <= 0) throw new RangeError(`the file ended after ${done} of ${length} bytes`);
        done += moved;
    }
}

function cannotOpen(name, cause) {
    return new DeskfleetError("StorageUnavailable", `${name} cannot be opened: ${cause?.message ?? cause}`, { cause });
}
