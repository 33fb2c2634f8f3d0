import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";

const ROW_BYTES = 16_384;
/** Rows cached for reads; each is {@link ROW_BYTES}. */
const CLEAN_ROWS_MAX = 64;
/** Rows that only the log has, or that wait for a sync; more are written to the database before it, as pages of a file would be. */
const DIRTY_ROWS_MAX = 512;
/** Entries of the log, and their bytes in all. More are read when the object starts; fewer make rows be written more often. */
const LOG_ENTRIES_MAX = 256;
const LOG_BYTES_MAX = 1024 * 1024;
/** Equal bytes between two changes that are stored with them: a change of its own takes {@link CHANGE_HEAD_BYTES} more. */
const GAP_BYTES = 8;
/** The number of the row in four bytes, the place in it and the count of bytes in two each. */
const CHANGE_HEAD_BYTES = 8;
/** Cloudflare's limit for one object. */
const BYTES_MAX = 10e9;
/** In the column `row_bytes`; stores without a log have {@link ROW_BYTES} there, and versions that know no log refuse all others. */
const FORMAT = 2;

/** The databases in use: two engines on one would destroy it. */
const inUse = new WeakSet();

/**
 * The SQLite database of a Durable Object. A sync writes the changed bytes into a row of a log, because Cloudflare bills rows; after some hundred
 * of them the rows of the file itself are written. Rows of zeros are not stored.
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
    /** Whether the database has the tables as they are now; it has none at first, or those of a store without a log. */
    #isCurrent = false;
    /** The length stored in the database. */
    #flushed;
    /** The first row that was cut off since: the database's rows from there on are void. */
    #cut = Infinity;
    /** The rows last used, the latest at the end. @type {Map<number, Uint8Array>} */
    #kept = new Map();
    /** Changed rows that the table of rows does not have yet. @type {Map<number, Uint8Array>} */
    #dirty = new Map();
    /** What was changed since the last sync; `undefined` if it is too much for the log. @type {Array<{ number: number, at: number, bytes: Uint8Array }> | undefined} */
    #changes = [];
    /** The bytes of these, and those of the log since the rows were written. */
    #changedBytes = 0;
    #logBytes = 0;
    /** The number of the last entry of the log, and of the last that the rows have. */
    #entry = 0;
    #written = 0;

    constructor(database) {
        this.#database = database;
        this.#sql = database.sql;
        this.#sql.exec("CREATE TABLE IF NOT EXISTS deskfleet_store (id INTEGER PRIMARY KEY CHECK (id = 1), length INTEGER NOT NULL, row_bytes INTEGER NOT NULL)");
        this.#sql.exec("CREATE TABLE IF NOT EXISTS deskfleet_rows (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
        // The place 0 has the length and the last entry when the rows were written; the others are used again after that.
        this.#sql.exec("CREATE TABLE IF NOT EXISTS deskfleet_log (place INTEGER PRIMARY KEY, entry INTEGER NOT NULL, length INTEGER NOT NULL, changes BLOB NOT NULL)");
        const [store] = this.#sql.exec("SELECT length, row_bytes FROM deskfleet_store").toArray();
        if (store && store.row_bytes !== ROW_BYTES && store.row_bytes !== FORMAT) {
            throw new DeskfleetError("NewerFormat", `this store has the format ${store.row_bytes}; this version reads up to ${FORMAT}`);
        }
        this.length = this.#flushed = store?.length ?? 0;
        if (store?.row_bytes === FORMAT) this.#recover();
    }

    /** Reads what only the log has. */
    #recover() {
        const [last] = this.#sql.exec("SELECT entry, length FROM deskfleet_log WHERE place = 0").toArray();
        if (last === undefined) throw damaged();
        this.#entry = this.#written = last.entry;
        this.length = last.length;
        for (const { entry, length, changes } of this.#sql.exec("SELECT entry, length, changes FROM deskfleet_log WHERE entry > ? ORDER BY entry", last.entry).toArray()) {
            for (const { number, at, bytes } of decoded(new Uint8Array(changes))) {
                const row = this.#row(number);
                row.set(bytes, at);
                this.#setDirty(number, row);
            }
            this.#entry = entry;
            this.#logBytes += changes.byteLength;
            this.length = length;
        }
        this.#flushed = this.length;
        this.#isCurrent = true;
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
            const part = from.subarray(done, done + count);
            // A row that is overwritten as a whole need not be read.
            const isWhole = count === ROW_BYTES;
            const row = isWhole ? new Uint8Array(ROW_BYTES) : this.#row(number);
            if (isWhole) this.#change(number, 0, part);
            else for (const [begin, end] of differences(row, at, part)) this.#change(number, at + begin, part.subarray(begin, end));
            row.set(part, at);
            this.#setDirty(number, row);
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
        if (this.#changes?.length === 0 && this.#cut === Infinity && this.length === this.#flushed) return;
        const isLogged =
            this.#isCurrent &&
            this.#cut === Infinity &&
            this.#dirty.size <= DIRTY_ROWS_MAX &&
            this.#changes !== undefined &&
            this.#logBytes + this.#changedBytes <= LOG_BYTES_MAX &&
            this.#entry - this.#written < LOG_ENTRIES_MAX;
        if (isLogged) this.#log();
        else this.#writeRows();
        this.#flushed = this.length;
        this.#changes = [];
        this.#changedBytes = 0;
    }

    /** Adds the changes to the log. */
    #log() {
        const entry = this.#entry + 1;
        this.#database.transactionSync(() => this.#putEntry(entry - this.#written, entry, encoded(this.#changes, this.#changedBytes)));
        this.#entry = entry;
        this.#logBytes += this.#changedBytes;
    }

    /** Writes the rows, which makes the entries of the log void. */
    #writeRows() {
        this.#database.transactionSync(() => {
            if (this.#cut !== Infinity) this.#sql.exec("DELETE FROM deskfleet_rows WHERE number >= ?", this.#cut);
            for (const [number, row] of this.#dirty) {
                this.#sql.exec("INSERT OR REPLACE INTO deskfleet_rows VALUES (?, ?)", number, row);
            }
            this.#putEntry(0, this.#entry, new Uint8Array(0));
            if (!this.#isCurrent) this.#sql.exec("INSERT OR REPLACE INTO deskfleet_store VALUES (1, ?, ?)", this.length, FORMAT);
        });
        this.#isCurrent = true;
        this.#written = this.#entry;
        this.#logBytes = 0;
        this.#cut = Infinity;
        for (const [number, row] of this.#dirty) this.#keep(number, row);
        this.#dirty.clear();
    }

    #putEntry(place, entry, changes) {
        this.#sql.exec("INSERT OR REPLACE INTO deskfleet_log VALUES (?, ?, ?, ?)", place, entry, this.length, changes);
    }

    #change(number, at, bytes) {
        this.#changedBytes += CHANGE_HEAD_BYTES + bytes.length;
        if (this.#changedBytes > LOG_BYTES_MAX) this.#changes = undefined;
        this.#changes?.push({ number, at, bytes: bytes.slice() });
    }

    #setDirty(number, row) {
        this.#kept.delete(number);
        this.#dirty.set(number, row);
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

/** The ranges of `bytes` that differ from those of a row at a place. */
function differences(row, at, bytes) {
    const ranges = [];
    for (let begin = 0; begin < bytes.length; begin++) {
        if (row[at + begin] === bytes[begin]) continue;
        let end = begin + 1;
        for (let next = end; next < bytes.length && next - end <= GAP_BYTES; next++) {
            if (row[at + next] !== bytes[next]) end = next + 1;
        }
        ranges.push([begin, end]);
        begin = end;
    }
    return ranges;
}

function encoded(changes, length) {
    const entry = new Uint8Array(length);
    const view = new DataView(entry.buffer);
    let place = 0;
    for (const { number, at, bytes } of changes) {
        view.setUint32(place, number);
        view.setUint16(place + 4, at);
        view.setUint16(place + 6, bytes.length);
        entry.set(bytes, place + CHANGE_HEAD_BYTES);
        place += CHANGE_HEAD_BYTES + bytes.length;
    }
    return entry;
}

function decoded(entry) {
    const view = new DataView(entry.buffer, entry.byteOffset, entry.length);
    const changes = [];
    for (let place = 0; place < entry.length; ) {
        const [number, at, count] = entry.length - place < CHANGE_HEAD_BYTES ? [] : [view.getUint32(place), view.getUint16(place + 4), view.getUint16(place + 6)];
        place += CHANGE_HEAD_BYTES;
        if (!(at + count <= ROW_BYTES && place + count <= entry.length)) throw damaged();
        changes.push({ number, at, bytes: entry.subarray(place, place + count) });
        place += count;
    }
    return changes;
}

function damaged() {
    return new DeskfleetError("Corrupted", "the log of this store is damaged; restore a snapshot");
}
