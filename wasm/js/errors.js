/** Every failure of this package. `code` does not change between versions; the text may. */
export class DeskfleetError extends Error {
    /**
     * @param {string} code
     * @param {string} message
     * @param {{ cause?: unknown, parameter?: string, retryAfter?: number }} [more]
     */
    constructor(code, message, more = {}) {
        super(message, more.cause === undefined ? undefined : { cause: more.cause });
        this.name = "DeskfleetError";
        this.code = code;
        if (more.parameter !== undefined) this.parameter = more.parameter;
        if (more.retryAfter !== undefined) this.retryAfter = more.retryAfter;
    }
}

/** @param {string} message @param {unknown} [cause] */
export function invalidArgument(message, cause) {
    return new DeskfleetError("InvalidArgument", message, { cause });
}

/** An exception of a storage, as a DeskfleetError. @param {unknown} error @param {string} doing */
export function storageFailure(error, doing) {
    if (error instanceof DeskfleetError) return error;
    return new DeskfleetError("StorageUnavailable", `${doing}: ${error?.message ?? error}`, { cause: error });
}

/** The message for the host and the client when the storage has no room. */
export const FULL = "the storage is full: free some space, then try again";

/** The kind of a value, for a message: never its content, which could be a key. @param {unknown} value */
export function kindOf(value) {
    if (value === null) return "null";
    if (typeof value !== "object") return typeof value;
    return value.constructor?.name ?? "object";
}
