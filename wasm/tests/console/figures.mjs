// Prints the figures of the console, in each installed browser: `node wasm/tests/console/figures.mjs`.
//
// DESKFLEET_BINARY=target/release/deskfleet gives those of an optimised server.

import { consoleTest } from "./consoles.mjs";

const MANY = 100_000;
const PART = 5000;
const RELOADS = 5;
const SETTLE_MS = 2000;
const BINARY = process.env.DESKFLEET_BINARY ?? "target/debug/deskfleet";

const median = (numbers) => numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

/** Returns how long the long tasks of a page took since it was asked before; only Chromium knows. */
async function longTasks(page) {
    await page.evaluate(() => {
        globalThis.tasks = [];
        if (PerformanceObserver.supportedEntryTypes.includes("longtask")) new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: "longtask" });
    });
    const known = await page.evaluate(() => PerformanceObserver.supportedEntryTypes.includes("longtask"));
    return async () => {
        // The observer is called after the task.
        await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
        const tasks = await page.evaluate(() => globalThis.tasks.splice(0));
        return known ? `tasks over 50 ms: ${tasks.length === 0 ? "none" : `${tasks.length}, the longest ${Math.max(...tasks)} ms`}` : "this browser does not report long tasks";
    };
}

/** Milliseconds of the page from a change of its address, or a click at a heading, until `rows` are counted and `sorted` is the heading of the order, and that is painted. */
const timed = (page, { hash, heading, rows }) =>
    page.evaluate(
        async (hash, heading, rows) => {
            const begin = performance.now();
            const headings = () => [...document.querySelectorAll(".heading [aria-sort]")];
            if (hash !== undefined) location.hash = hash;
            if (heading !== undefined) headings()[heading].querySelector("button").click();
            const done = () => {
                const counted = document.querySelector(".grid")?.getAttribute("aria-rowcount") === String(rows + 1);
                return counted && (heading === undefined || headings()[heading].getAttribute("aria-sort") !== "none");
            };
            do await new Promise(requestAnimationFrame);
            while (!done());
            await new Promise((painted) => setTimeout(painted));
            return Math.round(performance.now() - begin);
        },
        hash,
        heading,
        rows,
    );

consoleTest("demo_and_overview", async ({ page, show, context, transport }) => {
    await show("#/import");
    const long = await longTasks(page);
    const begin = Date.now();
    await page.locator("::-p-xpath(//button[contains(., 'Load the demo fleet')])").click();
    await page.waitForFunction(() => location.hash.startsWith("#/overview") && document.querySelector(".strip") !== null);
    context.diagnostic(`${transport === "server" ? BINARY : "engine"}: the demo fleet is loaded after ${Date.now() - begin} ms; ${await long()}`);
    const paints = [];
    const figures = [];
    for (let reload = 0; reload < RELOADS; reload++) {
        await page.reload();
        figures.push(
            await page.evaluate(async () => {
                while (document.querySelector(".strip") === null) await new Promise(requestAnimationFrame);
                return performance.now();
            }),
        );
        paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    }
    context.diagnostic(`overview, median of ${RELOADS} reloads: first contentful paint after ${Math.round(median(paints))} ms, with its figures after ${Math.round(median(figures))} ms`);
});

consoleTest("hundred_thousand_desktops", async ({ page, request, show, context }) => {
    await page.evaluate(
        async (many, part) => {
            const { sendLines } = await import(new URL("app/import/job.js", document.baseURI).href);
            const { signal } = new AbortController();
            const id = (index) => `ws-${String(index).padStart(6, "0")}`;
            const desktop = (index) => ({ workSpId: id(index), computerName: `DESK-${(index * 7919) % many}`, username: `user${index % 997}`, state: index % 4 === 0 ? "STOPPED" : "AVAILABLE", runningMode: "AUTO_STOP", computeTypeName: index % 3 === 0 ? "POWER" : "STANDARD", region: index % 2 === 0 ? "eu-central-1" : "us-east-1" });
            const report = (index) => ({ stats: { instanceId: id(index), processorInUse: (index * 31) % 100, physicalMemory: 8e9, availablePhysicalMemory: 1e9 + ((index * 7919) % 6e9), uptime: index } });
            for (const [path, line] of [["/operator/workspaces", desktop], ["/operator/telemetry", report]]) {
                for (let start = 0; start < many; start += part) await sendLines(path, Array.from({ length: part }, (_, index) => JSON.stringify(line(start + index))), signal);
            }
        },
        MANY,
        PART,
    );
    // What the import leaves to be collected is not part of the figures.
    await new Promise((done) => setTimeout(done, SETTLE_MS));
    const long = await longTasks(page);
    const begin = Date.now();
    await show("#/desktops", ".grid-body .grid-row");
    const first = Date.now() - begin;
    await page.waitForFunction((rows) => document.querySelector(".grid").getAttribute("aria-rowcount") === String(rows + 1), {}, MANY);
    context.diagnostic(`${BINARY}, ${MANY} desktops: first rows after ${first} ms, all after ${Date.now() - begin} ms; ${await long()}`);

    const titles = await page.$$eval(".heading [aria-sort]", (headings) => headings.map(({ textContent }) => textContent));
    const sorts = [];
    for (const [heading, title] of titles.entries()) sorts.push(`${title.replace(/[ ↑↓]+$/u, "")} ${await timed(page, { heading, rows: MANY })}`);
    context.diagnostic(`sort, ms: ${sorts.join(", ")}; ${await long()}`);
    const filters = [];
    for (const [query, rows] of [["q=user996", 100], ["state=STOPPED", MANY / 4], ["q=desk-9&state=AVAILABLE", 8334], ["", MANY]]) {
        filters.push(`${query || "none"} ${await timed(page, { hash: `#/desktops?${query}`, rows })}`);
    }
    context.diagnostic(`filter, ms: ${filters.join(", ")}; ${await long()}`);
    await page.evaluate(async () => {
        const grid = document.querySelector(".grid");
        for (let step = 0; step < 120; step++) {
            grid.scrollTop += step < 60 ? 150 : 15_000;
            await new Promise(requestAnimationFrame);
        }
        grid.scrollTop = 0;
    });
    context.diagnostic(`scrolled; ${await long()}`);

    await page.waitForSelector(".live.live");
    const shown = [];
    for (let turn = 0; turn < RELOADS; turn++) {
        const id = `ws-${String(4 * turn + 1).padStart(6, "0")}`;
        const seen = page.evaluate(async (id) => {
            while (![...document.querySelectorAll(".grid-body .grid-row")].some(({ textContent }) => textContent.includes(id) && textContent.includes("Rebooting"))) await new Promise(requestAnimationFrame);
            return performance.now();
        }, id);
        const asked = await page.evaluate(() => performance.now());
        await request("POST", "/api/Actions/RebootWorkSpace", { query: { workSpaceId: id, requester: "Ada" } });
        shown.push((await seen) - asked);
    }
    context.diagnostic(`from a reboot by the interface to the row, median of ${RELOADS}: ${Math.round(median(shown))} ms; ${await long()}`);
}, { transports: ["server"] });
