const CHUNK_BYTES = 65_536;

/** The storages made here: only for them is it known that nothing outlives them. */
const made = new WeakSet();

/** @param {unknown} storage */
export function isMemory(storage) {
    return made.has(/** @type {object} */ (storage));
}

/**
 * Bytes in memory. Chunks of zeros take no memory.
 * @returns {import("../index.js").Storage}
 */
export function memoryStorage() {
    /** @type {Array<Uint8Array | undefined>} */
    let chunks = [];
    let length = 0;

    const range = (offset, count) => {
        if (offset + count > length) throw new RangeError(`bytes ${offset} to ${offset + count} of a storage of ${length}`);
    };
    const storage = {
        kind: "memory",
        persisted: false,
        len: () => length,
        read(offset, into) {
            range(offset, into.length);
            for (let done = 0; done < into.length; ) {
                const from = (offset + done) % CHUNK_BYTES;
                const count = Math.min(CHUNK_BYTES - from, into.length - done);
                const chunk = chunks[(offset + done - from) / CHUNK_BYTES];
                if (chunk) into.set(chunk.subarray(from, from + count), done);
                else into.fill(0, done, done + count);
                done += count;
            }
        },
        write(offset, from) {
            range(offset, from.length);
            for (let done = 0; done < from.length; ) {
                const to = (offset + done) % CHUNK_BYTES;
                const count = Math.min(CHUNK_BYTES - to, from.length - done);
                const chunk = (chunks[(offset + done - to) / CHUNK_BYTES] ??= new Uint8Array(CHUNK_BYTES));
                chunk.set(from.subarray(done, done + count), to);
                done += count;
            }
        },
        setLen(bytes) {
            const kept = Math.ceil(bytes / CHUNK_BYTES);
            if (bytes < length) {
                chunks.length = Math.min(chunks.length, kept);
                // A part that was cut off reads as zeros when the storage grows again.
                chunks[kept - 1]?.fill(0, bytes - (kept - 1) * CHUNK_BYTES);
            }
            length = bytes;
        },
        sync() {},
        close() {},
    };
    made.add(storage);
    return storage;
}
