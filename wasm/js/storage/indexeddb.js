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
        this.#length = length;
        this.#keeping = keeping;
        this.#unlock = unlock;
        const gone = () => {
            this.#lost ??= new DeskfleetError("StorageUnavailable", `the database ${name} was deleted or closed by the browser; open the engine again`);
            database.close();
        };
        database.onversionchange = gone;
        database.onclose = gone;
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
        const dirty = this.#dirty;
        const resized = this.#resized;
        this.#dirty = new Set();
        this.#resized = false;
        try {
            const transaction = this.#database.transaction([CHUNKS, META], "readwrite", { durability: "strict" });
            const chunks = transaction.objectStore(CHUNKS);
            for (const number of dirty) {
                const chunk = this.#chunks[number];
                // `put` copies, so later writes belong to the next transaction.
                if (chunk) chunks.put(chunk, number);
                else chunks.delete(number);
            }
            if (resized) transaction.objectStore(META).put(this.#length, LENGTH);
            await ended(transaction);
        } catch (error) {
            for (const number of dirty) this.#dirty.add(number);
            this.#resized ||= resized;
            throw this.#lost ?? new DeskfleetError("StorageUnavailable", `the database ${this.#name} refused a write: ${error?.message ?? error}`, { cause: error });
        }
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

async function load(database) {
    const transaction = database.transaction([CHUNKS, META], "readonly");
    const length = (await result(transaction.objectStore(META).get(LENGTH))) ?? 0;
    const store = transaction.objectStore(CHUNKS);
    const count = Math.ceil(length / CHUNK_BYTES);
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
