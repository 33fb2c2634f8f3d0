/** Memory that fails as the rules say, and that survives a power cut with what was synced. */
export class DoubleStorage {
    #rules;
    #pause;
    #bytes = new Uint8Array(0);
    #durable = new Uint8Array(0);
    /** Pairs of the begin and the end of ranges in which the two may differ. */
    #unsynced = [];
    /** The storage of the engine of now: those before it are cut off. */
    #booted;

    constructor(rules, pause) {
        this.#rules = rules;
        this.#pause = pause;
    }

    cutPower() {
        this.#bytes = this.#durable.slice();
        this.#unsynced = [];
        this.#booted = undefined;
    }

    erase() {
        this.#durable = new Uint8Array(0);
        this.cutPower();
    }

    /** A storage to open an engine on. @returns {import("../index.js").Storage} */
    boot() {
        let slow;
        const storage = {
            len: () => (must(), this.#bytes.length),
            read: (offset, into) => {
                must();
                into.set(this.#range(offset, into.length));
            },
            write: (offset, from) => {
                must();
                const torn = this.#rules.storageFails("torn") !== undefined;
                const half = torn ? from.subarray(0, from.length >> 1) : from;
                this.#range(offset, half.length).set(half);
                this.#unsynced.push([offset, offset + half.length]);
                if (torn) throw new Error("the write is torn, as a rule says");
            },
            setLen: (length) => {
                must();
                // What is cut off is zero if the storage grows again before a sync.
                if (length < this.#bytes.length) this.#unsynced.push([length, this.#bytes.length]);
                this.#bytes = resized(this.#bytes, length);
            },
            sync: () => {
                must();
                const rule = this.#rules.storageFails("slow");
                if (rule !== undefined) slow = this.#pause.wait(rule.latency);
                if (this.#rules.storageFails("lost-sync") === undefined) this.#sync();
            },
            settled: async () => slow,
            freeBytes: () => (this.#rules.storageFails("full") === undefined ? Number.MAX_SAFE_INTEGER : 0),
            close() {},
        };
        const must = () => {
            if (this.#booted !== storage) throw new Error("the power of this engine was cut");
        };
        this.#booted = storage;
        return storage;
    }

    #range(offset, count) {
        if (offset + count > this.#bytes.length) throw new RangeError(`bytes ${offset} to ${offset + count} of a storage of ${this.#bytes.length}`);
        return this.#bytes.subarray(offset, offset + count);
    }

    #sync() {
        this.#durable = resized(this.#durable, this.#bytes.length);
        for (const [begin, end] of this.#unsynced) {
            if (begin < this.#bytes.length) this.#durable.set(this.#bytes.subarray(begin, end), begin);
        }
        this.#unsynced = [];
    }
}

function resized(bytes, length) {
    if (bytes.length === length) return bytes;
    const other = new Uint8Array(length);
    other.set(bytes.subarray(0, length));
    return other;
}
