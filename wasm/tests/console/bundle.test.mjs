// The bundle of the console: it is what its script makes, small, and shows its first page soon. The other tests have the files that it is made of.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { PAGES } from "../../../server-adapter/console/app/pages/index.js";
import { tool } from "../runtimes.mjs";
import { consoleTest } from "./consoles.mjs";
import { CONSOLE } from "./serve.mjs";

const DIST = path.join(CONSOLE, "dist");
/** Of all that a browser loads, in gzip; the tests of the server have the bound of its files. */
const ALL_BYTES_MAX = 102_000;
const FIRST_PAGE_BYTES_MAX = 43_000;
const LATENCY_MS = 50;
const FIRST_PAINT_MS_MAX = 500;
/** The overview is there a request later; half of this on a machine that does nothing else. */
const OVERVIEW_MS_MAX = 1000;

const gzipped = (file) => gzipSync(readFileSync(path.join(DIST, file)), { level: 9 }).length;

test("bundle_is_what_its_script_makes_of_the_files", async (context) => {
    if (!["esbuild", "rolldown"].every((name) => tool(name, context))) return;
    const { bundled } = await import("./bundle.mjs");
    const made = await bundled();
    const entries = readdirSync(DIST, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const committed = entries.map((entry) => path.relative(DIST, path.join(entry.parentPath, entry.name)));
    const command = "run node wasm/tests/console/bundle.mjs and commit what it writes";
    assert.deepEqual(committed.sort(), [...made.keys()].sort(), command);
    for (const [file, text] of made) assert.ok(readFileSync(path.join(DIST, file), "utf8") === text, `${file}: ${command}`);
});

test("bundle_stays_within_its_budget_and_keeps_the_licences", (context) => {
    const page = readFileSync(path.join(DIST, "index.html"), "utf8");
    const first = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file]) => file);
    const sizes = { first: ["index.html", ...first], all: ["index.html", ...readdirSync(path.join(DIST, "app")).map((file) => `app/${file}`)] };
    const [ofFirst, ofAll] = Object.values(sizes).map((files) => files.reduce((sum, file) => sum + gzipped(file), 0));
    context.diagnostic(`the first page has ${first.length + 1} files and ${ofFirst} bytes in gzip, all have ${ofAll}`);
    assert.ok(ofFirst <= FIRST_PAGE_BYTES_MAX, `${ofFirst} bytes of the first page`);
    assert.ok(ofAll <= ALL_BYTES_MAX, `${ofAll} bytes in all`);
    const scripts = first.filter((file) => file.endsWith(".js")).map((file) => readFileSync(path.join(DIST, file), "utf8"));
    assert.ok(scripts.some((text) => /\/\*! preact .*MIT.*signals .*MIT/.test(text)), "the notice of the vendored file is sent with it");
});

test("templates_compile_to_the_elements_that_they_make_in_a_browser", async (context) => {
    if (!["htm", "rolldown"].every((name) => tool(name, context))) return;
    const [{ compiled }, { default: htm }] = await Promise.all([import("./templates.mjs"), import("htm")]);
    const templates = [
        'html`<p class="a ${one} b" id=${two} hidden title="" key=\'${one}\'>Text ${one}\n    of   lines\n    </p>`',
        'html`<${Part} ...${more} a=${1} ...${{ b: two }}><i /> ${[1, 2].map((each) => html`<b key=${each}>${each}</b>, `)}<//>`',
        'html`<p /><!-- <u>left out</u> -->\n  ${two && html`<${one ? Part : "i"} on=${() => [one, two]}>it\'s "quoted" \u00b7 \\u0041 ${two}</>`}<p>${(one, two)}</p>`',
        'html`text alone`',
        'html`${one}`',
        'html`<a href=${`#/${one}?${two}`} style=${{ left: `${one}px` }}>${undefined}${null}${false}</a>`',
    ];
    const [one, two, more, Part] = [1, "two", { more: true }, () => {}];
    const h = (type, props, ...children) => ({ type, props, children });
    const evaluated = (code) => new Function("h", "html", "one", "two", "more", "Part", `return ${code}`)(h, htm.bind(h), one, two, more, Part);
    const plain = (tree) => JSON.parse(JSON.stringify(tree, (_, value) => (typeof value === "function" ? "a function" : value === undefined ? "undefined" : value)));
    const head = 'import { html } from "../vendor/preact.js";\n';
    for (const template of templates) {
        const code = compiled(head + template);
        assert.ok(code.startsWith('import { h } from') && !code.includes("html`"), code);
        assert.deepEqual(plain(evaluated(code.slice(code.indexOf("\n") + 1))), plain(evaluated(template)), template);
    }
    assert.equal(compiled("export const one = `html`;"), "export const one = `html`;");
});

consoleTest("every_page_of_the_bundle_opens_also_when_the_server_is_gone", async ({ page, load, show, transport, stop }) => {
    await load([{ workSpId: "ws-1", computerName: "DESK-1", state: "AVAILABLE" }]);
    // The files of the other pages come by themselves, soon after the first page.
    await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("/app/more-")));
    await new Promise((done) => setTimeout(done, 1000));
    if (transport === "server") await stop();
    for (const { name } of PAGES) {
        await show(`#/${name}`);
        const text = await page.evaluate(() => document.querySelector("main#main").textContent);
        assert.ok(!text.includes("dynamically imported") && !text.includes("The page failed"), `${name}: ${text}`);
    }
}, { bundle: true, troubles: /ERR_|Failed to load|NetworkError|Cross-Origin|could not be loaded|establish a connection/ });

consoleTest("first_paint_over_a_link_of_50_ms_takes_at_most_500_ms", async ({ page, context, url }) => {
    const session = await page.createCDPSession();
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await session.send("Network.emulateNetworkConditions", { offline: false, latency: LATENCY_MS, downloadThroughput: -1, uploadThroughput: -1 });
    // The first paint is of a page that starts; that of the overview comes after the key is looked at.
    await page.evaluateOnNewDocument(() => new MutationObserver((_, observer) => {
        if (document.querySelector("main#main h1") === null) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => void (globalThis.shownAt = performance.now())));
    }).observe(document, { childList: true, subtree: true }));
    const paints = [];
    // The least of some: other tests run on the same processors.
    for (let round = 0; round < 5; round += 1) {
        await page.reload();
        await page.waitForFunction(() => globalThis.shownAt !== undefined);
        paints.push(await page.evaluate(() => [performance.getEntriesByName("first-contentful-paint")[0].startTime, globalThis.shownAt]));
    }
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));
    assert.deepEqual(loaded.filter((name) => !name.startsWith(url)), [], "nothing comes from another origin");
    const [first, overview] = [0, 1].map((at) => paints.map((times) => Math.round(times[at])));
    context.diagnostic(`over a link of ${LATENCY_MS} ms: first paint after ${first.join(", ")} ms, the overview after ${overview.join(", ")} ms`);
    assert.ok(Math.min(...first) <= FIRST_PAINT_MS_MAX, `${first} ms`);
    assert.ok(Math.min(...overview) <= OVERVIEW_MS_MAX, `${overview} ms`);
}, { transports: ["server"], browsers: ["chromium"], bundle: true });
