import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";
import { isUrl } from "../kinds.js";
import { lockBeside } from "./lock.js";
import { moveAll } from "./moved.js";

/** The bits of a descriptor's flags for read and write access. */
const ACCESS_MODE = 3;

/**
 * The files that this thread has open, by device and inode: a file may have several names, each with its own lock.
 * Shared by all copies of this module.
 * @type {Map<string, OpenFile>}
 */
const openFiles = (globalThis[Symbol.for("deskfleet.files")] ??= new Map());
/** Releases the files of collected storages. */
const collected = new FinalizationRegistry((file) => file.close());

/**
 * A file, for Node, Deno and Bun: synced with `fdatasync`, locked by a file beside it.
 * @param {string | URL} name
 * @param {{ breakLock?: boolean }} [options]
 * @returns {import("../index.js").Storage}
 */
export function fileStorage(name, options = {}) {
    const file = opened(name, options.breakLock === true);
    const storage = {
        kind: "file",
        persisted: true,
        len: () => file.len(),
        read: (offset, into) => file.read(offset, into),
        write: (offset, from) => file.write(offset, from),
        setLen: (bytes) => file.setLen(bytes),
        sync: () => file.sync(),
        close() {
            collected.unregister(file);
            file.close();
        },
        freeBytes: () => file.freeBytes(),
    };
    collected.register(storage, file, file);
    return storage;
}

function opened(asked, breakLock) {
    let name = "the store";
    let lock;
    try {
        name = nameOf(asked);
        lock = lockBeside(name, breakLock);
        return new OpenFile(name, lock, breakLock);
    } catch (error) {
        lock?.release();
        throw cannotOpen(name, error);
    }
}

class OpenFile {
    #name;
    #lock;
    #handle;
    #identity;
    /** Whether the lock was checked since the last sync. */
    #checked = false;
    /** Whether another owner took the lock. */
    #lost = false;

    constructor(name, lock, breakLock) {
        this.#name = name;
        this.#lock = lock;
        this.#handle = openOrCreate(name);
        try {
            const { dev, ino, nlink } = fs.fstatSync(this.#handle, { bigint: true });
            this.#identity = `${dev}:${ino}`;
            const other = openFiles.get(this.#identity);
            if (breakLock) other?.lose();
            else if (other !== undefined || (nlink > 1n && isWrittenElsewhere(this.#handle, dev, ino))) throw openByAnotherName(name);
            openFiles.set(this.#identity, this);
        } catch (error) {
            fs.closeSync(this.#handle);
            throw error;
        }
    }

    len() {
        return fs.fstatSync(this.#handle).size;
    }

    read(offset, into) {
        if (this.#lost) throw taken(this.#name);
        moveAll("read", into.length, (done) => fs.readSync(this.#handle, into, done, into.length - done, offset + done));
    }

    write(offset, from) {
        this.#mustHold();
        moveAll("write", from.length, (done) => fs.writeSync(this.#handle, from, done, from.length - done, offset + done));
    }

    setLen(bytes) {
        this.#mustHold();
        fs.ftruncateSync(this.#handle, bytes);
    }

    sync() {
        this.#checked = false;
        fs.fdatasyncSync(this.#handle);
        this.#mustHold();
        this.#checked = false;
    }

    close() {
        if (this.#handle === undefined) return;
        const handle = this.#handle;
        this.#handle = undefined;
        if (openFiles.get(this.#identity) === this) openFiles.delete(this.#identity);
        try {
            fs.closeSync(handle);
        } finally {
            this.#lock.release();
        }
    }

    freeBytes() {
        const { bavail, bsize } = fs.statfsSync(this.#name);
        return bavail * bsize;
    }

    /** Another opener owns the file from now on. */
    lose() {
        this.#lost = true;
        this.#checked = false;
    }

    /** Checked at the start and the end of a commit: two owners that write destroy a file. */
    #mustHold() {
        if (this.#checked) return;
        this.#lost ||= !this.#lock.isHeld();
        if (this.#lost) throw taken(this.#name);
        this.#checked = true;
    }
}

/** The canonical name of a file, whatever links lead to it: its lock is beside that. */
function nameOf(file) {
    if (typeof file !== "string" && !isUrl(file)) {
        throw invalidArgument(`the path of a store must be a string or a URL, not ${kindOf(file)}`);
    }
    const name = path.resolve(isUrl(file) ? fileURLToPath(new URL(file.href)) : file);
    if (fs.existsSync(name)) return fs.realpathSync(name);
    const real = path.join(fs.realpathSync(path.dirname(name)), path.basename(name));
    if (fs.lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink()) {
        throw unavailable(`${name} is a symbolic link to ${fs.readlinkSync(real)}, which does not exist; create that file or remove the link`);
    }
    return real;
}

/** Whether another descriptor writes to a file, which may be open by another of its names; Linux only. */
function isWrittenElsewhere(handle, dev, ino) {
    for (const pid of entries("/proc").filter((name) => /^\d+$/.test(name))) {
        for (const descriptor of entries(`/proc/${pid}/fd`)) {
            if (Number(pid) === process.pid && Number(descriptor) === handle) continue;
            try {
                const seen = fs.statSync(`/proc/${pid}/fd/${descriptor}`, { bigint: true });
                if (seen.dev !== dev || seen.ino !== ino) continue;
                const [, flags] = /^flags:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, "utf8")) ?? [];
                if ((parseInt(flags, 8) & ACCESS_MODE) !== fs.constants.O_RDONLY) return true;
            } catch {
                // It was closed at this moment.
            }
        }
    }
    return false;
}

function entries(folder) {
    try {
        return fs.readdirSync(folder);
    } catch {
        return [];
    }
}

function openOrCreate(name) {
    try {
        return fs.openSync(name, "r+");
    } catch (error) {
        if (error?.code !== "ENOENT") throw error;
    }
    const handle = fs.openSync(name, "wx+", 0o600);
    syncFolder(path.dirname(name));
    return handle;
}

/** Makes the name of a new file as durable as its content, if the system can sync a folder. */
function syncFolder(folder) {
    try {
        const handle = fs.openSync(folder, "r");
        try {
            fs.fsyncSync(handle);
        } finally {
            fs.closeSync(handle);
        }
    } catch {
        // Windows cannot.
    }
}

/** An error of the system, with a message that names the remedy. */
function cannotOpen(name, cause) {
    if (cause instanceof DeskfleetError) return cause;
    const { code } = cause ?? {};
    if (code === "ENOSPC" || code === "EDQUOT") return new DeskfleetError("LowDisk", `there is no room for ${name} and its lock; free some space`, { cause });
    if (code === "ENAMETOOLONG") return invalidArgument(`the path ${name} is too long: the lock beside the file adds 42 bytes to its name`, cause);
    if (typeof code === "string" && code.startsWith("ERR_INVALID")) return invalidArgument(`the path of a store is not valid: ${cause.message}`, cause);
    if (code === "EROFS") return unavailable(`${name} is on a file system that is mounted read-only; a store needs one that it can write to`, cause);
    if (code === "EACCES" || code === "EPERM") return unavailable(`this process may not write ${name} and its lock in the folder beside it: ${cause.message}`, cause);
    return unavailable(`${name} cannot be opened: ${cause?.message ?? cause}`, cause);
}

function unavailable(message, cause) {
    return new DeskfleetError("StorageUnavailable", message, { cause });
}

function openByAnotherName(name) {
    return new DeskfleetError("StorageLocked", `${name} is open by another of its names (it has hard links); close it there first`);
}

function taken(name) {
    return new DeskfleetError("StorageLocked", `another owner took the lock of ${name}, or it was removed; this engine refuses writes: close it and open another`);
}
