import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";

/** Larger rows are fewer, which Cloudflare bills, but a commit then writes more bytes. */
const ROW_BYTES = 16_384;
/** Rows cached for reads; each is {@link ROW_BYTES}. */
const CLEAN_ROWS_MAX = 64;
/** Rows pending until a sync; more are written to the database before it, as pages of a file would be. */
const DIRTY_ROWS_MAX = 512;
/** Cloudflare's limit for one object. */
const BYTES_MAX = 10e9;

/** The databases in use: two engines on one would destroy it. */
const inUse = new WeakSet();

/**
 * The SQLite database of a Durable Object. Rows of zeros are not stored.
 * @param {import("../durable-object.js").DurableObjectStorageLike} database
 * @param {{ maxBytes?: number }} [options]
 * @returns {import("../index.js").Storage}
 */
export function durableObjectStorage(database, { maxBytes = BYTES_MAX } = {}) {
    const { sql } = database ?? {};
    if (typeof sql?.exec !== "function") {
        throw invalidArgument(`durableObjectStorage takes ctx.storage of a Durable Object with SQLite, not ${kindOf(database)}`);
    }
    if (!(maxBytes > 0)) throw invalidArgument("options.maxBytes must be a number of bytes");
    if (inUse.has(database)) {
        throw new DeskfleetError("StorageLocked", "another engine of this Durable Object has its storage open; close it first");
    }
    const rows = new Rows(database);
    inUse.add(database);
    return {
        kind: "durable-object",
        persisted: true,
        len: () => rows.length,
        read: (offset, into) => rows.read(offset, into),
        write: (offset, from) => rows.write(offset, from),
        setLen: (bytes) => rows.setLength(bytes),
        sync: () => rows.flush(),
        close: () => void inUse.delete(database),
        freeBytes: () => Math.max(0, maxBytes - rows.length),
    };
}

class Rows {
    #database;
    #sql;
    length;
    /** The length stored in the database. */
    #flushed;
    /** The first row that was cut off since: the database's rows from there on are void. */
    #cut = Infinity;
    /** The rows last used, the latest at the end. @type {Map<number, Uint8Array>} */
    #kept = new Map();
    /** Changed rows that the database does not have yet. @type {Map<number, Uint8Array>} */
    #dirty = new Map();

    constructor(database) {
        this.#database = database;
        this.#sql = database.sql;
        this.#sql.exec("CREATE TABLE IF NOT EXISTS deskfleet_store (id INTEGER PRIMARY KEY CHECK (id = 1), length INTEGER NOT NULL, row_bytes INTEGER NOT NULL)");
        this.#sql.exec("CREATE TABLE IF NOT EXISTS deskfleet_rows (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
        const [store] = this.#sql.exec("SELECT length, row_bytes FROM deskfleet_store").toArray();
        if (store && store.row_bytes !== ROW_BYTES) {
            throw new DeskfleetError("NewerFormat", `this store has rows of ${store.row_bytes} bytes; this version reads ${ROW_BYTES}`);
        }
        this.length = this.#flushed = store?.length ?? 0;
    }

    read(offset, into) {
        this.#check(offset, into.length);
        for (let done = 0; done < into.length; ) {
            const { number, at, count } = piece(offset + done, into.length - done);
            into.set(this.#row(number).subarray(at, at + count), done);
            done += count;
        }
    }

    write(offset, from) {
        this.#check(offset, from.length);
        for (let done = 0; done < from.length; ) {
            const { number, at, count } = piece(offset + done, from.length - done);
            // A row that is overwritten as a whole need not be read.
            const row = count === ROW_BYTES ? new Uint8Array(ROW_BYTES) : this.#row(number);
            row.set(from.subarray(done, done + count), at);
            this.#kept.delete(number);
            this.#dirty.set(number, row);
            if (this.#dirty.size > DIRTY_ROWS_MAX) this.flush();
            done += count;
        }
    }

    setLength(bytes) {
        if (bytes < this.length) {
            const whole = Math.ceil(bytes / ROW_BYTES);
            for (const rows of [this.#kept, this.#dirty]) {
                for (const number of rows.keys()) if (number >= whole) rows.delete(number);
            }
            this.#cut = Math.min(this.#cut, whole);
            const left = bytes % ROW_BYTES;
            // A part that was cut off reads as zeros when the storage grows again.
            if (left > 0) this.write(bytes, new Uint8Array(Math.min(ROW_BYTES - left, this.length - bytes)));
        }
        this.length = bytes;
    }

    /** Writes all changes to the database, or none. */
    flush() {
        if (this.#dirty.size === 0 && this.#cut === Infinity && this.length === this.#flushed) return;
        this.#database.transactionSync(() => {
            if (this.#cut !== Infinity) this.#sql.exec("DELETE FROM deskfleet_rows WHERE number >= ?", this.#cut);
            for (const [number, row] of this.#dirty) {
                this.#sql.exec("INSERT OR REPLACE INTO deskfleet_rows VALUES (?, ?)", number, row);
            }
            // Each row that is written is billed, and most commits keep the length.
            if (this.length !== this.#flushed) this.#sql.exec("INSERT OR REPLACE INTO deskfleet_store VALUES (1, ?, ?)", this.length, ROW_BYTES);
        });
        this.#cut = Infinity;
        this.#flushed = this.length;
        for (const [number, row] of this.#dirty) this.#keep(number, row);
        this.#dirty.clear();
    }

    #row(number) {
        const dirty = this.#dirty.get(number);
        if (dirty !== undefined) return dirty;
        const row = this.#kept.get(number) ?? this.#stored(number);
        this.#keep(number, row);
        return row;
    }

    #stored(number) {
        if (number < this.#cut) {
            const [found] = this.#sql.exec("SELECT bytes FROM deskfleet_rows WHERE number = ?", number).toArray();
            if (found !== undefined) return new Uint8Array(found.bytes);
        }
        return new Uint8Array(ROW_BYTES);
    }

    #keep(number, row) {
        this.#kept.delete(number);
        this.#kept.set(number, row);
        if (this.#kept.size > CLEAN_ROWS_MAX) this.#kept.delete(this.#kept.keys().next().value);
    }

    #check(offset, count) {
        if (offset + count > this.length) throw new RangeError(`bytes ${offset} to ${offset + count} of a storage of ${this.length}`);
    }
}

/** The part of a range in its first row. */
function piece(offset, length) {
    const at = offset % ROW_BYTES;
    return { number: (offset - at) / ROW_BYTES, at, count: Math.min(ROW_BYTES - at, length) };
}
