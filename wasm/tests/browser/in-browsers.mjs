// Tests in headless browsers, each with an origin and an empty profile of its own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { runtime, tool } from "../runtimes.mjs";
import { Browser, PATIENCE_MS, serve } from "./chromium.mjs";
import { Firefox } from "./firefox.mjs";

const CHROMIUM = { runtime: "chromium", driver: "playwright-core", Browser };
const FIREFOX = { runtime: "firefox", driver: "puppeteer-core", Browser: Firefox };

/**
 * A test that only Chromium can run.
 * @param {string} name
 * @param {(given: { start: () => Promise<Browser>, origin: string, context: import("node:test").TestContext }) => Promise<void>} run
 * `start` starts a browser on the profile of the test
 * @param {() => Record<string, string>} [files] more files to serve, see `serve`
 */
export function browserTest(name, run, files = () => ({})) {
    testIn(CHROMIUM, name, run, files);
}

/**
 * A test in every installed browser; `start` starts one that can open pages, close and be killed.
 * @type {typeof browserTest}
 */
export function everyBrowserTest(name, run, files = () => ({})) {
    testIn(CHROMIUM, name, run, files);
    testIn(FIREFOX, `${name}, in Firefox`, run, files);
}

function testIn({ runtime: named, driver, Browser }, name, run, files) {
    test(name, { timeout: 5 * PATIENCE_MS }, async (context) => {
        if (!runtime(named, context) || !tool(driver, context)) return;
        const profile = mkdtempSync(path.join(tmpdir(), `deskfleet-${named}-`));
        const server = await serve(files());
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
