import { FULL, invalidArgument, kindOf } from "./errors.js";
import { isBytes, isUrl } from "./kinds.js";
import { clearTimeout, setTimeout } from "./timers.js";

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();
/** The calls of an engine that change nothing. */
const READS = new Set(["actions", "ask", "keys", "pendingActions", "queueCount", "readEvents", "snapshot"]);
/** Statuses whose `Response` takes no body. */
const BODILESS = new Set([101, 204, 205, 304]);

/** @param {unknown} value @param {string} name @returns {string} */
export function text(value, name) {
    if (typeof value !== "string") throw invalidArgument(`${name} must be a string, not ${kindOf(value)}`);
    return value;
}

/**
 * Whether a call of an engine changes nothing, whatever its outcome. @param {string} name @param {string} [method]
 * of a `fetch`
 */
export function onlyReads(name, method) {
    return name === "fetch" ? method === "GET" || method === "HEAD" : READS.has(name);
}

/** Headers as lines `name: value`. @param {unknown} headers */
export function headerLines(headers) {
    if (headers === undefined || headers === null) return "";
    if (typeof headers !== "object") {
        throw invalidArgument(`headers must be an object, a Headers or a list of pairs, not ${kindOf(headers)}`);
    }
    const pairs = typeof headers[Symbol.iterator] === "function" ? headers : Object.entries(headers);
    let lines = "";
    for (const pair of pairs) {
        const [name, value] = Array.isArray(pair) ? pair : [];
        if (typeof name !== "string" || typeof value !== "string") {
            throw invalidArgument("headers must have names and values that are strings");
        }
        if (name.includes("\n") || name.includes(":") || value.includes("\n") || value.includes("\r")) {
            throw invalidArgument("a header may hold no line break, and its name no colon");
        }
        lines += `${name}: ${value}\n`;
    }
    return lines;
}

/** A body as bytes. @param {unknown} body @returns {Uint8Array} */
export function bodyBytes(body) {
    if (body === undefined || body === null) return EMPTY;
    if (typeof body === "string") return encoder.encode(body);
    if (!isBytes(body)) throw invalidArgument(`body must be a Uint8Array or a string, not ${kindOf(body)}`);
    if (body.length === 0 && isDetached(body)) {
        throw invalidArgument("body is a view of a buffer that was transferred or resized; its bytes are gone");
    }
    return body;
}

/** @param {Uint8Array} view */
function isDetached(view) {
    try {
        new Uint8Array(view.buffer, view.byteOffset, 0);
        return false;
    } catch {
        return true;
    }
}

/**
 * The request given to `fetch`. An object with the parts of a `Request` is one; a path without an origin is enough.
 * @param {unknown} input @param {unknown} [init]
 */
export function requestFrom(input, init) {
    if (init === undefined && typeof input?.method === "string" && typeof input.url === "string" && typeof input.headers?.get === "function") return input;
    const address = typeof input === "string" || isUrl(input);
    if (!address && !(globalThis.Request !== undefined && input instanceof Request)) throw invalidArgument(`fetch takes a Request, or a URL and the options of a Request, not ${kindOf(input)}`);
    try {
        return new Request(address ? new URL(input, "http://fleet/") : input, init);
    } catch (error) {
        throw invalidArgument(`fetch needs a valid request: ${error?.message ?? error}`, error);
    }
}

/** The pending requests of an engine, some of which wait for their bodies. */
export class Underway {
    #requests = new Set();
    /** Functions that each end the reading of one body. @type {Set<(reason: unknown) => void>} */
    #stops = new Set();

    /** @template T @param {Promise<T>} answer @returns {Promise<T>} */
    add(answer) {
        const ended = () => this.#requests.delete(answer);
        this.#requests.add(answer);
        answer.then(ended, ended);
        return answer;
    }

    /**
     * Resolves once all are complete, or after `patience` milliseconds, because a body may never end. At once when
     * there are none.
     */
    drained(patience) {
        if (this.#requests.size === 0) return undefined;
        return new Promise((resolve) => {
            const late = setTimeout(resolve, patience);
            void Promise.allSettled(this.#requests).then(() => (clearTimeout(late), resolve()));
        });
    }

    /** Ends the reading of all bodies. */
    stop(reason) {
        for (const stop of this.#stops) stop(reason);
    }

    /**
     * Reads the body of a request, but at most one byte above `max`, which shows the engine that it is too large.
     * Rejects with the reason when the signal of the request is aborted.
     * @param {Request} request
     * @param {number} max
     */
    async read(request, max) {
        const { body, signal } = request;
        signal?.throwIfAborted();
        if (max === 0 || body === null) return EMPTY;
        if (request.bodyUsed) throw invalidArgument("the body of the request was already read");
        // Without a stream to read from, the whole body is read.
        const source = body === undefined ? wholeBody(request) : body.getReader();
        /** @type {{ reason: unknown } | undefined} */
        let stopped;
        const stop = (reason) => {
            stopped ??= { reason };
            // Also ends the pending read. Errors of the sender are ignored.
            source.cancel(reason).catch(() => {});
        };
        const aborted = () => stop(signal.reason);
        signal?.addEventListener("abort", aborted);
        this.#stops.add(stop);
        try {
            const pieces = [];
            let length = 0;
            while (length <= max) {
                const { done, value } = await source.read();
                if (stopped) throw stopped.reason;
                if (done) return joined(pieces, length);
                pieces.push(value);
                length += value.length;
            }
            // The rest is not needed.
            source.cancel().catch(() => {});
            return joined(pieces, length).subarray(0, max + 1);
        } catch (error) {
            throw stopped ? stopped.reason : error;
        } finally {
            signal?.removeEventListener("abort", aborted);
            this.#stops.delete(stop);
        }
    }
}

/** Reads a body in one piece, with the interface of a stream reader. */
function wholeBody(request) {
    let cancel;
    const cancelled = new Promise((resolve) => (cancel = () => resolve({ done: true })));
    let read = false;
    return {
        async read() {
            if (read) return { done: true };
            read = true;
            const whole = async () => ({ done: false, value: new Uint8Array(await request.arrayBuffer()) });
            return Promise.race([whole(), cancelled]);
        },
        async cancel() {
            cancel();
        },
    };
}

function joined(pieces, length) {
    if (pieces.length === 1) return pieces[0];
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
        bytes.set(piece, at);
        at += piece.length;
    }
    return bytes;
}

/** @param {string} lines @returns {Array<[string, string]>} */
export function headerPairs(lines) {
    const pairs = [];
    if (lines === "") return pairs;
    for (const line of lines.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) pairs.push([line.slice(0, colon), line.slice(colon + 2)]);
    }
    return pairs;
}

/** @param {Array<[string, string]>} pairs @returns {Record<string, string>} */
export function headerRecord(pairs) {
    const record = {};
    for (const [name, value] of pairs) record[name] = name in record ? `${record[name]}, ${value}` : value;
    return record;
}

/**
 * The refusal of a write that had no room: the engine cannot see why its storage failed. Other refusals stay as they are, such as that of a write
 * in doubt. @param {{ status: number, headers: string, body: Uint8Array }} answer
 */
export function asFull(answer) {
    const problem = JSON.parse(new TextDecoder().decode(answer.body));
    if (problem.code !== "StorageUnavailable") return answer;
    const body = encoder.encode(JSON.stringify({ ...problem, code: "LowDisk", detail: `${FULL[0].toUpperCase()}${FULL.slice(1)}.` }));
    // The length of the body is not among the headers of an engine.
    return { ...answer, body };
}

/** @param {{ status: number, headers: string, body: Uint8Array }} answer */
export function toResponse({ status, headers, body }) {
    const content = body.length === 0 || BODILESS.has(status) ? null : body;
    if (headers === "") return new Response(content, { status });
    return new Response(content, { status, headers: headerPairs(headers) });
}

export { EMPTY };
