import { invalidArgument, kindOf } from "./errors.js";

const EMPTY = new Uint8Array(0);
const encoder = new TextEncoder();
/** Statuses whose `Response` takes no body. */
const BODILESS = new Set([101, 204, 205, 304]);

/** @param {unknown} value @param {string} name @returns {string} */
export function text(value, name) {
    if (typeof value !== "string") throw invalidArgument(`${name} must be a string, not ${kindOf(value)}`);
    return value;
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

/** A body that is there already. @param {unknown} body @returns {Uint8Array} */
export function bodyBytes(body) {
    if (body === undefined || body === null) return EMPTY;
    if (typeof body === "string") return encoder.encode(body);
    if (!(body instanceof Uint8Array)) throw invalidArgument(`body must be a Uint8Array or a string, not ${kindOf(body)}`);
    if (body.length === 0 && isDetached(body)) {
        throw invalidArgument("body is a view of a buffer that was transferred or cut; its bytes are gone");
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
 * Reads the body of a request, but no more than one byte above `max`: that tells the engine that it is too large.
 * @param {Request} request
 * @param {number} max
 */
export async function readBody(request, max) {
    if (max === 0 || request.body === null) return EMPTY;
    if (request.bodyUsed) throw invalidArgument("the body of the request was read before");
    // Where there is no stream to read from, all of it is read.
    if (request.body === undefined) return new Uint8Array(await request.arrayBuffer()).subarray(0, max + 1);
    const reader = request.body.getReader();
    const pieces = [];
    let length = 0;
    while (length <= max) {
        const { done, value } = await reader.read();
        if (done) return joined(pieces, length);
        pieces.push(value);
        length += value.length;
    }
    // The rest is not wanted; that its sender is told so is a courtesy.
    reader.cancel().catch(() => {});
    return joined(pieces, length).subarray(0, max + 1);
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

/** @param {{ status: number, headers: string, body: Uint8Array }} answer */
export function toResponse({ status, headers, body }) {
    const content = body.length === 0 || BODILESS.has(status) ? null : body;
    if (headers === "") return new Response(content, { status });
    return new Response(content, { status, headers: headerPairs(headers) });
}

export { EMPTY };
