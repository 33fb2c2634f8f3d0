import { DeskfleetError, storageFailure } from "../errors.js";

const STEP_BYTES = 1024 * 1024;
/** The first bytes identify a file; they are written last, so that a partial copy is not taken for a store. */
const HEAD_BYTES = 4096;

/** The first bytes of every store. */
const MAGIC = [0x72, 0x65, 0x64, 0x62, 0x1a, 0x0a, 0xa9, 0x0d, 0x0a];

/** All bytes of a storage. @param {import("../index.js").Storage} storage */
export function bytesOf(storage) {
    const bytes = new Uint8Array(storage.len());
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        storage.read(at, bytes.subarray(at, at + STEP_BYTES));
    }
    return bytes;
}

/** Writes a snapshot into an empty storage. @param {import("../index.js").Storage} storage @param {Uint8Array} bytes */
export function restoreInto(storage, bytes) {
    if (!MAGIC.every((byte, at) => bytes[at] === byte)) {
        throw new DeskfleetError("ForeignFile", "options.restore is not a snapshot of a store");
    }
    try {
        if (storage.len() !== 0) {
            throw new DeskfleetError("InvalidArgument", "options.restore needs an empty storage; this one is not empty");
        }
        storage.setLen(bytes.length);
        for (let at = HEAD_BYTES; at < bytes.length; at += STEP_BYTES) {
            storage.write(at, bytes.subarray(at, at + STEP_BYTES));
        }
        storage.sync();
        storage.write(0, bytes.subarray(0, HEAD_BYTES));
        storage.sync();
    } catch (error) {
        throw storageFailure(error, "the snapshot cannot be written into the storage");
    }
}
