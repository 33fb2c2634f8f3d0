// Tests of the console: each runs over a server and over the engine in the tab, and in every installed browser. Only the transport differs.
// Each of two transports has a browser of its own, which another test has for the other one; with DESKFLEET_CONSOLE_PAIRS=all every test
// runs over each transport in each browser.
//
// The files are those of `server-adapter/console`, so that what is changed there is tested without a build; with DESKFLEET_CONSOLE_FILES=dist they are
// those of the bundle in it. With `bundle` a test has those of the binary and of the package.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { killed } from "../browser/chromium.mjs";
import { runtime, tool } from "../runtimes.mjs";
import { CONSOLE, serveBefore, servePackage } from "./serve.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const BINARY = process.env.DESKFLEET_BINARY ?? path.join(ROOT, "target/debug/deskfleet");
const FILES = path.join(CONSOLE, process.env.DESKFLEET_CONSOLE_FILES ?? ".");
const ALL_PAIRS = process.env.DESKFLEET_CONSOLE_PAIRS === "all";
/** A bound against hanging. */
const PATIENCE_MS = 60_000;

/**
 * @typedef {object} Given
 * @property {import("puppeteer-core").Page} page signed in, on the overview
 * @property {"server" | "engine"} transport
 * @property {"chromium" | "firefox"} browser
 * @property {(method: string, path: string, options?: { query?: object, json?: unknown, body?: string, type?: string }) => Promise<any>} request
 * sends a request as the console does; returns the JSON, or the text
 * @property {(workspaces: object[]) => Promise<void>} load imports workspaces
 * @property {(lines: object[]) => Promise<void>} report posts telemetry
 * @property {(hash: string, selector?: string) => Promise<void>} show opens a page of the console
 * @property {() => Promise<import("puppeteer-core").Page>} open another tab, signed in
 * @property {(selector: string, text: string) => Promise<void>} fill
 * @property {(selector: string, answered: () => Promise<unknown>) => Promise<void>} doubleClick `answered` holds after the first click and after the second
 * @property {(theme?: string) => Promise<void>} passesAxe fails if axe finds something
 * @property {() => Promise<void>} restart starts the server again on its store; only over a server with `{ file: true }`
 * @property {() => Promise<void>} stop ends the server for good
 * @property {import("node:test").TestContext} context
 */

/**
 * @param {string} name
 * @param {(given: Given) => Promise<void>} run
 * @param {{ transports?: string[], browsers?: string[], file?: boolean, troubles?: RegExp, arguments?: string[] | (() => string[]), signIn?: boolean, acceptInsecureCerts?: boolean, bundle?: boolean }} [options]
 * `troubles`: what the console of the browser may say; `acceptInsecureCerts`: of all tests of a file or of none
 */
export function consoleTest(name, run, options = {}) {
    const { transports = ["server", "engine"], browsers = ["chromium", "firefox"] } = options;
    const hasAll = ALL_PAIRS || transports.length === 1 || browsers.length === 1;
    const isCrossed = name.length % 2;
    for (const [at, transport] of transports.entries()) {
        for (const [browserAt, browser] of browsers.entries()) {
            if (!hasAll && (at + browserAt) % 2 !== isCrossed) continue;
            test(`${name}, over the ${transport}, in ${browser}`, { timeout: 5 * PATIENCE_MS }, async (context) => {
                if (!runtime(browser, context) || !tool("puppeteer-core", context)) return;
                if (transport === "server" && !existsSync(BINARY)) return context.skip("the binary deskfleet is not built");
                const folder = mkdtempSync(path.join(tmpdir(), "deskfleet-console-"));
                const place = transport === "server" ? await startServer(folder, options) : await startPackage(options);
                /** @type {import("puppeteer-core").Page[]} */
                const pages = [];
                try {
                    const driven = await (launched[browser] ??= launch(browser, context, options));
                    await run(await given({ place, driven, pages, transport, browser, context, options }));
                } catch (error) {
                    for (const page of pages) context.diagnostic(await seen(page).catch(String));
                    await close(browser);
                    throw error;
                } finally {
                    await Promise.all(pages.map((page) => page.close().catch(() => {})));
                    await place.stop();
                    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
                }
            });
        }
    }
}

/** What a person would see of a page that did not become what a test expected. @param {import("puppeteer-core").Page} page */
function seen(page) {
    const read = page.evaluate(() => {
        const text = (selector) => document.querySelector(selector)?.textContent.replace(/\s+/g, " ").slice(0, 600);
        return JSON.stringify({ at: location.hash, focus: document.activeElement?.outerHTML.slice(0, 200), dialog: text("dialog"), notices: text(".notices"), live: text(".live"), main: text("main") });
    });
    return Promise.race([read, new Promise((_, failed) => setTimeout(failed, 5000, "the page does not respond").unref())]);
}

/** The browsers of this file: a test has an origin of its own, and with it a storage. @type {Record<string, Promise<import("puppeteer-core").Browser> | undefined>} */
const launched = {};

/** Ends a browser; the next test starts another. @param {string} browser */
async function close(browser) {
    const driven = launched[browser];
    launched[browser] = undefined;
    await (await driven?.catch(() => undefined))?.close().catch(() => {});
}

after(() => Promise.all(Object.keys(launched).map(close)));

async function launch(browser, context, { acceptInsecureCerts = false }) {
    const { launch } = await import("puppeteer-core");
    const chromium = browser === "chromium";
    return launch({
        browser: chromium ? "chrome" : "firefox",
        executablePath: runtime(browser, context),
        headless: true,
        // A headless Firefox draws each frame, which took a sixth of the time of these tests.
        extraPrefsFirefox: { "layout.frame_rate": 10 },
        acceptInsecureCerts,
        args: chromium ? ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] : [],
        defaultViewport: { width: 1280, height: 860 },
        protocolTimeout: 2 * PATIENCE_MS,
    });
}

/** A server on a store of its own; `link` signs in once. */
async function startServer(folder, { file = false, arguments: more = [], bundle = false }) {
    const store = file ? ["--data", path.join(folder, "deskfleet.redb")] : ["--memory"];
    if (typeof more === "function") more = more();
    const started = await listen([...store, "--listen", "127.0.0.1:0", ...more]);
    const front = bundle ? undefined : await serveBefore(FILES, Number(new URL(started.origin).port));
    const origin = front?.origin ?? started.origin;
    const place = {
        url: `${origin}/`,
        signIn: started.link === undefined ? undefined : `${origin}/${new URL(started.link).hash}`,
        key: started.key,
        child: started.child,
        restart: async () => {
            const { port } = new URL(started.origin);
            await killed(place.child);
            place.child = (await listen([...store, "--listen", `127.0.0.1:${port}`, ...more])).child;
        },
        stop: async () => {
            front?.stop();
            await killed(place.child);
        },
    };
    return place;
}

/** @returns {Promise<{ child: import("node:child_process").ChildProcess, origin: string, key?: string, link?: string }>} */
function listen(given) {
    // Its settings come from the arguments alone.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DESKFLEET_")));
    const child = spawn(BINARY, ["serve", ...given], { detached: true, stdio: ["ignore", "pipe", "pipe"], cwd: tmpdir(), env });
    const said = { child };
    const lines = [];
    return new Promise((started, failed) => {
        const ready = setTimeout(() => {
            void killed(child);
            failed(new Error(`the server did not start: ${lines.join("\n")}`));
        }, PATIENCE_MS);
        const settle = () => {
            if (said.origin === undefined) return;
            clearTimeout(ready);
            // What is printed of keys comes with or before the address.
            setTimeout(() => started(said), 100);
        };
        const read = (line) => {
            if (said.origin === undefined) lines.push(line);
            said.key ??= /^dfk_\S+$/.exec(line)?.[0];
            said.link ??= /https?:\S+#code=\S+/.exec(line)?.[0];
            said.origin ??= /^deskfleet serves .* at (https?:\S+)$/.exec(line)?.[1];
            settle();
        };
        createInterface({ input: child.stdout }).on("line", read);
        createInterface({ input: child.stderr }).on("line", read);
        child.once("exit", (code) => failed(new Error(`the server ended with ${code}: ${lines.join("\n")}`)));
    });
}

async function startPackage({ bundle = false }) {
    const { origin, stop } = await servePackage(path.join(ROOT, "wasm/pkg"), bundle ? undefined : FILES);
    return { url: `${origin}/console/index.html`, stop };
}

/** @returns {Promise<Given>} */
async function given({ place, driven, pages, transport, browser, context, options }) {
    const troubles = [];
    const opened = async () => {
        const page = await driven.newPage();
        pages.push(page);
        page.setDefaultTimeout(PATIENCE_MS);
        page.on("pageerror", (error) => troubles.push(String(error)));
        page.on("console", (message) => ["error", "warn"].includes(message.type()) && troubles.push(message.text()));
        await page.evaluateOnNewDocument(() => {
            document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => console.error(`CSP: ${violatedDirective} ${blockedURI}`));
        });
        return page;
    };
    context.after(() => {
        const unexpected = troubles.filter((trouble) => !options.troubles?.test(trouble));
        assert.deepEqual(unexpected, [], "the console of the browser is silent");
    });
    const fill = async (on, selector, text) => {
        await on.waitForSelector(selector);
        await on.locator(selector).fill(text);
    };
    const signedIn = async (first) => {
        const page = await opened();
        await page.goto(first && place.signIn !== undefined ? place.signIn : place.url);
        if (options.signIn === false) return page;
        // Another tab lends its session, where there is one.
        await page.waitForSelector("input[name=key], main#main h1");
        if ((await page.$("input[name=key]")) !== null) {
            await fill(page, "input[name=key]", place.key);
            await page.locator("form button").click();
        }
        await page.waitForSelector("main#main h1");
        return page;
    };
    const page = await signedIn(true);
    const request = (method, address, parts = {}) =>
        page.evaluate(
            async (method, address, parts) => {
                const { request } = await import(document.querySelector("script[type=module]").src);
                const text = await (await request(method, address, parts)).text();
                try {
                    return JSON.parse(text);
                } catch {
                    return text;
                }
            },
            method,
            address,
            parts,
        );
    const lines = (rows) => rows.map((row) => JSON.stringify(row)).join("\n");
    return {
        page,
        transport,
        browser,
        context,
        request,
        key: place.key,
        url: place.url,
        restart: () => place.restart(),
        stop: () => place.stop(),
        open: () => signedIn(false),
        opened,
        load: async (workspaces) => {
            for (let start = 0; start < workspaces.length; start += 5000) await request("POST", "/operator/workspaces", { body: lines(workspaces.slice(start, start + 5000)), type: "application/x-ndjson" });
        },
        report: (records) => request("POST", "/operator/telemetry", { body: lines(records), type: "application/x-ndjson" }),
        fill: (selector, text) => fill(page, selector, text),
        doubleClick: async (selector, answered) => {
            const { x, y, width, height } = await page.$eval(selector, (element) => {
                element.scrollIntoView({ block: "nearest" });
                return element.getBoundingClientRect().toJSON();
            });
            const at = [x + width / 2, y + height / 2];
            // Chromium counts clicks as they are numbered, so that the second certainly falls on what the first brought; Firefox counts those that come together.
            if (browser === "chromium") {
                await page.mouse.click(...at);
                await answered();
                await page.mouse.click(...at, { clickCount: 2 });
            } else await page.mouse.click(...at, { count: 2 });
            await answered();
        },
        show: async (hash, selector = "main#main h1") => {
            await page.evaluate((hash) => void (location.hash = hash), hash);
            await page.waitForSelector(selector);
        },
        passesAxe: async (theme) => {
            if (theme !== undefined) await page.evaluate((theme) => void (document.documentElement.dataset.theme = theme), theme);
            await page.evaluate(readFileSync(path.join(ROOT, "wasm/tests/node_modules/axe-core/axe.min.js"), "utf8"));
            const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
            const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any, all, none }) => `${html} ${[...any, ...all, ...none].map(({ message }) => message).join("; ")}`).join("\n    ")}`);
            assert.deepEqual(found, [], `${await page.evaluate(() => location.hash)} ${theme ?? ""}`);
        },
    };
}
