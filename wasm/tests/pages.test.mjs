// The examples that are pages: built by Vite, esbuild and webpack with no configuration except the entry, or served as
// they are, and then opened in Chromium.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { cp, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { installed } from "./packed.mjs";
import { output } from "./processes.mjs";
import { runtime, tool } from "./runtimes.mjs";

const MODULES = fileURLToPath(new URL("./node_modules", import.meta.url));
const ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".wasm": "application/wasm" };
const EXPECTED = "1 record waits to be filed";

let launched;
after(async () => (await launched)?.close());

/** The final text of `#answer` of a page, for each time that it is loaded. */
async function answerOf(executablePath, url, { loads = 1, read = (page) => page.textContent("#answer") } = {}) {
    const { chromium } = await import("playwright-core");
    launched ??= chromium.launch({ executablePath, args: ARGUMENTS });
    const page = await (await launched).newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("requestfailed", (request) => problems.push(`${request.url()} failed`));
    const answers = [];
    try {
        for (let load = 0; load < loads; load++) {
            await page.goto(url);
            await page.waitForFunction(() => document.querySelector("#answer").textContent !== "", undefined, { timeout: 60_000 });
            answers.push(await read(page));
        }
    } catch (error) {
        throw new Error(`${problems.join("\n")}\n${error}`, { cause: error });
    } finally {
        await page.close();
    }
    return answers.join(", ");
}

/** Serves a folder of static files while `use` runs. */
async function served(folder, types, use) {
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const file = path.join(folder, path.normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname));
        try {
            const body = await readFile(file);
            response.writeHead(200, { "content-type": types[path.extname(file)] ?? "application/octet-stream" }).end(body);
        } catch {
            response.writeHead(404).end();
        }
    });
    await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
    try {
        return await use(`http://127.0.0.1:${server.address().port}/`);
    } finally {
        server.closeAllConnections();
        server.close();
    }
}

/** The tools to build and open a page; `undefined` when one is missing. */
function ready(context, ...tools) {
    return tools.every((name) => tool(name, context)) && tool("playwright-core", context) && runtime("chromium", context);
}

async function size(context, file) {
    const { size: bytes } = await stat(file);
    const compressed = gzipSync(await readFile(file), { level: 9 }).length;
    context.diagnostic(`${path.basename(file)} has ${bytes} bytes, gzipped ${compressed}`);
}

/** Serves a folder by Vite's development server while `use` runs. */
async function developed(root, use) {
    const { createServer: createVite } = await import("vite");
    const server = await createVite({ root, configFile: false, logLevel: "error", server: { host: "127.0.0.1", port: 0 } });
    try {
        await server.listen();
        await use(`http://127.0.0.1:${server.httpServer.address().port}/`);
    } finally {
        await server.close();
    }
}

/** Bundles `main.js` of a folder with webpack; the page is copied too, and finds its script in the same place. */
async function webpacked(folder) {
    const { default: webpack } = await import("webpack");
    const dist = path.join(folder, "dist");
    const stats = await new Promise((resolve, reject) => {
        webpack({ context: folder, mode: "production", entry: "./main.js", output: { path: dist } }, (error, done) => (error ? reject(error) : resolve(done)));
    });
    assert.equal(stats.hasErrors(), false, stats.toString());
    await cp(path.join(folder, "index.html"), path.join(dist, "index.html"));
}

test("page_without_a_bundler_or_wasm_media_type_opens_an_engine", async (context) => {
    const chromium = ready(context);
    if (!chromium) return;
    const folder = installed({ example: "page" });
    assert.equal(await served(folder, TYPES, (url) => answerOf(chromium, url)), EXPECTED);
    assert.equal(await served(folder, { ...TYPES, ".wasm": undefined }, (url) => answerOf(chromium, url)), EXPECTED);
});

test("vite_build_opens_an_engine", async (context) => {
    const chromium = ready(context, "vite");
    if (!chromium) return;
    const folder = installed({ example: "vite" });
    await output(process.execPath, [path.join(MODULES, "vite/bin/vite.js"), "build"], { cwd: folder });
    assert.equal(await served(path.join(folder, "dist"), TYPES, (url) => answerOf(chromium, url)), EXPECTED);
});

test("vite_development_server_opens_an_engine", async (context) => {
    const chromium = ready(context, "vite");
    if (!chromium) return;
    await developed(installed({ example: "vite" }), async (url) => assert.equal(await answerOf(chromium, url), EXPECTED));
});

test("esbuild_with_the_inlined_module_opens_an_engine", async (context) => {
    const chromium = ready(context, "esbuild");
    if (!chromium) return;
    const folder = installed({ example: "esbuild" });
    const flags = ["main.js", "--bundle", "--format=esm", "--minify", "--outfile=dist/main.js", "--log-level=warning"];
    await output(path.join(MODULES, "esbuild/bin/esbuild"), flags, { cwd: folder });
    await size(context, path.join(folder, "dist/main.js"));
    assert.equal(await served(folder, TYPES, (url) => answerOf(chromium, url)), EXPECTED);
});

test("esbuild_with_a_copied_module_opens_an_engine", async (context) => {
    const chromium = ready(context, "esbuild");
    if (!chromium) return;
    const folder = installed({ example: "esbuild" });
    const main = await readFile(path.join(folder, "main.js"), "utf8");
    await output(
        path.join(MODULES, "esbuild/bin/esbuild"),
        ["--bundle", "--format=esm", "--minify", "--outfile=dist/main.js", "--log-level=warning"],
        { cwd: folder, input: main.replace("deskfleet/inline", "deskfleet") },
    );
    await output("cp", ["node_modules/deskfleet/deskfleet.wasm", "dist/"], { cwd: folder });
    await size(context, path.join(folder, "dist/main.js"));
    assert.equal(await served(folder, TYPES, (url) => answerOf(chromium, url)), EXPECTED);
});

test("webpack_build_opens_an_engine", async (context) => {
    const chromium = ready(context, "webpack");
    if (!chromium) return;
    const folder = installed({ example: "webpack" });
    await webpacked(folder);
    assert.equal(await served(folder, TYPES, (url) => answerOf(chromium, url)), EXPECTED);
});

/** The store of a browser, over two loads of one page. */
const KEPT = "1 in the queue, 2 in the queue";

test("page_with_a_store_without_a_bundler_connects", async (context) => {
    const chromium = ready(context);
    if (!chromium) return;
    assert.equal(await served(installed({ example: "opfs" }), TYPES, (url) => answerOf(chromium, url, { loads: 2 })), KEPT);
});

test("page_with_a_store_by_vite_build_connects", async (context) => {
    const chromium = ready(context, "vite");
    if (!chromium) return;
    const folder = installed({ example: "opfs" });
    await output(process.execPath, [path.join(MODULES, "vite/bin/vite.js"), "build"], { cwd: folder });
    assert.equal(await served(path.join(folder, "dist"), TYPES, (url) => answerOf(chromium, url, { loads: 2 })), KEPT);
});

test("page_with_a_store_by_vite_development_server_connects", async (context) => {
    const chromium = ready(context, "vite");
    if (!chromium) return;
    await developed(installed({ example: "opfs" }), async (url) => assert.equal(await answerOf(chromium, url, { loads: 2 }), KEPT));
});

test("page_with_a_store_by_webpack_connects", async (context) => {
    const chromium = ready(context, "webpack");
    if (!chromium) return;
    const folder = installed({ example: "opfs" });
    await webpacked(folder);
    assert.equal(await served(path.join(folder, "dist"), TYPES, (url) => answerOf(chromium, url, { loads: 2 })), KEPT);
});

/**
 * Makes the worker of the example tell how many records its store has. What the page shows does not repeat: maintenance files the queue a second
 * after it did so before.
 */
async function counting(folder) {
    const file = path.join(folder, "service-worker.js");
    const script = await readFile(file, "utf8");
    const counter = `
        addEventListener("message", async ({ ports: [port] }) => {
            const engine = await worker.engine();
            const { key } = await engine.issueKey({ name: crypto.randomUUID(), scopes: ["read"] });
            const records = await engine.fetch(new Request("http://fleet/query/export?stream=stats", { headers: { "x-api-key": key } }));
            port.postMessage((await records.text()).split("\\n").length - 1);
        });`;
    await writeFile(file, script.replace("answerFetches({", "const worker = answerFetches({") + counter);
    return folder;
}

const RECORDS = {
    loads: 2,
    read: (page) =>
        page.evaluate(() => {
            const { port1, port2 } = new MessageChannel();
            navigator.serviceWorker.controller.postMessage(null, [port2]);
            return new Promise((told) => (port1.onmessage = ({ data }) => told(data)));
        }),
};

test("service_worker_without_a_bundler_responds", async (context) => {
    const chromium = ready(context);
    if (!chromium) return;
    assert.equal(await served(await counting(installed({ example: "service-worker" })), TYPES, (url) => answerOf(chromium, url, RECORDS)), "1, 2");
});

test("service_worker_as_a_classic_script_by_esbuild_responds", async (context) => {
    const chromium = ready(context, "esbuild");
    if (!chromium) return;
    const folder = await counting(installed({ example: "service-worker" }));
    await output(
        path.join(MODULES, "esbuild/bin/esbuild"),
        ["service-worker.js", "--bundle", "--format=iife", "--outfile=service-worker.js", "--allow-overwrite", "--log-level=error", "--define:import.meta.url=location.href"],
        { cwd: folder },
    );
    const html = path.join(folder, "index.html");
    await writeFile(html, (await readFile(html, "utf8")).replace(', { type: "module" }', ""));
    await output("cp", ["node_modules/deskfleet/deskfleet.wasm", "."], { cwd: folder });
    assert.equal(await served(folder, TYPES, (url) => answerOf(chromium, url, RECORDS)), "1, 2");
});
