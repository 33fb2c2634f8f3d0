import { randomUUID } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import process from "node:process";
import { DeskfleetError } from "../errors.js";

/**
 * Takes the lock of a file: a file `….lock` beside it that names its owner. These runtimes have no lock that the system frees
 * at the end of a process, so whoever finds a lock looks whether its owner still runs, and takes the lock of one that does not.
 * @param {string} name of the file
 * @param {boolean} broken takes the lock of an owner that cannot be looked at, too
 * @returns {() => void} gives the lock back
 */
export function lockBeside(name, broken) {
    const lock = `${name}.lock`;
    const mine = { ...owner(), token: randomUUID() };
    for (let attempt = 0; attempt < 10; attempt++) {
        if (create(lock, mine)) return () => release(lock, mine);
        const held = read(lock);
        // It was given back in this moment.
        if (held === undefined) continue;
        if (runs(held) && !(broken && held.host !== mine.host)) throw locked(name, lock, held);
        if (take(lock, held, mine)) return () => release(lock, mine);
    }
    throw new DeskfleetError("StorageLocked", `${name} is being opened by others; try again`);
}

/** Who holds a lock, in a way that no later process is mistaken for it. */
function owner() {
    return {
        pid: process.pid,
        started: startOf(process.pid),
        boot: textOf("/proc/sys/kernel/random/boot_id"),
        host: `${os.hostname()} ${linkOf("/proc/self/ns/pid")}`,
    };
}

/** Whether the owner of a lock runs, or may run where that cannot be seen. */
function runs(held) {
    const here = owner();
    if (held.host !== here.host) return true;
    if (held.boot !== here.boot) return false;
    // Where this process sees when itself began, it sees that of others.
    if (held.started !== undefined && here.started !== undefined) return held.started === startOf(held.pid);
    try {
        process.kill(held.pid, 0);
        return true;
    } catch (error) {
        return error?.code !== "ESRCH";
    }
}

/** Puts a lock there complete or not at all; `false` when there is one. */
function create(lock, content) {
    const draft = `${lock}.${content.token}`;
    fs.writeFileSync(draft, JSON.stringify(content), { flag: "wx" });
    try {
        fs.linkSync(draft, lock);
        return true;
    } catch (error) {
        if (error?.code === "EEXIST") return false;
        // Not every file system has links; there, a lock may be seen half written.
        if (fs.existsSync(lock)) return false;
        fs.writeFileSync(lock, JSON.stringify(content), { flag: "wx" });
        return true;
    } finally {
        fs.rmSync(draft, { force: true });
    }
}

function read(lock) {
    try {
        return JSON.parse(fs.readFileSync(lock, "utf8"));
    } catch (error) {
        if (error?.code === "ENOENT") return undefined;
        throw new DeskfleetError("StorageLocked", `${lock} does not tell who holds it; remove it if nobody does`, { cause: error });
    }
}

/**
 * Takes the place of an owner that is gone. Of those who try at once, the one that has the claim on this very lock does it, after
 * it has seen that the lock is still there.
 */
function take(lock, held, mine) {
    const claim = `${lock}.${held.token}`;
    if (!create(claim, mine)) {
        const claimed = read(claim);
        if (claimed !== undefined && !runs(claimed)) fs.rmSync(claim, { force: true });
        return false;
    }
    try {
        if (read(lock)?.token === held.token) fs.renameSync(claim, lock);
    } catch (error) {
        // Another took this claim for one of an owner that is gone; what the lock says counts.
        if (error?.code !== "ENOENT") throw error;
    }
    if (read(claim)?.token === mine.token) fs.rmSync(claim, { force: true });
    return read(lock)?.token === mine.token;
}

function release(lock, mine) {
    if (read(lock)?.token === mine.token) fs.rmSync(lock, { force: true });
}

function locked(name, lock, held) {
    const { pid, host } = held;
    return new DeskfleetError(
        "StorageLocked",
        `${name} is open in process ${pid} on ${String(host).split(" ")[0]}; close it there first. If that machine or container is gone, remove ${lock}`,
    );
}

/** When a process that still runs began, in ticks since the system did; Linux only. */
function startOf(pid) {
    // The name of the program stands in brackets and may hold spaces; behind it the state is the first field, the time the 20th.
    const fields = textOf(`/proc/${pid}/stat`)?.split(") ").at(-1)?.split(" ");
    // A process that ended stays there until its parent asks for it.
    return fields === undefined || "ZX".includes(fields[0]) ? undefined : fields[19];
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
        return "";
    }
}
