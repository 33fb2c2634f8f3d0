// What crosses from a page to the worker that has the engine, and back.

import { DeskfleetError } from "../errors.js";
import { problemParts } from "./problem.js";

/** The calls that may be made once more when it is not known whether they were made: the second changes nothing. */
const REPEATABLE = new Set(["putWorkspaces", "placeHold", "keys", "pendingActions", "queueCount", "filePending", "maintain", "snapshot", "settled"]);
const OTHERS = ["releaseHold", "issueKey", "revokeKey", "completeAction", "failAction", "advanceClock"];
/** The calls of an engine that a page can make, besides `fetch`. */
export const CALLS = new Set([...REPEATABLE, ...OTHERS]);

/** Posts whose second time changes nothing: a record held already is not held twice. */
const REPEATABLE_POST = /^\/(api\/stats\/|operator\/(telemetry|workspaces)\/?$)/i;

/** @param {string} name */
export function isRepeatable(name, argument) {
    if (name !== "fetch") return REPEATABLE.has(name);
    const { method, url } = argument;
    if (method === "POST") return REPEATABLE_POST.test(new URL(url, "http://fleet").pathname);
    return method === "GET" || method === "HEAD" || method === "PUT";
}

/** A request as an engine takes it, without the cost of a `Request`. */
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

/** An error as data: its class would not survive the way. */
export function errorParts(error) {
    const { code, message, parameter, retryAfter, cause } = error ?? {};
    if (error instanceof DeskfleetError) return { code, message, parameter, retryAfter, cause: cause && String(cause) };
    return { code: "Internal", message: String(message ?? error) };
}

export function errorOf({ code, message, parameter, retryAfter, cause }) {
    return new DeskfleetError(code, message, { parameter, retryAfter, cause });
}

/** The answer to a call when the engine that had it is gone, which made it or did not. */
export function lost({ id, name }, what) {
    const message = `${what} while it had this call; look whether it was carried out before you send it again`;
    if (name === "fetch") return { id, value: problemParts(503, "StorageUnavailable", message) };
    return { id, error: errorParts(new DeskfleetError("StorageUnavailable", message)) };
}
