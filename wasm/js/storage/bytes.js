import { DeskfleetError, storageFailure } from "../errors.js";

const STEP_BYTES = 1024 * 1024;
/** The first bytes tell what a file is; they are written last, so that half a copy is not taken for a store. */
const HEAD_BYTES = 4096;

/** All bytes of a storage. @param {import("../index.js").Storage} storage */
export function bytesOf(storage) {
    const bytes = new Uint8Array(storage.len());
    for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        storage.read(at, bytes.subarray(at, at + STEP_BYTES));
    }
    return bytes;
}

/** Puts a snapshot into a storage that holds nothing. @param {import("../index.js").Storage} storage @param {Uint8Array} bytes */
export function restoreInto(storage, bytes) {
    try {
        if (storage.len() !== 0) {
            throw new DeskfleetError("InvalidArgument", "options.restore needs a storage that holds nothing yet; this one holds something");
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
