// Requests by hand: sent as they are written, and written as a command.

import { host } from "./api.js";
import { session } from "./session.js";

/**
 * @typedef {{ method: string, path: string, headers: string, body: string, keyed: boolean }} Request
 * `headers` one a line; `keyed`: with the key of the session
 * @typedef {{ status: number, milliseconds: number, headers: string, body: string, cut: boolean }} Answer
 */

/** No more of a body is read. */
const READ_MAX = 1 << 20;
const SHOWN_MAX = 100_000;
/** The place of a secret in what is shown or copied. */
const SECRET = "$KEY";

/** @param {Request} request */
const hasBody = ({ method, body }) => body !== "" && method !== "GET" && method !== "HEAD";

/** @param {string} lines @returns {[string, string][]} */
function headersOf(lines) {
    return lines
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line) => {
            const colon = line.indexOf(":");
            if (colon < 1) throw new Error(`The header line “${line}” has no colon.`);
            return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
        });
}

/** The path without what may be a key. @param {string} path */
export const withoutSecret = (path) => path.replaceAll(/([?&]api_?key=)[^&#]*/gi, `$1${SECRET}`);

/**
 * Sends a request and reads the response, up to a bound.
 * @param {Request} request
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
export async function exchange(request, signal) {
    const { method, path, keyed } = request;
    if (!path.startsWith("/")) throw new Error("A path begins with “/”.");
    const headers = new Headers(headersOf(request.headers));
    if (keyed && session.value !== null) headers.set("x-api-key", session.value.key);
    const began = performance.now();
    const response = await host().fetch(path, { method, headers, body: hasBody(request) ? request.body : undefined, signal });
    const { text, cut } = await bounded(response, signal);
    return {
        status: response.status,
        milliseconds: performance.now() - began,
        headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"),
        body: pretty(text),
        cut: cut || text.length > SHOWN_MAX,
    };
}

/** The text of a response; a stop while it arrives leaves what arrived. @param {Response} response @param {AbortSignal} signal */
async function bounded(response, signal) {
    const kind = response.headers.get("content-type") ?? "text/";
    if (!/json|text|xml/.test(kind)) return { text: `${(await response.arrayBuffer()).byteLength} bytes of ${kind}`, cut: false };
    if (response.body === null) return { text: "", cut: false };
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    try {
        while (text.length < READ_MAX) {
            const { done, value } = await reader.read();
            if (done) return { text, cut: false };
            text += decoder.decode(value, { stream: true });
        }
    } catch (error) {
        if (!signal.aborted) throw error;
    }
    reader.cancel().catch(() => {});
    return { text, cut: true };
}

/** JSON indented, no more than a person reads. @param {string} text */
function pretty(text) {
    try {
        text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
        // Shown as it arrived.
    }
    return text.slice(0, SHOWN_MAX);
}

/** A word for a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The request as a command; the place of the key is `$KEY`. @param {Request} request @param {string} base the address of the server */
export function curl(request, base) {
    const { method, path, keyed } = request;
    const given = headersOf(request.headers).filter(([name]) => !/^(x-api-key|authorization)$/i.test(name));
    const parts = ["curl", method === "GET" ? "" : method === "HEAD" ? "--head" : `-X ${method}`];
    if (keyed || given.length < headersOf(request.headers).length) parts.push(`-H "X-Api-Key: ${SECRET}"`);
    for (const [name, value] of given) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
    if (hasBody(request)) parts.push(`--data-binary ${quoted(request.body)}`);
    parts.push(quoted(new URL(`.${withoutSecret(path)}`, base).href));
    return parts.filter((part) => part !== "").join(" ");
}
