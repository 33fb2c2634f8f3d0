// A double on a port, for clients in other languages. Only Node, Bun and Deno have `node:http`.

import { DeskfleetError, invalidArgument } from "../errors.js";
import { CONTROLS } from "./table.js";

const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** @param {import("../testing.js").Double} double @param {{ port?: number, host?: string }} [options] */
export async function serveDouble(double, { port = 0, host = "127.0.0.1" } = {}) {
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => {
        respond(double, request).then(
            ({ status, headers, body }) => response.writeHead(status, headers).end(body),
            (error) => response.writeHead(error instanceof DeskfleetError && error.code === "InvalidArgument" ? 400 : 500).end(String(error.message)),
        );
    });
    await new Promise((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
    const at = server.address();
    const name = at.family === "IPv6" ? `[${at.address}]` : at.address;
    return {
        url: `http://${name}:${at.port}`,
        stop() {
            const stopped = new Promise((resolve) => void server.close(resolve));
            server.closeAllConnections();
            return stopped;
        },
    };
}

async function respond(double, request) {
    const body = await read(request);
    const { pathname } = new URL(request.url, "http://fleet/");
    if (pathname === "/double" || pathname.startsWith("/double/")) return control(double, `${request.method} ${pathname}`, body);
    const init = { method: request.method, headers: headersOf(request) };
    const bodiless = request.method === "GET" || request.method === "HEAD" || body.length === 0;
    const response = await double.fetch(new URL(request.url, "http://fleet/"), bodiless ? init : { ...init, body });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: Buffer.from(await response.arrayBuffer()) };
}

/** Headers of the connection are not for the engine, and `Request` refuses some of them. */
function headersOf({ rawHeaders }) {
    const headers = new Headers();
    for (let at = 0; at < rawHeaders.length; at += 2) {
        const name = rawHeaders[at].toLowerCase();
        if (!["connection", "keep-alive", "transfer-encoding", "upgrade", "expect", "content-length", "host"].includes(name)) headers.append(name, rawHeaders[at + 1]);
    }
    return headers;
}

async function read(request) {
    const chunks = [];
    let length = 0;
    for await (const chunk of request) {
        length += chunk.length;
        if (length > BODY_BYTES_MAX) throw invalidArgument(`a body may have ${BODY_BYTES_MAX} bytes`);
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}

async function control(double, asked, body) {
    const json = (value) => ({ status: 200, headers: { "content-type": "application/json; charset=utf-8" }, body: JSON.stringify(value) });
    const given = () => {
        try {
            return JSON.parse(body.toString());
        } catch (error) {
            throw invalidArgument(error.message);
        }
    };
    const ways = {
        "GET /double": () => json({ now: double.now.toISOString().replace(".000Z", "Z") }),
        "POST /double/advance": () => double.advance(given().milliseconds),
        "POST /double/reset": () => double.reset(),
        "POST /double/restart": () => double.restart(),
        "POST /double/rules": () => double.fail(given()),
        "DELETE /double/rules": () => double.clearRules(),
        "GET /double/journal": () => json(double.journal),
        "DELETE /double/journal": () => double.clearJournal(),
        "POST /double/replay": () => double.replay(given()),
    };
    if (!Object.hasOwn(ways, asked)) return { status: 404, headers: {}, body: `a double has ${CONTROLS.join(", ")}` };
    return (await ways[asked]()) ?? { status: 204, headers: {}, body: "" };
}
