// The messages between a page and the worker with the engine.

import { DeskfleetError } from "../errors.js";
import { onlyReads } from "../exchange.js";
import { problemParts } from "./problem.js";

/**
 * Calls that may be repeated when it is unknown whether they were made: the second changes nothing. A put or a hold is none of them, as
 * somebody else may have changed or released the same workspace in between.
 */
const REPEATABLE = new Set(["ask", "keys", "actions", "pendingActions", "dispatchAction", "queueCount", "readEvents", "filePending", "maintain", "snapshot", "settled", "storageKind"]);
const OTHERS = ["putWorkspaces", "importWorkspaces", "placeHold", "releaseHold", "issueKey", "revokeKey", "noteAction", "completeAction", "failAction", "removeTelemetry", "advanceClock"];
/** The calls of an engine that a page can make, besides `fetch`. */
export const CALLS = new Set([...REPEATABLE, ...OTHERS]);

/** Posts of one record, and the member with its sent time, both in lower case. A record that is stored already is not stored twice, if it has a time. */
const SENT_TIMES = new Map([
    ["/api/stats/post", "updatetime"],
    ["/api/stats/postactivity", "activitytime"],
    ["/api/stats/poststartupmetrics", "baselineutc"],
    ["/api/stats/postprocesses", "createddate"],
]);
const decoder = new TextDecoder();

/** Whether a call may be made again. @param {{ name: string, argument: any }} call */
export function isRepeatable({ name, argument }) {
    if (name !== "fetch") return REPEATABLE.has(name);
    const { method, url, body } = argument;
    if (method !== "POST") return method === "GET" || method === "HEAD";
    const time = SENT_TIMES.get(new URL(url, "http://fleet").pathname.toLowerCase());
    return time !== undefined && body !== null && hasText(body, time);
}

/** Whether the object in `body` has a member of that name, in any case, that is a text and not empty. */
function hasText(body, name) {
    let record;
    try {
        record = JSON.parse(decoder.decode(body));
    } catch {
        return false;
    }
    return Object.entries(record ?? {}).some(([key, value]) => key.toLowerCase() === name && typeof value === "string" && value !== "");
}

/** A request as the engine reads it, without the cost of a `Request`. */
export function requestOf({ method, url, headers, body }) {
    return {
        method,
        url,
        headers: new Map(headers),
        body: body === null ? null : undefined,
        arrayBuffer: () => (body.byteLength === body.buffer.byteLength ? body.buffer : body.slice().buffer),
    };
}

/** @param {Response} response */
export async function partsOf(response) {
    const body = response.body === null ? null : new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: [...response.headers], body };
}

export function responseOf({ status, headers, body }) {
    return new Response(body, { status, headers });
}

/** An error as data: `postMessage` would lose its class. */
export function errorParts(error) {
    const { code, message, parameter, retryAfter, cause } = error ?? {};
    if (error instanceof DeskfleetError) return { code, message, parameter, retryAfter, cause: cause && String(cause) };
    return { code: "Internal", message: String(message ?? error) };
}

export function errorOf({ code, message, parameter, retryAfter, cause }) {
    return new DeskfleetError(code, message, { parameter, retryAfter, cause });
}

/** The result of a call that was sent to an engine which is gone: the call may have been made or not. */
export function lost(call, what) {
    if (onlyReads(call.name, call.argument.method)) return unmade(call, what);
    return refused(call, "Indeterminate", `${what} while it had this call; look whether it was carried out before you send it again`);
}

/** The result of a call that changed nothing: no engine received it, or it only reads. */
export function unmade(call, what) {
    return refused(call, "StorageUnavailable", `${what}; this call changed nothing`);
}

function refused({ id, name }, code, message) {
    if (name === "fetch") return { id, value: problemParts(503, code, message) };
    return { id, error: errorParts(new DeskfleetError(code, message)) };
}
