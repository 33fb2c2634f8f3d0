import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { DeskfleetError } from "../errors.js";

/** Interval in milliseconds at which an owner renews its lock. */
const RENEW_MS = 3_000;
/** An owner that cannot be looked up counts as gone when its lock was not renewed for this many milliseconds. */
const STALE_MS = 15_000;
const ATTEMPTS = 10;

/**
 * Takes the lock of a file: a file `….lock` beside it that names its owner, a thread of a process. These runtimes have
 * no lock that the system releases at the end of a thread, so each opener checks whether the owner of a lock still
 * runs, and takes the lock of one that does not.
 * @param {string} name of the file
 * @param {boolean} broken takes the lock from any owner
 */
export function lockBeside(name, broken) {
    const lock = `${name}.lock`;
    const mine = { ...owner(), token: randomUUID() };
    const draft = `${lock}.${mine.token}`;
    try {
        const now = written(draft, JSON.stringify(mine));
        for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
            if (!placed(draft, lock)) {
                const held = look(lock);
                // It was released at this moment.
                if (held === undefined) continue;
                if (!broken && !isGone(held, mine, now)) throw locked(name, lock, held.content, mine);
                take(lock, held, draft, mine, now);
            }
            if (look(lock)?.content?.token === mine.token) return new Lock(lock, mine);
        }
    } finally {
        fs.rmSync(draft, { force: true });
    }
    throw new DeskfleetError("StorageLocked", `${name} is being opened by others; retry`);
}

/** A lock that this thread holds. */
class Lock {
    #lock;
    #token;
    #handle;
    #renewing;

    constructor(lock, mine) {
        this.#lock = lock;
        this.#token = mine.token;
        const handle = opened(lock);
        this.#handle = handle;
        const content = JSON.stringify(mine);
        this.#renewing = setInterval(() => {
            try {
                fs.writeSync(handle, content, 0);
            } catch {
                // A later renewal may succeed; until then the lock only ages.
            }
        }, RENEW_MS).unref();
    }

    /** Whether it is still there: another opener may have taken it, or a person removed it. */
    isHeld() {
        return fs.fstatSync(this.#handle).nlink > 0;
    }

    release() {
        clearInterval(this.#renewing);
        fs.closeSync(this.#handle);
        if (look(this.#lock)?.content?.token === this.#token) fs.rmSync(this.#lock, { force: true });
    }
}

/** Opens a lock that this thread has just taken, or releases it. */
function opened(lock) {
    try {
        return fs.openSync(lock, "r+");
    } catch (error) {
        fs.rmSync(lock, { force: true });
        throw error;
    }
}

/** The identity of this thread, unique over time. */
function owner() {
    const [, pid, thread] = /^(\d+)\/task\/(\d+)$/.exec(linkOf("/proc/thread-self") ?? "") ?? [];
    const seen = Number(pid) === process.pid;
    return {
        host: os.hostname(),
        boot: textOf("/proc/sys/kernel/random/boot_id"),
        namespace: linkOf("/proc/self/ns/pid"),
        pid: process.pid,
        started: seen ? startOf(`/proc/${pid}/stat`) : undefined,
        thread: seen ? Number(thread) : undefined,
        threadStarted: seen ? startOf(`/proc/${pid}/task/${thread}/stat`) : undefined,
    };
}

/** Whether the owner of a lock is gone; if that cannot be seen, whether it has not renewed the lock for too long. */
function isGone({ content, writtenAt }, here, now) {
    const stale = now - writtenAt > STALE_MS;
    if (content === undefined || content.host !== here.host) return stale;
    if (content.boot !== here.boot) return true;
    if (content.namespace !== here.namespace) return stale;
    const { pid, started, thread, threadStarted } = content;
    const seen = startOf(`/proc/${pid}/stat`);
    // There is no such folder, or it hides other processes.
    if (threadStarted === undefined || seen === undefined) return !runs(pid) || stale;
    return seen !== started || startOf(`/proc/${pid}/task/${thread}/stat`) !== threadStarted;
}

function runs(pid) {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return error?.code !== "ESRCH";
    }
}

/** Writes a new file, synced; returns its time in milliseconds by the clock of its file system. */
function written(file, content) {
    const handle = fs.openSync(file, "wx");
    try {
        fs.writeSync(handle, content);
        fs.fsyncSync(handle);
        return fs.fstatSync(handle).mtimeMs;
    } finally {
        fs.closeSync(handle);
    }
}

/** Gives a finished file another name; returns `false` if that name exists. */
function placed(draft, name) {
    try {
        fs.linkSync(draft, name);
        return true;
    } catch (error) {
        if (error?.code === "EEXIST") return false;
    }
    // Some file systems have no links; there, a partly written lock may be seen.
    try {
        fs.copyFileSync(draft, name, fs.constants.COPYFILE_EXCL);
        return true;
    } catch (error) {
        if (error?.code === "EEXIST") return false;
        throw error;
    }
}

/** The content of a lock and the time it was written; without content if it was torn, `undefined` if there is none. */
function look(lock) {
    let handle;
    try {
        handle = fs.openSync(lock, "r");
    } catch (error) {
        if (error?.code === "ENOENT") return undefined;
        throw error;
    }
    try {
        const writtenAt = fs.fstatSync(handle).mtimeMs;
        return { content: contentOf(fs.readFileSync(handle, "utf8")), writtenAt };
    } finally {
        fs.closeSync(handle);
    }
}

function contentOf(text) {
    try {
        const content = JSON.parse(text);
        // The token becomes part of a file name.
        return /^[\w-]{1,64}$/.test(content.token) ? content : undefined;
    } catch {
        return undefined;
    }
}

/**
 * Takes the place of an owner. Of several that try at once, the one with the claim on this very lock succeeds, after it
 * has checked that the lock is still there.
 */
function take(lock, held, draft, mine, now) {
    const token = held.content?.token;
    const claim = `${lock}.${token ?? "torn"}`;
    if (!placed(draft, claim)) {
        const claimed = look(claim);
        if (claimed !== undefined && isGone(claimed, mine, now)) fs.rmSync(claim, { force: true });
        return;
    }
    try {
        const still = look(lock);
        if (still !== undefined && still.content?.token === token) fs.renameSync(claim, lock);
    } catch (error) {
        // Another opener took this claim for that of an owner that is gone; the content of the lock decides.
        if (error?.code !== "ENOENT") throw error;
    } finally {
        if (look(claim)?.content?.token === mine.token) fs.rmSync(claim, { force: true });
    }
}

function locked(name, lock, held, mine) {
    if (held !== undefined && ["host", "boot", "namespace", "pid"].every((part) => held[part] === mine[part])) {
        return new DeskfleetError(
            "StorageLocked",
            `${name} is open in this process already. Close that engine first; where a development server loads modules again, keep one engine on globalThis: globalThis.fleet ??= await Engine.open(…)`,
        );
    }
    const owner = held === undefined ? "an owner that it does not name" : `process ${held.pid} on ${held.host}`;
    return new DeskfleetError(
        "StorageLocked",
        `${name} is open: ${lock} is held by ${owner}. Close it there. If you know that this owner has ended, pass { breakLock: true }; a lock that is not renewed is free after ${STALE_MS / 1000} s`,
    );
}

/**
 * The start time of a process or thread, in ticks since boot; `"ended"` when it has ended and its parent has not reaped
 * it yet, `undefined` when it cannot be seen. Linux only.
 */
function startOf(stat) {
    // The name of the program is in parentheses and may hold spaces; after it the state is the first field, the start
    // time the 20th.
    const fields = textOf(stat)?.split(") ").at(-1)?.split(" ");
    return fields !== undefined && "ZX".includes(fields[0]) ? "ended" : fields?.[19];
}

function textOf(file) {
    try {
        return fs.readFileSync(file, "utf8").trim();
    } catch {
        return undefined;
    }
}

function linkOf(file) {
    try {
        return fs.readlinkSync(file);
    } catch {
        return undefined;
    }
}
