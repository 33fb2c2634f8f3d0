// Requests to the fleet, with the key of the session, and failures in words.

/** @type {import("./transport/server.js").Transport} */
let transport;
let secret = "";
/** Called when the key is no longer accepted. */
let onRefused = () => {};

/** How often a request that only reads is tried again while the server is busy. */
const TRIES = 3;
const WAIT_MAX_S = 5;

/** What a person can do about a refusal, by its code. */
const ADVICE = {
    InvalidApiKey: "The key was revoked or has expired. Sign in again.",
    InsufficientScope: "This key lacks the permission. Sign in with a key that has it.",
    Throttled: "Wait a moment, then try again.",
    ServerBusy: "Wait a moment, then try again.",
    QueueFull: "Telemetry is still being processed. Try again in a few seconds.",
    LowDisk: "The disk of the server is nearly full: free some space, then try again.",
    StorageUnavailable: "The store cannot be read or written. See the log of the server.",
    LitigationHold: "Release the hold first, on the desktop's page.",
    OperationInProgress: "Wait until the running action has ended.",
    Offline: "Retrying …",
};

/** A request that was refused or did not arrive. */
export class ApiError extends Error {
    /**
     * @param {number} status 0 where no response arrived
     * @param {string} code
     * @param {string} message
     * @param {{ traceId?: string, errors?: Record<string, string[]> }} [more]
     */
    constructor(status, code, message, { traceId, errors } = {}) {
        super(message);
        this.name = "ApiError";
        this.status = status;
        this.code = code;
        this.traceId = traceId;
        this.errors = errors;
    }

    /** What to do about it, or an empty text. */
    get advice() {
        return ADVICE[/** @type {keyof typeof ADVICE} */ (this.code)] ?? "";
    }
}

/** @param {import("./transport/server.js").Transport} given @param {() => void} refused */
export function use(given, refused) {
    transport = given;
    onRefused = refused;
}

export const host = () => transport;

/** @param {string} key the secret that requests carry; empty for none */
export function useKey(key) {
    secret = key;
}

/** Events after a number, or from now; see `Transport`. @param {number | undefined} after @param {AbortSignal} signal @param {() => void} opened */
export const eventsAfter = (after, signal, opened) => transport.events(after, secret, signal, opened);

/** @typedef {Record<string, string | number | boolean | readonly string[] | null | undefined>} Query */

/** A path with a query; members without a value are left out, a list is `in.a,b`. @param {string} path @param {Query} [query] */
export function address(path, query = {}) {
    const parts = [];
    for (const [name, value] of Object.entries(query)) {
        if (value === null || value === undefined || value === "") continue;
        const text = Array.isArray(value) ? `in.${value.join(",")}` : String(value);
        parts.push(`${name}=${encodeURIComponent(text)}`);
    }
    return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

/**
 * Sends a request; a status of 400 and above throws an {@link ApiError}.
 * @param {string} method
 * @param {string} path
 * @param {{ query?: Query, json?: unknown, body?: BodyInit, type?: string, accept?: string, signal?: AbortSignal, key?: string }} [options]
 */
export async function request(method, path, { query, json, body, type, accept, signal, key = secret } = {}) {
    const headers = new Headers();
    if (key !== "") headers.set("x-api-key", key);
    if (accept !== undefined) headers.set("accept", accept);
    if (json !== undefined) {
        headers.set("content-type", "application/json");
        body = JSON.stringify(json);
    } else if (type !== undefined) headers.set("content-type", type);
    const init = { method, headers, body, signal };
    for (let attempt = 1; ; attempt++) {
        const response = await transport.fetch(address(path, query), init).catch((error) => {
            if (signal?.aborted) throw signal.reason?.name === "TimeoutError" ? new ApiError(0, "Offline", "The server takes too long to respond.") : error;
            throw new ApiError(0, "Offline", "Cannot reach the server.");
        });
        if (response.ok) return response;
        const failure = await failureOf(response);
        const wait = Number(response.headers.get("retry-after") ?? 1);
        const busy = failure.status === 503 || failure.status === 429;
        if (method === "GET" && busy && attempt < TRIES && wait <= WAIT_MAX_S) {
            await new Promise((done) => setTimeout(done, wait * 1000 * (0.5 + Math.random())));
            signal?.throwIfAborted();
            continue;
        }
        if (failure.status === 401 && key === secret && secret !== "") onRefused();
        throw failure;
    }
}

/** @param {Response} response */
async function failureOf(response) {
    const text = await response.text().catch(() => "");
    try {
        const { code, detail, title, traceId, errors } = JSON.parse(text);
        const said = detail ?? Object.values(errors ?? {}).flat().join(" ");
        return new ApiError(response.status, code ?? "Unknown", said || title || `Status ${response.status}.`, { traceId, errors });
    } catch {
        return new ApiError(response.status, "Unknown", `The response has status ${response.status}.`);
    }
}

/** The JSON of a GET. @param {string} path @param {Query} [query] @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, query, signal) {
    return (await request("GET", path, { query, signal, accept: "application/json" })).json();
}

/** Sends JSON, or nothing; returns the JSON of the response, or null. @param {string} method @param {string} path @param {Query} [query] @param {unknown} [json] @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function send(method, path, query, json, signal) {
    const text = await (await request(method, path, { query, json, signal })).text();
    return text === "" ? null : JSON.parse(text);
}

/**
 * The pages of a list, one after the other; `rows` names the member with the list.
 * @param {string} path
 * @param {Query} query
 * @param {AbortSignal} [signal]
 */
export async function* pages(path, query, signal) {
    for (let nextToken; ; ) {
        const page = await get(path, { limit: 500, ...query, nextToken }, signal);
        yield page;
        if (!page.hasMore) return;
        nextToken = page.nextToken;
    }
}
