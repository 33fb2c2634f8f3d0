const TITLES = { 413: "Content Too Large", 500: "Internal Server Error", 503: "Service Unavailable" };
const TYPES = { 413: "15.5.14", 500: "15.6.1", 503: "15.6.4" };

/**
 * A response without an engine, in the shape of the engine's own problem bodies.
 * @param {413 | 500 | 503} status
 * @param {string} code
 * @param {string} detail
 */
export function problemParts(status, code, detail) {
    const hex = (bytes) => [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const problem = {
        type: `https://tools.ietf.org/html/rfc9110#section-${TYPES[status]}`,
        title: TITLES[status],
        status,
        detail,
        traceId: `00-${hex(16)}-${hex(8)}-00`,
        code,
    };
    const headers = [["content-type", "application/problem+json; charset=utf-8"]];
    if (status === 503) headers.push(["retry-after", "1"]);
    return { status, headers, body: new TextEncoder().encode(JSON.stringify(problem)) };
}
