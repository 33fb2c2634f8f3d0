import { watchKeeping } from "../browser/keeping.js";
import { storeName } from "../browser/name.js";
import { DeskfleetError } from "../errors.js";

const CHUNK_BYTES = 65_536;
/** Bytes read at once when a database is opened: 4 MiB. */
const CHUNKS_READ = 64;
const CHUNKS = "chunks";
const META = "meta";
const LENGTH = "length";
/** A service worker that was replaced releases its lock a little later. */
const PATIENCE_MS = 5_000;

/**
 * A copy in memory of an IndexedDB database, for service workers, which cannot open files. All writes since the last
 * transaction go into the next one, so that the database always equals a past state of the storage.
 * @param {string} name
 * @returns {Promise<import("../index.js").Storage>}
 */
export async function indexedDbStorage(name) {
    storeName(name);
    if (globalThis.indexedDB === undefined || navigator.locks === undefined) {
        throw new DeskfleetError("StorageUnavailable", "there is no IndexedDB with Web Locks here; they need a secure origin (https or localhost)");
    }
    const unlock = await lock(name);
    let database;
    try {
        database = await openDatabase(name);
        return new Mirror(name, database, await load(database), await watchKeeping(), unlock);
    } catch (error) {
        database?.close();
        unlock();
        throw error instanceof DeskfleetError ? error : unavailable(name, error);
    }
}

/** @implements {import("../index.js").Storage} */
class Mirror {
    #name;
    #database;
    #keeping;
    #unlock;
    /** Absent chunks hold zeros. @type {Array<Uint8Array | undefined>} */
    #chunks;
    #length;
    /** The length in the database; `undefined` before the first transaction. @type {number | undefined} */
    #written;
    /** Chunks that differ from those of the database, by their number. */
    #dirty = new Set();
    #resized = false;
    /** The running transaction, and the next one. @type {Promise<void> | undefined} */
    #writing;
    /** @type {Promise<void> | undefined} */
    #next;
    /** Why the database is lost. @type {DeskfleetError | undefined} */
    #lost;

    constructor(name, database, { chunks, length }, keeping, unlock) {
        this.#name = name;
        this.#database = database;
        this.#chunks = chunks;
        this.#length = length ?? 0;
        this.#written = length;
        this.#keeping = keeping;
        this.#unlock = unlock;
        this.#watch();
    }

    #watch() {
        const database = this.#database;
        const gone = () => {
            this.#lost ??= this.#gone();
            database.close();
        };
        database.onversionchange = gone;
        database.onclose = gone;
    }

    #gone() {
        return new DeskfleetError("StorageUnavailable", `the database ${this.#name} was deleted or closed by the browser; open the engine again`);
    }

    get kind() {
        return "indexeddb";
    }

    get persisted() {
        return this.#keeping.kept;
    }

    /** Whether only another storage can continue. */
    get lost() {
        return this.#lost !== undefined;
    }

    len() {
        return this.#length;
    }

    read(offset, into) {
        this.#within(offset, into.length);
        each(offset, into.length, (number, at, done, count) => {
            const chunk = this.#chunks[number];
            if (chunk) into.set(chunk.subarray(at, at + count), done);
            else into.fill(0, done, done + count);
        });
    }

    write(offset, from) {
        this.#within(offset, from.length);
        each(offset, from.length, (number, at, done, count) => {
            const chunk = (this.#chunks[number] ??= new Uint8Array(CHUNK_BYTES));
            chunk.set(from.subarray(done, done + count), at);
            this.#dirty.add(number);
        });
    }

    setLen(bytes) {
        const kept = Math.ceil(bytes / CHUNK_BYTES);
        const held = this.#chunks.length;
        if (bytes < this.#length) {
            for (let number = kept; number < held; number++) this.#dirty.add(number);
            this.#chunks.length = Math.min(held, kept);
            // A part that was cut off reads as zeros when the storage grows again.
            if (this.#chunks[kept - 1] && bytes % CHUNK_BYTES > 0) {
                this.#chunks[kept - 1].fill(0, bytes % CHUNK_BYTES);
                this.#dirty.add(kept - 1);
            }
        }
        this.#keeping.grew(bytes - this.#length);
        this.#length = bytes;
        this.#resized = true;
    }

    /** Writing begins when the engine awaits `settled`: between two calls of the engine the bytes are consistent. */
    sync() {
        if (this.#lost) throw this.#lost;
    }

    /** Resolves when all that a reader may have seen is in the database. */
    settled() {
        if (this.#lost) return Promise.reject(this.#lost);
        if (this.#dirty.size === 0 && !this.#resized) return this.#next ?? this.#writing;
        this.#next ??= this.#follow(this.#writing);
        return this.#next;
    }

    async close() {
        try {
            await this.settled();
        } finally {
            this.#database.onclose = null;
            this.#database.onversionchange = null;
            this.#database.close();
            this.#unlock();
        }
    }

    freeBytes() {
        return this.#keeping.freeBytes();
    }

    #within(offset, count) {
        if (offset + count > this.#length) throw new RangeError(`bytes ${offset} to ${offset + count} of a storage of ${this.#length}`);
    }

    /** Writes once the previous transaction has ended, whatever its outcome. */
    async #follow(before) {
        await before?.catch(() => {});
        this.#writing = this.#next;
        this.#next = undefined;
        try {
            await this.#write();
        } finally {
            if (this.#next === undefined) this.#writing = undefined;
        }
    }

    /** Puts all changes into the database in one transaction; failed ones are retried with the next. */
    async #write() {
        // First, because the changes must be those of one moment.
        const transaction = await this.#transaction();
        const dirty = this.#dirty;
        const resized = this.#resized;
        const length = this.#length;
        this.#dirty = new Set();
        this.#resized = false;
        try {
            const chunks = transaction.objectStore(CHUNKS);
            for (const number of dirty) {
                const chunk = this.#chunks[number];
                // `put` copies, so later writes belong to the next transaction.
                if (chunk) chunks.put(chunk, number);
                else chunks.delete(number);
            }
            if (resized) transaction.objectStore(META).put(length, LENGTH);
            await ended(transaction);
            if (resized) this.#written = length;
        } catch (error) {
            for (const number of dirty) this.#dirty.add(number);
            this.#resized ||= resized;
            throw this.#refused(error);
        }
    }

    /** A transaction to write in, over another connection if this one is closed. */
    async #transaction() {
        if (this.#lost) throw this.#lost;
        const begin = () => this.#database.transaction([CHUNKS, META], "readwrite", { durability: "strict" });
        try {
            return begin();
        } catch (error) {
            if (error?.name !== "InvalidStateError") throw this.#refused(error);
        }
        try {
            await this.#reopen();
            return begin();
        } catch (error) {
            throw this.#refused(error);
        }
    }

    /** Some browsers close a connection without an event. The lock excludes that others wrote since. */
    async #reopen() {
        const database = await openDatabase(this.#name);
        const length = await result(database.transaction(META, "readonly").objectStore(META).get(LENGTH));
        if (length !== this.#written) {
            database.close();
            this.#lost = this.#gone();
            throw this.#lost;
        }
        this.#database = database;
        this.#watch();
    }

    #refused(error) {
        const code = error?.name === "QuotaExceededError" ? "LowDisk" : "StorageUnavailable";
        return this.#lost ?? new DeskfleetError(code, `the database ${this.#name} refused a write: ${error?.message ?? error}`, { cause: error });
    }
}

/** Visits the chunks of a range. */
function each(offset, length, visit) {
    for (let done = 0; done < length; ) {
        const at = (offset + done) % CHUNK_BYTES;
        const count = Math.min(CHUNK_BYTES - at, length - done);
        visit((offset + done - at) / CHUNK_BYTES, at, done, count);
        done += count;
    }
}

/** Takes the lock of a database; returns the function that releases it. */
function lock(name) {
    return new Promise((held, failed) => {
        const impatient = AbortSignal.timeout(PATIENCE_MS);
        const holding = () => new Promise((unlock) => held(() => unlock()));
        navigator.locks.request(`deskfleet:indexeddb:${name}`, { signal: impatient }, holding).catch((error) => {
            if (!impatient.aborted) return failed(unavailable(name, error));
            failed(new DeskfleetError("StorageLocked", `the database ${name} is open in another tab or worker; close it there`, { cause: error }));
        });
    });
}

function openDatabase(name) {
    return new Promise((opened, failed) => {
        const request = indexedDB.open(name, 1);
        request.onupgradeneeded = () => {
            request.result.createObjectStore(CHUNKS);
            request.result.createObjectStore(META);
        };
        request.onsuccess = () => {
            const { objectStoreNames } = request.result;
            if (objectStoreNames.contains(CHUNKS) && objectStoreNames.contains(META)) return opened(request.result);
            request.result.close();
            failed(new DeskfleetError("ForeignFile", `the database ${name} is not a deskfleet store; it was left untouched`));
        };
        request.onerror = () => failed(request.error);
        request.onblocked = () => failed(new Error("it is being deleted or changed elsewhere"));
    });
}

/** Deletes the database of a store that is not open. @param {string} name */
export async function removeDatabase(name) {
    try {
        await result(indexedDB.deleteDatabase(storeName(name)));
    } catch (error) {
        throw unavailable(name, error);
    }
}

async function load(database) {
    const transaction = database.transaction([CHUNKS, META], "readonly");
    const length = await result(transaction.objectStore(META).get(LENGTH));
    const store = transaction.objectStore(CHUNKS);
    const count = Math.ceil((length ?? 0) / CHUNK_BYTES);
    /** @type {Array<Uint8Array | undefined>} */
    const chunks = new Array(count);
    for (let from = 0; from < count; from += CHUNKS_READ) {
        const range = IDBKeyRange.bound(from, Math.min(from + CHUNKS_READ, count) - 1);
        const [numbers, read] = await Promise.all([result(store.getAllKeys(range)), result(store.getAll(range))]);
        numbers.forEach((number, index) => {
            const chunk = read[index];
            if (!(chunk instanceof Uint8Array) || chunk.length !== CHUNK_BYTES) throw new Error(`chunk ${number} is damaged`);
            chunks[number] = chunk;
        });
    }
    return { chunks, length };
}

function result(request) {
    return new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
    });
}

function ended(transaction) {
    return new Promise((done, failed) => {
        transaction.oncomplete = () => done();
        transaction.onabort = () => failed(transaction.error ?? new Error("the transaction was aborted"));
    });
}

function unavailable(name, cause) {
    return new DeskfleetError("StorageUnavailable", `the database ${name} cannot be opened: ${cause?.message ?? cause}`, { cause });
}
