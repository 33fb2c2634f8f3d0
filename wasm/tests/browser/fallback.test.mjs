// Where the browser has no files for a page, or takes them away.

import assert from "node:assert/strict";
import { browserTest, everyBrowserTest } from "./in-browsers.mjs";

const PAGE = "/tests/browser/page.html";

async function opened(browser, url) {
    const page = await browser.open(url);
    await page.waitForFunction(() => globalThis.connect);
    return page;
}

browserTest("insecure_origin_is_refused_at_once_and_served_from_memory_if_asked", async ({ start, origin }) => {
    const browser = await start();
    await browser.context.route("http://fleet.test/**", async (route) => {
        const response = await fetch(origin + new URL(route.request().url()).pathname);
        await route.fulfill({ status: response.status, headers: { "content-type": response.headers.get("content-type") }, body: Buffer.from(await response.arrayBuffer()) });
    });
    const page = await opened(browser, `http://fleet.test${PAGE}`);
    const seen = await page.evaluate(async () => {
        const began = performance.now();
        const refused = [await failure(connect()), await failure(connect({ fallback: "indexeddb" }))];
        const took = performance.now() - began;
        const engine = await connect({ fallback: "memory" });
        const { status } = await engine.fetch(postRequest(1));
        const found = { secure: isSecureContext, refused, took, status, kind: engine.storageKind, count: await engine.queueCount(), wiped: [await engine.wipe(), await engine.queueCount()] };
        await engine.close();
        return found;
    });
    assert.equal(seen.secure, false);
    for (const { code, message } of seen.refused) {
        assert.equal(code, "StorageUnavailable");
        assert.match(message, /not from a secure origin/);
    }
    assert.ok(seen.took < 1000, `${seen.took} ms`);
    assert.deepEqual([seen.status, seen.kind, seen.count], [200, "memory", 1]);
    assert.equal(seen.wiped[1], 0);
});

everyBrowserTest("browser_without_files_keeps_the_store_in_the_fallback", async ({ start, origin }) => {
    const page = await opened(await start(), origin + PAGE);
    const seen = await page.evaluate(async () => {
        const worker = "/tests/browser/old-worker.js";
        const refused = [await failure(connect({ worker })), await failure(connect({ worker, fallback: "disk" }))];
        const found = [];
        for (const fallback of ["indexeddb", "indexeddb", "memory"]) {
            const engine = await connect({ worker, fallback });
            const { status } = await engine.fetch(postRequest(found.length + 1));
            found.push([status, engine.storageKind, await engine.queueCount()]);
            if (found.length === 2) await engine.wipe();
            await engine.close();
        }
        const engine = await connect({ fallback: "memory" });
        found.push(engine.storageKind);
        await engine.close();
        return { refused, found };
    });
    assert.deepEqual(seen.refused.map(({ code }) => code), ["StorageUnavailable", "InvalidArgument"]);
    assert.deepEqual(seen.found, [[200, "indexeddb", 1], [200, "indexeddb", 2], [200, "memory", 1], "opfs"]);
});

browserTest("post_after_the_data_of_the_site_was_cleared_is_not_acknowledged", async ({ start, origin }) => {
    const browser = await start();
    const page = await opened(browser, origin + PAGE);
    const first = await page.evaluate(async () => {
        globalThis.engine = await connect();
        return (await engine.fetch(postRequest(1))).status;
    });
    assert.equal(first, 200);
    const session = await browser.context.newCDPSession(page);
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
    const later = await page.evaluate(async () => {
        const statuses = [];
        for (const id of [2, 3]) statuses.push((await engine.fetch(postRequest(id))).status);
        return statuses;
    });
    assert.deepEqual(later, [503, 503]);
});

everyBrowserTest("indexeddb_connection_that_closed_without_an_event_is_opened_again", async ({ start, origin }) => {
    const page = await opened(await start(), origin + PAGE);
    const seen = await page.evaluate(async () => {
        const databases = [];
        const { open } = IDBFactory.prototype;
        IDBFactory.prototype.open = function (...parameters) {
            const request = open.apply(this, parameters);
            request.addEventListener("success", () => databases.push(request.result));
            return request;
        };
        const [{ Engine }, { indexedDbStorage }] = await Promise.all([import("/pkg/index.js"), import("/pkg/indexeddb.js")]);
        let engine = await Engine.open({ storage: indexedDbStorage("closed") });
        const statuses = [(await engine.fetch(postRequest(1))).status];
        databases.at(-1).close();
        for (const id of [2, 3]) statuses.push((await engine.fetch(postRequest(id))).status);
        await engine.close();
        engine = await Engine.open({ storage: indexedDbStorage("closed") });
        statuses.push(await engine.queueCount());
        // Deleted meanwhile: an empty database is not the one that it was.
        databases.at(-1).close();
        await new Promise((done) => (indexedDB.deleteDatabase("closed").onsuccess = done));
        statuses.push((await engine.fetch(postRequest(4))).status);
        return statuses;
    });
    assert.deepEqual(seen, [200, 200, 200, 3, 503]);
});
