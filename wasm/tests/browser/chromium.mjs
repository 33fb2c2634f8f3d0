// Headless Chromium for the tests: a static server of this folder's package, and browsers with a profile of their own.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const EXECUTABLE = process.env.DESKFLEET_CHROMIUM ?? "/usr/bin/chromium";
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
const PATIENCE_MS = 60_000;
/** What a page of the package needs, and no more. */
const POLICY =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** Serves the folder `wasm`, each answer under the strict policy; answers the origin and what stops it. */
export async function serve() {
    const root = fileURLToPath(new URL("../../", import.meta.url));
    const server = createServer(async (request, response) => {
        const { pathname, searchParams } = new URL(request.url, "http://localhost");
        const file = path.join(root, path.normalize(decodeURIComponent(pathname.endsWith("/") ? `${pathname}index.html` : pathname)));
        try {
            const body = await readFile(file);
            response.writeHead(200, {
                "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
                "content-security-policy": searchParams.get("policy") === "no-wasm" ? POLICY.replace(" 'wasm-unsafe-eval'", "") : POLICY,
                "service-worker-allowed": "/",
                "cache-control": "no-store",
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

/** A browser on a profile, killed as a crash would. */
export class Browser {
    #process;
    #connection;

    static async start(profile) {
        const { chromium } = await import("playwright-core");
        const browser = new Browser();
        const port = path.join(profile, "DevToolsActivePort");
        rmSync(port, { force: true });
        // A group of its own, so that all processes of the browser can be killed at once.
        browser.#process = spawn(EXECUTABLE, [...ARGUMENTS, `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"], {
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
        try {
            process.kill(-this.#process.pid, "SIGKILL");
        } catch {
            // It is gone already.
        }
        return ended(this.#process);
    }

    async close() {
        const session = await this.devtools();
        await session.send("Browser.close").catch(() => {});
        await Promise.race([ended(this.#process), sleep(5_000)]);
        await this.kill();
    }
}

function ended(child) {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((done) => child.once("exit", done));
}

async function addressIn(file, child) {
    for (const began = Date.now(); Date.now() - began < PATIENCE_MS; await sleep(50)) {
        if (child.exitCode !== null) throw new Error(`${EXECUTABLE} ended with ${child.exitCode}`);
        const [port, target] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
        if (target) return `ws://127.0.0.1:${port}${target}`;
    }
    throw new Error(`${EXECUTABLE} did not start`);
}

/** What is missing to run the tests of this folder. */
async function missing() {
    if (!existsSync(EXECUTABLE)) return `${EXECUTABLE} is missing (DESKFLEET_CHROMIUM names another)`;
    if (!existsSync(new URL("../../pkg/deskfleet.wasm", import.meta.url))) return "wasm/pkg is missing: run cargo wasm";
    return import("playwright-core").then(() => undefined, () => "playwright-core is missing: run npm ci in wasm/tests");
}

const lacking = await missing();
if (lacking) {
    console.error(`\n*** NO BROWSER TEST OF ${path.basename(process.argv[1])} RUNS: ${lacking} ***\n`);
}

/** A test in Chromium: with an origin and an empty profile of its own. */
export function browserTest(name, run) {
    if (lacking && process.env.DESKFLEET_REQUIRE_BROWSER !== "1") return test(name, { skip: lacking }, () => {});
    return test(name, { timeout: 5 * PATIENCE_MS }, async (context) => {
        if (lacking) throw new Error(`DESKFLEET_REQUIRE_BROWSER is 1, but ${lacking}`);
        const profile = mkdtempSync(path.join(tmpdir(), "deskfleet-chromium-"));
        const server = await serve();
        const browsers = [];
        const start = async () => {
            const browser = await Browser.start(profile);
            browsers.push(browser);
            return browser;
        };
        try {
            await run({ start, origin: server.origin, context });
        } finally {
            await Promise.all(browsers.map((browser) => browser.kill()));
            server.stop();
            rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
        }
    });
}
