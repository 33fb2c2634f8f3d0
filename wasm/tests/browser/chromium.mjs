// Headless Chromium: a static server of the folder `wasm`, and browsers with a profile of their own.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { find } from "../runtimes.mjs";

const ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];
/** A bound against hanging. */
export const PATIENCE_MS = 60_000;
/** The permissions that a page of the package needs. */
const POLICY =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/**
 * Serves the folder `wasm`, each response under the strict policy; `/hang` responds after `/resume` was requested.
 * Returns the origin and a function that stops the server.
 * @param {Record<string, string>} [files] more files, by their path there
 */
export async function serve(files = {}) {
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const hanging = [];
    const server = createServer(async (request, response) => {
        const { pathname, searchParams } = new URL(request.url, "http://localhost");
        if (pathname === "/hang") return hanging.push(response);
        if (pathname === "/resume") for (const each of [...hanging.splice(0), response]) each.writeHead(204).end();
        if (pathname === "/resume") return;
        const file = files[pathname] ?? path.join(root, path.normalize(decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname)));
        try {
            const body = await readFile(file);
            response.writeHead(200, {
                "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
                "content-security-policy": searchParams.get("policy") === "no-wasm" ? POLICY.replace(" 'wasm-unsafe-eval'", "") : POLICY,
                "service-worker-allowed": "/",
                // Not cached, except for the back/forward cache, which "no-store" would disable.
                "cache-control": "no-cache",
            });
            response.end(body);
        } catch {
            response.writeHead(404).end("this is the static server");
        }
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    return {
        origin: `http://localhost:${server.address().port}`,
        stop: () => {
            server.closeAllConnections();
            server.close();
        },
    };
}

/** A browser on a profile, killed as by a crash. */
export class Browser {
    #process;
    #connection;

    static async start(profile) {
        const { chromium } = await import("playwright-core");
        const executable = find("chromium");
        if (executable === undefined) throw new Error("there is no Chromium; DESKFLEET_CHROMIUM names one");
        const browser = new Browser();
        const port = path.join(profile, "DevToolsActivePort");
        rmSync(port, { force: true });
        // A group of its own, so that all processes of the browser can be killed at once.
        browser.#process = spawn(executable, [...ARGUMENTS, `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"], {
            detached: true,
            stdio: "ignore",
        });
        const address = await addressIn(port, browser.#process);
        browser.#connection = await chromium.connectOverCDP(address, { timeout: PATIENCE_MS });
        return browser;
    }

    get context() {
        return this.#connection.contexts()[0];
    }

    /** A page of the package's origin, whose script errors fail the test. */
    async open(url) {
        const page = await this.context.newPage();
        page.setDefaultTimeout(PATIENCE_MS);
        await page.goto(url);
        return page;
    }

    /** The protocol of the browser itself. */
    devtools() {
        return this.#connection.newBrowserCDPSession();
    }

    kill() {
        return killed(this.#process);
    }

    async close() {
        const session = await this.devtools();
        await session.send("Browser.close").catch(() => {});
        await Promise.race([ended(this.#process), sleep(5_000)]);
        await this.kill();
    }
}

/** Ends a process and all of its group at once. */
export function killed(child) {
    try {
        process.kill(-child.pid, "SIGKILL");
    } catch {
        // It has ended already.
    }
    return ended(child);
}

/** Resolves when a process has ended. */
export function ended(child) {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((done) => child.once("exit", done));
}

async function addressIn(file, child) {
    for (const began = Date.now(); Date.now() - began < PATIENCE_MS; await sleep(50)) {
        if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
        const [port, target] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
        if (target) return `ws://127.0.0.1:${port}${target}`;
    }
    throw new Error(`${child.spawnfile} did not start`);
}
