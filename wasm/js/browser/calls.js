// The messages between a page and the worker with the engine.

import { DeskfleetError } from "../errors.js";
import { onlyReads } from "../exchange.js";
import { problemParts } from "./problem.js";

/** Calls that may be repeated when it is unknown whether they were made: the second changes nothing. */
const REPEATABLE = new Set(["putWorkspaces", "importWorkspaces", "placeHold", "ask", "keys", "actions", "pendingActions", "dispatchAction", "queueCount", "readEvents", "filePending", "maintain", "snapshot", "settled"]);
const OTHERS = ["releaseHold", "issueKey", "revokeKey", "noteAction", "completeAction", "failAction", "advanceClock"];
/** The calls of an engine that a page can make, besides `fetch`. */
export const CALLS = new Set([...REPEATABLE, ...OTHERS]);

/** Posts that may be repeated: a record that is stored already is not stored twice. */
const REPEATABLE_POST = /^\/(api\/stats\/|operator\/(telemetry|workspaces)\/?$)/i;

/** @param {string} name */
export function isRepeatable(name, argument) {
    if (name !== "fetch") return REPEATABLE.has(name);
    const { method, url } = argument;
    if (method === "POST") return REPEATABLE_POST.test(new URL(url, "http://fleet").pathname);
    return method === "GET" || method === "HEAD" || method === "PUT";
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
