import { DeskfleetError, invalidArgument, kindOf, storageFailure } from "./errors.js";

const METHODS = ["len", "read", "write", "setLen", "sync", "close"];
/** `crypto.getRandomValues` fills at most this many bytes at once. */
const RANDOM_BYTES_MAX = 65_536;

/**
 * The bridges by their storages: two engines on one storage would destroy it. Shared by all copies of this module. A
 * collected bridge releases its storage.
 * @type {WeakMap<object, { deref(): Bridge | undefined }>}
 */
const inUse = (globalThis[Symbol.for("deskfleet.storages")] ??= new WeakMap());
/** Not every runtime has weak references. */
const weakly = (value) => (typeof WeakRef === "function" ? new WeakRef(value) : { deref: () => value });

/**
 * The adapter between the engine and a storage: it checks what the storage returns and keeps what it threw, so that an
 * error of the engine can have it as its cause.
 */
export class Bridge {
    #storage;
    #closed = false;
    /** What the storage threw since the last call of {@link takeFault}. */
    #fault;
    /** What `close` of the storage returned; a promise if closing takes time. */
    closing;
    /** The text of the panic that stopped the instance. */
    panic;

    /** @param {import("./index.js").Storage} storage */
    constructor(storage) {
        if (typeof storage !== "object" || storage === null) {
            throw invalidArgument(`options.storage must be a storage, not ${kindOf(storage)}`);
        }
        for (const name of METHODS) {
            if (typeof storage[name] !== "function") {
                throw invalidArgument(`options.storage has no method ${name}; a storage has ${METHODS.join(", ")}`);
            }
        }
        if (inUse.get(storage)?.deref() !== undefined) {
            throw new DeskfleetError("StorageLocked", "another engine has this storage; close that engine first, or give each engine a storage of its own");
        }
        inUse.set(storage, weakly(this));
        this.#storage = storage;
    }

    /** @returns {unknown} what the storage threw last, once */
    takeFault() {
        const fault = this.#fault;
        this.#fault = undefined;
        return fault;
    }

    /** Whether the last write failed because its medium is full. */
    isFull = false;

    /** What the storage says it is; one of the host's own may say nothing. */
    get kind() {
        return typeof this.#storage.kind === "string" ? this.#storage.kind : "custom";
    }

    get persisted() {
        return this.#storage.persisted === true;
    }

    get hasFreeBytes() {
        return typeof this.#storage.freeBytes === "function";
    }

    get mustSettle() {
        return typeof this.#storage.settled === "function";
    }

    /** Resolves when everything that was synced is durable. */
    async settled() {
        try {
            await this.#storage.settled?.();
        } catch (error) {
            throw storageFailure(error, "what was written may not last");
        }
    }

    // ---- called by the engine

    len() {
        return this.#call("len", (storage) => bytes("len", storage.len()));
    }

    read(offset, into) {
        this.#call("read", (storage) => whole("read", storage.read(offset, into), into.length));
    }

    write(offset, from) {
        this.#change("write", (storage) => whole("write", storage.write(offset, from), from.length));
    }

    setLen(length) {
        this.#change("setLen", (storage) => synchronous("setLen", storage.setLen(length)));
    }

    sync() {
        this.#change("sync", (storage) => synchronous("sync", storage.sync()));
    }

    /** Closes the storage, once. */
    close() {
        if (this.#closed) return;
        this.#closed = true;
        inUse.delete(this.#storage);
        this.#call("close", (storage) => {
            this.closing = storage.close();
        });
    }

    freeBytes() {
        return this.#call("freeBytes", (storage) => storage.freeBytes());
    }

    random(into) {
        for (let at = 0; at < into.length; at += RANDOM_BYTES_MAX) {
            globalThis.crypto.getRandomValues(into.subarray(at, at + RANDOM_BYTES_MAX));
        }
    }

    panicked(text) {
        this.panic = text;
    }

    #change(name, call) {
        this.isFull = false;
        try {
            this.#call(name, call);
        } catch (error) {
            this.isFull = isFull(error);
            throw error;
        }
    }

    #call(name, call) {
        try {
            return call(this.#storage);
        } catch (error) {
            this.#fault = error ?? new DeskfleetError("StorageUnavailable", `storage.${name} threw ${kindOf(error)}`);
            throw error;
        }
    }
}

/** Whether an error of a browser, a system or SQLite is about space. */
function isFull(error) {
    return ["QuotaExceededError", "ENOSPC", "EDQUOT", "LowDisk"].some((sign) => error?.name === sign || error?.code === sign) || /\bSQLITE_FULL\b/.test(error?.message);
}

/** A promise is a mistake: the engine cannot wait for it. */
function synchronous(name, answered) {
    if (typeof answered?.then === "function") {
        // Its rejection is not reported here.
        answered.then(undefined, () => {});
        throw new TypeError(`storage.${name} returned a promise; the methods of a storage are synchronous`);
    }
    return answered;
}

function bytes(name, answered) {
    const length = synchronous(name, answered);
    if (!Number.isSafeInteger(length) || length < 0) {
        throw new TypeError(`storage.${name} must return a whole number of bytes, not ${typeof length === "number" ? length : kindOf(length)}`);
    }
    return length;
}

/** A storage that returns a number of moved bytes must have moved all. */
function whole(name, answered, length) {
    const moved = synchronous(name, answered);
    if (moved !== undefined && moved !== length) {
        throw new RangeError(`storage.${name} moved ${String(moved)} of ${length} bytes`);
    }
}
