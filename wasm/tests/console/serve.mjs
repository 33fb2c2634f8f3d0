// The console from its folder, for those who work on it: what they save is shown at the next load.
//
// `node wasm/tests/console/serve.mjs 8081 8080` serves `server-adapter/console` at port 8081 with the policy of the server, and passes all other
// requests on to the server at port 8080.

import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder with the console's files. */
export const CONSOLE = fileURLToPath(new URL("../../../server-adapter/console/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm", ".json": "application/json" };
/** That of the server; a test compares them. */
export const POLICY =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types deskfleet";
/** Where the engine runs in the browser. */
const ENGINE_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");

/** The npm package at a port of its own; the console is below `/console/`, from `folder` where one is given. @param {string} pkg @param {string} [folder] */
export function servePackage(pkg, folder) {
    return listening((pathname, _request, response) => {
        const shown = pathname.endsWith("/") ? `${pathname}index.html` : pathname;
        if (folder === undefined || !shown.startsWith("/console/")) return send(response, path.join(pkg, shown), ENGINE_POLICY);
        if (shown === "/console/index.html") return respond(response, ".html", enginePage(folder), ENGINE_POLICY);
        return send(response, path.join(folder, shown.slice("/console/".length)), ENGINE_POLICY);
    });
}

/** The page over the engine: the bundle has one, the files it is made of have that of the server. @param {string} folder */
function enginePage(folder) {
    const own = path.join(folder, "engine.html");
    return existsSync(own) ? readFileSync(own) : readFileSync(path.join(folder, "index.html"), "utf8").replace("app/server.js", "app/engine.js");
}

/** The console from a folder, before a server. @param {string} folder @param {number} port of the server @param {number} [own] */
export function serveBefore(folder, port, own = 0) {
    return listening((pathname, incoming, response) => {
        if (pathname === "/" || pathname.startsWith("/app/")) return send(response, path.join(folder, pathname === "/" ? "index.html" : pathname), POLICY);
        const { method, url, headers } = incoming;
        const onward = request({ host: "127.0.0.1", port, path: url, method, headers: { ...headers, host: `127.0.0.1:${port}` } }, (answer) => {
            response.writeHead(answer.statusCode, answer.headers);
            response.flushHeaders();
            answer.pipe(response);
        });
        onward.on("error", () => response.destroy());
        response.on("close", () => onward.destroy());
        return void incoming.pipe(onward);
    }, own);
}

/** @param {(pathname: string, request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => unknown} handle */
async function listening(handle, port = 0) {
    const server = createServer((incoming, response) => void handle(path.posix.normalize(decodeURIComponent(new URL(incoming.url, "http://localhost").pathname)), incoming, response));
    await new Promise((done) => server.listen(port, "127.0.0.1", done));
    const stop = () => {
        server.closeAllConnections();
        server.close();
    };
    return { origin: `http://localhost:${server.address().port}`, stop };
}

async function send(response, file, policy) {
    try {
        respond(response, path.extname(file), await readFile(file), policy);
    } catch {
        response.writeHead(404).end("there is no such file");
    }
}

function respond(response, extension, body, policy) {
    response.writeHead(200, { "content-type": TYPES[extension] ?? "application/octet-stream", "content-security-policy": policy, "cache-control": "no-cache", "x-content-type-options": "nosniff" });
    response.end(body);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [own = "8081", port = "8080"] = process.argv.slice(2);
    const { origin } = await serveBefore(CONSOLE, Number(port), Number(own));
    console.log(origin);
}
